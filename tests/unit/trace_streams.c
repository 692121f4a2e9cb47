// SPDX-License-Identifier: GPL-2.0-only
/* sources: tools/trace/streams.c tools/trace/spans.c tools/trace/pieces.c tools/perffile/trace.c */
/* sources: $(READER) */
/*
 * Streams of traces: what a decoder gets, of which task, and when, from the pieces and records of a
 * file. The decoder here only notes that; a trace with time stamps is nothing but one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "../fuzz/perffile_build.h"
#include "trace/trace.h"

/* So many that looking at all of them for each takes minutes */
#define MANY		200000
/* A place of a trace has this byte. */
#define BYTE(buffer, at) ((uint8_t)((buffer) * 7 + (at) * 31 + 3))

/* ---- what else would be asked */

/* A chunk that was decoded: its first bytes, how many there were, and whose the begin was */
struct seen {
	uint8_t bytes[24];
	size_t size;
	int32_t tid;
	size_t after;	/* records that had been followed */
};

static struct seen *seen;
static size_t seen_count;
static struct thread *threads;
static size_t followed;

struct trace_decoder {
	struct trace_piece piece;
};

static void see(const struct trace_piece *piece)
{
	const struct trace_step begin = { .kind = TRACE_BEGIN };

	seen[seen_count].size = piece->size;
	seen[seen_count].after = followed;
	memcpy(seen[seen_count].bytes, piece->bytes, piece->size < 24 ? piece->size : 24);
	piece->visit(piece->arg, &begin);
	seen_count++;
}

struct trace_decoder *trace_decoder_new(const struct trace_piece *piece)
{
	struct trace_decoder *d = malloc(sizeof(*d));

	d->piece = *piece;
	return d;
}

bool trace_decoder_run(struct trace_decoder *d, uint64_t until)
{
	if (d->piece.config && perffile_word(d->piece.bytes) >= until)
		return true;
	see(&d->piece);
	return false;
}

void trace_decoder_free(struct trace_decoder *d)
{
	free(d);
}

void trace_branches(const struct trace_piece *piece)
{
	see(piece);
}

static void visit(void *arg, const struct trace_step *step)
{
	(void)arg;
	seen[seen_count].tid = step->thread ? step->thread->tid : -1;
}

int samples_read(struct samples *samples, struct perffile_record *record)
{
	struct perffile_error error;

	return perffile_next(samples->file, record, &error);
}

int samples_follow(struct samples *samples, const struct perffile_record *record)
{
	(void)samples;
	(void)record;
	followed++;
	return 0;
}

struct thread *tasks_thread(struct tasks *tasks, int32_t pid, int32_t tid)
{
	(void)tasks;
	(void)pid;
	threads[tid].tid = tid;
	return &threads[tid];
}

int trace_code_read(struct trace_code *code, const struct thread *thread, uint64_t ip, uint8_t *to,
		    size_t size)
{
	(void)code;
	(void)thread;
	(void)ip;
	(void)to;
	(void)size;
	return 0;
}

void trace_code_forget(struct trace_code *code)
{
	(void)code;
}

unsigned int trace_filter_ranges(const char *filter, const struct thread *thread,
				 struct trace_range *ranges)
{
	(void)filter;
	(void)thread;
	(void)ranges;
	return 0;
}

/* ---- files */

#define FIELDS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

static struct build begin(uint32_t whose, bool snapshot)
{
	const struct perf_event_attr attr = {
		.size = sizeof(attr), .type = 8, .sample_type = FIELDS, .sample_id_all = 1,
	};
	struct build build;
	size_t at;

	build_begin(&build, &attr, 1);
	at = build_record(&build, PERFFILE_AUXTRACE_INFO, 0);
	build_half(&build, whose);
	build_half(&build, 0);
	for (unsigned int i = 0; i < PERFFILE_PT_WORDS; i++) {
		bool is_one = i == PERFFILE_PT_TIME_MULT || i == PERFFILE_PT_HAS_TIME_ZERO ||
			      i == PERFFILE_PT_TSC;

		if (i == (whose == PERFFILE_TRACE_INTEL_BTS ? PERFFILE_BTS_SNAPSHOT :
							      PERFFILE_PT_SNAPSHOT))
			is_one = snapshot;
		build_word(&build, is_one);
	}
	build_record_end(&build, at);
	seen = calloc(MANY + 1, sizeof(*seen));
	threads = calloc(MANY + 2, sizeof(*threads));
	return build;
}

static void build_aux(struct build *build, uint64_t position, uint64_t size, uint32_t tid,
		      uint32_t cpu, uint64_t time)
{
	const struct build_trailer trailer = { .pid = tid, .tid = tid, .time = time, .cpu = cpu };
	size_t at = build_record(build, PERF_RECORD_AUX, 0);

	build_word(build, position);
	build_word(build, size);
	build_word(build, 0);
	build_trailer(build, FIELDS, &trailer);
	build_record_end(build, at);
}

