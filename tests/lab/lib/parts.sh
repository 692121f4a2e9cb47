# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What the laboratory is made of, for those who remember that a test has passed in it.
# Sourced after common.sh and qemu.sh, never run.

# lab_parts: print it. A base image has a stamp of what is in it.
lab_parts()
{
	local series
	qemu_hash
	for series in "${LAB_KERNELS[@]}"; do
		cat -- "$CACHE/kernels/$series/version" "$CACHE/guest/$series/stamp"
	done
}
