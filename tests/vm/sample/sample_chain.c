// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains of user space: frames of which every one is known, how long a chain is, and
 * frames as nobody should have them. A task that has a wrong frame pointer is not disturbed,
 * and what there was before the wrong one is told.
 */
#include "records.h"

#include <sys/resource.h>

TestSuite(sample_chain, .init = sampling_init, .fini = sampling_fini);

#define PERIOD	1000
#define ROUNDS	10000	/* of two instructions: 20 samples */

/*
 * spin_with_frame(fd, rounds, fp): ENABLE, a loop with that frame pointer, DISABLE. The
 * frame pointer is @fp from spin_first to spin_end; or if that is 1, its own frame.
 */
asm(".pushsection .text\n"
    "spin_with_frame:\n"
    "	push	%rbp\n"
    "	cmp	$1, %rdx\n"
    "	cmove	%rsp, %rdx\n"
    "	mov	%rdx, %rbp\n"
    "	mov	%rsi, %r8\n"
    "	mov	$16, %eax\n"		/* ioctl */
    "	mov	$0x2400, %esi\n"	/* PERF_EVENT_IOC_ENABLE */
    "	xor	%edx, %edx\n"
    "	syscall\n"
    "spin_first:\n"
    "	dec	%r8\n"
    "	jnz	spin_first\n"
    "	mov	$0x2401, %esi\n"	/* PERF_EVENT_IOC_DISABLE */
    "	mov	$16, %eax\n"
    "	syscall\n"
    "spin_end:\n"
    "	pop	%rbp\n"
    "	ret\n"
    /* outer(fd, rounds): calls inner, and that spin_with_frame, as a compiler would */
    "outer:\n"
    "	push	%rbp\n"
    "	mov	%rsp, %rbp\n"
    "	call	inner\n"
    "outer_return:\n"
    "	pop	%rbp\n"
    "	ret\n"
    "inner:\n"
    "	push	%rbp\n"
    "	mov	%rsp, %rbp\n"
    "	mov	$1, %edx\n"
    "	call	spin_with_frame\n"
    "inner_return:\n"
    "	pop	%rbp\n"
    "	ret\n"
    ".popsection");

extern long spin_with_frame(long fd, uint64_t rounds, uintptr_t fp);
extern long outer(long fd, uint64_t rounds);
extern const uint8_t spin_first[], spin_end[], outer_return[], inner_return[];

static struct perf_event_attr chain_attr(unsigned int max_stack)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.sample_max_stack = max_stack;
	return attr;
}

/* All samples that were taken inside have this chain: the marker, the place, @ips. */
static void check_chains(const struct perf_event_attr *attr, struct ring *r,
			 const uint64_t *ips, unsigned int n)
{
	struct perf_event_header *header;
	unsigned int samples = 0;
	struct sample s;

	while ((header = ring_next(r))) {
		take_sample(attr, header, &s);
		if (s.ip < (uintptr_t)spin_first || s.ip > (uintptr_t)spin_end)
			continue;
		samples++;
		cr_assert_eq(s.nr_chain, 2 + n, "%lu values, not %u", s.nr_chain, 2 + n);
		cr_assert_eq(s.chain[0], PERF_CONTEXT_USER);
		cr_assert_eq(s.chain[1], s.ip);
		for (unsigned int i = 0; i < n; i++)
			cr_assert_eq(s.chain[2 + i], ips[i], "%u: %#lx, not %#lx", i,
				     s.chain[2 + i], ips[i]);
	}
	cr_assert_geq(samples, 2 * ROUNDS / PERIOD - 1);
}

static void expect_chain(unsigned int max_stack, uintptr_t fp, const uint64_t *ips,
			 unsigned int n)
{
	struct perf_event_attr attr = chain_attr(max_stack);
	AUTO_CLOSE int fd = event_open(attr);
	struct ring r;

	ring_map(&r, fd, 64);
	cr_assert_eq(spin_with_frame(fd, ROUNDS, fp), 0);
	check_chains(&attr, &r, ips, n);
	ring_unmap(&r);
}

/* ---- Frames as they should be ---- */

Test(sample_chain, callers_of_a_function)
{
	struct perf_event_attr attr = chain_attr(3);
	const uint64_t ips[] = { (uintptr_t)inner_return, (uintptr_t)outer_return };
	int fd = event_open(attr);
	struct ring r;

	ring_map(&r, fd, 64);
	cr_assert_eq(outer(fd, ROUNDS), 0);
	check_chains(&attr, &r, ips, 2);
}

struct frame {
	uint64_t next, ip;
};

#define DEPTH	200
#define IP(i)	(0x10000ul + (i))

static struct frame frames[DEPTH];
static uint64_t frame_ips[DEPTH];

/* @n frames that lead to each other; the last one leads to 0 */
static void make_frames(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		frames[i].next = i + 1 < n ? (uintptr_t)&frames[i + 1] : 0;
		frames[i].ip = frame_ips[i] = IP(i);
	}
}

Test(sample_chain, frames_to_their_end)
{
	static const unsigned int depths[] = { 1, 2, 10, 100 };

	for (unsigned int i = 0; i < RAW_ARRAY_SIZE(depths); i++) {
		make_frames(depths[i]);
		expect_chain(0, (uintptr_t)frames, frame_ips, depths[i]);
	}
}

Test(sample_chain, as_many_addresses_as_are_wanted)
{
	make_frames(DEPTH);
	for (unsigned int max = 2; max <= 20; max += 3)
		expect_chain(max, (uintptr_t)frames, frame_ips, max - 1);
	expect_chain(127, (uintptr_t)frames, frame_ips, 126);
}

