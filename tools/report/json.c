// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report as one JSON object.
 */
#include <errno.h>

#include <jansson.h>

#include "report.h"

/* Readers of JSON refuse what is nested too deep. */
#define DEPTH_MAX 256

/* Counts beyond 2^63 are none; JSON knows no larger integers here. */
static json_int_t number(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

static const char *level_name(char level)
{
	switch (level) {
	case 'k':
		return "kernel";
	case '.':
		return "user";
	case 'c':
		return "command";
	case 'H':
		return "hypervisor";
	}
	return "guest";
}

static json_t *tree_json(const struct tree_node *parent, uint64_t total,
			 const char *below, unsigned int depth)
{
	json_t *list = json_array();

	for (const struct tree_node *node = parent->child; node; node = node->sibling) {
		json_t *object = json_pack("{s:s, s:s, s:f, s:I, s:I}", "name", node->label,
					   "level", level_name(node->level),
					   "percent", report_percent(node->period, total),
					   "period", number(node->period),
					   "samples", number(node->samples));

		if (node->child && depth < DEPTH_MAX)
			json_object_set_new(object, below,
					    tree_json(node, total, below, depth + 1));
		json_array_append_new(list, object);
	}
	return list;
}

static void add_callers(const struct report *report, const struct report_event *event,
			const struct report_row *row, json_t *object)
{
	struct tree_node *root;
	struct tree *tree = chains_of_row(report, row, &root);

	if (tree && root->child)
		json_object_set_new(object, "callers",
				    tree_json(root, event->period, "callers", 0));
	tree_free(tree);
}

static json_t *row_json(const struct report *report, const struct report_event *event,
			const struct report_row *row)
{
	const struct report_options *options = report->options;
	json_t *object = json_pack("{s:f, s:I, s:I}",
				   "percent", report_percent(row->period, event->period),
				   "period", number(row->period),
				   "samples", number(row->samples));

	if (options->children > 0) {
		json_object_set_new(object, "children_percent",
				    json_real(report_percent(row->total, event->period)));
		json_object_set_new(object, "children_period",
				    json_integer(number(row->total)));
	}
	for (int i = 0; i < KEY_COUNT; i++)
		if (options->is_key[i])
			json_object_set_new(object, report_column_names[i],
					    json_string(row->text[i]));
	if (row->level)
		json_object_set_new(object, "level", json_string(level_name(row->level)));
	add_callers(report, event, row, object);
	return object;
}

static json_t *event_json(const struct report *report, const struct report_event *event)
{
	json_t *rows = json_array();
	json_t *object;

	for (size_t i = 0; i < event->row_count; i++) {
		const struct report_row *row = event->rows[i];
		uint64_t weight = report_weight(report, row);

		if (report_percent(weight, event->period) >= report->options->limit)
			json_array_append_new(rows, row_json(report, event, row));
	}
	object = json_pack("{s:s, s:I, s:I, s:o}", "event", event->name,
			   "samples", number(event->samples),
			   "period", number(event->period), "rows", rows);
	if (event->root)
		json_object_set_new(object, "calls",
				    tree_json(event->root, event->period, "calls", 0));
	return object;
}

static json_t *text_json(struct samples *samples, const char *text)
{
	return text ? json_string(names_intern(samples->symbols->names, text)) : json_null();
}

/**
 * report_print_json() - print a report as JSON
 * @report: sorted.
 *
 * Return: 0, -ENOMEM.
 */
int report_print_json(const struct report *report)
{
	struct samples *samples = report->samples;
	const struct perffile_info *info = &samples->file->info;
	json_t *events = json_array(), *all;
	int ret;

	for (size_t i = 0; i < report->event_count; i++)
		if (report->events[i].name)
			json_array_append_new(events, event_json(report, &report->events[i]));
	all = json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:o}",
			"recording", text_json(samples, samples->path),
			"command", text_json(samples, info->cmdline),
			"hostname", text_json(samples, info->hostname),
			"osrelease", text_json(samples, info->osrelease),
			"lost_records", number(samples->lost),
			"lost_samples", number(samples->lost_samples),
			"throttled", number(samples->throttled), "events", events);
	if (!all)
		return -ENOMEM;
	ret = json_dumpf(all, stdout, JSON_INDENT(1));
	json_decref(all);
	putchar('\n');
	return ret < 0 ? -ENOMEM : 0;
}
