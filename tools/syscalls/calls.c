// SPDX-License-Identifier: GPL-2.0-only
/*
 * The beginnings and the ends of system calls, put together: a task is in one call at a time. If
 * another task begins one meanwhile, there is a line of what has begun, and another one when it
 * ends, as "perf trace" has it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "syscalls.h"

static struct caller **bucket_of(struct calls *calls, int32_t tid)
{
	return &calls->buckets[(uint32_t)tid % CALLERS_BUCKETS];
}

static struct caller *caller_find(struct calls *calls, int32_t tid)
{
	struct caller *caller = *bucket_of(calls, tid);

	while (caller && (caller->tid != tid || caller->has_ended))
		caller = caller->next;
	return caller;
}

static struct caller *caller_get(struct calls *calls, int32_t tid, const char *comm)
{
	struct caller *caller = caller_find(calls, tid);

	if (!caller) {
		struct caller **bucket = bucket_of(calls, tid);

		caller = calloc(1, sizeof(*caller));
		if (!caller)
			return NULL;
		caller->tid = tid;
		caller->next = *bucket;
		*bucket = caller;
		if (calls->last)
			calls->last->later = caller;
		else
			calls->first = caller;
		calls->last = caller;
	}
	snprintf(caller->comm, sizeof(caller->comm), "%s", comm);
	return caller;
}

static void note_event(struct calls *calls, struct caller *caller, uint64_t time)
{
	if (!calls->has_base)
		calls->base = time;
	calls->has_base = true;
	calls->events++;
	caller->events++;
}

static bool has_all_lines(const struct calls *calls)
{
	return calls->lines && !calls->duration && !calls->failures && !calls_are_enough(calls);
}

/* The one that began last is not at its end when another begins. */
static void interrupt(struct calls *calls)
{
	struct caller *current = calls->current;

	if (!current || !current->is_pending)
		return;
	/* With others only the end of a call says whether it has a line. */
	if (!has_all_lines(calls))
		return;
	print_interrupted(calls, current);
	current->is_pending = false;
}

/**
 * calls_enter() - a call begins
 * @calls: all calls.
 * @event: the beginning.
 *
 * Return: 0 or -ENOMEM.
 */
int calls_enter(struct calls *calls, const struct call_event *event)
{
	const struct syscall_info *info;
	struct caller *caller;

	if (event->number >= SYSCALLS_MAX || !syscall_is_chosen(&calls->choice, event->number))
		return 0;
	info = syscall_table_get(&calls->table, event->number);
	caller = info ? caller_get(calls, event->tid, event->comm) : NULL;
	if (!caller)
		return -ENOMEM;
	note_event(calls, caller, event->time);
	interrupt(calls);
	caller->is_inside = true;
	caller->is_pending = true;
	caller->number = event->number;
	caller->since = event->time;
	memcpy(caller->args, event->args, sizeof(caller->args));
	calls->current = caller;
	if (!syscall_never_returns(info->name))
		return 0;
	if (has_all_lines(calls))
		print_endless(calls, caller);
	caller->is_inside = false;
	caller->is_pending = false;
	return 0;
}

static int count(struct caller *caller, const struct call_event *event, uint64_t duration)
{
	if (!caller->stats)
		caller->stats = calloc(SYSCALLS_MAX, sizeof(struct call_stats *));
	if (!caller->stats)
		return -ENOMEM;
	if (!caller->stats[event->number])
		caller->stats[event->number] = calloc(1, sizeof(struct call_stats));
	if (!caller->stats[event->number])
		return -ENOMEM;
	return call_stats_add(caller->stats[event->number], duration, event->result);
}

static bool is_shown(const struct calls *calls, const struct call_event *event, uint64_t duration)
{
	return calls->lines && !calls_are_enough(calls) && (!calls->duration || duration >= calls->duration) &&
	       (!calls->failures || event->result < 0);
}

/**
 * calls_exit() - a call ends
 * @calls: all calls.
 * @event: the end.
 *
 * Return: 0 or -ENOMEM.
 */
int calls_exit(struct calls *calls, const struct call_event *event)
{
	uint64_t duration = 0;
	struct caller *caller;
	int ret = 0;

	/* The end of rt_sigreturn(2) has the number -1. */
	if (event->number >= SYSCALLS_MAX || !syscall_is_chosen(&calls->choice, event->number))
		return 0;
	caller = syscall_table_get(&calls->table, event->number) ?
			 caller_get(calls, event->tid, event->comm) : NULL;
	if (!caller)
		return -ENOMEM;
	note_event(calls, caller, event->time);
	if (caller->number != event->number) {
		/* Where this one began was not seen, or was lost. */
		caller->is_inside = false;
		caller->is_pending = false;
	}
	if (caller->is_inside && event->time > caller->since)
		duration = event->time - caller->since;
	if (calls->summary)
		ret = count(caller, event, duration);
	if (is_shown(calls, event, duration)) {
		print_call(calls, caller, event, !caller->is_pending);
		calls->written++;
	}
	caller->is_inside = false;
	caller->is_pending = false;
	return ret;
}

/**
 * calls_fault() - a page fault, in a call or outside
 * @calls: all calls.
 * @fault: the fault.
 *
 * Return: 0 or -ENOMEM.
 */
int calls_fault(struct calls *calls, const struct call_fault *fault)
{
	struct caller *caller = caller_get(calls, fault->tid, fault->comm);

	if (!caller)
		return -ENOMEM;
	note_event(calls, caller, fault->time);
	if (fault->is_major)
		caller->major++;
	else
		caller->minor++;
	if (calls->lines && !calls_are_enough(calls)) {
		print_fault(calls, fault);
		calls->written++;
	}
	return 0;
}

/**
 * calls_lost() - some beginnings or ends are missing from here on
 * @calls: all calls.
 * @lost: how many.
 */
void calls_lost(struct calls *calls, uint64_t lost)
{
	if (calls->lines)
		fprintf(calls->out, "LOST %llu events!\n", (unsigned long long)lost);
}

static void caller_free(struct caller *caller)
{
	for (size_t i = 0; caller->stats && i < SYSCALLS_MAX; i++)
		call_stats_free(caller->stats[i]);
	free(caller->stats);
	free(caller);
}

/* Without a summary nobody asks for it any more. */
static void forget(struct calls *calls, struct caller *caller)
{
	struct caller **at = bucket_of(calls, caller->tid), *before = NULL;

	while (*at != caller)
		at = &(*at)->next;
	*at = caller->next;
	for (struct caller *c = calls->first; c != caller; c = c->later)
		before = c;
	if (before)
		before->later = caller->later;
	else
		calls->first = caller->later;
	if (calls->last == caller)
		calls->last = before;
	caller_free(caller);
}

/**
 * calls_task_ended() - there will be no more of a task
 * @calls: all calls.
 * @tid: its id, which another one may have from now on.
 */
void calls_task_ended(struct calls *calls, int32_t tid)
{
	struct caller *caller = caller_find(calls, tid);

	if (!caller)
		return;
	if (calls->current == caller) {
		interrupt(calls);
		calls->current = NULL;
	}
	caller->has_ended = true;
	if (!calls->summary)
		forget(calls, caller);
}

void calls_free(struct calls *calls)
{
	struct caller *caller = calls->first;

	while (caller) {
		struct caller *later = caller->later;

		caller_free(caller);
		caller = later;
	}
	syscall_table_free(&calls->table);
}
