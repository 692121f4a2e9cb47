# shellcheck shell=bash disable=SC2034,SC2154 # shared with those who source it
# SPDX-License-Identifier: GPL-2.0-only
#
# Checks in a root directory of Debian 12, which is made once and kept in the cache; delete it
# there to have it made anew. Sourced after lab/lib/common.sh and lab/lib/apt.sh, by a program
# that sets
#
#   root      the directory, below $CACHE/dkms, if it has packages of its own, and
#   packages  what it has besides minimal Debian, with commas
#   shown     a directory of this machine that programs find at /mnt there, if it is set

suite=bookworm
# Debian's dkms does not ask for openssl, which makes the key that it signs with. The headers of 6.12 need pahole.
: "${root:=$CACHE/dkms/bookworm-2}" "${packages:=dkms,linux-headers-amd64,libelf-dev,gcc,make,openssl,pahole}"
home=$CACHE/dkms
passed=0
failed=0

stop()
{
	echo "$LAB_PROG: $1" >&2
	echo "$passed passed, $((failed + 1)) failed"
	exit 1
}

# check WHAT COMMAND...: one check; its output is shown if it fails.
check()
{
	local what=$1 output
	shift
	if output=$("$@" 2>&1); then
		printf 'ok   %s\n' "$what"
		passed=$((passed + 1))
	else
		printf 'FAIL %s\n' "$what"
		printf '%s\n' "$output" | tail -n 60 | sed 's/^/     | /'
		failed=$((failed + 1))
	fi
}

# make_root: Debian from the mirror that this machine's own configuration names.
make_root()
{
	local site new
	site=$(apt_site "$suite")
	[ -n "$site" ] || stop "this machine's apt knows no mirror of $suite: add one to its sources"

	new=$(mktemp -d "$home/new.XXXXXX")
	if ! debootstrap --variant=minbase \
		--include="$packages" \
		"$suite" "$new" "$site" >"$home/debootstrap.log" 2>&1; then
		tail -n 20 "$home/debootstrap.log" | sed 's/^/     | /'
		rm -rf -- "$new"
		stop "debootstrap failed, see $home/debootstrap.log; is the mirror reachable?"
	fi
	rm -rf -- "$new"/var/cache/apt/archives/*.deb "$new"/var/lib/apt/lists/*
	chmod 755 "$new"
	rm -rf -- "$root"
	mv -- "$new" "$root"
}

# inside COMMAND...: run a command in the root, with /proc (the kernel's build
# reads it). The mount and all processes live in namespaces of their own, so
# that nothing stays behind however this ends.
inside()
{
	# shellcheck disable=SC2016 # expanded inside
	unshare --mount --propagation private --pid --fork --kill-child \
		bash -euc 'root=$1 shown=$2; shift 2; mount -t proc proc "$root/proc"
			[ -z "$shown" ] || mount --bind "$shown" "$root/mnt"
			exec chroot "$root" "$@"' \
		inside "$root" "${shown:-}" env -i HOME=/root LC_ALL=C.UTF-8 \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null
}

# need_root: make the root if it is not there; release is that of its kernel headers. An
# interrupted check may have left kernels that have others' headers.
need_root()
{
	local program headers start=$SECONDS
	[ "$(id -u)" -eq 0 ] || stop "a Debian root can only be made by root: run it as root"
	for program in debootstrap unshare chroot; do
		command -v "$program" >/dev/null || stop "$program is missing: make setup installs it"
	done
	mkdir -p "$home"
	exec 9>"$home/lock"
	flock 9
	if [ -d "$root" ]; then
		echo "Debian root: there, $root"
	else
		echo "Debian root: making it with debootstrap, a minute or two"
		rm -rf -- "$home"/new.*
		make_root
		echo "Debian root: made in $((SECONDS - start)) s"
	fi

	release=
	for headers in "$root"/lib/modules/*/build; do
		[[ $(readlink -- "$headers") == /usr/src/linux-headers-"$(basename -- "$(dirname -- "$headers")")" ]] ||
			continue
		release=$(basename -- "$(dirname -- "$headers")")
	done
	[ -n "$release" ] ||
		stop "$root has no kernel headers: delete it and try again"
}
