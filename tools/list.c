// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl list": the names that event lists understand, with what they count. It
 * works without the driver too; with it, generic events that this CPU cannot count
 * are marked.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "metric/metric.h"
#include "options.h"

enum {
	OPTION_NO_DESC = OPTION_NO_LETTER,
};

static const struct cli_option list_options[] = {
	{ OPTION_NO_DESC, "no-desc", .help = "only names, without what they mean" },
	{ 'd', "desc", .help = "what they mean, as always" },
	{ 'v', "long-desc", .help = "all that is known of that, as always" },
	{ 'j', "json",
	  .help = "one JSON array of objects: name, alias, kind, pmu, description, and "
		  "for generic and software events counted: can this CPU count it?" },
	{ 0 },
};

/* What of the events is listed */
#define CLASS_GENERIC	1
#define CLASS_SOFTWARE	2
#define CLASS_CACHE	4
#define CLASS_CPU	8
#define CLASS_ALL	15

/**
 * struct list - a list that is being printed
 * @classes: CLASS_*.
 * @patterns: as given, up to a NULL.
 * @json: collects the objects; NULL for text.
 * @only_names: text has no descriptions.
 * @known: the driver is there, so @generic says what the CPU counts.
 * @generic: pmuctl_info.generic_events.
 * @heading: the last one that was printed.
 * @found: names that matched.
 */
struct list {
	unsigned int classes;
	char **patterns;
	json_t *json;
	bool only_names;
	bool known;
	uint64_t generic;
	char heading[128];
	size_t found;
};

static bool is_like(const char *name, const char *pattern)
{
	if (strpbrk(pattern, "*?["))
		return fnmatch(pattern, name, FNM_CASEFOLD) == 0;
	return strcasestr(name, pattern) != NULL;
}

/* Is it what was asked for, all or one of several? */
static bool name_matches(const struct list *list, const char *name)
{
	char **pattern = list->patterns;

	while (*pattern && !is_like(name, *pattern))
		pattern++;
	return *pattern || !*list->patterns;
}

/* Only tracepoints have a colon in their names. */
static bool has_colon(const struct list *list)
{
	char **pattern = list->patterns;

	while (*pattern && !strchr(*pattern, ':'))
		pattern++;
	return *pattern;
}

static void print_heading(struct list *list, const char *heading)
{
	if (!strcmp(list->heading, heading))
		return;
	printf("%s%s:\n", list->found ? "\n" : "", heading);
	snprintf(list->heading, sizeof(list->heading), "%s", heading);
}

static void print_event(const struct list *list, const char *name, const char *alias,
			const char *description, bool missing)
{
	char names[160];

	snprintf(names, sizeof(names), "%s%s%s", name, alias ? " or " : "",
		 alias ? alias : "");
	if (list->only_names)
		printf("  %s%s\n", names, missing ? " [this CPU cannot count it]" : "");
	else
		printf("  %-46s %s%s\n", names, description,
		       missing ? " [this CPU cannot count it]" : "");
}

static json_t *json_string_or_null(const char *text)
{
	/* Tables of others: what is not UTF-8 is left out. */
	json_t *string = text ? json_string(text) : NULL;

	return string ? string : json_null();
}

static void add_json(struct list *list, json_t *object)
{
	json_array_append_new(list->json, object);
}

static void add_library_name(struct list *list, const struct pmuctl_name *name)
{
	bool generic = name->type == PERF_TYPE_HARDWARE;
	bool software = name->type == PERF_TYPE_SOFTWARE;
	bool counted = software || list->generic >> name->config & 1;

	if (!(list->classes & (generic ? CLASS_GENERIC : software ? CLASS_SOFTWARE : CLASS_CACHE)))
		return;
	if (!name_matches(list, name->name) &&
	    !(name->alias && name_matches(list, name->alias)))
		return;
	if (list->json) {
		json_t *known = (generic || software) && list->known ?
			json_boolean(counted) : json_null();
		json_t *alias = json_string_or_null(name->alias);

		add_json(list, json_pack("{s:s, s:o, s:s, s:n, s:s, s:o}",
					 "name", name->name, "alias", alias,
					 "kind", generic ? "generic" :
					 software ? "software" : "cache",
					 "pmu", "description", name->description,
					 "counted", known));
	} else {
		print_heading(list, generic ? "Generic events" :
			      software ? "Software events" : "Cache events");
		print_event(list, name->name, name->alias, name->description,
			    generic && list->known && !counted);
	}
	list->found++;
}

