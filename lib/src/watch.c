// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Events with a function: what their rings have is taken apart, and the function is called
 * for it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pmuctl_ring.h>

#include "event.h"
#include "internal.h"

/**
 * struct pmuctl_watch - the function of an event, and its ring
 * @lost: overflows that found no room since the last call.
 */
struct pmuctl_watch {
	struct pmuctl_ring *ring;
	uint64_t sample_type;
	pmuctl_overflow_fn function;
	void *arg;
	uint64_t lost;
};

/**
 * pmuctl_event_watch() - give an event a ring and a function
 * @event: the event, which gets both.
 * @pages: of the ring.
 * @sample_type: attr.sample_type.
 * @function: and @arg: the function.
 * @why: filled on refusal; may be NULL.
 *
 * Return: 0 or a negative errno.
 */
int pmuctl_event_watch(struct pmuctl_event *event, size_t pages, uint64_t sample_type,
		       pmuctl_overflow_fn function, void *arg,
		       struct pmuctl_explanation *why)
{
	struct pmuctl_watch *watch = calloc(1, sizeof(*watch));
	struct pmuctl_explanation driver;
	int ret;

	ret = watch ? pmuctl_ring_open(event, pages, &watch->ring) : -ENOMEM;
	if (ret < 0) {
		free(watch);
		memset(&driver, 0, sizeof(driver));
		pmuctl_event_explain(event, &driver);
		pmuctl_why_complete(&driver, -ret);
		if (why)
			*why = driver;
		return ret;
	}
	watch->sample_type = sample_type;
	watch->function = function;
	watch->arg = arg;
	event->watch = watch;
	return 0;
}

/**
 * pmuctl_event_unwatch() - the reverse
 * @event: the event.
 */
void pmuctl_event_unwatch(struct pmuctl_event *event)
{
	if (!event->watch)
		return;
	pmuctl_ring_close(event->watch->ring);
	free(event->watch);
	event->watch = NULL;
}

/* The fields at the start of a sample, in the order of <linux/perf_event.h> */
static void overflow_decode(uint64_t type, const struct perf_event_header *record,
			    struct pmuctl_overflow *o)
{
	const uint64_t *word = (const uint64_t *)(record + 1);

	if (type & PERF_SAMPLE_IDENTIFIER)
		word++;
	o->ip = *word++;
	o->pid = (uint32_t)*word;
	o->tid = (uint32_t)(*word++ >> 32);
	o->time = *word++;
	if (type & PERF_SAMPLE_ADDR)
		word++;
	if (type & PERF_SAMPLE_ID)
		word++;
	if (type & PERF_SAMPLE_STREAM_ID)
		word++;
	o->cpu = (uint32_t)*word++;
	o->period = *word;
}

PMUCTL_API int pmuctl_event_dispatch(struct pmuctl_event *event)
{
	struct pmuctl_watch *watch = event->watch;
	const struct perf_event_header *record;
	int ret, calls = 0;

	if (!watch)
		return -EINVAL;
	while ((ret = pmuctl_ring_next(watch->ring, &record)) > 0) {
		struct pmuctl_overflow overflow = { .record = record };

		if (record->type == PERF_RECORD_LOST)	/* the id, then how many */
			watch->lost += ((const uint64_t *)(record + 1))[1];
		if (record->type == PERF_RECORD_SAMPLE) {
			overflow_decode(watch->sample_type, record, &overflow);
			overflow.lost = watch->lost;
			watch->lost = 0;
			watch->function(event, &overflow, watch->arg);
			calls++;
		}
		pmuctl_ring_consume(watch->ring);
	}
	return ret < 0 ? ret : calls;
}
