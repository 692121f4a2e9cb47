// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes seeds for the fuzzers of perf.data files: small files that are good, with each
 * kind of record, field and feature.
 *
 * usage: perffile_seeds DIRECTORY [trace|tracepoint]
 *
 * With a second word, those of that fuzzer: files with traces, or records and formats of tracepoints.
 */
#include <stdbool.h>
#include <stdio.h>

#include <zstd.h>

#include "perffile_build.h"
#include "tracing_build.h"

static const struct build_trailer early = { .pid = 7, .tid = 7, .time = 1 };

static struct perf_event_attr attr_of(uint64_t type)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = type, .sample_period = 1000,
		.sample_id_all = 1, .read_format = 0x1f, .sample_regs_user = 0xff0fff,
		.sample_regs_intr = 0x3, .branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX | PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK,
	};

	return attr;
}

static void write_seed(struct build *build, const char *directory, const char *name)
{
	char path[4096];
	FILE *out;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	out = fopen(path, "w");
	if (!out || fwrite(build->data, 1, build->size, out) != build->size || fclose(out)) {
		perror(path);
		exit(1);
	}
	build_free(build);
}

static void add_tasks(struct build *build)
{
	static const uint8_t id[20] = { 1, 2, 3 };

	build_mmap(build, -1, 0xffffffff81000000, 0x1000000, 0xffffffff81000000,
		   "[kernel.kallsyms]_text", NULL, &early);
	build_mmap(build, -1, 0xffffffffc0000000, 0x1000, 0, "/lib/modules/6.1/x-y.ko", NULL, &early);
	build_task(build, PERF_RECORD_FORK, 7, 1, 7, 1, &early);
	build_comm(build, 7, 7, "name", PERF_RECORD_MISC_COMM_EXEC, &early);
	build_mmap(build, 7, 0x400000, 0x4000, 0, "/usr/bin/name", id, &early);
	build_mmap(build, 7, 0x401000, 0x1000, 0, "[vdso]", NULL, &early);
	build_task(build, PERF_RECORD_FORK, 8, 7, 8, 7, &early);
	build_mmap(build, 8, 0x402000, 0x4000, 0x1000, "//anon", NULL, &early);
	build_task(build, PERF_RECORD_EXIT, 8, 7, 8, 7, &early);
}

/* Chains through user and kernel code of the tasks above */
static void add_chains(struct build *build, uint64_t *seed)
{
	struct build_sample sample = { .pid = 7, .tid = 7, .period = 100, .time = 3 };

	for (int i = 0; i < 6; i++) {
		sample.id = build_id(i % build->events, 0);
		sample.ip = i & 1 ? 0x400010 + 0x400 * (uint64_t)i : 0xffffffff81000010;
		sample.chain = 0;
		if (!(i & 1)) {
			sample.chain_at[sample.chain++] = (uint64_t)PERF_CONTEXT_KERNEL;
			sample.chain_at[sample.chain++] = sample.ip;
			sample.chain_at[sample.chain++] = 0xffffffff81000c20;
		}
		sample.chain_at[sample.chain++] = (uint64_t)PERF_CONTEXT_USER;
		sample.chain_at[sample.chain++] = 0x400123;
		sample.chain_at[sample.chain++] = 0x401234 + 0x10 * i;
		build_sample(build, i % build->events, 1 + (i & 1), &sample, seed);
	}
}

static void seed_of_fields(const char *directory, const char *name, uint64_t type, size_t events)
{
	struct perf_event_attr attrs[BUILD_EVENTS];
	struct build_sample sample;
	struct build build;
	uint64_t seed = 4711;

	for (size_t i = 0; i < events; i++)
		attrs[i] = attr_of(type);
	build_begin(&build, attrs, events);
	add_tasks(&build);
	for (size_t i = 0; i < 3; i++) {
		build_sample_random(&sample, i % events, &seed);
		sample.time = i;
		build_sample(&build, i % events, PERF_RECORD_MISC_USER, &sample, &seed);
	}
	if (type & PERF_SAMPLE_CALLCHAIN)
		add_chains(&build, &seed);
	build_features(&build, NULL, 0);
	write_seed(&build, directory, name);
}

/* Samples of a group, by its first, in two threads */
static void seed_of_group(const char *directory)
{
	const uint64_t type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			      PERF_SAMPLE_READ | PERF_SAMPLE_IDENTIFIER;
	struct perf_event_attr attrs[2] = { attr_of(type) };
	struct build build;
	uint64_t seed = 4711;

	attrs[0].read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	attrs[0].inherit = 1;
	attrs[1] = attrs[0];
	build_begin(&build, attrs, 2);
	add_tasks(&build);
	for (size_t i = 0; i < 4; i++) {
		struct build_sample sample;

		build_sample_random(&sample, 0, &seed);
		sample.time = i;
		sample.tid = i % 2;
		sample.told = 2;
		for (size_t n = 0; n < 2; n++) {
			sample.ids[n] = build_id(n, 0);
			sample.values[n] = i * 100 + n;
		}
		build_sample(&build, 0, PERF_RECORD_MISC_USER, &sample, &seed);
	}
	build_features(&build, NULL, 0);
	write_seed(&build, directory, "group");
}

