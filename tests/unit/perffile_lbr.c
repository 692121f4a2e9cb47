// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who called, by the calls that the CPU noted (LBR call stack): in user mode, behind a system call,
 * and where the sample is not in the function that the last call led to.
 */
/* sources: $(READER) $(SYMBOLS) */
/* libs: -ldw -lelf -lstdc++ -liberty -lcap */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "perffile_self.h"

#define PID	70

struct call {
	uint64_t from;
	uint64_t to;
};

/* Functions of this program: addresses in them stand for places of a recorded one's. */
__attribute__((noinline, used)) static int leaf(int n) { return n * 7 + 1; }
__attribute__((noinline, used)) static int middle(int n) { return leaf(n) * 3 + 1; }
__attribute__((noinline, used)) static int top(int n) { return middle(n) * 5 + 1; }

#define START(function)	((uint64_t)(uintptr_t)(function))
#define IN(function)	(START(function) + 1)

static struct build begin(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_id_all = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_IDENTIFIER,
		.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK,
	};
	struct build build;

	build_begin(&build, &attr, 1);
	build_own_maps(&build, PID);
	return build;
}

static void build_noted_sample(struct build *build, uint16_t mode, uint64_t ip, const uint64_t *chain,
			 size_t chained, const struct call *calls, size_t count)
{
	size_t at = build_record(build, PERF_RECORD_SAMPLE, mode);

	build_word(build, build_id(0, 0));
	build_word(build, ip);
	build_half(build, PID);
	build_half(build, PID);
	build_word(build, 2);
	build_word(build, 1);	/* the period */
	build_word(build, chained);
	for (size_t i = 0; i < chained; i++)
		build_word(build, chain[i]);
	build_word(build, count);
	for (size_t i = 0; i < count; i++) {
		build_word(build, calls[i].from);
		build_word(build, calls[i].to);
		build_word(build, 0);
	}
	build_record_end(build, at);
}

/* A sample in user mode: what frame pointers tell is wrong, and ends with the address of top(). */
static void build_user_sample(struct build *build, uint64_t ip, const struct call *calls,
			      size_t count)
{
	const uint64_t chain[] = { (uint64_t)PERF_CONTEXT_USER, ip, IN(top) };

	build_noted_sample(build, PERF_RECORD_MISC_USER, ip, chain, 3, calls, count);
}

/* The next sample's functions, the innermost first, are @names; "" is any. */
static void calls_are(struct samples *samples, const char *const *names)
{
	size_t count = 0;

	cr_assert(next_sample(samples));
	for (; names[count]; count++) {
		cr_assert_lt(count, samples->frame_count, "no %s", names[count]);
		if (names[count][0])
			cr_assert_str_eq(samples_place_name(samples, &samples->frames[count]),
					 names[count]);
	}
	cr_assert_eq(samples->frame_count, count, "%zu frames, not %zu", samples->frame_count, count);
}

#define CALLS_ARE(samples, ...) calls_are(samples, (const char *const[]){ __VA_ARGS__, NULL })

static const struct call deep[] = {
	{ IN(middle), START(leaf) }, { IN(top), START(middle) },
};

Test(perffile_lbr, the_calls_that_were_noted_are_the_callers)
{
	struct build build = begin();
	struct samples *samples;

	build_user_sample(&build, IN(leaf), deep, 2);
	build_user_sample(&build, IN(leaf), deep, 1);
	samples = open_built(&build, true);
	CALLS_ARE(samples, "leaf", "middle", "top");
	cr_assert_eq(samples->frames[1].ip, IN(middle));
	CALLS_ARE(samples, "leaf", "middle");
	samples_close(samples);
}

Test(perffile_lbr, without_a_call_the_chain_is_taken)
{
	struct build build = begin();
	struct samples *samples;

	build_user_sample(&build, IN(leaf), NULL, 0);
	samples = open_built(&build, true);
	CALLS_ARE(samples, "leaf", "top");
	samples_close(samples);
}

/* From the call until the sample, the function may have returned, or jumped to another one's. */
Test(perffile_lbr, what_has_returned_or_jumped_is_not_called_twice)
{
	struct build build = begin();
	struct samples *samples;

	build_user_sample(&build, IN(middle), deep, 2);
	build_user_sample(&build, IN(calls_are), deep, 2);
	samples = open_built(&build, true);
	CALLS_ARE(samples, "middle", "top");
	CALLS_ARE(samples, "calls_are", "leaf", "middle", "top");
	samples_close(samples);
}

Test(perffile_lbr, behind_a_system_call_the_kernels_chain_comes_first)
{
	const uint64_t kernel = 0xffffffff81000010;
	const uint64_t chain[] = {
		(uint64_t)PERF_CONTEXT_KERNEL, kernel, kernel + 0x100,
		(uint64_t)PERF_CONTEXT_USER, IN(leaf), IN(top),
	};
	struct build build = begin();
	struct samples *samples;

	build_noted_sample(&build, PERF_RECORD_MISC_KERNEL, kernel, chain, 6, deep, 2);
	samples = open_built(&build, true);
	CALLS_ARE(samples, "", "", "leaf", "middle", "top");
	cr_assert_eq(samples->frames[2].ip, IN(leaf));
	samples_close(samples);
}

