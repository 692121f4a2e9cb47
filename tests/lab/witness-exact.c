// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts blocks of known instructions with the kernel's own perf_event_open and compares
 * with what they must be: the conventions of the emulated PMU, user and kernel apart.
 * Static, runs as root in the guest without the module. The blocks are in
 * witness-blocks.S.
 *
 * usage: witness-exact [blocks|step|migrate|kernel|together|rdpmc]...
 *
 * Prints "ok NAME" or "not ok NAME: why" for each check.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <cpuid.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define PAGE		4096

#define BLOCK(name)	void block_##name(long n, void *memory)
BLOCK(empty);
BLOCK(loop);
BLOCK(branches);
BLOCK(never_taken);
BLOCK(rep_stos);
BLOCK(repe_cmps);
BLOCK(touch);
BLOCK(getppid);
BLOCK(int80);
BLOCK(ud2);
BLOCK(divide);
BLOCK(load);
BLOCK(int3);
BLOCK(cpuid);
BLOCK(outb);
BLOCK(self_modifying);
BLOCK(hop);
extern const char block_self_modifying_end[];
void handler_skip2(int sig, siginfo_t *info, void *context);
void handler_return(int sig, siginfo_t *info, void *context);
void handler_restorer(void);

struct counts {
	uint64_t insns, branches;
};

static void *memory;

static void die(const char *what)
{
	printf("not ok %s: %s\n", what, strerror(errno));
	exit(1);
}

static void report(bool ok, const char *name, const char *why)
{
	if (ok)
		printf("ok %s\n", name);
	else
		printf("not ok %s: %s\n", name, why);
	fflush(stdout);
}

/* Where an event counts. */
enum where { USER, KERNEL, BOTH };

static int open_event(uint64_t config, enum where where, pid_t pid, int leader, bool on_exec)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.disabled = leader < 0,
		.enable_on_exec = on_exec,
		.exclude_kernel = where == USER,
		.exclude_user = where == KERNEL,
		.exclude_hv = 1,
	};
	int fd = syscall(__NR_perf_event_open, &attr, pid, -1, leader, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("perf_event_open");
	return fd;
}

static uint64_t read_event(int fd)
{
	uint64_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value))
		die("read of a perf event");
	return value;
}

/* Count one call of a block, its own call and return included. */
static struct counts count_call(void (*block)(long, void *), long n, enum where where)
{
	int leader = open_event(PERF_COUNT_HW_INSTRUCTIONS, where, 0, -1, false);
	int branches = open_event(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, where, 0, leader, false);
	struct counts counts;

	ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	block(n, memory);
	ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	counts.insns = read_event(leader);
	counts.branches = read_event(branches);
	close(branches);
	close(leader);
	return counts;
}

/* What a block counts in user space beyond an empty one. */
static struct counts count_user(void (*block)(long, void *), long n)
{
	struct counts empty = count_call(block_empty, n, USER);
	struct counts counts = count_call(block, n, USER);

	counts.insns -= empty.insns;
	counts.branches -= empty.branches;
	return counts;
}

static void check_user(const char *name, void (*block)(long, void *), long n,
		       uint64_t insns, uint64_t branches)
{
	struct counts got = count_user(block, n);
	char why[200];

	snprintf(why, sizeof(why), "%llu instructions and %llu branches instead of %llu and %llu",
		 (unsigned long long)got.insns, (unsigned long long)got.branches,
		 (unsigned long long)insns, (unsigned long long)branches);
	report(got.insns == insns && got.branches == branches, name, why);
}

