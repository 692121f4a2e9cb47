// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Regions of a program: each thread has a group of events of its own, which counts from its first
 * region on, and adds up what the group has counted between begin and end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmuctl_region.h>

#include "internal.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* What a thread, or all of them, did in a region; counts as there are events */
struct sum {
	uint64_t calls;
	uint64_t threads;
	uint64_t time_enabled;
	uint64_t time_running;
	uint64_t counts[];
};

/**
 * struct part - a region as one thread knows it
 * @next: of the thread.
 * @index: of the region.
 * @name: of it, the handle's.
 * @inside: the thread is in it.
 * @begun: what the group had counted when it came.
 * @sum: so far. The thread's mutex protects it.
 */
struct part {
	struct part *next;
	size_t index;
	const char *name;
	bool inside;
	struct sum *begun;
	struct sum *sum;
};

/**
 * struct thread - of a thread that was in a region, until that ends
 * @next: of the handle.
 * @regions: the handle.
 * @mutex: of sums, and of the list of parts against others. Taken behind the handle's.
 * @parts: of it, added by the thread.
 * @events: its group; NULL when the handle is closed.
 * @readings: room for one of the group.
 */
struct thread {
	struct thread *next;
	struct pmuctl_regions *regions;
	pthread_mutex_t mutex;
	struct part *parts;
	struct pmuctl_event **events;
	struct pmuctl_reading *readings;
};

/**
 * struct region - as all threads know it
 * @name: of it.
 * @past: what threads did in it that have ended.
 */
struct region {
	char *name;
	struct sum *past;
};

/**
 * struct pmuctl_regions - a handle
 * @device: on which all events are opened.
 * @events: what is counted.
 * @nr: how many.
 * @forks: of the process that opened it.
 * @closed: it stays for threads that have not ended.
 * @key: of the thread's own struct thread.
 * @mutex: of what follows.
 * @threads: that have not ended.
 * @known: regions, by their index.
 * @nr_known: how many.
 */
struct pmuctl_regions {
	struct pmuctl_device *device;
	struct pmuctl_events *events;
	size_t nr;
	unsigned int forks;
	bool closed;
	pthread_key_t key;
	pthread_mutex_t mutex;
	struct thread *threads;
	struct region *known;
	size_t nr_known;
};

/* How many forks there were from the first process that had a handle to this one */
static unsigned int forks;
static pthread_once_t forks_once = PTHREAD_ONCE_INIT;

static void child_begins(void)
{
	forks++;
}

static void forks_watch(void)
{
	pthread_atfork(NULL, NULL, child_begins);
}

static bool is_of_parent(const struct pmuctl_regions *regions)
{
	return regions->forks != forks;
}

