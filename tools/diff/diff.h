/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl diff": what its parts share. diff.c understands the command line and reads both
 * recordings, pairs.c puts their rows together, print.c prints these.
 */
#ifndef PMUCTL_TOOL_DIFF_H
#define PMUCTL_TOOL_DIFF_H

#include "report/report.h"

enum diff_compute {
	DIFF_DELTA_ABS,	/* the largest change first, in either direction */
	DIFF_DELTA,	/* what has grown first */
	DIFF_RATIO,	/* of periods */
	DIFF_WEIGHTED,	/* of these with a weight each */
};

/**
 * struct diff - the command
 * @options: for both recordings.
 * @compute: what is shown.
 * @weights: of the old recording's periods, and of the new one's: DIFF_WEIGHTED.
 * @periods: these are shown, too.
 * @formula: how each change is computed is shown, too.
 * @by_baseline: rows are in order of their shares of the old recording.
 * @separator: between columns, which are not aligned then; NULL: they are.
 * @baseline_only: only rows that the old one has.
 * @paths: the old recording, and the new one.
 * @reports: what is in them.
 */
struct diff {
	struct report_options options;
	enum diff_compute compute;
	int weights[2];
	bool periods;
	bool formula;
	bool by_baseline;
	bool baseline_only;
	const char *separator;
	const char *paths[2];
	struct report reports[2];
};

/**
 * struct diff_row - a row of both, or of one of them
 * @like: says its keys.
 * @period: of the old, and of the new one.
 * @percent: of the event there.
 * @has: it is there.
 * @change: what rows are in order by.
 */
struct diff_row {
	const struct report_row *like;
	uint64_t period[2];
	double percent[2];
	bool has[2];
	double change;
};

/**
 * struct diff_rows - the rows of an event
 * @name: of the event.
 * @events: in the old and in the new recording.
 * @list: the rows.
 * @count: how many.
 */
struct diff_rows {
	const char *name;
	struct report_event *events[2];
	struct diff_row *list;
	size_t count;
};

/* pairs.c */
int pairs_make(const struct diff *diff, struct diff_rows *rows);

/* print.c */
void diff_print(const struct diff *diff, const struct diff_rows *rows);
int diff_print_json(const struct diff *diff, const struct diff_rows *list, size_t count);

#endif /* PMUCTL_TOOL_DIFF_H */
