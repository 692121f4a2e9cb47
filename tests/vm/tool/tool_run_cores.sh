#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's events of one type of core, by "pmuctl run". Runs in busybox' sh as root, on a processor
# whose cores differ.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

LOOPS=/pmuctl/tests/prog/hot-warm-cold
LEAST=80000000	# instructions of LOOPS in user mode

core=$(cat /sys/bus/event_source/devices/cpu_core/cpus)
atom=$(cat /sys/bus/event_source/devices/cpu_atom/cpus)

# counted FILE CPU EVENT: on a CPU, 0 if there is none
counted() { awk -F ';' -v cpu="CPU$2" -v event="$3" '$1 == cpu && index($4, event) { n = $2 } END { print n + 0 }' "$1"; }

# on CPU: the loops run there, and are counted there, by names and by numbers of events
on()
{
	run 3 run perf stat -a -A -x ';' -o counts -e instructions:u -e cpu_core/event=0xc0/u -e cpu_atom/event=0xc0/u \
		/usr/bin/taskset -c "$1" $LOOPS 1 && cat counts &&
		[ "$(counted counts "$1" instructions)" -gt $LEAST ] && [ "$(counted counts "$1" event=0xc0)" -gt $LEAST ] &&
		[ "$(counted counts "$2" instructions)" -lt $LEAST ] && [ "$(counted counts "$2" event=0xc0)" -lt $LEAST ]
}

performance_cores_are_counted() { on "$core" "$atom"; }
efficiency_cores_are_counted() { on "$atom" "$core"; }

# of FILE EVENT: how many, 0 if it was not counted
of() { awk -F ';' -v event="$2" 'index($3, event) && $1 ~ /^[0-9]+$/ { n = $1 } END { print n + 0 }' "$1"; }

# A task is counted where it is: by its own events of either type, and what it starts, too.
# where CPU COUNTS ELSEWHERE
where()
{
	run 3 run --strict perf stat -x ';' -o counts -e cpu_core/instructions/u -e cpu_atom/instructions/u \
		-e cpu_core/event=0xc0/u -e cpu_atom/event=0xc0/u /usr/bin/taskset -c "$1" $LOOPS 1 && cat counts || return 1
	[ "$(of counts "$2/instructions")" -gt $LEAST ] && [ "$(of counts "$2/event=0xc0")" -gt $LEAST ] &&
		[ "$(of counts "$3/instructions")" -lt $LEAST ] && [ "$(of counts "$3/event=0xc0")" -lt $LEAST ]
}

tasks_are_counted_on_performance_cores() { where "$core" cpu_core cpu_atom; }
tasks_are_counted_on_efficiency_cores() { where "$atom" cpu_atom cpu_core; }

# perf stat opens what it counts by default for each type of core.
what_is_counted_by_default_is()
{
	run 3 run --strict perf stat -x ';' -o counts /usr/bin/taskset -c "$atom" $LOOPS 1 && cat counts &&
		[ "$(of counts cpu_atom/instructions)" -gt $LEAST ]
}

# Programs that were made for perf's first versions have in a raw event what perf sets by itself,
# whatever they say: 0x530000 is user mode, the kernel, interrupts, and that it counts.
# old_event CPU COUNTS ELSEWHERE COMMAND...: counted where the task is, by this perf
old_event()
{
	cpu=$1 counts=$2 elsewhere=$3
	shift 3
	"$@" stat -x ';' -o counts -e "$counts/config=0x5300c0/u" -e "$elsewhere/config=0x5300c0/u" \
		/usr/bin/taskset -c "$cpu" $LOOPS 1
	cat counts
	[ "$(of counts "$counts/")" -gt $LEAST ] && [ "$(of counts "$elsewhere/")" -lt $LEAST ]
}
what_perf_sets_by_itself_does_not_matter()
{
	give_back
	old_event "$core" cpu_core cpu_atom command perf && old_event "$atom" cpu_atom cpu_core command perf &&
		old_event "$core" cpu_core cpu_atom pmuctl run --strict perf &&
		old_event "$atom" cpu_atom cpu_core pmuctl run --strict perf
}

# Both types sample, and the samples come from where the task was.
samples_are_taken_on_each()
{
	for cpu in "$core" "$atom"; do
		run 3 run --strict perf record -q -o data -c 1000000 -e cpu_core/instructions/u -e cpu_atom/instructions/u \
			/usr/bin/taskset -c "$cpu" $LOOPS 1 || return 1
		perf script -i data -F event 2>/dev/null | sort | uniq -c
	done >events
	cat events
	[ "$(awk '/cpu_core/ && $1 >= 80 { n++ } END { print n + 0 }' events)" -eq 1 ] &&
		[ "$(awk '/cpu_atom/ && $1 >= 80 { n++ } END { print n + 0 }' events)" -eq 1 ]
}

run_checks counted on of where old_event
