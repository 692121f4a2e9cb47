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
static inline bool is_debug_kernel(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}

/* One in which at least each access to memory is looked at? */
static inline bool is_slow_kernel(void)
{
	return is_debug_kernel() || !access("/sys/kernel/debug/kcsan", F_OK);
}

/* The device, opened once for each process; ends the program if it is not there. */
static inline int raw_device(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror(PMUCTL_DEVICE);
		exit(125);
	}
	return fd;
}

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
static inline union raw_attr raw_instructions(void)
{
	return raw_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

static inline struct pmuctl_open raw_request(const void *attr, int pid, int cpu,
					     uint32_t flags,
					     struct pmuctl_explanation *why)
{
	struct pmuctl_open request = {
		.size = sizeof(request), .flags = flags,
		.attr = (uintptr_t)attr, .pid = pid, .cpu = cpu, .group_fd = -1,
		.explanation_size = why ? sizeof(*why) : 0,
		.explanation = (uintptr_t)why,
	};

	return request;
}

/* An event's descriptor, or -errno. */
static inline int raw_open(const union raw_attr *attr, int pid, int cpu,
			   uint32_t flags, struct pmuctl_explanation *why)
{
	struct pmuctl_open request = raw_request(attr, pid, cpu, flags, why);
	int fd = ioctl(raw_device(), PMUCTL_IOC_OPEN, &request);

	return fd < 0 ? -errno : fd;
}

/* What the last refusal on a descriptor was: 0, or -errno. */
static inline int raw_explain(int fd, struct pmuctl_explanation *why)
{
	memset(why, 0, sizeof(*why));
	why->size = sizeof(*why);
	return ioctl(fd, PMUCTL_IOC_EXPLAIN, why) ? -errno : 0;
}

static inline struct pmuctl_info raw_info(void)
{
	struct pmuctl_info info = { .size = sizeof(info) };

	if (ioctl(raw_device(), PMUCTL_IOC_INFO, &info)) {
		perror("PMUCTL_IOC_INFO");
		exit(125);
	}
	return info;
}

/* The count of an event with read_format 0; ends the program if it cannot be read. */
static inline uint64_t raw_read(int fd)
{
	uint64_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value)) {
		perror("read of an event");
		exit(125);
	}
	return value;
}

/* Two instructions a round, one of them a branch; @n > 0 */
static inline void user_loop(uint64_t n)
{
	asm volatile("1:\n\tdec %0\n\tjnz 1b" : "+r" (n) : : "cc");
}

/* Write a word to a file: 0, or -errno. */
static inline int raw_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static inline int raw_write_number(const char *path, long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", number);
	return raw_write_file(path, text);
}

/* The last number in a file ("0-3" gives 3); ends the program if there is none. */
static inline long raw_read_number(const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char *last;

	if (n <= 0) {
		perror(path);
		exit(125);
	}
	close(fd);
	last = strrchr(text, '-');
	return strtol(last && last != text ? last + 1 : text, NULL, 10);
}

/*
 * Have the module give back a PMU that it keeps for a moment after the last event, as it does
 * whenever the parameter is set: 0, or -errno.
 */
static inline int raw_give_back(void)
{
	char claim[32];
	int fd = open(RAW_CLAIM, O_RDWR | O_CLOEXEC), err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, claim, sizeof(claim));
	if (n <= 0 || pwrite(fd, claim, n, 0) != n)
		err = -errno;
	close(fd);
	return err;
}

/* As raw_info(), once the PMU is given back, if no hardware event is open. */
static inline struct pmuctl_info raw_settled_info(void)
{
	struct pmuctl_info info = raw_info();

	while (!info.hw_events && info.pmu_owner == PMUCTL_OWNER_PMUCTL) {
		if (raw_give_back())
			usleep(10000); /* it is not ours to ask for */
		info = raw_info();
	}
	return info;
}

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

static inline struct raw_cpuid raw_cpuid(uint32_t leaf)
{
	return raw_cpuid_part(leaf, 0);
}

static inline bool raw_cpu_is_intel(void)
{
	return raw_cpuid(0).ebx == 0x756e6547; /* "Genu" */
}

/* SDM Vol. 2A, and APM Vol. 3, CPUID function 1 */
static inline unsigned int raw_cpu_family(void)
{
	unsigned int eax = raw_cpuid(1).eax, family = eax >> 8 & 0xf;

	return family == 0xf ? family + (eax >> 20 & 0xff) : family;
}

static inline unsigned int raw_cpu_model(void)
{
	unsigned int eax = raw_cpuid(1).eax;

	return (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
}

/* Become an ordinary user: 0, or -errno. */
static inline int raw_become(uid_t uid)
{
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

/* How many descriptors this process has. */
static inline int raw_count_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A child that calls @code until a signal ends it, or its parent's end */
static inline pid_t raw_task(void (*code)(void))
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* that has ended before it could be asked for */
	for (;;)
		code();
}

static inline void raw_wait(void)
{
	pause();
}

/* One that waits for the signal */
static inline pid_t raw_sleeper(void)
{
	return raw_task(raw_wait);
}

static inline void raw_reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/*
 * Memory at whose end nothing may be touched: the last @size bytes before an
 * address that is not mapped, filled with @fill.
 */
static inline void *raw_at_edge(size_t size, int fill)
{
	size_t page = 4096, room = (size + page - 1) / page * page + page;
	uint8_t *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE)) {
		perror("mmap");
		exit(125);
	}
	memset(map + room - size, fill, size);
	return map + room - size;
}

#endif /* TESTS_VM_RAW_H */
