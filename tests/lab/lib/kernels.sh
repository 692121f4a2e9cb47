# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest kernels: Debian's linux-image and linux-headers packages, unpacked
# (never installed) into the cache, one directory for each series:
#
#   CACHE/kernels/<series>/vmlinuz   the kernel
#                          vmlinux   the same, uncompressed
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
		[ -s "$dir/vmlinux" ] &&
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
		# shellcheck disable=SC2016 # these are make's
		sed -i -E 's|(^\|[[:space:]])/usr/src/|\1$(dir $(lastword $(MAKEFILE_LIST)))../|g' \
			"$makefile"
	done < <(find "$root/usr/src" -maxdepth 2 -name Makefile -type f)
}

# kernel_extract VMLINUZ VMLINUX: unpack the kernel out of its boot image.
# An emulated processor would take seconds for that at every boot.  The header
# says where the payload is (Documentation/arch/x86/boot.rst: setup_sects,
# payload_offset, payload_length); its last four bytes are its unpacked size.
kernel_extract()
{
	local sectors offset length unpack
	sectors=$(od -An -tu1 -j $((0x1f1)) -N 1 "$1")
	offset=$(od -An -tu4 -j $((0x248)) -N 4 "$1")
	length=$(od -An -tu4 -j $((0x24c)) -N 4 "$1")
	offset=$((offset + (sectors + 1) * 512))
	case $(od -An -tx1 -j "$offset" -N 4 "$1" | tr -d ' ') in
	fd377a58) unpack='xz -dc --single-stream' ;;
	28b52ffd) unpack='zstd -dcq' ;;
	1f8b*) unpack='gzip -dc' ;;
	*)
		say "cannot tell how $1 is compressed"
		return 1
		;;
	esac
	head -c $((offset + length - 4)) "$1" | tail -c $((length - 4)) |
		$unpack >"$2.new" &&
	readelf -n "$2.new" 2>/dev/null | grep '(0x00000012)' >/dev/null && {
		mv -- "$2.new" "$2"
		return 0
	}
	say "no kernel with an entry point for PVH in $1"
	return 1
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
	kernel_extract "$new/vmlinuz" "$new/vmlinux" ||
		die "kernel $version could not be unpacked from its boot image" \
		    "tests/lab/lib/kernels.sh, kernel_extract, must learn about it"
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
