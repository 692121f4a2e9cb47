// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes what others' readers are to read, the same each time: a recording as "pmuctl record"
 * has it, by its own writer, with samples in functions of this program and of a kernel, whose
 * symbols are a file of their own; what "pmuctl stat --openmetrics" prints; and a timeline of
 * a trace.
 *
 * usage: exports DIRECTORY
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "fuzz/perffile_build.h"
#include "perffile/perfdata.h"
#include "stat/stat.h"
#include "trace/trace.h"

#define EVENTS		2
#define SAMPLES		4000
#define DEPTH_MAX	12
#define KERNEL		0xffffffff81000000ULL
#define START		1000000000ULL
#define SEED		4711

#define TYPE (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

static volatile unsigned int sink;

/* Where user space is sampled; C, C++ and one whose name is a trouble for who forgets to quote it */
#define FUNCTION(name, symbol) \
	void name(void) __asm__(symbol); \
	__attribute__((noinline, aligned(64))) void name(void) \
	{ \
		for (int i = 0; i < 100; i++) \
			sink += sink * 7 + (unsigned int)i; \
	}

FUNCTION(plain, "plain")
FUNCTION(templated, "_ZN5outer3runIiEEvSt6vectorIT_SaIS2_EE")
FUNCTION(compared, "_ZN5outerltERKS_S1_")
FUNCTION(recursive, "recursive")

static void (*const functions[])(void) = { plain, templated, compared, recursive };

static const char *const kernel_names[] = {
	"_text", "do_syscall_64", "vfs_read", "page_fault\"\\", "copy<to>&user", "_end",
};

static const struct {
	uint32_t pid, tid;
	const char *comm;
} threads[] = {
	{ 70, 70, "main" }, { 70, 71, "the \"worker\"" }, { 80, 80, "\\n<&> 100%" },
};

static uint64_t seed;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static FILE *create(const char *name)
{
	FILE *file = fopen(name, "we");

	if (!file)
		fail(name);
	return file;
}

static void finish(FILE *file, const char *name)
{
	if (ferror(file) || fclose(file))
		fail(name);
}

/* ------------------------------------------------------------- the recording */

static uint64_t kernel_address(void)
{
	return KERNEL + (1 + build_random(&seed) % 4) * 0x1000 + 8 + build_random(&seed) % 64;
}

static uint64_t user_address(void)
{
	return (uint64_t)(uintptr_t)functions[build_random(&seed) % ARRAY_LEN(functions)] + 8;
}

/* The innermost address, and who called it; from the kernel back to user space */
static void add_sample(struct build *build, uint64_t time)
{
	size_t event = build_random(&seed) % EVENTS, depth = 1 + build_random(&seed) % DEPTH_MAX;
	size_t in_kernel = build_random(&seed) % 3 ? 0 : 1 + build_random(&seed) % 4;
	size_t thread = build_random(&seed) % ARRAY_LEN(threads);
	struct build_sample sample = {
		.id = build_id(event, 0), .time = time, .cpu = (uint32_t)(time & 1),
		.pid = threads[thread].pid, .tid = threads[thread].tid,
		/* Now and then one that counts as much as thousands of others */
		.period = build_random(&seed) % 100 ? 1 + build_random(&seed) % 100000 : 1ULL << 22,
	};
	size_t n = 0;

	if (in_kernel)
		sample.chain_at[n++] = (uint64_t)PERF_CONTEXT_KERNEL;
	for (size_t i = 0; i < in_kernel; i++)
		sample.chain_at[n++] = kernel_address();
	sample.chain_at[n++] = (uint64_t)PERF_CONTEXT_USER;
	for (size_t i = 0; i < depth; i++)
		sample.chain_at[n++] = user_address();
	sample.chain = n;
	sample.ip = sample.chain_at[1];
	build_sample(build, event, in_kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER, &sample,
		     &seed);
}

