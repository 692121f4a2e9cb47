#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Trees of short tasks, ten levels deep, under "pmuctl stat": the sum of user instructions is
# exact, for a few tasks and for ten thousand, processes only and with threads, and nothing
# stays in the slab caches. The kernel's perf counts the small ones, as a witness. Runs in
# busybox' sh as root. TREE_CHAINS is how many chains of ten tasks the largest tree has, 1000
# if it is not set.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

TREE=/pmuctl/tests/prog/tree
LEVELS=10
CHAINS=${TREE_CHAINS:-1000}
ROUNDS=100
# What a cache may show more in use, as they keep some that are free: one in ten tasks
OBJECTS_MAX=$CHAINS

# tree TOOL CHAINS THREADS ROUNDS: what TOOL counts, to $count
tree()
{
	"$1" stat -x , -e "{instructions:u,branches:u}" -o counts -- \
		"$TREE" "$(printf %05d "$2")" $LEVELS "$3" "$4" || return 1
	count=$(sed -n 's/^\([0-9]*\),.*instructions:u.*/\1/p' counts)
	branches=$(sed -n 's/^\([0-9]*\),.*branches:u.*/\1/p' counts)
	[ -n "$count$branches" ] || { cat counts; return 1; }
}

# Instructions that each task is to take more for each round more
PER_ROUND=2

# learn THREADS: what one chain more costs, to $chain, and what is always there, to $fixed
learn()
{
	tree pmuctl 4 "$1" $ROUNDS && few=$count && few_branches=$branches &&
		tree pmuctl 12 "$1" $ROUNDS || return 1
	chain=$(((count - few) / 8)) chain_branches=$(((branches - few_branches) / 8))
	fixed=$((few - 4 * chain)) fixed_branches=$((few_branches - 4 * chain_branches))
	echo "a chain: $chain instructions, all else: $fixed"
	[ $((fixed + 12 * chain)) -eq "$count" ] &&
		[ "$chain" -gt $((LEVELS * ROUNDS * PER_ROUND)) ] &&
		[ "$chain" -lt $((LEVELS * (ROUNDS * PER_ROUND + 40))) ] &&
		[ "$fixed" -gt 0 ] && [ "$fixed" -lt 400 ]
}

# is_tree TOOL CHAINS THREADS ROUNDS: it must be what was learnt of small ones
is_tree()
{
	tree "$@" || return 1
	more=$((($4 - ROUNDS) * LEVELS))
	expected=$((fixed + $2 * (chain + more * PER_ROUND)))
	expected_branches=$((fixed_branches + $2 * (chain_branches + more)))
	echo "$*: $count instructions, expected $expected; $branches branches, $expected_branches"
	[ "$count" -eq "$expected" ] && [ "$branches" -eq "$expected_branches" ]
}

# The first run loads the program.
tree pmuctl 4 1 $ROUNDS >/dev/null 2>&1

# ---- few: each time the same, and the same as perf's

few_of()
{
	learn "$1" || return 1
	for _ in 1 2 3; do
		is_tree pmuctl 12 "$1" $ROUNDS || return 1
		# perf refuses to read groups that are inherited. It has an event for each type of CPU.
		perf stat --no-scale -x , -e instructions:u -o counts -- \
			"$TREE" 00012 $LEVELS "$1" $ROUNDS || return 1
		theirs=$(awk -F , '$3 ~ /instructions/ { n += $1 } END { print n }' counts)
		tree pmuctl 12 "$1" $ROUNDS || return 1
		echo "ours $count, theirs $theirs"
		[ "$count" -eq "$theirs" ] || return 1
	done
}
few_processes() { few_of 0; }
few_processes_and_threads() { few_of 1; }

# ---- many

# objects: "CACHE OBJECTS" a line: those in use, without those that CPUs keep. The kernel
# keeps the addresses of old stacks until there are many (vmap_area): for the same tree under
# perf, without the module, that cache grows from 1,800 to 8,400 too.
objects()
{
	for cache in /sys/kernel/slab/*/shrink; do
		echo 1 >"$cache"
	done
	awk 'NR > 2 && $1 != "vmap_area" { print $1, $2 }' /proc/slabinfo
}

# grown BEFORE: the caches that have grown since
grown()
{
	objects >now
	awk -v max="$OBJECTS_MAX" '
		NR == FNR { before[$1] = $2; next }
		$2 - before[$1] >= max { print $1, before[$1], "->", $2 }' "$1" now
}

many_processes() { learn 0 && is_tree pmuctl $((CHAINS / 5)) 0 321; }

# Of ten thousand nothing stays.
many_processes_and_threads()
{
	learn 1 || return 1
	sleep 1
	objects >before
	[ -s before ] && is_tree pmuctl "$CHAINS" 1 321 || return 1
	# RCU frees them, at a time of its own.
	tries=0
	until [ -z "$(grown before)" ]; do
		[ $((tries += 1)) -le 100 ] || { grown before; return 1; }
		usleep 100000
	done
}

run_checks tree learn is_tree few_of objects grown
