// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing what decodes Processor Trace (libFuzzer), with libipt: whatever a trace has in it, it is
 * decoded to its end or has errors, also where the code runs in circles. An input has some bytes that
 * say what the trace is of, CODE bytes of code, which is all that there is, again and again, and the
 * trace, which has a beginning before it.
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/trace/trace.h"

#define HEAD	8
#define CODE	32
#define START	0x401000ULL
#define KERNEL	0xffffffff81000000ULL

/* Where a trace begins: PSB, in 64-bit code, at START, PSBEND */
static const uint8_t begin[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x99, 0x01,
	0x7d, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00,
	0x02, 0x23,
};

/**
 * struct forged - an input
 * @head: what the trace is of.
 * @code: the code.
 * @visited: so many steps.
 * @size: bytes of the trace.
 */
struct forged {
	const uint8_t *head;
	const uint8_t *code;
	uint64_t visited;
	size_t size;
};

static int read_code(void *arg, uint64_t ip, uint8_t *to, size_t size)
{
	const struct forged *forged = arg;
	size_t at = ip % CODE, there = CODE - at;

	/* Somewhere there is none. */
	if ((ip < START || ip >= START + 0x1000) && (ip < KERNEL || ip >= KERNEL + 0x1000))
		return 0;
	if (size > there)
		size = there;
	memcpy(to, forged->code + at, size);
	return (int)size;
}

static unsigned int find_ranges(void *arg, uint64_t position, struct trace_range *ranges)
{
	const struct forged *forged = arg;
	unsigned int count = forged->head[1] % (TRACE_RANGES + 1);

	if (position > forged->size)
		abort();
	for (unsigned int i = 0; i < count; i++)
		ranges[i] = (struct trace_range){
			.from = START + 4 * i, .to = START + forged->head[2] + (position & 1),
			.stops = forged->head[3] >> i & 1,
		};
	return count;
}

static void visit(void *arg, const struct trace_step *step)
{
	struct forged *forged = arg;

	forged->visited++;
	if (step->kind > TRACE_ERROR || (step->kind == TRACE_ERROR && !step->error) ||
	    (step->kind == TRACE_ERROR && step->position > forged->size))
		abort();
}

/* At once, or in turns; it comes to an end in any case. */
static void decode(const uint8_t *trace, struct forged *forged, uint64_t turn)
{
	static const char *const cpuids[] = {
		NULL, "GenuineIntel,6,61,4", "GenuineIntel,6,92,9", "GenuineIntel,6,154,3", "x",
	};
	const uint64_t words[PERFFILE_PT_WORDS] = {
		[PERFFILE_PT_MTC_PERIOD] = 0xfULL << 14, [PERFFILE_PT_TSC_CTC_D] = forged->head[4] & 3,
		[PERFFILE_PT_TSC_CTC_N] = forged->head[4] >> 2, [PERFFILE_PT_RATIO] = forged->head[5],
	};
	const struct trace_piece piece = {
		.bytes = trace, .size = forged->size, .words = words,
		.config = (uint64_t)forged->head[6] << 14,
		.cpuid = cpuids[forged->head[0] % (sizeof(cpuids) / sizeof(cpuids[0]))],
		.read = read_code, .find_ranges = forged->head[0] & 128 ? find_ranges : NULL,
		.visit = visit, .arg = forged,
	};
	struct trace_decoder *decoder = trace_decoder_new(&piece);
	uint64_t until = turn;

	forged->visited = 0;
	/* libipt refuses some of what the file says. */
	if (!decoder)
		return;
	while (trace_decoder_run(decoder, until))
		until = until * 2 > until ? until * 2 : TRACE_END_OF_TIME;
	trace_decoder_free(decoder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct forged forged = { .head = data, .code = data + HEAD };
	uint8_t *trace;

	if (size < HEAD + CODE)
		return 0;
	/* Of the trace's own size, so that what is read behind it is noticed */
	size -= HEAD + CODE;
	forged.size = sizeof(begin) + size;
	trace = malloc(forged.size);
	if (!trace)
		abort();
	memcpy(trace, begin, sizeof(begin));
	memcpy(trace + sizeof(begin), data + HEAD + CODE, size);
	decode(trace, &forged, TRACE_END_OF_TIME);
	decode(trace, &forged, 1 + data[7]);
	free(trace);
	return 0;
}
