// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who called, by copies of stacks: this program's own, of which the run-time of the
 * compiler tells the truth, ones that are cut off, and forged ones.
 */
/* sources: $(READER) $(SYMBOLS) */
/* libs: -ldw -lelf -lstdc++ -liberty -lcap */
#define _GNU_SOURCE
#include <asm/perf_regs.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

#include <criterion/criterion.h>

#include "perffile_self.h"

#define PID	70
#define REGS	0xff0fffULL
#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	      PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER | \
	      PERF_SAMPLE_IDENTIFIER)
#define STACK_MAX	60000
#define DEPTH_MAX	64

/* What a sample of this program would have, and who called as the compiler's run-time finds it */
struct capture {
	ucontext_t context;
	uint8_t stack[STACK_MAX];
	size_t size;
	uint64_t callers[DEPTH_MAX];
	size_t depth;
};

/* The order of the numbers in a ucontext, by those of samples; segments are left out. */
static const int order[] = {
	REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_RIP,
	REG_EFL, -1, -1, REG_R8, REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
};

/* The sanitizer would not let other functions' memory be read. */
__attribute__((no_sanitize("address"), noinline))
static void copy_stack(struct capture *capture)
{
	const volatile uint8_t *sp =
		(const uint8_t *)capture->context.uc_mcontext.gregs[REG_RSP];
	uint64_t start, end = 0;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 &&
		    (uint64_t)sp >= start && (uint64_t)sp < end)
			break;
	fclose(maps);
	capture->size = end - (uint64_t)sp;
	if (capture->size > STACK_MAX)
		capture->size = STACK_MAX;
	capture->size &= ~7UL;
	for (size_t i = 0; i < capture->size; i++)
		capture->stack[i] = sp[i];
}

