/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libpmuctl: a builder of events. What an event is to be is said step by step; then it is
 * opened, and all that is wrong is refused there, with an explanation. An event can have a
 * function that is called for each overflow, without a ring to be seen.
 *
 * The conventions of pmuctl.h hold here too. A builder is used by one thread at a time.
 */
#ifndef PMUCTL_BUILDER_H
#define PMUCTL_BUILDER_H

#include <pmuctl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pmuctl_builder;

/* Codes of the explanations that a builder makes itself; see enum pmuctl_why_library. */
enum pmuctl_why_builder {
	PMUCTL_WHY_BUILDER_NO_EVENT	= 0x1010, /* EINVAL */
	PMUCTL_WHY_BUILDER_NAME		= 0x1011, /* EINVAL: not a name, or several */
	PMUCTL_WHY_BUILDER_PERIOD	= 0x1012, /* EINVAL: out of range */
	PMUCTL_WHY_BUILDER_CALLBACK	= 0x1013, /* EINVAL: without a period */
	PMUCTL_WHY_BUILDER_BACKWARD	= 0x1014, /* EINVAL: attr.write_backward */
	PMUCTL_WHY_BUILDER_INHERIT	= 0x1015, /* EINVAL: nobody's children */
	PMUCTL_WHY_BUILDER_PAGES	= 0x1016, /* EINVAL */
	PMUCTL_WHY_BUILDER_MEMORY	= 0x1017, /* ENOMEM */
	PMUCTL_WHY_BUILDER_ATTR		= 0x1018, /* E2BIG: fields of a later version */
	PMUCTL_WHY_BUILDER_LEVELS	= 0x1019, /* EINVAL: all are excluded */
};

/**
 * struct pmuctl_overflow - what is known of an overflow
 * @ip: the instruction at which it was.
 * @pid: whose process; @tid: whose thread.
 * @time: when, in ns of the event's clock.
 * @period: events since the one before.
 * @lost: overflows before this one that found no room in the ring.
 * @cpu: where.
 * @reserved: zero.
 * @record: the PERF_RECORD_SAMPLE; more is in it if the attr asks for more.
 */
struct pmuctl_overflow {
	uint64_t ip;
	uint32_t pid;
	uint32_t tid;
	uint64_t time;
	uint64_t period;
	uint64_t lost;
	uint32_t cpu;
	uint32_t reserved;
	const struct perf_event_header *record;
};

/**
 * typedef pmuctl_overflow_fn - called by pmuctl_event_dispatch() for each overflow
 * @event: whose. It may be enabled, disabled, read, and given another period, but not
 *	closed here.
 * @overflow: valid until it returns.
 * @arg: what was given to pmuctl_builder_callback().
 */
typedef void (*pmuctl_overflow_fn)(struct pmuctl_event *event,
				   const struct pmuctl_overflow *overflow, void *arg);

/**
 * pmuctl_builder_new() - begin to describe an event
 * @builder: the new handle. What is not said about the event is: of the calling thread, on
 *	any CPU, enabled, user space and kernel, not sampled.
 *
 * Return: 0; -ENOMEM; -EINVAL without @builder.
 */
int pmuctl_builder_new(struct pmuctl_builder **builder);

/**
 * pmuctl_builder_free() - forget it; the events that were opened stay
 * @builder: the handle or NULL.
 */
void pmuctl_builder_free(struct pmuctl_builder *builder);

/**
 * pmuctl_builder_name() - which event, by its name
 * @builder: the builder.
 * @name: one event, as pmuctl_events_parse() understands it without a resolver, modifiers
 *	included. It is copied. Takes the place of an attr.
 */
void pmuctl_builder_name(struct pmuctl_builder *builder, const char *name);

/**
 * pmuctl_builder_attr() - which event, and all else of it that has no call of its own
 * @builder: the builder.
 * @attr: is copied, as many bytes as its size says; a size of 0 is PERF_ATTR_SIZE_VER0.
 *	Takes the place of a name. What the other calls say, before or after, comes on top.
 */
void pmuctl_builder_attr(struct pmuctl_builder *builder,
			 const struct perf_event_attr *attr);

/**
 * pmuctl_builder_period() - sample it, every so many events
 * @builder: the builder.
 * @events: from one overflow to the next, 1 to 2^63 - 1. Takes the place of a frequency.
 */
void pmuctl_builder_period(struct pmuctl_builder *builder, uint64_t events);