/* The C library's sigaction() would have its own restorer. */
static void set_handler(int sig, void (*handler)(int, siginfo_t *, void *))
{
	struct {
		void (*handler)(int, siginfo_t *, void *);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = { handler, 0x04000000 /* SA_RESTORER */ | SA_SIGINFO, handler_restorer, 0 };

	if (syscall(__NR_rt_sigaction, sig, &action, NULL, 8))
		die("rt_sigaction");
}

static void check_memory_blocks(void)
{
	const long pages = 200;

	check_user("rep stos counts once", block_rep_stos, 10000, 4, 0);
	check_user("rep stos of nothing counts once", block_rep_stos, 0, 4, 0);
	check_user("repe cmps that ends early counts once", block_repe_cmps, 1000, 4, 0);

	memset(memory, 1, pages * PAGE);
	check_user("loads and stores in present pages", block_touch, pages, 1 + 5 * pages, pages);
	if (madvise(memory, pages * PAGE, MADV_DONTNEED))
		die("madvise");
	check_user("an instruction that faults does not count, its retry does", block_touch,
		   pages, 1 + 5 * pages, pages);
	if (madvise(memory, pages * PAGE, MADV_DONTNEED))
		die("madvise");
	check_user("rep stos counts once over page faults", block_rep_stos, pages * PAGE, 4, 0);
}

/* An interrupt or signal costs its handler and the way back: add, ret, mov, syscall. */
static void check_exception_blocks(void)
{
	const long n = 50;

	check_user("syscall is an instruction and a branch", block_getppid, n, 1 + 4 * n, 2 * n);
	check_user("int n is an instruction, and no branch", block_int80, n, 1 + 4 * n, n);
	set_handler(SIGILL, handler_skip2);
	check_user("ud2 does not count", block_ud2, n, 1 + (2 + 4) * n, n + 2 * n);
	set_handler(SIGFPE, handler_skip2);
	check_user("a division by zero does not count", block_divide, n, 2 + (2 + 4) * n, n + 2 * n);
	set_handler(SIGSEGV, handler_skip2);
	check_user("a load that is refused does not count", block_load, n, 2 + (2 + 4) * n,
		   n + 2 * n);
	set_handler(SIGTRAP, handler_return);
	check_user("int3 counts, and is no branch", block_int3, n, 1 + (3 + 3) * n, n + 2 * n);
}

/* The raw event that counts conditional branches: BR_INST_RETIRED.CONDITIONAL, .COND, PMCx0D1 */
static uint64_t conditional_event(void)
{
	unsigned int eax, ebx = 0, ecx, edx;

	__cpuid(0, eax, ebx, ecx, edx);
	if (ebx != signature_INTEL_ebx)
		return 0xd1;
	__cpuid(10, eax, ebx, ecx, edx);
	return (eax & 0xff) >= 5 ? 0x11c4 : 0x01c4;
}

static void check_conditional(const char *name, void (*block)(long, void *), long n, uint64_t expected)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_RAW, .size = sizeof(attr), .config = conditional_event(),
		.disabled = 1, .exclude_kernel = 1, .exclude_hv = 1,
	};
	int fd = syscall(__NR_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	uint64_t got;
	char why[100];

	if (fd < 0)
		die("perf_event_open of conditional branches");
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	block(n, memory);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	got = read_event(fd);
	close(fd);
	snprintf(why, sizeof(why), "%llu instead of %llu", (unsigned long long)got,
		 (unsigned long long)expected);
	/* What the C library's ioctl() asks of its result may be one besides, each time */
	report(got >= expected && got <= expected + 4, name, why);
}

static void check_blocks(void)
{
	size_t size = block_self_modifying_end - (const char *)block_self_modifying;
	void *code = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	check_user("a loop of dec and jnz", block_loop, 1000003, 1 + 2 * 1000003, 1000003);
	check_user("twice that loop", block_loop, 2000006, 1 + 2 * 2000006, 2000006);
	check_user("every kind of near branch", block_branches, 1000, 2 + 14 * 1000, 11 * 1000);
	check_user("branches that are not taken count", block_never_taken, 1000, 1 + 7 * 1000,
		   4 * 1000);
	check_conditional("conditional branches alone", block_branches, 1000, 2 * 1000);
	check_conditional("conditional branches that are not taken", block_never_taken, 1000, 4 * 1000);
	check_memory_blocks();
	check_exception_blocks();
	check_user("cpuid", block_cpuid, 100, 2 + 7 * 100, 100);
	if (syscall(__NR_ioperm, 0x80, 1, 1))
		die("ioperm");
	check_user("port output", block_outb, 300, 1 + 3 * 300, 300);
	if (code == MAP_FAILED)
		die("mmap");
	memcpy(code, (const void *)block_self_modifying, size);
	check_user("code that changes itself", (void (*)(long, void *))code, 1000, 1 + 4 * 1000,
		   1000);
}

