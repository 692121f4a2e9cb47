// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program of which every instruction is known, for the kernel's perf to count and
 * sample: static, without a C library. Each argument is one unit of work, whatever it
 * says: UNIT rounds of a loop of 97 nops, dec and jnz.
 *
 * With u arguments it executes 99 * UNIT * u + 6 instructions, of which UNIT * u + 1 are
 * branches. PROLOGUE instructions come before the loop; the loop begins at the symbol
 * "body" and its instructions are one byte each up to dec, which has three.
 */
#define UNIT	"100000"

asm(".globl _start, body\n"
    "_start:\n"				/* PROLOGUE: 3 instructions */
    "	mov	(%rsp), %rcx\n"		/* argc */
    "	dec	%rcx\n"
    "	imul	$" UNIT ", %rcx, %rcx\n"
    "body:\n"
    "	.fill	97, 1, 0x90\n"
    "	dec	%rcx\n"
    "	jnz	body\n"
    "	mov	$231, %eax\n"		/* exit_group */
    "	xor	%edi, %edi\n"
    "	syscall\n");
