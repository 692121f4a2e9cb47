// SPDX-License-Identifier: GPL-2.0-only
/* libs: -nostdlib */
/*
 * Executes a program with a fixed environment, at a cost in user instructions that does
 * not depend on the one it was given. Two measuring tools that each set variables of
 * their own so count the same program to the instruction.
 *
 * usage: clean-env PROGRAM [ARGS]
 *
 * No C library: its start-up reads the environment.
 */
#include <asm/unistd.h>

static char *const environment[] = {
	"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", "LC_ALL=C", 0,
};

static long syscall3(long number, const void *a, const void *b, const void *c)
{
	long ret;

	asm volatile("syscall" : "=a" (ret)
		     : "a" (number), "D" (a), "S" (b), "d" (c)
		     : "rcx", "r11", "memory");
	return ret;
}

/* The kernel enters with argc and argv on the stack. */
__attribute__((used)) static void start(long *stack)
{
	char **argv = (char **)(stack + 1);

	if (stack[0] >= 2)
		syscall3(__NR_execve, argv[1], argv + 1, environment);
	syscall3(__NR_exit, (void *)127, 0, 0);
}

asm(".globl _start\n_start:\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall start\n");