/* The code of this program, as the kernel tells of it */
static void add_program(struct build *build, uint32_t pid, const struct build_trailer *trailer)
{
	uint64_t from, to, offset, here = (uint64_t)(uintptr_t)plain;
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4200], path[4096];

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %*s %4095[^\n]", &from, &to,
			   &offset, path) == 4 && from <= here && here < to)
			build_mmap(build, (int32_t)pid, from, to - from, offset, path, NULL, trailer);
	if (!maps)
		fail("/proc/self/maps");
	fclose(maps);
}

static void add_tasks(struct build *build)
{
	struct build_trailer early = { .pid = UINT32_MAX, .tid = UINT32_MAX, .time = START };

	early.id = build_id(0, 0);
	build_mmap(build, -1, KERNEL, 0x6000, KERNEL, "[kernel.kallsyms]_text", NULL, &early);
	for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
		early.pid = threads[i].pid;
		early.tid = threads[i].tid;
		if (early.pid != early.tid)
			build_task(build, PERF_RECORD_FORK, early.pid, early.pid, early.tid, early.pid, &early);
		build_comm(build, early.pid, early.tid, threads[i].comm, 0, &early);
		if (early.pid == early.tid)
			add_program(build, early.pid, &early);
	}
}

static struct perf_event_attr attr_of(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr), .type = type, .config = config, .sample_type = TYPE,
		.sample_period = 1000, .sample_id_all = 1, .mmap = 1, .mmap2 = 1, .comm = 1, .task = 1,
	};
}

/* As a file, or as it goes through a pipe */
static void write_recording(const char *name,
			    int (*create)(int fd, const struct perfdata_event *events, size_t nr_events,
					  struct perfdata **file))
{
	struct perfdata_event events[EVENTS] = {
		{ .name = "cpu-clock", .attr = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK) },
		{ .name = "branch-misses:u", .attr = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES),
		  .leader = 1 },
	};
	uint64_t ids[EVENTS][BUILD_IDS];
	struct build build = { .events = EVENTS };
	struct perfdata *file;
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	events[1].attr.exclude_kernel = 1;
	for (size_t i = 0; i < EVENTS; i++) {
		build.attrs[i] = events[i].attr;
		for (size_t n = 0; n < BUILD_IDS; n++)
			ids[i][n] = build_id(i, n);
		events[i].ids = ids[i];
		events[i].nr_ids = BUILD_IDS;
	}
	seed = SEED;
	add_tasks(&build);
	for (uint64_t i = 0; i < SAMPLES; i++)
		add_sample(&build, START + (i + 1) * 1000001);
	if (fd < 0 || create(fd, events, EVENTS, &file) < 0)
		fail(name);
	perfdata_put_string(perfdata_feature(file, PERFFILE_HOSTNAME), "here");
	perfdata_put_string(perfdata_feature(file, PERFFILE_OSRELEASE), "6.1.0");
	perfdata_put_string(perfdata_feature(file, PERFFILE_ARCH), "x86_64");
	if (perfdata_begin_records(file) < 0 ||
	    perfdata_write(file, &(struct iovec){ build.data, build.size }, 1) < 0 ||
	    perfdata_finish(file) < 0 || close(fd))
		fail(name);
	perfdata_free(file);
	build_free(&build);
}

static void write_kallsyms(const char *name)
{
	FILE *out = create(name);

	for (size_t i = 0; i < ARRAY_LEN(kernel_names); i++)
		fprintf(out, "%" PRIx64 " T %s\n", (uint64_t)(KERNEL + i * 0x1000), kernel_names[i]);
	finish(out, name);
}

/* --------------------------------------------------------------- OpenMetrics */

static struct stat_row row_of(char *name, uint64_t config, uint64_t value, int cpu)
{
	return (struct stat_row){
		.name = name, .attr = { .type = PERF_TYPE_HARDWARE, .config = config }, .cpu = cpu,
		.value = value, .enabled = 12000000034, .running = 2000000001,
	};
}

