// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that was made for perf_event_open(2), static, and knows nothing of pmuctl. What it
 * prints is the same on the kernel's perf, with and without "pmuctl run", but for the first
 * line of "whose".
 *
 * usage: perf-calls WHAT
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <signal.h>
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

#define N	100000ul
#define SIZE(array)	(sizeof(array) / sizeof((array)[0]))

static struct perf_event_attr instructions(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_HARDWARE, .size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .disabled = 1, .exclude_kernel = 1,
		.exclude_guest = 1,
	};
}

__attribute__((noinline, noclone))
static int open_event(const void *attr, int pid, int cpu, int group, unsigned long flags)
{
	long fd = syscall(__NR_perf_event_open, attr, pid, cpu, group, flags);

	return fd < 0 ? -errno : (int)fd;
}

static int open_or_exit(const struct perf_event_attr *attr, int pid, int group,
			unsigned long flags)
{
	int fd = open_event(attr, pid, -1, group, flags);

	if (fd >= 0)
		return fd;
	printf("refused: %s\n", strerrorname_np(-fd));
	exit(1);
}

/* Enables, works, disables, nothing of a compiler's between */
static void bracket(int fd, unsigned long n)
{
	register long number asm("rax") = __NR_ioctl;
	register long arg asm("rdx") = 0;
	register long request asm("rsi") = PERF_EVENT_IOC_ENABLE;

	asm volatile("syscall\n"
		     "1:	dec %[n]\n"
		     "	jnz 1b\n"
		     "	mov %[disable], %%esi\n"
		     "	mov %[ioctl], %%eax\n"
		     "	syscall\n"
		     : "+r" (number), "+r" (request), [n] "+r" (n)
		     : "D" ((long)fd), "r" (arg), [disable] "i" (PERF_EVENT_IOC_DISABLE),
		       [ioctl] "i" (__NR_ioctl)
		     : "rcx", "r11", "cc", "memory");
}

static void print_count(const char *what, int fd)
{
	uint64_t value = 0;

	if (read(fd, &value, sizeof(value)) != (ssize_t)sizeof(value))
		printf("%s: cannot be read\n", what);
	else
		printf("%s: %lu\n", what, value);
}

static void count(void)
{
	struct perf_event_attr attr = instructions();
	int fd = open_or_exit(&attr, 0, -1, 0);

	bracket(fd, N);
	print_count("count", fd);
}

static void whose(void)
{
	struct perf_event_attr attr = instructions();
	char path[32], name[64] = "";

	snprintf(path, sizeof(path), "/proc/self/fd/%d", open_or_exit(&attr, 0, -1, 0));
	if (readlink(path, name, sizeof(name) - 1) > 0)
		puts(name);
}

/* The kernel too, which needs rights at the default level */
static void kernel(void)
{
	struct perf_event_attr attr = instructions();

	attr.exclude_kernel = 0;
	open_or_exit(&attr, 0, -1, 0);
	puts("opened");
}

/* Somebody else's task: it must be allowed to look into that */
static void init_task(void)
{
	struct perf_event_attr attr = instructions();

	open_or_exit(&attr, 1, -1, 0);
	puts("opened");
}

static void group(void)
{
	struct perf_event_attr attr = instructions();
	int leader = open_or_exit(&attr, 0, -1, 0), sibling, output;

	attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	attr.disabled = 0;
	sibling = open_or_exit(&attr, 0, leader, 0);
	bracket(leader, N);
	print_count("leader", leader);
	print_count("sibling", sibling);
	attr.sample_period = 1000;
	attr.sample_type = PERF_SAMPLE_IP;
	leader = open_event(&attr, 0, 0, -1, 0);
	mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, leader, 0);
	output = open_event(&attr, 0, 0, leader, PERF_FLAG_FD_OUTPUT | PERF_FLAG_FD_NO_GROUP);
	printf("output: %d\n", output > sibling);
}

