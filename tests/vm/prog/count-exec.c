// SPDX-License-Identifier: GPL-2.0-only
/* libs: -nostdlib */
/*
 * Executes a known number of user instructions: 2,000 for each of its arguments, its
 * name being the first, and 4, from its first one to the system call that ends it.
 *
 * usage: count-exec [ANYTHING]...
 */
#include <asm/unistd.h>

#define STRING_1(x)	#x
#define STRING(x)	STRING_1(x)

/* The kernel enters with argc on top of the stack. */
asm(".globl _start\n"
    "_start:\n"
    "	imul $1000, (%rsp), %rcx\n"
    "1:	dec %rcx\n"
    "	jnz 1b\n"
    "	mov $" STRING(__NR_exit) ", %eax\n"
    "	xor %edi, %edi\n"
    "	syscall\n");
