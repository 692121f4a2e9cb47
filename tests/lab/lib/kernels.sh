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
#                          make      the make to build for it with, if not this machine's
#
# A series with -rt at its end is the PREEMPT_RT kernel beside the one without.
# A version that is there stays until setup --update.  Sourced, never run.

# kernel_debian SERIES: print the release of Debian that has this kernel, if it is another
# than that of the rest of the laboratory.
kernel_debian()
{
	case ${1%-rt} in
	5.10) echo bullseye ;;
	newest) echo trixie ;;
	esac
}

# kernel_flavour SERIES: print what Debian's packages call it.
kernel_flavour()
{
	case $1 in
	*-rt) echo rt-amd64 ;;
	*) echo amd64 ;;
	esac
}

# kernel_tool_packages RELEASE: print what such a release has to build its kernel's modules with,
# what is essential among it.
kernel_tool_packages()
{
	echo bash coreutils dash diffutils findutils grep gzip mawk sed tar make ccache
	case $1 in
	bullseye) echo gcc-10 libelf1 dwarves ;;
	trixie) echo gcc-14 libelf1t64 pahole ;;
	esac
}

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
	local version image prefix=${1%-rt}.
	[ "$prefix" != newest. ] || prefix=
	image=linux-image-$(kernel_flavour "$1")
	version=$(apt_newest "$image" "$prefix")
	[ -n "$version" ] ||
		die "no $image of series $1 in the package lists" \
		    "see which kernels Debian's suites hold now, and adapt the lists in tests/lab/lib/common.sh and kernels.sh"
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
	done < <(find "$root/usr/src" "$root/usr/lib" "$root/lib/" -type l)

	while read -r makefile; do
		# shellcheck disable=SC2016 # these are make's
		sed -i -E -e 's|^KBUILD_OUTPUT=/usr/src/.*|KBUILD_OUTPUT := $(dir $(abspath $(lastword $(MAKEFILE_LIST))))|' \
			-e 's|(^\|[[:space:]])/usr/src/|\1$(dir $(lastword $(MAKEFILE_LIST)))../|g' \
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

# kernel_packages VERSION FLAVOUR: print the packages of one kernel and its headers, by what they
# depend on: what is called linux-something and has the very same version. The tools of the kernel's
# build may be newer: Debian's suites have those of the next version some days before its kernel.
kernel_packages()
{
	local version name next
	local -a todo=("linux-image-$2" "linux-headers-$2")
	local -A seen=()
	while [ "${#todo[@]}" -gt 0 ]; do
		name=${todo[0]}
		todo=("${todo[@]:1}")
		[ -z "${seen[$name]:-}" ] || continue
		seen[$name]=1
		version=$1
		if [[ $name == linux-kbuild-* && -z $(apt_field "$name=$version" Filename 2>/dev/null) ]]; then
			version=$(apt_newest "$name" '')
		fi
		next=$(apt_field "$name=$version" Depends 2>/dev/null)
		[ -n "$(apt_field "$name=$version" Filename 2>/dev/null)" ] || continue
		printf '%s=%s\n' "$name" "$version"
		while read -r name _; do
			[[ $name != linux-* ]] || todo+=("$name")
		done < <(tr ',' '\n' <<<"$next")
	done
}

# kernel_unpack VERSION FLAVOUR ROOT: fetch and unpack the packages of one kernel.
kernel_unpack()
{
	local packages
	packages=$(kernel_packages "$1" "$2")
	case $packages in
	*linux-headers-*-common*=*linux-kbuild-* | *linux-kbuild-*linux-headers-*-common*=*) ;;
	*)
		say "did not find all packages of $1:" $packages
		return 1
		;;
	esac
	# shellcheck disable=SC2086 # words
	apt_unpack "$3" $packages
}

