// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The builder of events: what is said is kept, and judged when the event is opened. And the
 * calls of an event's function for what its ring has.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <pmuctl_builder.h>
#include <pmuctl_ring.h>

#include "event.h"
#include "internal.h"

#define PAGES_USUAL	16
#define PERIOD_MAX	(UINT64_MAX >> 1)

/* What every overflow is told of, whatever else the attr asks for */
#define SAMPLE_USUAL \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
	 PERF_SAMPLE_PERIOD)

/* The flags that have calls of their own */
enum flag {
	DISABLED,
	INHERIT,
	PINNED,
	EXCLUSIVE,
	EXCLUDE_USER,
	EXCLUDE_KERNEL,
	EXCLUDE_HV,
	EXCLUDE_IDLE,
	FLAGS
};

/* How often it is sampled, if anything was said of it */
enum pace { AS_ATTR, PERIOD, FREQUENCY };

/**
 * struct pmuctl_builder - what has been said of an event
 * @name: its name, or NULL.
 * @attr: if @has_attr, all of it that nothing else was said of.
 * @too_large: or bytes of one that asks for more than @attr has room for.
 * @no_memory: a name was lost.
 * @pace: which of both @rate is.
 * @said: flags that were set or cleared, a bit for each.
 * @on: those of them that were set.
 */
struct pmuctl_builder {
	char *name;
	struct perf_event_attr attr;
	bool has_attr;
	uint32_t too_large;
	bool no_memory;
	enum pace pace;
	uint64_t rate;
	unsigned int said;
	unsigned int on;
	pid_t pid;
	int cpu;
	pmuctl_overflow_fn function;
	void *arg;
	size_t pages;
};

PMUCTL_API int pmuctl_builder_new(struct pmuctl_builder **builder)
{
	struct pmuctl_builder *new;

	if (!builder)
		return -EINVAL;
	*builder = NULL;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	new->cpu = -1;
	new->pages = PAGES_USUAL;
	*builder = new;
	return 0;
}

PMUCTL_API void pmuctl_builder_free(struct pmuctl_builder *builder)
{
	if (!builder)
		return;
	free(builder->name);
	free(builder);
}

/* ---- What is said ---- */

PMUCTL_API void pmuctl_builder_name(struct pmuctl_builder *b, const char *name)
{
	free(b->name);
	b->name = strdup(name);
	b->no_memory = !b->name;
	b->has_attr = false;
}

/* Is something in it that only later versions of the structure have? */
static bool has_more(const struct perf_event_attr *attr, uint32_t size)
{
	for (size_t i = sizeof(*attr); i < size; i++)
		if (((const char *)attr)[i])
			return true;
	return false;
}

PMUCTL_API void pmuctl_builder_attr(struct pmuctl_builder *b,
				    const struct perf_event_attr *attr)
{
	uint32_t size = attr->size ? attr->size : PERF_ATTR_SIZE_VER0;

	free(b->name);
	b->name = NULL;
	b->no_memory = false;
	b->has_attr = true;
	memset(&b->attr, 0, sizeof(b->attr));
	memcpy(&b->attr, attr, size < sizeof(b->attr) ? size : sizeof(b->attr));
	/* One that is too short the driver refuses. */
	b->attr.size = size < PERF_ATTR_SIZE_VER0 ? size : sizeof(b->attr);
	b->too_large = has_more(attr, size) ? size : 0;
}

PMUCTL_API void pmuctl_builder_period(struct pmuctl_builder *b, uint64_t events)
{
	b->pace = PERIOD;
	b->rate = events;
}

PMUCTL_API void pmuctl_builder_frequency(struct pmuctl_builder *b, uint64_t samples)
{
	b->pace = FREQUENCY;
	b->rate = samples;
}

static void flag_say(struct pmuctl_builder *b, enum flag flag, int on)
{
	b->said |= 1u << flag;
	b->on &= ~(1u << flag);
	if (on)
		b->on |= 1u << flag;
}

