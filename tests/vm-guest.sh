#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs inside a guest: one suite after the other, each between two marker
# lines by which the runner outside (tests/run-vm) tells them apart:
#
#   #suite NAME begin
#   #suite NAME end STATUS SECONDS
#
# usage: sh vm-guest.sh SUITE...
#
# A suite is a file in /pmuctl/tests: a Criterion program, or a script NAME.sh.
# One test at a time: they share one PMU, and an emulated CPU is slow.
cd /tmp || exit 1
result=0
# Seconds for one suite; one that hangs must not take the others with it.
limit=300
now()
{
	cut -d ' ' -f 1 /proc/uptime
}

for suite in "$@"; do
	printf '#suite %s begin\n' "$suite"
	start=$(now)
	case $suite in
	*.sh)	timeout "$limit" sh "/pmuctl/tests/$suite" </dev/null 2>&1 ;;
	*)	timeout "$limit" "/pmuctl/tests/$suite" --color=never --jobs 1 --timeout 120 </dev/null 2>&1 ;;
	esac
	status=$?
	[ "$status" -eq 0 ] || result=1
	printf '\n#suite %s end %d %s\n' "$suite" "$status" \
		"$(awk -v a="$start" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')"
done
exit "$result"
