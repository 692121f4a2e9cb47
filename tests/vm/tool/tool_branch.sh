#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl record" of branches, and what is made of them, in a guest whose CPU notes them (--cpu
# intel-lbr). Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

TRACED=/pmuctl/tests/prog/traced

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

# Of the program alone, whose branches are the same each time: what perf records, we do.
the_same_program_has_the_same_branches()
{
	record -j any_call,u -o ours.data || return 1
	perf record -q -j any_call,u -e instructions:u -c 101 -o perfs.data "$TRACED" 1 2 3 >out 2>err ||
		return 1
	for file in ours perfs; do
		perf script -i $file.data -F brstack 2>err | tr -s ' ' '\n' |
			sed -n 's|^\(0x4[0-9a-f]*/0x4[0-9a-f]*\)/.*|\1|p' | sort -u >$file.calls
	done
	[ "$(wc -l <ours.calls)" -gt 3 ] && cmp ours.calls perfs.calls
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

a_call_graph_of_them_is_perfs_to_make()
{
	record --call-graph lbr -o lbr.data || return 1
	perf evlist -v -i lbr.data >out && grep -q 'branch_sample_type: USER|CALL_STACK' out
}

what_is_not_there_is_refused()
{
	run 2 record -j anything true && says "'anything' is no kind of branches" &&
		run 2 record -b --call-graph lbr true && says 'leave out -b and -j' &&
		run 1 record -e cpu-clock -b true && says 'only hardware events can sample branches'
}

run_checks record
