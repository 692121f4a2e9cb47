// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding of Intel Processor Trace with libipt. The trace has a bit or an address for each
 * branch whose way cannot be known in advance; between them the decoder follows the code.
 *
 * Without libipt's headers at build time this says that it cannot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

#ifdef HAVE_LIBIPT

#include <intel-pt.h>

/* Of attr.config */
#define MTC_PERIOD_SHIFT 14

/**
 * struct decoding - where the decoder is
 * @piece: what it decodes.
 * @decoder: libipt's.
 * @has_last: @last is valid: the next instruction follows it.
 * @last: the instruction before.
 */
struct decoding {
	const struct trace_piece *piece;
	struct pt_insn_decoder *decoder;
	bool has_last;
	struct pt_insn last;
};

static void tell(const struct decoding *d, enum trace_step_kind kind, uint64_t from,
		 uint64_t to, uint8_t size)
{
	struct trace_step step = { .kind = kind, .from = from, .to = to, .size = size };
	uint64_t tsc;

	if (pt_insn_time(d->decoder, &tsc, NULL, NULL) >= 0)
		step.tsc = tsc;
	d->piece->visit(d->piece->arg, &step);
}

static void tell_error(const struct decoding *d, int status)
{
	struct trace_step step = { .kind = TRACE_ERROR };
	uint64_t position = 0, tsc;

	pt_insn_get_offset(d->decoder, &position);
	step.position = position;
	step.error = pt_errstr(pt_errcode(status));
	if (d->has_last)
		step.from = d->last.ip;
	if (pt_insn_time(d->decoder, &tsc, NULL, NULL) >= 0)
		step.tsc = tsc;
	d->piece->visit(d->piece->arg, &step);
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
static void leave_last(struct decoding *d, uint64_t to)
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

static void tell_event(struct decoding *d, const struct pt_event *event)
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

/* Takes the events that are there; returns libipt's status. */
static int events_take(struct decoding *d, int status)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending) {
		status = pt_insn_event(d->decoder, &event, sizeof(event));
		if (status >= 0)
			tell_event(d, &event);
	}
	return status;
}

/* From a place where decoding can start up to the end, or to an error; returns libipt's. */
static int follow(struct decoding *d, int status)
{
	struct pt_insn insn;

	d->has_last = false;
	for (;;) {
		status = events_take(d, status);
		if (status < 0 || status & pts_eos)
			return status < 0 ? status : -pte_eos;
		status = pt_insn_next(d->decoder, &insn, sizeof(insn));
		if (status < 0)
			return status;
		leave_last(d, insn.ip);
		tell(d, TRACE_INSTRUCTION, insn.ip, 0, insn.size);
		d->last = insn;
		d->has_last = true;
	}
}

/* A read_memory_callback_t of libipt */
static int read_memory(uint8_t *to, size_t size, const struct pt_asid *asid, uint64_t ip,
		       void *arg)
{
	const struct trace_piece *piece = arg;
	int got = trace_code_read(piece->code, piece->thread, ip, to, size);

	(void)asid;
	return got ? got : -pte_nomap;
}

static void configure(const struct trace_piece *piece, struct pt_config *config)
{
	const uint64_t *words = piece->words, period = words[PERFFILE_PT_MTC_PERIOD];

	pt_config_init(config);
	config->begin = (uint8_t *)piece->bytes;
	config->end = (uint8_t *)piece->bytes + piece->size;
	config->cpuid_0x15_eax = (uint32_t)words[PERFFILE_PT_TSC_CTC_D];
	config->cpuid_0x15_ebx = (uint32_t)words[PERFFILE_PT_TSC_CTC_N];
	config->mtc_freq = (uint8_t)((piece->config & period) >> MTC_PERIOD_SHIFT);
	config->nom_freq = (uint8_t)words[PERFFILE_PT_RATIO];
}

bool trace_can_decode(void)
{
	return true;
}

/**
 * trace_decode() - decode a piece of trace
 * @piece: the piece, and whom to tell.
 *
 * What cannot be decoded is told as an ERROR; decoding goes on where the trace has a
 * beginning again.
 *
 * Return: 0 or -ENOMEM.
 */
int trace_decode(const struct trace_piece *piece)
{
	struct pt_image *image = pt_image_alloc(NULL);
	struct decoding d = { .piece = piece };
	struct pt_config config;
	int status;

	configure(piece, &config);
	d.decoder = image ? pt_insn_alloc_decoder(&config) : NULL;
	if (!d.decoder) {
		pt_image_free(image);
		return -ENOMEM;
	}
	pt_image_set_callback(image, read_memory, (void *)piece);
	pt_insn_set_image(d.decoder, image);
	for (;;) {
		status = pt_insn_sync_forward(d.decoder);
		if (status < 0)
			break;
		status = follow(&d, status);
		if (status != -pte_eos)
			tell_error(&d, status);
	}
	if (status != -pte_eos)
		tell_error(&d, status);
	pt_insn_free_decoder(d.decoder);
	pt_image_free(image);
	return 0;
}

#else /* !HAVE_LIBIPT */

bool trace_can_decode(void)
{
	return false;
}

int trace_decode(const struct trace_piece *piece)
{
	(void)piece;
	return -EOPNOTSUPP;
}

#endif
