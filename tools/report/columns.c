// SPDX-License-Identifier: GPL-2.0-only
/*
 * What makes a row of a report, and which columns it has in which order: --sort and
 * --fields, as perf understands them together.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define SORT_DEFAULT "comm,dso,symbol"
#define SORT_BRANCHES "comm,dso_from,symbol_from,symbol_to,cycles"

/* Wider columns are none. */
#define WIDTH_MAX 4096

const char *const report_column_names[COLUMN_COUNT] = {
	[KEY_COMM] = "comm",
	[KEY_PID] = "pid",
	[KEY_TID] = "tid",
	[KEY_CPU] = "cpu",
	[KEY_TIME] = "time",
	[KEY_CGROUP] = "cgroup",
	[KEY_DSO] = "dso",
	[KEY_SYMBOL] = "symbol",
	[KEY_LINE] = "srcline",
	[KEY_PARENT] = "parent",
	[KEY_DSO_FROM] = "dso_from",
	[KEY_SYMBOL_FROM] = "symbol_from",
	[KEY_DSO_TO] = "dso_to",
	[KEY_SYMBOL_TO] = "symbol_to",
	[KEY_MISPREDICT] = "mispredict",
	[KEY_CYCLES] = "cycles",
	[NUMBER_CHILDREN] = "overhead_children",
	[NUMBER_OVERHEAD] = "overhead",
	[NUMBER_KERNEL] = "overhead_sys",
	[NUMBER_USER] = "overhead_us",
	[NUMBER_SAMPLES] = "sample",
	[NUMBER_PERIOD] = "period",
};

/* "sym" is perf's other name for symbol. */
static int column_number(const char *word, size_t length)
{
	if (length == 3 && !strncmp(word, "sym", 3))
		return KEY_SYMBOL;
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (strlen(report_column_names[i]) == length &&
		    !strncmp(word, report_column_names[i], length))
			return i;
	return -1;
}

static bool has(const struct report_columns *columns, enum report_key key)
{
	for (size_t i = 0; i < columns->count; i++)
		if (columns->list[i] == key)
			return true;
	return false;
}

static void add(struct report_columns *columns, enum report_key key)
{
	if (!has(columns, key))
		columns->list[columns->count++] = key;
}

static void drop(struct report_columns *columns, enum report_key key)
{
	size_t kept = 0;

	for (size_t i = 0; i < columns->count; i++)
		if (columns->list[i] != key)
			columns->list[kept++] = columns->list[i];
	columns->count = kept;
}

static void add_all(struct report_columns *columns, const struct report_columns *more)
{
	for (size_t i = 0; i < more->count; i++)
		add(columns, more->list[i]);
}

/* Words with commas between; those that are no columns were refused before. */
static void add_words(struct report_columns *columns, const char *text)
{
	for (size_t length; ; text += length + 1) {
		int key;

		length = strcspn(text, ",");
		key = column_number(text, length);
		if (key >= 0)
			add(columns, (enum report_key)key);
		if (!text[length])
			return;
	}
}

static int check_words(const struct command *command, const char *text)
{
	struct report_columns columns = { .count = 0 };

	text += *text == '+';
	for (size_t length; ; text += length + 1) {
		int key;

		length = strcspn(text, ",");
		key = column_number(text, length);
		if (key < 0 && length == strlen("socket") && !strncmp(text, "socket", length))
			return say_usage(command, "'socket' is nothing to sort by: 'cpu' has a row for each CPU, and -C chooses those of a socket");
		if (key < 0)
			return say_usage(command, "'%.*s' is nothing to sort by: there are comm, pid, tid, cpu, time, cgroup, dso, symbol, srcline and parent, of branches dso_from, symbol_from, dso_to, symbol_to, mispredict and cycles, and the numbers overhead, overhead_children, overhead_sys, overhead_us, sample and period",
					 (int)length, text);
		if (has(&columns, (enum report_key)key))
			return say_usage(command, "'%s' is there twice",
					 report_column_names[key]);
		add(&columns, (enum report_key)key);
		if (!text[length])
			return STATUS_OK;
	}
}

/**
 * columns_check() - refuse what is no column
 * @command: whose command line it is.
 * @options: the command line.
 *
 * Return: 0, or the exit status for that.
 */
int columns_check(const struct command *command, const struct report_options *options)
{
	int status = STATUS_OK;

	if (options->sort_text)
		status = check_words(command, options->sort_text);
	if (status == STATUS_OK && options->fields_text)
		status = check_words(command, options->fields_text);
	return status;
}

/**
 * columns_of_branches() - are there keys that only branches have?
 * @options: the command line, checked.
 */
bool columns_of_branches(const struct report_options *options)
{
	const char *const texts[] = { options->sort_text, options->fields_text };
	struct report_columns columns = { .count = 0 };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		if (texts[i])
			add_words(&columns, texts[i] + (*texts[i] == '+'));
	for (size_t i = 0; i < columns.count; i++)
		if (columns.list[i] >= KEY_DSO_FROM && columns.list[i] < KEY_COUNT)
			return true;
	return false;
}

