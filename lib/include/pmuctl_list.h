/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libpmuctl: many events in one call of the driver. Conventions and threads are as in pmuctl.h.
 */
#ifndef PMUCTL_LIST_H
#define PMUCTL_LIST_H

#include <pmuctl.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * struct pmuctl_list_entry - an event that is opened with others
 * @attr: what to count, as for pmuctl_event_open(); the caller's.
 * @pid: whom, likewise.
 * @cpu: where, likewise.
 * @flags: as for pmuctl_event_open(); PMUCTL_OPEN_GROUP_ENTRY: it joins the group of an
 *	earlier entry.
 * @leader: the open event whose group it joins, NULL for none.
 * @leader_entry: with PMUCTL_OPEN_GROUP_ENTRY, the number of that entry, from 0 on.
 * @event: out: the new handle.
 * @reserved: zero.
 */
struct pmuctl_list_entry {
	const struct perf_event_attr *attr;
	pid_t pid;
	int cpu;
	unsigned long flags;
	struct pmuctl_event *leader;
	int leader_entry;
	struct pmuctl_event *event;
	uint64_t reserved[2];
};

/**
 * pmuctl_list_open() - open many events in one call, all of them or none
 * @dev: the device.
 * @list: the events; their handles are filled, with NULL if the call fails.
 * @nr: how many, 1 to PMUCTL_LIST_MAX.
 *
 * Each entry is judged as pmuctl_event_open() would. They are opened one after the other, and
 * those that are not disabled count from then on.
 *
 * Return: 0; as pmuctl_event_open(): the entry at fault is explanation.entry of
 * pmuctl_device_explain(); -EINVAL without @dev, @list or an attr; -ENOTTY from a driver that is
 * too old for it.
 */
int pmuctl_list_open(struct pmuctl_device *dev, struct pmuctl_list_entry *list, size_t nr);

/**
 * struct pmuctl_list_reading - an event that is read with others
 * @event: the event.
 * @readings: filled, as pmuctl_event_read() does; with PERF_FORMAT_GROUP, as
 *	pmuctl_group_read() does.
 * @max: room there, in entries: 1, or the members of the group.
 * @got: out: how many there are; -ENODATA if the event is in error state.
 */
struct pmuctl_list_reading {
	struct pmuctl_event *event;
	struct pmuctl_reading *readings;
	size_t max;
	int got;
};

/**
 * pmuctl_list_read() - read many events in as few calls as possible
 * @dev: any handle of the device: the events need not come from it.
 * @list: the events, of any number and kind.
 * @nr: how many, at least 1.
 *
 * They are read one after the other; only the members of a group are of one instant.
 *
 * Return: 0; -EINVAL if there is nothing to read, or no room for it; -ENOMEM; another negative
 * errno, of the first that is refused, which pmuctl_device_explain() explains: those before
 * have been read.
 */
int pmuctl_list_read(struct pmuctl_device *dev, struct pmuctl_list_reading *list, size_t nr);

/**
 * pmuctl_list_enable() - enable many events in as few calls as possible
 * @dev: any handle of the device: the events need not come from it.
 * @events: the events, enabled in this order.
 * @nr: how many, at least 1.
 *
 * Return: 0; -EINVAL without events; another negative errno, see pmuctl_device_explain().
 */
int pmuctl_list_enable(struct pmuctl_device *dev, struct pmuctl_event *const *events, size_t nr);

/**
 * pmuctl_list_disable() - disable many events in as few calls as possible
 * @dev: any handle of the device: the events need not come from it.
 * @events: the events, disabled in this order.
 * @nr: how many, at least 1.
 *
 * Return: as pmuctl_list_enable().
 */
int pmuctl_list_disable(struct pmuctl_device *dev, struct pmuctl_event *const *events, size_t nr);

/**
 * pmuctl_list_reset() - set the counts of many events to 0 in as few calls as possible
 * @dev: any handle of the device: the events need not come from it.
 * @events: the events.
 * @nr: how many, at least 1.
 *
 * Return: as pmuctl_list_enable().
 */
int pmuctl_list_reset(struct pmuctl_device *dev, struct pmuctl_event *const *events, size_t nr);

/**
 * pmuctl_events_weak() - may the events of a group be counted without each other?
 * @events: the list, from pmuctl_events_parse().
 * @index: which of its events, from 0.
 *
 * Return: 1 if the modifier W stands behind its group: whoever is refused that as a whole may
 * open its events one by one; else 0.
 */
int pmuctl_events_weak(const struct pmuctl_events *events, size_t index);

#ifdef __cplusplus
}
#endif

#endif /* PMUCTL_LIST_H */