static void add_cpu_event(void *arg, const struct cpu_event *event)
{
	struct list *list = arg;
	char heading[sizeof(list->heading)];

	if (!name_matches(list, event->name))
		return;
	if (list->json) {
		json_t *description = json_string_or_null(event->description);

		add_json(list, json_pack("{s:s, s:n, s:s, s:s, s:o, s:n}",
					 "name", event->name, "alias",
					 "kind", "cpu", "pmu", event->pmu,
					 "description", description, "counted"));
	} else {
		snprintf(heading, sizeof(heading), "Events of this CPU (%s)",
			 event->pmu_description);
		print_heading(list, heading);
		print_event(list, event->name, NULL, event->description, false);
	}
	list->found++;
}

static void add_tracepoint(void *arg, const char *name)
{
	struct list *list = arg;

	if (!name_matches(list, name))
		return;
	if (list->json)
		add_json(list, json_pack("{s:s, s:n, s:s, s:n, s:n, s:n}",
					 "name", name, "alias", "kind", "tracepoint",
					 "pmu", "description", "counted"));
	else
		puts(name);
	list->found++;
}

static void ask_driver(struct list *list)
{
	struct pmuctl_device *dev;
	struct pmuctl_info info;

	if (pmuctl_device_open(NULL, NULL, &dev) < 0)
		return;
	if (pmuctl_device_info(dev, &info, sizeof(info)) == 0) {
		list->known = true;
		list->generic = info.generic_events;
	}
	pmuctl_device_close(dev);
}

static int list_tracepoints(struct list *list)
{
	int ret = trace_names_visit(add_tracepoint, list);

	if (ret == 0)
		return STATUS_OK;
	say_error("the kernel's tracing cannot be looked at: %s; as root, 'mount -t tracefs none /sys/kernel/tracing' makes it visible",
		  strerror(-ret));
	return STATUS_FAILED;
}

static void add_metric(struct list *list, const struct metric_core *core,
		       const struct metric *metric)
{
	char heading[sizeof(list->heading)], name[128];

	if (!name_matches(list, metric->name) &&
	    !name_matches(list, metric->group))
		return;
	if (list->json) {
		list->found++;
		add_json(list, json_pack("{s:s, s:n, s:s, s:s, s:s, s:n, s:s, s:s}",
					 "name", metric->name, "alias", "kind", "metric",
					 "pmu", core->name ? core->name : "",
					 "description", metric->text, "counted",
					 "group", metric->group, "formula", metric->formula));
		return;
	}
	snprintf(heading, sizeof(heading), "Metrics%s%s, for -M", core->name ? " of " : "",
		 core->name ? core->name : "");
	print_heading(list, heading);
	list->found++;
	snprintf(name, sizeof(name), "%s [%s]", metric->name, metric->group);
	print_event(list, name, NULL, metric->text, false);
}

static int list_metrics(struct list *list)
{
	struct metric_machine machine;
	const struct metric_core *own;

	metric_machine_get(&machine);
	own = metric_core_of(&machine);
	for (const struct metric *metric = metric_cores[0].metrics; metric->name; metric++)
		add_metric(list, &metric_cores[0], metric);
	for (const struct metric *metric = own ? own->metrics : NULL; metric && metric->name;
	     metric++)
		add_metric(list, own, metric);
	return STATUS_OK;
}