/* A piece of @size bytes, and padding */
static void build_piece(struct build *build, uint32_t buffer, uint64_t position, uint32_t size,
			int32_t tid, int32_t cpu, uint64_t reference)
{
	uint32_t padded = (size + 7) & ~7U;
	size_t at = build_record(build, PERFFILE_AUXTRACE, 0);

	build_word(build, padded);
	build_word(build, position);
	build_word(build, reference);
	build_half(build, buffer);
	build_half(build, (uint32_t)tid);
	build_half(build, (uint32_t)cpu);
	build_half(build, 0);
	build_record_end(build, at);
	for (uint64_t i = 0; i < padded; i++) {
		const uint8_t byte = i < size ? BYTE(buffer, position + i) : 0;

		build_bytes(build, &byte, 1);
	}
}

static struct trace_run decode(struct build *build, uint64_t config)
{
	static struct samples samples;
	struct perffile_traces traces;
	struct perffile_error error;
	struct trace_run run = { .samples = &samples, .traces = &traces, .config = config,
				 .visit = visit };

	build_set(build, 48, build->size - build->records);
	cr_assert_eq(perffile_open_memory(&samples.file, build->data, build->size, &error), 0,
		     "%s", error.text);
	cr_assert_eq(perffile_traces_read(samples.file, &traces), 0);
	cr_assert_eq(trace_run(&run), 0);
	perffile_traces_free(&traces);
	perffile_close(samples.file);
	build_free(build);
	return run;
}

static void end(void)
{
	free(seen);
	free(threads);
}

static bool has_bytes(const struct seen *chunk, uint32_t buffer, uint64_t at, size_t size)
{
	for (size_t i = 0; i < size && i < sizeof(chunk->bytes); i++)
		if (chunk->bytes[i] != BYTE(buffer, at + i))
			return false;
	return chunk->size == size;
}

/* ---- tests */

/* Each task has a buffer of its own, of two pieces. */
Test(trace_streams, many_buffers, .fini = end, .timeout = 60)
{
	struct build build = begin(PERFFILE_TRACE_INTEL_BTS, false);
	struct trace_run run;

	for (uint32_t i = 0; i < MANY / 2; i++)
		build_piece(&build, i * 3, 100, 8, (int32_t)i, -1, 0);
	/* Half of what follows the first five is padding of the first ones. */
	for (uint32_t i = 0; i < MANY / 2; i++)
		build_piece(&build, i * 3, 105, 8, (int32_t)i, -1, 0);
	for (uint32_t i = 0; i < MANY / 2; i++)
		build_aux(&build, 101, 11, i, 0, i);
	build_aux(&build, 0, 1000, MANY, 0, MANY);
	run = decode(&build, 0);
	cr_assert_eq(seen_count, MANY / 2);
	for (uint32_t i = 0; i < seen_count; i++) {
		cr_assert(has_bytes(&seen[i], i * 3, 101, 11), "buffer %u", i);
		cr_assert_eq(seen[i].tid, (int32_t)i);
		cr_assert_eq(seen[i].after, i + 1);
	}
	cr_assert_eq(run.bytes, MANY / 2 * 11);
	cr_assert_eq(run.missing, 1000);
}

/* One buffer: the AUX records tell of other parts than the pieces are. */
Test(trace_streams, many_pieces, .fini = end, .timeout = 60)
{
	struct build build = begin(PERFFILE_TRACE_INTEL_BTS, false);
	struct trace_run run;
	size_t told = 0;

	for (uint32_t i = 0; i < MANY; i++)
		build_piece(&build, 5, i * 8, 8, -1, 2, 0);
	for (uint64_t at = 0; at < MANY * 8; at += 24, told++)
		build_aux(&build, at, 24, told % 7, 2, told);
	run = decode(&build, 0);
	cr_assert_eq(seen_count, told);
	for (uint32_t i = 0; i < seen_count; i++) {
		uint64_t at = i * 24, size = at + 24 > MANY * 8 ? MANY * 8 - at : 24;

		cr_assert(has_bytes(&seen[i], 5, at, size), "part %u", i);
		cr_assert_eq(seen[i].tid, (int32_t)i % 7);
	}
	cr_assert_eq(run.bytes, MANY * 8);
	cr_assert_eq(run.missing, told * 24 - MANY * 8);
}

/* None of the parts begins anew: they are decoded together, once the last one has been told. */
Test(trace_streams, many_parts_of_one_chunk, .fini = end, .timeout = 60)
{
	struct build build = begin(PERFFILE_TRACE_INTEL_PT, false);
	struct trace_run run;

	for (uint32_t i = 0; i < MANY; i++) {
		build_piece(&build, 5, i * 8, 8, -1, 2, 0);
		build_aux(&build, i * 8, 8, 1, 2, i);
	}
	run = decode(&build, 0);
	cr_assert_eq(seen_count, 1);
	cr_assert(has_bytes(&seen[0], 5, 0, MANY * 8));
	cr_assert_eq(seen[0].after, MANY);
	cr_assert_eq(run.bytes, MANY * 8);
	cr_assert_eq(run.missing, 0);
}

