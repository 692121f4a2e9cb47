// SPDX-License-Identifier: GPL-2.0-only
/* libs: -m32 -nostdlib -no-pie */
/*
 * A 32-bit program that stays where its frame pointer leads to three frames of known return
 * addresses, until it is killed. It reads them first: what is not in memory is in no chain.
 * No C library: there need be none of that width.
 */
asm(".data\n"
    "third:	.long 0, 0xf2320003\n"
    "second:	.long third, 0x32320002\n"
    "first:	.long second, 0x32320001\n"
    ".text\n"
    ".globl _start\n"
    "_start:\n"
    "	xor	%ebp, %ebp\n"
    "	mov	first, %eax\n"
    "	mov	$first, %ebp\n"
    "1:	jmp	1b\n");
