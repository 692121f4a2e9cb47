/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading an event, with its group, its children and its parts.
 */
#ifndef PMUCTL_READ_H
#define PMUCTL_READ_H

#include "core/event.h"

/**
 * pmuctl_event_read() - read value and times of one instant
 * @event: in any state.
 * @format: PERF_FORMAT_GROUP to read all events of its group, the leader first;
 *	PERF_FORMAT_TOTAL_TIME_* if times are wanted: without they may be old.
 * @counts: is filled.
 * @max: how many of them there are; more are not read.
 *
 * Context: Process, IRQs on.
 * Return: how many were read, or would have been if there were room; 0 if the group is
 * in error.
 */
unsigned int pmuctl_event_read(struct pmuctl_event *event, u64 format,
			       struct pmuctl_counts *counts, unsigned int max);

/* Most that one event takes of what read() gives, beside the times */
#define PMUCTL_WORDS_EACH	3

/**
 * pmuctl_event_read_here() - read an event as read() gives it, if it is at hand
 * @event: as above.
 * @out: is filled according to its read_format: perf_event_open(2), "Reading results".
 * @max: words of room, for one event at least.
 *
 * At hand is the common case: a single event or a group that is on the PMU of this CPU. With
 * IRQs off nobody else changes anything of it then, so no lock is needed and nothing is
 * written.
 *
 * Context: Process, IRQs on.
 * Return: how many words; 0 if it is not so, or there is too little room.
 */
unsigned int pmuctl_event_read_here(struct pmuctl_event *event, u64 *out,
				    unsigned int max);

/**
 * pmuctl_event_read_cpu() - read what an event of CPUs counted on one of them
 * @event: of all CPUs, or of @cpu.
 * @cpu: which CPU.
 * @counts: is filled.
 *
 * Context: Process, IRQs on.
 * Return: true; false if it counts nothing there: it is another CPU's or a task's, or in
 * error there.
 */
bool pmuctl_event_read_cpu(struct pmuctl_event *event, int cpu,
			   struct pmuctl_counts *counts);

/**
 * pmuctl_event_reset() - let its value start from 0; times stay
 * @event: in any state. If its task has ended nothing happens.
 * @group: do it to all events of its group.
 *
 * Context: Process, IRQs on.
 */
void pmuctl_event_reset(struct pmuctl_event *event, bool group);

#endif /* PMUCTL_READ_H */
