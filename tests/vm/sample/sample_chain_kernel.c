// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains of the kernel, and of tasks that have no user space: any more, yet, or at all.
 * And what is left out on demand, and 32-bit programs.
 */
#include "records.h"

TestSuite(sample_chain_kernel, .init = sampling_init, .fini = sampling_fini);

#define KERNEL_BEGIN	0xffff800000000000ul

/* ---- Names of kernel functions ---- */

struct symbol {
	uint64_t address;
	char name[64];
};

static struct symbol *symbols;
static unsigned int nr_symbols;

static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void read_symbols(void)
{
	char line[512], type;
	struct symbol s;
	FILE *f = fopen("/proc/kallsyms", "re");

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx %c %63s", &s.address, &type, s.name) != 3 ||
		    !strchr("tTwW", type))
			continue;
		if (nr_symbols % 65536 == 0)
			symbols = realloc(symbols, (nr_symbols + 65536) * sizeof(s));
		symbols[nr_symbols++] = s;
	}
	fclose(f);
	cr_assert_gt(nr_symbols, 10000u);
	qsort(symbols, nr_symbols, sizeof(*symbols), by_address);
}

/* The function of an address: the last that begins there or before */
static const char *symbol_of(uint64_t address)
{
	unsigned int first = 0, end = nr_symbols;

	while (end - first > 1) {
		unsigned int middle = first + (end - first) / 2;

		if (symbols[middle].address <= address)
			first = middle;
		else
			end = middle;
	}
	return symbols[first].name;
}

static bool has_function(const struct sample *s, const char *name)
{
	for (uint64_t i = 0; i < s->nr_chain; i++)
		if (s->chain[i] >= KERNEL_BEGIN && s->chain[i] < PERF_CONTEXT_MAX &&
		    !strcmp(symbol_of(s->chain[i]), name))
			return true;
	return false;
}

/* ---- System calls of known callers ---- */

/*
 * call_kernel(rounds, fd, buffer, size): reads as often, with two frames of user space
 * below that were made up
 */
asm(".pushsection .text\n"
    "call_kernel:\n"
    "	push	%rbp\n"
    "	push	%rbx\n"
    "	mov	%rdi, %rbx\n"
    "	mov	%rsi, %rdi\n"
    "	mov	%rdx, %rsi\n"
    "	mov	%rcx, %rdx\n"
    "	lea	made_up_frames(%rip), %rbp\n"
    "1:	xor	%eax, %eax\n"		/* read */
    "	syscall\n"
    "call_kernel_return:\n"
    "	dec	%rbx\n"
    "	jnz	1b\n"
    "	pop	%rbx\n"
    "	pop	%rbp\n"
    "	ret\n"
    ".popsection");

struct frame {
	uint64_t next, ip;
};

__attribute__((used, visibility("hidden"))) struct frame made_up_frames[2];
extern void call_kernel(uint64_t rounds, long fd, void *buffer, uint64_t size);
extern const uint8_t call_kernel_return[];

static struct perf_event_attr kernel_attr(void)
{
	struct perf_event_attr attr = sampling_attr(kernel_period(2000));

	attr.exclude_user = 1;
	attr.exclude_kernel = 0;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN;
	return attr;
}

static bool is_kernel_address(uint64_t ip)
{
	return ip >= KERNEL_BEGIN && ip < PERF_CONTEXT_MAX;
}

/* Sample reads of /dev/zero until @want samples have been seen by @check. */
static void sample_reads(const struct perf_event_attr *attr, unsigned int want,
			 bool (*check)(const struct sample *s))
{
	int fd = event_open(attr), zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	static char buffer[4 * PAGE];
	struct perf_event_header *header;
	unsigned int seen = 0;
	struct sample s;
	struct ring r;

	made_up_frames[0] = (struct frame) { (uintptr_t)&made_up_frames[1], 0x1111 };
	made_up_frames[1] = (struct frame) { 0, 0x2222 };
	ring_map(&r, fd, 64);
	while (seen < want) {
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		call_kernel(100, zero, buffer, sizeof(buffer));
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		while ((header = ring_next(&r))) {
			if (header->type != PERF_RECORD_SAMPLE)
				continue;
			take_sample(attr, header, &s);
			/* What the last instruction of the kernel counted is told later. */
			if (is_kernel_address(s.ip))
				seen += check(&s);
		}
	}
	ring_unmap(&r);
	close(fd);
	close(zero);
}

