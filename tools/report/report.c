// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report": reads a recording and tells where its samples are.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* What only tells of tasks stands behind the others, in recordings of perf's, too. */
static bool only_tells(const struct perffile *file, size_t event)
{
	const struct perf_event_attr *attr = &file->events[event].attr;

	return event && attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

/* Names are given to the events that are reported. */
static int select_events(struct report *report)
{
	const struct perffile *file = report->samples->file;
	const char *wanted = report->options->event;
	bool found = false;

	report->event_count = file->event_count;
	report->events = calloc(report->event_count, sizeof(*report->events));
	if (!report->events)
		return -ENOMEM;
	for (size_t i = 0; i < report->event_count; i++) {
		struct report_event *event = &report->events[i];
		const char *name = samples_event_name(report->samples, &file->events[i]);

		event->event = &file->events[i];
		event->export.samples = report->samples;
		event->export.event = event->event;
		event->export.name = name;
		if (wanted ? strcmp(wanted, name) != 0 : only_tells(file, i))
			continue;
		event->name = name;
		found = true;
	}
	if (found)
		return 0;
	say_error("'%s' has no event '%s'; it has:", report->samples->path, wanted);
	for (size_t i = 0; i < report->event_count; i++)
		fprintf(stderr, "  %s\n",
			samples_event_name(report->samples, &file->events[i]));
	return -ENOENT;
}

/* Call chains, if any event has them: then perf shows callers as rows too. */
static void decide(struct report *report, struct report_options *options)
{
	struct report_callgraph *graph = &options->graph;
	bool is_text = options->format == FORMAT_TEXT, chains = false;

	for (size_t i = 0; i < report->event_count; i++)
		if (report->events[i].name &&
		    report->events[i].event->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			chains = true;
	options->branches |= columns_of_branches(options);
	if (options->branches) {
		options->children = 0;
		options->group = 0;
		graph->whole = false;
		graph->order = GRAPH_NONE;
	}
	if (options->children < 0)
		options->children = is_text && chains;
	if (options->hierarchy || (is_text && !chains))
		options->children = 0;
	if (graph->order == GRAPH_AUTO)
		graph->order = is_text && options->children ? GRAPH_CALLER : GRAPH_CALLEE;
	if (!is_text)
		graph->whole = graph->order == GRAPH_CALLER;
	columns_set(options);
}

static bool needs_calls(const struct report_options *options)
{
	return options->format == FORMAT_FOLDED || options->format == FORMAT_SVG ||
	       options->graph.whole;
}

static bool needs_chain(const struct report_options *options)
{
	return needs_calls(options) || options->children > 0 ||
	       options->format == FORMAT_EXPORT || options->graph.order != GRAPH_NONE || options->filter.parent_set;
}

/* It counts for the whole, of which percentages are, if that is asked. */
static void add_left_out(const struct report *report, struct report_event *event,
			 const struct perffile_record *record)
{
	const struct report_options *options = report->options;

	if (options->filter.relative)
		return;
	event->samples += options->branches ? branches_count(record) : 1;
	event->period += options->branches ? branches_count(record) : record->sample.period;
}

/**
 * report_add() - add a sample, if it is one of those that are looked at
 * @report: open.
 * @record: the record that was read last, a sample.
 *
 * Return: 0, -ENOMEM.
 */
int report_add(struct report *report, const struct perffile_record *record)
{
	const struct report_options *options = report->options;
	const struct filter *filter = &options->filter;
	struct report_event *event;
	const struct thread *thread;

	if (!record->event)
		return 0;
	event = &report->events[record->event - report->samples->file->events];
	if (!event->name || filter_skips(filter, record))
		return 0;
	thread = samples_resolve(report->samples, record, needs_chain(options));
	if (!thread)
		return -ENOMEM;
	if (filter->hide_unresolved && !options->branches && !report->samples->frames[report->samples->self].symbol)
		return 0;
	if (!filter_has(filter, report->samples, record, thread)) {
		add_left_out(report, event, record);
		return 0;
	}
	if (options->branches)
		return report_add_branches(report, event, record, thread);
	if (needs_calls(options) && flame_add(report, event, thread, record->sample.period) < 0)
		return -ENOMEM;
	if (options->format == FORMAT_EXPORT && export_add(&event->export, record, thread) < 0)
		return -ENOMEM;
	if (options->format >= FORMAT_FOLDED) {
		event->samples++;
		event->period += record->sample.period;
		return 0;
	}
	return hist_add(report, event, record, thread);
}

/* Of formats that have one event, the one that was asked for or has samples. */
static struct report_event *single_event(const struct report *report)
{
	struct report_event *chosen = NULL;
	unsigned int others = 0;

	for (size_t i = 0; i < report->event_count; i++) {
		struct report_event *event = &report->events[i];

		if (!event->name || !event->samples)
			continue;
		others += !!chosen;
		chosen = chosen ? chosen : event;
	}
	if (!chosen)
		say_error("'%s' has no samples", report->samples->path);
	else if (others)
		say_error("this is of %s; there are %u more events: choose one with -e",
			  chosen->name, others);
	return chosen;
}

static int print_single(const struct report *report)
{
	const struct report_options *options = report->options;
	struct report_event *event = single_event(report);

	if (!event)
		return STATUS_FAILED;
	if (options->format == FORMAT_EXPORT)
		return export_write(&event->export, options->export, options->output) < 0 ?
		       STATUS_FAILED : STATUS_OK;
	if (options->format == FORMAT_SVG)
		return flame_write_svg(report, event, options->svg) < 0 ?
		       STATUS_FAILED : STATUS_OK;
	flame_print_folded(event);
	return STATUS_OK;
}

static int print(struct report *report)
{
	const struct report_options *options = report->options;

	for (size_t i = 0; i < report->event_count; i++)
		if (report->events[i].root && options->graph.whole)
			tree_sort(report->events[i].root, false);
	switch (options->format) {
	case FORMAT_TEXT:
		if (groups_join(report) < 0) {
			say_error("%s", pmuctl_strerror(-ENOMEM));
			return STATUS_FAILED;
		}
		report_print(report);
		if (options->threads)
			threads_print(report);
		return STATUS_OK;
	case FORMAT_JSON:
		return report_print_json(report) < 0 ? STATUS_FAILED : STATUS_OK;
	case FORMAT_STATS:
	case FORMAT_DUMP:
		about_print_stats(report);
		return STATUS_OK;
	case FORMAT_TASKS:
	case FORMAT_FOLDED:
	case FORMAT_SVG:
	case FORMAT_EXPORT:
		break;
	}
	return print_single(report);
}

/* On a terminal, or on paper */
static int present(struct report *report, struct report_options *options)
{
	int status = STATUS_HELP;

	if (browse_is_wanted(options))
		status = browse(report, options);
	return status == STATUS_HELP ? print(report) : status;
}

static int read_records(struct report *report)
{
	struct perffile_record record;
	int ret = 1;

	while (ret > 0) {
		ret = samples_next(report->samples, &record);
		if (ret <= 0)
			return ret;
		report->types[record.type % PERFFILE_USER_TYPE] += !record.again;
		if (record.type == PERF_RECORD_READ && record.event && report->options->threads &&
		    threads_add(&report->threads, &record) < 0) {
			say_error("%s", pmuctl_strerror(-ENOMEM));
			return -ENOMEM;
		}
		if (record.type == PERF_RECORD_CGROUP && cgroups_add(report, &record) < 0) {
			say_error("%s", pmuctl_strerror(-ENOMEM));
			return -ENOMEM;
		}
		if (record.type == PERF_RECORD_SAMPLE && report_add(report, &record) < 0) {
			say_error("%s", pmuctl_strerror(-ENOMEM));
			return -ENOMEM;
		}
	}
	return ret;
}

/**
 * report_open() - open a recording for a report; says what is wrong
 * @report: to be closed with report_close(), whatever becomes of it.
 * @options: the command line; what it leaves open is decided here. Must stay.
 *
 * Return: 0 or a negative error number.
 */
int report_open(struct report *report, struct report_options *options)
{
	int ret;

	*report = (struct report){ .options = options };
	ret = samples_open(&report->samples, &options->input);
	if (ret == 0)
		ret = select_events(report);
	if (ret == 0)
		ret = filter_start(&options->filter, report->samples);
	if (ret == 0)
		decide(report, options);
	if (ret == 0)
		ret = columns_start(report);
	return ret;
}

/**
 * report_read() - read all samples into rows, and put these in order; says what is wrong
 * @report: open.
 *
 * Return: 0 or a negative error number.
 */
int report_read(struct report *report)
{
	int ret = read_records(report);

	for (size_t i = 0; ret == 0 && i < report->event_count; i++)
		hist_finish(report, &report->events[i]);
	return ret;
}

/**
 * report_close() - forget a report
 * @report: opened, or not.
 */
void report_close(struct report *report)
{
	for (size_t i = 0; report->events && i < report->event_count; i++) {
		hist_free(&report->events[i]);
		export_free(&report->events[i].export);
	}
	free(report->events);
	free(report->threads.list);
	free(report->cgroups.list);
	samples_close(report->samples);
}

/**
 * report_make() - make a report
 * @options: the command line; what it leaves open is decided here.
 *
 * Return: the exit status.
 */
int report_make(struct report_options *options)
{
	int status = STATUS_FAILED;
	struct report report;
	int ret = report_open(&report, options);

	if (ret == 0 && options->about == ABOUT_ONLY) {
		about_print(&report);
		status = STATUS_OK;
	} else if (ret == 0 && options->format == FORMAT_DUMP) {
		ret = dump_records(report.samples, &report);
		status = ret == 0 ? print(&report) : STATUS_FAILED;
	} else if (ret == 0 && options->format == FORMAT_TASKS) {
		status = processes_print(&report) < 0 ? STATUS_FAILED : STATUS_OK;
	} else if (ret == 0 && report_read(&report) == 0) {
		status = present(&report, options);
		if (report.samples && options->about != ABOUT_NOTHING)
			samples_warn(report.samples);
	}
	if (fflush(stdout) || ferror(stdout)) {
		say_error("cannot write the report: %s", strerror(errno));
		status = STATUS_FAILED;
	}
	report_close(&report);
	return status;
}
