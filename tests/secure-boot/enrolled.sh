#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine with Secure Boot after DKMS's key has been enrolled: what DKMS has signed with it
# loads, and counts; nothing else does. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name, in order

# shellcheck source=tests/secure-boot/common.sh
. "$(dirname -- "$0")/common.sh"

secure_boot_is_on()
{
	kernel_said 'secureboot: Secure boot enabled' && mokutil --sb-state | grep -x 'SecureBoot enabled' &&
		grep -qF '[integrity]' $LOCKDOWN
}

the_key_is_enrolled()
{
	mokutil --list-enrolled | grep 'CN=DKMS module signing key' &&
		grep 'DKMS module signing key' /proc/keys
}

an_unsigned_module_is_refused()
{
	is_refused "$refusal" $INSMOD $HERE/pmuctl.ko
}

another_key_is_refused()
{
	is_refused "$refusal" $INSMOD $HERE/other.ko
}

a_changed_module_is_refused()
{
	is_refused 'Key was rejected by service' $INSMOD $HERE/changed.ko
}

the_doctor_cannot_count_yet()
{
	run 1 doctor && says "^note +Secure Boot: $by: modules must be signed$"
}

what_dkms_has_signed_loads()
{
	$MODPROBE pmuctl && [ -e /sys/module/pmuctl ] && /usr/sbin/modinfo -F signer pmuctl | grep -x 'DKMS module signing key'
}

the_doctor_is_content()
{
	run 0 doctor && says '^ok +Driver: ' \
		"^ok +Secure Boot: $by, and the module is loaded$" \
		'^This machine can count\.$'
}

it_counts()
{
	SAYS=err
	run 0 stat -e instructions:u,cycles,context-switches -- ls / && says '^ *[1-9][0-9.,]* +instructions:u' '^ *[1-9][0-9.,]* +cycles'
	result=$?
	SAYS=out
	cat err
	return $result
}

a_user_counts()
{
	echo anyone >/sys/module/pmuctl/parameters/claim; echo 2 >/sys/module/pmuctl/parameters/paranoid
	/usr/bin/setpriv --reuid=1000 --regid=1000 --clear-groups pmuctl stat -e instructions:u -- ls / 2>&1 | tee said &&
		grep -Eq '^ *[1-9][0-9.,]* +instructions:u' said
}

the_kernel_is_sampled_with_its_registers()
{
	run 0 record -e instructions:k -c 10000 --intr-regs=ip -o data -- ls / && [ -s data ]
}

what_it_does_is_shown_to_root()
{
	cat /sys/kernel/debug/pmuctl/* >shown && [ -s shown ]
}

# There is no way back from here.
confidentiality_hides_registers()
{
	echo confidentiality >$LOCKDOWN && ! pmuctl record -e instructions:k -c 10000 --intr-regs=ip -o data -- ls / 2>err &&
		cat err && grep -q 'the kernel is locked down' err && ! cat /sys/kernel/debug/pmuctl/cpus &&
		run 0 doctor && says "^ok +Secure Boot: .* the module is loaded; lockdown is at 'confidentiality'$" &&
		run 0 stat -e instructions -- ls /
}

it_goes()
{
	rmmod pmuctl && [ ! -e /sys/module/pmuctl ]
}

# That asks for characters of the password by their numbers: here all are the same.
shim_is_told_to_validate_no_more()
{
	printf '%s\n' aaaaaaaa aaaaaaaa | mokutil --disable-validation
}

run_checks
