#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Programs that were made for perf_event_open(2), by "pmuctl run": what they say is what they
# say on the kernel's perf. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/perf-calls
LOOPS=/pmuctl/tests/prog/hot-warm-cold
# Not busybox' own, which have fewer options
SETPRIV=/usr/bin/setpriv
UNSHARE=/usr/bin/unshare

mkdir -p /sys/kernel/tracing
grep -q tracefs /proc/mounts || mount -t tracefs none /sys/kernel/tracing 2>/dev/null

# same WORDS...: the command says the same on perf and on pmuctl, and ends with the same status
same()
{
	give_back
	perfs_status=0 status=0
	"$@" >perfs 2>perfs.err </dev/null || perfs_status=$?
	pmuctl run --explain -- "$@" >out 2>err </dev/null || status=$?
	cat out
	[ -s out ] && diff perfs out && [ $status -eq $perfs_status ]
}

# as_user WORDS...: the same, the command being run by an ordinary user without capabilities
as_user() { same $SETPRIV --reuid 1000 --regid 1000 --clear-groups "$@"; }

events_are_pmuctls() { run 0 run $PROGRAM whose && [ "$(cat out)" = 'anon_inode:[pmuctl_event]' ]; }
a_static_program_counts_to_the_instruction() { same $PROGRAM count && grep -x 'count: 200003' out; }
groups_and_output_are_kept() { same $PROGRAM group && grep -x 'output: 1' out; }
descriptors_are_as_perfs() { same $PROGRAM descriptors; }
threads_and_other_processes_are_counted() { same $PROGRAM tasks; }

refusals_are_perfs() { same $PROGRAM refusals; }

each_refusal_has_a_sentence()
{
	run 0 run --explain $PROGRAM refusals && says \
		'^pmuctl: perf-calls\[[0-9]+\]: type 0 config 0x1: file descriptor 1000 is no event \(group_fd\)$' \
		'^pmuctl: perf-calls\[[0-9]+\]: type 0 config 0x1: with pid -1 it must be the number of a CPU'
}

names_do_nothing_to_a_terminal()
{
	cp $PROGRAM "$(printf 'a\033[31mb')"
	run 0 run --explain "$(printf './a\033[31mb')" refusals && says '^pmuctl: a\?\[31mb\[[0-9]+\]: '
}

nothing_is_said_without_explain() { run 0 run $PROGRAM refusals && [ ! -s err ]; }

perf_stat_counts_as_many()
{
	same perf stat -x ';' -o stat -e instructions:u $PROGRAM count
	pmuctl run perf stat -x ';' -o ours -e instructions:u $LOOPS 1
	give_back
	command perf stat -x ';' -o perfs -e instructions:u $LOOPS 1
	ours=$(grep instructions ours | cut -d ';' -f 1) perfs=$(grep instructions perfs | cut -d ';' -f 1)
	echo "$ours, perf: $perfs"
	[ "$ours" -gt 1000 ] && [ "$ours" -eq "$perfs" ]
}

a_thread_enables_all_that_it_has_opened()
{
	same $PROGRAM control && [ "$(grep -c 'enabled: 1, disabled: 1' out)" -eq 2 ] && grep -x 'of another thread: 0' out
}

# ---- What is pmuctl's, and what the kernel's ----

tracepoints_are_known_by_their_numbers()
{
	same $PROGRAM tracepoint && SAYS=out says 'raw_syscalls/sys_enter: 101' 'sys_enter_getppid: 100'
}

breakpoints_are_the_kernels() { run 0 run --explain $PROGRAM breakpoint && SAYS=out says 'breakpoint: 3' && mixed_is_refused; }
mixed_is_refused()
{
	[ "$(grep -c '^mixed: EINVAL$' out)" -eq 2 ] && says \
		'file descriptor 3 is an event of the kernel.s perf, with which one of pmuctl cannot be in a group' \
		'events of type 5 are counted by the kernel.s perf, and cannot be in a group'
}

nothing_is_passed_on_if_that_is_asked_for()
{
	run 1 run --strict --explain $PROGRAM breakpoint && SAYS=out says 'refused: ENOENT' &&
		says 'no event of type 5 .* and --strict passes nothing on' &&
		run 1 run --strict $PROGRAM tracepoint && SAYS=out says 'sys_enter: 101' 'refused: ENOENT' &&
		run 0 run --strict $PROGRAM count && SAYS=out says 'count: 200003'
}

perf_stat_has_groups_of_both()
{
	run 0 run perf stat -x ';' -o counts -e instructions:u -e syscalls:sys_enter_exit_group -e '{sched:sched_process_exec,branches:u}' $PROGRAM &&
		SAYS=counts says '^[1-9][0-9]*;;instructions:u' '^1;;syscalls:sys_enter_exit_group' '^1;;sched:sched_process_exec' '^[1-9][0-9]*;;branches:u'
}

# samples FILE: how many, and the function that most are of
samples() { perf script -i "$1" -F ip,sym 2>/dev/null | awk '{ n[$2]++ } END { for (f in n) if (n[f] > n[most]) most = f; print NR, most }'; }

# pinned COMMAND...: on one CPU, with all that it starts
pinned()
{
	taskset -p 1 $$ >/dev/null
	"$@"
	pinned=$?
	taskset -p ffffffff $$ >/dev/null
	return $pinned
}