static _Unwind_Reason_Code take_caller(struct _Unwind_Context *context, void *arg)
{
	struct capture *capture = arg;

	if (capture->depth < DEPTH_MAX)
		capture->callers[capture->depth++] = _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

__attribute__((noinline)) static int inner(struct capture *capture, int n)
{
	cr_assert_eq(getcontext(&capture->context), 0);
	_Unwind_Backtrace(take_caller, capture);
	copy_stack(capture);
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static int line_of_between, line_of_outer;

static inline __attribute__((always_inline)) int between(struct capture *capture, int n)
{
	line_of_between = __LINE__ + 1;
	return inner(capture, n + 1);
}

__attribute__((noinline)) static int outer(struct capture *capture, int n)
{
	volatile char room[300];

	room[n] = 1;
	line_of_outer = __LINE__ + 1;
	n = between(capture, n) + room[n];
	__asm__ volatile("" : "+r"(n));
	return n;
}

static struct capture *capture_new(void)
{
	struct capture *capture = calloc(1, sizeof(*capture));

	cr_assert_not_null(capture);
	cr_assert_eq(outer(capture, 3), 6);
	cr_assert_gt(capture->depth, 3);
	return capture;
}

static void build_stack_sample(struct build *build, const uint64_t *regs, uint64_t abi,
			       const uint8_t *stack, size_t size)
{
	size_t at = build_record(build, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	build_word(build, build_id(0, 0));
	build_word(build, regs[PERF_REG_X86_IP]);
	build_half(build, PID);
	build_half(build, PID);
	build_word(build, 2);
	build_word(build, 1);	/* the period */
	build_word(build, 0);	/* the kernel's chain */
	build_word(build, abi);
	for (unsigned int i = 0; i < 20; i++)
		build_word(build, regs[i]);
	build_word(build, size);
	build_bytes(build, stack, size);
	if (size)
		build_word(build, size);
	build_record_end(build, at);
}

static void regs_of(const struct capture *capture, uint64_t *regs)
{
	for (unsigned int i = 0; i < 20; i++)
		regs[i] = order[i] < 0 ? 0 :
			  (uint64_t)capture->context.uc_mcontext.gregs[order[i]];
}

static struct build begin(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
		.sample_regs_user = REGS, .sample_stack_user = STACK_MAX,
		.exclude_callchain_user = 1,
	};
	struct build build;

	build_begin(&build, &attr, 1);
	build_own_maps(&build, PID);
	return build;
}

static void is_called(struct samples *samples, size_t frame, const char *name)
{
	const struct place *place = &samples->frames[frame];

	cr_assert_str_eq(samples_place_name(samples, place), name, "frame %zu: %s", frame,
			 samples_place_name(samples, place));
}

/* A recording of one sample, at which reading stands: @size bytes of the stack that was taken */
static struct samples *open_sample(const struct capture *capture, uint64_t abi, size_t size)
{
	struct build build = begin();
	struct samples *samples;
	uint64_t regs[20];

	regs_of(capture, regs);
	build_stack_sample(&build, regs, abi, capture->stack, size);
	samples = open_built(&build, true);
	cr_assert(next_sample(samples));
	return samples;
}

Test(perffile_callgraph, callers_are_what_exceptions_would_find)
{
	struct capture *capture = capture_new();
	struct samples *samples = open_sample(capture, PERF_SAMPLE_REGS_ABI_64, capture->size);
	uint64_t regs[20];
	size_t count;

	regs_of(capture, regs);
	is_called(samples, 0, "inner");
	is_called(samples, 1, "outer");
	is_called(samples, 2, "capture_new");
	/* The innermost is where getcontext() returned to. */
	cr_assert_eq(samples->frames[0].ip, regs[PERF_REG_X86_IP]);
	count = samples->frame_count;
	if (count > capture->depth)
		count = capture->depth;
	for (size_t i = 1; i < count; i++)
		cr_assert_eq(samples->frames[i].ip, capture->callers[i] - 1,
			     "frame %zu of %zu is at %#" PRIx64 ", not %#" PRIx64, i, count,
			     samples->frames[i].ip, capture->callers[i]);
	cr_assert_gt(count, 4);
	samples_close(samples);
	free(capture);
}

Test(perffile_callgraph, a_stack_that_was_cut_off_is_followed_as_far_as_it_goes)
{
	struct capture *capture = capture_new();
	struct build build = begin();
	struct samples *samples;
	uint64_t regs[20], whole[DEPTH_MAX];
	size_t sizes = 0, last = 0;

	regs_of(capture, regs);
	for (size_t size = 0; size <= 4096; size += 64, sizes++)
		build_stack_sample(&build, regs, PERF_SAMPLE_REGS_ABI_64, capture->stack, size);
	samples = open_built(&build, true);
	for (size_t i = 0; i < sizes; i++) {
		cr_assert(next_sample(samples));
		cr_assert_geq(samples->frame_count, last);
		cr_assert_lt(samples->frame_count, DEPTH_MAX);
		for (size_t n = 0; n < last; n++)
			cr_assert_eq(samples->frames[n].ip, whole[n]);
		last = samples->frame_count;
		for (size_t n = 0; n < last; n++)
			whole[n] = samples->frames[n].ip;
		if (!i)
			cr_assert_eq(last, 1);
	}
	cr_assert_gt(last, 3);
	samples_close(samples);
	free(capture);
}

/* A recording may come from anybody: each frame takes at least a word of the copy. */
Test(perffile_callgraph, forged_stacks_end)
{
	struct capture *capture = capture_new();
	struct build build = begin();
	struct samples *samples;
	uint64_t regs[20], seed = 7, ends[] = { 0, 8, UINT64_MAX, UINT64_MAX - 7, 1ULL << 63 };
	size_t frames = 0, count = 0;

	for (size_t i = 0; i < 400; i++) {
		uint64_t stack[64];

		regs_of(capture, regs);
		/* Words of the real stack, of the code, and any others */
		for (size_t n = 0; n < 64; n++) {
			uint64_t any = build_random(&seed);

			memcpy(&stack[n], capture->stack + any % 4096 / 8 * 8, 8);
			if (any >> 32 & 1)
				stack[n] = capture->callers[(any >> 33) % 4];
			else if (any >> 34 & 1)
				stack[n] = ends[(any >> 35) % 5];
		}
		if (i & 1)
			regs[build_random(&seed) % 20] = ends[build_random(&seed) % 5];
		if (i & 2)
			regs[PERF_REG_X86_IP] = capture->callers[i % 4];
		if (i & 4)
			regs[PERF_REG_X86_BP] = regs[PERF_REG_X86_SP] + build_random(&seed) % 64 * 8;
		build_stack_sample(&build, regs, i % 8 ? PERF_SAMPLE_REGS_ABI_64 :
				   PERF_SAMPLE_REGS_ABI_32, (uint8_t *)stack, sizeof(stack));
	}
	samples = open_built(&build, true);
	for (; next_sample(samples); count++) {
		cr_assert_leq(samples->frame_count, 64 + 2);
		frames += samples->frame_count;
	}
	cr_assert_eq(count, 400);
	/* They lead somewhere. */
	cr_assert_gt(frames, 450, "%zu", frames);
	samples_close(samples);
	free(capture);
}

Test(perffile_callgraph, no_registers_no_callers)
{
	struct capture *capture = capture_new();
	struct samples *samples = open_sample(capture, 7, 512);

	cr_assert_eq(samples->frame_count, 1);
	is_called(samples, 0, "inner");
	samples_close(samples);
	free(capture);
}

/* What a handler of signals returns to: nobody has called it. Nothing is before it. */
__asm__(".text\n\t.type before_handlers_end,@function\n"
	"before_handlers_end:\n\tret\n\t.size before_handlers_end,.-before_handlers_end\n\t"
	".p2align 5,0xcc\n\t.type handlers_end,@function\n"
	"handlers_end:\n\tmov $15,%eax\n\tsyscall\n\t.size handlers_end,.-handlers_end");
extern const char before_handlers_end[], handlers_end[];

static const char *called_before(struct samples *samples, const char *address)
{
	struct place place;

	tasks_place(samples->tasks, tasks_thread(samples->tasks, PID, PID), PERF_RECORD_MISC_USER,
		    (uintptr_t)address, true, &place);
	cr_assert_eq(place.ip, (uintptr_t)address);
	return place.symbol ? place.symbol->raw : "";
}

Test(perffile_callgraph, a_function_that_signals_return_to_has_its_name)
{
	struct capture *capture = capture_new();
	struct samples *samples = open_sample(capture, 7, 512);

	cr_assert_geq(handlers_end - before_handlers_end, 3, "a gap");
	cr_expect_str_eq(called_before(samples, handlers_end), "handlers_end");
	cr_expect_str_eq(called_before(samples, handlers_end + 1), "handlers_end");
	cr_expect_str_eq(called_before(samples, before_handlers_end + 1), "before_handlers_end");
	cr_expect_str_eq(called_before(samples, before_handlers_end + 2), "", "the gap");
	samples_close(samples);
	free(capture);
}

static void is_at_line(struct samples *samples, size_t frame, int line)
{
	const char *text = symbols_source_line(samples->symbols, &samples->frames[frame]);
	char end[64];

	snprintf(end, sizeof(end), "perffile_callgraph.c:%d", line);
	cr_assert_not_null(text);
	cr_assert_not_null(strstr(text, end), "frame %zu: %s, not %s", frame, text, end);
}

Test(perffile_callgraph, inlined_functions_come_before_those_that_have_their_code)
{
	struct capture *capture = capture_new();
	struct build build = begin();
	struct samples *samples;
	uint64_t regs[20];

	regs_of(capture, regs);
	for (size_t i = 0; i < 2; i++)
		build_stack_sample(&build, regs, PERF_SAMPLE_REGS_ABI_64, capture->stack,
				   capture->size);
	samples = open_built(&build, false);
	/* The second time it is known already. */
	for (size_t i = 0; i < 2; i++) {
		cr_assert(next_sample(samples));
		is_called(samples, 0, "inner");
		is_called(samples, 1, "between (inlined)");
		is_called(samples, 2, "outer");
		is_called(samples, 3, "capture_new");
		cr_assert_eq(samples->self, 0);
		cr_assert_eq(samples->frames[1].ip, samples->frames[2].ip);
		is_at_line(samples, 1, line_of_between);
		is_at_line(samples, 2, line_of_outer);
	}
	samples_close(samples);
	free(capture);
}

static const char *first_name(const struct capture *capture, const char *root,
			      const char *debuginfod)
{
	const struct samples_options options = { .root = root, .debuginfod = debuginfod };
	struct build build = begin();
	struct samples *samples;
	static char name[64];
	uint64_t regs[20];

	regs_of(capture, regs);
	build_stack_sample(&build, regs, PERF_SAMPLE_REGS_ABI_64, capture->stack, capture->size);
	samples = open_built_with(&build, options);
	cr_assert(next_sample(samples));
	snprintf(name, sizeof(name), "%s", samples_place_name(samples, &samples->frames[0]));
	samples_close(samples);
	return name;
}

/* The server is a folder. Nobody is told what was recorded, whatever the environment says. */
/*
 * A unit as compilers of Rust and clang make them: functions, and what is put into them, are within
 * namespaces, which have no addresses. One is put into a block of another; the second function
 * begins where the first does, as the linker leaves it if both have the same code.
 */
__asm__(".pushsection .text.of_a_namespace,\"ax\"\n"
	".type of_a_namespace,@function\n"
	"of_a_namespace:\n\tnop\n\tnop\n\tnop\n\tnop\n\tret\n"
	"\t.size of_a_namespace,.-of_a_namespace\n"
	".popsection\n"
	".pushsection .debug_abbrev,\"\"\n"
	".Lour_abbrev:\n"
	"\t.byte 1, 0x11, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0\n"	/* unit */
	"\t.byte 2, 0x39, 1, 0x03, 0x08, 0, 0\n"				/* namespace */
	"\t.byte 3, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0\n"	/* function */
	"\t.byte 4, 0x1d, 1, 0x31, 0x13, 0x11, 0x01, 0x12, 0x06, 0x59, 0x0b, 0, 0\n" /* inlined */
	"\t.byte 5, 0x2e, 0, 0x03, 0x08, 0x20, 0x0b, 0, 0\n"			/* its origin */
	"\t.byte 6, 0x0b, 1, 0x11, 0x01, 0x12, 0x06, 0, 0\n"			/* block */
	"\t.byte 0\n"
	".popsection\n"
	".pushsection .debug_info,\"\"\n"
	".Lour_unit:\n"
	"\t.long .Lour_end-.Lour_version\n"
	".Lour_version:\n"
	"\t.short 4\n\t.long .Lour_abbrev\n\t.byte 8\n"
	"\t.uleb128 1\n\t.asciz \"ours\"\n\t.quad of_a_namespace\n\t.long 5\n"
	"\t.uleb128 2\n\t.asciz \"outermost\"\n"
	".Lour_small:\n"
	"\t.uleb128 5\n\t.asciz \"small\"\n\t.byte 1\n"
	".Lour_tiny:\n"
	"\t.uleb128 5\n\t.asciz \"tiny\"\n\t.byte 1\n"
	"\t.uleb128 2\n\t.asciz \"inner\"\n"
	"\t.uleb128 3\n\t.asciz \"of_a_namespace\"\n\t.quad of_a_namespace\n\t.long 5\n"
	"\t.uleb128 6\n\t.quad of_a_namespace\n\t.long 4\n"
	"\t.uleb128 4\n\t.long .Lour_small-.Lour_unit\n\t.quad of_a_namespace+1\n\t.long 3\n\t.byte 7\n"
	"\t.uleb128 4\n\t.long .Lour_tiny-.Lour_unit\n\t.quad of_a_namespace+2\n\t.long 1\n\t.byte 8\n"
	"\t.byte 0, 0, 0, 0\n"
	"\t.uleb128 3\n\t.asciz \"its_twin\"\n\t.quad of_a_namespace\n\t.long 5\n\t.byte 0\n"
	"\t.byte 0, 0, 0\n"
	".Lour_end:\n"
	".popsection");
extern const char of_a_namespace[];

Test(perffile_callgraph, inlined_functions_are_found_in_namespaces)
{
	static const char *const names[][4] = {
		{ "of_a_namespace" },
		{ "small (inlined)", "of_a_namespace" },
		{ "tiny (inlined)", "small (inlined)", "of_a_namespace" },
		{ "small (inlined)", "of_a_namespace" },
		{ "of_a_namespace" },
	};
	struct build build = begin();
	struct samples *samples;
	uint64_t regs[20] = { 0 };

	for (size_t i = 0; i < 5; i++) {
		regs[PERF_REG_X86_IP] = (uintptr_t)of_a_namespace + i;
		build_stack_sample(&build, regs, PERF_SAMPLE_REGS_ABI_64, NULL, 0);
	}
	samples = open_built(&build, false);
	for (size_t i = 0; i < 5; i++) {
		cr_assert(next_sample(samples));
		for (size_t frame = 0; names[i][frame]; frame++) {
			cr_assert_lt(frame, samples->frame_count, "at %zu", i);
			is_called(samples, frame, names[i][frame]);
		}
	}
	samples_close(samples);
}

/* The compilers of Go and clang write no table of which unit has which addresses. */
Test(perffile_callgraph, lines_are_found_without_a_table_of_addresses)
{
	char path[] = "/tmp/callgraph-XXXXXX", command[128];
	struct build build = begin();
	struct samples *samples;
	uint64_t regs[20] = { [PERF_REG_X86_IP] = (uintptr_t)outer };
	struct place place;
	const char *line;
	int fd = mkstemp(path);

	cr_assert_geq(fd, 0);
	snprintf(command, sizeof(command), "objcopy -R .debug_aranges /proc/%d/exe %s", getpid(), path);
	cr_assert_eq(system(command), 0);
	build_stack_sample(&build, regs, PERF_SAMPLE_REGS_ABI_64, NULL, 0);
	samples = open_built(&build, false);
	cr_assert(next_sample(samples));
	place = samples->frames[0];
	place.line = NULL;
	place.binary = symbols_binary(samples->symbols, BINARY_FILE, path, NULL, 0);
	cr_assert_not_null(symbols_find(samples->symbols, place.binary, place.address));
	line = symbols_source_line(samples->symbols, &place);
	unlink(path);
	cr_assert_not_null(line);
	cr_assert_not_null(strstr(line, "perffile_callgraph.c:"), "%s", line);
	samples_close(samples);
	close(fd);
}

Test(perffile_callgraph, servers_are_asked_for_debug_files_if_that_is_wanted)
{
	struct capture *capture = capture_new();
	char root[] = "/tmp/callgraph-XXXXXX", command[1024], url[64], cache[64];

	cr_assert_not_null(mkdtemp(root));
	snprintf(command, sizeof(command),
		 "exe=$(readlink /proc/%d/exe) root=%s && mkdir -p $root${exe%%/*} &&"
		 "strip -o $root$exe $exe &&"
		 "id=$(readelf -n $exe | awk '/Build ID/ { print $3 }') &&"
		 "mkdir -p $root/server/buildid/$id &&"
		 "objcopy --only-keep-debug $exe $root/server/buildid/$id/debuginfo",
		 getpid(), root);
	cr_assert_eq(system(command), 0, "%s", command);
	snprintf(url, sizeof(url), "file://%s/server", root);
	snprintf(cache, sizeof(cache), "%s/cache", root);
	cr_assert_eq(setenv("DEBUGINFOD_CACHE_PATH", cache, 1), 0);
	cr_assert_eq(setenv("DEBUGINFOD_URLS", url, 1), 0);
	cr_assert_str_eq(first_name(capture, root, NULL), "[unknown]");
	cr_assert_str_eq(first_name(capture, root, url), "inner");
	cr_assert_eq(setenv("DEBUGINFOD_URLS", url, 1), 0);
	cr_assert_str_eq(first_name(capture, root, ""), "inner");
	snprintf(command, sizeof(command), "rm -rf -- %s", root);
	cr_assert_eq(system(command), 0);
	free(capture);
}

Test(perffile_callgraph, no_server_is_known)
{
	const struct samples_options options = { .path = "/nowhere", .root = "", .debuginfod = "" };
	struct samples *samples;

	unsetenv("DEBUGINFOD_URLS");
	cr_assert_eq(samples_open(&samples, &options), -EINVAL);
}
