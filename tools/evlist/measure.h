/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What "pmuctl stat", "pmuctl record" and "pmuctl top" have in common: the options that say what is
 * measured where (measure_options.c, cgroups.c), and the events that are opened for that
 * (event_set.c).
 */
#ifndef PMUCTL_TOOL_MEASURE_H
#define PMUCTL_TOOL_MEASURE_H

#include <stdint.h>
#include <sys/types.h>

#include "options.h"

enum target_kind {
	TARGET_COMMAND,		/* the command that is started */
	TARGET_PROCESS,		/* all threads of processes */
	TARGET_THREAD,
	TARGET_CPU,
	TARGET_ALL_CPUS,
};

/**
 * struct int_list - numbers from the command line
 * @count: how many.
 * @list: the numbers.
 */
struct int_list {
	size_t count;
	int *list;
};

/* lists.c */
int int_list_parse(const char *text, bool ranges, struct int_list *list,
		   size_t *position);
void int_list_free(struct int_list *list);

/* numbers.c */
bool numbers_visit(const char *folder, void (*visit)(void *arg, int number), void *arg);

/**
 * struct cgroup_names - -G and --for-each-cgroup
 * @count: how many.
 * @list: the names; of -G an empty one stands for none.
 * @nr_events: events that were given before the last -G.
 * @each: all events are counted for each of them.
 */
struct cgroup_names {
	size_t count;
	char **list;
	size_t nr_events;
	bool each;
};

/**
 * struct filter_text - a filter, and of which events it is
 * @text: it.
 * @first: number of the first of these, and
 * @end: the one behind the last.
 */
struct filter_text {
	const char *text;
	size_t first;
	size_t end;
};

struct filter_texts {
	struct filter_text *list;
	size_t count;
};

/**
 * struct measure - what is measured where
 * @command: the command of this tool, for its help.
 * @events_text: all -e, with commas between; NULL if there was none.
 * @events: the same, parsed.
 * @kind: whom to measure.
 * @has_target: @kind was chosen by an option.
 * @ids: the pids, thread ids or CPUs of @kind; none for TARGET_ALL_CPUS.
 * @ids_text: the same as it was typed.
 * @before_last: bytes of @events_text that were there before the last -e.
 * @filters: of tracepoints that were given before them.
 * @filter: of those that have none of these, given before all events; NULL: none.
 * @address_filter: of events that trace, likewise.
 * @exclude_self: of tracepoints, what this process does is left out.
 * @cgroups: of which cgroups' tasks.
 * @no_inherit: leave out what the targets start.
 * @on_each_cpu: of tasks: each has events of its own for each CPU, as what traces needs to be
 *	inherited.
 * @only: 'u' or 'k': all events only in user space, or in the kernel; 0: as each says.
 * @by_thread: each thread of a process is a target of its own.
 * @teller: behind the others there is an event that counts nothing, to tell of tasks.
 * @argv: the command to start, NULL if there is none.
 */
struct measure {
	const struct command *command;
	char *events_text;
	struct pmuctl_events *events;
	enum target_kind kind;
	bool has_target;
	struct int_list ids;
	char *ids_text;
	size_t before_last;
	struct filter_texts filters;
	const char *filter;
	const char *address_filter;
	bool exclude_self;
	struct cgroup_names cgroups;
	bool no_inherit;
	bool on_each_cpu;
	char only;
	bool by_thread;
	bool teller;
	char **argv;
};

/* measure_options.c */

/* Returned for an option that is none of the command's own */
#define MEASURE_OPTION_COMMON (-2)

/* An option without a letter; the commands' own have smaller numbers. */
#define MEASURE_OPTION_FILTER 1000
#define MEASURE_OPTION_EACH_CGROUP 1001
#define MEASURE_OPTION_ALL_USER 1002
#define MEASURE_OPTION_ALL_KERNEL 1003

/* Those that these commands have in common, ends with zeroes */
extern const struct cli_option measure_options[];

int measure_parse(struct measure *measure, int argc, char **argv, option_apply apply, void *arg);
int measure_option(struct measure *measure, int option);
int measure_processes(struct measure *measure, const char *list);
int measure_user(struct measure *measure, const char *text);
int measure_number(const struct measure *measure, const char *option, const char *text,
		   uint64_t max, uint64_t *number);
