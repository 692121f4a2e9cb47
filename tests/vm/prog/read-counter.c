// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads counter 0 with the instruction for that, and does nothing else: killed by
 * SIGSEGV if the kernel does not let it.
 */
int main(void)
{
	unsigned int low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (0));
	return 0;
}