/**
 * pmuctl_builder_frequency() - sample it, so many times a second
 * @builder: the builder.
 * @samples: a second, at least 1. Takes the place of a period.
 */
void pmuctl_builder_frequency(struct pmuctl_builder *builder, uint64_t samples);

/**
 * pmuctl_builder_disabled() - does it wait for pmuctl_event_enable()?
 * @builder: the builder.
 * @on: 1 yes, 0 no, here as in all that follow.
 */
void pmuctl_builder_disabled(struct pmuctl_builder *builder, int on);

/**
 * pmuctl_builder_inherit() - are tasks counted that the task creates?
 * @builder: the builder.
 * @on: 1 or 0.
 */
void pmuctl_builder_inherit(struct pmuctl_builder *builder, int on);

/**
 * pmuctl_builder_pinned() - must it be counted at all times?
 * @builder: the builder.
 * @on: 1 or 0.
 */
void pmuctl_builder_pinned(struct pmuctl_builder *builder, int on);

/**
 * pmuctl_builder_exclusive() - must it be alone on the PMU?
 * @builder: the builder.
 * @on: 1 or 0.
 */
void pmuctl_builder_exclusive(struct pmuctl_builder *builder, int on);

/**
 * pmuctl_builder_exclude_user() - is user space left out?
 * @builder: the builder.
 * @on: 1 or 0.
 */
void pmuctl_builder_exclude_user(struct pmuctl_builder *builder, int on);

/**
 * pmuctl_builder_exclude_kernel() - is the kernel left out?
 * @builder: the builder.
 * @on: 1 or 0.
 */
void pmuctl_builder_exclude_kernel(struct pmuctl_builder *builder, int on);

/**
 * pmuctl_builder_exclude_hv() - is a hypervisor left out?
 * @builder: the builder.
 * @on: 1 or 0.
 */
void pmuctl_builder_exclude_hv(struct pmuctl_builder *builder, int on);

/**
 * pmuctl_builder_exclude_idle() - is the idle task left out?
 * @builder: the builder.
 * @on: 1 or 0.
 */
void pmuctl_builder_exclude_idle(struct pmuctl_builder *builder, int on);

/**
 * pmuctl_builder_task() - whom to count
 * @builder: the builder.
 * @pid: 0 the thread that opens it, > 0 another one, -1 everybody.
 */
void pmuctl_builder_task(struct pmuctl_builder *builder, pid_t pid);

/**
 * pmuctl_builder_cpu() - where to count
 * @builder: the builder.
 * @cpu: only there; -1: everywhere.
 */
void pmuctl_builder_cpu(struct pmuctl_builder *builder, int cpu);

/**
 * pmuctl_builder_callback() - what to call for each overflow
 * @builder: the builder.
 * @function: NULL for none.
 * @arg: handed to it.
 *
 * The event gets a ring, which is closed with it, and pmuctl_event_dispatch() reads it.
 */
void pmuctl_builder_callback(struct pmuctl_builder *builder,
			     pmuctl_overflow_fn function, void *arg);

/**
 * pmuctl_builder_pages() - how large that ring is
 * @builder: the builder.
 * @pages: of memory, a power of two; 16 if it is not said.
 */
void pmuctl_builder_pages(struct pmuctl_builder *builder, size_t pages);

/**
 * pmuctl_builder_open() - open the event
 * @builder: the builder, which can be changed and used again.
 * @dev: the device.
 * @why: if not NULL, says why not when the call fails. Untouched otherwise.
 * @event: the new handle, like any other.
 *
 * Return: 0; -EINVAL for what contradicts itself, or without @builder, @dev or @event, of
 * which @why says nothing; -ENOMEM; the driver's refusal as another negative errno.
 */
int pmuctl_builder_open(struct pmuctl_builder *builder, struct pmuctl_device *dev,
			struct pmuctl_explanation *why, struct pmuctl_event **event);

/**
 * pmuctl_event_dispatch() - call the event's function for each overflow until now
 * @event: one that was built with a function.
 *
 * Never waits. In whichever thread this is called the function is called too; by one at a
 * time. Without attr.wakeup_events and wakeup_watermark poll() tells of each overflow, by
 * POLLIN on pmuctl_event_fd().
 *
 * Return: how many calls there were; -EINVAL if it has no function; -EBADMSG if the ring
 * has something in it that is no record.
 */
int pmuctl_event_dispatch(struct pmuctl_event *event);

#ifdef __cplusplus
}
#endif

#endif /* PMUCTL_BUILDER_H */
