# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the runners of tests share: how results are counted, kept and told.
# Sourced, never run.
#
# A suite says what came of it in one of two ways: by Criterion's last line
# ("Synthesis: Tested: 3 | Passing: 3 ..."), or by a line "N passed, N failed".

TREE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=${PMUCTL_BUILD:-$TREE/build}
LOGS=$BUILD/test-logs
RESULTS=$BUILD/test-results
FLAKY=$BUILD/test-flaky
export TREE BUILD LOGS RESULTS FLAKY

# count_results LOG: print "PASSED FAILED" as LOG tells it; nothing if it
# does not.
count_results()
{
	awk '
		match($0, /Synthesis: Tested: [0-9]+ \| Passing: [0-9]+/) {
			split(substr($0, RSTART, RLENGTH), word, /[: |]+/)
			passed = word[5]; failed = word[3] - word[5]; told = 1
		}
		/^([A-Za-z0-9_-]+: )?[0-9]+ passed, [0-9]+ failed$/ {
			sub(/^[A-Za-z0-9_-]+: /, "")
			passed = $1; failed = $3; told = 1
		}
		END { if (told) print passed, failed }
	' "$1"
}

# tell_suite NAME SECONDS STATUS LOG: print the line of one suite; if it failed, what failed
# and the end of its log; and append "PASSED FAILED" to the file $TALLY; with the
# suite's name before them to $VERDICTS, if there is such a variable. The line of a
# suite that failed begins with $FAILED_WORD, FAIL if there is none.
#
# A suite that ends badly without a failed test, or without saying what it
# did, or that ran nothing, has failed.
tell_suite()
{
	local name=$1 seconds=$2 status=$3 log=$4 passed failed verdict=ok why=

	read -r passed failed <<<"$(count_results "$log")" || true
	if [ -z "$passed" ]; then
		passed=0 failed=1 why="no result, exit status $status"
	elif [ "$failed" -eq 0 ] && [ "$status" -ne 0 ]; then
		failed=1 why="exit status $status"
	elif [ $((passed + failed)) -eq 0 ]; then
		failed=1 why="no test was run"
	fi
	if [ "$failed" -gt 0 ]; then
		verdict=${FAILED_WORD:-FAIL}
	else
		why=$(grep -m 1 '^passed before under this hash' "$log" || true)
	fi
	printf '%s %s\n' "$passed" "$failed" >>"$TALLY"
	[ -z "${VERDICTS:-}" ] ||
		printf '%s %s %s\n' "${name##*/}" "$passed" "$failed" >>"$VERDICTS"
	printf '%-4s %-44s %4d passed, %d failed %6s s%s\n' "$verdict" "$name" \
		"$passed" "$failed" "$seconds" "${why:+ ($why)}"
	if [ "$failed" -gt 0 ] && [ -z "${VERBOSE:-}" ]; then
		sed -En '/(^|: )not ok |^FAIL |^\[FAIL\]/{s/^/     > /;p}' "$log"
		tail -n 40 -- "$log" | sed 's/^/     | /'
		printf '     | whole log: %s\n' "${log#"$TREE/"}"
	fi
}

# tally: print the sum of $TALLY as "N passed, N failed"; fails if anything
# failed or nothing passed.
tally()
{
	awk '{ passed += $1; failed += $2 }
	     END {
		printf "%d passed, %d failed\n", passed, failed
		exit failed > 0 || passed == 0
	     }' "$TALLY"
}