static void descriptors(void)
{
	struct perf_event_attr attr = instructions();
	int first = open_or_exit(&attr, 0, -1, 0);
	int second = open_or_exit(&attr, 0, -1, PERF_FLAG_FD_CLOEXEC);

	printf("close on exec: %d %d\n", fcntl(first, F_GETFD), fcntl(second, F_GETFD));
	printf("flags: %#x\n", fcntl(first, F_GETFL));
	printf("numbers: %d %d\n", first, second);
	close(first);
	printf("lowest: %d\n", open_or_exit(&attr, 0, -1, 0) == first);
}

static void *thread_main(void *arg)
{
	(void)arg;
	count();
	return NULL;
}

static void tasks(void)
{
	struct perf_event_attr attr = instructions();
	pthread_t thread;
	pid_t child;
	int fd;

	pthread_create(&thread, NULL, thread_main, NULL);
	pthread_join(thread, NULL);
	fflush(stdout);
	child = fork();
	if (!child) {
		raise(SIGSTOP);
		bracket(-1, N);
		/* without a library, which would look for the function */
		asm volatile("syscall" : : "a" (__NR_exit_group), "D" (0) : "rcx", "r11", "memory");
	}
	waitpid(child, NULL, WUNTRACED);
	attr.disabled = 0;
	fd = open_or_exit(&attr, child, -1, 0);
	kill(child, SIGCONT);
	waitpid(child, NULL, 0);
	print_count("child", fd);
}

static void *open_another(void *arg)
{
	struct perf_event_attr attr = instructions();

	*(int *)arg = open_or_exit(&attr, 0, -1, 0);
	return NULL;
}

/* All events that this thread has opened: a loop takes two instructions, the rest is the same. */
static void control(void)
{
	struct perf_event_attr attr = instructions();
	uint64_t first[2], second[2], other;
	int fd[2], another;
	pthread_t thread;

	fd[0] = open_or_exit(&attr, 0, -1, 0);
	fd[1] = open_or_exit(&attr, 0, -1, PERF_FLAG_FD_CLOEXEC);
	pthread_create(&thread, NULL, open_another, &another);
	pthread_join(thread, NULL);
	for (int i = 0; i < 2; i++) {
		unsigned long n = i ? 2 * N : N;

		prctl(PR_TASK_PERF_EVENTS_ENABLE);
		asm volatile("1:	dec %0\n\tjnz 1b" : "+r" (n) : : "cc");
		prctl(PR_TASK_PERF_EVENTS_DISABLE);
		if (read(fd[0], i ? &second[0] : &first[0], 8) != 8 ||
		    read(fd[1], i ? &second[1] : &first[1], 8) != 8)
			exit(1);
	}
	if (read(another, &other, sizeof(other)) != sizeof(other))
		exit(1);
	for (int i = 0; i < 2; i++)
		printf("enabled: %d, disabled: %d\n", first[i] > 2 * N && first[i] < 3 * N,
		       second[i] - first[i] > 4 * N && second[i] - first[i] < 5 * N);
	printf("of another thread: %lu\n", other);
}

/* A tracepoint, a syscall's event, which is none of the kernel's own, and one that there is not */
static void tracepoint(void)
{
	static const char *const names[] = { "raw_syscalls/sys_enter", "syscalls/sys_enter_getppid" };
	struct perf_event_attr attr = instructions();
	unsigned long id;
	char path[80];
	FILE *file;
	int fd;

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.exclude_kernel = 0;
	for (size_t i = 0; i < SIZE(names); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", names[i]);
		file = fopen(path, "r");
		if (!file || fscanf(file, "%lu", &id) != 1)
			exit(1);
		fclose(file);
		attr.config = id;
		fd = open_or_exit(&attr, 0, -1, 0);
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		for (int n = 0; n < 100; n++)
			syscall(__NR_getppid);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		print_count(names[i], fd);
	}
	attr.config = 7777;
	open_or_exit(&attr, 0, -1, 0);
}

