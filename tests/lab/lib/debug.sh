# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The debug kernels: Debian's sources of 6.1, with Debian's patches, built with
# the kernel's own checks.  One lies in CACHE/kernels/KIND as the other guest
# kernels do (kernels.sh tells), without vmlinux: entered through PVH, a kernel
# with KASAN runs code that uses KASAN's memory before there is any.  Its version
# ends with a hash of the sources' version and the options:
#
#   debug   tests/lab/debug-kernel.config: KASAN, lockdep and more
#   kcsan   that and debug-kernel-kcsan.config, which takes back what would be too
#           slow beside it, or does not go with it
#   light   that and debug-kernel-light.config, which takes back all that is slow
# Sourced, never run.

DEBUG_SOURCE=linux-source-6.1
# To be raised when what is kept of a build changes.
DEBUG_RECIPE=1

# debug_kind KIND: choose the kernel that the functions below are about.
debug_kind()
{
	DEBUG_KIND=$1
	DEBUG_DIR=$CACHE/kernels/$1
	DEBUG_CONFIGS=("$LAB_DIR/debug-kernel.config")
	[ "$1" = debug ] || DEBUG_CONFIGS+=("$LAB_DIR/debug-kernel-$1.config")
}

# debug_name VERSION: what a kernel of these sources and our options is called.
debug_name()
{
	local hash
	hash=$({ echo "$DEBUG_RECIPE $1"; cat "${DEBUG_CONFIGS[@]}"; } | sha256sum)
	printf '%s+debug.%s\n' "$1" "${hash:0:12}"
}

# debug_ready: is the debug kernel in the cache, complete, and with the options
# of today?
debug_ready()
{
	local version
	[ -s "$DEBUG_DIR/version" ] && [ -s "$DEBUG_DIR/vmlinuz" ] &&
		[ -s "$DEBUG_DIR/release" ] && [ -d "$DEBUG_DIR/modules" ] &&
		[ -e "$DEBUG_DIR/build/Makefile" ] || return 1
	version=$(cat "$DEBUG_DIR/version")
	[ "$version" = "$(debug_name "${version%+debug.*}")" ]
}

# debug_source_version: the version of the sources to build: that of the debug
# kernel that is there, whatever its options, or else the suites' newest.
debug_source_version()
{
	local version
	if [ -s "$DEBUG_DIR/version" ] && [ -z "$1" ]; then
		version=$(cat "$DEBUG_DIR/version")
		printf '%s\n' "${version%+debug.*}"
		return 0
	fi
	version=$(apt_newest "$DEBUG_SOURCE" 6.1.)
	[ -n "$version" ] ||
		die "no package $DEBUG_SOURCE in the package lists" \
		    "see which sources bookworm holds now, and adapt DEBUG_SOURCE in tests/lab/lib/debug.sh"
	printf '%s\n' "$version"
}

# debug_unpack VERSION WORK: the sources, to WORK/source.
debug_unpack()
{
	local work=$2 package
	[ ! -d "$work/source" ] || return 0
	rm -rf -- "$work"
	mkdir -p "$work/package"
	say "$DEBUG_KIND kernel: fetching and unpacking the sources of $1"
	package=$DEBUG_SOURCE=$1
	(cd -- "$work/package" &&
	 run_logged "$CACHE/log/debug-kernel-source.log" \
		private_apt apt-get download "$package") ||
		die "the package $package could not be fetched" \
		    "if the mirror has a newer one only: tests/lab/debug-kernel --update"
	{
		dpkg-deb --fsys-tarfile "$work"/package/*.deb |
			tar -x -O "./usr/src/$DEBUG_SOURCE.tar.xz" |
			tar -x -J -C "$work" &&
		mv -T -- "$work/$DEBUG_SOURCE" "$work/source"
	} || die "the sources could not be unpacked" \
		"they take 1.6 GB, the build as much again: see the space in $CACHE"
	rm -rf -- "$work/package"
}

# debug_make SOURCE ARGS...: the kernel's make, without what our make exports;
# the product of a build does not tell where it was built.
debug_make()
{
	local source=$1
	shift
	env -u MAKEFLAGS -u MFLAGS -u MAKEOVERRIDES -u MAKELEVEL \
		-u VERSION -u O -u V -u KERNELS -u CFLAGS -u CPPFLAGS \
		KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=lab \
		nice -n 10 make -C "$source" "$@"
}

# debug_options: what is asked for; of an option that is there twice, the later.
debug_options()
{
	sed -nE 's/^(# )?(CONFIG_[A-Za-z0-9_]+).*/\2 &/p' "${DEBUG_CONFIGS[@]}" |
		awk '{ name = $1; sub(/^[^ ]+ /, ""); line[name] = $0 }
			END { for (name in line) print line[name] }'
}

# debug_lost_options SOURCE: print the options that did not come out as asked.
debug_lost_options()
{
	local line name
	while read -r line; do
		case $line in
		CONFIG_*)
			grep -qxF -- "$line" "$1/.config" || echo "$line"
			;;
		'# CONFIG_'*' is not set')
			name=${line#\# }
			! grep -q "^${name% is not set}=" "$1/.config" || echo "$line"
			;;
		esac
	done < <(debug_options)
}

