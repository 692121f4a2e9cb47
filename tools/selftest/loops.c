// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code whose counts are known. It is one piece of assembly, from the system call that
 * lets events count to the one that stops them, so that nothing of a compiler is counted.
 */
#include <stdint.h>
#include <time.h>

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

/* From behind the system call at the beginning to behind the one at the end: all that is counted */
extern const char selftest_loop[], selftest_loop_end[];

/**
 * loop_has() - is this an instruction of the loop, or the one behind it?
 * @ip: its address.
 *
 * Return: true if so.
 */
bool loop_has(uint64_t ip)
{
	return ip >= (uintptr_t)selftest_loop && ip <= (uintptr_t)selftest_loop_end;
}

/**
 * now_ns() - the time
 *
 * Return: ns since some moment.
 */
uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/**
 * loop_run() - run the loop, and have it counted
 * @fd: of the event that is enabled for it; those of its group count too.
 * @rounds: at least 1.
 *
 * Return: 0, or what the first or second ioctl returned as a negative errno.
 */
__attribute__((noinline, noclone)) int loop_run(int fd, uint64_t rounds)
{
	static uint64_t memory[2] = { 1, 1 };	/* not on a page that is yet to come */
	long ret = __NR_ioctl, request = PERF_EVENT_IOC_ENABLE, began;
	uint64_t left = rounds;

	*(volatile uint64_t *)&memory[1] = 1;
	__asm__ volatile("syscall\n"
			 ".globl selftest_loop, selftest_loop_end\n"
			 "selftest_loop:\n\t"
			 "movq %%rax, %[began]\n"
			 "1:\tmovq (%[memory]), %%rax\n\t"
			 "movq %%rax, 8(%[memory])\n\t"
			 "decq %[left]\n\t"
			 "jnz 1b\n\t"
			 "movl %[disable], %%esi\n\t"
			 "movl %[ioctl], %%eax\n\t"
			 "syscall\n"
			 "selftest_loop_end:"
			 : "+a" (ret), "+S" (request), [left] "+r" (left), [began] "=&r" (began)
			 : "D" ((long)fd), "d" (0l), [memory] "r" (memory),
			   [ioctl] "i" (__NR_ioctl), [disable] "i" (PERF_EVENT_IOC_DISABLE)
			 : "rcx", "r11", "memory", "cc");
	return began ? (int)began : (int)ret;
}

/**
 * loop_rounds_of_ns() - how long a run is that takes a time
 * @ns: the time.
 *
 * Return: its rounds, by trying.
 */
uint64_t loop_rounds_of_ns(uint64_t ns)
{
	const uint64_t rounds = 1000000;
	uint64_t took = now_ns();

	loop_run(-1, rounds);
	took = now_ns() - took;
	return took ? (uint64_t)((double)rounds * (double)ns / (double)took) : rounds;
}
