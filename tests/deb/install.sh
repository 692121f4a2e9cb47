# shellcheck shell=bash disable=SC2154 # shared with those who source it
# SPDX-License-Identifier: GPL-2.0-only
#
# The packages are installed, upgraded, removed and purged, in a root that has the headers of the
# release's kernel. Sourced by release.

next=$version+1
range="this version of pmuctl is for kernels from 5.10 to 6.12, and for 7.3"
top=$scratch/install

# A machine that boots, with the headers, but neither DKMS nor what the packages depend on.
# pkg-config and ccache are for the checks.
need_clean_root()
{
	clean_root=$roots/clean-1
	# shellcheck disable=SC2016 # expanded inside
	need_root "$clean_root" "a root to install in" make_upper "$clean_root" "$base" sh -euc '
		apt-get update
		apt-get install -y --no-install-recommends linux-headers-amd64 \
			systemd-sysv udev kmod ccache pkg-config gcc libc6-dev'
}

inside()
{
	in_root "$clean_root:$base" "$top" "$@"
}

# on_root COMMAND...: a command of this machine's that looks at the root
on_root()
{
	with_root "$clean_root:$base" "$top" env -C "$top/root" "$@"
}

# kernel_of PACKAGE: the release of the kernel that a package of headers depends on
kernel_of()
{
	# shellcheck disable=SC2016 # dpkg's
	inside dpkg-query -W -f '${Depends}' "$1" | sed -n 's/^linux-headers-\([^ ]*\).*/\1/p'
}

# files: what is in the root, but for what dpkg, apt and Python write down for themselves, the key that
# DKMS makes, and what depmod and links to the newest leave of a kernel that is gone
files()
{
	on_root find . \( -path ./proc -o -path ./root -o -path ./tmp -o -path ./var/lib/dpkg \
		-o -path ./var/log -o -path ./var/cache -o -path ./ccache -o -name __pycache__ \) -prune -o -print | sort |
		grep -vE -e '^\./var/lib/dkms/mok\.' -e '^\./(vmlinuz|initrd\.img)(\.old)?$' \
			-e "^\./(usr/)?lib/modules/(${cloud//+/\\+}|${rt//+/\\+})(/|\$)"
}

# files_without: what is in it with all that apt brings along with the packages, but without them
files_without()
{
	local top=$scratch/without
	# shellcheck disable=SC2016 # expanded inside
	inside sh -euc 'apt-get install -s /check/debs/*.deb | sed -n "s/^Inst \\([^ ]*\\) .*/\\1/p" |
		grep -v pmuctl | xargs apt-get install -y' >"$scratch/log" 2>&1 ||
		{ cat "$scratch/log" >&2; return 1; }
	inside depmod "$release" 2>/dev/null || true
	files
	rm -rf -- "$top"
}

# apt_install FOLDER: as the documentation has it, with what apt recommends
apt_install()
{
	# shellcheck disable=SC2016 # expanded inside
	inside sh -c 'apt-get install -y /check/"$1"/*.deb' sh "$1"
}

# is_installed VERSION
is_installed()
{
	local package
	for package in pmuctl pmuctl-dkms libpmuctl0 libpmuctl-dev; do
		# shellcheck disable=SC2016 # dpkg's
		inside dpkg-query -W -f '${Package} ${Status} ${Version}\n' "$package" |
			grep -x "$package install ok installed $1" || return 1
	done
}

