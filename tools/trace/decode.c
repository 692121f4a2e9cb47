// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding of Intel Processor Trace with libipt. The trace has a bit or an address for each
 * branch whose way cannot be known in advance; between them the decoder follows the code.
 *
 * Without libipt's headers at build time this says that it cannot.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#ifdef HAVE_LIBIPT

#include <intel-pt.h>

/* Of attr.config */
#define MTC_PERIOD_SHIFT 14

/* Beside libipt's status: what comes next is not to be decoded yet; and it would never end. */
#define WAITING 1
#define CIRCLE 2

/**
 * struct trace_decoder - where the decoder is
 * @piece: what it decodes.
 * @decoder: libipt's.
 * @image: likewise.
 * @status: its last one.
 * @ranges: of the address filter that it knows of.
 * @range_count: how many.
 * @is_new: it was begun, and nothing has been told of it: the ranges may be others.
 * @has_begun: it is at a place from which it can go on.
 * @until: it waits at this time.
 * @has_event: @event is next.
 * @event: that has been read.
 * @has_last: @last is valid: the next instruction follows it.
 * @last: the instruction before.
 * @mark: where a jump or a call was, after which nothing of the trace has been used.
 * @mark_position: of the trace then.
 * @mark_age: so many jumps and calls ago, and
 * @mark_limit: at that many it will be another one; 0: there is none.
 */
struct trace_decoder {
	struct trace_piece piece;
	struct pt_insn_decoder *decoder;
	struct pt_image *image;
	int status;
	struct trace_range ranges[TRACE_RANGES];
	unsigned int range_count;
	bool is_new;
	bool has_begun;
	uint64_t until;
	bool has_event;
	struct pt_event event;
	bool has_last;
	struct pt_insn last;
	uint64_t mark;
	uint64_t mark_position;
	uint64_t mark_age;
	uint64_t mark_limit;
};

static void tell(const struct trace_decoder *d, enum trace_step_kind kind, uint64_t from,
		 uint64_t to, uint8_t size)
{
	struct trace_step step = { .kind = kind, .from = from, .to = to, .size = size };
	uint64_t position, tsc;

	if (pt_insn_time(d->decoder, &tsc, NULL, NULL) >= 0)
		step.tsc = tsc;
	if (kind == TRACE_BEGIN && pt_insn_get_offset(d->decoder, &position) >= 0)
		step.position = position;
	d->piece.visit(d->piece.arg, &step);
}

static void tell_error(const struct trace_decoder *d, int status)
{
	struct trace_step step = { .kind = TRACE_ERROR };
	uint64_t position = 0, tsc;

	pt_insn_get_offset(d->decoder, &position);
	step.position = position;
	step.error = status == CIRCLE ? "the code is an endless loop" : pt_errstr(pt_errcode(status));
	if (d->has_last)
		step.from = d->last.ip;
	if (pt_insn_time(d->decoder, &tsc, NULL, NULL) >= 0)
		step.tsc = tsc;
	d->piece.visit(d->piece.arg, &step);
}

static enum trace_step_kind kind_of(enum pt_insn_class class)
{
	switch (class) {
	case ptic_call:
		return TRACE_CALL;
	case ptic_return:
		return TRACE_RETURN;
	case ptic_far_call:
		return TRACE_SYSTEM_CALL;
	case ptic_far_return:
		return TRACE_SYSTEM_RETURN;
	default:
		return TRACE_JUMP;
	}
}

/* The last instruction has led to @to, 0 if nobody knows where. */
static void leave_last(struct trace_decoder *d, uint64_t to)
{
	enum trace_step_kind kind = kind_of(d->last.iclass);

	if (!d->has_last)
		return;
	d->has_last = false;
	if (kind == TRACE_JUMP && to == d->last.ip + d->last.size)
		return;
	if (kind == TRACE_JUMP && !to && (d->last.iclass == ptic_other ||
					  d->last.iclass == ptic_cond_jump))
		return;
	tell(d, kind, d->last.ip, to, d->last.size);
}

static void tell_event(struct trace_decoder *d, const struct pt_event *event)
{
	if (event->status_update && event->type != ptev_enabled)
		return;
	switch (event->type) {
	case ptev_enabled:
		leave_last(d, 0);
		tell(d, TRACE_BEGIN, 0, event->variant.enabled.ip, 0);
		break;
	case ptev_disabled:
		leave_last(d, event->ip_suppressed ? 0 : event->variant.disabled.ip);
		tell(d, TRACE_END, 0, event->ip_suppressed ? 0 : event->variant.disabled.ip, 0);
		break;
	case ptev_async_disabled:
		leave_last(d, event->variant.async_disabled.at);
		tell(d, TRACE_END, event->variant.async_disabled.at,
		     event->ip_suppressed ? 0 : event->variant.async_disabled.ip, 0);
		break;
	case ptev_async_branch:
		leave_last(d, event->variant.async_branch.from);
		tell(d, TRACE_INTERRUPT, event->variant.async_branch.from,
		     event->variant.async_branch.to, 0);
		break;
	case ptev_overflow:
		d->has_last = false;
		tell(d, TRACE_LOST, 0, event->ip_suppressed ? 0 : event->variant.overflow.ip, 0);
		break;
	default:
		break;
	}
}

