// SPDX-License-Identifier: GPL-2.0-only
/*
 * For who looks at records while they are made: a recording in memory that has the events only,
 * and what is in the rings now.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record.h"

/**
 * recording_to_memory() - a file of which the records will come from the rings; says what is wrong
 * @r: the recording, with its events open.
 * @name: of the file, for people.
 * @fd: set; to be closed, whatever becomes of it.
 * @path: filled with how it is opened.
 * @size: bytes there.
 *
 * Return: 0 or a negative errno.
 */
int recording_to_memory(const struct recording *r, const char *name, int *fd, char *path,
			size_t size)
{
	struct perfdata *file = NULL;
	int ret;

	*fd = memfd_create(name, MFD_CLOEXEC);
	if (*fd < 0)
		ret = -errno;
	else
		ret = perfdata_create(*fd, r->events, r->set.nr_events, &file);
	if (ret == 0)
		ret = perfdata_finish(file);
	perfdata_free(file);
	if (ret < 0)
		say_error("cannot keep samples in memory: %s", strerror(-ret));
	snprintf(path, size, "/proc/self/fd/%d", *fd);
	return ret;
}

/* What is there now, but not more than the ring has room for: others wait too. */
static bool ring_take(struct pmuctl_ring *ring, size_t room, struct perfdata_buffer *records)
{
	const struct perf_event_header *record;
	size_t bytes = 0;
	int ret = 1;

	while (ret > 0 && bytes < room) {
		ret = pmuctl_ring_next(ring, &record);
		if (ret > 0) {
			perfdata_put(records, record, record->size);
			bytes += record->size;
		}
	}
	pmuctl_ring_consume(ring);
	return ret >= 0;
}

/**
 * recording_take() - what is in all rings now
 * @r: the recording.
 * @records: gets it, each ring read once, as perffile_feed() wants it.
 *
 * Return: in how many rings there was something that is no record.
 */
uint64_t recording_take(const struct recording *r, struct perfdata_buffer *records)
{
	const size_t room = r->pages * (size_t)getpagesize();
	uint64_t damaged = 0;

	for (size_t i = 0; i < r->set.targets.count; i++)
		if (r->rings[i])
			damaged += !ring_take(r->rings[i], room, records);
	return damaged;
}
