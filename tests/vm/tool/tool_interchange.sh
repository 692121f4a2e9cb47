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

# as_perf_has_it FILE, as_we_have_it FILE: a line for each sample of it, without blanks
as_perf_has_it() { perf script -i "$1" -F event,ip,period 2>/dev/null | sed 's/ *//g'; }
as_we_have_it() { pmuctl script -i "$1" -F event,ip,period 2>/dev/null | sed 's/ *//g'; }

# The first of a group samples; of each event there are as many samples, which count all of it.
groups_are_sampled_by_their_first()
{
	record 3 -q -i -e '{instructions:u,branches}:uS,{cpu-clock,page-faults}:S' -c 100003 -o ours.data "$PROGRAM" || return 1
	pmuctl evlist -F -i ours.data >events
	printf '%s: sample_period=%s\n' instructions:u 100003 branches:u 0 cpu-clock 100003 page-faults 0 | cmp - events || return 1
	as_perf_has_it ours.data >expected
	as_we_have_it ours.data >script
	[ "$(grep -c branches:u: script)" -gt 100 ] && cmp expected script || return 1
	pmuctl script -i ours.data -F event,period,sym | awk '
		/ (hot|warm|cold)$/ && $2 == "instructions:u:" { n += $1; samples++ }
		/ (hot|warm|cold)$/ && $2 == "branches:u:" { branches += $1; of_them++ }
		END { exit !(samples > 100 && samples == of_them && branches > n / 20 && branches < n) }' || return 1
	# Through a pipe the same
	record 3 -q -i -e '{instructions,branches}:uS' -c 100003 -o file.data "$PROGRAM" || return 1
	pmuctl report -i file.data -q -s sym >expected
	pmuctl record -q -i -e '{instructions,branches}:uS' -c 100003 -o - "$PROGRAM" 2>err | pmuctl report -i - -q -s sym >rows
	[ "$(awk '/ hot$/ { print NF }' rows)" = 4 ] && cmp expected rows || return 1
	pmuctl record -q -i -e '{instructions,branches}:uS' -c 100003 -o - "$PROGRAM" 2>err | perf report -i - --stdio -s sym 2>/dev/null |
		grep -q ' of events .*{ instructions:u, branches:u }' || return 1
	# All that was sampled is one record for each, however many are made of it.
	perf report -i ours.data --stats 2>/dev/null | awk '/ SAMPLE events/ { print $3 }' >expected
	pmuctl report -i ours.data --stats | awk '/ SAMPLE events/ { print $3 }' >stats
	[ "$(grep -c . stats)" -eq 5 ] && cmp expected stats
}

# perf's own recordings; of a single event too, which tells its count
groups_of_perf_are_read_as_by_perf()
{
	perf record -q -B -F 999 -e '{cpu-clock,task-clock,page-faults}:uS' -o perf.data "$PROGRAM" >out 2>&1
	perf report -i perf.data --stdio -s sym -n -t '|' 2>/dev/null | tr -d ' ' >expected
	pmuctl report -i perf.data -s sym -n -t '|' 2>/dev/null | tr -d ' ' >rows
	grep 'hot$' rows && grep '|\[.\]\(hot\|warm\|cold\)$' expected >expected.rows &&
		grep '|\[.\]\(hot\|warm\|cold\)$' rows | cmp - expected.rows || return 1
	sed -n 's/^#Samples:.*ofevents/events/p' expected >heading
	grep -q "^events'anongroup{cpu-clock.*}'$" heading &&
		sed -n 's/^#Samples:.*ofevents/events/p' rows | cmp - heading || return 1
	for events in '{cpu-clock:u,page-faults:u,context-switches}:S' '{cpu-clock,task-clock}:S,cpu-clock:S'; do
		# Kernels before 6.12 have no samples with counts of tasks that are inherited.
		perf record -q -B -F 999 -e "$events" -o perf.data "$PROGRAM" >out 2>&1 ||
			case $(uname -r) in 5.10.*|6.1.*) grep -q 'per-thread mode' out && continue ;; esac
		as_perf_has_it perf.data >expected
		as_we_have_it perf.data >script
		[ -s script ] && cmp expected script || return 1
	done
	perf record -q -B -F 500 -a -e '{cpu-clock,page-faults}:S' -o perf.data "$PROGRAM" >out 2>&1
	perf script -i perf.data -F event,cpu,tid,period 2>/dev/null | sed 's/ *//g' >expected
	pmuctl script -i perf.data -F event,cpu,tid,period 2>/dev/null | sed 's/ *//g' >script
	[ "$(grep -c . script)" -gt 10 ] && cmp expected script
}

# Each thread and process that is started has counts of its own, which are told apart.
inherited_groups_are_sampled()
{
	run 0 record -q -e '{instructions,branches}:uS' -c 100003 -o ours.data sh -c "$PROGRAM; $PROGRAM; $PROGRAM & wait; $PROGRAM; true" || return 1
	pmuctl script -i ours.data -F tid,event,period,sym | awk '
		/ (hot|warm|cold)$/ && $3 == "instructions:u:" { tids[$1]; if ($2 < 100003 || $2 > 300009) wrong++ }
		/ (hot|warm|cold)$/ && $3 == "branches:u:" && $2 > 300009 { wrong++ }
		END { for (tid in tids) n++; exit !(n == 4 && !wrong) }' || return 1
	run 0 record -q -s -e '{instructions,branches}:uS' -c 100003 -o ours.data sh -c "$PROGRAM; true" &&
		run 0 report -T -i ours.data && grep -q 'instructions:u' out
}

members_may_have_modifiers_of_their_own()
{
	run 0 record -q -e '{cycles:u,instructions}:S,branches:S' -F 999 -o ours.data "$PROGRAM"
	[ $? -le 1 ] || return 1
	pmuctl evlist -i ours.data | tr '\n' ' ' >events
	echo 'cycles:u instructions branches:S ' | tr -d '\n' | cmp - events || return 1
	run 0 stat -x , -e '{cycles,instructions}:S' true && says ',cycles,' ',instructions,' && run 2 record -e cycles:SS true && says 'the modifier S is given twice'
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

run_checks record rows as_perf_has_it as_we_have_it