/**
 * columns_set() - decide about the columns
 * @options: checked, with @children decided.
 *
 * Without --fields, or with "+..." there, shares come first, in both senses; with it, all
 * is as the user has written it, and what he sorts by without showing it comes last.
 */
void columns_set(struct report_options *options)
{
	const char *fields = options->fields_text, *sort = options->sort_text;
	const char *usual = options->branches ? SORT_BRANCHES : SORT_DEFAULT;
	struct report_columns keys = { .count = 0 };
	bool strict = fields && *fields != '+';

	options->columns.count = 0;
	options->order.count = 0;
	if (!strict && options->children > 0) {
		add(&options->columns, NUMBER_CHILDREN);
		add(&options->order, NUMBER_CHILDREN);
	}
	if (!strict) {
		add(&options->columns, NUMBER_OVERHEAD);
		add(&options->order, NUMBER_OVERHEAD);
	}
	if (strict)
		add_words(&options->columns, fields);
	/* As perf: where there are no call chains, a column of them is not there. */
	if (strict && options->children <= 0)
		drop(&options->columns, NUMBER_CHILDREN);
	if (options->counts)
		add(&options->columns, NUMBER_SAMPLES);
	if (options->periods)
		add(&options->columns, NUMBER_PERIOD);
	if (!sort && !strict)
		add_words(&keys, usual);
	if (sort && *sort == '+')
		add_words(&keys, usual);
	if (sort)
		add_words(&keys, sort + (*sort == '+'));
	if (options->filter.parent_set && !options->filter.has_parent)
		add(&keys, KEY_PARENT);
	add_all(&options->columns, &keys);
	add_all(&options->order, &keys);
	if (fields && !strict)
		add_words(&options->columns, fields + 1);
	add_all(&options->order, &options->columns);
	for (int i = 0; i < KEY_COUNT; i++)
		options->is_key[i] = has(&options->columns, (enum report_key)i);
}

/* Keys that only some recordings have */
static const struct {
	enum report_key key;
	uint64_t sample_type;
	const char *lack;
} recorded[] = {
	{ KEY_TIME, PERF_SAMPLE_TIME, "does not tell when a sample was: record with -T" },
	{ KEY_CGROUP, PERF_SAMPLE_CGROUP,
	  "does not tell in which cgroup a sample was: record with --all-cgroups" },
};

/**
 * columns_start() - does a recording have what its rows go by? Says what it lacks.
 * @report: open, with its columns set.
 *
 * Return: 0, -ENODATA.
 */
int columns_start(const struct report *report)
{
	for (size_t i = 0; i < report->event_count; i++)
		if (report->options->branches && report->events[i].name &&
		    !(report->events[i].event->attr.sample_type & PERF_SAMPLE_BRANCH_STACK)) {
			say_error("'%s' has no branches: record with -b", report->samples->path);
			return -ENODATA;
		}
	for (size_t i = 0; i < report->event_count; i++)
		for (size_t k = 0; report->events[i].name && k < ARRAY_LEN(recorded); k++) {
			if (!report->options->is_key[recorded[k].key] ||
			    report->events[i].event->attr.sample_type & recorded[k].sample_type)
				continue;
			say_error("'%s' %s, or leave the key '%s' out", report->samples->path, recorded[k].lack,
				  report_column_names[recorded[k].key]);
			return -ENODATA;
		}
	return 0;
}

/**
 * columns_widths() - understand --column-widths
 * @options: gets it.
 * @text: numbers, with commas between.
 *
 * Return: 0 or an exit status. As in perf, widths of columns that are not there do nothing.
 */
int columns_widths(struct report_options *options, const char *text)
{
	const char *at = text;

	for (size_t i = 0; ; i++) {
		unsigned long width;
		char *end;

		width = strtoul(at, &end, 10);
		if (*at < '0' || *at > '9' || (*end && *end != ',') || width > WIDTH_MAX)
			return say_usage(&command_report, "'%s' is no list of widths: it is like 8,12,0,30", text);
		if (i < COLUMN_COUNT)
			options->widths[i] = width;
		if (!*end)
			return STATUS_OK;
		at = end + 1;
	}
}

/**
 * columns_time_quantum() - understand --time-quantum
 * @options: gets it.
 * @text: a number and its unit.
 *
 * Return: 0 or an exit status.
 */
int columns_time_quantum(struct report_options *options, const char *text)
{
	static const struct {
		const char *name;
		uint64_t nanoseconds;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	for (size_t i = 0; i < ARRAY_LEN(units) && !errno && number && *text >= '0' && *text <= '9'; i++)
		if (!strcmp(end, units[i].name))
			return __builtin_mul_overflow(number, units[i].nanoseconds, &options->time_quantum) ?
			       say_usage(&command_report, "'%s' is too long for --time-quantum", text) : STATUS_OK;
	return say_usage(&command_report, "'%s' is no time for --time-quantum: it is like 10ms, 500us or 1s", text);
}
