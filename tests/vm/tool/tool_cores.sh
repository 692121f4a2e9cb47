#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The tool on a hybrid processor: events for one type of CPU are counted and sampled on the CPUs
# of that type, of all or of some. Runs in busybox' sh as root, on a CPU of either type.
# shellcheck disable=SC2317,SC2016 # checks are called by name; $ is for awk

# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"
LOOPS=/pmuctl/tests/prog/hot-warm-cold
LEAST=80000000	# instructions of LOOPS in user mode
BOTH=cpu_core/instructions/u,cpu_atom/instructions/u

# Which CPU is of which type: before 5.13 perf does not tell. Performance cores alone have TOPDOWN.SLOTS.
if on_5_10; then
	core=0 atom=1
	pmuctl stat -C 0 -e r0400 -- true 2>/dev/null || core=1 atom=0
else
	core=$(cat /sys/bus/event_source/devices/cpu_core/cpus)
	atom=$(cat /sys/bus/event_source/devices/cpu_atom/cpus)
fi

# of EVENT: its count in err
of() { awk -F , -v event="$1" 'index($0, event) { for (i = 1; i < 4; i++) if ($i ~ /^[0-9]+$/ && $i > n) n = $i } END { print n + 0 }' err; }

# counts WHERE CPU HERE THERE: of what runs on that CPU; WHERE is two words at most
counts()
{
	# shellcheck disable=SC2086
	run 3 stat $1 -x, -e "$BOTH" -- taskset "$(printf %x $((1 << $2)))" $LOOPS 1 && cat err || return 1
	[ "$(of "$3/")" -gt $LEAST ] && [ "$(of "$4/")" -gt 0 ] && [ "$(of "$4/")" -lt $LEAST ]
}

all_cpus_are_counted_by_type() { counts -a "$core" cpu_core cpu_atom && counts -a "$atom" cpu_atom cpu_core; }
some_cpus_are_counted_by_type() { counts '-C 0-1' "$core" cpu_core cpu_atom && counts '-C 0-1' "$atom" cpu_atom cpu_core; }

# Each CPU has a line for what it can count, and none for what it cannot.
rows_are_of_cpus_that_count()
{
	run 0 stat -a -A -x, -e "$BOTH",cpu-clock -- sleep 0.1 && cat err &&
		[ "$(grep -c -e cpu_core/ err)" -eq 1 ] && grep -q "^CPU$core,.*cpu_core/" err &&
		[ "$(grep -c -e cpu_atom/ err)" -eq 1 ] && grep -q "^CPU$atom,.*cpu_atom/" err &&
		[ "$(grep -c -e cpu-clock err)" -eq 2 ] || return 1
	# How many CPUs a row is of
	run 0 stat -a --per-node -x, -e "$BOTH",cpu-clock -- sleep 0.1 && cat err &&
		[ "$(awk -F , '/cpu_/ && $2 == 1 || /cpu-clock/ && $2 == 2' err | grep -c .)" -eq 3 ]
}

groups_are_of_one_type()
{
	run 0 stat -a -x, -e '{cpu_core/cycles/,cpu_core/instructions/},{cpu_atom/cycles/,task-clock}' -- sleep 0.1 &&
		cat err && ! grep 'not counted' err || return 1
	run 1 stat -a -e '{cpu_core/cycles/,cpu_atom/cycles/}' -- true && grep -q "cannot open 'cpu_atom/cycles/'" err
}

intervals_and_repeats_count_each_type()
{
	run 0 stat -a -I 100 --interval-count 3 -x, -e "$BOTH" -- sleep 2 && cat err &&
		[ "$(grep -c -e 'cpu_.*,100.00,' err)" -eq 6 ] || return 1
	run 0 stat -a -r 2 -x, -e "$BOTH" -- true && cat err && [ "$(grep -c cpu_ err)" -eq 2 ]
}

# of_cpus: which CPUs and which events samples are of
of_cpus() { run 0 script -i data -F cpu,event && sort -u out | tr -s ' ' && grep -c . out; }

samples_come_from_their_type()
{
	run 0 record -q -a -c 100000 -e "$BOTH" -o data -- sh -c "for i in 1 2; do taskset \$i $LOOPS 1; done; true" &&
		of_cpus || return 1
	! grep "00$core.*cpu_atom" out && ! grep "00$atom.*cpu_core" out || return 1
	[ "$(grep -c cpu_core out)" -ge $((LEAST / 100000)) ] && [ "$(grep -c cpu_atom out)" -ge $((LEAST / 100000)) ] || return 1
	# One type alone has one ring.
	run 3 record -q -a -c 100000 -e cpu_core/instructions/u -o data -- taskset "$(printf %x $((1 << core)))" $LOOPS 1 &&
		of_cpus && [ "$(grep -c "00$core.*cpu_core" out)" -ge $((LEAST / 100000)) ]
}

# Where none of the CPUs can count it, that is an error.
what_none_can_count_is_refused()
{
	for tool in stat record; do
		run 1 $tool -C "$atom" -e cpu_core/cycles/ -- true &&
			grep -q "cannot open 'cpu_core/cycles/'.*CPUs of another type can" err || return 1
	done
}

run_checks of counts of_cpus