bool measure_is_of_cpus(const struct measure *measure);
int measure_device(struct pmuctl_device **dev);
int measure_default_event(struct pmuctl_device *dev, struct measure *measure);
void measure_free(struct measure *measure);

/* filters.c */

/* The name of other threads of this process where @exclude_self is set: a filter has no other way. */
#define MEASURE_SELF "pmuctl-reader"

int filter_option(struct measure *measure, const char *text);
const char *filter_of_event(const struct measure *measure, size_t event);
int measure_filters_check(const struct measure *measure);

/* cgroups.c */
int cgroup_option(struct measure *measure, const char *text, bool each);
const char *cgroups_check(const struct measure *measure);
const char *cgroup_of_event(const struct measure *measure, size_t event);
char *cgroup_hierarchy(void);
int cgroup_open(const char *name);
void cgroups_free(struct cgroup_names *names);

/* event_set.c */

/**
 * struct set_event - an event of a set
 * @name: as the user wrote it.
 * @attr: what is counted.
 * @leader: number of the event that leads its group: its own if it has none.
 * @filter: when it happens at all, or NULL.
 * @traces: it is of a driver that traces.
 * @is_weak: it may be counted without its group.
 * @sample_read: its samples are to tell counts: the modifier S.
 * @stays_on: it is not switched with the others.
 * @number: its number in the list that it is of.
 * @cgroup: the only one whose tasks it counts, or NULL, and
 * @cgroup_fd: its directory; several events may share it.
 */
struct set_event {
	char *name;
	struct perf_event_attr attr;
	size_t leader;
	const char *filter;
	bool traces;
	bool is_weak;
	bool sample_read;
	bool stays_on;
	size_t number;
	const char *cgroup;
	int cgroup_fd;
};

/**
 * struct event_set - events times targets
 * @dev: where they are opened.
 * @measure: what was asked for.
 * @events: what to open.
 * @nr_events: how many.
 * @targets: pids, thread ids or CPUs; for all CPUs at once a single -1.
 * @cpus: of events for each CPU of tasks: those CPUs, for which each task is in @targets so often.
 * @is_gone: of each target: it had ended before all events were open.
 * @handles: nr_events * targets.count, event by event; NULL where nothing is open.
 */
struct event_set {
	struct pmuctl_device *dev;
	const struct measure *measure;
	struct set_event *events;
	size_t nr_events;
	struct int_list targets;
	struct int_list cpus;
	bool *is_gone;
	struct pmuctl_event **handles;
};

/* Are there others in the group that it leads? */
static inline bool event_set_leads(const struct event_set *set, size_t event)
{
	return set->events[event].leader == event && event + 1 < set->nr_events &&
	       set->events[event + 1].leader == event;
}

static inline bool event_set_is_grouped(const struct event_set *set, size_t event)
{
	return set->events[event].leader != event || event_set_leads(set, event);
}

/* Told why an event was refused; returns whether to try again, after a change. */
typedef bool (*event_amend)(struct event_set *set, size_t event,
			    const struct pmuctl_explanation *why);

int event_set_init(struct event_set *set, struct pmuctl_device *dev,
		   const struct measure *measure, pid_t child, bool each_cpu);
void event_set_prepare(struct event_set *set, size_t event, bool by_exec);
bool event_set_open_at_once(struct event_set *set);
int event_set_open(struct event_set *set, size_t event, event_amend amend,
		   struct pmuctl_explanation *why);
bool event_set_leave_group(struct event_set *set, size_t event, size_t *first);
void event_set_close(struct event_set *set);
struct pmuctl_event **event_set_handle(const struct event_set *set, size_t event,
				       size_t target);
int event_set_say(const struct event_set *set, size_t event,
		  struct pmuctl_event *handle, const char *what, int error);
int event_set_enable(const struct event_set *set);
int event_set_disable(const struct event_set *set);

/* targets.c */
int event_set_cpu(const struct event_set *set, size_t target);

/* event_filter.c */
int event_filter_prepare(const struct event_set *set, struct set_event *event);
int event_filter_set(const struct event_set *set, size_t event, struct pmuctl_event *opened,
		     struct pmuctl_explanation *why);

#endif /* PMUCTL_TOOL_MEASURE_H */
