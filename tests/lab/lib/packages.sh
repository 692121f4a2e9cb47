# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The Debian packages that must be installed on this machine to build the
# product, to build and run the laboratory, and to run all the tests.
# Sourced, never run.

LAB_PACKAGES=(
	# the module, the library, the tool
	build-essential bc flex bison libelf-dev libssl-dev dwarves kmod
	pkg-config libpfm4-dev libjansson-dev libdw-dev libzstd-dev libtraceevent-dev libiberty-dev
	libncurses-dev ncurses-base libevent-dev
	libdebuginfod1
	# the laboratory's QEMU
	ninja-build python3-venv dpkg-dev patch xz-utils zstd debian-archive-keyring
	libglib2.0-dev libpixman-1-dev libfdt-dev zlib1g-dev
	qemu-system-data seabios
	# the guest: what is in it, and what makes its image
	cpio busybox-static linux-perf bash gzip libcap2-bin util-linux
	# the guest: a compiler that is small enough for it, and programs made for perf
	tcc papi-tools rr stress-ng
	# tests and checks
	libcriterion-dev libipt-dev libcapstone-dev libcap-dev debootstrap shellcheck mandoc sparse git
	ccache
	python3 perl
	# Debian packages
	debhelper dh-dkms lintian
)

# Without this key the archive keyring is too old to check the lists of trixie.
TRIXIE_KEY=/usr/share/keyrings/debian-archive-trixie-automatic.gpg

# packages_missing: print the packages that are not installed, one a line.
packages_missing()
{
	local installed name
	installed=" $(dpkg-query -W -f '${db:Status-Status}=${Package} ' \
			"${LAB_PACKAGES[@]}" 2>/dev/null || true)"
	for name in "${LAB_PACKAGES[@]}"; do
		case $installed in
		*" installed=$name "*) ;;
		*) printf '%s\n' "$name" ;;
		esac
	done
	if [ ! -r "$TRIXIE_KEY" ]; then
		echo debian-archive-keyring
	fi
}

# packages_get: install what is missing, or say how to.
packages_get()
{
	local -a missing
	mapfile -t missing < <(packages_missing | sort -u)
	if [ "${#missing[@]}" -eq 0 ]; then
		say "packages: all installed"
		return 0
	fi
	[ "$(id -u)" -eq 0 ] ||
		die "Debian packages are missing, and only root can install them" \
		    "sudo apt-get install --no-install-recommends ${missing[*]}"
	say "packages: installing ${missing[*]}"
	mkdir -p "$CACHE/log"
	run_logged "$CACHE/log/apt-update-host.log" apt-get update ||
		die "apt-get update failed" \
		    "check the network and /etc/apt, then run this again"
	DEBIAN_FRONTEND=noninteractive run_logged "$CACHE/log/apt-install.log" \
		apt-get install -y --no-install-recommends "${missing[@]}" ||
		die "the packages could not be installed" \
		    "see $CACHE/log/apt-install.log, repair apt, then run this again"
}
