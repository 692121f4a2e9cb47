# shellcheck shell=bash disable=SC2034,SC2154 # shared with those who source it
# SPDX-License-Identifier: GPL-2.0-only
#
# Root directories of a release of Debian. Each is a stack of directories, the lowest of them made by
# debootstrap, on each of which something was installed. They are made once and kept in the
# cache, CACHE/deb/RELEASE; delete one there to have it made anew. What a check itself does goes to
# a directory above them, so that they stay as they were. Sourced after lab/lib/common.sh and
# lab/lib/apt.sh, by a program that sets
#
#   suite    the release
#   roots    where its roots are, CACHE/deb/RELEASE
#   scratch  a directory that goes away in the end, on the file system of the cache
#   passed, failed  how many checks

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
		printf 'ok   %s: %s\n' "$suite" "$what"
		passed=$((passed + 1))
	else
		printf 'FAIL %s: %s\n' "$suite" "$what"
		printf '%s\n' "$output" | tail -n 60 | sed 's/^/     | /'
		failed=$((failed + 1))
	fi
}

# with_root STACK TOP COMMAND...: run a command of this machine's with a root at TOP/root: the
# directories of STACK, the highest first, with colons, and TOP/upper, which has what is changed.
# Mounts and processes live in namespaces of their own, so that nothing stays behind however this ends.
with_root()
{
	mkdir -p "$2/upper" "$2/work" "$2/root"
	# shellcheck disable=SC2016 # expanded inside
	unshare --mount --propagation private --pid --fork --kill-child bash -euc '
		mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
		shift 2
		exec "$@"' with_root "$@" </dev/null
}

# in_root STACK TOP COMMAND...: run a command in such a root. The packages that apt fetches and what
# compilers have made before are kept outside.
in_root()
{
	local archives=$roots/archives stack=$1 top=$2
	shift 2
	mkdir -p "$archives/partial" "$CACHE/ccache" "$top/upper/ccache" "$top/upper/check"
	# shellcheck disable=SC2016 # expanded inside
	with_root "$stack" "$top" bash -euc '
		root=$1 archives=$2 ccache=$3 files=$4
		shift 4
		mount -t proc proc "$root/proc"
		mount --bind "$archives" "$root/var/cache/apt/archives"
		mount --bind "$ccache" "$root/ccache"
		mount --bind "$files" "$root/check"
		[ -e "$root/etc/resolv.conf" ] || : >"$root/etc/resolv.conf"
		mount --bind /etc/resolv.conf "$root/etc/resolv.conf"
		exec chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
			PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin CCACHE_DIR=/ccache CCACHE_NOHASHDIR=1 "$@"
	' in_root "$top/root" "$archives" "$CACHE/ccache" "$scratch/check" "$@"
}

# logged LOG COMMAND...: its output goes to CACHE/log; the end of it is shown if it fails.
logged()
{
	local log=$CACHE/log/$1
	shift
	mkdir -p "$CACHE/log"
	"$@" >"$log" 2>&1 || {
		tail -n 20 "$log" | sed 's/^/     | /'
		stop "the root of $suite could not be made, see $log; is the mirror reachable?"
	}
}

# make_base DIR: Debian from the mirror that this machine's own configuration names, which has all
# releases, with the security updates.
make_base()
{
	local main security new=$scratch/base
	main=$(apt_site bookworm)
	security=$(apt_site bookworm-security)
	[ -n "$main" ] || stop "this machine's apt knows no mirror of bookworm: add one to its sources"
	mkdir -p "$roots/archives"
	logged "deb-$suite-base.log" debootstrap --variant=minbase --include=ca-certificates \
		--cache-dir="$roots/archives" "$suite" "$new" "$main"
	echo "deb $main $suite main" >"$new/etc/apt/sources.list"
	[ -z "$security" ] || echo "deb $security $suite-security main" >>"$new/etc/apt/sources.list"
	# Lists of a release that is no longer made have a date; what was fetched is kept; and files
	# of a root that goes away need not reach the disk.
	printf '%s\n' 'Acquire::Check-Valid-Until "false";' 'Acquire::Languages "none";' \
		'APT::Keep-Downloaded-Packages "true";' 'Binary::apt::APT::Keep-Downloaded-Packages "true";' \
		'APT::Sandbox::User "root";' 'DPkg::Path "/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin";' >"$new/etc/apt/apt.conf.d/90check"
	rm -f -- "$new/etc/apt/apt.conf.d/docker-clean"
	echo force-unsafe-io >"$new/etc/dpkg/dpkg.cfg.d/check"
	rm -f -- "$new"/var/cache/apt/archives/*.deb "$new/etc/resolv.conf"
	chmod 755 "$new"
	mv -- "$new" "$1"
}

# make_upper DIR STACK COMMAND...: what a command makes of a root, to DIR.
make_upper()
{
	local dir=$1 stack=$2 top=$scratch/new-upper
	shift 2
	rm -rf -- "$top"
	logged "deb-$suite-${dir##*/}.log" in_root "$stack" "$top" "$@"
	rm -rf -- "$top/upper/ccache" "$top/upper/check"
	mv -- "$top/upper" "$dir"
	rm -rf -- "$top"
}

# need_root DIR WHAT COMMAND...: make it with that command if it is not there.
need_root()
{
	local dir=$1 what=$2 start=$SECONDS
	shift 2
	[ ! -d "$dir" ] || return 0
	mkdir -p "${dir%/*}"
	"$@"
	echo "     $suite: $what: made in $((SECONDS - start)) s"
}

# need_programs: what this machine must have
need_programs()
{
	local program
	[ "$(id -u)" -eq 0 ] || stop "a Debian root can only be made by root: run it as root"
	for program in debootstrap unshare chroot mke2fs; do
		command -v "$program" >/dev/null || stop "$program is missing: make setup installs it"
	done
}
