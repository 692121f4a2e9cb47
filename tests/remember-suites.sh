# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck disable=SC2154,SC2034 # variables of tests/run-vm and of tests/results.sh
#
# Which suites need not run, as they passed before with all that they stand on as it is now:
# their own file, the options of their run and the programs that it adds, the laboratory with its
# kernels and images, the compiler, the helpers of tests/vm, the library; and
#
#   tool_*	the tool: how the module does is what the other suites are for
#   *.sh	the tool and the module, and so those of the tool that the module has much to do with
#   others	the module
#
# A pass is remembered if the guest, too, was without fault, and if it was the first attempt:
# what is flaky runs again. "make check-all" runs everything. With RESUME=1 the long lists leave
# out what passed before, too, so that a campaign of many hours may go on another day. Sourced by
# tests/run-vm, never run.

# shellcheck source=tests/lab/lib/common.sh
. "$TREE/tests/lab/lib/common.sh"
# shellcheck source=tests/lab/lib/qemu.sh
. "$LAB_DIR/lib/qemu.sh"
# shellcheck source=tests/lab/lib/parts.sh
. "$LAB_DIR/lib/parts.sh"

PASSES=$CACHE/passed/vm
SHARED='include lib tests/lab tests/vm/common tests/vm/prog tests/unit/data tests/unit/*.h
	tests/unit/kernel tests/vm-guest.sh tests/build.mk tests/run-vm tests/results.sh
	tests/remember-suites.sh'

# hash_of PATH...: of the contents of these files, and of those below these directories
hash_of()
{
	find "$@" -type f ! -name '*.md' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum |
		sha256sum | cut -c 1-16
}

# know_stamps RUN...: find what the suites of these stand on, before any of them runs: who edits
# a file meanwhile has not tested it.
declare -A STAMPS=()
know_stamps()
{
	local run suite

	# shellcheck disable=SC2086 # words
	SHARED_HASH=$({
		"${CC:-cc}" --version
		lab_parts
		hash_of $SHARED
	} | sha256sum | cut -c 1-16)
	MODULE_HASH=$(hash_of module tests/vm/kmod)
	TOOL_HASH=$(hash_of tools)
	for run in "$@"; do
		! is_host "$run" || continue
		while IFS= read -r suite; do
			STAMPS[$run $suite]=$(stamp_of "$run" "$suite")
		done < <(suites_of "$run")
	done
}

# stamp_of RUN SUITE: the hash of what a suite stands on
stamp_of()
{
	local file module=$MODULE_HASH parts="$SHARED_HASH ${run_options[$1]}"

	for file in ${run_options[$1]}; do
		[[ $file != /*:* ]] || parts+=" $(sha256sum <"${file%%:*}")"
	done
	[[ " ${run_options[$1]} " != *' --no-module '* ]] || module=
	case $2 in
	tool_selftest.sh|tool_run*|tool_tracepoints.sh|tool_record.sh|tool_inherit.sh)
		parts+=" $MODULE_HASH $TOOL_HASH" ;;
	tool_*)	parts+=" $TOOL_HASH" ;;
	*.sh)	parts+=" $MODULE_HASH $TOOL_HASH" ;;
	*)	parts+=" $module" ;;
	esac
	for file in tests/vm/*/"$2" tests/vm/*/"$2.c"; do
		[ ! -e "$file" ] || parts+=" $(sha256sum <"$file")"
	done
	sha256sum <<<"$parts" | cut -c 1-16
}

# is_remembering: is this a run that leaves out what passed before?
is_remembering()
{
	[ -z "${RESUME:-}" ] || return 0
	[ -z "${FORCE:-}" ] && [ "$runs" = tests/vm.list ] && [ "$only" = '*' ] && [ -z "$all" ]
}

# passed_before RUN: of the suites on the input, print those that need not run.
passed_before()
{
	local suite

	is_remembering || return 0
	while IFS= read -r suite; do
		[ "$(head -n 1 -- "$PASSES/${run_names[$1]}/$suite" 2>/dev/null)" != "${STAMPS[$1 $suite]}" ] ||
			printf '%s\n' "$suite"
	done
}

# tell_passed_before RUN DIR SUITE...: a line and a verdict for each of those
tell_passed_before()
{
	local run=$1 dir=$2 suite TALLY=/dev/null VERDICTS=$2/verdicts

	shift 2
	for suite in "$@"; do
		{
			echo "passed before under this hash, ${STAMPS[$run $suite]}"
			tail -n 1 -- "$PASSES/${run_names[run]}/$suite"
		} >"$dir/$suite.log"
		tell_suite "${run_names[run]}/$suite" 0 0 "$dir/$suite.log"
	done
}

# remember_passes RUN DIR: those suites of a guest that was without fault
remember_passes()
{
	local run=$1 dir=$2 kept=$PASSES/${run_names[$1]} suite passed failed

	! failures "$dir" | grep -q -x guest || return 0
	mkdir -p "$kept"
	while read -r suite passed failed; do
		[ -n "${STAMPS[$run $suite]:-}" ] || continue
		[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ] || continue
		printf '%s\n%s passed, 0 failed\n' "${STAMPS[$run $suite]}" "$passed" >"$kept/$suite.$$"
		mv -- "$kept/$suite.$$" "$kept/$suite"
	done <"$dir/verdicts"
}