/* Of snapshots the last record before each tells whose it is; some have none. */
Test(trace_streams, many_snapshots, .fini = end, .timeout = 60)
{
	struct build build = begin(PERFFILE_TRACE_INTEL_PT, true);
	const uint32_t count = MANY / 2;
	struct trace_run run;

	for (uint32_t i = 0; i < count; i++)
		build_aux(&build, i, 1, i, 2, 10 * i + 100);
	for (uint32_t i = 0; i < count; i++)
		build_piece(&build, 5, i, 8, -1, 2, 10 * i + 100 - 5);
	run = decode(&build, 0);
	cr_assert_eq(seen_count, count - 1);
	for (uint32_t i = 0; i < seen_count; i++) {
		cr_assert(has_bytes(&seen[i], 5, i + 1, seen[i].size), "snapshot %u", i);
		cr_assert_eq(seen[i].tid, (int32_t)i, "snapshot %u of %d", i, seen[i].tid);
	}
	cr_assert_eq(run.missing, 1);
}

/* Pieces in any order, one within another, twice, with gaps between them, and at the very end */
Test(trace_streams, pieces_in_disorder, .fini = end)
{
	struct build build = begin(PERFFILE_TRACE_INTEL_BTS, false);
	struct trace_run run;

	build_piece(&build, 5, UINT64_MAX - 7, 8, -1, 2, 0);
	build_piece(&build, 5, 64, 8, -1, 2, 0);
	build_piece(&build, 5, 16, 32, -1, 2, 0);
	build_piece(&build, 5, 0, 16, -1, 2, 0);
	build_piece(&build, 5, 20, 0, -1, 2, 0);
	build_piece(&build, 5, 16, 0, -1, 2, 0);
	build_piece(&build, 6, 48, 16, -1, 3, 0);
	build_piece(&build, 5, 8, 8, -1, 2, 0);
	build_aux(&build, 0, 20, 1, 2, 1);	/* two pieces */
	build_aux(&build, 20, 44, 1, 2, 2);	/* 28 of a piece, and a gap */
	build_aux(&build, 64, 8, 1, 2, 3);
	build_aux(&build, UINT64_MAX - 3, 4, 1, 2, 4);
	build_aux(&build, 48, 8, 1, 2, 5);	/* the other buffer's */
	run = decode(&build, 0);
	cr_assert_eq(seen_count, 5);
	cr_assert(has_bytes(&seen[0], 5, 0, 20));
	cr_assert(has_bytes(&seen[1], 5, 20, 28));
	cr_assert(has_bytes(&seen[2], 5, 64, 8));
	cr_assert(has_bytes(&seen[3], 5, UINT64_MAX - 3, 4));
	cr_assert_eq(seen[4].size, 0);
	cr_assert_eq(run.missing, 16 + 8);
}

/* A trace with time stamps is decoded up to each record that tells of a change. */
Test(trace_streams, many_buffers_in_the_order_of_time, .fini = end, .timeout = 60)
{
	const uint32_t changes = 1000, tasks = MANY / changes, idle = MANY / 2;
	struct build build = begin(PERFFILE_TRACE_INTEL_PT, false);
	const struct build_trailer late = { .time = MANY };

	/* Nothing is told of these. */
	for (uint32_t i = 0; i < idle; i++)
		build_piece(&build, MANY + i, 0, 8, (int32_t)(tasks + i), -1, 0);
	for (uint32_t i = 0; i < tasks; i++) {
		const uint64_t time = 10 * i + 5;

		build_piece(&build, i, 0, sizeof(time), (int32_t)i, -1, 0);
		memcpy(build.data + build.size - sizeof(time), &time, sizeof(time));
		build_aux(&build, 0, 8, i, 0, time);
	}
	for (uint32_t i = 0; i < changes; i++) {
		const struct build_trailer trailer = { .time = 10 * i };

		build_comm(&build, 1, 1, "name", 0, &trailer);
	}
	build_comm(&build, 1, 1, "name", 0, &late);
	decode(&build, 1);
	cr_assert_eq(seen_count, tasks);
	for (uint32_t i = 0; i < tasks; i++) {
		cr_assert_eq(perffile_word(seen[i].bytes), 10 * i + 5);
		cr_assert_eq(seen[i].tid, (int32_t)i);
		/* AUX records come up to the time, and then the change that is not before it. */
		cr_assert_eq(seen[i].after, i + 1 + i + 1, "%zu of %u", seen[i].after, i);
	}
}