/* close() is a cancellation point, behind which nobody would close the rest. */
static int cancel_never(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static struct sum *sum_new(size_t nr)
{
	return calloc(1, sizeof(struct sum) + nr * sizeof(uint64_t));
}

/* ---------------------------------------------------------------- threads */

static void close_events(struct thread *thread)
{
	if (!thread->events)
		return;
	for (size_t i = thread->regions->nr; i > 0; i--)
		pmuctl_event_close(thread->events[i - 1]);
	free(thread->events);
	thread->events = NULL;
}

static void thread_free(struct thread *thread)
{
	struct part *part, *next;

	close_events(thread);
	for (part = thread->parts; part; part = next) {
		next = part->next;
		free(part->begun);
		free(part->sum);
		free(part);
	}
	pthread_mutex_destroy(&thread->mutex);
	free(thread->readings);
	free(thread);
}

/* Disabled: they begin together. */
static int open_events(struct thread *thread)
{
	const struct pmuctl_regions *regions = thread->regions;
	int ret = 0;

	thread->events = calloc(regions->nr, sizeof(*thread->events));
	if (!thread->events)
		return -ENOMEM;
	for (size_t i = 0; i < regions->nr && ret == 0; i++) {
		struct perf_event_attr attr = *pmuctl_events_attr(regions->events, i);

		attr.disabled = i == 0;
		attr.read_format = PERF_FORMAT_GROUP | TIMES;
		ret = pmuctl_event_open_group(regions->device, &attr, 0, -1, PERF_FLAG_FD_CLOEXEC,
					      thread->events[0], &thread->events[i]);
	}
	if (ret == 0)
		ret = pmuctl_event_enable(thread->events[0]);
	if (ret < 0)
		close_events(thread);
	return ret;
}

/* With events; NULL with errno. */
static struct thread *thread_new(struct pmuctl_regions *regions)
{
	struct thread *thread = calloc(1, sizeof(*thread));
	int ret = -ENOMEM;

	if (!thread) {
		errno = ENOMEM;
		return NULL;
	}
	thread->regions = regions;
	pthread_mutex_init(&thread->mutex, NULL);
	thread->readings = calloc(regions->nr, sizeof(*thread->readings));
	if (thread->readings)
		ret = open_events(thread);
	if (ret < 0) {
		thread_free(thread);
		errno = -ret;
		return NULL;
	}
	return thread;
}

/* The calling thread's, made if it has none; NULL with errno. */
static struct thread *thread_get(struct pmuctl_regions *regions)
{
	struct thread *thread = pthread_getspecific(regions->key);
	int ret, cancel;

	if (thread)
		return thread;
	cancel = cancel_never();
	thread = thread_new(regions);
	pthread_setcancelstate(cancel, NULL);
	if (!thread)
		return NULL;
	ret = pthread_setspecific(regions->key, thread);
	if (ret) {
		thread_free(thread);
		errno = ret;
		return NULL;
	}
	pthread_mutex_lock(&regions->mutex);
	thread->next = regions->threads;
	regions->threads = thread;
	pthread_mutex_unlock(&regions->mutex);
	return thread;
}

/* ---------------------------------------------------------------- regions */

static void sum_add(struct sum *sum, const struct sum *more, size_t nr)
{
	/* Who has never left it was not there. */
	if (!more->calls)
		return;
	sum->calls += more->calls;
	sum->threads += more->threads;
	sum->time_enabled += more->time_enabled;
	sum->time_running += more->time_running;
	for (size_t i = 0; i < nr; i++)
		sum->counts[i] += more->counts[i];
}

static void regions_free(struct pmuctl_regions *regions)
{
	pthread_key_delete(regions->key);
	for (size_t i = 0; i < regions->nr_known; i++) {
		free(regions->known[i].name);
		free(regions->known[i].past);
	}
	free(regions->known);
	pthread_mutex_destroy(&regions->mutex);
	pmuctl_events_free(regions->events);
	free(regions);
}

/* The thread ends, or closes the handle. Returns true if nobody else has the handle any more. */
static bool thread_leaves(struct thread *thread)
{
	struct pmuctl_regions *regions = thread->regions;
	struct thread **link;
	bool is_last;

	pthread_mutex_lock(&regions->mutex);
	for (struct part *part = thread->parts; part; part = part->next)
		sum_add(regions->known[part->index].past, part->sum, regions->nr);
	for (link = &regions->threads; *link != thread; link = &(*link)->next)
		;
	*link = thread->next;
	is_last = regions->closed && !regions->threads;
	thread_free(thread);
	pthread_mutex_unlock(&regions->mutex);
	return is_last;
}

/* Also those that come and go by the thousand leave nothing but what they have counted. */
static void thread_ended(void *arg)
{
	struct thread *thread = arg;
	struct pmuctl_regions *regions = thread->regions;
	int cancel;

	if (is_of_parent(regions))
		return;
	cancel = cancel_never();
	if (thread_leaves(thread))
		regions_free(regions);
	pthread_setcancelstate(cancel, NULL);
}

static bool region_add(struct pmuctl_regions *regions, const char *name)
{
	struct region *grown = reallocarray(regions->known, regions->nr_known + 1, sizeof(*grown));
	struct region new = { .name = strdup(name), .past = sum_new(regions->nr) };

	if (grown)
		regions->known = grown;
	if (!grown || !new.name || !new.past) {
		free(new.name);
		free(new.past);
		return false;
	}
	grown[regions->nr_known++] = new;
	return true;
}

/* Which one it is; false without memory */
static bool part_set_region(struct part *part, struct pmuctl_regions *regions, const char *name)
{
	bool found;
	size_t i;

	pthread_mutex_lock(&regions->mutex);
	for (i = 0; i < regions->nr_known; i++)
		if (!strcmp(regions->known[i].name, name))
			break;
	found = i < regions->nr_known || region_add(regions, name);
	if (found) {
		part->index = i;
		part->name = regions->known[i].name;
	}
	pthread_mutex_unlock(&regions->mutex);
	return found;
}

static struct part *part_find(struct thread *thread, const char *name)
{
	struct part *part = thread->parts;

	while (part && strcmp(part->name, name))
		part = part->next;
	return part;
}

static struct part *part_new(struct thread *thread, const char *name)
{
	struct part *part = calloc(1, sizeof(*part));

	if (!part)
		return NULL;
	part->begun = sum_new(thread->regions->nr);
	part->sum = sum_new(thread->regions->nr);
	if (!part->begun || !part->sum || !part_set_region(part, thread->regions, name)) {
		free(part->begun);
		free(part->sum);
		free(part);
		return NULL;
	}
	part->sum->threads = 1;
	pthread_mutex_lock(&thread->mutex);
	part->next = thread->parts;
	thread->parts = part;
	pthread_mutex_unlock(&thread->mutex);
	return part;
}

static int read_group(struct thread *thread)
{
	int ret = pmuctl_group_read(thread->events[0], thread->readings, thread->regions->nr);

	return ret < 0 ? ret : 0;
}

PMUCTL_API int pmuctl_region_begin(struct pmuctl_regions *regions, const char *name)
{
	struct thread *thread;
	struct part *part;
	int ret;

	if (!regions)
		return 0;
	if (!name)
		return -EINVAL;
	if (is_of_parent(regions))
		return -ECHILD;
	thread = thread_get(regions);
	if (!thread)
		return -errno;
	part = part_find(thread, name);
	if (!part)
		part = part_new(thread, name);
	if (!part)
		return -ENOMEM;
	if (part->inside)
		return -EBUSY;
	ret = read_group(thread);
	if (ret < 0)
		return ret;
	part->inside = true;
	part->begun->time_enabled = thread->readings[0].time_enabled;
	part->begun->time_running = thread->readings[0].time_running;
	for (size_t i = 0; i < regions->nr; i++)
		part->begun->counts[i] = thread->readings[i].value;
	return 0;
}

PMUCTL_API int pmuctl_region_end(struct pmuctl_regions *regions, const char *name)
{
	struct thread *thread;
	struct part *part;
	int ret;

	if (!regions)
		return 0;
	thread = pthread_getspecific(regions->key);
	if (!thread || !name)
		return -EINVAL;
	if (is_of_parent(regions))
		return -ECHILD;
	ret = read_group(thread);
	part = part_find(thread, name);
	if (!part || !part->inside)
		return -EINVAL;
	part->inside = false;
	if (ret < 0)
		return ret;
	pthread_mutex_lock(&thread->mutex);
	part->sum->calls++;
	part->sum->time_enabled += thread->readings[0].time_enabled - part->begun->time_enabled;
	part->sum->time_running += thread->readings[0].time_running - part->begun->time_running;
	for (size_t i = 0; i < regions->nr; i++)
		part->sum->counts[i] += thread->readings[i].value - part->begun->counts[i];
	pthread_mutex_unlock(&thread->mutex);
	return 0;
}

/* ---------------------------------------------------------------- results */

/* What all threads did in a region. The caller has the handle's mutex. */
static void sum_of_all(struct pmuctl_regions *regions, size_t index, struct sum *sum)
{
	memcpy(sum, regions->known[index].past, sizeof(*sum) + regions->nr * sizeof(sum->counts[0]));
	for (struct thread *thread = regions->threads; thread; thread = thread->next) {
		pthread_mutex_lock(&thread->mutex);
		for (struct part *part = thread->parts; part; part = part->next)
			if (part->index == index)
				sum_add(sum, part->sum, regions->nr);
		pthread_mutex_unlock(&thread->mutex);
	}
}

PMUCTL_API int pmuctl_regions_get(struct pmuctl_regions *regions, size_t index,
				  struct pmuctl_region *region, uint64_t *counts, size_t max)
{
	struct sum *sum;
	int ret = -ENOENT;

	if (!regions)
		return -ENOENT;
	if (is_of_parent(regions))
		return -ECHILD;
	if (max && max < regions->nr)
		return -ENOSPC;
	sum = sum_new(regions->nr);
	if (!sum)
		return -ENOMEM;
	pthread_mutex_lock(&regions->mutex);
	if (index < regions->nr_known) {
		sum_of_all(regions, index, sum);
		*region = (struct pmuctl_region){
			.name = regions->known[index].name, .calls = sum->calls,
			.threads = sum->threads, .time_enabled = sum->time_enabled,
			.time_running = sum->time_running,
		};
		if (max)
			memcpy(counts, sum->counts, regions->nr * sizeof(*counts));
		ret = (int)regions->nr;
	}
	pthread_mutex_unlock(&regions->mutex);
	free(sum);
	return ret;
}

const char *pmuctl_regions_event(const struct pmuctl_regions *regions, size_t index)
{
	return pmuctl_events_name(regions->events, index);
}

/* ----------------------------------------------------------- open and close */

PMUCTL_API void pmuctl_regions_close(struct pmuctl_regions *regions)
{
	struct thread *thread;
	bool is_last;
	int cancel;

	if (!regions)
		return;
	cancel = cancel_never();
	/* In a child, whatever threads of the parent were about stays as it is but for descriptors. */
	if (!is_of_parent(regions))
		pthread_mutex_lock(&regions->mutex);
	for (thread = regions->threads; thread; thread = thread->next)
		close_events(thread);
	pmuctl_device_close(regions->device);
	if (!is_of_parent(regions)) {
		/* Without threads nobody frees it before us; without our own the last of them does. */
		regions->closed = true;
		is_last = !regions->threads;
		thread = pthread_getspecific(regions->key);
		pthread_mutex_unlock(&regions->mutex);
		if (thread) {
			pthread_setspecific(regions->key, NULL);
			is_last = thread_leaves(thread);
		}
		if (is_last)
			regions_free(regions);
	}
	pthread_setcancelstate(cancel, NULL);
}

static int parse(struct pmuctl_regions *regions, const char *events, struct pmuctl_explanation *why)
{
	struct pmuctl_parse_error error;
	int ret = pmuctl_events_parse(events, NULL, NULL, &error, &regions->events);

	if (ret == -EINVAL && why)
		pmuctl_why_make(why, PMUCTL_WHY_EVENTS, EINVAL, "events", "at character %zu: %s",
				error.position + 1, error.sentence);
	else if (ret < 0 && why)
		pmuctl_why_make(why, PMUCTL_WHY_UNEXPLAINED, -ret, "", "%s", pmuctl_strerror(ret));
	if (ret == 0)
		regions->nr = pmuctl_events_count(regions->events);
	return ret;
}

/* Those of a thread once, to see whether they may be had */
static int try_events(struct pmuctl_regions *regions, struct pmuctl_explanation *why)
{
	struct thread *thread = thread_new(regions);
	int ret = thread ? 0 : -errno;

	if (thread)
		thread_free(thread);
	else if (why)
		pmuctl_device_explain(regions->device, why);
	return ret;
}

PMUCTL_API int pmuctl_regions_open(const char *events, struct pmuctl_explanation *why,
				   struct pmuctl_regions **regions)
{
	struct pmuctl_regions *r;
	int ret, cancel;

	if (!regions)
		return -EINVAL;
	*regions = NULL;
	if (!events)
		events = secure_getenv("PMUCTL_REGIONS");
	if (!events || !*events)
		return 0;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	pthread_once(&forks_once, forks_watch);
	r->forks = forks;
	ret = -pthread_key_create(&r->key, thread_ended);
	if (ret < 0) {
		if (why)
			pmuctl_why_make(why, PMUCTL_WHY_UNEXPLAINED, -ret, "",
					"the process has too many pthread keys");
		free(r);
		return ret;
	}
	cancel = cancel_never();
	pthread_mutex_init(&r->mutex, NULL);
	ret = parse(r, events, why);
	if (ret == 0)
		ret = pmuctl_device_open(NULL, why, &r->device);
	if (ret == 0)
		ret = try_events(r, why);
	if (ret < 0)
		pmuctl_regions_close(r);
	else
		*regions = r;
	pthread_setcancelstate(cancel, NULL);
	return ret;
}