Test(sample_chain, default_depth)
{
	make_frames(DEPTH);
	expect_chain(0, (uintptr_t)frames, frame_ips, 126);
}

/* ---- Frames at the edges of what is mapped ---- */

static uint8_t *map_page_before_a_hole(void)
{
	uint8_t *map = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(munmap(map + PAGE, PAGE), 0);
	memset(map, 0, PAGE);
	return map;
}

Test(sample_chain, frame_ends_with_its_mapping)
{
	struct frame *first = (void *)map_page_before_a_hole();
	struct frame *last = first + PAGE / sizeof(*first) - 1;
	const uint64_t ips[] = { 0x4441, 0x4442 };

	*first = (struct frame) { (uintptr_t)last, ips[0] };
	*last = (struct frame) { 0, ips[1] };
	expect_chain(0, (uintptr_t)first, ips, 2);
	expect_chain(0, (uintptr_t)last, ips + 1, 1);
}

Test(sample_chain, frame_is_only_half_mapped)
{
	uint8_t *map = map_page_before_a_hole();
	struct frame *first = (void *)map;
	const uint64_t ips[] = { 0x3331 };

	*first = (struct frame) { (uintptr_t)map + PAGE - 8, ips[0] };
	expect_chain(0, (uintptr_t)first, ips, 1);
	expect_chain(0, (uintptr_t)map + PAGE - 8, NULL, 0);
	expect_chain(0, (uintptr_t)map + PAGE, NULL, 0);
}

static long minor_faults(void)
{
	struct rusage usage;

	cr_assert_eq(getrusage(RUSAGE_THREAD, &usage), 0);
	return usage.ru_minflt;
}

/* A sample brings nothing into memory. */
Test(sample_chain, page_was_never_touched)
{
	struct frame *nowhere = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const uint64_t ips[] = { 0x5551 };
	unsigned char resident;
	long before;

	cr_assert_neq(nowhere, MAP_FAILED);
	frames[0] = (struct frame) { (uintptr_t)nowhere, ips[0] };
	expect_chain(0, (uintptr_t)frames, ips, 1);
	cr_assert_eq(mincore(nowhere, PAGE, &resident), 0);
	cr_assert_eq(resident & 1, 0);
	before = minor_faults();
	*(volatile uint64_t *)nowhere = 1;
	cr_assert_geq(minor_faults(), before + 1);
	frames[0].next = 0;
}

Test(sample_chain, page_may_not_be_read)
{
	uint8_t *map = map_page_before_a_hole();

	cr_assert_eq(mprotect(map, PAGE, PROT_NONE), 0);
	expect_chain(0, (uintptr_t)map, NULL, 0);
}

/* ---- Frame pointers that are none ---- */

Test(sample_chain, frame_pointer_leads_nowhere)
{
	static const uint64_t nowhere[] = {
		0, 8, 0xff8, 0x7ffffffff000, 0x7ffffffff008, 0x7ffffffffff8,
		0x800000000000, 0x1234567812345678, 0x7ffffffffffffff8,
		0x8000000000000000, 0xffff800000000000, 0xffffffff81000000,
		0xfffffffffffffff0, 0xfffffffffffffff8, -1ull,
	};
	const uint64_t ips[] = { 0x6661 };

	for (unsigned int i = 0; i < RAW_ARRAY_SIZE(nowhere); i++) {
		expect_chain(0, nowhere[i], NULL, 0);
		frames[0] = (struct frame) { nowhere[i], ips[0] };
		expect_chain(0, (uintptr_t)frames, ips, 1);
	}
}

/* perf goes round until it has as many as are wanted. */
Test(sample_chain, frame_leads_to_itself)
{
	uint64_t ips[126];
	unsigned int i;

	for (i = 0; i < RAW_ARRAY_SIZE(ips); i++)
		ips[i] = 0x7771;
	frames[0] = (struct frame) { (uintptr_t)frames, ips[0] };
	expect_chain(0, (uintptr_t)frames, ips, is_witness() ? 126 : 1);
}

/* ---- Loops and frames that are not aligned: perf follows them ---- */

/* Every frame of a loop is told at least once, and the chain ends before its limit. */
static void check_loop(unsigned int before, unsigned int length)
{
	struct perf_event_attr attr = chain_attr(0);
	int fd = event_open(attr);
	struct perf_event_header *header;
	unsigned int samples = 0;
	struct sample s;
	struct ring r;

	make_frames(before + length);
	frames[before + length - 1].next = (uintptr_t)&frames[before];
	ring_map(&r, fd, 64);
	cr_assert_eq(spin_with_frame(fd, ROUNDS, (uintptr_t)frames), 0);
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		if (s.ip < (uintptr_t)spin_first || s.ip > (uintptr_t)spin_end)
			continue;
		samples++;
		cr_assert(s.nr_chain >= 2 + before + length && s.nr_chain <= 128,
			  "%u + %u: %lu", before, length, s.nr_chain);
		if (!is_witness())
			cr_assert_leq(s.nr_chain, 2 + 3 * (before + length));
		for (unsigned int i = 2; i < 2 + before + length; i++)
			cr_assert_eq(s.chain[i], IP(i - 2));
	}
	cr_assert_geq(samples, 2 * ROUNDS / PERIOD - 1);
	ring_unmap(&r);
	close(fd);
}

Test(sample_chain, loops_end)
{
	for (unsigned int before = 0; before < 6; before++)
		for (unsigned int length = 1; length < 8; length += 2)
			check_loop(before, length);
}

Test(sample_chain, frame_is_not_aligned)
{
	static uint64_t words[4];

	for (unsigned int i = 1; i < 8 && !is_witness(); i++)
		expect_chain(0, (uintptr_t)words + i, NULL, 0);
}