/* Returns where the part of user space begins. */
static uint64_t check_kernel_part(const struct sample *s)
{
	uint64_t i;

	cr_assert_geq(s->nr_chain, 2);
	cr_assert_eq(s->chain[0], PERF_CONTEXT_KERNEL);
	cr_assert_eq(s->chain[1], s->ip);
	for (i = 1; i < s->nr_chain && s->chain[i] != PERF_CONTEXT_USER; i++)
		cr_assert(is_kernel_address(s->chain[i]), "%lu: %#lx", i, s->chain[i]);
	return i;
}

/* A sample inside of read(): all of the kernel's functions, and ours */
static bool check_read(const struct sample *s)
{
	uint64_t user;

	if (!has_function(s, "vfs_read"))
		return false;
	user = check_kernel_part(s);
	cr_assert(has_function(s, "ksys_read"));
	cr_assert(has_function(s, "do_syscall_64"));
	cr_assert_eq(strncmp(symbol_of(s->chain[user - 1]), "entry_SYSCALL_64", 16), 0,
		     "%s", symbol_of(s->chain[user - 1]));
	cr_assert_eq(s->nr_chain, user + 4);
	cr_assert_eq(s->chain[user + 1], (uintptr_t)call_kernel_return);
	cr_assert_eq(s->chain[user + 2], 0x1111);
	cr_assert_eq(s->chain[user + 3], 0x2222);
	return true;
}

Test(sample_chain_kernel, both_sides_of_a_system_call)
{
	struct perf_event_attr attr = kernel_attr();

	read_symbols();
	sample_reads(&attr, 30, check_read);
}

static bool check_kernel_only(const struct sample *s)
{
	cr_assert_eq(check_kernel_part(s), s->nr_chain);
	return true;
}

static bool check_user_only(const struct sample *s)
{
	/* On its way there or back its registers are just being saved, or are old. */
	if (s->nr_chain < 2 || s->chain[1] != (uintptr_t)call_kernel_return)
		return false;
	cr_assert_eq(s->chain[0], PERF_CONTEXT_USER);
	cr_assert_eq(s->nr_chain, 4);
	cr_assert_eq(s->chain[3], 0x2222);
	return true;
}

Test(sample_chain_kernel, part_that_is_left_out)
{
	struct perf_event_attr attr = kernel_attr();

	attr.exclude_callchain_user = 1;
	sample_reads(&attr, 30, check_kernel_only);
	attr.exclude_callchain_user = 0;
	attr.exclude_callchain_kernel = 1;
	sample_reads(&attr, 30, check_user_only);
}

static unsigned int wanted_depth;

static bool check_depth(const struct sample *s)
{
	unsigned int addresses = 0;

	for (uint64_t i = 0; i < s->nr_chain; i++)
		addresses += s->chain[i] < PERF_CONTEXT_MAX;
	cr_assert_leq(addresses, wanted_depth);
	return addresses == wanted_depth;
}

/* As many as are wanted, of both sides together, wherever they end */
Test(sample_chain_kernel, depth_of_both_together)
{
	struct perf_event_attr attr = kernel_attr();

	for (wanted_depth = 1; wanted_depth <= 8; wanted_depth++) {
		attr.sample_max_stack = wanted_depth;
		sample_reads(&attr, 10, check_depth);
	}
}

/* ---- Tasks without a user space ---- */