/* Each CPU in two cgroups; names that need quotes, and are no text; one event was not counted. */
static void write_metrics(const char *name)
{
	static const struct metric asked[] = {
		{ "insn_per_cycle", "Summary", "insn per cycle", "instructions / cycles", "" },
	};
	static const struct metric *list[] = { &asked[0] };
	static const struct metric_choice choice = { .count = 1, .list = list };
	static char text[] = "a \"b\\\nc\xff\xc3\xa4{},=# ";
	struct stat_row rows[16];
	struct stat_result result = {
		.what = "'x'", .rows = rows, .elapsed = 1.5, .duration = 1.5, .aggregate = AGGREGATE_CPU,
		.metrics = &choice, .has_cgroups = true,
	};
	FILE *out = create(name);

	for (int i = 0; i < 4; i++) {
		struct stat_row *row = &rows[result.count];

		row[0] = row_of("instructions", PERF_COUNT_HW_INSTRUCTIONS, 300 + (uint64_t)i, i / 2);
		row[1] = row_of("cycles", PERF_COUNT_HW_CPU_CYCLES, UINT64_MAX / 4096 - (uint64_t)i, i / 2);
		row[2] = row_of(text, PERF_COUNT_HW_CACHE_MISSES, 0, i / 2);
		row[3] = row_of("ref-cycles", PERF_COUNT_HW_REF_CPU_CYCLES, 5, i / 2);
		row[3].state = ROW_NOT_SUPPORTED;
		for (int n = 0; n < 4; n++)
			row[n].cgroup = i & 1 ? "/" : "a.slice/\"b\\x2d\"";
		result.count += 4;
	}
	print_openmetrics(out, &result);
	finish(out, name);
}

/* ------------------------------------------------------------------ timeline */

static const char *const function_names[] = { "main", "op\"\\<", "ä;b", "three", "K" };

static void find(void *arg, const struct thread *thread, uint64_t ip, struct trace_function *function)
{
	uint64_t start = ip & ~0xffULL;

	(void)arg;
	(void)thread;
	*function = (struct trace_function){ function_names[ip >> 8 & 3], "/bin/x y", start, start + 0x100 };
	if (ip >= KERNEL)
		function->name = function_names[4];
}

static uint64_t time_of(void *arg, uint64_t tsc)
{
	(void)arg;
	return tsc * 10;
}

/* A call or a return at random, in two threads of which the one or the other runs */
static void write_timeline(const char *name)
{
	static struct thread traced[] = {
		{ .pid = 70, .tid = 70, .comm = "main \"1\"" }, { .pid = 70, .tid = 71, .comm = "\\worker" },
	};
	const struct timeline_source source = { .find = find, .time = time_of };
	FILE *out = create(name);
	struct timeline *timeline = timeline_new(&source, out);

	for (uint64_t i = 0; timeline && i < SAMPLES; i++) {
		uint64_t random = build_random(&seed);
		struct trace_step step = {
			.kind = i < 2 ? TRACE_BEGIN : random % 9 ? TRACE_CALL + random % 2 : TRACE_SYSTEM_CALL,
			.thread = &traced[i < 2 ? i : random >> 8 & 1], .size = 5, .tsc = 100 + i * 7,
			.from = (random >> 16 & 3) * 0x100 + 0x10, .to = (random >> 24 & 3) * 0x100,
		};

		if (step.kind == TRACE_SYSTEM_CALL)
			step.to = KERNEL;
		if (step.kind == TRACE_RETURN)
			step.to += 0x15;
		if (timeline_step(timeline, &step) < 0)
			fail(name);
	}
	if (!timeline || timeline_end(timeline) < 0)
		fail(name);
	timeline_free(timeline);
	finish(out, name);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1])) {
		fprintf(stderr, "usage: exports DIRECTORY\n");
		return 2;
	}
	write_recording("perf.data", perfdata_create);
	write_recording("stream.data", perfdata_create_stream);
	write_kallsyms("kallsyms");
	write_metrics("metrics");
	write_timeline("timeline.json");
	return 0;
}
