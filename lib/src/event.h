/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of an event handle, for event.c, group.c, builder.c and watch.c.
 */
#ifndef PMUCTL_LIB_EVENT_H
#define PMUCTL_LIB_EVENT_H

#include <stdbool.h>

#include <pmuctl_builder.h>

struct pmuctl_watch;

struct pmuctl_event {
	/* constant after open */
	int fd;
	uint64_t read_format;
	bool is_backward;	/* attr.write_backward */
	struct pmuctl_watch *watch;	/* its function, or NULL */
};

/* All that a read of a single event can return: see pmuctl_event_decode(). */
#define READ_WORDS_MAX	5

/* Of a tracepoint, "system:name" */
#define PMUCTL_NAME_MAX	128

/* event.c */
struct pmuctl_event *pmuctl_event_new(const struct perf_event_attr *attr);
void pmuctl_open_fill(struct pmuctl_open *open, const struct perf_event_attr *attr, pid_t pid,
		      int cpu, unsigned long flags, int group, char name[PMUCTL_NAME_MAX]);
void pmuctl_event_decode(uint64_t format, const uint64_t *word, struct pmuctl_reading *reading);
int pmuctl_event_ioctl(struct pmuctl_event *event, unsigned long request,
		       unsigned long arg);
int pmuctl_event_words(struct pmuctl_event *event, uint64_t *words, size_t size);

/* builder.c */
int pmuctl_builder_judge(const struct pmuctl_builder *b, struct perf_event_attr *attr,
			 struct pmuctl_explanation *why);

/* watch.c */
int pmuctl_event_watch(struct pmuctl_event *event, size_t pages, uint64_t sample_type,
		       pmuctl_overflow_fn function, void *arg,
		       struct pmuctl_explanation *why);
void pmuctl_event_unwatch(struct pmuctl_event *event);

/* group.c */
size_t pmuctl_group_words(uint64_t format, size_t members);
size_t pmuctl_group_decode(uint64_t format, const uint64_t *word,
			   struct pmuctl_reading *readings);
int pmuctl_group_first(struct pmuctl_event *event, struct pmuctl_reading *reading);

#endif /* PMUCTL_LIB_EVENT_H */
