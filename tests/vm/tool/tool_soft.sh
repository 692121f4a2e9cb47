#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The command without hardware events: software events and tracepoints are counted,
# recorded and reported, also in a guest without a PMU. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/hot-warm-cold
mkdir -p /sys/kernel/tracing
grep -q tracefs /proc/mounts || mount -t tracefs none /sys/kernel/tracing 2>/dev/null

# hot_is_first FILE: the report of a file begins with the function hot
hot_is_first()
{
	run 0 report -i "$1" && grep -m 1 % out | grep -w hot
}

software_events_are_counted()
{
	run 0 stat -x ';' -e task-clock,page-faults,cs,cpu-migrations,dummy true &&
		lines err 5 &&
		says '^[0-9]*[.][0-9]{6};msec;task-clock' '^[1-9][0-9]*;;page-faults' '^0;;dummy'
}

groups_of_them_too() { run 0 stat -x ';' -e '{page-faults,minor-faults,major-faults}' true && lines err 3; }

a_process_counts_as_many_page_faults_as_perf_says()
{
	run 3 stat -x ';' -e page-faults $PROGRAM 1 &&
		ours=$(cut -d ';' -f 1 err) &&
		{ perf stat -x ';' -e page-faults $PROGRAM 1 2>perf.err >/dev/null || [ $? -eq 3 ]; } &&
		theirs=$(grep page-faults perf.err | cut -d ';' -f 1) &&
		echo "$ours, perf: $theirs" &&
		[ "$ours" -le $((theirs + 10)) ] && [ "$theirs" -le $((ours + 10)) ]
}

tracepoints_are_counted()
{
	run 0 stat -x ';' -e sched:sched_process_exec,raw_syscalls:sys_enter true &&
		says '^1;;sched:sched_process_exec' '^[1-9][0-9]*;;raw_syscalls:sys_enter'
}

tracepoints_have_a_filter()
{
	run 0 stat -x ';' -e raw_syscalls:sys_enter --filter 'id == 231' true &&
		says '^1;;raw_syscalls:sys_enter' &&
		run 1 stat -e raw_syscalls:sys_enter --filter 'id == 1 &&' true &&
		says 'cannot be understood at character 11'
}

# What no event has is not left out silently: the counts would be of something else.
filters_need_an_event_of_their_kind()
{
	run 2 stat -e page-faults --filter 'id == 1' true && says "'id == 1' is of tracepoints" &&
		run 2 stat --filter 'id == 1' true && says 'is of tracepoints' &&
		run 2 record --filter 'id == 1' true && says 'is of tracepoints' &&
		run 2 record -e raw_syscalls:sys_enter --filter 'filter 0x1000/0x20' true &&
		says "'filter 0x1000/0x20' is of traces" &&
		run 2 stat -e raw_syscalls:sys_enter --filter 'id == 1' --filter 'id == 2' true &&
		says "join them with '&&'" && [ ! -e perf.data ]
}

a_tracepoint_that_is_not_there_is_refused()
{
	run 2 stat -e sched:nothing_of_the_kind true &&
		says "'sched:nothing_of_the_kind'"
}

# To whoever may not see them, a tracepoint and a slip of the finger look the same.
hidden_tracepoints_are_not_called_unknown()
{
	local event
	for event in sched:sched_switch raw_syscalls:sys_enter/id=1/; do
		! su user -c "pmuctl stat -e $event true" >out 2>err &&
			says "tracepoints .* root's to see: run pmuctl as root" || return 1
	done
	! su user -c 'pmuctl stat -e nonesuch true' >out 2>err && says "unknown event 'nonesuch'"
}

a_clock_finds_what_is_hot()
{
	run 3 record -q -e cpu-clock -F 1000 -o file $PROGRAM 10 &&
		hot_is_first file
}

perf_reads_it_too()
{
	run 3 record -q -e cpu-clock -F 1000 -o file $PROGRAM 10 &&
		perf script -i file -F ip,sym >lines 2>/dev/null && grep -q hot lines
}

page_faults_are_recorded()
{
	run 3 record -q -e page-faults -c 1 -o file $PROGRAM 1 &&
		run 0 script -i file && grep 'page-faults: .*_start' out
}

tracepoints_are_recorded()
{
	run 0 record -q -e raw_syscalls:sys_enter -c 1 -o file true &&
		run 0 script -i file && [ "$(wc -l <out)" -gt 5 ]
}

# As many as are counted, however fast they come, unless a rate is asked for.
each_tracepoint_is_recorded()
{
	set -- dd if=/dev/zero of=/dev/null bs=1 count=3000
	any_rate
	run 0 stat -x ';' -e raw_syscalls:sys_enter --filter 'id == 1' "$@" || return 1
	counted=$(grep sys_enter err | cut -d ';' -f 1)
	run 0 record -q -e raw_syscalls:sys_enter --filter 'id == 1' -o file "$@" &&
		run 0 script -i file || return 1
	echo "$counted counted, $(wc -l <out) recorded"
	mv out each
	[ "$counted" -ge 3000 ] && [ "$(wc -l <each)" -eq "$counted" ] || return 1
	run 0 record -q -c 100 -e raw_syscalls:sys_enter --filter 'id == 1' -o file "$@" &&
		run 0 script -i file && [ "$(wc -l <out)" -eq $((counted / 100)) ]
}

# Where a tracepoint is begins its call chain, and is not its own caller.
a_tracepoint_is_in_its_chain_once()
{
	for event in raw_syscalls:sys_enter sched:sched_process_exec context-switches page-faults; do
		run 0 record -q -g -c 1 -e $event -o file sh -c 'usleep 5000; dd if=/dev/zero of=/dev/null count=9; true' &&
			perf script -i file -F ip,sym >script 2>/dev/null || return 1
		awk -v RS= -v FS='\n' '{ split($1, a, " "); split($2, b, " ")
				if (NF > 1 && a[1] == b[1]) twice++ }
			END { print NR, "chains,", twice + 0, "with the first place twice"
				exit !NR || twice }' script || { echo $event; head -5 script; return 1; }
	done
}

what_there_is_is_listed()
{
	run 0 list page-faults && grep -q 'page-faults or faults' out &&
		run 0 list context && grep -q 'context-switches or cs' out &&
		run 0 list tracepoints && [ "$(wc -l <out)" -gt 300 ] &&
		run 0 list tracepoints sched_switch && grep -qx sched:sched_switch out &&
		run 0 list -j tracepoints sched_switch && grep -q '"tracepoint"' out &&
		run 1 list tracepoints nothing_of_the_kind
}

# What is counted without being asked for depends on what there is.
without_an_event_something_is_counted()
{
	if pmuctl stat -e instructions true 2>/dev/null; then
		run 0 stat -x ';' true && says ';instructions'
	else
		run 0 stat -x ';' true && says ';task-clock' ';page-faults'
	fi
}

without_an_event_something_is_recorded()
{
	run 3 record -q -o file $PROGRAM 5 && hot_is_first file
}

run_checks hot_is_first
