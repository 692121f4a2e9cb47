# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest kernels: Debian's linux-image and linux-headers packages, unpacked
# (never installed) into the cache, one directory for each series:
#
#   CACHE/kernels/<series>/vmlinuz   the kernel
#                          release   what uname -r says in it
#                          modules   its lib/modules/<release> tree
#                          build     a KDIR: make -C .../build M=... modules
#                          version   the Debian version that was unpacked
#
# A version that is there stays until setup --update.  Sourced, never run.

# kernel_ready SERIES: is this series in the cache, complete?
kernel_ready()
{
	local dir=$CACHE/kernels/$1
	[ -s "$dir/version" ] && [ -s "$dir/vmlinuz" ] &&
		[ -s "$dir/release" ] && [ -d "$dir/modules" ] &&
		[ -e "$dir/build/Makefile" ]
}

# kernel_suite_version SERIES: the newest version that the suites offer.
kernel_suite_version()
{
	local version
	version=$(apt_newest linux-image-amd64 "$1.")
	[ -n "$version" ] ||
		die "no linux-image-amd64 of series $1 in the package lists" \
		    "see which kernels bookworm and bookworm-backports hold now, and adapt LAB_KERNELS in tests/lab/lib/common.sh"
	printf '%s\n' "$version"
}

# kernel_relocate ROOT: the header packages name each other by absolute path;
# make those paths relative, so that the tree works from where it lies.
kernel_relocate()
{
	local root=$1 link goal makefile
	while read -r link; do
		goal=$(readlink -- "$link")
		case $goal in
		/usr/*|/lib/*)
			ln -sfnr -- "$root/${goal#/}" "$link"
			;;
		esac
	done < <(find "$root/usr/src" "$root/usr/lib" "$root/lib" -type l)

	while read -r makefile; do
		sed -i -E 's|(^\|[[:space:]])/usr/src/|\1$(dir $(lastword $(MAKEFILE_LIST)))../|g' \
			"$makefile"
	done < <(find "$root/usr/src" -maxdepth 2 -name Makefile -type f)
}

# kernel_unpack SERIES VERSION ROOT: fetch and unpack the packages of one
# kernel.  The series' own meta-packages say what the others are called.
kernel_unpack()
{
	local version=$2 root=$3 image headers word name
	local -a packages=()

	image=$(apt_field "linux-image-amd64=$version" Depends)
	headers=$(apt_field "linux-headers-amd64=$version" Depends)
	packages=("${image%% *}=$version" "${headers%% *}=$version")
	while read -r word; do
		name=${word%% *}
		case $name in
		linux-headers-*-common|linux-kbuild-*)
			packages+=("$name=$version")
			;;
		esac
	done < <(apt_field "${headers%% *}=$version" Depends |
		 tr ',' '\n' | sed 's/^ *//')
	[ "${#packages[@]}" -eq 4 ] || {
		say "did not find the four packages of $version: ${packages[*]}"
		return 1
	}
	apt_unpack "$root" "${packages[@]}"
}

# kernel_get SERIES: put the newest kernel of a series in the cache.
kernel_get()
{
	local series=$1 version new root release
	apt_refresh
	version=$(kernel_suite_version "$series")
	if kernel_ready "$series" &&
	   [ "$(cat "$CACHE/kernels/$series/version")" = "$version" ]; then
		say "kernel $series: $version is the newest"
		return 0
	fi
	say "kernel $series: fetching and unpacking $version"
	new=$(scratch_dir "kernel-$series")
	root=$new/root
	kernel_unpack "$series" "$version" "$root" ||
		die "kernel $series could not be fetched" \
		    "check the network and the space in $CACHE, then run this again"

	release=$(basename -- "$root"/boot/vmlinuz-*)
	release=${release#vmlinuz-}
	kernel_relocate "$root"
	mv -- "$root/boot/vmlinuz-$release" "$new/vmlinuz"
	ln -s "root/lib/modules/$release" "$new/modules"
	ln -s "root/usr/src/linux-headers-$release" "$new/build"
	depmod -b "$root" "$release"
	printf '%s\n' "$release" >"$new/release"
	printf '%s\n' "$version" >"$new/version"
	chmod 755 "$new"
	kernel_try_build "$new" ||
		die "a module does not build against the headers of kernel $version" \
		    "see the messages above; gcc-12 and make must be installed"
	replace_dir "$new" "$CACHE/kernels/$series"
}

# kernel_try_build DIR: build a trivial module, to know that the headers work.
kernel_try_build()
{
	local try status=0
	try=$(scratch_dir module)
	cat >"$try/trial.c" <<-'EOF'
		#include <linux/module.h>
		MODULE_LICENSE("GPL");
	EOF
	echo 'obj-m := trial.o' >"$try/Makefile"
	run_logged "$CACHE/log/kernel-trial.log" \
		make -C "$1/build" M="$try" modules || status=1
	[ -s "$try/trial.ko" ] || status=1
	rm -rf -- "$try"
	return "$status"
}
