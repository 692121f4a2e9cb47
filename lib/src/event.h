/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of an event handle, for event.c and group.c.
 */
#ifndef PMUCTL_LIB_EVENT_H
#define PMUCTL_LIB_EVENT_H

#include <stdbool.h>

#include <pmuctl.h>

struct pmuctl_event {
	/* constant after open */
	int fd;
	uint64_t read_format;
	bool is_backward;	/* attr.write_backward */
};

/* event.c */
int pmuctl_event_ioctl(struct pmuctl_event *event, unsigned long request,
		       unsigned long arg);
int pmuctl_event_words(struct pmuctl_event *event, uint64_t *words, size_t size);

/* group.c */
int pmuctl_group_first(struct pmuctl_event *event, struct pmuctl_reading *reading);

#endif /* PMUCTL_LIB_EVENT_H */
