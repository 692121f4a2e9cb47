#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's own recordings of Processor Trace, by "pmuctl run": perf knows the driver by its name in
# sysfs, where it has another number than ours. Runs in busybox' sh as root, on a CPU that traces.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

TRACED=/pmuctl/tests/prog/traced
PROGRAM=/pmuctl/tests/prog/perf-calls

# decoded FILE COMMAND...: how many instructions perf decodes of a recording of COMMAND
decoded()
{
	file=$1
	shift
	run 0 run --explain perf record -o "$file" -e intel_pt//u "$@" || return 1
	! grep 'type 1000 ' err >&2 || return 1
	perf script -i "$file" --itrace=i1ie -F event,ip >"$file.perf" 2>"$file.err" || return 1
	! grep -i error "$file.err" "$file.perf" >&2 || return 1
	grep -cF instructions: "$file.perf"
}

# traced OPTIONS: perf records and decodes the loop of 200,000 instructions: one of 1000 is told
traced()
{
	run 0 run --explain perf record "$@" -o data -e intel_pt//u $PROGRAM count || return 1
	! grep 'type 1000 ' err || return 1
	perf script -i data --itrace=i1000i -F ip,sym 2>/dev/null | awk '$2 == "count" { n++ } END { print n + 0; exit n < 199 || n > 201 }'
}

a_trace_of_each_cpu_is_recorded() { traced -i; }
a_trace_of_the_thread_is_recorded() { traced -i --per-thread; }

a_trace_of_all_that_a_command_starts_is_recorded()
{
	traced || return 1
	one=$(decoded one $TRACED 1 2) || return 1
	some=$(decoded some sh -c "$TRACED 1 2 & $TRACED 1 2; wait") || return 1
	echo "$one and $some"
	[ "$one" -gt 1000 ] && [ "$some" -gt $((2 * one)) ]
}

# perf makes addresses in the file of the name of a function.
a_filter_by_file_is_for_all_that_a_command_starts()
{
	one=$(decoded one --filter "filter fibonacci @ $TRACED" $TRACED 1 2) || return 1
	some=$(decoded some --filter "filter fibonacci @ $TRACED" sh -c "$TRACED 1 2 & $TRACED 1 2; wait") || return 1
	echo "$one and $some"
	[ "$one" -gt 10 ] && [ "$some" -eq $((2 * one)) ]
}

run_checks traced decoded
