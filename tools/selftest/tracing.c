// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processor Trace: what is decoded of the known loop must be the loop, to the instruction.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmuctl_trace.h>

#include "selftest.h"
#include "trace/trace.h"

#define ROUNDS		100000
#define EVENT		"intel_pt//u"
#define RING_PAGES	8
#define TRACE_PAGES	256

/**
 * struct decoded - what a trace says
 * @instructions: that were executed.
 * @outside: of them, not in the loop.
 * @lost: times that the processor lost packets.
 * @errors: how many, and the first.
 * @bytes: of trace.
 */
struct decoded {
	uint64_t instructions, outside, lost, errors, bytes;
	char error[128];
};

/* A trace_read_code: this program is the code, and no more of it than the loop. */
static int read_loop(void *arg, uint64_t ip, uint8_t *to, size_t size)
{
	(void)arg;
	if (!loop_has(ip))
		return 0;
	memcpy(to, (const void *)(uintptr_t)ip, size);
	return (int)size;
}

/* A trace_visit */
static void count_step(void *arg, const struct trace_step *step)
{
	struct decoded *decoded = arg;

	if (step->kind == TRACE_INSTRUCTION) {
		decoded->instructions++;
		decoded->outside += !loop_has(step->from);
	} else if (step->kind == TRACE_LOST) {
		decoded->lost++;
	} else if (step->kind == TRACE_ERROR && !decoded->errors++) {
		snprintf(decoded->error, sizeof(decoded->error), "%s", step->error);
	}
}

static int decode(const struct iovec *pieces, int n, uint64_t config, struct decoded *decoded)
{
	static const uint64_t words[PERFFILE_PT_WORDS];
	struct trace_piece piece = {
		.words = words, .config = config, .read = read_loop, .visit = count_step,
		.arg = decoded,
	};
	struct trace_decoder *decoder;
	uint8_t *bytes, *end;

	for (int i = 0; i < n; i++)
		piece.size += pieces[i].iov_len;
	bytes = malloc(piece.size + 1);
	if (!bytes)
		return -ENOMEM;
	end = bytes;
	for (int i = 0; i < n; i++) {
		memcpy(end, pieces[i].iov_base, pieces[i].iov_len);
		end += pieces[i].iov_len;
	}
	piece.bytes = bytes;
	decoded->bytes = piece.size;
	decoder = trace_decoder_new(&piece);
	while (decoder && trace_decoder_run(decoder, TRACE_END_OF_TIME))
		;
	trace_decoder_free(decoder);
	free(bytes);
	return decoder ? 0 : -ENOMEM;
}

/* The loop, traced by an event that is open; returns 0 or a negative errno. */
static int trace_loop(struct pmuctl_event *event, uint64_t config, struct decoded *decoded)
{
	struct pmuctl_trace *trace = NULL;
	struct pmuctl_ring *ring = NULL;
	struct iovec pieces[2];
	int ret = pmuctl_ring_open(event, RING_PAGES, &ring);

	if (!ret)
		ret = pmuctl_trace_open(ring, TRACE_PAGES, 0, &trace);
	if (!ret)
		ret = loop_run(pmuctl_event_fd(event), ROUNDS);
	if (!ret)
		ret = pmuctl_trace_pieces(trace, pieces);
	if (ret >= 0)
		ret = decode(pieces, ret, config, decoded);
	pmuctl_trace_close(trace);
	pmuctl_ring_close(ring);
	return ret;
}

static void judge(struct result *result, const struct decoded *decoded)
{
	struct known known = loop_known(ROUNDS);

	result_figure(result, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}",
					"instructions", (json_int_t)decoded->instructions,
					"expected", (json_int_t)known.instructions,
					"outside", (json_int_t)decoded->outside,
					"lost", (json_int_t)decoded->lost,
					"errors", (json_int_t)decoded->errors,
					"bytes", (json_int_t)decoded->bytes));
	if (decoded->errors)
		result_fault(result, "the trace cannot be decoded: %s", decoded->error);
	else if (decoded->instructions != known.instructions)
		result_fault(result, "%" PRIu64 " instructions decoded instead of %" PRIu64 ", packets lost %" PRIu64 " times",
			     decoded->instructions, known.instructions, decoded->lost);
}

/**
 * check_trace() - does a trace decode to what was executed?
 * @result: the check.
 * @test: with the device.
 */
void check_trace(struct result *result, struct selftest *test)
{
	struct decoded decoded = { .bytes = 0 };
	struct pmuctl_event *event = NULL;
	struct pmuctl_explanation why;
	struct perf_event_attr attr;
	struct pmuctl_events *events;
	int ret;

	if (!machine_has_flag("intel_pt") || !trace_can_decode()) {
		result_skip(result, "%s", trace_can_decode() ? "this CPU has no Processor Trace" :
			    "this pmuctl was built without libipt");
		return;
	}
	if (test->broken[0]) {
		result_skip(result, "%s", test->broken);
		return;
	}
	ret = pmuctl_events_parse(EVENT, NULL, NULL, NULL, &events);
	if (ret < 0) {
		result_fault(result, "the CPU has Processor Trace, and the module does not");
		return;
	}
	result_find(result, "a loop of %" PRIu64 " instructions, decoded", loop_known(ROUNDS).instructions);
	attr = *pmuctl_events_attr(events, 0);
	attr.disabled = 1;
	ret = pmuctl_event_open(test->dev, &attr, 0, -1, 0, &event);
	if (ret < 0) {
		pmuctl_device_explain(test->dev, &why);
		result_fault(result, "%s is refused: %s", EVENT, why.sentence);
	} else {
		ret = trace_loop(event, attr.config, &decoded);
		if (ret < 0)
			result_fault(result, "the trace cannot be read: %s", pmuctl_strerror(ret));
		else
			judge(result, &decoded);
	}
	pmuctl_event_close(event);
	pmuctl_events_free(events);
}