PMUCTL_API void pmuctl_builder_disabled(struct pmuctl_builder *b, int on)
{
	flag_say(b, DISABLED, on);
}

PMUCTL_API void pmuctl_builder_inherit(struct pmuctl_builder *b, int on)
{
	flag_say(b, INHERIT, on);
}

PMUCTL_API void pmuctl_builder_pinned(struct pmuctl_builder *b, int on)
{
	flag_say(b, PINNED, on);
}

PMUCTL_API void pmuctl_builder_exclusive(struct pmuctl_builder *b, int on)
{
	flag_say(b, EXCLUSIVE, on);
}

PMUCTL_API void pmuctl_builder_exclude_user(struct pmuctl_builder *b, int on)
{
	flag_say(b, EXCLUDE_USER, on);
}

PMUCTL_API void pmuctl_builder_exclude_kernel(struct pmuctl_builder *b, int on)
{
	flag_say(b, EXCLUDE_KERNEL, on);
}

PMUCTL_API void pmuctl_builder_exclude_hv(struct pmuctl_builder *b, int on)
{
	flag_say(b, EXCLUDE_HV, on);
}

PMUCTL_API void pmuctl_builder_exclude_idle(struct pmuctl_builder *b, int on)
{
	flag_say(b, EXCLUDE_IDLE, on);
}

PMUCTL_API void pmuctl_builder_task(struct pmuctl_builder *b, pid_t pid)
{
	b->pid = pid;
}

PMUCTL_API void pmuctl_builder_cpu(struct pmuctl_builder *b, int cpu)
{
	b->cpu = cpu;
}

PMUCTL_API void pmuctl_builder_callback(struct pmuctl_builder *b,
					pmuctl_overflow_fn function, void *arg)
{
	b->function = function;
	b->arg = arg;
}

PMUCTL_API void pmuctl_builder_pages(struct pmuctl_builder *b, size_t pages)
{
	b->pages = pages;
}

/* ---- What comes of it ---- */

