#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Five real programs, counted by pmuctl and by the kernel's perf in the same guest:
# user instructions and user branches are equal, each of three times. Runs under
# icount, where an execution can be repeated.
#
# "clean-env" gives each program the same environment, at the same cost, since perf
# sets variables of its own.
set -eu
rounds=3
passed=0
failed=0
events=instructions:u,branches:u
clean=/pmuctl/tests/prog/clean-env
claim=/sys/module/pmuctl/parameters/claim
busybox=$(readlink -f /proc/self/exe)
case $busybox in
*busybox*) ;;
*) busybox=/usr/bin/busybox ;;
esac

# A text of words with numbers, the same in every guest
text=/tmp/exact-text
awk 'BEGIN {
	n = split("counter event group leader sibling context sample record period overflow", word, " ")
	x = 1
	for (i = 0; i < 1500; i++) {
		x = (x * 1103 + 12345) % 1000003
		printf "%06d the %s of the %s %d\n", x, word[x % n + 1], word[int(x / 7) % n + 1], i
	}
}' >"$text"

# values FILE: the counts of a -x, output: "INSTRUCTIONS BRANCHES"
values()
{
	awk -F, '/instructions/ { i = $1 } /branches/ { b = $1 } END { print i, b }' "$1"
}

# count_one TOOL PROGRAM...: print what TOOL counts
count_one()
{
	tool=$1
	shift
	# We keep the PMU for a moment after the last event, unless somebody sets who may take it.
	[ "$tool" != perf ] || echo "$(cat $claim)" >$claim
	"$tool" stat -x, -e "$events" -o /tmp/exact-out -- "$clean" "$@" \
		>/tmp/exact-program </dev/null || {
		echo "$tool stat: status $? with $*" >&2
		return 1
	}
	values /tmp/exact-out
}

check()
{
	name=$1
	shift
	# Once without counting: the files are in the cache then, and the result
	# is there to compare with.
	"$clean" "$@" >/tmp/exact-expected </dev/null
	round=1
	while [ "$round" -le "$rounds" ]; do
		ours=$(count_one pmuctl "$@") || ours='failed'
		cmp -s /tmp/exact-program /tmp/exact-expected ||
			ours="$ours, but the program's output is another"
		theirs=$(count_one perf "$@") || theirs='failed with perf'
		case $ours in
		*[1-9][0-9][0-9][0-9]*' '*[1-9][0-9][0-9]*) ;;
		*) theirs="no counts" ;;
		esac
		if [ "$ours" = "$theirs" ]; then
			echo "ok $name, round $round: $ours instructions, branches"
			passed=$((passed + 1))
		else
			echo "FAIL $name, round $round: pmuctl: $ours; perf: $theirs"
			failed=$((failed + 1))
		fi
		round=$((round + 1))
	done
}

check gzip "$busybox" gzip -c "$text"
check sha256sum "$busybox" sha256sum "$text"
check sort "$busybox" sort -k 3 "$text"
# shellcheck disable=SC2016 # awk expands them
check awk "$busybox" awk '{ n[$3] += length($0) } END { for (w in n) print w, n[w] }' "$text"
check sed "$busybox" sed -n 's/the \([a-z]*\) of/of \1/p' "$text"
check grep "$busybox" grep -c 'overflow of the [cg]' "$text"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
