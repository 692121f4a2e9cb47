/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl top": what its parts share. top.c understands the command line, run.c is the order of
 * things, live.c makes a report of what comes out of the rings, text.c prints it, screen.c
 * shows it on a terminal.
 *
 * Events and rings are those of "pmuctl record" (record.h), rows those of "pmuctl report"
 * (report.h), which reads the records as if they came from a file.
 */
#ifndef PMUCTL_TOOL_TOP_H
#define PMUCTL_TOOL_TOP_H

#include "record/record.h"
#include "report/report.h"

/* A day; more is a slip of the finger. */
#define TOP_DELAY_MAX	86400u
#define TOP_ENTRIES_MAX	1000000u

/**
 * struct top_options - the command line
 * @record: what is sampled.
 * @report: how it is shown. What a key changes is changed here.
 * @delay: seconds from refresh to refresh.
 * @entries: rows of an event; 0: as many as there is room for.
 * @iterations: refreshes until the end; 0: there is none.
 * @zero: each refresh shows what came since the one before, and no more.
 * @stdio: plain text, on a terminal too.
 * @graphs: call graphs are shown below their rows.
 */
struct top_options {
	struct record_options record;
	struct report_options report;
	uint64_t delay;
	uint64_t entries;
	uint64_t iterations;
	bool zero;
	bool stdio;
	bool graphs;
};

/* live.c */

/**
 * struct top_live - where the time goes now
 * @options: the command line.
 * @recording: events and rings.
 * @child: the command, 0 if there is none.
 * @file: a recording without records, in memory, of these events.
 * @path: its name.
 * @report: of it and all records until now, those long ago count less.
 * @event_count: how many of its events are shown, from the first one on.
 * @has_report: it is open.
 * @records: that were read and not looked at yet.
 * @samples: since the last refresh.
 * @kernel: of these in the kernel.
 * @since: when that was, seconds.
 * @elapsed: seconds between the last two.
 * @lost: samples that were lost in all.
 * @damaged: times that something was in a ring that is no record.
 */
struct top_live {
	struct top_options *options;
	struct recording *recording;
	pid_t child;
	int file;
	char path[32];
	struct report report;
	size_t event_count;
	bool has_report;
	struct perfdata_buffer records;
	uint64_t samples;
	uint64_t kernel;
	double since;
	double elapsed;
	uint64_t lost;
	uint64_t damaged;
};

int live_open(struct top_live *live, struct pmuctl_device *dev, struct top_options *options,
	      pid_t child);
int live_begin(struct top_live *live);
int live_read(struct top_live *live);
int live_refresh(struct top_live *live);
void live_decay(struct top_live *live, bool zero);
void live_close(struct top_live *live);

/* text.c */
void text_head(FILE *out, const struct top_live *live);
void text_event(FILE *out, const struct top_live *live, const struct report_event *event,
		size_t rows);
int text_print(const struct top_live *live);

/* run.c */
int top_run(struct pmuctl_device *dev, struct top_options *options);

#endif /* PMUCTL_TOOL_TOP_H */
