// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one sample costs, from the overflow to the return to what was interrupted: work
 * with samples against the same work with an event that counts only.
 */
#include <stdbool.h>
#include <string.h>

#include <sys/mman.h>
#include <sys/syscall.h>

#include "bench.h"

#define BATCHES		41
#define PERIOD		20000
#define SAMPLES		50	/* of a batch, about */
#define NEVER		(1ull << 40)
#define PAGES		256	/* so many that no reader is to be woken */
#define PAGE		4096
#define FRAMES		9	/* and the place itself: a call chain of 10 */

/*
 * bench_frames(frames, rounds, syscalls): call itself until there are so many frames, the
 * first of which is the last for who follows frame pointers; then @rounds times two
 * instructions, or system calls if @syscalls is set.
 */
extern void bench_frames(long frames, long rounds, long syscalls);

asm(".pushsection .text\n"
    "bench_frames:\n"
    "	push	%rbp\n"
    "	xor	%ebp, %ebp\n"
    "	call	1f\n"
    "	pop	%rbp\n"
    "	ret\n"
    "1:	push	%rbp\n"
    "	mov	%rsp, %rbp\n"
    "	dec	%rdi\n"
    "	jz	2f\n"
    "	call	1b\n"
    "	pop	%rbp\n"
    "	ret\n"
    "2:	test	%rdx, %rdx\n"
    "	jnz	4f\n"
    "3:	dec	%rsi\n"
    "	jnz	3b\n"
    "	pop	%rbp\n"
    "	ret\n"
    "4:	mov	$110, %eax\n"	/* getppid */
    "	syscall\n"
    "	dec	%rsi\n"
    "	jnz	4b\n"
    "	pop	%rbp\n"
    "	ret\n"
    ".popsection");

/**
 * struct kind - what is sampled
 * @row: its name in tests/bench/rows.
 * @type: the fields of a sample.
 * @kernel: system calls, in the kernel; else a loop in user mode.
 */
struct kind {
	const char *row;
	uint64_t type;
	bool kernel;
};

#define FIELDS	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |	\
		 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static const struct kind kinds[] = {
	{ "sample_ip", PERF_SAMPLE_IP, false },
	{ "sample_fields", FIELDS, false },
	{ "sample_user_chain", FIELDS | PERF_SAMPLE_CALLCHAIN, false },
	{ "sample_kernel_chain", FIELDS | PERF_SAMPLE_CALLCHAIN, true },
};

struct sampled {
	int fd;
	struct perf_event_mmap_page *page;
	uint64_t tail;
};

static void open_sampled(struct sampled *s, const struct kind *kind, uint64_t period)
{
	struct perf_event_attr attr = bench_attr(0);
	void *map;

	attr.disabled = 1;
	attr.sample_period = period;
	attr.sample_type = kind->type;
	attr.exclude_kernel = !kind->kernel;
	attr.exclude_user = kind->kernel;
	s->fd = bench_open(&attr, 0, -1, -1);
	map = mmap(NULL, (1 + PAGES) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (map == MAP_FAILED)
		bench_fail("mapping a ring", 0);
	s->page = map;
	s->tail = 0;
}

static void close_sampled(struct sampled *s)
{
	munmap(s->page, (1 + PAGES) * PAGE);
	bench_close(s->fd);
}

/* Read what has come; how many samples that are. */
static unsigned int read_samples(struct sampled *s)
{
	uint64_t head = __atomic_load_n(&s->page->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)s->page + PAGE;
	struct perf_event_header header;
	unsigned int n = 0;

	while (s->tail != head) {
		memcpy(&header, data + s->tail % (PAGES * PAGE), sizeof(header));
		if (header.type != PERF_RECORD_SAMPLE)
			bench_fail("there are other records than samples", 0);
		s->tail += header.size;
		n++;
	}
	__atomic_store_n(&s->page->data_tail, head, __ATOMIC_RELEASE);
	return n;
}

static uint64_t time_work(const struct kind *kind)
{
	long rounds = kind->kernel ? PERIOD * SAMPLES / 200 : PERIOD * SAMPLES / 2;
	uint64_t start = bench_now();

	bench_frames(FRAMES, rounds, kind->kernel);
	return bench_now() - start;
}

static uint64_t time_without(const struct kind *kind)
{
	uint64_t taken[BATCHES];
	struct sampled s;

	open_sampled(&s, kind, NEVER);
	bench_enable(s.fd);
	for (unsigned int b = 0; b < BATCHES; b++)
		taken[b] = time_work(kind);
	close_sampled(&s);
	return bench_median(taken, BATCHES);
}

static void measure(const struct kind *kind)
{
	uint64_t without = time_without(kind), each[BATCHES], taken;
	struct sampled s;
	unsigned int n;

	open_sampled(&s, kind, PERIOD);
	bench_enable(s.fd);
	for (unsigned int b = 0; b < BATCHES; b++) {
		read_samples(&s);
		taken = time_work(kind);
		n = read_samples(&s);
		if (n < SAMPLES / 2)
			bench_fail("an event does not sample", 0);
		each[b] = (taken - without) / n;
	}
	close_sampled(&s);
	bench_row(kind->row, bench_median(each, BATCHES));
}

void bench_samples(void)
{
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		measure(&kinds[i]);
}
