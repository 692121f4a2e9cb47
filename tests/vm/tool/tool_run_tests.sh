#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's tests of itself, by "pmuctl run": those pass that pass on the kernel's perf. Runs in busybox'
# sh as root, for minutes.
# shellcheck disable=SC2317 # the checks are called by name
# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"

mkdir -p /sys/kernel/tracing
grep -q tracefs /proc/mounts || mount -t tracefs none /sys/kernel/tracing 2>/dev/null

by_theirs() { perf "$@"; }
by_ours() { pmuctl run perf "$@"; }

# passed_in FILE: the numbers of the cases that have passed, and what they are about
passed_in() { sed -nE 's/^ *([0-9.]+): (.*[^ ]) *: Ok *$/\1 \2/p' "$1" | sort; }

# passes WHOSE NUMBER: one of three times. Some cases wait for the clock, which a busy host lets run on.
passes()
{
	for _ in 1 2 3; do
		"by_$1" test "${2%.*}" >again 2>&1 </dev/null
		! passed_in again | grep -q "^$2 " || return 0
	done
	cat again
	return 1
}

the_same_cases_pass()
{
	by_theirs test >theirs.out 2>&1 </dev/null
	by_ours test >ours.out 2>&1 </dev/null
	passed_in theirs.out >theirs
	passed_in ours.out >ours
	echo "$(wc -l <theirs) pass on perf, $(wc -l <ours) on ours"
	[ "$(wc -l <theirs)" -gt 60 ] && same_after_all
}

# same_after_all: of what passes on one only, the other does, too, when it is asked again
same_after_all()
{
	diff theirs ours >differ && return 0
	cat differ
	sed -n 's/^\([-+]\)\([0-9][0-9.]*\) .*/\1 \2/p' differ >cases
	while read -r side number; do
		[ "$side" = + ] || { passes ours "$number" || return 1; }
		[ "$side" = - ] || { passes theirs "$number" || return 1; }
	done <cases
}

run_checks by_theirs by_ours passed_in passes same_after_all
