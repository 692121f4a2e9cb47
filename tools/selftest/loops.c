// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code whose counts are known. It is one piece of assembly, from the system call that
 * lets events count to the one that stops them, so that nothing of a compiler is counted.
 */
#include <stdint.h>

#include <linux/perf_event.h>
#include <sys/syscall.h>

#include "selftest.h"

/* A round is a load, a store, and two instructions that end it. */
#define ROUND_INSTRUCTIONS	4
/* Before the rounds and behind them, the system call that stops the events included */
#define OTHER_INSTRUCTIONS	4

/**
 * loop_known() - what such a run is made of
 * @rounds: of the loop, at least 1.
 *
 * Return: the numbers.
 */
struct known loop_known(uint64_t rounds)
{
	return (struct known) {
		.rounds = rounds,
		.instructions = ROUND_INSTRUCTIONS * rounds + OTHER_INSTRUCTIONS,
		.branches = rounds + 1,
	};
}

/**
 * loop_run() - run the loop, and have it counted
 * @fd: of the event that is enabled for it; those of its group count too.
 * @rounds: at least 1.
 *
 * Return: 0, or what the first or second ioctl returned as a negative errno.
 */
int loop_run(int fd, uint64_t rounds)
{
	static uint64_t memory[2] = { 1, 1 };	/* not on a page that is yet to come */
	long ret = __NR_ioctl, request = PERF_EVENT_IOC_ENABLE, began;
	uint64_t left = rounds;

	*(volatile uint64_t *)&memory[1] = 1;
	__asm__ volatile("syscall\n\t"
			 "movq %%rax, %[began]\n\t"
			 "1:\tmovq (%[memory]), %%rax\n\t"
			 "movq %%rax, 8(%[memory])\n\t"
			 "decq %[left]\n\t"
			 "jnz 1b\n\t"
			 "movl %[disable], %%esi\n\t"
			 "movl %[ioctl], %%eax\n\t"
			 "syscall"
			 : "+a" (ret), "+S" (request), [left] "+r" (left), [began] "=&r" (began)
			 : "D" ((long)fd), "d" (0l), [memory] "r" (memory),
			   [ioctl] "i" (__NR_ioctl), [disable] "i" (PERF_EVENT_IOC_DISABLE)
			 : "rcx", "r11", "memory", "cc");
	return began ? (int)began : (int)ret;
}
