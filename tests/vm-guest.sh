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
#
# A kernel that looks for leaks (kmemleak) is asked for them in the end: once
# while the module is loaded, when its functions have names, once after it is gone.
cd /tmp || exit 1
result=0
# Seconds for one suite, and for one test; one that hangs must not take the
# others with it. A busy host may need ten times as long as a calm one. Kernels with
# leak checks have many others, and are slow; so is one that looks for data races.
leaks=/sys/kernel/debug/kmemleak
limit=${SUITE_SECONDS:-900}
test_limit=${TEST_SECONDS:-600}
if [ -e "$leaks" ] || [ -e /sys/kernel/debug/kcsan ]; then
	limit=2400
	test_limit=1800
fi
now()
{
	cut -d ' ' -f 1 /proc/uptime
}

# find_leaks PATTERN: the reports of leaked objects of which a line matches.
# An object counts as leaked once it is some seconds old, and a first scan may
# take a pointer that was on its way for a lost one.
find_leaks()
{
	sleep 6
	echo scan >"$leaks"
	sleep 1
	echo scan >"$leaks"
	awk -v pattern="$1" '
		function tell() { if (report ~ pattern) printf "%s", report }
		/^unreferenced object/ { tell(); report = "" }
		{ report = report $0 "\n" }
		END { tell() }' "$leaks"
}

# Functions of a module that has been unloaded are addresses without a name.
check_leaks()
{
	local found

	found=$(find_leaks '[[]pmuctl[]]')
	[ ! -d /sys/module/pmuctl ] || rmmod pmuctl || return 1
	found=$found$(find_leaks '[>][]] 0xffffffff[a-f]')
	if [ -n "$found" ]; then
		printf '%s\n0 passed, 1 failed\n' "$found"
		return 1
	fi
	echo '1 passed, 0 failed'
}

# run NAME COMMAND...: a command between the two lines.
run()
{
	local name=$1 start status=0

	shift
	printf '#suite %s begin\n' "$name"
	start=$(now)
	"$@" </dev/null 2>&1 || status=$?
	[ "$status" -eq 0 ] || result=1
	printf '\n#suite %s end %d %s\n' "$name" "$status" \
		"$(awk -v a="$start" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }')"
}

# What most suites are not about: every user may count in user space, as the kernel has it
# by itself (Debian's lets none), and may take the PMU; an emulated NMI takes long by the
# clock, and that throttles nothing.
let_anyone_count()
{
	local parameters=/sys/module/pmuctl/parameters

	echo 2 >/proc/sys/kernel/perf_event_paranoid
	[ -d $parameters ] || return
	echo 2 >$parameters/paranoid
	echo anyone >$parameters/claim
	echo 0 >$parameters/cpu_time_max_percent
}

# What of the module has run, where it counts that (tests/coverage/run). These files tell no size.
keep_coverage()
{
	local file

	[ -d /sys/kernel/debug/gcov ] || return 0
	mkdir -p /tmp/gcov
	find /sys/kernel/debug/gcov -name '*.gcda' | while IFS= read -r file; do
		mkdir -p "/tmp/gcov${file%/*}"
		cat "$file" >"/tmp/gcov$file"
	done
}

for suite in "$@"; do
	let_anyone_count
	case $suite in
	*.sh)	run "$suite" timeout "$limit" sh "/pmuctl/tests/$suite" ;;
	*)	run "$suite" env LD_LIBRARY_PATH=/pmuctl/tests/common/without-libgit2 \
			timeout "$limit" "/pmuctl/tests/$suite" --color=never --verbose --jobs 1 --timeout "$test_limit" \
			${STOP_AT_FAILURE:+--fail-fast} ;;
	esac
	[ "$result" -eq 0 ] || [ -z "${STOP_AT_FAILURE:-}" ] || break
done
[ ! -e "$leaks" ] || run leaks check_leaks
keep_coverage
exit "$result"
