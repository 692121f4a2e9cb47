# shellcheck shell=sh disable=SC2034 # what is set here is for the suites
# SPDX-License-Identifier: GPL-2.0-only
#
# What the suites of a guest with Secure Boot share. Beside them in the guest are
# pmuctl.ko (unsigned), other.ko (signed with a key that nobody trusts), changed.ko (signed with the
# machine's key and changed since) and mok.pub (its certificate); the module that DKMS
# has signed is where modprobe finds it.

# shellcheck source=tests/vm/common/checks.sh
. /pmuctl/tests/common/checks.sh
SAYS=out
HERE=/secure-boot
EFIVARS=/sys/firmware/efi/efivars
LOCKDOWN=/sys/kernel/security/lockdown

# kmod's, not those of the shell itself
INSMOD=/usr/sbin/insmod
MODPROBE=/usr/sbin/modprobe

$MODPROBE efivarfs
mount -t efivarfs efivarfs $EFIVARS
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null

# A kernel with IMA's policy for Secure Boot takes no unsigned module by module.sig_enforce, another by its lockdown alone.
refusal='Operation not permitted' enforced='is restricted' by='Secure Boot is on, the kernel is locked down'
if grep -qx Y /sys/module/module/parameters/sig_enforce; then
	refusal='Key was rejected by service' enforced='is rejected' by="$by, module\\.sig_enforce is on"
fi

# is_refused SENTENCE COMMAND...: COMMAND, a program that loads the module, fails and says this
is_refused()
{
	sentence=$1
	shift
	! "$@" 2>err && cat err && grep -qF "$sentence" err && [ ! -e /sys/module/pmuctl ]
}

# kernel_said TEXT
kernel_said() { dmesg | grep -F "$1"; }
