# shellcheck shell=bash disable=SC2154 # shared with who sources it
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine with Secure Boot: the laboratory's, with firmware that knows Microsoft's keys, and a
# disk from which that starts, as Debian has it, shim, then GRUB, then the kernel, each signed by
# whom the one before it trusts. Sourced after the laboratory's lib/*.sh, by a program that sets
#
#   work    a directory of its own
#   KERNEL  the kernel of the laboratory

boot_root=$CACHE/secure-boot
boot_packages=(ovmf shim-signed shim-helpers-amd64-signed grub-efi-amd64-signed mtools mokutil libefivar1)
MOK_PASSWORD=abcd1234

# unpack DIR: all packages; their lists may name versions that are no more
unpack()
{
	[ -r "$APT_DIR/sources.list" ] && apt_unpack "$1" "${boot_packages[@]}" 2>/dev/null ||
		{ apt_refresh && apt_unpack "$1" "${boot_packages[@]}"; }
}

# get_boot_root: packages of Debian that are unpacked in the cache and not installed. Of those only
# what is used is kept. A set-up empties what it takes for its own.
get_boot_root()
{
	local all new
	if [ "$(cat -- "$boot_root/packages" 2>/dev/null)" = "${boot_packages[*]}" ]; then
		echo "firmware and boot loaders: there, $boot_root"
		return 0
	fi
	mkdir -p "$CACHE/log"
	exec 9>"$CACHE/lock"
	flock 9
	all=$(scratch_dir secure-boot)
	new=$(scratch_dir secure-boot)
	unpack "$all" || return 1
	mv -- "$all"/usr/share/OVMF/OVMF_{CODE_4M.secboot,VARS_4M.ms}.fd \
		"$all"/usr/lib/shim/{shimx64,mmx64}.efi.signed \
		"$all/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" \
		"$all"/usr/bin/{mtools,mokutil} "$new/"
	cp -L -- "$all/usr/lib/x86_64-linux-gnu/libefivar.so.1" "$new/"
	printf '%s\n' "${boot_packages[*]}" >"$new/packages"
	rm -rf -- "$all"
	chmod 755 "$new"
	replace_dir "$new" "$boot_root"
	exec 9>&-
	echo "firmware and boot loaders: fetched, $boot_root"
}

# on_disk COMMAND ARGS...: one of mtools, with the machine's disk
on_disk()
{
	local command=$1
	shift
	"$boot_root/mtools" -c "$command" -i "$work/disk" "$@"
}

# make_disk INITRD
make_disk()
{
	truncate -s 200M "$work/disk"
	on_disk mformat -F ::
	on_disk mmd ::/EFI ::/EFI/BOOT ::/EFI/debian
	on_disk mcopy "$boot_root/shimx64.efi.signed" ::/EFI/BOOT/BOOTX64.EFI
	on_disk mcopy "$boot_root/mmx64.efi.signed" ::/EFI/BOOT/mmx64.efi
	on_disk mcopy "$boot_root/grubx64.efi.signed" ::/EFI/BOOT/grubx64.efi
	on_disk mcopy "$CACHE/kernels/$KERNEL/vmlinuz" ::/vmlinuz
	on_disk mcopy "$1" ::/initrd
	cp -- "$boot_root/OVMF_VARS_4M.ms.fd" "$work/vars"
}

# boot SUITE [ARGUMENTS]: start the machine, with more arguments for the kernel. Its pid is
# $machine, what it writes to its serial line is $work/serial, and keys come from file descriptor 8.
boot()
{
	local arguments="console=ttyS0 console_msg_format=syslog loglevel=8 panic=-1 nmi_watchdog=0 mitigations=off"
	arguments+=" rdinit=/init cryptomgr.notests initcall_blacklist=crypto_kdf108_init,jent_mod_init"
	arguments+=" tsc=reliable tsc_early_khz=1000000 no_timer_check SUITE=$1"
	printf '%s\n' "linux /vmlinuz $arguments ${2:-}" 'initrd /initrd' boot >"$work/grub.cfg"
	on_disk mcopy -o "$work/grub.cfg" ::/EFI/debian/grub.cfg
	rm -f -- "$work"/{serial,out,err,files,ctl}
	[ -p "$work/keys" ] || mkfifo "$work/keys"
	exec 8<>"$work/keys"
	# shellcheck disable=SC2054 # these commas are QEMU's
	local qemu=(
		"$(qemu_binary)" -L /usr/share/qemu -L /usr/share/seabios
		-nodefaults -no-user-config -no-reboot -display none
		-machine q35,smm=on -accel tcg -cpu "$(cpu_model intel)" -smp 1 -m 1024
		-global driver=cfi.pflash01,property=secure,value=on -global ICH9-LPC.disable_s3=1
		-drive "if=pflash,format=raw,unit=0,readonly=on,file=$boot_root/OVMF_CODE_4M.secboot.fd"
		-drive "if=pflash,format=raw,unit=1,file=$work/vars"
		-drive "if=none,id=disk,format=raw,readonly=on,file=$work/disk"
		-device virtio-blk-pci,drive=disk,bootindex=0
		-chardev "file,id=serial,path=$work/serial,input-path=$work/keys" -serial chardev:serial
		-chardev "file,id=out,path=$work/out" -chardev "file,id=err,path=$work/err"
		-chardev "file,id=files,path=$work/files" -chardev "file,id=ctl,path=$work/ctl"
		-device virtio-serial-pci
		-device virtserialport,nr=1,chardev=out -device virtserialport,nr=2,chardev=err
		-device virtserialport,nr=3,chardev=files -device virtserialport,nr=4,chardev=ctl
	)
	timeout -k 10 1200 "${qemu[@]}" >"$work/qemu.log" 2>&1 </dev/null &
	machine=$!
	typed=0
}

# machine_ends: wait for it; what it wrote, if that was too little
machine_ends()
{
	local status=0
	wait "$machine" || status=$?
	exec 8>&-
	[ "$status" -eq 0 ] || echo "the machine ended with status $status"
	return "$status"
}

# answer TEXT KEYS: when the machine has written TEXT since the keys before, type KEYS
answer()
{
	local size
	while kill -0 "$machine" 2>/dev/null; do
		size=$(stat -c %s -- "$work/serial" 2>/dev/null || echo 0)
		if tail -c "+$((typed + 1))" "$work/serial" 2>/dev/null | grep -aqF -- "$1"; then
			typed=$size
			sleep 1
			printf '%b' "$2" >&8
			return 0
		fi
		sleep 0.5
	done
	echo "the machine ended without saying '$1'"
	return 1
}

down='\033[B'

# enrol_key: what a user does on the screen that comes at the next start
enrol_key()
{
	boot none
	answer 'Press any key to perform MOK management' ' ' &&
		answer 'Enroll MOK' "$down\r" &&
		answer 'View key 0' "$down\r" &&
		answer 'Enroll the key(s)?' "$down\r" &&
		answer 'Password' "$MOK_PASSWORD\r" &&
		answer 'Reboot' '\r' &&
		machine_ends
}

# end_validation: the same after mokutil --disable-validation
end_validation()
{
	boot none
	answer 'Press any key to perform MOK management' ' ' &&
		answer 'Change Secure Boot state' "$down\r" &&
		answer 'Enter password character' 'a\r' &&
		answer 'Enter password character' 'a\r' &&
		answer 'Enter password character' 'a\r' &&
		answer 'Disable Secure Boot' "$down\r" &&
		answer 'Reboot' '\r' &&
		machine_ends
}