/*
 * The model that wrote the trace, as the file has it: vendor, family, model and stepping. What is wrong
 * with the traces of some the decoder knows, and goes round it.
 */
static void set_cpu(struct pt_config *config, const char *cpuid)
{
	unsigned int family, model, stepping;

	if (!cpuid || sscanf(cpuid, "GenuineIntel,%u,%u,%u", &family, &model, &stepping) != 3 ||
	    family > UINT16_MAX || model > UINT8_MAX || stepping > UINT8_MAX)
		return;
	config->cpu = (struct pt_cpu){ pcv_intel, (uint16_t)family, (uint8_t)model,
				       (uint8_t)stepping };
	pt_cpu_errata(&config->errata, &config->cpu);
}

/* Of struct pt_config.addr_filter */
#define RANGE_FILTERS 1
#define RANGE_STOPS 2

static void configure(const struct trace_decoder *d, struct pt_config *config)
{
	const struct trace_piece *piece = &d->piece;
	const uint64_t *words = piece->words, period = words[PERFFILE_PT_MTC_PERIOD];
	uint64_t *addresses = &config->addr_filter.addr0_a;

	pt_config_init(config);
	config->begin = (uint8_t *)piece->bytes;
	config->end = (uint8_t *)piece->bytes + piece->size;
	set_cpu(config, piece->cpuid);
	config->cpuid_0x15_eax = (uint32_t)words[PERFFILE_PT_TSC_CTC_D];
	config->cpuid_0x15_ebx = (uint32_t)words[PERFFILE_PT_TSC_CTC_N];
	config->mtc_freq = (uint8_t)((piece->config & period) >> MTC_PERIOD_SHIFT);
	config->nom_freq = (uint8_t)words[PERFFILE_PT_RATIO];
	for (unsigned int i = 0; i < d->range_count; i++) {
		uint32_t kind = d->ranges[i].stops ? RANGE_STOPS : RANGE_FILTERS;

		config->addr_filter.config.addr_cfg |= kind << (4 * i);
		*addresses++ = d->ranges[i].from;
		*addresses++ = d->ranges[i].to;
	}
}

/* Make libipt's decoder, for the ranges that there are. */
static bool make_decoder(struct trace_decoder *d)
{
	struct pt_config config;

	configure(d, &config);
	d->decoder = pt_insn_alloc_decoder(&config);
	if (!d->decoder)
		return false;
	pt_insn_set_image(d->decoder, d->image);
	return true;
}

/*
 * The decoder stands where it can begin, and what comes is to be told: what is mapped by now is known.
 * A decoder has its ranges for good: with others it is another one. Returns libipt's status.
 */
static int learn_ranges(struct trace_decoder *d)
{
	struct trace_range ranges[TRACE_RANGES] = { 0 };
	struct pt_insn_decoder *old = d->decoder;
	uint64_t position = 0;
	unsigned int n;

	pt_insn_get_sync_offset(old, &position);
	n = d->piece.find_ranges(d->piece.arg, position, ranges);
	if (n == d->range_count && !memcmp(ranges, d->ranges, sizeof(ranges)))
		return d->status;
	memcpy(d->ranges, ranges, sizeof(ranges));
	d->range_count = n;
	if (!make_decoder(d)) {
		d->decoder = old;
		return -pte_nomem;
	}
	pt_insn_free_decoder(old);
	d->has_event = false;
	return pt_insn_sync_set(d->decoder, position);
}

/* Takes the events that are there and not too late; returns 0, WAITING or libipt's error. */
static int events_take(struct trace_decoder *d)
{
	while (d->has_event || d->status & pts_event_pending) {
		if (!d->has_event) {
			d->status = pt_insn_event(d->decoder, &d->event, sizeof(d->event));
			if (d->status < 0)
				return d->status;
			d->has_event = true;
		}
		if (d->event.has_tsc && d->event.tsc >= d->until)
			return WAITING;
		if (d->is_new) {
			d->is_new = false;
			d->status = learn_ranges(d);
			if (d->status < 0)
				return d->status;
			if (!d->has_event)
				continue;
		}
		d->has_event = false;
		tell_event(d, &d->event);
	}
	return d->status & pts_eos ? -pte_eos : 0;
}

