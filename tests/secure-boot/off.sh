#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The same machine when shim has been told to validate nothing (mokutil --disable-validation), which for
# the kernel is Secure Boot that is off, and with module.sig_enforce=1: the key that is enrolled
# counts for nothing, and the doctor knows. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name, in order

# shellcheck source=tests/secure-boot/common.sh
. "$(dirname -- "$0")/common.sh"

secure_boot_is_off()
{
	kernel_said 'secureboot: Secure boot disabled' && grep -qF '[none]' $LOCKDOWN &&
		mokutil --sb-state | grep -F 'validation is disabled' &&
		mokutil --list-enrolled | grep 'CN=DKMS module signing key'
}

an_unsigned_module_is_refused()
{
	is_refused 'Key was rejected by service' $INSMOD $HERE/pmuctl.ko
}

what_dkms_has_signed_is_refused()
{
	is_refused 'Key was rejected by service' $MODPROBE pmuctl
}

the_doctor_says_what_to_do()
{
	run 1 doctor && says '^note +Secure Boot: module\.sig_enforce is on: modules must be signed$' \
		"^ +-> boot without module\.sig_enforce on the kernel's command line, or with Secure Boot: DKMS's key is trusted with that only"
}

run_checks