# Each period of what is counted has one; perf leaves out those that it notices in the kernel. It has
# an event for each CPU, whose periods go on apart when the command moves: it stays on one.
perf_record_takes_each_sample() { pinned each_sample; }
each_sample()
{
	run 3 run perf stat -x ';' -o count -e instructions:u $LOOPS 10 &&
		run 3 run perf record -q -o ours -e instructions:u -c 100003 $LOOPS 10 && give_back &&
		{ command perf record -q -o perfs -e instructions:u -c 100003 $LOOPS 10 || [ $? -eq 3 ]; }
	# shellcheck disable=SC2046 # two words each
	set -- $(samples ours) $(samples perfs) $(grep instructions count | cut -d ';' -f 1)
	echo "$*"
	[ "$1" -eq $(($5 / 100003)) ] && [ "$1" -gt 500 ] && [ "$3" -le "$1" ] && [ "$3" -gt 500 ] && [ "$2 $4" = 'hot hot' ]
}

# Into one buffer: that both are pmuctl's
perf_records_what_tracepoints_tell()
{
	run 1 run perf record -q -o data -e raw_syscalls:sys_enter -c 1 -e page-faults $PROGRAM tracepoint &&
		perf script -i data -F event,trace 2>/dev/null >script
	getppids=$(grep -c 'raw_syscalls:sys_enter: NR 110 (' script) faults=$(grep -c page-faults script)
	echo "$getppids, $faults"
	[ "$getppids" -eq 200 ] && [ "$faults" -gt 5 ]
}

perf_record_and_report_by_default()
{
	run 3 run perf record -g -o data $LOOPS 10 &&
		perf report -i data --stdio -s symbol --no-children >report 2>/dev/null &&
		grep -m 1 % report | grep -w hot
}

# Nothing that it asks for by default is left out for a kernel that would not know it.
perf_record_need_not_fall_back()
{
	run 3 run --strict --explain perf record -q -o data -e instructions:u -c 100003 $LOOPS 10 &&
		! grep '^pmuctl:' err &&
		perf evlist -v -i data >out 2>err && SAYS=out says 'mmap2: 1, comm_exec: 1, ksymbol: 1, bpf_event: 1'
}

# ---- Rights ----

root_may_what_root_may() { same $PROGRAM kernel && same $PROGRAM init && grep -x opened out; }
a_user_may_what_a_user_may() { as_user $PROGRAM count && as_user $PROGRAM kernel && grep -x 'refused: EACCES' out; }
a_user_may_not_look_at_init() { as_user $PROGRAM init && grep -x 'refused: EACCES' out; }

a_user_runs_it()
{
	give_back
	su user -c "$PROGRAM count kernel" >perfs
	su user -c "pmuctl run $PROGRAM count kernel" >out
	diff perfs out && grep -x 'refused: EACCES' out
}

a_capability_is_kept()
{
	with="$SETPRIV --reuid 1000 --regid 1000 --clear-groups --inh-caps +perfmon --ambient-caps +perfmon"
	# shellcheck disable=SC2086 # these are words
	same $with $PROGRAM kernel && grep -x opened out
}

root_without_capabilities_is_as_a_user() { same $SETPRIV --bounding-set -all $PROGRAM kernel && grep -x 'refused: EACCES' out; }

a_user_namespace_gives_no_right()
{
	same $UNSHARE -U -r $PROGRAM kernel && grep -x 'refused: EACCES' out &&
		as_user $UNSHARE -U -r $PROGRAM kernel && grep -x 'refused: EACCES' out &&
		as_user $UNSHARE -U -r $PROGRAM count && grep -x 'count: 200003' out
}

a_pid_namespace_has_its_own_numbers()
{
	same $UNSHARE -p -f $PROGRAM init tasks && grep -x opened out &&
		as_user $UNSHARE -U -r -p -f $PROGRAM init tasks && grep -x opened out
}

# ---- How it ends ----

the_status_is_the_commands()
{
	run 7 run sh -c 'exit 7' && run 143 run sh -c 'kill -TERM $$' && run 127 run not-there && run 126 run /etc &&
		run 2 run && run 2 run --nonsense && says "unknown option '--nonsense'"
}

a_signal_is_handed_on()
{
	pmuctl run sh -c 'trap "exit 9" TERM; touch started; while :; do usleep 10000; done' &
	appears started
	kill -TERM $!
	status=0
	wait $! || status=$?
	[ $status -eq 9 ]
}

what_the_command_leaves_is_served()
{
	run 0 run sh -c "(until [ -e go ]; do usleep 10000; done; $PROGRAM whose count >later; touch ended) >/dev/null 2>&1 &"
	touch go
	appears ended
	[ "$(head -n 1 later)" = 'anon_inode:[pmuctl_event]' ] && grep -x 'count: 200003' later
}

a_run_in_a_run_is_told() { run 1 run pmuctl run true && says 'answers for calls of this process already'; }

set_user_id_programs_are_told()
{
	cp $PROGRAM . && chmod u+s perf-calls && chmod 777 .
	su user -c "pmuctl run ./perf-calls kernel" >out 2>err
	says "'./perf-calls' is set-user-id" && SAYS=out says 'refused: EACCES'
}

run_checks pinned each_sample same as_user mixed_is_refused samples