# modules_are KERNEL...: DKMS has the module for these, and for no other
modules_are()
{
	local output kernel
	output=$(inside dkms status)
	echo "dkms status says: '$output'"
	[ "$(wc -l <<<"$output")" -eq $# ] || return 1
	for kernel in "$@"; do
		# Older ones have a comma between name and version.
		sed 's|^pmuctl, |pmuctl/|' <<<"$output" |
			grep -qxF "pmuctl/$version, $kernel, x86_64: installed" &&
			[ "$(inside modinfo -k "$kernel" -F version pmuctl)" = "$version" ] || return 1
	done
}

command_works()
{
	local output status=0
	inside pmuctl --version | grep -F "$version" || return 1
	output=$(inside pmuctl stat -- true 2>&1) || status=$?
	echo "$output, status $status"
	[ "$status" -ne 0 ] && [[ $output == *modprobe* ]]
}

program_is_built()
{
	printf '%s\n' '#include <pmuctl.h>' '#include <stdio.h>' 'int main(void)' '{' \
		'	return puts(pmuctl_version()) < 0;' '}' >"$scratch/check/program.c"
	# shellcheck disable=SC2016 # expanded inside
	inside sh -c 'gcc -o /tmp/program /check/program.c $(pkg-config --cflags --libs libpmuctl) && /tmp/program &&
		rm /tmp/program' | grep -x -F "$version"
}

# The same packages with a higher version
make_next()
{
	local deb dir
	mkdir -p "$scratch/check/next"
	for deb in "$scratch"/check/debs/*.deb; do
		dir=$scratch/next
		dpkg-deb -R "$deb" "$dir"
		sed -i "s/^Version: .*/Version: $next/; s/(= $version)/(= $next)/" "$dir/DEBIAN/control"
		dpkg-deb --root-owner-group -b "$dir" "$scratch/check/next/${deb##*/}"
		rm -rf -- "$dir"
	done
}

# make_headers KERNEL: the package of headers of $release, as that of another kernel, with its scripts
make_headers()
{
	local kernel=$1 dir=$scratch/headers deb file name
	deb=$(find "$roots/archives" -name "linux-headers-${release}_*.deb" | sort -V | tail -n 1)
	[ -n "$deb" ] && dpkg-deb -R "$deb" "$dir" || return 1
	sed -i -e "s/^Package: .*/Package: linux-headers-$kernel/" -e '/^Depends:/d' -e '/^Provides:/d' \
		"$dir/DEBIAN/control"
	for file in "$dir"/DEBIAN/{post,pre}{inst,rm}; do
		[ ! -e "$file" ] || sed -i "s/${release//./\\.}/$kernel/g" "$file"
	done
	rm -f -- "$dir/DEBIAN/md5sums"
	find "$dir" -depth -name "*$release*" | while read -r file; do
		name=${file##*/}
		mv -- "$file" "${file%/*}/${name//"$release"/$kernel}"
	done
	find "$dir" -type l -name build | while read -r file; do
		ln -sfn -- "/usr/src/linux-headers-$kernel" "$file"
	done
	dpkg-deb --root-owner-group -b "$dir" "$scratch/check/linux-headers-$kernel.deb"
	rm -rf -- "$dir"
}

# goes_on KERNEL SENTENCE COMMAND...: COMMAND succeeds, says SENTENCE once for each time that DKMS is
# asked, for headers or a kernel, and no module is built.
goes_on()
{
	local kernel=$1 sentence=$2 output asked status=0
	shift 2
	output=$(inside "$@" 2>&1) || status=$?
	printf '%s\n' "$output" "$*: status $status"
	asked=$(grep -Ecx '/etc/kernel/(header_)?postinst.d/dkms:' <<<"$output")
	# Debian 11's DKMS has begun a line before.
	output=$(sed 's/^dkms: running auto installation service for kernel [^ :]*://' <<<"$output")
	[ "$status" -eq 0 ] && [ "$asked" -gt 0 ] &&
		[ "$(grep -c 'pmuctl: ' <<<"$output")" -eq "$asked" ] &&
		[ "$(grep -cxF "pmuctl: no module for kernel $kernel: $sentence" <<<"$output")" -eq "$asked" ] &&
		inside test ! -e "/var/lib/dkms/pmuctl/$version/$kernel"
}

# other_kernel_goes_on KERNEL
other_kernel_goes_on()
{
	make_headers "$1" || return 1
	goes_on "$1" "$range" dpkg -i "/check/linux-headers-$1.deb" &&
		inside dpkg -s "linux-headers-$1" | grep -x 'Status: install ok installed'
}

rt_kernel_goes_on()
{
	goes_on "$rt" "pmuctl does not work on a PREEMPT_RT kernel" \
		apt-get install -y --no-install-recommends "linux-headers-$rt"
}

second_kernel()
{
	inside apt-get install -y --no-install-recommends "linux-headers-$cloud"
}

module_is_gone()
{
	local left
	left=$(on_root find lib/modules usr/src -name '*pmuctl*')
	echo "left: $left; dkms status: $(inside dkms status)"
	[ -z "$left" ] && [ -z "$(inside dkms status)" ]
}

remove()
{
	inside apt-get remove -y libpmuctl-dev pmuctl libpmuctl0 pmuctl-dkms
}

# And the kernels that came later
purge()
{
	inside dpkg --purge libpmuctl-dev pmuctl libpmuctl0 pmuctl-dkms &&
		inside sh -euc 'dpkg-query -W -f "\${Package}\n" "$@" | xargs apt-get purge -y' sh \
			"linux-*-$cloud" "linux-*-$rt" "linux-headers-$rt_common" "linux-headers-$other_kernel"
}

same_files()
{
	files >"$scratch/after"
	diff -- "$scratch/before" "$scratch/after"
}

install_packages()
{
	need_clean_root
	release=$(kernel_of linux-headers-amd64)
	# The release's other kernels
	cloud=${release%-amd64}-cloud-amd64
	rt=${release%-amd64}-rt-amd64
	rt_common=${release%-amd64}-common-rt
	other_kernel=6.13.1-amd64
	mkdir "$scratch/check/debs"
	cp -- "$debs"/{pmuctl,pmuctl-dkms,libpmuctl0,libpmuctl-dev}_*.deb "$scratch/check/debs/"
	files_without >"$scratch/before"
	check "apt installs the packages" apt_install debs
	check "all four are installed" is_installed "$version"
	# shellcheck disable=SC2016 # dpkg's
	echo "     $suite: DKMS $(inside dpkg-query -W -f '${Version}' dkms), kernel $release"
	check "DKMS has built the module for $release" modules_are "$release"
	check "the command says how to load the module" command_works
	check "a program is built with the library, and runs" program_is_built
	check "packages of a higher version" make_next
	start_machine
	check "apt upgrades the packages" apt_install next
	check "all four are upgraded" is_installed "$next"
	check "the module is still there, once" modules_are "$release"
	check "the headers of a second kernel are installed" second_kernel
	check "DKMS has built the module for $cloud" modules_are "$release" "$cloud"
	check "an update goes on with $other_kernel, with a sentence" other_kernel_goes_on "$other_kernel"
	check "an update goes on with the release's PREEMPT_RT kernel, with a sentence" rt_kernel_goes_on
	check "no module was built for these" modules_are "$release" "$cloud"
	check "remove" remove
	check "no module is left" module_is_gone
	check "purge" purge
	check "nothing is left" same_files
	end_machine
}
