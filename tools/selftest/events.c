// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of either system: the same attributes, the same ioctls on their descriptors, the same
 * page. Only one of both can have the PMU, so they take turns.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "selftest.h"

#define CLAIM		"/sys/module/pmuctl/parameters/claim"
#define FIXED_BIT	(1u << 30)	/* of what RDPMC is told; SDM Vol. 2, RDPMC */

const char *const rival_names[RIVALS] = {
	[BY_PMUCTL] = "pmuctl",
	[BY_PERF] = "perf",
};

/**
 * event_attr_of() - an event of this thread in user space, to be enabled by its leader
 * @type: PERF_TYPE_*.
 * @config: which event.
 *
 * Return: its attributes.
 */
struct perf_event_attr event_attr_of(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr) {
		.size = sizeof(struct perf_event_attr),
		.type = type,
		.config = config,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
}

/**
 * perf_may_have_it() - have pmuctl give the PMU back, at once
 * @why: filled if it keeps it.
 * @size: bytes there.
 *
 * Return: whether perf can have it, as far as pmuctl goes.
 */
bool perf_may_have_it(char *why, size_t size)
{
	char claim[32];

	if (!file_word(CLAIM, claim, sizeof(claim)) || !file_write(CLAIM, claim)) {
		snprintf(why, size, "the parameter claim of the module cannot be written");
		return false;
	}
	if (!strcmp(claim, "always")) {
		snprintf(why, size, "the module's parameter claim is 'always': it keeps the PMU");
		return false;
	}
	return true;
}

/*
 * Of a hybrid processor perf has a PMU for each type of CPU, which is named in the high half of
 * config; without, its events are those of performance cores.
 */
static void for_core(struct perf_event_attr *attr, unsigned int core)
{
	char type[16];

	if ((core == CORE_EFFICIENCY &&
	     file_word("/sys/bus/event_source/devices/cpu_atom/type", type, sizeof(type))) ||
	    (core == CORE_PERFORMANCE &&
	     file_word("/sys/bus/event_source/devices/cpu_core/type", type, sizeof(type))))
		attr->config |= strtoull(type, NULL, 10) << 32;
}

/* Setting the parameter again makes the module give the PMU back, if nobody uses it. */
static int perf_open(const struct selftest *test, struct perf_event_attr attr, int group_fd)
{
	char why[128];
	int fd = -1;

	for_core(&attr, test->core);
	for (int i = 0; i < 2 && fd < 0; i++) {
		fd = (int)syscall(__NR_perf_event_open, &attr, 0, -1, group_fd,
				  PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && (errno != EBUSY || !perf_may_have_it(why, sizeof(why))))
			break;
	}
	return fd < 0 ? -errno : fd;
}

static void map_page(struct opened *opened)
{
	void *page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, opened->fd, 0);

	opened->page = page == MAP_FAILED ? NULL : page;
}

/**
 * event_open() - open an event of this thread
 * @test: with the device.
 * @rival: by whom.
 * @attr: what to count; one that samples gets no page.
 * @leader: whose group it joins, NULL for none.
 * @opened: the event, for event_close().
 * @why: filled if it is refused.
 *
 * Return: 0 or a negative errno.
 */
int event_open(struct selftest *test, enum rival rival, const struct perf_event_attr *attr,
	       const struct opened *leader, struct opened *opened, struct refusal *why)
{
	struct pmuctl_explanation explanation;
	int ret;

	*opened = (struct opened) { .event = NULL, .fd = -1, .page = NULL };
	if (rival == BY_PMUCTL) {
		/* There is room for all counters of this type only if it is said where. */
		ret = pmuctl_event_open_group(test->dev, attr, 0, test->core ? test->cpu : -1, 0,
					      leader ? leader->event : NULL, &opened->event);
		if (ret < 0) {
			pmuctl_device_explain(test->dev, &explanation);
			why->code = explanation.code;
			pmuctl_explanation_format(&explanation, why->text, sizeof(why->text));
			return ret;
		}
		opened->fd = pmuctl_event_fd(opened->event);
	} else {
		ret = perf_open(test, *attr, leader ? leader->fd : -1);
		if (ret < 0) {
			why->code = 0;
			snprintf(why->text, sizeof(why->text), "%s", strerror(-ret));
			return ret;
		}
		opened->fd = ret;
	}
	if (!attr->sample_period)
		map_page(opened);
	return 0;
}

/**
 * event_close() - close it
 * @opened: the event.
 */
void event_close(struct opened *opened)
{
	if (opened->page)
		munmap((void *)opened->page, (size_t)sysconf(_SC_PAGESIZE));
	if (opened->event)
		pmuctl_event_close(opened->event);
	else if (opened->fd >= 0)
		close(opened->fd);
	*opened = (struct opened) { .event = NULL, .fd = -1, .page = NULL };
}

/**
 * event_count() - read it
 * @opened: the event.
 * @count: filled.
 *
 * Return: 0 or a negative errno; -ENODATA if the event is in error state.
 */
int event_count(const struct opened *opened, struct count *count)
{
	ssize_t got = read(opened->fd, count, sizeof(*count));

	if (got == (ssize_t)sizeof(*count))
		return 0;
	*count = (struct count) { 0, 0, 0 };
	return got < 0 ? -errno : -ENODATA;
}

/**
 * event_counter() - on which counter it is at the moment
 * @opened: the event, while it is enabled.
 *
 * Return: its number, -1 if that is not told.
 */
int event_counter(const struct opened *opened)
{
	const volatile struct perf_event_mmap_page *page = opened->page;
	uint32_t index = page ? page->index : 0;

	if (!index)
		return -1;
	index--;
	return index & FIXED_BIT ? COUNTER_FIXED + (int)(index & ~FIXED_BIT) : (int)index;
}

/**
 * counter_name() - how a counter is called
 * @counter: its number.
 * @name: filled with "general 0" or "fixed 0".
 * @size: bytes there.
 */
void counter_name(int counter, char *name, size_t size)
{
	if (counter < 0)
		snprintf(name, size, "a counter");
	else if (counter < COUNTER_FIXED)
		snprintf(name, size, "general %d", counter);
	else
		snprintf(name, size, "fixed %d", counter - COUNTER_FIXED);
}
