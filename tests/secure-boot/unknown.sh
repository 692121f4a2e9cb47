#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine with Secure Boot whose firmware does not know the key that DKMS signs with yet. In
# the end it is told to ask for it. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name, in order

# shellcheck source=tests/secure-boot/common.sh
. "$(dirname -- "$0")/common.sh"

secure_boot_is_on()
{
	kernel_said 'secureboot: Secure boot enabled' && mokutil --sb-state | grep -x 'SecureBoot enabled' &&
		cat $LOCKDOWN && grep -qF '[integrity]' $LOCKDOWN
}

an_unsigned_module_is_refused()
{
	is_refused "$refusal" $INSMOD $HERE/pmuctl.ko &&
		kernel_said "unsigned module $enforced"
}

what_dkms_has_signed_is_refused()
{
	is_refused "$refusal" $MODPROBE pmuctl &&
		kernel_said "module with unavailable key $enforced"
}

the_doctor_says_what_to_do()
{
	run 1 doctor && says '^problem +Driver: the pmuctl module is not loaded' \
		"^note +Secure Boot: $by: modules must be signed$" \
		"^ +-> DKMS signs the module with its own key: enrol it with 'mokutil --import /var/lib/dkms/mok.pub', then reboot" \
		'^This machine cannot count now\.$'
}

# On a user's machine it asks for the password.
the_key_is_put_up_for_enrolment()
{
	mokutil --test-key $HERE/mok.pub
	mokutil --generate-hash=abcd1234 >hashed && mokutil --import $HERE/mok.pub --hash-file hashed &&
		mokutil --list-new | tee new && grep -q 'CN=DKMS module signing key' new
}

run_checks
