#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# "pmuctl doctor" on a kernel that was started with module.sig_enforce=1, which loads no
# unsigned module. Runs in busybox' sh as root.
# shellcheck disable=SC2317 # the checks are called by name, in order

# shellcheck source=tests/vm/common/checks.sh
. "$(dirname -- "$0")/common/checks.sh"
SAYS=out

the_module_is_refused()
{
	! insmod /pmuctl/pmuctl.ko 2>err && cat err && grep -q 'Key was rejected' err && [ ! -e /sys/module/pmuctl ]
}

the_doctor_says_why()
{
	run 1 doctor && says '^problem +Driver: the pmuctl module is not loaded' \
		'^note +Secure Boot: module\.sig_enforce is on: modules must be signed$' \
		'^ +-> boot without module\.sig_enforce on the kernel' '^This machine cannot count now\.$'
}

run_checks
