/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers for guest tests that talk to the ABI itself, without the library: the
 * device, opening events, what a refusal said, loops of known length, files of
 * /proc and /sys, tasks to count.
 */
#ifndef TESTS_VM_RAW_H
#define TESTS_VM_RAW_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE	/* setresuid(); does nothing if a header came before */
#endif
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/pmuctl.h>

#define RAW_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define RAW_PARANOID		"/sys/module/pmuctl/parameters/paranoid"
#define RAW_CLAIM		"/sys/module/pmuctl/parameters/claim"
#define RAW_USER		1000	/* an ordinary user of the guest */
#define RAW_OTHER_USER		65534	/* and another */

/* A kernel with checks of its own, in which all takes 50 times as long? */
bool is_debug_kernel(void);

/* One in which at least each access to memory is looked at? */
bool is_slow_kernel(void);

/* The device, opened once for each process; ends the program if it is not there. */
int raw_device(void);

/* An attr of the size that the module knows, which may be more than our header's */
union raw_attr {
	struct perf_event_attr attr;
	uint8_t bytes[PMUCTL_ATTR_SIZE];
};

/* A disabled event of user space. */
static inline union raw_attr raw_attr(uint32_t type, uint64_t config)
{
	union raw_attr a;

	memset(&a, 0, sizeof(a));
	a.attr.type = type;
	a.attr.size = sizeof(a);
	a.attr.config = config;
	a.attr.disabled = 1;
	a.attr.exclude_kernel = 1;
	return a;
}

/* Instructions in user space: what any PMU can count. */
union raw_attr raw_instructions(void);

struct pmuctl_open raw_request(const void *attr, int pid, int cpu,
			       uint32_t flags,
			       struct pmuctl_explanation *why);

/* An event's descriptor, or -errno. */
int raw_open(const union raw_attr *attr, int pid, int cpu,
	     uint32_t flags, struct pmuctl_explanation *why);

/* What the last refusal on a descriptor was: 0, or -errno. */
int raw_explain(int fd, struct pmuctl_explanation *why);

struct pmuctl_info raw_info(void);

/* The count of an event with read_format 0; ends the program if it cannot be read. */
uint64_t raw_read(int fd);

/* Two instructions a round, one of them a branch; @n > 0 */
static inline void user_loop(uint64_t n)
{
	asm volatile("1:\n\tdec %0\n\tjnz 1b" : "+r" (n) : : "cc");
}

/* Is the kernel that runs older than this one? */
bool raw_kernel_before(int major, int minor);

/* Write a word to a file: 0, or -errno. */
int raw_write_file(const char *path, const char *text);

int raw_write_number(const char *path, long number);

/* The last number in a file ("0-3" gives 3); ends the program if there is none. */
long raw_read_number(const char *path);

/*
 * Have the module give back a PMU that it keeps for a moment after the last event, as it does
 * whenever the parameter is set: 0, or -errno.
 */
int raw_give_back(void);

/* As raw_info(), once the PMU is given back, if no hardware event is open. */
struct pmuctl_info raw_settled_info(void);

/* CPUID as the processor gives it */
struct raw_cpuid {
	uint32_t eax, ebx, ecx, edx;
};

static inline struct raw_cpuid raw_cpuid_part(uint32_t leaf, uint32_t part)
{
	struct raw_cpuid r = { .eax = leaf, .ecx = part };

	asm volatile("cpuid" : "+a" (r.eax), "=b" (r.ebx), "+c" (r.ecx), "=d" (r.edx));
	return r;
}

struct raw_cpuid raw_cpuid(uint32_t leaf);
bool raw_cpu_is_intel(void);

/* SDM Vol. 2A, and APM Vol. 3, CPUID function 1 */
unsigned int raw_cpu_family(void);

unsigned int raw_cpu_model(void);

/* Become an ordinary user: 0, or -errno. */
int raw_become(uid_t uid);

/* How many descriptors this process has. */
int raw_count_fds(void);

/* A child that calls @code until a signal ends it, or its parent's end */
pid_t raw_task(void (*code)(void));

void raw_wait(void);

/* One that waits for the signal */
pid_t raw_sleeper(void);

void raw_reap(pid_t pid);

/*
 * Memory at whose end nothing may be touched: the last @size bytes before an
 * address that is not mapped, filled with @fill.
 */
void *raw_at_edge(size_t size, int fill);

#endif /* TESTS_VM_RAW_H */