/* Back in user space, from a kernel that was traced too: may be as another task */
static bool is_too_late(const struct trace_decoder *d)
{
	uint64_t tsc;

	return d->has_last && d->last.iclass == ptic_far_return &&
	       pt_insn_time(d->decoder, &tsc, NULL, NULL) >= 0 && tsc >= d->until;
}

/*
 * Code that comes to a place again, and had no branch of two ways and nothing of the trace meanwhile, goes
 * round for ever: the trace is not of this code, or forged. One place is remembered, for longer
 * and longer (Brent's way to find a cycle).
 */
static bool runs_in_circle(struct trace_decoder *d, const struct pt_insn *insn)
{
	uint64_t position = 0;

	if (insn->iclass == ptic_cond_jump || insn->iclass == ptic_return)
		d->mark_limit = 0;
	if (insn->iclass != ptic_jump && insn->iclass != ptic_call)
		return false;
	pt_insn_get_offset(d->decoder, &position);
	if (!d->mark_limit || position != d->mark_position)
		d->mark_limit = 1;
	else if (insn->ip == d->mark)
		return true;
	else if (++d->mark_age < d->mark_limit)
		return false;
	d->mark = insn->ip;
	d->mark_position = position;
	d->mark_age = 0;
	d->mark_limit *= 2;
	return false;
}

/* Up to the end, or to an error, libipt's, CIRCLE, or WAITING, if that is earlier. */
static int follow(struct trace_decoder *d)
{
	struct pt_insn insn;

	for (;;) {
		int ret = events_take(d);

		if (ret)
			return ret;
		if (is_too_late(d))
			return WAITING;
		d->status = pt_insn_next(d->decoder, &insn, sizeof(insn));
		if (d->status < 0)
			return d->status;
		leave_last(d, insn.ip);
		tell(d, TRACE_INSTRUCTION, insn.ip, 0, insn.size);
		d->last = insn;
		d->has_last = true;
		if (runs_in_circle(d, &insn))
			return CIRCLE;
	}
}

/* A read_memory_callback_t of libipt */
static int read_memory(uint8_t *to, size_t size, const struct pt_asid *asid, uint64_t ip,
		       void *arg)
{
	const struct trace_decoder *d = arg;
	int got = d->piece.read(d->piece.arg, ip, to, size);

	(void)asid;
	return got ? got : -pte_nomap;
}

bool trace_can_decode(void)
{
	return true;
}

/**
 * trace_decoder_new() - begin to decode a piece of trace
 * @piece: the piece, and whom to tell; is copied.
 *
 * Return: to be freed with trace_decoder_free(); NULL if there is no memory.
 */
struct trace_decoder *trace_decoder_new(const struct trace_piece *piece)
{
	struct trace_decoder *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->piece = *piece;
	d->image = pt_image_alloc(NULL);
	if (!d->image || !make_decoder(d)) {
		trace_decoder_free(d);
		return NULL;
	}
	pt_image_set_callback(d->image, read_memory, d);
	return d;
}

/**
 * trace_decoder_run() - decode what was before a time
 * @d: the decoder.
 * @until: of the time stamp counter, or TRACE_END_OF_TIME.
 *
 * What cannot be decoded is told as an ERROR; decoding goes on where the trace has a
 * beginning again. Without time stamps in the trace all of it is decoded.
 *
 * Return: false if there is no more.
 */
bool trace_decoder_run(struct trace_decoder *d, uint64_t until)
{
	d->until = until;
	for (;;) {
		int ret;

		if (!d->has_begun) {
			d->status = pt_insn_sync_forward(d->decoder);
			d->has_last = false;
			d->has_event = false;
			d->mark_limit = 0;
			d->is_new = d->piece.find_ranges;
			if (d->status == -pte_eos)
				return false;
			if (d->status < 0) {
				tell_error(d, d->status);
				return false;
			}
			d->has_begun = true;
		}
		ret = follow(d);
		if (ret == WAITING)
			return true;
		if (ret != -pte_eos)
			tell_error(d, ret);
		d->has_begun = false;
	}
}

/**
 * trace_decoder_free() - end it
 * @d: the decoder, or NULL.
 */
void trace_decoder_free(struct trace_decoder *d)
{
	if (!d)
		return;
	if (d->decoder)
		pt_insn_free_decoder(d->decoder);
	pt_image_free(d->image);
	free(d);
}

#else /* !HAVE_LIBIPT */

bool trace_can_decode(void)
{
	return false;
}

struct trace_decoder *trace_decoder_new(const struct trace_piece *piece)
{
	(void)piece;
	return NULL;
}

bool trace_decoder_run(struct trace_decoder *d, uint64_t until)
{
	(void)d;
	(void)until;
	return false;
}

void trace_decoder_free(struct trace_decoder *d)
{
	(void)d;
}

#endif
