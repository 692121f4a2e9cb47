/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the commands of the pmuctl tool share: how a command is described, how it
 * says what is wrong, its exit statuses, and the names of the CPU's own events.
 */
#ifndef PMUCTL_TOOL_COMMAND_H
#define PMUCTL_TOOL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include <pmuctl.h>

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* Exit statuses of the tool itself; those of a measured command are its own. */
enum {
	STATUS_HELP		= -1,	/* the help was printed: nothing else to do */
	STATUS_OK		= 0,
	STATUS_FAILED		= 1,	/* refused, or the machine cannot count */
	STATUS_USAGE		= 2,	/* wrong options or arguments */
	STATUS_NOT_EXECUTABLE	= 126,
	STATUS_NOT_FOUND	= 127,
	STATUS_SIGNAL		= 128,	/* plus the number of the signal */
};

struct cli_option;
struct other_option;

/**
 * struct command - one command of the tool
 * @name: as it is typed.
 * @run: runs it with its own name in argv[0]; returns the exit status, or STATUS_HELP.
 * @summary: a line for "pmuctl help".
 * @operands: what follows the options, for the usage; a line for each way to use it.
 * @about: the help begins with it.
 * @options: one or two tables of its options.
 * @base: another command, whose options it takes, too; its help does not repeat them.
 * @others: options of perf's that it does not have, or NULL.
 * @notes: the help ends with it.
 * @starts_command: the operands are a command, which has options of its own.
 */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *summary;
	const char *operands;
	const char *about;
	const struct cli_option *options[2];
	const struct command *base;
	const struct other_option *others;
	const char *notes;
	bool starts_command;
};

extern const struct command command_stat;
extern const struct command command_timec;
extern const struct command command_exporter;
extern const struct command command_record;
extern const struct command command_run;
extern const struct command command_top;
extern const struct command command_trace;
extern const struct command command_report;
extern const struct command command_annotate;
extern const struct command command_diff;
extern const struct command command_evlist;
extern const struct command command_script;
extern const struct command command_list;
extern const struct command command_doctor;
extern const struct command command_selftest;

/* say.c */
void say_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_refusal(const char *name, const struct pmuctl_explanation *why);
int say_usage(const struct command *command, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* capabilities.c */
int capabilities_drop(void);

/* cpu_model.c */

/**
 * struct cpu_model - a model of CPU
 * @vendor: "GenuineIntel".
 * @family: with the extended one; @model: likewise.
 * @stepping: of the model.
 */
struct cpu_model {
	char vendor[13];
	unsigned int family, model, stepping;
};

void cpu_model_get(struct cpu_model *model);

/* events_text.c */
int events_text_add(char **text, const char *list);
int events_text_parse(const char *text, bool with_times, struct pmuctl_events **events);
int events_text_count(const char *text, size_t *count);

/* times.c */

/* What "pmuctl stat" knows without counting */
enum event_time {
	EVENT_TIME_NONE,	/* it counts */
	EVENT_TIME_DURATION,
	EVENT_TIME_USER,
	EVENT_TIME_SYSTEM,
};

enum event_time event_time_find(const char *name);

/* cpu_names.c */

/**
 * struct cpu_event - an event that only this model of CPU has
 * @pmu: short name of the model, "skl".
 * @pmu_description: its long name.
 * @name: the event, with its unit mask: "INST_RETIRED:ANY_P".
 * @description: what it counts.
 */
struct cpu_event {
	const char *pmu;
	const char *pmu_description;
	const char *name;
	const char *description;
};

int cpu_name_resolve(void *arg, const char *name, struct perf_event_attr *attr,
		     char *sentence, size_t size);
int trace_name_resolve(void *arg, const char *name, struct perf_event_attr *attr,
		       char *sentence, size_t size);
bool trace_name_is_made_up(const char *name);
int trace_names_are_hidden(const char *name, char *sentence, size_t size);
int trace_names_visit(void (*visit)(void *arg, const char *name), void *arg);
int cpu_events_visit(void (*visit)(void *arg, const struct cpu_event *event),
		     void *arg);

#endif /* PMUCTL_TOOL_COMMAND_H */
