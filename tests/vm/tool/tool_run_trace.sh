#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's own recordings of Processor Trace, by "pmuctl run": perf knows the driver by its name in
# sysfs, where it has another number than ours. Runs in busybox' sh as root, on a CPU that traces.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/perf-calls

# traced OPTIONS: perf records and decodes the loop of 200,000 instructions: one of 1000 is told
traced()
{
	run 0 run --explain perf record "$@" -o data -e intel_pt//u $PROGRAM count || return 1
	! grep 'type 1000 ' err || return 1
	perf script -i data --itrace=i1000i -F ip,sym 2>/dev/null | awk '$2 == "count" { n++ } END { print n + 0; exit n < 199 || n > 201 }'
}

a_trace_of_each_cpu_is_recorded() { traced -i; }
a_trace_of_the_thread_is_recorded() { traced -i --per-thread; }

what_one_buffer_cannot_take_is_told()
{
	pmuctl run --explain perf record -o data -e intel_pt//u true 2>err
	says 'type 1000 .* one buffer cannot take the traces of several tasks at once'
}

run_checks traced