#define KERNEL	0xffffffff81000010ull

/* Calls of before are no callers of a kernel thread, nor those of the host of a guest. */
Test(perffile_lbr, a_chain_without_user_space_has_no_callers_there)
{
	const uint64_t kernel[] = { (uint64_t)PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100 };
	const uint64_t guest[] = {
		(uint64_t)PERF_CONTEXT_GUEST, (uint64_t)PERF_CONTEXT_GUEST_USER, 0x1000, 0x2000,
	};
	struct build build = begin();
	struct samples *samples;

	build_noted_sample(&build, PERF_RECORD_MISC_KERNEL, KERNEL, kernel, 3, deep, 2);
	build_noted_sample(&build, PERF_RECORD_MISC_GUEST_USER, 0x1000, guest, 4, deep, 2);
	samples = open_built(&build, true);
	CALLS_ARE(samples, "", "");
	CALLS_ARE(samples, "", "");
	samples_close(samples);
}

/* -j u,k,stack: who called in the kernel is in its own chain. */
Test(perffile_lbr, calls_in_the_kernel_are_not_the_users)
{
	const uint64_t chain[] = {
		(uint64_t)PERF_CONTEXT_KERNEL, KERNEL, KERNEL + 0x100,
		(uint64_t)PERF_CONTEXT_USER, IN(leaf), IN(top),
	};
	const struct call calls[] = {
		{ KERNEL + 0x100, KERNEL }, deep[0], { KERNEL, KERNEL + 0x100 }, { 0, 0 }, deep[1],
	};
	struct build build = begin();
	struct samples *samples;

	build_noted_sample(&build, PERF_RECORD_MISC_KERNEL, KERNEL, chain, 6, calls, 5);
	samples = open_built(&build, true);
	CALLS_ARE(samples, "", "", "leaf", "middle", "top");
	samples_close(samples);
}

__attribute__((noinline, used, no_sanitize("address", "undefined")))
static int calls_libc(void)
{
	return getppid() + 1;
}

/* What calls_libc() calls: by its first call instruction */
static uint64_t stub_of_getppid(void)
{
	const uint8_t *at = (const uint8_t *)calls_libc;
	int32_t distance;

	while (*at != 0xe8)
		at++;
	memcpy(&distance, at + 1, sizeof(distance));
	return (uint64_t)(uintptr_t)at + 5 + (uint64_t)(int64_t)distance;
}

Test(perffile_lbr, a_stub_is_no_caller)
{
	const struct call calls[] = {
		{ IN(calls_libc) + 4, stub_of_getppid() }, { IN(top), START(calls_libc) },
	};
	struct build build = begin();
	struct samples *samples;

	build_user_sample(&build, (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, "getppid"), calls, 2);
	samples = open_built(&build, true);
	CALLS_ARE(samples, "", "calls_libc", "top");
	samples_close(samples);
}

Test(perffile_lbr, unknown_functions_of_two_files_are_not_one)
{
	const struct build_trailer early = { .pid = PID, .tid = PID, .time = 1 };
	const struct call calls[] = { { 0x100010, START(leaf) }, { IN(top), 0x100000 } };
	struct build build = begin();
	struct samples *samples;

	build_mmap(&build, PID, 0x100000, 0x1000, 0, "/nowhere/program", NULL, &early);
	build_mmap(&build, PID, 0x200000, 0x1000, 0, "/nowhere/library", NULL, &early);
	build_user_sample(&build, 0x200010, calls, 2);
	samples = open_built(&build, true);
	CALLS_ARE(samples, "[unknown]", "leaf", "[unknown]", "top");
	samples_close(samples);
}

/* Its address is of the event, its chain of the interrupt, some instructions later. */
Test(perffile_lbr, a_precise_sample_is_not_its_own_caller)
{
	const uint64_t chain[] = {
		(uint64_t)PERF_CONTEXT_USER, IN(leaf) + 1, IN(middle), IN(top),
	};
	struct build build = begin();
	struct samples *samples;

	build_noted_sample(&build, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, IN(leaf), chain,
			   4, NULL, 0);
	samples = open_built(&build, true);
	CALLS_ARE(samples, "leaf", "middle", "top");
	samples_close(samples);
}

Test(perffile_lbr, long_stacks_are_cut_off)
{
	static struct call calls[2 * SAMPLES_FRAMES_MAX];
	struct build build = begin();
	struct samples *samples;

	for (size_t i = 0; i < 2 * SAMPLES_FRAMES_MAX; i++)
		calls[i] = (struct call){ IN(middle), START(leaf) };
	build_user_sample(&build, IN(leaf), calls, 2 * SAMPLES_FRAMES_MAX);
	samples = open_built(&build, true);
	cr_assert(next_sample(samples));
	cr_assert_eq(samples->frame_count, SAMPLES_FRAMES_MAX);
	samples_close(samples);
}