# kernel_tools RELEASE: a compiler, make and what they need of another release of Debian, unpacked in
# the cache: CACHE/tools/<release>. What a package's scripts would have done is not needed.
kernel_tools()
{
	local new names program
	[ ! -d "$CACHE/tools/$1" ] || return 0
	apt_refresh
	say "tools of $1: fetching and unpacking a compiler"
	new=$(scratch_dir "tools-$1")
	# shellcheck disable=SC2046 # words
	names=$(apt_closure $(kernel_tool_packages "$1")) && [ -n "$names" ] || return 1
	# shellcheck disable=SC2086 # words
	apt_unpack "$new" $names || return 1
	# Older packages have part of it outside.
	for program in bin sbin lib lib64; do
		[ -L "$new/$program" ] || [ ! -d "$new/$program" ] ||
			cp -a -- "$new/$program" "$new/usr/"
	done
	mkdir -p "$new/usr/lib/ccache"
	ln -sf mawk "$new/usr/bin/awk"
	ln -sf dash "$new/usr/bin/sh"
	for program in "$new"/usr/bin/gcc-[0-9]*; do
		ln -s ../../bin/ccache "$new/usr/lib/ccache/${program##*/}"
	done
	chmod 755 "$new"
	replace_dir "$new" "$CACHE/tools/$1"
}

# kernel_write_make RELEASE FILE: write a make that runs with that release's tools. They take the place of
# /usr in a mount namespace of its own, and all else is this machine's.
kernel_write_make()
{
	cat >"$2" <<-EOF
		#!/bin/bash
		user=()
		[ "\$(id -u)" -eq 0 ] || user=(--user --map-root-user)
		exec unshare "\${user[@]}" --mount --propagation private \\
			bash -euc 'mount --bind "\$0" /usr; exec make "\$@"' '$CACHE/tools/$1/usr' "\$@"
	EOF
	chmod 755 "$2"
}

# kernel_get SERIES: put the newest kernel of a series in the cache.
kernel_get()
{
	local series=$1 version new root release image
	apt_use "$(kernel_debian "$series")"
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
	kernel_unpack "$version" "$(kernel_flavour "$series")" "$root" ||
		die "kernel $series could not be fetched" \
		    "check the network and the space in $CACHE, then run this again"

	# Newer packages have no /boot, and know /lib by its other name only.
	[ -d "$root/lib" ] || ln -s usr/lib "$root/lib"
	release=$(basename -- "$root"/lib/modules/*)
	kernel_relocate "$root"
	image=$root/boot/vmlinuz-$release
	[ -e "$image" ] || image=$root/lib/modules/$release/vmlinuz
	mv -- "$image" "$new/vmlinuz"
	kernel_extract "$new/vmlinuz" "$new/vmlinux" ||
		die "kernel $version could not be unpacked from its boot image" \
		    "tests/lab/lib/kernels.sh, kernel_extract, must learn about it"
	ln -s "root/lib/modules/$release" "$new/modules"
	ln -s "root/usr/src/linux-headers-$release" "$new/build"
	depmod -b "$root" "$release"
	printf '%s\n' "$release" >"$new/release"
	printf '%s\n' "$version" >"$new/version"
	chmod 755 "$new"
	if [ -n "$APT_RELEASE" ]; then
		kernel_tools "$APT_RELEASE" ||
			die "the compiler for kernel $version could not be fetched" \
			    "check the network and the space in $CACHE, then run this again"
		kernel_write_make "$APT_RELEASE" "$new/make"
	fi
	apt_use
	kernel_try_build "$new" ||
		die "a module does not build against the headers of kernel $version" \
		    "see the messages above; gcc-12 and make must be installed"
	replace_dir "$new" "$CACHE/kernels/$series"
}

# kernel_try_build DIR: build a trivial module, to know that the headers work.
kernel_try_build()
{
	local try status=0 make=make
	[ ! -x "$1/make" ] || make=$1/make
	try=$(scratch_dir module)
	cat >"$try/trial.c" <<-'EOF'
		#include <linux/module.h>
		MODULE_LICENSE("GPL");
	EOF
	echo 'obj-m := trial.o' >"$try/Makefile"
	run_logged "$CACHE/log/kernel-trial.log" \
		"$make" -C "$1/build" M="$try" modules || status=1
	[ -s "$try/trial.ko" ] || status=1
	rm -rf -- "$try"
	return "$status"
}
