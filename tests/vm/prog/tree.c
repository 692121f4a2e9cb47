// SPDX-License-Identifier: GPL-2.0-only
/* libs: -nostdlib */
/*
 * A tree of short tasks: chains, two of which live at a time. A chain of N levels is a
 * process that starts the next level, waits for its end and ends, and so on; every other
 * level is a thread of the process before, if THREADS is 1. Each task first loops for
 * ROUNDS rounds of two instructions.
 *
 * How many user instructions that takes does not depend on who runs when: all waiting is
 * done by system calls that are made once, whether there is something to wait for or not.
 * So it is a sum of a fixed part, one for each chain, and 2 * ROUNDS for each task but the
 * first. As long as the numbers have as many digits, the fixed part is the same too.
 *
 * usage: tree CHAINS LEVELS THREADS ROUNDS
 */
#include <asm/unistd.h>

#define STRING_1(x)	#x
#define STRING(x)	STRING_1(x)
#define CALL(name)	"	mov $" STRING(__NR_##name) ", %eax\n	syscall\n"

/* VM FS FILES SIGHAND THREAD SYSVSEM PARENT_SETTID CHILD_CLEARTID */
#define THREAD_FLAGS	0x350f00
#define WALL		0x40000000
#define LEVELS_MAX	64

/* Of each level, the id of its thread, which the kernel clears and then wakes who waits. */
__attribute__((used)) static int tids[LEVELS_MAX];

/*
 * No task uses its stack, so threads do without one of their own.
 *
 *	rbx	chains that are still to be started
 *	rbp	chains that live, -1 or -2 until two do
 *	r12	levels that are still to come in this chain
 *	r13	rounds
 *	r14	1 if every other level is a thread
 */
asm("task:\n"
    "	mov %r13, %rax\n"
    "1:	dec %rax\n"
    "	jnz 1b\n"
    "	dec %r12\n"
    "	jz end\n"
    "	test %r14, %r12\n"
    "	jnz thread\n"
    CALL(fork)
    "	test %eax, %eax\n"
    "	jz task\n"
    "	js fail\n"
    "	mov %eax, %edi\n"
    "	xor %esi, %esi\n"
    "	mov $" STRING(WALL) ", %edx\n"
    "	xor %r10d, %r10d\n"
    CALL(wait4)
    "	jmp end\n"

    "thread:\n"
    "	mov $" STRING(THREAD_FLAGS) ", %edi\n"
    "	xor %esi, %esi\n"
    "	lea tids(,%r12,4), %rdx\n"
    "	mov %rdx, %r10\n"
    "	xor %r8d, %r8d\n"
    CALL(clone)
    "	test %eax, %eax\n"
    "	jz task\n"
    "	js fail\n"
    /* FUTEX_WAIT, unless it has been cleared already */
    "	lea tids(,%r12,4), %rdi\n"
    "	xor %esi, %esi\n"
    "	mov %eax, %edx\n"
    "	xor %r10d, %r10d\n"
    CALL(futex)

    "end:\n"
    "	xor %edi, %edi\n"
    CALL(exit)
    "fail:\n"
    "	mov $1, %edi\n"
    CALL(exit_group)

    ".globl chains\n"
    "chains:\n"
    "	mov %rdi, %rbx\n"
    "	mov %rsi, %r12\n"
    "	mov %rdx, %r14\n"
    "	mov %rcx, %r13\n"
    "	mov $-2, %rbp\n"
    "1:\n"
    CALL(fork)
    "	test %eax, %eax\n"
    "	jz task\n"
    "	js fail\n"
    "	inc %rbp\n"
    "	jle 2f\n"
    /* Any child */
    "	mov $-1, %rdi\n"
    "	xor %esi, %esi\n"
    "	xor %edx, %edx\n"
    "	xor %r10d, %r10d\n"
    CALL(wait4)
    "2:	dec %rbx\n"
    "	jnz 1b\n"
    /* Until there is none */
    "3:	mov $-1, %rdi\n"
    "	xor %esi, %esi\n"
    "	xor %edx, %edx\n"
    "	xor %r10d, %r10d\n"
    CALL(wait4)
    "	test %eax, %eax\n"
    "	jns 3b\n"
    "	jmp end\n");

_Noreturn void chains(long chains, long levels, long threads, long rounds);

static long number(const char *text)
{
	long n = 0;

	while (*text)
		n = n * 10 + (*text++ - '0');
	return n;
}

/* The kernel enters with argc and argv on the stack. */
__attribute__((used)) static void start(const long *stack)
{
	char **argv = (char **)(stack + 1);

	if (stack[0] == 5)
		chains(number(argv[1]), number(argv[2]), number(argv[3]), number(argv[4]));
	for (;;)
		asm volatile("syscall" : : "a" (__NR_exit_group), "D" (2));
}

asm(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n");
