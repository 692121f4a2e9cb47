// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing what is made of traces (libFuzzer): pieces and records of a perf.data file become streams,
 * these become steps, and steps a timeline. Records of Branch Trace Store are decoded as always; in place
 * of libipt, which is others' code, each eight bytes of a trace are a step. Tasks are a few,
 * and code is of the addresses: nothing is opened. Every byte that a decoder gets is looked at.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../tools/report/filter.h"
#include "../../tools/trace/trace.h"

#define THREADS	8

static struct thread threads[THREADS];
static FILE *out;

/* What is traced, and where all steps go */
struct tracing {
	struct timeline *all;
	struct timeline *some;
	const struct perffile_traces *traces;
	uint64_t bytes;
};

int samples_read(struct samples *samples, struct perffile_record *record)
{
	struct perffile_error error;

	return perffile_next(samples->file, record, &error);
}

int samples_follow(struct samples *samples, const struct perffile_record *record)
{
	(void)samples;
	(void)record;
	return 0;
}

struct thread *tasks_thread(struct tasks *tasks, int32_t pid, int32_t tid)
{
	struct thread *thread = &threads[(uint32_t)tid % THREADS];

	(void)tasks;
	thread->pid = pid & 1;
	thread->tid = tid & (THREADS - 1);
	thread->comm = tid & 1 ? "name" : "\"a\\name\"";
	return thread;
}

uint64_t tasks_address_of(const struct thread *thread, const char *path, uint64_t offset)
{
	return strlen(path) + offset + (uint64_t)thread->tid;
}

void trace_code_forget(struct trace_code *code)
{
	(void)code;
}

/* Instructions of each kind; where there are none, the address says how long they are. */
int trace_code_read(struct trace_code *code, const struct thread *thread, uint64_t ip, uint8_t *to,
		    size_t size)
{
	static const uint8_t bytes[] = {
		0xe8, 0, 0, 0, 0, 0xc3, 0x0f, 0x05, 0xff, 0xd0, 0xeb, 0xfe, 0x48, 0xcf, 0xf3, 0xc3, 0x66, 0x66,
	};
	size_t at = ip % sizeof(bytes), there = sizeof(bytes) - at;

	(void)code;
	(void)thread;
	if (size > there)
		size = there;
	memcpy(to, bytes + at, size);
	return (int)size;
}

bool filter_list_has(const char *list, const char *name)
{
	return strstr(list, name);
}

/* ---- in place of decode.c */

struct trace_decoder {
	struct trace_piece piece;
	size_t next;
};

struct trace_decoder *trace_decoder_new(const struct trace_piece *piece)
{
	struct trace_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		abort();
	d->piece = *piece;
	return d;
}

void trace_decoder_free(struct trace_decoder *d)
{
	free(d);
}

/* Addresses of sixteen functions, half of them the kernel's; 0 is one, too. */
static uint64_t address_of(uint8_t byte)
{
	return byte ? (byte & 128 ? 0xffffffff81000000ULL : 0x400000) + (byte & 127) * 2 : 0;
}

bool trace_decoder_run(struct trace_decoder *d, uint64_t until)
{
	static const char *const errors[] = { "no map", "\"bad\" packet" };

	for (; d->piece.size - d->next >= 8; d->next += 8) {
		const uint8_t *at = d->piece.bytes + d->next;
		struct trace_range ranges[TRACE_RANGES];
		struct trace_step step = {
			.kind = (enum trace_step_kind)(at[0] % (TRACE_ERROR + 1)), .size = at[1] & 15,
			.from = address_of(at[2]), .to = address_of(at[3]), .position = d->next,
			.error = errors[at[1] & 1],
		};

		step.tsc = at[4] | at[5] << 8 | (uint64_t)at[6] << 16 | (uint64_t)at[7] << 56;
		if (step.tsc >= until)
			return true;
		if (step.kind == TRACE_BEGIN && d->piece.find_ranges &&
		    d->piece.find_ranges(d->piece.arg, d->next, ranges) > TRACE_RANGES)
			abort();
		d->piece.visit(d->piece.arg, &step);
	}
	return false;
}

/* ---- what becomes of it */

static void find(void *arg, const struct thread *thread, uint64_t ip, struct trace_function *function)
{
	static const char *const names[] = {
		"one", "two", "\"three\"", "four", "five", "six", "seven", "eight",
	};

	(void)arg;
	(void)thread;
	*function = (struct trace_function){ names[ip >> 5 & 7], "file", ip & ~31ULL, (ip & ~31ULL) + 32 };
	if (ip & 128)
		*function = (struct trace_function){ "[file]", "file", ip, ip + 1 };
}

static uint64_t time_of(void *arg, uint64_t tsc)
{
	const struct tracing *t = arg;

	return trace_time(t->traces, tsc);
}

static void visit(void *arg, const struct trace_step *step)
{
	const struct tracing *t = arg;

	if (timeline_step(t->all, step) < 0 || timeline_step(t->some, step) < 0)
		abort();
}

static void decode(struct samples *samples, const struct perffile_traces *traces, size_t size)
{
	struct tracing t = { .traces = traces };
	struct timeline_source source = { .find = find, .time = time_of, .arg = &t };
	struct trace_run run = {
		.samples = samples, .traces = traces, .config = size & 1 ? ~0ULL : 0, .visit = visit,
		.arg = &t,
	};

	t.all = timeline_new(&source, out);
	source.symbols = "two,six,[file]";
	t.some = timeline_new(&source, out);
	/* Records may be none. */
	if (!t.all || !t.some || trace_run(&run) == -ENOMEM)
		abort();
	if (timeline_end(t.all) < 0 || timeline_end(t.some) < 0)
		abort();
	if (timeline_calls(t.some) > timeline_calls(t.all))
		abort();
	timeline_free(t.all);
	timeline_free(t.some);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	out = fopen("/dev/null", "w");
	if (!out)
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct samples samples;
	struct perffile_traces traces;
	struct perffile_error error;

	if (perffile_open_memory(&samples.file, data, size, &error) < 0)
		return 0;
	if (perffile_traces_read(samples.file, &traces) < 0)
		abort();
	if (traces.count)
		decode(&samples, &traces, size);
	perffile_traces_free(&traces);
	perffile_close(samples.file);
	return 0;
}
