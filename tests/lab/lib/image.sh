# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The guest's base image: an uncompressed cpio with busybox, glibc, perf and
# everything else that does not change from run to run, one for each kernel.
# CACHE/guest/<series>/ has base.cpio, the list of this machine's files in it
# (inputs) and what they looked like (stamp).  Sourced, never run.

# Programs of this machine that the guest has besides busybox; they take the
# place of busybox's own of the same name.
IMAGE_PROGRAMS=(
	perf bash gzip taskset setpriv unshare nsenter prlimit
	capsh getcap setcap getpcaps kmod
)
IMAGE_LIBRARIES=(
	libcriterion.so.3 libpfm.so.4 libcap.so.2 libjansson.so.4
	libstdc++.so.6 libgcc_s.so.1
)
IMAGE_KERNEL_MODULES=(virtio_pci virtio_console)

# image_stamp SERIES INPUTS: print what the image was, or would be, made of.
image_stamp()
{
	{
		cat "$CACHE/kernels/$1/version" "$LAB_DIR/lib/image.sh" \
			"$LAB_DIR/guest/init"
		xargs -d '\n' stat -L -c '%n %s %Y' <"$2" 2>&1
	} | sha256sum
}

# image_ready SERIES
image_ready()
{
	local dir=$CACHE/guest/$1
	[ -s "$dir/base.cpio" ] && [ -s "$dir/stamp" ] &&
		[ "$(image_stamp "$1" "$dir/inputs")" = "$(cat "$dir/stamp")" ]
}

# image_inputs: print the files of this machine that go into the image, with
# the closure of their shared libraries.
image_inputs()
{
	local name path
	local -a files=()
	for name in "${IMAGE_PROGRAMS[@]}"; do
		path=$(PATH=/usr/sbin:/usr/bin:/sbin:/bin command -v "$name") || {
			say "no program $name on this machine"
			return 1
		}
		files+=("$path")
	done
	for name in "${IMAGE_LIBRARIES[@]}"; do
		path=$(/sbin/ldconfig -p |
			awk -v n="$name" '$1 == n { print $NF; exit }')
		[ -n "$path" ] || {
			say "no library $name on this machine"
			return 1
		}
		files+=("$path")
	done
	{
		printf '%s\n' "${files[@]}" /usr/bin/busybox
		ldd "${files[@]}" | awk '/=> \// { print $3 }
			$1 ~ /^\/lib64\/ld-linux/ { print $1 }'
	} | sort -u
}

# image_skeleton ROOT: directories and the files of /etc.
image_skeleton()
{
	local root=$1 dir
	mkdir -p "$root"/{usr/{bin,sbin,lib,lib64},dev,proc,sys,tmp,run,etc,lab} \
		"$root"/{pmuctl,root,home/user,mnt,var/{tmp,run}}
	for dir in bin sbin lib lib64; do
		ln -s "usr/$dir" "$root/$dir"
	done
	mkdir -p "$root/usr/lib/lab-modules"
	chmod 1777 "$root/tmp" "$root/var/tmp"
	cat >"$root/etc/passwd" <<-'EOF'
		root:x:0:0:root:/root:/bin/sh
		user:x:1000:1000:an ordinary user:/home/user:/bin/sh
		nobody:x:65534:65534:nobody:/:/bin/false
	EOF
	cat >"$root/etc/group" <<-'EOF'
		root:x:0:
		tty:x:5:
		user:x:1000:
		nogroup:x:65534:
	EOF
	echo 'passwd: files' >"$root/etc/nsswitch.conf"
	echo '127.0.0.1 localhost guest' >"$root/etc/hosts"
}

# image_kernel_modules SERIES DIR: those the guest needs to reach the host,
# numbered in the order in which to load them.  A kernel that has them built
# in needs none.
image_kernel_modules()
{
	local series=$1 dir=$2 number=10 word path list
	list=$(/sbin/modprobe -d "$CACHE/kernels/$series/root" \
		-S "$(cat "$CACHE/kernels/$series/release")" -C /dev/null \
		--show-depends -a "${IMAGE_KERNEL_MODULES[@]}") || return 1
	while read -r word path _; do
		[ "$word" = insmod ] || continue
		case $path in
		*.xz) xz -dc -- "$path" >"$dir/$number-$(basename "$path" .xz)" ;;
		*) cp -- "$path" "$dir/$number-$(basename "$path")" ;;
		esac
		number=$((number + 1))
	done < <(printf '%s\n' "$list" | awk '!seen[$0]++')
}

# image_extra_modules SERIES DIR: modules that tests may load for themselves:
# msr, to look at the PMU's registers with.
image_extra_modules()
{
	local root path
	root=$CACHE/kernels/$1/root
	path=$(find "$root/lib/modules" -name 'msr.ko*' -print -quit)
	case $path in
	'') say "kernel $1 has no msr module"; return 1 ;;
	*.xz) xz -dc -- "$path" >"$2/msr.ko" ;;
	*) cp -- "$path" "$2/msr.ko" ;;
	esac
}

# image_fill SERIES ROOT INPUTS: everything in its place.
image_fill()
{
	local series=$1 root=$2 inputs=$3 path goal applet
	image_skeleton "$root"
	while read -r path; do
		goal=$path
		case $goal in /usr/*) ;; *) goal=/usr$goal ;; esac
		mkdir -p "$root$(dirname -- "$goal")"
		cp -L --preserve=mode -- "$path" "$root$goal"
	done <"$inputs"
	for applet in insmod rmmod lsmod modprobe modinfo depmod; do
		ln -s ../bin/kmod "$root/usr/sbin/$applet"
	done
	while read -r applet; do
		[ -e "$root/usr/bin/$applet" ] || [ -L "$root/usr/sbin/$applet" ] ||
			ln -s busybox "$root/usr/bin/$applet"
	done < <(busybox --list)
	image_kernel_modules "$series" "$root/usr/lib/lab-modules" || return 1
	mkdir -p "$root/usr/lib/modules"
	image_extra_modules "$series" "$root/usr/lib/modules" || return 1
	cp -- "$LAB_DIR/guest/init" "$root/init"
	chmod 755 "$root/init"
}

# make_cpio DIR: print a cpio of a directory, its files root's.
make_cpio()
{
	(cd -- "$1" && find . -mindepth 1 -print0 | LC_ALL=C sort -z |
	 cpio --quiet -0 -o -H newc -R 0:0)
}

# image_get SERIES: make the base image, unless it is there.
image_get()
{
	local series=$1 new
	if image_ready "$series"; then
		say "guest $series: there"
		return 0
	fi
	say "guest $series: making the base image"
	new=$(scratch_dir "guest-$series")
	{
		image_inputs >"$new/inputs" &&
		image_fill "$series" "$new/root" "$new/inputs" &&
		make_cpio "$new/root" >"$new/base.cpio"
	} || die "the base image of guest $series could not be made" \
		"see the messages above; tests/lab/setup installs what is missing"
	image_stamp "$series" "$new/inputs" >"$new/stamp"
	rm -rf -- "$new/root"
	chmod 755 "$new"
	replace_dir "$new" "$CACHE/guest/$series"
}