# debug_configure SOURCE: tinyconfig and our options.
debug_configure()
{
	local source=$1 log=$CACHE/log/debug-kernel-config.log lost
	run_logged "$log" debug_make "$source" tinyconfig ||
		die "the kernel's configuration failed" "see $log"
	cat -- "${DEBUG_CONFIGS[@]}" >>"$source/.config"
	run_logged "$log" debug_make "$source" olddefconfig ||
		die "the kernel's configuration failed" "see $log"
	lost=$(debug_lost_options "$source")
	[ -z "$lost" ] || {
		printf '%s\n' "$lost" | sed 's/^/    /' >&2
		die "the kernel does not take these options of ${DEBUG_CONFIGS[*]}" \
		    "look up in its Kconfig files what they depend on now"
	}
}

# debug_compile SOURCE: with KCSAN the kernel's own code is not watched, which would be
# slow, and tell of its races; code of the kernel's headers in our module is.
debug_compile()
{
	local log=$CACHE/log/debug-kernel-build.log
	local -a goals=(bzImage modules)
	[ "$DEBUG_KIND" != kcsan ] || goals+=(KCSAN_SANITIZE=n)
	say "$DEBUG_KIND kernel: compiling, about 15 minutes of processor time (log: $log)"
	run_logged "$log" debug_make "$1" -j"$(nproc)" "${goals[@]}" ||
		die "the debug kernel does not build" \
		    "see $log; a second run goes on where this one stopped"
}

# debug_keep_headers SOURCE GOAL: what of a built tree it takes to build modules.
debug_keep_headers()
{
	mkdir -p "$2"
	(cd -- "$1" && {
		printf '%s\n' .config Makefile Module.symvers include scripts \
			arch/x86/include tools/objtool/objtool
		find arch/x86 -maxdepth 1 -name 'Makefile*'
	} | tar -c -f - --exclude='*.o' --exclude='*.a' --exclude='.*.cmd' \
		--files-from=-) | tar -x -f - -C "$2"
}

# debug_collect SOURCE NEW: what is kept of a build.
debug_collect()
{
	local source=$1 new=$2 release headers
	release=$(cat "$source/include/config/kernel.release")
	headers=root/usr/src/linux-headers-$release
	run_logged "$CACHE/log/debug-kernel-install.log" \
		debug_make "$source" INSTALL_MOD_PATH="$new/root" \
		DEPMOD=/sbin/depmod modules_install || return 1
	debug_keep_headers "$source" "$new/$headers" || return 1
	rm -f -- "$new/root/lib/modules/$release"/{build,source}
	ln -s "../../../usr/src/linux-headers-$release" \
		"$new/root/lib/modules/$release/build"
	cp -- "$source/arch/x86/boot/bzImage" "$new/vmlinuz" || return 1
	ln -s "root/lib/modules/$release" "$new/modules"
	ln -s "$headers" "$new/build"
	printf '%s\n' "$release" >"$new/release"
}
