#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl record" of branches, and what is made of them, in a guest whose CPU notes them (--cpu
# intel-lbr). Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

TRACED=/pmuctl/tests/prog/traced
LOOPS=/pmuctl/tests/prog/hot-warm-cold
any_rate

record() { run 0 record -q -e instructions:u -c 101 "$@" "$TRACED" 1 2 3; }

# Both tools print the branches of a recording, of either, in the same way.
branches_are_printed_as_perf_prints_them()
{
	record -b -o ours.data || return 1
	perf record -q -b -e instructions:u -c 101 -o perfs.data "$TRACED" 1 2 3 >out 2>err || return 1
	for file in ours.data perfs.data; do
		pmuctl script -i $file -F brstack | sed 's/^[^0]*//' >ours
		perf script -i $file -F brstack 2>err | sed 's/^ *//' >perfs
		wc -l ours perfs
		[ "$(grep -c 0x4 ours)" -gt 20 ] || return 1
		tr -s ' ' '\n' <ours >ours.lines
		tr -s ' ' '\n' <perfs >perfs.lines
		cmp ours.lines perfs.lines || return 1
	done
}

# Of the program alone, whose branches are the same each time: what perf records, we do. A switch of
# tasks empties what the CPU has noted, and either is throttled: what one recording lacks so, another has.
the_same_program_has_the_same_branches()
{
	: >ours.calls
	: >perfs.calls
	for round in 1 2 3 4 5 6 7 8; do
		record -j any_call,u -o ours.data || return 1
		perf record -q -j any_call,u -e instructions:u -c 101 -o perfs.data "$TRACED" 1 2 3 >out 2>err ||
			return 1
		for file in ours perfs; do
			perf script -i $file.data -F brstack 2>err | tr -s ' ' '\n' |
				sed -n 's|^\(0x4[0-9a-f]*/0x4[0-9a-f]*\)/.*|\1|p' | sort -u - $file.calls >$file.more
			mv $file.more $file.calls
		done
		echo "round $round: $(wc -l <ours.calls) calls, perf: $(wc -l <perfs.calls)"
		[ "$(wc -l <ours.calls)" -gt 3 ] && cmp ours.calls perfs.calls && return
	done
	return 1
}

types_are_named()
{
	record -j any,u,save_type -o types.data && run 0 script -i types.data -F brstack &&
		for type in COND CALL RET; do grep -q "/$type " out || return 1; done
}

as_json_too()
{
	record -j any,u,save_type -o json.data && run 0 script -j -i json.data -F brstack &&
		grep -Eq '"branches":.[{]"from":"0x4[0-9a-f]*","to":"0x4[0-9a-f]*","mispred":(true|false),.*"type":"COND"' out
}

# chains: the functions of each sample, a line each; inlined ones only we name
chains() { awk '/^$/ { if (line) print line; line = ""; next } !/inlined/ { line = line " " $2 } END { if (line) print line }'; }

# Of samples without a branch, perf tells one that it had before.
a_call_graph_of_them_is_perfs()
{
	record --call-graph lbr -o ours.data || return 1
	perf record -q --call-graph lbr -e instructions:u -c 101 -o perfs.data "$TRACED" 1 2 3 >out 2>err ||
		return 1
	perf evlist -v -i ours.data >out && grep -q 'branch_sample_type: USER|CALL_STACK' out || return 1
	for file in ours.data perfs.data; do
		pmuctl script -i $file -F ip,sym 2>err | chains >ours
		perf script -i $file -F ip,sym 2>err | chains >perfs
		paste -d '|' ours perfs | grep -v unknown >both
		wc -l ours perfs both
		[ "$(wc -l <ours)" -eq "$(wc -l <perfs)" ] && [ "$(grep -c 'fibonacci fibonacci .*body' both)" -gt 5 ] &&
			awk -F '|' '$1 ~ / .* / && $1 != $2 { print; bad = 1 } END { exit bad }' both || return 1
	done
	run 0 report -i ours.data --no-children -g caller && SAYS=out says '^ +[0-9.]+% +_?[a-z]+$'
}

# What tells of tasks beside the samples has no branches.
the_newest_have_theirs()
{
	record --overwrite -b -o new.data && run 0 script -i new.data -F brstack && grep -q '0x4[0-9a-f]*/0x4' out &&
		record --overwrite --call-graph lbr -o new.data && run 0 script -i new.data -F ip,sym && grep -q fibonacci out
}

# covered FIRST LAST AT: the ranges between two branches of what is on stdin, as -F brstack has it, that are
# within a function, from its first to its last instruction, and have the instruction at AT
covered()
{
	awk -v first="$1" -v last="$2" -v at="$3" '
		function is_there(ip) { return length(ip) == length(first) && ip >= first && ip <= last }
		{ for (i = 1; i < NF; i++) {
			split($i, new, "/"); split($(i + 1), old, "/")
			n += is_there(old[2]) && is_there(new[1]) && old[2] <= at && new[1] >= at } }
		END { print n + 0 }'
}

# Each of the program's 200 rounds has 200025 instructions and ends with cold(), which goes round a loop 10000
# times. With as many from one sample to the next, each is where cold() and its caller have just returned: all
# but the last two branches of its stack are the loop's, and the oldest has no range before it. A stack is not
# whole if the task was switched or interrupted a moment before.
instructions_are_counted_by_branches()
{
	run 3 record -q -j any,u -e instructions:u -c 200025 -o loop.data "$LOOPS" &&
		pmuctl script -i loop.data -F brstack >stacks && run 0 annotate -i loop.data --no-source cold || return 1
	cat out
	tr -d : <out | awk '$3 ~ /^4[0-9a-f]+$/ { print "0x" $3, $2, $4 }' >rows
	first=$(sed -n '1s/ .*//p' rows) last=$(sed -n '$s/ .*//p' rows)
	[ "$(wc -l <rows)" -eq 7 ] || return 1
	while read -r at got _; do
		want=$(covered "$first" "$last" "$at" <stacks)
		echo "$at: $got, by the stacks $want"
		[ "$got" -eq "$want" ] || return 1
	done <rows
	run 0 annotate -j -i loop.data --no-source cold && tr -d '",' <out | awk '
		FILENAME == "stacks" { if (NF > depth) depth = NF
				       whole[NF] += !/0x(0|[0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f][0-9a-f]+)\//; all++ }
		$1 == "coverage:" { coverage[n++] = $2 }
		$1 == "taken:" { taken[n - 1] = $2 }
		function is(what, got, each) {
			print what, got, "expected", each, "of each of", whole[depth], "to", all
			if (got < each * whole[depth] || got > each * all) wrong = 1
		}
		END { is("back:", taken[4], depth - 3); is("at the branch:", coverage[4], depth - 2)
		      is("behind it:", coverage[5], 1); is("out:", taken[6], 1)
		      exit wrong || n != 7 || whole[depth] < all / 2 }' stacks -
}

what_is_not_there_is_refused()
{
	run 2 record -j anything true && says "'anything' is no kind of branches" &&
		run 2 record -b --call-graph lbr true && says 'leave out -b and -j' &&
		run 1 record -e cpu-clock -b true && says 'only hardware events can sample branches'
}

run_checks record chains covered
