// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * What goes beyond a single event: groups as a whole, all events of a thread, and
 * the counts of single CPUs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "device.h"
#include "event.h"
#include "internal.h"

/* Groups up to this size are read without asking for memory. */
#define MEMBERS_ON_STACK	16
/* No PMU has room for a larger group, and the driver none to read it. */
#define MEMBERS_MAX		64
/* Of the whole group: the number of members, time enabled, time running */
#define HEAD_WORDS_MAX		3
/* Of each member: value, id, lost */
#define MEMBER_WORDS_MAX	3

PMUCTL_API int pmuctl_group_enable(struct pmuctl_event *member)
{
	return pmuctl_event_ioctl(member, PERF_EVENT_IOC_ENABLE,
				  PERF_IOC_FLAG_GROUP);
}

PMUCTL_API int pmuctl_group_disable(struct pmuctl_event *member)
{
	return pmuctl_event_ioctl(member, PERF_EVENT_IOC_DISABLE,
				  PERF_IOC_FLAG_GROUP);
}

PMUCTL_API int pmuctl_group_reset(struct pmuctl_event *member)
{
	return pmuctl_event_ioctl(member, PERF_EVENT_IOC_RESET,
				  PERF_IOC_FLAG_GROUP);
}

static size_t member_words(uint64_t format)
{
	return 1 + !!(format & PERF_FORMAT_ID) + !!(format & PERF_FORMAT_LOST);
}

/**
 * pmuctl_group_words() - how long a read of a group is
 * @format: attr.read_format.
 * @members: how many there may be.
 *
 * Return: 64-bit words.
 */
size_t pmuctl_group_words(uint64_t format, size_t members)
{
	if (members > MEMBERS_MAX)
		members = MEMBERS_MAX;
	return 1 + !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
	       !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING) + members * member_words(format);
}

/**
 * pmuctl_group_decode() - what a read of a group has given
 * @format: attr.read_format.
 * @word: it.
 * @readings: filled; the times are those of the group: each member gets them.
 *
 * Return: how many members there are.
 */
size_t pmuctl_group_decode(uint64_t format, const uint64_t *word,
			   struct pmuctl_reading *readings)
{
	uint64_t count = *word++, enabled = 0, running = 0;

	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		enabled = *word++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		running = *word++;
	for (uint64_t i = 0; i < count; i++) {
		readings[i] = (struct pmuctl_reading){
			.value = *word++,
			.time_enabled = enabled,
			.time_running = running,
		};
		if (format & PERF_FORMAT_ID)
			readings[i].id = *word++;
		if (format & PERF_FORMAT_LOST)
			readings[i].lost = *word++;
	}
	return (size_t)count;
}

PMUCTL_API int pmuctl_group_read(struct pmuctl_event *member,
				 struct pmuctl_reading *readings, size_t max)
{
	uint64_t small[HEAD_WORDS_MAX + MEMBERS_ON_STACK * MEMBER_WORDS_MAX];
	uint64_t format = member->read_format, *words = small;
	size_t size;
	int ret;

	if (!(format & PERF_FORMAT_GROUP) || !readings || !max)
		return -EINVAL;
	memset(readings, 0, max * sizeof(*readings));
	size = pmuctl_group_words(format, max) * sizeof(*words);
	if (size > sizeof(small))
		words = malloc(size);
	if (!words)
		return -ENOMEM;
	ret = pmuctl_event_words(member, words, size);
	if (ret == 0)
		ret = (int)pmuctl_group_decode(format, words, readings);
	if (words != small)
		free(words);
	return ret;
}

/**
 * pmuctl_group_first() - read the leader of an event's group
 * @event: a member, with PERF_FORMAT_GROUP.
 * @reading: filled.
 *
 * Return: 0 or a negative errno.
 */
int pmuctl_group_first(struct pmuctl_event *event, struct pmuctl_reading *reading)
{
	struct pmuctl_reading all[MEMBERS_MAX];
	int ret = pmuctl_group_read(event, all, MEMBERS_MAX);

	if (ret < 0)
		return ret;
	*reading = all[0];
	return 0;
}

/* --------------------------------------------------- all that a thread opened */

static int device_ioctl(struct pmuctl_device *dev, unsigned long request)
{
	return ioctl(dev->fd, request, 0) < 0 ? -errno : 0;
}

PMUCTL_API int pmuctl_device_task_enable(struct pmuctl_device *dev)
{
	return device_ioctl(dev, PMUCTL_IOC_TASK_ENABLE);
}

PMUCTL_API int pmuctl_device_task_disable(struct pmuctl_device *dev)
{
	return device_ioctl(dev, PMUCTL_IOC_TASK_DISABLE);
}

/* ---------------------------------------------------------------- CPU by CPU */

PMUCTL_API int pmuctl_event_read_cpus(struct pmuctl_event *event,
				      struct pmuctl_cpu_count *counts, size_t max)
{
	struct pmuctl_read_cpus request = {
		.size = sizeof(request),
		.nr = max > UINT32_MAX ? UINT32_MAX : (uint32_t)max,
		.entry_size = sizeof(*counts),
		.counts = (uintptr_t)counts,
	};
	int ret = pmuctl_event_ioctl(event, PMUCTL_IOC_READ_CPUS,
				     (unsigned long)(uintptr_t)&request);

	/* Who brings no room only asks how many there are. */
	if (ret == -ENOSPC && !max)
		ret = 0;
	return ret < 0 ? ret : (int)request.nr;
}
