// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Many events in one call of the driver: opened, all or none; read; enabled, disabled and
 * reset.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <pmuctl_list.h>

#include "device.h"
#include "event.h"
#include "internal.h"

/* The driver counts from the start of what it was given, the caller from that of his list. */
static void shift_entry(struct pmuctl_explanation *why, size_t done)
{
	char rest[sizeof(why->field)];
	const char *end = strchr(why->field, ']');

	if (!done || why->field[0] != '[' || !end)
		return;
	why->entry += (uint32_t)done;
	snprintf(rest, sizeof(rest), "%s", end);
	snprintf(why->field, sizeof(why->field), "[%u%.20s", why->entry, rest);
}

/* Fetch why the last ioctl on the device was refused, with @error, after @done entries. */
static int list_refused(struct pmuctl_device *dev, int error, size_t done)
{
	struct pmuctl_explanation why = { .size = sizeof(why) };

	if (ioctl(pmuctl_device_fd(dev), PMUCTL_IOC_EXPLAIN, &why) < 0 ||
	    why.error != (uint32_t)error)
		memset(&why, 0, sizeof(why));
	shift_entry(&why, done);
	pmuctl_why_complete(&why, error);
	pmuctl_device_refused(dev, &why);
	return -error;
}

/* ------------------------------------------------------------------- open */

/**
 * struct opening - a list that is being opened
 * @opens: what the driver is asked for.
 * @names: of tracepoints.
 * @fds: what it gives.
 */
struct opening {
	struct pmuctl_open *opens;
	char (*names)[PMUCTL_NAME_MAX];
	int32_t *fds;
};

/* Nothing is left in the entries unless all were opened. */
static int call_open(struct pmuctl_device *dev, const struct opening *o, size_t nr)
{
	struct pmuctl_explanation why = { .size = 0 };
	struct pmuctl_open_list request = {
		.size = sizeof(request),
		.nr = nr > UINT32_MAX ? UINT32_MAX : (uint32_t)nr,
		.entry_size = sizeof(*o->opens),
		.opens = (uintptr_t)o->opens,
		.fds = (uintptr_t)o->fds,
		.explanation_size = sizeof(why),
		.explanation = (uintptr_t)&why,
	};
	int error;

	if (ioctl(pmuctl_device_fd(dev), PMUCTL_IOC_OPEN_LIST, &request) >= 0)
		return 0;
	error = errno;
	pmuctl_why_complete(&why, error);
	pmuctl_device_refused(dev, &why);
	return -error;
}

static void fill_open(struct pmuctl_open *open, const struct pmuctl_list_entry *entry,
		      char name[PMUCTL_NAME_MAX])
{
	int group = entry->leader ? entry->leader->fd : -1;

	if (entry->flags & PMUCTL_OPEN_GROUP_ENTRY)
		group = entry->leader_entry;
	pmuctl_open_fill(open, entry->attr, entry->pid, entry->cpu, entry->flags, group, name);
}

static int open_all(struct pmuctl_device *dev, struct pmuctl_list_entry *list, size_t nr,
		    const struct opening *o)
{
	int ret;

	for (size_t i = 0; i < nr; i++) {
		list[i].event = pmuctl_event_new(list[i].attr);
		if (!list[i].event)
			return -ENOMEM;
		fill_open(&o->opens[i], &list[i], o->names[i]);
	}
	ret = call_open(dev, o, nr);
	for (size_t i = 0; i < nr && ret == 0; i++)
		list[i].event->fd = o->fds[i];
	return ret;
}

PMUCTL_API int pmuctl_list_open(struct pmuctl_device *dev, struct pmuctl_list_entry *list,
				size_t nr)
{
	struct opening o;
	int ret;

	if (!dev || !list)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++)
		list[i].event = NULL;
	for (size_t i = 0; i < nr; i++)
		if (!list[i].attr || list[i].reserved[0] || list[i].reserved[1])
			return -EINVAL;
	o.opens = calloc(nr + 1, sizeof(*o.opens));
	o.names = calloc(nr + 1, sizeof(*o.names));
	o.fds = calloc(nr + 1, sizeof(*o.fds));
	ret = o.opens && o.names && o.fds ? open_all(dev, list, nr, &o) : -ENOMEM;
	for (size_t i = 0; i < nr && ret < 0; i++) {
		free(list[i].event);
		list[i].event = NULL;
	}
	free(o.opens);
	free(o.names);
	free(o.fds);
	return ret;
}

/* ------------------------------------------------------------------- read */

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* 64-bit words that a read of it gives, at most */
static size_t words_of(const struct pmuctl_list_reading *entry)
{
	return entry->event->read_format & PERF_FORMAT_GROUP ?
		pmuctl_group_words(entry->event->read_format, entry->max) : READ_WORDS_MAX;
}

