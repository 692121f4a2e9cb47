#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that were made for perf_event_open(2), by the library of "pmuctl run --preload"; the
# only way on kernels that cannot have calls caught. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/common/perf-calls
LOOPS=/pmuctl/tests/prog/hot-warm-cold
# Not busybox' own, which has fewer options
SETPRIV=/usr/bin/setpriv

mkdir -p /sys/kernel/tracing
grep -q tracefs /proc/mounts || mount -t tracefs none /sys/kernel/tracing 2>/dev/null

# same WORDS...: the command says the same on perf and on pmuctl, and ends with the same status
same()
{
	give_back
	perfs_status=0 ours_status=0
	"$@" >perfs 2>perfs.err </dev/null || perfs_status=$?
	pmuctl run --preload --explain -- "$@" >out 2>err </dev/null || ours_status=$?
	cat out
	[ -s out ] && diff perfs out && [ $perfs_status -eq $ours_status ]
}

a_library_does_the_same()
{
	same $PROGRAM count && same $PROGRAM group && same $PROGRAM descriptors && same $PROGRAM tasks &&
		same $PROGRAM refusals && says 'file descriptor 1000 is no event' && same $PROGRAM control &&
		same $PROGRAM tracepoint && same $SETPRIV --reuid 1000 --regid 1000 --clear-groups $PROGRAM kernel
}

a_library_passes_on_too()
{
	run 0 run --preload --explain $PROGRAM breakpoint && SAYS=out says 'breakpoint: 3' &&
		[ "$(grep -c '^mixed: EINVAL$' out)" -eq 2 ] &&
		run 1 run --preload --strict --explain $PROGRAM breakpoint && says 'strict passes nothing on' &&
		run 0 run --preload sh -c "$PROGRAM whose" && [ "$(cat out)" = 'anon_inode:[pmuctl_event]' ]
}

perf_loads_the_library()
{
	run 3 run --preload perf stat -x ';' -o ours -e instructions:u $LOOPS 1 && give_back
	command perf stat -x ';' -o perfs -e instructions:u $LOOPS 1
	ours=$(grep instructions ours | cut -d ';' -f 1) perfs=$(grep instructions perfs | cut -d ';' -f 1)
	echo "$ours, perf: $perfs"
	[ "$ours" -gt 1000 ] && [ "$ours" -eq "$perfs" ] &&
		run 3 run --preload perf stat -e branches:u sh -c "ls -l /proc/\$PPID/fd >links; $LOOPS 1" && grep -F '[pmuctl_event]' links
}

no_library_is_told()
{
	(
		export PMUCTL_RUN_LIBRARY=/not-there.so
		run 1 run --preload true && says '^pmuctl: /not-there.so cannot be loaded: No such file or directory$'
	)
}

# Linux 5.10 has no seccomp that could: it is refused, and the other way named.
calls_are_caught_or_refused()
{
	if on_5_10; then
		run 1 run true && says "this kernel's seccomp has no user notification that signals wait for: try --preload"
	else
		run 0 run true
	fi
}

run_checks same
