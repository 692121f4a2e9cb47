# shellcheck shell=bash disable=SC2154 # shared with those who source it
# SPDX-License-Identifier: GPL-2.0-only
#
# The root in which the packages were installed boots in the emulated machine: its systemd is process
# 1 there, and its kernel is that of the headers for which DKMS has built the module. Sourced by
# release, after install.sh.
#
# The laboratory has kernels of its own, which are others than those of each release. So this is
# one that has nothing but this kernel and the emulator: CACHE/deb/RELEASE/lab-VERSION.

# in_lab DIR COMMAND...: a function of the laboratory's, for that one. Its init mounts the root, a
# file of ext4.
in_lab()
{
	local CACHE=$1
	local -a IMAGE_KERNEL_MODULES=("${IMAGE_KERNEL_MODULES[@]}" crc32c_generic loop ext4)
	shift
	"$@"
}

# make_lab DIR: from the package that came from where the headers did
make_lab()
{
	local new=$scratch/lab kernel=$scratch/lab/kernels/$series image
	mkdir -p "$kernel/root" "$new/tmp" "$new/log" "$scratch/check/kernel"
	# shellcheck disable=SC2016 # expanded inside
	logged "deb-$suite-kernel.log" inside sh -euc 'cd /check/kernel && apt-get download "linux-image-$1"' sh \
		"$release=$kernel_version"
	dpkg-deb -x "$scratch"/check/kernel/*.deb "$kernel/root"
	rm -rf -- "$scratch/check/kernel"
	[ -d "$kernel/root/lib" ] || ln -s usr/lib "$kernel/root/lib"
	image=$kernel/root/boot/vmlinuz-$release
	[ -e "$image" ] || image=$kernel/root/lib/modules/$release/vmlinuz
	mv -- "$image" "$kernel/vmlinuz"
	kernel_extract "$kernel/vmlinuz" "$kernel/vmlinux" || stop "kernel $release could not be unpacked"
	printf '%s\n' "$release" >"$kernel/release"
	printf '%s\n' "$kernel_version" >"$kernel/version"
	ln -s "root/lib/modules/$release" "$kernel/modules"
	depmod -b "$kernel/root" "$release"
	in_lab "$new" image_get "$series" ||
		stop "the guest's base image for $release could not be made"
	ln -s "$CACHE/qemu" "$new/qemu"
	mv -- "$new" "$1"
}

# need_lab: make that, or make its image anew, if what it is made of has changed.
need_lab()
{
	series=$(cut -d. -f1,2 <<<"$release")
	# shellcheck disable=SC2016 # dpkg's
	kernel_version=$(inside dpkg-query -W -f '${Version}' "linux-headers-$release")
	lab=$roots/lab-2-$kernel_version
	[ ! -d "$lab" ] || in_lab "$lab" image_ready "$series" || rm -rf -- "$lab"
	need_root "$lab" "a laboratory with kernel $release" make_lab "$lab"
}

# fill_image ROOT FILE: the file system, without what is large and not needed to run; with the packages
# to upgrade to, what runs the checks, and debian/tests. Without headers DKMS builds nothing in
# the machine, where it would take an hour.
fill_image()
{
	local root=$1 size
	rm -rf -- "$root"/usr/src/linux-* "$root"/usr/{lib/gcc,include,share/{doc,man,locale}} \
		"$root"/var/lib/apt/lists/* "${root:?}"/boot/* "$root/ccache" "$root/check"
	mkdir -p "$root/check" "$root/etc/systemd/system/multi-user.target.wants"
	cp -r -- "$scratch/check/next" "$TREE/debian/tests" "$TREE"/tests/deb/guest/{run,checks} "$root/check/"
	cp -- "$TREE/tests/deb/guest/check.service" "$root/etc/systemd/system/"
	ln -s ../check.service "$root/etc/systemd/system/multi-user.target.wants/"
	: >"$root/etc/resolv.conf"
	: >"$root/etc/fstab"
	# Nothing is to be updated when it starts.
	touch "$root/etc/.updated" "$root/var/.updated"
	size=$(du -sxm "$root" | cut -f 1)
	mke2fs -q -t ext4 -O ^has_journal -d "$root" "$2" "$((size * 9 / 8 + 64))M"
}

make_image()
{
	# shellcheck disable=SC2016 # expanded inside
	with_root "$top/upper:$clean_root:$base" "$scratch/image" \
		bash -euc "$(declare -f fill_image)"'; scratch=$1 TREE=$2; fill_image "$3" "$4"' \
		fill_image "$scratch" "$TREE" "$scratch/image/root" "$scratch/root.img" || return 1
	rm -rf -- "$scratch/image"
}

# start_machine: it runs while the checks in the root go on.
start_machine()
{
	need_lab
	check "an image of that root" make_image
	env PMUCTL_CACHE="$lab" LAB_LOG="$TREE/build/lab/deb-$suite-kernel.log" "$LAB_DIR/run" \
		--kernel "$series" --no-module --mem 3072 --time 1500 \
		--add "$scratch/root.img:/deb/root.img" --add "$TREE/tests/deb/guest/init:/deb/init" \
		--append 'rdinit=/deb/init systemd.show_status=0' -- true >"$scratch/boot.log" 2>&1 9>&- &
	machine=$!
}

# end_machine: what came of its checks, each of which has a line
end_machine()
{
	local line status=0
	wait "$machine" || status=$?
	machine=
	while IFS= read -r line; do
		case $line in
		'ok   '*) passed=$((passed + 1)); line="ok   $suite: booted: ${line#ok   }" ;;
		'FAIL '*) failed=$((failed + 1)); line="FAIL $suite: booted: ${line#FAIL }" ;;
		*) line="     | $line" ;;
		esac
		printf '%s\n' "$line"
	done <"$scratch/boot.log"
	check "it booted, did all its checks, and its kernel's log has nothing" test "$status" -eq 0
}
