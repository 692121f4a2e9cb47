# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The laboratory's QEMU: Debian's QEMU 10.0 source with the files and the
# hooks of tests/lab/qemu, built into the cache under a hash of all that went
# into it.  Sourced, never run.

QEMU_DIR=$LAB_DIR/qemu
QEMU_SERIES=10.0
MESON_PREFIX=1.

QEMU_CONFIGURE=(
	--python=/usr/bin/python3
	--target-list=x86_64-softmmu
	--without-default-features --without-default-devices
	--with-devices-x86_64=pmulab
	--enable-tcg --enable-kvm --enable-pixman --enable-fdt=system
	--audio-drv-list= --disable-docs --disable-install-blobs
	--disable-werror --disable-download
)

# qemu_hash [VERSION]: print the hash of everything the binary depends on, for
# the version of the source that was built last, or for VERSION.
qemu_hash()
{
	local version=${1:-}
	[ -n "$version" ] ||
		version=$(cat "$CACHE/qemu/source-version" 2>/dev/null) ||
		version=none
	{
		printf '%s\n' "$version" "${QEMU_CONFIGURE[@]}"
		(cd -- "$QEMU_DIR" &&
		 find . -type f ! -name '*.md' -print0 | LC_ALL=C sort -z |
		 xargs -0 sha256sum)
	} | sha256sum | cut -c 1-16
}

# qemu_binary [VERSION]: print the path of the binary, there or not.
qemu_binary()
{
	printf '%s/qemu/%s/bin/qemu-system-x86_64\n' "$CACHE" "$(qemu_hash "$@")"
}

# qemu_source: print the version of the source package in the cache.
qemu_source()
{
	cat "$CACHE/src/qemu/version" 2>/dev/null
}

# qemu_fetch: put the newest source package of the series in CACHE/src.
qemu_fetch()
{
	local version new
	apt_refresh
	version=$(private_apt apt-cache showsrc --only-source qemu |
		sed -n 's/^Version: //p' | grep -E "^1:${QEMU_SERIES//./\\.}\." |
		sort -V | tail -n 1) || true
	[ -n "$version" ] ||
		die "trixie has no QEMU $QEMU_SERIES source package any more" \
		    "port tests/lab/qemu/hooks.patch to the series it has, and set QEMU_SERIES in tests/lab/lib/qemu.sh"
	if [ "$(qemu_source)" != "$version" ]; then
		say "QEMU: fetching the source package $version"
		new=$(scratch_dir qemu-source)
		(cd -- "$new" && run_logged "$CACHE/log/qemu-source.log" \
			private_apt apt-get source --download-only \
			--only-source "qemu=$version") ||
			die "the source package of QEMU could not be fetched" \
			    "check the network and the space in $CACHE, then run this again"
		printf '%s\n' "$version" >"$new/version"
		replace_dir "$new" "$CACHE/src/qemu"
	fi
	qemu_fetch_meson
}

# qemu_fetch_meson: QEMU wants a newer meson than bookworm's; unpack the one
# of bookworm-backports beside the source, for this build alone.
qemu_fetch_meson()
{
	local version new
	[ ! -d "$CACHE/src/meson/usr" ] || return 0
	version=$(apt_newest meson "$MESON_PREFIX")
	say "QEMU: fetching meson $version to build it with"
	new=$(scratch_dir meson)
	apt_unpack "$new" "meson=$version" ||
		die "meson could not be fetched" \
		    "check the network, then run this again"
	replace_dir "$new" "$CACHE/src/meson"
}

# qemu_prepare SRC: unpack the source to SRC and add our part to it.
qemu_prepare()
{
	local src=$1 dsc file hooks
	dsc=$(find "$CACHE/src/qemu" -name '*.dsc')
	run_logged "$CACHE/log/qemu-unpack.log" \
		dpkg-source --no-check -x "$dsc" "$src" ||
		die "the source package of QEMU could not be unpacked" \
		    "remove $CACHE/src/qemu and run this again"
	for hooks in hooks.patch hooks-pt.patch hooks-bts.patch hooks-lbr.patch; do
		run_logged "$CACHE/log/qemu-patch.log" \
			patch -d "$src" -p1 --batch --forward --fuzz=2 \
			-i "$QEMU_DIR/$hooks" ||
			die "tests/lab/qemu/$hooks does not apply to QEMU $(qemu_source)" \
			    "see $CACHE/log/qemu-patch.log, and adapt the hooks it names to this version"
	done
	while read -r file; do
		mkdir -p "$src/$(dirname -- "$file")"
		cp -- "$QEMU_DIR/$file" "$src/$file"
	done < <(cd -- "$QEMU_DIR" && find target configs -type f)
}

# qemu_compile SRC: configure and build.
qemu_compile()
{
	local src=$1
	mkdir -p "$src/build-lab"
	(
		cd -- "$src/build-lab"
		export PYTHONPATH=$CACHE/src/meson/usr/lib/python3/dist-packages
		run_logged "$CACHE/log/qemu-configure.log" \
			../configure "${QEMU_CONFIGURE[@]}" &&
		run_logged "$CACHE/log/qemu-build.log" \
			ninja -j "$(nproc)" qemu-system-x86_64
	) || die "QEMU does not build" \
		 "see $CACHE/log/qemu-configure.log and qemu-build.log"
}

# qemu_install BUILT DIR: the binary alone goes to its place.
qemu_install()
{
	local new
	new=$(scratch_dir qemu-new)
	mkdir -p "$new/bin"
	cp -- "$1" "$new/bin/"
	strip --strip-debug "$new/bin/qemu-system-x86_64"
	chmod 755 "$new"
	"$new/bin/qemu-system-x86_64" --version >/dev/null ||
		die "the QEMU that was built does not run" \
		    "see $CACHE/log/qemu-build.log"
	replace_dir "$new" "$2"
}

# qemu_get [update]: build the laboratory's QEMU, unless it is there.  The
# source that is in the cache serves until an update.
qemu_get()
{
	local work bin version
	if [ "${1:-}" = update ] || [ -z "$(qemu_source)" ] ||
	   [ ! -d "$CACHE/src/meson/usr" ]; then
		qemu_fetch
	fi
	version=$(qemu_source)
	bin=$(qemu_binary "$version")
	if [ ! -x "$bin" ]; then
		work=$(scratch_dir qemu)
		say "QEMU: unpacking $version, adding the PMU"
		qemu_prepare "$work/src"
		say "QEMU: building (about three minutes on two cores)"
		qemu_compile "$work/src"
		qemu_install "$work/src/build-lab/qemu-system-x86_64" \
			"$(dirname -- "$(dirname -- "$bin")")"
		rm -rf -- "$work"
	fi
	printf '%s\n' "$version" >"$CACHE/qemu/source-version.new"
	mv -- "$CACHE/qemu/source-version.new" "$CACHE/qemu/source-version"
	say "QEMU: there, $version"
}
