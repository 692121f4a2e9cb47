// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a CPU execute the code that another one has written? One process patches the
 * operand of an instruction and then says so in memory; another, on another CPU, waits
 * for that, serializes, and executes it: it must never see an older operand. The kernel
 * patches its own code like this when a tracepoint is switched on, and an emulator that
 * goes on executing what it translated before makes it crash.
 *
 * Prints "ok NAME" or "not ok NAME: why" for a page with just this code, and for one
 * with other code in it that stays.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS	2
#define CALLS_MIN	1000
#define PAGE	4096

/* Shared by both processes, on a page without code. */
struct shared {
	uint32_t told;		/* the newest operand, by the writer */
	uint32_t calls;		/* by the reader */
	uint32_t stale;		/* calls that saw an older operand */
	bool other_code;	/* keep the page from being without code */
};

/* mov $0, %eax; ret: with the operand, a byte further, aligned to four bytes. */
static const uint8_t code[] = { 0xb8, 0, 0, 0, 0, 0xc3 };
#define CODE_AT		3
#define OPERAND_AT	4
#define OTHER_AT	64

static void stay_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("not ok sched_setaffinity");
		exit(1);
	}
}

static inline void serialize(void)
{
	uint32_t eax = 0, ebx, ecx = 0, edx;

	asm volatile("cpuid" : "+a" (eax), "=b" (ebx), "+c" (ecx), "=d" (edx) : : "memory");
}

/*
 * The emulator catches up with a change when the block of instructions ends that made it.
 * The kernel tells other CPUs of a change by an interrupt, which is long after that.
 */
static inline void end_block(void)
{
	asm volatile("jmp 1f\n1:" : : : "memory");
	serialize();
}

static void read_for_ever(uint8_t *page, struct shared *shared)
{
	uint32_t (*function)(void) = (uint32_t (*)(void))(page + CODE_AT);
	uint32_t (*other)(void) = (uint32_t (*)(void))(page + OTHER_AT);
	uint32_t told;

	for (;;) {
		told = __atomic_load_n(&shared->told, __ATOMIC_ACQUIRE);
		serialize();
		if (shared->other_code)
			other();
		if ((int32_t)(function() - told) < 0)
			__atomic_add_fetch(&shared->stale, 1, __ATOMIC_RELAXED);
		__atomic_add_fetch(&shared->calls, 1, __ATOMIC_RELAXED);
	}
}

/*
 * Patch, each time after another delay, for a while and until the reader has called often
 * enough. Returns how often.
 */
static uint32_t write_for_a_while(uint8_t *page, struct shared *shared)
{
	uint32_t *operand = (uint32_t *)(page + OPERAND_AT), n = 0;
	time_t end = time(NULL) + SECONDS;
	volatile unsigned int delay;

	while ((n & 1023) || time(NULL) < end ||
	       __atomic_load_n(&shared->calls, __ATOMIC_RELAXED) < CALLS_MIN) {
		n++;
		__atomic_store_n(operand, n, __ATOMIC_RELEASE);
		end_block();
		__atomic_store_n(&shared->told, n, __ATOMIC_RELEASE);
		for (delay = n * 7 % 200; delay; delay--)
			;
	}
	return n;
}

static void check(const char *name, bool other_code)
{
	uint8_t *page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct shared *shared = (struct shared *)(page + PAGE);
	uint32_t patches;
	pid_t pid;

	if (page == MAP_FAILED) {
		perror("not ok mmap");
		exit(1);
	}
	memcpy(page + CODE_AT, code, sizeof(code));
	memcpy(page + OTHER_AT, code, sizeof(code));
	shared->other_code = other_code;
	pid = fork();
	if (pid == 0) {
		stay_on_cpu(1);
		read_for_ever(page, shared);
	}
	stay_on_cpu(0);
	patches = write_for_a_while(page, shared);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	if (shared->stale || patches < 1000)
		printf("not ok %s: %u of %u calls executed old code, %u patches\n", name,
		       shared->stale, shared->calls, patches);
	else
		printf("ok %s\n", name);
	munmap(page, 2 * PAGE);
}

int main(void)
{
	check("code that another CPU changed is executed as changed", false);
	check("the same beside code that stays", true);
	return 0;
}