static void add_losses(struct build *build)
{
	size_t at = build_record(build, PERF_RECORD_LOST, 0);

	build_word(build, 1);
	build_word(build, 5);
	build_record_end(build, at);
	at = build_record(build, PERF_RECORD_LOST_SAMPLES, 0);
	build_word(build, 5);
	build_record_end(build, at);
	at = build_record(build, PERF_RECORD_THROTTLE, 0);
	build_counted(build, 3, &(uint64_t){ 1 });
	build_record_end(build, at);
	at = build_record(build, 68, 0);
	build_record_end(build, at);
}

/* The record of a machine's trace, and two pieces of one buffer, of 16 and 8 bytes */
static void add_traces(struct build *build)
{
	size_t at = build_record(build, 70, 0);

	build_half(build, 1);
	build_half(build, 0);
	build_counted(build, 17, &(uint64_t){ 2 });
	build_record_end(build, at);
	for (uint64_t i = 0; i < 2; i++) {
		at = build_record(build, 71, 0);
		build_word(build, 16 - 8 * i);
		build_word(build, 14 * i);
		build_word(build, 99);
		build_half(build, 3);
		build_half(build, 7);
		build_half(build, 0);
		build_half(build, 0);
		build_record_end(build, at);
		build_pad(build, 16 - 8 * i);
	}
}

static void seed_of_features(const char *directory)
{
	static const unsigned int features[] = { 2, 3, 4, 5, 6, 8, 11, 12 };
	static const char *const names[] = { "cycles", "instructions" };
	struct perf_event_attr attrs[] = { attr_of(PERF_SAMPLE_IP), attr_of(PERF_SAMPLE_IP) };
	static const uint8_t id[20] = { 9 };
	struct build build;

	build_begin(&build, attrs, 2);
	add_losses(&build);
	add_traces(&build);
	build_features(&build, features, 8);
	build_feature_build_id(&build, 0, "/usr/bin/name", id);
	for (size_t i = 1; i < 6; i++)
		build_feature_text(&build, i, "text");
	build_feature(&build, 6);
	build_half(&build, 2);
	build_text(&build, "perf");
	build_text(&build, "record");
	build_feature_end(&build, 6);
	build_feature_names(&build, 7, names);
	write_seed(&build, directory, "features");
}

/* A stream of a pipe: an event, then what a file has behind its header */
static void seed_of_stream(const char *directory)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IP | PERF_SAMPLE_IDENTIFIER);
	struct build build = { .attrs = { attr }, .events = 1 };
	size_t at;

	build_bytes(&build, "PERFILE2", 8);
	build_word(&build, 16);
	at = build_record(&build, 64, 0);
	build_bytes(&build, &attr, BUILD_ATTR);
	build_word(&build, build_id(0, 0));
	build_record_end(&build, at);
	at = build_record(&build, 78, 0);
	build_word(&build, 2);
	build_word(&build, build_id(0, 0));
	build_string(&build, "cycles");
	build_record_end(&build, at);
	at = build_record(&build, 80, 0);
	build_word(&build, 3);
	build_text(&build, "machine");
	build_record_end(&build, at);
	at = build_record(&build, 66, 0);
	build_half(&build, 8);
	build_record_end(&build, at);
	build_word(&build, 1);
	add_tasks(&build);
	write_seed(&build, directory, "stream");
}

/* Tasks and samples, compressed in two records, the first of which ends within a record */
static void seed_of_compression(const char *directory)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
	struct build inner = { .attrs = { attr }, .events = 1 }, build;
	ZSTD_CCtx *zstd = ZSTD_createCCtx();
	uint64_t seed = 7;

	add_tasks(&inner);
	add_chains(&inner, &seed);
	build_begin(&build, &attr, 1);
	for (size_t i = 0; i < 2; i++) {
		size_t at = build_record(&build, 81 + 2 * i, 0), half = inner.size / 2 + 3;
		ZSTD_inBuffer in = { inner.data + i * half, i ? inner.size - half : half, 0 };
		char room[4096];
		ZSTD_outBuffer out = { room, sizeof(room), 0 };

		ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush);
		if (i)
			build_word(&build, out.pos);
		build_bytes(&build, room, out.pos);
		build_record_end(&build, at);
	}
	ZSTD_freeCCtx(zstd);
	build_free(&inner);
	build_features(&build, NULL, 0);
	write_seed(&build, directory, "compressed");
}

#define FORMAT TRACING_FORMAT( \
	TRACING_FIELD("char", "comm[8]", 8, 8, 0) TRACING_FIELD("int", "state", 16, 4, 1) \
	TRACING_FIELD("__data_loc char[]", "name", 20, 4, 0), \
	"\"%-8s %d %s %s %s %pS %u\", REC->comm, REC->state / 2, __get_str(name), " \
	"__print_flags(REC->state & 7, \"|\", { 1, \"S\" }, { 2 << 1, \"T\" }), " \
	"__print_hex(__get_dynamic_array(name), __get_dynamic_array_len(name)), " \
	"(void *)REC->state, REC->state ? (unsigned int)REC->comm[0] : sizeof(long)")