/* What the kernel's perf counts, and that it is not in a group with what pmuctl does */
static void breakpoint(void)
{
	struct perf_event_attr attr = instructions(), point = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(point), .bp_type = 4,
		.bp_addr = (uintptr_t)open_event, .bp_len = sizeof(long),
		.exclude_kernel = 1, .disabled = 1,
	};
	int fd = open_or_exit(&point, 0, -1, 0), mixed;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (int i = 0; i < 3; i++)
		close(open_event(&attr, 0, -1, -1, 0));
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	print_count("breakpoint", fd);
	mixed = open_event(&attr, 0, -1, fd, 0);
	printf("mixed: %s\n", mixed < 0 ? strerrorname_np(-mixed) : "opened");
	mixed = open_event(&point, 0, -1, open_or_exit(&attr, 0, -1, 0), 0);
	printf("mixed: %s\n", mixed < 0 ? strerrorname_np(-mixed) : "opened");
}

/* What is refused, and how */
static void refusals(void)
{
	struct perf_event_attr attr = instructions(), small = attr, large = attr, bad = attr;
	char *end = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct perf_event_attr *fixed = (void *)(end + 4096 - sizeof(attr));
	int null = open("/dev/null", O_RDONLY), leader = open_or_exit(&attr, 0, -1, 0);

	small.size = 32;
	large.size = 5000;
	bad.config = 1234567;
	mprotect(end + 4096, 4096, PROT_NONE);
	*fixed = attr;
	const struct {
		const void *attr;
		int pid, cpu, group;
		unsigned long flags;
	} calls[] = {
		{ NULL, 0, -1, -1, 0 },
		{ (void *)-1ul, 0, -1, -1, 0 },
		{ end + 4096 - 32, 0, -1, -1, 0 },
		{ &small, 0, -1, -1, 0 },
		{ &large, 0, -1, -1, 0 },
		{ &bad, 0, -1, -1, 0 },
		{ fixed, 0, -1, -1, 0 },
		{ &attr, -1, -1, -1, 0 },
		{ &attr, -2, -1, -1, 0 },
		{ &attr, 0x7ffffff0, -1, -1, 0 },
		{ &attr, 0, 100000, -1, 0 },
		{ &attr, 0, -1, 1000, 0 },
		{ &attr, 0, -1, null, 0 },
		{ &attr, 0, -1, -2, 0 },
		{ &attr, 0, -1, 1000, PERF_FLAG_FD_NO_GROUP },
		{ &attr, 0, 0, leader, 0 },
		{ &attr, 0, -1, leader, 1ul << 4 },
		{ &attr, 0, -1, -1, 1ul << 16 },
		{ &attr, 0, -1, -1, 1ul << 40 },
	};

	for (size_t i = 0; i < SIZE(calls); i++) {
		int fd = open_event(calls[i].attr, calls[i].pid, calls[i].cpu, calls[i].group,
				    calls[i].flags);

		printf("%zu: %s\n", i, fd < 0 ? strerrorname_np(-fd) : "opened");
		if (fd >= 0)
			close(fd);
	}
	printf("sizes: %d %d\n", small.size > 100, large.size > 100);
	fixed = (void *)end;
	fixed->size = 32;
	mprotect(end, 4096, PROT_READ);
	printf("read only: %s, size %u\n", strerrorname_np(-open_event(end, 0, -1, -1, 0)),
	       fixed->size);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{ "count", count }, { "whose", whose }, { "kernel", kernel }, { "init", init_task },
	{ "group", group }, { "descriptors", descriptors }, { "tasks", tasks },
	{ "refusals", refusals }, { "control", control }, { "tracepoint", tracepoint },
	{ "breakpoint", breakpoint },
};

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		for (size_t mode = 0; mode < SIZE(modes); mode++)
			if (!strcmp(argv[i], modes[mode].name))
				modes[mode].run();
	return 0;
}
