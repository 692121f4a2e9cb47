// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "pmuctl top" shows, as text: a line about all, and for each event a line about it and
 * its table of rows, which is the report's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "terminal.h"
#include "top.h"

/* Rows where there is no terminal whose size would tell */
#define ROWS_USUAL 20

/* To the upper left corner, and wipe all */
#define CLEAR "\033[H\033[2J"

/* Above a table: the line of the event, "#", the headings, "#" */
#define EVENT_LINES 4

static void put_target(FILE *out, const struct top_live *live)
{
	const struct measure *measure = &live->options->record.measure;

	switch (measure->kind) {
	case TARGET_COMMAND:
		fprintf(out, "'%s'", measure->argv[0]);
		break;
	case TARGET_PROCESS:
		fprintf(out, "pid %s", measure->ids_text);
		break;
	case TARGET_THREAD:
		fprintf(out, "tid %s", measure->ids_text);
		break;
	case TARGET_CPU:
		fprintf(out, "CPU %s", measure->ids_text);
		break;
	case TARGET_ALL_CPUS:
		fprintf(out, "all, %zu CPUs", live->recording->set.targets.count);
		break;
	}
}

/**
 * text_head() - print the line about all
 * @out: where to.
 * @live: refreshed.
 */
void text_head(FILE *out, const struct top_live *live)
{
	double rate = live->elapsed > 0 ? (double)live->samples / live->elapsed : 0;
	uint64_t throttled = live->report.samples->throttled;

	fprintf(out, "pmuctl top: %.0f samples/s, kernel: %.1f%%, lost: %" PRIu64, rate,
		report_percent(live->kernel, live->samples), live->lost);
	if (throttled)
		fprintf(out, ", throttled: %" PRIu64, throttled);
	if (live->damaged)
		fprintf(out, ", damaged rings: %" PRIu64, live->damaged);
	fprintf(out, " (");
	put_target(out, live);
	fprintf(out, ")\n");
}

/**
 * text_event() - print an event
 * @out: where to.
 * @live: refreshed.
 * @event: one of its events.
 * @rows: how many at most.
 */
void text_event(FILE *out, const struct top_live *live, const struct report_event *event,
		size_t rows)
{
	const struct perf_event_attr *attr = &event->event->attr;

	fprintf(out, "# Samples: %" PRIu64 " of event '%s'", event->samples, event->name);
	/* Of a group that is sampled by another event it has neither. */
	if (attr->freq)
		fprintf(out, ", %" PRIu64 " Hz", (uint64_t)attr->sample_freq);
	else if (attr->sample_period)
		fprintf(out, ", period %" PRIu64, (uint64_t)attr->sample_period);
	fprintf(out, ", Event count (approx.): %" PRIu64 "\n#\n", event->period);
	report_print_rows(out, &live->report, event, rows, live->options->graphs);
}

/* How many rows of each event there is room for */
static size_t rows_for(const struct top_live *live, const struct winsize *size)
{
	size_t events = live->event_count, lines = size->ws_row;

	if (live->options->entries)
		return live->options->entries;
	if (!lines)
		return ROWS_USUAL;
	/* The line about all, and the one where the cursor is */
	lines = lines > 2 ? (lines - 2) / events : 0;
	return lines > EVENT_LINES + 1 ? lines - EVENT_LINES - 1 : 1;
}

/* Lines that are wider than the terminal would take two. */
static void put_clipped(const char *text, size_t width)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		fwrite(text, 1, terminal_fit(text, length, width), stdout);
		text += length;
		if (*text) {
			putchar('\n');
			text++;
		}
	}
}

/**
 * text_print() - print all on standard output
 * @live: refreshed.
 *
 * A terminal is wiped first, and lines end at its right side; elsewhere, or if a command prints
 * there too, an empty line comes behind.
 *
 * Return: 0 or a negative errno.
 */
int text_print(const struct top_live *live)
{
	struct winsize size = { 0 };
	bool is_terminal = isatty(STDOUT_FILENO), wipes = is_terminal && !live->child;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return -errno;
	if (is_terminal)
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	live->options->report.line_width = size.ws_col;
	text_head(out, live);
	for (size_t i = 0; i < live->event_count; i++) {
		fprintf(out, i ? "\n" : "");
		text_event(out, live, &live->report.events[i], rows_for(live, &size));
	}
	if (fclose(out) == 0) {
		fputs(wipes ? CLEAR : "", stdout);
		put_clipped(text, size.ws_col ? size.ws_col : SIZE_MAX);
		fputs(wipes ? "" : "\n", stdout);
	}
	free(text);
	return fflush(stdout) || ferror(stdout) ? -errno : 0;
}
