/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the files that write side-band records: how one gets to those who want it.
 */
#ifndef PMUCTL_SIDEBAND_PUT_H
#define PMUCTL_SIDEBAND_PUT_H

#include <linux/types.h>

struct perf_event_header;
struct pmuctl_event;
struct pmuctl_hook;
struct task_struct;

/**
 * struct side_record - what is told
 * @kinds: PMUCTL_SIDE_*: events that want one of them are told.
 * @whose: the trailer of the record has the ids of this task.
 * @put: writes the record. IRQs off, the lock of the event's context held.
 */
struct side_record {
	u16 kinds;
	struct task_struct *whose;
	void (*put)(struct pmuctl_event *event, const struct side_record *side);
};

/* Tell the events of @task, which is on this CPU, and of this CPU. Preemption off; not in NMIs. */
void pmuctl_side_emit(struct task_struct *task, const struct side_record *side);

/* A record that ends with a name: this, and zeros up to a multiple of 8. For @put */
void pmuctl_side_put_named(struct pmuctl_event *event, const struct side_record *side,
			   struct perf_event_header *header, u32 fixed,
			   const char *name, u32 length);

/* sideband_containers.c */
extern struct pmuctl_hook pmuctl_namespaces_hook;
extern struct pmuctl_hook pmuctl_cgroups_hook;
void pmuctl_cgroups_init(void);

#endif /* PMUCTL_SIDEBAND_PUT_H */
