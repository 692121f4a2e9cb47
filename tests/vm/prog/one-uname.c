// SPDX-License-Identifier: GPL-2.0-only
/*
 * A thousand system calls, of which one is uname: what that one does in the kernel is to
 * be found among the others.
 */
/* libs: -nostdlib -no-pie -fno-stack-protector -fcf-protection=none */

typedef unsigned long word;

#define GETPPID		110
#define UNAME		63
#define EXIT_GROUP	231
#define CALLS		1000

static char name[6 * 65];

static word call(word number, word argument)
{
	word result;

	asm volatile("syscall" : "=a"(result) : "a"(number), "D"(argument)
		     : "rcx", "r11", "memory");
	return result;
}

void _start(void)
{
	for (int i = 1; i < CALLS; i++)
		call(i == CALLS / 2 ? UNAME : GETPPID, (word)name);
	call(EXIT_GROUP, !name[0]);
}
