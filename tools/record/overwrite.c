// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl record --overwrite": samples go to rings that are written for ever, backward, and only the
 * newest ones are in the file when it ends. What tells of tasks and of what they map is needed for
 * all of them, however old: an event that counts nothing has it in rings that are read meanwhile.
 */
#include <errno.h>
#include <stdlib.h>

#include "record.h"

/**
 * overwrite_check() - can only the newest samples be recorded?
 * @options: all that is asked for.
 * @traces: an event traces.
 *
 * Return: 0 or an exit status.
 */
int overwrite_check(const struct record_options *options, bool traces)
{
	const struct command *command = options->measure.command;

	if (!options->overwrite)
		return 0;
	if (traces)
		return say_usage(command,
				 "--overwrite is of samples: of a trace, --snapshot keeps the end");
	if (options->thread_counts)
		return say_usage(command,
				 "--overwrite and --stat exclude each other: what threads have counted would be overwritten");
	if (options->max_size)
		return say_usage(command,
				 "--overwrite and --max-size exclude each other: samples are in the file only at its end; -m says how many there are");
	if (options->switch_size)
		return say_usage(command,
				 "--overwrite and a size for --switch-output exclude each other: samples are in the file only when the next one is begun");
	return 0;
}

/* What tells of tasks is little, and is read at once. */
#define TELLER_PAGES	64u

/**
 * overwrite_pages() - how large a ring is
 * @r: the recording.
 * @overwritten: it is that of samples.
 *
 * Return: pages, without the one about it.
 */
unsigned int overwrite_pages(const struct recording *r, bool overwritten)
{
	unsigned int pages = r->pages;

	return r->overwritten && !overwritten && pages > TELLER_PAGES ? TELLER_PAGES : pages;
}

/**
 * overwrite_init() - get ready for rings that are overwritten
 * @r: the recording; its last event is the one that counts nothing.
 *
 * Return: 0 or -ENOMEM.
 */
int overwrite_init(struct recording *r)
{
	size_t nr_targets = r->set.targets.count;

	r->ring_event = r->teller;
	r->overwritten = calloc(nr_targets, sizeof(struct pmuctl_ring *));
	r->taken = calloc(nr_targets, sizeof(*r->taken));
	return r->overwritten && r->taken ? 0 : -ENOMEM;
}

void overwrite_close(struct recording *r)
{
	for (size_t i = 0; r->overwritten && i < r->set.targets.count; i++)
		pmuctl_ring_close(r->overwritten[i]);
	free(r->overwritten);
	free(r->taken);
}

/**
 * overwrite_check_teller() - is there somebody whom it tells of?
 * @r: the recording; all events are open.
 *
 * Return: 0, or, having told the user, -ESRCH: all targets have ended meanwhile.
 */
int overwrite_check_teller(const struct recording *r)
{
	for (size_t i = 0; i < r->set.targets.count; i++)
		if (*event_set_handle(&r->set, r->teller, i))
			return 0;
	say_error("what is to be sampled has ended");
	return -ESRCH;
}

/**
 * overwritten_take() - the samples of a target that were not taken before
 * @r: the recording.
 * @target: number of the target.
 * @records: gets them, from new to old.
 *
 * Nothing is written meanwhile: what happens then is told as lost.
 *
 * Return: 0 or a negative errno, -EBADMSG if there is something that is no record.
 */
int overwritten_take(const struct recording *r, size_t target, struct perfdata_buffer *records)
{
	struct pmuctl_ring *ring = r->overwritten[target];
	const struct perf_event_header *record;
	uint64_t head, wanted;
	int ret, thawed;

	if (!ring)
		return 0;
	ret = pmuctl_ring_freeze(ring);
	if (ret < 0)
		return ret;
	/* The head goes down; how far is how much is new. */
	head = pmuctl_ring_page(ring)->data_head;
	wanted = r->taken[target] - head;
	r->taken[target] = head;
	while (wanted && (ret = pmuctl_ring_next(ring, &record)) > 0) {
		perfdata_put(records, record, record->size);
		wanted -= record->size < wanted ? record->size : wanted;
	}
	thawed = pmuctl_ring_thaw(ring);
	return ret < 0 ? ret : thawed;
}
