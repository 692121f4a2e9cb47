/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files about tracepoints share among themselves: tracepoint.c has the objects and calls
 * their events, tracepoint_find.c looks for the kernel's, syscall_events.c is about those of one
 * system call, tracepoint_record.c has perf's events of them, tracepoint_filter.c filters.
 */
#ifndef PMUCTL_TRACEPOINT_PRIVATE_H
#define PMUCTL_TRACEPOINT_PRIVATE_H

#include <linux/list.h>
#include <linux/notifier.h>

#include "core/hook.h"
#include "soft/tracepoint.h"

/*
 * Before event/task_hooks.c's probe of sched_switch: the task that goes is still loaded. Who needs
 * the kernel's records comes behind the probe that makes them.
 */
#define TRACEPOINT_PRIORITY		(TRACEPOINT_DEFAULT_PRIO + 10)
#define TRACEPOINT_PRIORITY_RECORD	(TRACEPOINT_DEFAULT_PRIO - 1)

/* Events that people make in tracefs, of a place in the kernel or in a program */
enum tracepoint_dynamic {
	TRACEPOINT_STATIC,
	TRACEPOINT_KPROBE,
	TRACEPOINT_UPROBE,
};

struct pmuctl_syscall;
struct pt_regs;
struct syscall_metadata;
struct trace_event_call;
struct trace_event_file;

/**
 * struct pmuctl_tracepoint - a tracepoint that has events; those that are told the kernel's records
 * of it have one of their own, and so have those of each system call, and each dynamic event
 * @source: what it is to its events.
 * @hook: our probe on it, in the registry.
 * @prototype: of its arguments.
 * @syscall: which system call it is of, or NULL.
 * @dynamic: it is no tracepoint but a dynamic event of the kernel's tracing.
 * @node: in the list of them all.
 * @refs: one for each event with a descriptor; 0: it goes after a while.
 * @tp: which one.
 * @module: whose it is, NULL: the kernel's. Only to be compared.
 * @iterator: the kernel's function that calls its probes if there are several.
 * @iterator_size: its bytes; 0: it is not known, or there is none.
 * @to_caller: from the frame of a probe to that of @iterator's caller; 0: not known yet.
 * @gone: its module has gone, before @hook was dropped for the last time.
 * @name: without system, but with it if there are records.
 *
 * @node, @refs and @gone under tracepoint.c's mutex; the rest is constant.
 */
struct pmuctl_tracepoint {
	struct pmuctl_sw_source source;
	struct pmuctl_hook hook;
	const struct pmuctl_prototype *prototype;
	struct pmuctl_syscall *syscall;
	enum tracepoint_dynamic dynamic;
	struct list_head node;
	unsigned int refs;
	struct tracepoint *tp;
	struct module *module;
	unsigned long iterator;
	unsigned long iterator_size;
	unsigned long to_caller;
	bool gone;
	char name[PMUCTL_TRACEPOINT_NAME_MAX];
};

/* ---- tracepoint_place.c ---- */

/* Find @iterator of @t, if it is a tracepoint. Process, may sleep. */
void pmuctl_tracepoint_find_iterator(struct pmuctl_tracepoint *t);

/*
 * @regs are in @iterator: let them be where that was called. Nothing happens if the unwinder does
 * not know. Preemption off.
 */
void pmuctl_tracepoint_leave_iterator(struct pmuctl_tracepoint *t, struct pt_regs *regs);

/* ---- tracepoint.c ---- */

/* Does anybody on this CPU want to be told? Preemption off. */
bool pmuctl_tracepoint_is_wanted(struct pmuctl_tracepoint *t);

/**
 * pmuctl_tracepoint_hit() - tell its events
 * @t: which one; somebody wants it.
 * @args: as many as its prototype says, and a word more.
 * @regs: where.
 *
 * Context: Any, preemption off.
 */
void pmuctl_tracepoint_hit(struct pmuctl_tracepoint *t, u64 *args, struct pt_regs *regs);