/* Let the caller, and what it starts, run on one CPU only. */
static void stay_on_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* A program of many kinds of instructions, stopped before its first one. */
static pid_t start_stepping(int *event)
{
	char *const argv[] = { "busybox", "sha1sum", "/bin/busybox", NULL };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execv("/bin/busybox", argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	*event = open_event(PERF_COUNT_HW_INSTRUCTIONS, USER, pid, -1, true);
	ptrace(PTRACE_CONT, pid, 0, 0);
	waitpid(pid, &status, 0);
	return pid;
}

/*
 * Step through a program and compare the number of steps with what was counted, at every
 * step. A rep instruction stops once a round at the same address, and counts at its end.
 */
static void check_steps(void)
{
	unsigned long long rip, next, steps = 0;
	struct user_regs_struct regs;
	uint64_t counted = 0;
	int status, event;
	char why[200];
	pid_t pid;

	stay_on_cpu(0);
	pid = start_stepping(&event);
	ptrace(PTRACE_GETREGS, pid, 0, &regs);
	rip = regs.rip;
	while (steps < 5000 && counted == steps) {
		ptrace(PTRACE_SINGLESTEP, pid, 0, 0);
		waitpid(pid, &status, 0);
		if (!WIFSTOPPED(status))
			break;
		next = ptrace(PTRACE_PEEKUSER, pid, offsetof(struct user_regs_struct, rip), 0);
		steps += next != rip;
		rip = next;
		counted = read_event(event);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	close(event);
	snprintf(why, sizeof(why), "%llu counted after %llu steps, at %#llx",
		 (unsigned long long)counted, steps, rip);
	report(counted == steps && steps == 5000,
	       "a program that is stepped through counts one for each step", why);
}

/* Hop between CPUs while another process fights for them. */
static void check_migration(void)
{
	pid_t rival = fork();

	if (rival == 0)
		for (;;)
			block_loop(1000000, memory);
	check_user("hops between two CPUs", block_hop, 500, 1 + 10 * 500, 2 * 500);
	check_user("a long loop beside a rival", block_loop, 200000000, 1 + 2 * 200000000L,
		   200000000);
	kill(rival, SIGKILL);
	waitpid(rival, NULL, 0);
}

/* The least of several tries is the one without an interrupt in it. */
static struct counts least_kernel(void (*block)(long, void *), long n)
{
	struct counts least = count_call(block, n, KERNEL), got;
	int i;

	for (i = 0; i < 30; i++) {
		got = count_call(block, n, KERNEL);
		if (got.insns < least.insns)
			least = got;
	}
	return least;
}

/* System calls: so much for each in the kernel, to the instruction. */
static void check_kernel(void)
{
	struct counts one, two, three, none;
	const uint64_t n = 300;
	uint64_t insns, branches;
	char why[300];

	none = least_kernel(block_getppid, 1);
	one = least_kernel(block_getppid, 1 + n);
	two = least_kernel(block_getppid, 1 + 2 * n);
	three = least_kernel(block_getppid, 1 + 3 * n);
	insns = one.insns - none.insns;
	branches = one.branches - none.branches;
	snprintf(why, sizeof(why), "instructions %llu %llu %llu, branches %llu %llu %llu",
		 (unsigned long long)insns, (unsigned long long)(two.insns - one.insns),
		 (unsigned long long)(three.insns - two.insns), (unsigned long long)branches,
		 (unsigned long long)(two.branches - one.branches),
		 (unsigned long long)(three.branches - two.branches));
	report(two.insns - one.insns == insns && three.insns - two.insns == insns &&
	       two.branches - one.branches == branches &&
	       three.branches - two.branches == branches,
	       "the kernel's share of N, 2N, 3N system calls is linear", why);
	report(insns % n == 0 && branches % n == 0 && insns > 50 * n && branches >= 2 * n,
	       "every system call costs the kernel the same", why);

	one = least_kernel(block_loop, 1000);
	two = least_kernel(block_loop, 50000);
	snprintf(why, sizeof(why), "%llu and %llu instructions", (unsigned long long)one.insns,
		 (unsigned long long)two.insns);
	report(one.insns == two.insns && one.branches == two.branches,
	       "a user loop adds nothing to the kernel's share", why);
}

/* What counts in both is the sum of what counts in each: where all start and stop at once. */
static void check_together(void)
{
	static const uint64_t configs[] = {
		PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	};
	uint64_t value[2];
	char why[200];
	size_t i;
	int w;

	for (i = 0; i < ARRAY_SIZE(configs); i++) {
		int both = open_event(configs[i], BOTH, 0, -1, false);
		int apart[2] = {
			open_event(configs[i], USER, 0, both, false),
			open_event(configs[i], KERNEL, 0, both, false),
		};

		ioctl(both, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		block_getppid(10000, memory);
		block_loop(10000000, memory);
		ioctl(both, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
		for (w = 0; w < 2; w++) {
			value[w] = read_event(apart[w]);
			close(apart[w]);
		}
		snprintf(why, sizeof(why), "%llu in all, %llu user, %llu kernel",
			 (unsigned long long)read_event(both), (unsigned long long)value[0],
			 (unsigned long long)value[1]);
		report(read_event(both) == value[0] + value[1] && value[0] && value[1],
		       i ? "branches: all are user's and kernel's together" :
			   "instructions: all are user's and kernel's together", why);
		close(both);
	}
}

static inline uint64_t rdpmc(uint32_t counter)
{
	uint32_t low, high;

	asm volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (counter) : "memory");
	return low | (uint64_t)high << 32;
}

/* User space may read counters if, and only if, it has mapped an event: CR4.PCE. */
static void check_rdpmc(void)
{
	int event = open_event(PERF_COUNT_HW_INSTRUCTIONS, USER, 0, -1, false), status;
	volatile struct perf_event_mmap_page *page;
	uint64_t before, after, empty;
	char why[200];
	pid_t pid;

	stay_on_cpu(0);
	pid = fork();
	if (pid == 0) {
		signal(SIGSEGV, SIG_DFL);
		rdpmc(0);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	report(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
	       "rdpmc without a mapped event is refused", "it was carried out");

	page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, event, 0);
	if (page == MAP_FAILED)
		die("mmap of a perf event");
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	if (!page->index) {
		report(false, "rdpmc sees every instruction", "the event is on no counter");
		return;
	}
	before = rdpmc(page->index - 1);
	empty = rdpmc(page->index - 1) - before;
	before = rdpmc(page->index - 1);
	asm volatile(".fill 1000, 1, 0x90");
	after = rdpmc(page->index - 1);
	snprintf(why, sizeof(why), "1000 nops count %lld", (long long)(after - before - empty));
	report(after - before - empty == 1000, "rdpmc sees every instruction", why);
	munmap((void *)page, PAGE);
	close(event);
}

static const struct {
	const char *name;
	void (*check)(void);
} parts[] = {
	{ "blocks", check_blocks },
	{ "step", check_steps },
	{ "migrate", check_migration },
	{ "kernel", check_kernel },
	{ "together", check_together },
	{ "rdpmc", check_rdpmc },
};

int main(int argc, char **argv)
{
	size_t p;
	int i;

	memory = mmap(NULL, 1024 * PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		die("mmap");
	madvise(memory, 1024 * PAGE, MADV_NOHUGEPAGE);
	for (i = 1; i < argc; i++) {
		for (p = 0; p < ARRAY_SIZE(parts); p++)
			if (!strcmp(argv[i], parts[p].name))
				break;
		if (p == ARRAY_SIZE(parts)) {
			fprintf(stderr, "witness-exact: no part %s\n", argv[i]);
			return 2;
		}
		parts[p].check();
	}
	return 0;
}