static int list_events(struct list *list)
{
	struct pmuctl_name name;

	for (size_t i = 0; pmuctl_name_get(i, &name) == 0; i++)
		add_library_name(list, &name);
	if (list->classes & CLASS_CPU && !cpu_events_visit(add_cpu_event, list) && !list->json && !*list->patterns)
		printf("\nlibpfm4 has no table of this CPU's own events.\n");
	return STATUS_OK;
}

/* What is listed, by the words of perf list; the first if none of them is said */
static const struct {
	const char *name, *other;
	int (*list)(struct list *list);
	unsigned int classes;
} kinds[] = {
	{ "", "", list_events, CLASS_ALL },
	{ "tracepoints", "tracepoint", list_tracepoints, 0 },
	{ "metrics", "metric", list_metrics, 0 },
	{ "hw", "hardware", list_events, CLASS_GENERIC },
	{ "sw", "software", list_events, CLASS_SOFTWARE },
	{ "cache", "hwcache", list_events, CLASS_CACHE },
	{ "pmu", "cpu", list_events, CLASS_CPU },
};

static size_t kind_find(const char *name)
{
	for (size_t i = 1; name && i < ARRAY_LEN(kinds); i++)
		if (!strcmp(kinds[i].name, name) || !strcmp(kinds[i].other, name))
			return i;
	return 0;
}

static int list_all(struct list *list, size_t kind)
{
	int status = kinds[kind].list(list);

	if (status)
		return status;
	/* Who wants tracepoints need not say so. */
	if (kinds[kind].list == list_events && has_colon(list))
		trace_names_visit(add_tracepoint, list);
	if (list->json) {
		json_dumpf(list->json, stdout, JSON_INDENT(1));
		putchar('\n');
	}
	if (!list->found && !list->json)
		say_error("%s matches '%s'%s", kinds[kind].list == list_metrics ? "no metric" :
			  "no event", *list->patterns ? *list->patterns : "",
			  *list->patterns && list->patterns[1] ? ", nor what is behind it" : "");
	return list->found ? STATUS_OK : STATUS_FAILED;
}

/* An option_apply */
static int take_option(void *arg, int value)
{
	struct list *list = arg;

	switch (value) {
	case 'j':
		if (!list->json)
			list->json = json_array();
		if (list->json)
			break;
		say_error("%s", pmuctl_strerror(-ENOMEM));
		return STATUS_FAILED;
	case OPTION_NO_DESC:
	case 'd':
	case 'v':
		list->only_names = value == OPTION_NO_DESC;
		break;
	}
	return STATUS_OK;
}

static int list_do(struct list *list, char **words)
{
	size_t kind = kind_find(*words);

	list->classes = kinds[kind].classes;
	list->patterns = words + (kind != 0);
	ask_driver(list);
	return list_all(list, kind);
}

static int list_run(int argc, char **argv)
{
	struct list list = { .patterns = NULL };
	int status = options_parse(&command_list, argc, argv, take_option, &list);

	if (!status)
		status = list_do(&list, argv + optind);
	json_decref(list.json);
	return status;
}

const struct command command_list = {
	.name = "list",
	.run = list_run,
	.summary = "list the events that have a name",
	.operands = "[hw|sw|cache|pmu|tracepoints|metrics] [PATTERN]...",
	.about =
"Lists the events that 'pmuctl stat -e' understands: generic events, software events, "
"cache events, and those that only this model of CPU has. With PATTERN, only names "
"that contain it, or one of several; * and ? stand for any text and any character, then the "
"whole name must match. A PATTERN with a colon is of tracepoints, too.\n"
"\n"
"'pmuctl list hw' lists only the generic events, 'sw' those of software, 'cache' those of "
"caches, 'pmu' those of this CPU; "
"'pmuctl list tracepoints' lists the kernel's tracepoints instead, also for -e; "
"'pmuctl list metrics' what 'pmuctl stat -M' computes, by the names of metrics or groups.",
	.options = { list_options },
	.notes =
"Any other event of the CPU can be given by number: r01c4, or by field: "
"cpu/event=0xc4,umask=0x01/. The exit status is 1 if nothing matches.",
};