static void decode(struct pmuctl_list_reading *entry, const struct pmuctl_read_entry *from)
{
	const uint64_t *words = (const uint64_t *)(uintptr_t)from->buffer;
	uint64_t format = entry->event->read_format;

	if (!from->got) {
		entry->got = -ENODATA;
	} else if (format & PERF_FORMAT_GROUP) {
		entry->got = (int)pmuctl_group_decode(format, words, entry->readings);
	} else {
		pmuctl_event_decode(format, words, entry->readings);
		entry->got = 1;
	}
}

static int call_read(struct pmuctl_device *dev, struct pmuctl_list_reading *list, size_t nr,
		     size_t done, struct pmuctl_read_entry *entries, uint64_t *words)
{
	struct pmuctl_read_list request = {
		.size = sizeof(request),
		.nr = (uint32_t)nr,
		.entry_size = sizeof(*entries),
		.entries = (uintptr_t)entries,
	};

	for (size_t i = 0; i < nr; i++) {
		size_t n = words_of(&list[i]);

		entries[i] = (struct pmuctl_read_entry){
			.fd = list[i].event->fd,
			.length = (uint32_t)(n * sizeof(*words)),
			.buffer = (uintptr_t)words,
		};
		words += n;
	}
	if (ioctl(pmuctl_device_fd(dev), PMUCTL_IOC_READ_LIST, &request) < 0)
		return list_refused(dev, errno, done);
	for (size_t i = 0; i < nr; i++)
		decode(&list[i], &entries[i]);
	return 0;
}

/* Not more than the driver takes at once */
static int read_some(struct pmuctl_device *dev, struct pmuctl_list_reading *list, size_t nr,
		     size_t done)
{
	struct pmuctl_read_entry *entries;
	uint64_t *words;
	size_t n = 0;
	int ret;

	for (size_t i = 0; i < nr; i++)
		n += words_of(&list[i]);
	entries = calloc(nr, sizeof(*entries));
	words = calloc(n, sizeof(*words));
	ret = entries && words ? call_read(dev, list, nr, done, entries, words) : -ENOMEM;
	free(entries);
	free(words);
	return ret;
}

PMUCTL_API int pmuctl_list_read(struct pmuctl_device *dev, struct pmuctl_list_reading *list,
				size_t nr)
{
	int ret = 0;

	if (!dev || !list || !nr)
		return -EINVAL;
	for (size_t i = 0; i < nr; i++) {
		if (!list[i].event || !list[i].readings || !list[i].max)
			return -EINVAL;
		memset(list[i].readings, 0, list[i].max * sizeof(*list[i].readings));
		list[i].got = 0;
	}
	for (size_t done = 0; done < nr && ret == 0; done += PMUCTL_LIST_MAX)
		ret = read_some(dev, list + done, min_size(nr - done, PMUCTL_LIST_MAX), done);
	return ret;
}

/* ------------------------------------------------------------- on and off */

static int control_some(struct pmuctl_device *dev, struct pmuctl_event *const *events,
			size_t nr, uint32_t number, size_t done)
{
	int32_t fds[PMUCTL_LIST_MAX];
	struct pmuctl_control_list request = {
		.size = sizeof(request),
		.nr = (uint32_t)nr,
		.request = number,
		.fds = (uintptr_t)fds,
	};

	for (size_t i = 0; i < nr; i++) {
		if (!events[i])
			return -EINVAL;
		fds[i] = events[i]->fd;
	}
	return ioctl(pmuctl_device_fd(dev), PMUCTL_IOC_CONTROL_LIST, &request) < 0 ?
		list_refused(dev, errno, done) : 0;
}

static int control(struct pmuctl_device *dev, struct pmuctl_event *const *events, size_t nr,
		   uint32_t number)
{
	int ret = 0;

	if (!dev || !events || !nr)
		return -EINVAL;
	for (size_t done = 0; done < nr && ret == 0; done += PMUCTL_LIST_MAX)
		ret = control_some(dev, events + done, min_size(nr - done, PMUCTL_LIST_MAX),
				   number, done);
	return ret;
}

PMUCTL_API int pmuctl_list_enable(struct pmuctl_device *dev, struct pmuctl_event *const *events,
				  size_t nr)
{
	return control(dev, events, nr, PERF_EVENT_IOC_ENABLE);
}

PMUCTL_API int pmuctl_list_disable(struct pmuctl_device *dev,
				   struct pmuctl_event *const *events, size_t nr)
{
	return control(dev, events, nr, PERF_EVENT_IOC_DISABLE);
}

PMUCTL_API int pmuctl_list_reset(struct pmuctl_device *dev, struct pmuctl_event *const *events,
				 size_t nr)
{
	return control(dev, events, nr, PERF_EVENT_IOC_RESET);
}
