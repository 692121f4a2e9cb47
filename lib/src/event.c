// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Event handles: open, alone, in a group or on all CPUs; control, read, and the
 * estimate of a count that did not run all the time. Groups as a whole and counts of
 * single CPUs are in group.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device.h"
#include "event.h"
#include "internal.h"

/**
 * pmuctl_event_new() - a handle without a descriptor
 * @attr: what is to be opened.
 *
 * Return: to be freed if it is not; NULL without memory.
 */
struct pmuctl_event *pmuctl_event_new(const struct perf_event_attr *attr)
{
	struct pmuctl_event *new = calloc(1, sizeof(*new));

	if (!new)
		return NULL;
	new->fd = -1;
	new->read_format = attr->read_format;
	new->is_backward = attr->write_backward;
	return new;
}

/**
 * pmuctl_open_fill() - what the driver is asked for
 * @open: is filled, but for the explanation.
 * @attr: what to count; only its size tells how long it is: here, nothing behind the first
 *	version is read.
 * @pid: whom.
 * @cpu: where.
 * @flags: PERF_FLAG_*, PMUCTL_OPEN_*.
 * @group: its leader's number, -1 for none.
 * @name: room for a tracepoint's, as long as @open is used.
 */
void pmuctl_open_fill(struct pmuctl_open *open, const struct perf_event_attr *attr, pid_t pid,
		      int cpu, unsigned long flags, int group, char name[PMUCTL_NAME_MAX])
{
	if (flags > UINT32_MAX)		/* let the driver refuse and explain it */
		flags |= 1UL << 31;
	*open = (struct pmuctl_open){
		.size = sizeof(*open),
		.flags = (uint32_t)flags | PERF_FLAG_FD_CLOEXEC,
		.attr = (uintptr_t)attr,
		.pid = pid,
		.cpu = cpu,
		.group_fd = group,
	};
	if (attr->type == PERF_TYPE_TRACEPOINT &&
	    pmuctl_tracepoint_name(attr->config, name, PMUCTL_NAME_MAX))
		open->tracepoint = (uintptr_t)name;
}

PMUCTL_API int pmuctl_event_open_group(struct pmuctl_device *dev,
				       const struct perf_event_attr *attr,
				       pid_t pid, int cpu, unsigned long flags,
				       struct pmuctl_event *leader,
				       struct pmuctl_event **event)
{
	struct pmuctl_explanation why = { .size = 0 };
	char tracepoint[PMUCTL_NAME_MAX];
	struct pmuctl_event *new;
	struct pmuctl_open open;
	int fd;

	if (!dev || !attr || !event)
		return -EINVAL;
	*event = NULL;
	new = pmuctl_event_new(attr);
	if (!new)
		return -ENOMEM;
	pmuctl_open_fill(&open, attr, pid, cpu, flags, leader ? leader->fd : -1, tracepoint);
	open.explanation = (uintptr_t)&why;
	open.explanation_size = sizeof(why);
	fd = ioctl(pmuctl_device_fd(dev), PMUCTL_IOC_OPEN, &open);
	if (fd < 0) {
		int error = errno;

		pmuctl_why_complete(&why, error);
		pmuctl_device_refused(dev, &why);
		free(new);
		return -error;
	}
	new->fd = fd;
	*event = new;
	return 0;
}

PMUCTL_API int pmuctl_event_open(struct pmuctl_device *dev,
				 const struct perf_event_attr *attr, pid_t pid,
				 int cpu, unsigned long flags,
				 struct pmuctl_event **event)
{
	return pmuctl_event_open_group(dev, attr, pid, cpu, flags, NULL, event);
}

PMUCTL_API int pmuctl_event_open_all_cpus(struct pmuctl_device *dev,
					  const struct perf_event_attr *attr,
					  unsigned long flags,
					  struct pmuctl_event *leader,
					  struct pmuctl_event **event)
{
	return pmuctl_event_open_group(dev, attr, -1, -1, flags, leader, event);
}

PMUCTL_API void pmuctl_event_close(struct pmuctl_event *event)
{
	if (!event)
		return;
	if (event->watch)
		pmuctl_event_unwatch(event);
	close(event->fd);
	free(event);
}

