// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * Much of a trace, decoded as it comes: a task goes a way that is known to the instruction,
 * and everything between is read and decoded while it goes on, without an error. What it
 * traces ahead of its reader is less than there is room for, however slow that is: so
 * nothing may be cut off. 2 MB, or 100 MB and a bit if SAMPLING_STRESS is set. For --cpu
 * intel-pt.
 */
#include "aux_code.h"

#include <time.h>

TestSuite(aux_stress, .timeout = 7200);

#define MB		(1UL << 20)
#define BUFFER		(16 * MB)
#define ROUND		250000	/* turns of the loop: 2 MB of trace */
#define MULTIPLIER	6364136223846793005UL
#define INCREMENT	12345

/*
 * Turns of a loop: a call that one of four functions takes, by the upper bits of a number
 * that changes each time, and a branch by another bit of it.
 */
uint64_t aux_stretch(uint64_t turns, uint64_t seed, uint64_t multiplier);
extern const uint8_t aux_stretch_end[];

asm(".text\n"
    ".globl aux_stretch, aux_stretch_end\n"
    "aux_stretch:\n"
    "	mov	%rsi, %rax\n"
    "	lea	aux_stretch_table(%rip), %r8\n"
    "1:	imul	%rdx, %rax\n"
    "	add	$12345, %rax\n"
    "	mov	%rax, %rcx\n"
    "	shr	$62, %rcx\n"
    "	call	*(%r8, %rcx, 8)\n"
    "	bt	$40, %rax\n"
    "	jc	2f\n"
    "	nop\n"
    "2:	dec	%rdi\n"
    "	jnz	1b\n"
    "	ret\n"
    "aux_stretch_3:\n"
    "	nop\n"
    "aux_stretch_2:\n"
    "	nop\n"
    "aux_stretch_1:\n"
    "	nop\n"
    "aux_stretch_0:\n"
    "	ret\n"
    "aux_stretch_end:\n"
    ".section .data.rel.ro, \"aw\"\n"
    ".balign 8\n"
    "aux_stretch_table:\n"
    "	.quad	aux_stretch_0, aux_stretch_1, aux_stretch_2, aux_stretch_3\n"
    ".text\n");

/* How many instructions that is, the first two and the last one too */
static uint64_t stretch_length(uint64_t turns, uint64_t *seed)
{
	uint64_t n = 3;

	for (; turns; turns--) {
		*seed = *seed * MULTIPLIER + INCREMENT;
		n += 10 + (*seed >> 62) + !(*seed >> 40 & 1);
	}
	return n;
}

/* ---- The task ---- */

struct worker {
	pid_t pid;
	int go, done;	/* a byte for each round */
	int leader, instructions, branches;
	struct trace trace;
};

static void work(int go, int done)
{
	uint64_t seed = 1;
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(go, &byte, 1) == 1) {
		seed = aux_stretch(ROUND, seed, MULTIPLIER);
		if (write(done, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void start_worker(struct worker *w)
{
	int go[2], done[2];

	cr_assert_eq(pipe2(go, O_CLOEXEC), 0);
	cr_assert_eq(pipe2(done, O_CLOEXEC), 0);
	w->pid = fork();
	cr_assert_geq(w->pid, 0);
	if (!w->pid) {
		close(go[1]);
		close(done[0]);
		work(go[0], done[1]);
	}
	close(go[0]);
	close(done[1]);
	w->go = go[1];
	w->done = done[0];
}

static int open_counter(const struct worker *w, uint64_t config)
{
	union raw_attr attr = raw_attr(PERF_TYPE_HARDWARE, config);

	attr.attr.disabled = 0;
	return event_open(attr, w->pid, .group = w->trace.fd);
}

static void trace_worker(struct worker *w)
{
	union raw_attr attr = trace_attr();

	attr.attr.enable_on_exec = 0;
	attr.attr.aux_watermark = BUFFER / 8;
	attr.attr.config |= 1 << 11; /* noretcomp: each return is told of */
	trace_ring_pages = 64;
	trace_open(&w->trace, &attr, w->pid, -1, BUFFER / TRACE_PAGE, PROT_READ | PROT_WRITE);
	w->instructions = open_counter(w, PERF_COUNT_HW_INSTRUCTIONS);
	w->branches = open_counter(w, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	/* All of them begin at once, while it waits in the kernel. */
	cr_assert_eq(ioctl(w->trace.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
}

/* ---- The reader ---- */

static void let_go(const struct worker *w)
{
	cr_assert_eq(write(w->go, "g", 1), 1);
}

static void add_up(struct decoded *sum, const struct decoded *d)
{
	cr_assert_eq(d->errors, 0, "%s", d->error);
	sum->instructions += d->instructions;
	sum->branches += d->branches;
	sum->inside += d->inside;
}

/* Take and decode what there is: each record's bytes begin anew. */
static void drain(struct worker *w, uint8_t *copy, struct decoded *sum)
{
	struct trace *t = &w->trace;
	uint64_t head = __atomic_load_n(&t->page->aux_head, __ATOMIC_ACQUIRE);
	uint64_t tail = t->page->aux_tail;
	size_t n = head - tail, first = t->size - tail % t->size;
	struct decoded d;

	cr_assert_leq(n, t->size);
	if (!n)
		return;
	if (first > n)
		first = n;
	memcpy(copy, t->aux + tail % t->size, first);
	memcpy(copy + first, t->aux, n - first);
	__atomic_store_n(&t->page->aux_tail, head, __ATOMIC_RELEASE);
	trace_records(t);
	cr_assert_eq(t->truncated, 0);
	d = trace_decode(copy, n);
	add_up(sum, &d);
}

static double now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec + at.tv_nsec / 1e9;
}

Test(aux_stress, every_byte_decodes)
{
	const uint64_t want = getenv("SAMPLING_STRESS") ? 100 * MB + 1 : 2 * MB;
	uint8_t *copy = malloc(BUFFER);
	uint64_t seed = 1, known = 0;
	struct decoded sum = { 0 };
	unsigned int rounds = 0;
	struct worker w;
	double start = now();
	char byte;

	decode_from = (uintptr_t)aux_stretch;
	decode_to = (uintptr_t)aux_stretch_end - 1;
	start_worker(&w);
	decode_self();
	trace_worker(&w);
	/* It is one round ahead: two and the watermark are less than the buffer. */
	let_go(&w);
	while (w.trace.bytes < want) {
		let_go(&w);
		cr_assert_eq(read(w.done, &byte, 1), 1);
		rounds++;
		known += stretch_length(ROUND, &seed);
		drain(&w, copy, &sum);
	}
	cr_assert_eq(read(w.done, &byte, 1), 1);
	rounds++;
	known += stretch_length(ROUND, &seed);
	close(w.go);
	cr_assert_eq(waitpid(w.pid, NULL, 0), w.pid);
	drain(&w, copy, &sum);
	trace_records(&w.trace);
	cr_assert_eq(w.trace.bytes, w.trace.page->aux_head);
	cr_assert_eq(sum.inside, known, "%lu instructions of the loop, %lu executed", sum.inside,
		     known);
	cr_assert_eq(sum.instructions, raw_read(w.instructions));
	cr_assert_eq(sum.branches, raw_read(w.branches));
	fprintf(stderr,
		"%lu bytes in %u pieces, %u rounds: %lu instructions, %lu branches, no error, in %.0f s\n",
		w.trace.bytes, w.trace.records, rounds, sum.instructions, sum.branches,
		now() - start);
	trace_close(&w.trace);
	pt_image_free(decode_image);
	free(copy);
}
