/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples of a recording for viewers of others. collect.c keeps them: each stack once,
 * with threads, times and periods; pprof.c, speedscope.c and firefox.c write that as files
 * which these programs read.
 */
#ifndef PMUCTL_TOOL_EXPORT_H
#define PMUCTL_TOOL_EXPORT_H

#include <stdio.h>

#include "symbols/samples.h"

/* No index: the outermost frame has no parent. */
#define EXPORT_NONE UINT32_MAX

/* What makes an entry of a table different from others */
struct export_key {
	uint64_t part[3];
};

/**
 * struct export_table - entries that are there once, with numbers from 0 on
 * @keys: by their numbers.
 * @count: how many.
 * @room: for so many.
 * @slots: numbers by a hash of the key, plus 1; 0 is free.
 * @slot_count: how many, a power of two.
 */
struct export_table {
	struct export_key *keys;
	uint32_t count;
	uint32_t room;
	uint32_t *slots;
	uint32_t slot_count;
};

int export_table_add(struct export_table *table, struct export_key key, uint32_t *number);
void export_table_free(struct export_table *table);

/**
 * struct export_frame - a function in a stack
 * @name: of it.
 * @binary: that it is in.
 * @level: as struct place has it.
 */
struct export_frame {
	const char *name;
	const struct binary *binary;
	char level;
};

/**
 * struct export_stack - how a function was called
 * @frame: number of the function.
 * @parent: the stack that called it, of a smaller number; EXPORT_NONE: nobody did.
 */
struct export_stack {
	uint32_t frame;
	uint32_t parent;
};

/**
 * struct export_thread - a thread
 * @pid: of its process.
 * @tid: its own number.
 * @comm: its name at the last sample.
 */
struct export_thread {
	int32_t pid;
	int32_t tid;
	const char *comm;
};

/**
 * struct export_sample - a sample
 * @time: nanoseconds, 0 if it was not recorded.
 * @period: that it stands for.
 * @stack: where it was.
 * @thread: number of the thread.
 */
struct export_sample {
	uint64_t time;
	uint64_t period;
	uint32_t stack;
	uint32_t thread;
};

/**
 * struct export - the samples of one event
 * @samples: the recording.
 * @event: they are of.
 * @name: of it.
 * @frames: struct export_frame.
 * @stacks: struct export_stack.
 * @threads: pid and tid.
 * @comms: of the threads.
 * @list: the samples in the order of time; when they are written, thread by thread.
 * @first: the first one of each thread then, and behind the last thread @count.
 * @count: how many.
 * @room: for so many.
 * @period: of all of them.
 */
struct export {
	struct samples *samples;
	const struct perffile_event *event;
	const char *name;
	struct export_table frames;
	struct export_table stacks;
	struct export_table threads;
	const char **comms;
	struct export_sample *list;
	size_t *first;
	size_t count;
	size_t room;
	uint64_t period;
};

/* A format: its name, and what writes it; returns 0 or -ENOMEM, errors of @out aside. */
struct export_format {
	const char *name;
	int (*write)(const struct export *data, FILE *out);
};

/* collect.c */
int export_add(struct export *data, const struct perffile_record *record,
	       const struct thread *thread);
struct export_frame export_frame(const struct export *data, uint32_t number);
struct export_stack export_stack(const struct export *data, uint32_t number);
struct export_thread export_thread(const struct export *data, uint32_t number);
bool export_is_time(const struct export *data);
void export_free(struct export *data);
const struct export_format *export_format(const char *name);
int export_write(struct export *data, const struct export_format *format,
		 const char *path);

/* json.c */
void export_json_text(FILE *out, const char *text);
void export_json_string(FILE *out, const char *text);

/* pprof.c, speedscope.c, firefox.c */
int export_pprof(const struct export *data, FILE *out);
int export_speedscope(const struct export *data, FILE *out);
int export_firefox(const struct export *data, FILE *out);

#endif /* PMUCTL_TOOL_EXPORT_H */