/* Is it a child of kthreadd, by its number? */
static bool is_kernel_thread(pid_t pid)
{
	char path[64], text[512], *end;
	int fd, parent = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	end = strrchr(text, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 && parent == 2;
}

static bool has_user_part(const struct sample *s)
{
	for (uint64_t i = 0; i < s->nr_chain; i++)
		if (s->chain[i] == PERF_CONTEXT_USER)
			return true;
	return false;
}

/* Moving to another CPU is the work of a kernel thread there, and waiting is the idle task's. */
Test(sample_chain_kernel, kernel_threads_and_the_idle_task, .timeout = 1800)
{
	struct perf_event_attr attr = kernel_attr();
	unsigned int of_threads = 0, of_idle = 0;
	struct perf_event_header *header;
	struct sample s;
	struct ring r;
	int fd;

	fd = event_open(attr, -1, 0);
	ring_map(&r, fd, 256);
	while (of_threads < 10 || of_idle < 10) {
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		for (int i = 0; i < 20; i++) {
			pin_here(0);
			pin_here(1);
			usleep(100);
		}
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		while ((header = ring_next(&r))) {
			if (header->type != PERF_RECORD_SAMPLE)
				continue;
			take_sample(&attr, header, &s);
			if (s.tid && !is_kernel_thread(s.tid))
				continue;
			cr_assert(!has_user_part(&s), "of task %d", s.tid);
			check_kernel_part(&s);
			of_threads += s.tid != 0;
			of_idle += s.tid == 0;
		}
	}
}

/*
 * A task that has given its memory back is still in the kernel, and then it has no id; with
 * perf that comes so late that it is hardly ever seen.
 */
Test(sample_chain_kernel, task_that_has_ended, .timeout = 1800)
{
	struct perf_event_attr attr = kernel_attr();
	struct perf_event_header *header;
	unsigned int seen = 0;
	struct sample s;
	struct ring r;
	pid_t child;
	int fd, status;

	if (is_witness())
		return;
	pin_here(0);
	fd = event_open(attr, -1, 0);
	ring_map(&r, fd, 256);
	while (seen < 5) {
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		child = fork();
		if (!child)
			_exit(0);
		waitpid(child, &status, 0);
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		while ((header = ring_next(&r))) {
			if (header->type != PERF_RECORD_SAMPLE)
				continue;
			take_sample(&attr, header, &s);
			if (s.pid != -1u)
				continue;
			cr_assert(!has_user_part(&s));
			check_kernel_part(&s);
			seen++;
		}
	}
}

/* ---- 32-bit programs ---- */

Test(sample_chain_kernel, frames_of_32_bits)
{
	static const uint64_t ips[] = { 0x32320001, 0x32320002, 0xf2320003 };
	struct perf_event_attr attr = sampling_attr(5000);
	unsigned int seen = 0;
	struct perf_event_header *header;
	struct sample s;
	struct ring r;
	int fd, status;
	pid_t pid;

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER |
			   PERF_SAMPLE_STACK_USER;
	attr.sample_regs_user = 1 << 7;	/* SP */
	attr.sample_stack_user = 64;
	attr.disabled = 0;
	pid = fork_child();
	if (!pid) {
		execl("/pmuctl/tests/prog/chain32", "chain32", NULL);
		_exit(127);
	}
	fd = event_open(attr, pid);
	ring_map(&r, fd, 64);
	while (seen < 20) {
		cr_assert_eq(waitpid(pid, &status, WNOHANG), 0, "status %#x", status);
		header = ring_next(&r);
		if (!header || header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(&attr, header, &s);
		/* The program may not have begun, nor come to its frames. */
		if (!seen && s.nr_chain != 5)
			continue;
		cr_assert_eq(s.nr_chain, 5, "%lu values", s.nr_chain);
		cr_assert_eq(s.chain[1], s.ip);
		if (!seen && s.chain[2] != ips[0])
			continue;
		for (unsigned int i = 0; i < 3; i++)
			cr_assert_eq(s.chain[2 + i], ips[i]);
		cr_assert_eq(s.user_abi, PERF_SAMPLE_REGS_ABI_32);
		cr_assert_eq(s.user_regs[0] >> 32, 0);
		cr_assert_gt(s.user_stack_filled, 0);
		seen++;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
}