PMUCTL_API int pmuctl_event_fd(const struct pmuctl_event *event)
{
	return event->fd;
}

/**
 * pmuctl_event_ioctl() - an ioctl on an event
 * @event: the event.
 * @request: its number.
 * @arg: its argument.
 *
 * Return: 0 or a negative errno.
 */
int pmuctl_event_ioctl(struct pmuctl_event *event, unsigned long request,
		       unsigned long arg)
{
	return ioctl(event->fd, request, arg) < 0 ? -errno : 0;
}

PMUCTL_API int pmuctl_event_enable(struct pmuctl_event *event)
{
	return pmuctl_event_ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
}

PMUCTL_API int pmuctl_event_disable(struct pmuctl_event *event)
{
	return pmuctl_event_ioctl(event, PERF_EVENT_IOC_DISABLE, 0);
}

PMUCTL_API int pmuctl_event_reset(struct pmuctl_event *event)
{
	return pmuctl_event_ioctl(event, PERF_EVENT_IOC_RESET, 0);
}

PMUCTL_API int pmuctl_event_set_filter(struct pmuctl_event *event, const char *filter)
{
	return pmuctl_event_ioctl(event, PERF_EVENT_IOC_SET_FILTER,
				  (unsigned long)(uintptr_t)filter);
}

PMUCTL_API int pmuctl_event_id(struct pmuctl_event *event, uint64_t *id)
{
	__u64 value = 0;
	int ret = pmuctl_event_ioctl(event, PERF_EVENT_IOC_ID,
				     (unsigned long)(uintptr_t)&value);

	*id = value;
	return ret;
}

/**
 * pmuctl_event_decode() - what a read of an event without a group has given
 * @format: attr.read_format.
 * @word: the value, then those of enabled, running, id, lost that were asked for.
 * @reading: filled.
 */
void pmuctl_event_decode(uint64_t format, const uint64_t *word, struct pmuctl_reading *reading)
{
	reading->value = *word++;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		reading->time_enabled = *word++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		reading->time_running = *word++;
	if (format & PERF_FORMAT_ID)
		reading->id = *word++;
	if (format & PERF_FORMAT_LOST)
		reading->lost = *word++;
}

/**
 * pmuctl_event_words() - read() what the descriptor has to say
 * @event: the event.
 * @words: where to.
 * @size: bytes there.
 *
 * Return: 0; -ENODATA if the event is in error state; another negative errno.
 */
int pmuctl_event_words(struct pmuctl_event *event, uint64_t *words, size_t size)
{
	ssize_t got;

	do {
		got = read(event->fd, words, size);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	return got ? 0 : -ENODATA;
}

PMUCTL_API int pmuctl_event_read(struct pmuctl_event *event,
				 struct pmuctl_reading *reading)
{
	uint64_t words[READ_WORDS_MAX] = { 0 };
	int ret;

	memset(reading, 0, sizeof(*reading));
	if (event->read_format & PERF_FORMAT_GROUP)
		return pmuctl_group_first(event, reading);
	ret = pmuctl_event_words(event, words, sizeof(words));
	if (ret == 0)
		pmuctl_event_decode(event->read_format, words, reading);
	return ret;
}

PMUCTL_API uint64_t pmuctl_reading_estimate(const struct pmuctl_reading *reading)
{
	unsigned __int128 scaled;
	uint64_t running = reading->time_running;

	if (!running || running >= reading->time_enabled)
		return reading->value;
	scaled = (unsigned __int128)reading->value * reading->time_enabled;
	scaled = (scaled + running / 2) / running;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

PMUCTL_API int pmuctl_event_explain(struct pmuctl_event *event,
				    struct pmuctl_explanation *why)
{
	int ret;

	memset(why, 0, sizeof(*why));
	why->size = sizeof(*why);
	ret = pmuctl_event_ioctl(event, PMUCTL_IOC_EXPLAIN,
				 (unsigned long)(uintptr_t)why);
	why->field[sizeof(why->field) - 1] = '\0';
	why->sentence[sizeof(why->sentence) - 1] = '\0';
	return ret;
}
