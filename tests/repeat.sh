# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154 # run_names and the like are of tests/run-vm
#
# What tests/run-vm does about failures: what failed is repeated twice, in fresh guests
# with the options of its run. If both repeats pass it is flaky, which is told and
# counted as passed; if one fails it has failed. Sourced by tests/run-vm, never run.
#
# A suite is repeated by itself. A guest that failed as such (a finding in its kernel log, a
# hang, a suite that did not come to its end) is repeated with all its suites, and all
# of them must pass, with a clean log.
#
# The first attempt's logs stay in build/test-logs/vm/RUN, those of the repeats go
# to repeat-1 and repeat-2 below it.

# More failures than this are no chance, and none of them is repeated.
REPEAT_MOST=${REPEAT_MOST:-12}
# What all repeats may take, in seconds: what does not pass until then has failed. They end
# at CHECK_END, too, a time in seconds of date +%s, if there is one.
REPEAT_SECONDS=${REPEAT_SECONDS:-1800}
# No repeat begins with less than this left.
REPEAT_LEAST=60

# failures DIR: print the names of what failed in an attempt, "guest" for the guest as
# such. The search for leaks in the end is of the guest.
failures()
{
	if [ ! -s "$1/verdicts" ]; then
		echo guest
		return
	fi
	awk '
		$NF == 0 { next }
		/: guest and its kernel log / || $1 == "leaks" { whole = 1; next }
		{ print $1 }
		END { if (whole) print "guest" }' "$1/verdicts"
}

# of_guest NAME...: is the guest as such among these?
of_guest()
{
	[[ " $* " == *' guest '* ]]
}

# repeat_time RUN: print the seconds that a repeat of a run may take: those of the run, if so
# many are left.
repeat_time()
{
	local limit=300 left=$((REPEAT_END - SECONDS))

	if is_host "$1"; then
		limit=$left
	elif [[ ${run_options[$1]} =~ --time[[:space:]]+([0-9]+) ]]; then
		limit=${BASH_REMATCH[1]}
	fi
	echo $((limit < left ? limit : left))
}

# repeat_once RUN NUMBER NAME...: repeat what these are the names of.
repeat_once()
{
	local run=$1 name="${run_names[$1]} (repeat $2)" dir=$LOGS/vm/${run_names[$1]}/repeat-$2 seconds
	local -a words
	shift 2
	seconds=$(repeat_time "$run")
	if is_host "$run"; then
		read -r -a words <<<"${run_suites[run]}"
		attempt_host "$run" "$name" "$dir" timeout "$seconds" "${words[@]}"
		return
	fi
	words=("$@")
	if of_guest "$@"; then
		mapfile -t words < <(suites_of "$run")
	fi
	attempt_guest "$run" "$name" "$dir" --time "$seconds" -- "${words[@]}"
}

# repeat_run RUN: repeat what failed of a run; DIR/flaky gets the names of what passed twice.
repeat_run()
{
	local dir=$LOGS/vm/${run_names[$1]} number name bad
	local -a left still
	mapfile -t left < <(failures "$dir")
	for number in 1 2; do
		if [ $((REPEAT_END - SECONDS)) -lt "$REPEAT_LEAST" ]; then
			echo "repeat $number of ${run_names[$1]} does not begin: there is no time left for it"
			return
		fi
		repeat_once "$1" "$number" "${left[@]}"
		bad=$(failures "$dir/repeat-$number" | tr '\n' ' ')
		still=()
		for name in "${left[@]}"; do
			[[ " $bad" == *" $name "* ]] || still+=("$name")
		done
		# shellcheck disable=SC2086 # words
		if of_guest $bad || { [ -n "$bad" ] && of_guest "${left[@]}"; }; then
			return
		fi
		left=("${still[@]}")
		[ ${#left[@]} -gt 0 ] || return
	done
	printf '%s\n' "${left[@]}" >"$dir/flaky"
}

# tell_failures RUN: a line for each failure of its first attempt, what became of it, and
# where its log is. What the kernel said is shown again.
tell_failures()
{
	local run=${run_names[$1]} dir=$LOGS/vm/${run_names[$1]} name log what
	while IFS= read -r name; do
		what=$run/$name log=$dir/$name.log
		if is_host "$1"; then
			what=$run log=$dir/output.log
		elif [ "$name" = guest ]; then
			what="$run: guest and its kernel log" log=$dir/summary.log
		fi
		if grep -qxF -- "$name" "$dir/flaky" 2>/dev/null; then
			printf 'FLAKY %s: failed, then passed twice; log of the failure: %s\n' \
				"$what" "${log#"$TREE/"}"
			[ "$name" != guest ] || tail -n 40 -- "$log" | sed 's/^/     ! /'
		else
			printf 'FAIL %s: log: %s\n' "$what" "${log#"$TREE/"}"
		fi
	done < <(failures "$dir")
}

# repeat_failed RUN...: repeat what failed in the first attempts, and tell what came of it.
repeat_failed()
{
	local run number=0 flaky=0 left
	local -a failed=()
	for run in "$@"; do
		[ -n "$(failures "$LOGS/vm/${run_names[run]}")" ] || continue
		failed+=("$run")
		number=$((number + $(failures "$LOGS/vm/${run_names[run]}" | wc -l)))
	done
	[ "$number" -gt 0 ] || return 0
	if [ "$number" -gt "$REPEAT_MOST" ]; then
		echo "nothing is repeated: $number failures are no chance (more than $REPEAT_MOST)"
	else
		echo "what failed is repeated twice, in fresh guests:"
		left=$((${CHECK_END:-$(date +%s) + REPEAT_SECONDS} - $(date +%s)))
		REPEAT_END=$((SECONDS + (left < REPEAT_SECONDS ? left : REPEAT_SECONDS)))
		each_in_slots repeat_run "${failed[@]}"
	fi
	for run in "${failed[@]}"; do
		tell_failures "$run"
		[ ! -e "$LOGS/vm/${run_names[run]}/flaky" ] ||
			flaky=$((flaky + $(wc -l <"$LOGS/vm/${run_names[run]}/flaky")))
	done
	[ "$flaky" -eq 0 ] || echo "$flaky flaky, counted as passed: see docs/testing.md"
}

# verdicts_of DIR: what came of each suite of a run in the end: of what was flaky, in
# the last repeat, which of a guest has all.
verdicts_of()
{
	if [ ! -e "$1/flaky" ]; then
		cat -- "$1/verdicts"
	elif grep -qxF guest "$1/flaky"; then
		cat -- "$1/repeat-2/verdicts"
	else
		awk '
			FILENAME ~ /flaky$/ { flaky[$1] = 1; next }
			FILENAME ~ /repeat-2/ { last[$1] = $0; next }
			{ print flaky[$1] ? last[$1] : $0 }' \
			"$1/flaky" "$1/repeat-2/verdicts" "$1/verdicts"
	fi
}

# keep_verdicts RUN...: append them to build/vm-suites/RUN, and their numbers to $TALLY.
keep_verdicts()
{
	local run dir verdicts
	for run in "$@"; do
		dir=$LOGS/vm/${run_names[run]}
		verdicts=$(verdicts_of "$dir") && [ -n "$verdicts" ] || verdicts="guest 0 1"
		printf '%s\n' "$verdicts" | awk '{ print $(NF - 1), $NF }' >>"$TALLY"
		is_host "$run" || printf '%s\n' "$verdicts" >>"$BUILD/vm-suites/${run_names[run]}"
	done
}