static const uint8_t record[] = {
	1, 0, 0, 0, 7, 0, 0, 0, 's', 'h', 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 24, 0, 4, 0, 'n', 'a', 'm', 0,
};

/* A record of a tracepoint and its format, in a recording */
static void seed_of_tracing(const char *directory)
{
	static const unsigned int features[] = { 1 };
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_RAW);
	struct build build;
	size_t at;

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = 1;
	build_begin(&build, &attr, 1);
	at = build_record(&build, PERF_RECORD_SAMPLE, 0);
	build_half(&build, sizeof(record));
	build_bytes(&build, record, sizeof(record));
	build_record_end(&build, at);
	build_features(&build, features, 1);
	build_feature(&build, 0);
	tracing_begin(&build, 1);
	tracing_text(&build, FORMAT, strlen(FORMAT));
	tracing_end(&build);
	build_feature_end(&build, 0);
	write_seed(&build, directory, "tracing");
}

static void seed_of_tracepoint(const char *directory)
{
	struct build build = { NULL };

	build_bytes(&build, (const uint8_t[]){ sizeof(record) }, 1);
	build_bytes(&build, record, sizeof(record));
	build_bytes(&build, FORMAT, strlen(FORMAT));
	write_seed(&build, directory, "record");
}

static void add_aux(struct build *build, uint64_t position, uint64_t size, uint64_t time)
{
	const struct build_trailer trailer = { .pid = 7, .tid = 7, .time = time };
	size_t at = build_record(build, PERF_RECORD_AUX, 0);

	build_word(build, position);
	build_word(build, size);
	build_word(build, 0);
	build_trailer(build, build->attrs[0].sample_type, &trailer);
	build_record_end(build, at);
}

/*
 * What describes the machine: all words 1, so that times and time stamps are the same, but for the number
 * @snapshot; and, behind those of Processor Trace, a filter
 */
static void add_machine(struct build *build, uint32_t whose, size_t snapshot, bool is_snapshot)
{
	static const char filter[] = "filter 0x10/0x20@/bin/one,stop 5";
	size_t at = build_record(build, 70, 0);

	build_half(build, whose);
	build_half(build, 0);
	for (size_t i = 0; i < 17; i++)
		build_word(build, i == snapshot ? is_snapshot : i == 16 ? sizeof(filter) : i != 1);
	build_string(build, filter);
	build_record_end(build, at);
}

/* Three pieces of two buffers, of a CPU and of a task */
static void seed_of_trace(const char *directory, const char *name, uint32_t whose, bool is_snapshot)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU);
	struct build build;
	uint64_t seed = 4711;

	build_begin(&build, &attr, 1);
	add_machine(&build, whose, whose == 2 ? 5 : 8, is_snapshot);
	add_tasks(&build);
	for (uint64_t i = 0; i < 3; i++) {
		size_t at = build_record(&build, 71, 0);

		build_word(&build, 48);
		build_word(&build, 48 * (i / 2));
		build_word(&build, 99);
		build_half(&build, i % 2);
		build_half(&build, 7);
		build_half(&build, i % 2 ? UINT32_MAX : 0);
		build_half(&build, 0);
		build_record_end(&build, at);
		for (uint64_t n = 0; n < 6; n++)
			build_word(&build, build_random(&seed) & 0xffffffffff);
		add_aux(&build, 48 * (i / 2), 48, 10 * i);
	}
	build_features(&build, NULL, 0);
	write_seed(&build, directory, name);
}

static void seeds_of_traces(const char *directory)
{
	seed_of_trace(directory, "pt", 1, false);
	seed_of_trace(directory, "pt-snapshot", 1, true);
	seed_of_trace(directory, "bts", 2, false);
	seed_of_trace(directory, "bts-snapshot", 2, true);
}

int main(int argc, char **argv)
{
	const uint64_t usual = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;

	if (argc == 3 && !strcmp(argv[2], "tracepoint")) {
		seed_of_tracepoint(argv[1]);
		return 0;
	}
	if (argc == 3 && !strcmp(argv[2], "trace")) {
		seeds_of_traces(argv[1]);
		return 0;
	}
	if (argc != 2) {
		fprintf(stderr, "usage: perffile_seeds DIRECTORY [trace|tracepoint]\n");
		return 2;
	}
	seed_of_tracing(argv[1]);
	seed_of_fields(argv[1], "usual", usual, 1);
	seed_of_fields(argv[1], "chain", usual | PERF_SAMPLE_CALLCHAIN, 1);
	seed_of_fields(argv[1], "events", usual | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CALLCHAIN, 3);
	seed_of_fields(argv[1], "ids", usual | PERF_SAMPLE_ID | PERF_SAMPLE_READ, 2);
	seed_of_group(argv[1]);
	seed_of_fields(argv[1], "stacks", usual | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER, 1);
	seed_of_fields(argv[1], "all", BUILD_FIELDS, 2);
	seed_of_features(argv[1]);
	seed_of_stream(argv[1]);
	seed_of_compression(argv[1]);
	return 0;
}
