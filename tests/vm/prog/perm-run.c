// SPDX-License-Identifier: GPL-2.0-only
/*
 * Something to execute with or without gain of privilege: runs a loop of known length,
 * says who it is with one letter ('r' if its effective user is root, 'u' if not), and
 * waits for its end.
 *
 * usage: perm-run ITERATIONS	(of two instructions each)
 */
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;

	if (n)
		asm volatile("1:\n\tdec %0\n\tjnz 1b" : "+r" (n) : : "cc");
	if (write(STDOUT_FILENO, geteuid() ? "u" : "r", 1) != 1)
		return 1;
	for (;;)
		pause();
}