#define REFUSE(why, code, error, ...) \
	(pmuctl_why_make(why, PMUCTL_WHY_BUILDER_##code, error, __VA_ARGS__), -(error))

/* The attr of the one event that the name means */
static int attr_of_name(const char *name, struct perf_event_attr *attr,
			struct pmuctl_explanation *why)
{
	struct pmuctl_parse_error error;
	struct pmuctl_events *events;
	size_t count;
	int ret;

	ret = pmuctl_events_parse(name, NULL, NULL, &error, &events);
	if (ret == -ENOMEM)
		return REFUSE(why, MEMORY, ENOMEM, "", "out of memory: free some");
	if (ret < 0)
		return REFUSE(why, NAME, EINVAL, "name", "character %zu: %.180s",
			      error.position + 1, error.sentence);
	count = pmuctl_events_count(events);
	*attr = *pmuctl_events_attr(events, 0);
	pmuctl_events_free(events);
	if (count > 1)
		return REFUSE(why, NAME, EINVAL, "name",
			      "that names %zu events, but a builder opens one: name one, or use a builder for each",
			      count);
	return 0;
}

static void flags_apply(const struct pmuctl_builder *b, struct perf_event_attr *attr)
{
#define APPLY(flag, field) do {				\
	if (b->said & 1u << (flag))			\
		attr->field = b->on >> (flag) & 1;	\
} while (0)
	APPLY(DISABLED, disabled);
	APPLY(INHERIT, inherit);
	APPLY(PINNED, pinned);
	APPLY(EXCLUSIVE, exclusive);
	APPLY(EXCLUDE_USER, exclude_user);
	APPLY(EXCLUDE_KERNEL, exclude_kernel);
	APPLY(EXCLUDE_HV, exclude_hv);
	APPLY(EXCLUDE_IDLE, exclude_idle);
#undef APPLY
}

static int pace_apply(const struct pmuctl_builder *b, struct perf_event_attr *attr,
		      struct pmuctl_explanation *why)
{
	if (b->pace == AS_ATTR)
		return 0;
	if (!b->rate || b->rate > PERIOD_MAX)
		return REFUSE(why, PERIOD, EINVAL,
			      b->pace == PERIOD ? "period" : "frequency",
			      "%llu is neither a period nor a frequency: use 1 to 2^63 - 1",
			      (unsigned long long)b->rate);
	attr->freq = b->pace == FREQUENCY;
	attr->sample_period = b->rate;
	return 0;
}

static int callback_apply(const struct pmuctl_builder *b, struct perf_event_attr *attr,
			  struct pmuctl_explanation *why)
{
	if (!b->function)
		return 0;
	if (!attr->sample_period)
		return REFUSE(why, CALLBACK, EINVAL, "callback",
			      "a function is called for overflows, but there are none: set a period or a frequency");
	if (attr->write_backward)
		return REFUSE(why, BACKWARD, EINVAL, "attr.write_backward",
			      "the newest overflow would come first, and only while none is written: clear it, or read the ring yourself");
	if (!b->pages || b->pages & (b->pages - 1))
		return REFUSE(why, PAGES, EINVAL, "pages",
			      "a ring of %zu pages cannot be: use a power of two",
			      b->pages);
	attr->sample_type |= SAMPLE_USUAL;
	if (!attr->watermark && !attr->wakeup_events)
		attr->wakeup_events = 1;
	return 0;
}

/**
 * pmuctl_builder_judge() - what all that was said comes to
 * @b: the builder.
 * @attr: filled.
 * @why: filled on refusal; may be NULL.
 *
 * Return: 0 or a negative errno.
 */
int pmuctl_builder_judge(const struct pmuctl_builder *b, struct perf_event_attr *attr,
			 struct pmuctl_explanation *why)
{
	int ret = 0;

	if (b->no_memory)
		return REFUSE(why, MEMORY, ENOMEM, "", "out of memory: free some");
	if (b->has_attr && b->too_large)
		return REFUSE(why, ATTR, E2BIG, "attr.size",
			      "an attr of %u bytes asks for what this library, which knows %zu, has not heard of: use a later library",
			      b->too_large, sizeof(*attr));
	if (b->has_attr)
		*attr = b->attr;
	else if (b->name)
		ret = attr_of_name(b->name, attr, why);
	else
		return REFUSE(why, NO_EVENT, EINVAL, "name",
			      "nothing says what to count: give the builder a name or an attr");
	if (ret)
		return ret;
	flags_apply(b, attr);
	if (attr->exclude_user && attr->exclude_kernel)
		return REFUSE(why, LEVELS, EINVAL, "exclude_kernel",
			      "user space and the kernel are both excluded, so nothing could ever be counted: include one");
	ret = pace_apply(b, attr, why);
	if (ret)
		return ret;
	if (attr->inherit && b->pid == -1)
		return REFUSE(why, INHERIT, EINVAL, "inherit",
			      "everybody is counted, so there are no children to add: clear inherit, or name a task");
	return callback_apply(b, attr, why);
}

PMUCTL_API int pmuctl_builder_open(struct pmuctl_builder *b, struct pmuctl_device *dev,
				   struct pmuctl_explanation *why,
				   struct pmuctl_event **event)
{
	struct perf_event_attr attr;
	struct pmuctl_event *new;
	int ret;

	if (!b || !dev || !event)
		return -EINVAL;
	*event = NULL;
	ret = pmuctl_builder_judge(b, &attr, why);
	if (ret)
		return ret;
	ret = pmuctl_event_open(dev, &attr, b->pid, b->cpu, 0, &new);
	if (ret < 0) {
		if (ret == -ENOMEM)
			pmuctl_why_make(why, PMUCTL_WHY_BUILDER_MEMORY, ENOMEM, "",
					"out of memory: free some");
		else if (why)
			pmuctl_device_explain(dev, why);
		return ret;
	}
	if (b->function) {
		ret = pmuctl_event_watch(new, b->pages, attr.sample_type, b->function,
					 b->arg, why);
		if (ret < 0) {
			pmuctl_event_close(new);
			return ret;
		}
	}
	*event = new;
	return 0;
}
