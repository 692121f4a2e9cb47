# shellcheck shell=bash disable=SC2154 # shared with those who source it
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages are built, in a root that has what debian/control asks for. Sourced by release.

debs=$TREE/build/deb-$suite

# What a root for building has: as debian/control says, which its name tells
need_build_root()
{
	local source
	source=$(sed '/^$/q' "$TREE/debian/control")
	build_root=$roots/build-2-$(sha256sum <<<"$source" | cut -c 1-12)
	mkdir -p "$scratch/check/debian"
	cp -- "$TREE"/debian/{control,changelog} "$scratch/check/debian/"
	# shellcheck disable=SC2016 # expanded inside
	need_root "$build_root" "a root with what the packages are built with" \
		make_upper "$build_root" "$base" sh -euc '
			apt-get update
			echo man-db man-db/auto-update boolean false | debconf-set-selections
			apt-get install -y --no-install-recommends dpkg-dev debhelper build-essential ccache lintian
			cd /check
			apt-get build-dep -y --no-install-recommends .'
	rm -rf -- "$scratch/check/debian"
}

in_build()
{
	in_root "$build_root:$base" "$scratch/build" "$@"
}

build_them()
{
	rm -rf -- "$debs"
	mkdir -p "$scratch/check/tree"
	tar -C "$TREE" --exclude=./build --exclude=./.git -cf - . | tar -C "$scratch/check/tree" -xf -
	touch "$scratch/stamp"
	in_build /check/tree/debian/build-packages || return 1
	mkdir -p "$debs"
	cp -- "$scratch"/check/tree/build/deb/*.* "$debs/"
}

tree_unchanged()
{
	local changed
	changed=$(find "$scratch/check/tree" -path "$scratch/check/tree/build" -prune -o \
		-newer "$scratch/stamp" -type f -print)
	echo "changed: $changed"
	[ -z "$changed" ]
}

is_clean()
{
	in_build sh -c 'lintian --fail-on error,warning --allow-root /check/tree/build/deb/pmuctl_*.changes'
}

build_packages()
{
	need_build_root
	check "make deb" build_them
	check "the tree stays as it is" tree_unchanged
	check "lintian" is_clean
	[ -e "$debs/pmuctl_${version}_amd64.deb" ] || stop "there are no packages to install"
	rm -rf -- "$scratch/check/tree" "$scratch/build"
}
