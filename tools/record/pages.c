// SPDX-License-Identifier: GPL-2.0-only
/*
 * How large the rings of "pmuctl record" are if nobody says so. Events that threads and children inherit
 * are in one ring, whichever CPUs these are on: it has the room that perf's rings, one for
 * each CPU, have together. docs/recordings.md says why it is one.
 */
#include <errno.h>
#include <unistd.h>

#include "record.h"

/* With the page about it, what an ordinary user may lock for each CPU (mlock_kb) */
#define PAGES_DEFAULT 128u

/* May what one target does be on several CPUs at once, and in one ring? */
static bool are_of_all_cpus(const struct recording *r)
{
	const struct measure *measure = &r->options->measure;

	return !measure_is_of_cpus(measure) && !measure->no_inherit && !measure->on_each_cpu;
}

/**
 * pages_choose() - how large rings will be, if they can be had
 * @r: the recording, with its targets.
 */
void pages_choose(struct recording *r)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	size_t all = PAGES_DEFAULT * (size_t)(cpus > 0 ? cpus : 1);

	r->pages = r->options->pages ? r->options->pages : PAGES_DEFAULT;
	if (r->options->pages || !are_of_all_cpus(r))
		return;
	/* All targets' together are what an ordinary user may lock. */
	while (2 * (size_t)r->pages * r->set.targets.count <= all)
		r->pages *= 2;
}

/**
 * pages_open_ring() - map a ring, a smaller one if there is too little for what nobody has asked for
 * @r: the recording.
 * @owner: the event that has it.
 * @overwritten: only the newest samples are kept there.
 * @ring: gets it.
 *
 * Return: 0 or a negative errno.
 */
int pages_open_ring(struct recording *r, struct pmuctl_event *owner, bool overwritten,
		    struct pmuctl_ring **ring)
{
	for (;;) {
		int ret = pmuctl_ring_open(owner, overwrite_pages(r, overwritten), ring);

		/* Other recordings of the user may have locked some. */
		if ((ret != -EPERM && ret != -ENOMEM) || r->options->pages || r->pages <= PAGES_DEFAULT)
			return ret;
		r->pages /= 2;
	}
}
