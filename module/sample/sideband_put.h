/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the files that write side-band records: how one gets to those who want it.
 */
#ifndef PMUCTL_SIDEBAND_PUT_H
#define PMUCTL_SIDEBAND_PUT_H

#include <linux/kprobes.h>
#include <linux/types.h>

#include "core/hook.h"

struct perf_event_header;
struct pmuctl_event;
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

/**
 * struct side_probe - a hook that is a probe on a function of the kernel
 * @hook: for the registry.
 * @kprobe: how it is set.
 * @field: whoever asks for it is refused for, if it cannot be set.
 */
struct side_probe {
	struct pmuctl_hook hook;
	struct kprobe kprobe;
	const char *field;
};

#define SIDE_PROBE(hook_name, function, handler, attr_field) {			\
	.hook = {								\
		.name = (hook_name),						\
		.set = pmuctl_side_probe_set, .drop = pmuctl_side_probe_drop,	\
		.missed = pmuctl_side_probe_missed,				\
	},									\
	.kprobe = { .symbol_name = (function), .pre_handler = (handler) },	\
	.field = (attr_field),							\
}

/* sideband_probe.c, for SIDE_PROBE() only */
int pmuctl_side_probe_set(struct pmuctl_hook *hook, struct pmuctl_explanation *why);
void pmuctl_side_probe_drop(struct pmuctl_hook *hook);
unsigned long pmuctl_side_probe_missed(const struct pmuctl_hook *hook);

/* sideband_kernel.c */
extern struct side_probe pmuctl_ksymbols;
extern struct side_probe pmuctl_bpf_programs;
extern struct side_probe pmuctl_text_pokes;

/* sideband_containers.c */
extern struct side_probe pmuctl_namespaces_probe;
extern struct pmuctl_hook pmuctl_cgroups_hook;
void pmuctl_cgroups_init(void);

#endif /* PMUCTL_SIDEBAND_PUT_H */
