// SPDX-License-Identifier: GPL-2.0-only
/*
 * How often each instruction was executed while it was traced. A trace tells of each one, so that they
 * are counted by their places in the functions: what takes memory is the code that was executed, and
 * not how long it ran.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "annotate.h"
#include "trace/trace.h"

/* A function has a count for each byte of code, in blocks of so many, where code was executed. */
#define BLOCK 256

/* How far it is, a terminal is told so often; the clock is looked at once in so many instructions. */
#define TELL_AGAIN 500000000ULL
#define TELL_INSTRUCTIONS (1U << 18)

/**
 * struct tracing - what is decoded
 * @annotate: the command.
 * @traces: of the file.
 * @event: that traced.
 * @run: decodes them.
 * @tally: what there was.
 * @thread: of the last step.
 * @low: the function of the last instruction: its first address,
 * @high: and the one behind it.
 * @here: that function, NULL if nobody asked for it.
 * @status: 0, or -ENOMEM.
 */
struct tracing {
	struct annotate *annotate;
	struct perffile_traces traces;
	const struct perffile_event *event;
	struct trace_run run;
	struct trace_tally tally;
	const struct thread *thread;
	uint64_t low;
	uint64_t high;
	struct annotate_function *here;
	int status;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void tell(const struct tracing *t)
{
	struct samples *samples = t->annotate->samples;
	uint64_t time;

	if (!samples->progress.out || t->tally.instructions % TELL_INSTRUCTIONS)
		return;
	time = now();
	if (time < samples->tell_next)
		return;
	samples->tell_next = time + TELL_AGAIN;
	progress_show(&samples->progress, "decoding '%s': %" PRIu64 " instructions", samples->path,
		      t->tally.instructions);
}

/* ------------------------------------------------------------------ counting */

/* Which function is at @ip; neighbours are found at once. */
static int find_function(struct tracing *t, uint64_t ip)
{
	uint16_t mode = ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	struct place place;

	tasks_place(t->annotate->samples->tasks, t->thread, mode, ip, false, &place);
	t->low = ip;
	t->high = ip + 1;
	t->here = NULL;
	if (!place.symbol || place.address < place.symbol->start ||
	    place.address >= place.symbol->end)
		return 0;
	t->low = ip - (place.address - place.symbol->start);
	t->high = t->low + (place.symbol->end - place.symbol->start);
	return sites_find(t->annotate, t->event, &place, &t->here);
}

/* Room for the counts of a function, up to the end of the code that is shown */
static int make_blocks(struct annotate_function *function, uint64_t size)
{
	if (size > ANNOTATE_CODE_MAX)
		size = ANNOTATE_CODE_MAX;
	function->block_count = (size + BLOCK - 1) / BLOCK;
	function->blocks = calloc(function->block_count, sizeof(*function->blocks));
	return function->blocks ? 0 : -ENOMEM;
}

/* What is behind the code that is shown counts for the whole. */
static int count(struct annotate_function *function, uint64_t offset, uint64_t size)
{
	uint64_t **block;

	function->period++;
	function->samples++;
	if (!function->blocks && make_blocks(function, size) < 0)
		return -ENOMEM;
	if (offset / BLOCK >= function->block_count)
		return 0;
	block = &function->blocks[offset / BLOCK];
	if (!*block)
		*block = calloc(BLOCK, sizeof(**block));
	if (!*block)
		return -ENOMEM;
	(*block)[offset % BLOCK]++;
	return 0;
}

/* A trace_visit */
static void step_take(void *arg, const struct trace_step *step)
{
	struct tracing *t = arg;

	trace_count(&t->tally, step);
	if (t->thread != step->thread || step->kind == TRACE_BEGIN) {
		t->thread = step->thread;
		t->low = 0;
		t->high = 0;
	}
	if (step->kind != TRACE_INSTRUCTION || t->status < 0)
		return;
	tell(t);
	if (step->from < t->low || step->from >= t->high)
		t->status = find_function(t, step->from);
	if (t->status == 0 && t->here)
		t->status = count(t->here, step->from - t->low, t->high - t->low);
}

/* From the counts to sites, which are only of instructions that were executed */
static int make_sites(struct annotate_function *function)
{
	for (size_t i = 0; i < function->block_count; i++)
		for (size_t at = 0; function->blocks[i] && at < BLOCK; at++) {
			uint64_t n = function->blocks[i][at];
			struct annotate_site *site;

			if (!n)
				continue;
			site = sites_new(function, i * BLOCK + at);
			if (!site)
				return -ENOMEM;
			site->period = n;
			site->samples = n;
		}
	counts_forget(function);
	return 0;
}

/**
 * counts_forget() - forget what was counted, but for the sites that were made of it
 * @function: of this function.
 */
void counts_forget(struct annotate_function *function)
{
	for (size_t i = 0; i < function->block_count; i++)
		free(function->blocks[i]);
	free(function->blocks);
	function->blocks = NULL;
	function->block_count = 0;
}

/* -------------------------------------------------------------------- trace */

static bool has_samples(const struct perffile *file)
{
	uint64_t at = file->records;

	if (file->order.first_sample)
		return true;
	while (at < file->records_end && perffile_header(file, at).type != PERF_RECORD_SAMPLE)
		at = perffile_record_after(file, at);
	return at < file->records_end;
}

/**
 * counts_are_all() - has a recording nothing but a trace?
 * @samples: the recording.
 */
bool counts_are_all(const struct samples *samples)
{
	struct perffile_traces traces;
	bool is_there;

	if (has_samples(samples->file) || perffile_traces_read(samples->file, &traces) < 0)
		return false;
	is_there = traces.count;
	perffile_traces_free(&traces);
	return is_there;
}

static bool can_count(struct tracing *t)
{
	struct samples *samples = t->annotate->samples;
	const char *wanted = t->annotate->event;

	if (!trace_is_decodable(samples, &t->traces,
				"'pmuctl script --trace=branches' lists them"))
		return false;
	t->event = trace_event(samples, &t->traces);
	if (!t->event)
		say_error("'%s' does not tell which event traced", samples->path);
	else if (wanted && strcmp(wanted, samples_event_name(samples, t->event)))
		say_error("'%s' has no trace of '%s': '%s' traced", samples->path, wanted,
			  samples_event_name(samples, t->event));
	else
		return true;
	return false;
}

static int decode(struct tracing *t)
{
	struct annotate *annotate = t->annotate;
	int ret;

	t->run = (struct trace_run){
		.samples = annotate->samples,
		.traces = &t->traces,
		.config = t->event->attr.config,
		.code = trace_code_new(annotate->samples),
		.visit = step_take,
		.arg = t,
	};
	ret = t->run.code ? trace_run(&t->run) : -ENOMEM;
	samples_tell_no_more(annotate->samples);
	if (ret == 0)
		ret = t->status;
	for (size_t i = 0; ret == 0 && i < ANNOTATE_BUCKETS; i++)
		for (struct annotate_function *function = annotate->buckets[i]; function && ret == 0;
		     function = function->next)
			ret = make_sites(function);
	trace_code_free(t->run.code);
	return ret;
}

/**
 * counts_read() - count the instructions of a recording's trace; says what is wrong
 * @annotate: the command.
 *
 * Return: 0, or a negative error number; -EBADMSG if not all could be decoded, and the rest is there.
 */
int counts_read(struct annotate *annotate)
{
	struct tracing t = { .annotate = annotate };
	int ret = perffile_traces_read(annotate->samples->file, &t.traces);

	if (ret == 0 && !can_count(&t)) {
		perffile_traces_free(&t.traces);
		return -ENODATA;
	}
	if (ret == 0)
		ret = decode(&t);
	if (ret == -ENOMEM)
		say_error("%s", pmuctl_strerror(ret));
	if (ret == 0) {
		annotate->totals[t.event - annotate->samples->file->events] = t.tally.instructions;
		ret = trace_say_result(&t.run, &t.tally) ? 0 : -EBADMSG;
	}
	perffile_traces_free(&t.traces);
	return ret;
}
