#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl record" and "pmuctl script --trace" of Branch Trace Store, in a guest whose CPU has
# it and Processor Trace: the branches are those of the latter, by perf's decoder and by ours.
# Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

TRACED=/pmuctl/tests/prog/traced

# by_perf FILE: each branch from one place of the program to another, by perf's decoder
by_perf()
{
	perf script -i "$1" --itrace=b -F ip,addr 2>"$1.err" |
		sed -n 's/^ *\(4[0-9a-f]*\) => *\(4[0-9a-f]*\)$/\1 \2/p'
}

# by_us FILE: the same by ours
by_us()
{
	pmuctl script -i "$1" --trace=branches 2>"$1.said" |
		sed -n 's/^.* \(4[0-9a-f]*\) [^ ]* ([^)]*) => \(4[0-9a-f]*\) [^ ]* ([^)]*)$/\1 \2/p'
}

each_branch_is_there_by_perf_and_by_us()
{
	run 0 record -q -i -e intel_bts//u -o b.data "$TRACED" 1 2 3 &&
		run 0 record -q -i -e intel_pt//u -o p.data "$TRACED" 1 2 3 || return 1
	by_perf p.data >want
	by_perf b.data >perf
	by_us b.data >ours
	wc -l want perf ours
	[ "$(wc -l <want)" -gt 300 ] && cmp want perf && cmp want ours
}

calls_are_those_of_processor_trace()
{
	run 0 record -q -i -e intel_bts//u -o b.data "$TRACED" 1 &&
		run 0 record -q -i -e intel_pt//u -o p.data "$TRACED" 1 || return 1
	pmuctl script -i b.data --trace=calls 2>said | awk '$3 == "call" { print $4, $8 }' >calls
	pmuctl script -i p.data --trace=calls 2>said | awk '$4 == "call" { print $5, $9 }' >want
	[ "$(wc -l <want)" -gt 10 ] && cmp want calls
}

# names FILE: what begins and ends in a timeline, in this order
names()
{
	sed -n 's/.*"ph":"\(.\)".*"name":"\([^"]*\)","cat":"traced".*/\1 \2/p' "$1"
}

a_timeline_is_that_of_processor_trace()
{
	run 0 record -q -i -e intel_bts//u -o b.data "$TRACED" 1 2 3 &&
		run 0 record -q -i -e intel_pt//u -o p.data "$TRACED" 1 2 3 &&
		run 0 script -i p.data --trace=timeline && names out >want &&
		run 0 script -i b.data --trace=timeline && says 'the trace has no times' || return 1
	names out >got
	[ "$(wc -l <want)" -gt 10 ] && cmp want got
}

# A buffer that goes round many times
a_small_buffer_has_all_or_it_is_told()
{
	run 0 record -q -i -m ,32 -e intel_bts//u -o r.data "$TRACED" 1 2 3 4 5 6 7 8 9 10 11 12 &&
		run 0 record -q -i -e intel_pt//u -o p.data "$TRACED" 1 2 3 4 5 6 7 8 9 10 11 12 ||
		return 1
	by_perf p.data >want
	by_perf r.data >perf
	by_us r.data >ours
	cmp perf ours || return 1
	grep 'cut off' r.data.said || cmp want perf
}

# The buffer goes round several times, and ends somewhere in it.
a_snapshot_has_the_end()
{
	set -- 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24
	run 0 record -q -i -S -m ,2 -e intel_bts//u -o s.data "$TRACED" "$@" &&
		run 0 record -q -i -e intel_pt//u -o p.data "$TRACED" "$@" || return 1
	by_perf s.data >perf
	by_us s.data >ours
	by_perf p.data | tail -n "$(wc -l <ours)" >want
	wc -l want perf ours
	[ "$(wc -l <ours)" -gt 150 ] && cmp want perf && cmp want ours
}

instructions_are_not_to_be_had()
{
	run 0 record -q -i -e intel_bts//u -o b.data "$TRACED" 1 &&
		run 1 script -i b.data --trace=instructions &&
		says 'has branches only: use --trace=branches, calls, functions or timeline'
}

run_checks by_perf by_us names
