// SPDX-License-Identifier: GPL-2.0-only
/* libs: -nostdlib */
/*
 * Spends 70 % of its user instructions in hot(), 20 % in warm() and 10 % in cold(), up to
 * a few in ten thousand. Each is called by phase(), that by _start(), all with frame
 * pointers. For each of its arguments, its name being the first, these are 40 million
 * instructions in 200 phases.
 *
 * usage: hot-warm-cold [ANYTHING]...
 */
#include <asm/unistd.h>

#define STRING_1(x)	#x
#define STRING(x)	STRING_1(x)

#define FUNCTION(name, body)						\
	asm(".globl " #name "\n"					\
	    ".type " #name ", @function\n"				\
	    #name ":\n"							\
	    body							\
	    ".size " #name ", . - " #name "\n")

/* Two instructions each time round */
#define LOOP(times)							\
	"	push %rbp\n"						\
	"	mov %rsp, %rbp\n"					\
	"	mov $" #times ", %ecx\n"				\
	"1:	dec %ecx\n"						\
	"	jnz 1b\n"						\
	"	pop %rbp\n"						\
	"	ret\n"

FUNCTION(hot, LOOP(70000));
FUNCTION(warm, LOOP(20000));
FUNCTION(cold, LOOP(10000));

FUNCTION(phase,
	"	push %rbp\n"
	"	mov %rsp, %rbp\n"
	"	call hot\n"
	"	call warm\n"
	"	call cold\n"
	"	pop %rbp\n"
	"	ret\n");

/* The kernel enters with argc on top of the stack, and no frame. */
FUNCTION(_start,
	"	imul $200, (%rsp), %rbx\n"
	"	xor %ebp, %ebp\n"
	"1:	call phase\n"
	"	dec %rbx\n"
	"	jnz 1b\n"
	"	mov $" STRING(__NR_exit) ", %eax\n"
	"	mov $3, %edi\n"
	"	syscall\n");
