#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What goes to others and comes from them, in a guest with the driver: recordings through
# pipes and compressed ones, ours and perf's. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

PROGRAM=/pmuctl/tests/prog/hot-warm-cold
any_rate

# record STATUS ARGS...: pmuctl record ARGS must end with STATUS
record()
{
	wanted=$1
	shift
	run "$wanted" record "$@"
}

# rows FILE: "SAMPLES FUNCTION" a line for each function of the program, as report has them
rows()
{
	pmuctl report -i "$1" -n -s sym -g none 2>report.err |
		awk '$NF ~ /^(hot|warm|cold)$/ { print $2, $NF }' | sort
}

# Each way of writing gives the same samples: a sample at each Nth instruction of the program.
recordings_go_through_pipes_and_zstd()
{
	record 3 -q -e instructions:u -c 100003 -o plain.data "$PROGRAM" || return 1
	rows plain.data >expected
	grep -q ' hot$' expected || return 1
	record 3 -q -z -e instructions:u -c 100003 -o z.data "$PROGRAM" || return 1
	rows z.data >rows && cmp expected rows || return 1
	[ "$(stat -c %s z.data)" -lt "$(stat -c %s plain.data)" ] || return 1
	pmuctl record -q -e instructions:u -c 100003 -o - "$PROGRAM" 2>err | rows - >rows
	[ ! -s err ] && cmp expected rows || return 1
	pmuctl record -q -z9 -e instructions:u -c 100003 -o - "$PROGRAM" 2>err | rows - >rows
	[ ! -s err ] && cmp expected rows || return 1
	pmuctl record -q -z -e instructions:u -c 100003 -o - "$PROGRAM" |
		pmuctl script -i - -F sym >script 2>err
	[ "$(grep -c . script)" -eq "$(pmuctl script -i plain.data -F sym | grep -c .)" ]
}

# perf finds in ours what it finds without, and we in perf's what perf does.
perf_has_the_same_format()
{
	record 3 -q -e instructions:u -c 100003 -o plain.data "$PROGRAM" &&
		record 3 -q -z -e instructions:u -c 100003 -o z.data "$PROGRAM" || return 1
	perf script -i plain.data -F event,ip,sym,period >expected 2>script.err || return 1
	perf script -i z.data -F event,ip,sym,period >script 2>script.err || return 1
	[ -s script ] && cmp expected script || return 1
	perf report -i z.data --header-only --stdio 2>/dev/null |
		grep -q '^# compressed : Zstd, level = 1, ratio = [1-9]' || return 1
	pmuctl record -q -z -e instructions:u -c 100003 -o - "$PROGRAM" 2>err |
		perf script -i - -F event,ip,sym,period >script 2>script.err
	[ ! -s err ] && cmp expected script || return 1
	perf record -q -z -e cpu-clock:u -o perf.data "$PROGRAM" >out 2>&1
	perf script -i perf.data -F ip,sym >expected 2>/dev/null
	pmuctl script -i perf.data -F ip,sym >script 2>err
	grep -c hot expected >hot && [ "$(grep -c hot script)" -eq "$(cat hot)" ] || return 1
	perf record -q -z -e cpu-clock:u -o - "$PROGRAM" 2>/dev/null | pmuctl report -i - -s sym >out &&
		grep -q ' hot$' out
}

# The events of ours and of perf's, by both
both_list_the_events()
{
	record 3 -q -e cycles:u,'{instructions:u,branches:u}',page-faults -c 100003 -o ours.data "$PROGRAM" || return 1
	perf record -q -e cpu-clock:u,'{page-faults,context-switches}' -F 99 -o perf.data true >out 2>&1
	for data in ours perf; do
		for how in '' -g -F; do
			# shellcheck disable=SC2086 # or none
			perf evlist $how -i "$data.data" 2>/dev/null | grep -v '^#' >expected
			run 0 evlist $how -i "$data.data" && [ -s expected ] && cmp expected out || return 1
		done
	done
	pmuctl record -q -e cycles:u,instructions:u -o - true | pmuctl evlist >out && [ "$(grep -c . out)" -eq 2 ] || return 1
	run 0 evlist -v -i ours.data && grep -q '^instructions:u: type: 0, size: [0-9]*, config: 0x1, .* exclude_kernel: 1' out
}

levels_are_checked()
{
	record 2 -z0 true && says "'0' is not a number for -z: it is from 1 to 22" &&
		record 2 --compression-level=23 true && says "'23' is not a number"
}

counts_are_metrics()
{
	run 0 stat --openmetrics -a -A -e page-faults,context-switches -o out.prom true &&
		grep -Eq '^pmuctl_events_total\{event="page-faults",cpu="0",unit=""\} [0-9]+$' out.prom &&
		[ "$(tail -n 1 out.prom)" = '# EOF' ] &&
		run 2 stat --openmetrics -j true && says 'excludes -x and -j' &&
		run 2 stat --openmetrics -I 100 true && says 'one set of counts'
}

run_checks record rows
