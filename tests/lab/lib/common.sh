# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Ground that every script of the laboratory stands on: where the tree and
# the cache are, how to speak to the user, and how to replace a directory in
# one step so that a failure never leaves half of one behind.  Sourced, never
# run.

LAB_DIR=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
TREE=$(cd -- "$LAB_DIR/../.." && pwd)
CACHE=${PMUCTL_CACHE:-$HOME/.cache/pmuctl}
LAB_KERNELS=(6.1 6.12)
LAB_MORE_KERNELS=(5.10 newest 6.1-rt 6.12-rt)
LAB_DEBUG_KERNELS=(debug kcsan light)
export LAB_DIR TREE CACHE LAB_KERNELS LAB_MORE_KERNELS LAB_DEBUG_KERNELS

# is_debug_kernel NAME
is_debug_kernel()
{
	case " ${LAB_DEBUG_KERNELS[*]} " in
	*" $1 "*) ;;
	*) return 1 ;;
	esac
}

# say TEXT: one line about what is being done.
say()
{
	printf '%s: %s\n' "${LAB_PROG:-lab}" "$*" >&2
}

# die TEXT [REMEDY]: say what is wrong and what to do about it, and leave.
die()
{
	printf '%s: error: %s\n' "${LAB_PROG:-lab}" "$1" >&2
	if [ $# -gt 1 ]; then
		printf '%s: remedy: %s\n' "${LAB_PROG:-lab}" "$2" >&2
	fi
	exit "${LAB_DIE_STATUS:-1}"
}

# run_logged LOG COMMAND...: run a command with its output kept in LOG; when
# it fails, show the end of that log.  Returns the command's status.
run_logged()
{
	local log=$1 status=0
	shift
	"$@" >"$log" 2>&1 || status=$?
	if [ "$status" -ne 0 ]; then
		say "failed ($status): $*"
		tail -n 25 "$log" | sed 's/^/    /' >&2
	fi
	return "$status"
}

# scratch_dir NAME: print a new directory inside the cache, on the same file
# system as what will be made in it, so that mv is a rename.
scratch_dir()
{
	mkdir -p "$CACHE/tmp"
	mktemp -d "$CACHE/tmp/$1.XXXXXX"
}

# replace_dir NEW TARGET: put NEW in TARGET's place by renames.
replace_dir()
{
	local new=$1 target=$2 old
	mkdir -p "$(dirname -- "$target")"
	old=$(mktemp -d "$CACHE/tmp/old.XXXXXX")
	if [ -e "$target" ]; then
		mv -T -- "$target" "$old/was"
	fi
	mv -T -- "$new" "$target"
	rm -rf -- "$old"
}