/**
 * pmuctl_tracepoint_hit_dynamic() - tell its events
 * @t: of a dynamic event; somebody wants it.
 * @record: the kernel's, of this hit.
 * @size: its bytes, 4 more than a multiple of 8.
 * @regs: where.
 *
 * Context: Any, preemption off.
 */
void pmuctl_tracepoint_hit_dynamic(struct pmuctl_tracepoint *t, const void *record, u32 size,
				   struct pt_regs *regs);

/* ---- tracepoint_find.c ---- */

/**
 * struct tracepoint_search - for a tracepoint
 * @full_name: of it, as the caller has it.
 * @name: of it, without system.
 * @records: the kernel's records of it are wanted, if there are any.
 * @may_probe: the caller may have dynamic events; else there are none for him.
 * @place: the name of the tracepoint where it happens.
 * @tp: what was found, or NULL.
 * @meta: which system call it is to be of, or NULL.
 * @dynamic: it is such an event, and has no tracepoint.
 * @module: whose it is, pinned; NULL: the kernel's.
 * @notifier: through which modules are looked at.
 */
struct tracepoint_search {
	const char *full_name;
	const char *name;
	bool records;
	bool may_probe;
	const char *place;
	struct tracepoint *tp;
	const struct syscall_metadata *meta;
	enum tracepoint_dynamic dynamic;
	struct module *module;
	struct notifier_block notifier;
};

/**
 * tracepoint_find() - look for it in the kernel and its modules
 * @search: its names are set, the rest is 0.
 *
 * Context: Process, may sleep.
 */
void tracepoint_find(struct tracepoint_search *search);

/**
 * tracepoint_get_file() - look for an event of the kernel's tracing
 * @full_name: "system:name".
 *
 * Context: Process, may sleep.
 * Return: to be given to trace_put_event_file(), meanwhile it stays; NULL if there is none.
 */
struct trace_event_file *tracepoint_get_file(const char *full_name);

/* What kind of dynamic event it is, if it is one. Any context. */
enum tracepoint_dynamic tracepoint_dynamic_of(const struct trace_event_call *call);

/* ---- syscall_events.c ---- */

/* Is this event of the kernel's tracing one of a system call? Process. */
bool tracepoint_is_syscall(const struct trace_event_call *call);

/**
 * tracepoint_find_syscall() - is it the event of a system call?
 * @full_name: "syscalls:sys_enter_..." or "syscalls:sys_exit_...".
 * @place: is filled with the name of the tracepoint of which the kernel makes it.
 *
 * Context: Process, may sleep.
 * Return: which call; NULL if it is another event, or none.
 */
const struct syscall_metadata *tracepoint_find_syscall(const char *full_name, const char **place);

/**
 * pmuctl_syscall_alloc() - what a tracepoint has that is of one system call
 * @meta: which.
 * @exits: its end and not its beginning.
 *
 * Context: Process, may sleep.
 * Return: to be given to kfree(); NULL if there is no memory.
 */
struct pmuctl_syscall *pmuctl_syscall_alloc(const struct syscall_metadata *meta, bool exits);

bool pmuctl_syscall_is(const struct pmuctl_syscall *syscall, const struct syscall_metadata *meta);
const struct pmuctl_prototype *pmuctl_syscall_prototype(const struct pmuctl_syscall *syscall);

/**
 * pmuctl_syscall_set() - have a tracepoint told of its system call
 * pmuctl_syscall_drop() - the reverse: nobody is told any more when
 *	tracepoint_synchronize_unregister() has returned
 * @t: has @syscall.
 *
 * All that are told of the same end of calls, with records or without, share one probe: what a
 * call costs does not depend on how many there are.
 *
 * Context: Process, may sleep.
 * Return: 0, or a negative errno.
 */
int pmuctl_syscall_set(struct pmuctl_tracepoint *t);
void pmuctl_syscall_drop(struct pmuctl_tracepoint *t);

#endif /* PMUCTL_TRACEPOINT_PRIVATE_H */
