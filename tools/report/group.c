// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of a group in one table, as perf has them: a row of the leader's has those of the others
 * with the same keys beside it.
 */
#include <inttypes.h>

#include "report.h"

/* Are all of these events in the report, and is there more than one? */
static bool is_whole(const struct report_event *event, size_t members)
{
	for (size_t i = 0; i < members; i++)
		if (!event[i].name)
			return false;
	return members > 1;
}

static int join(struct report *report, size_t first, size_t members)
{
	struct report_event *event = &report->events[first];

	event->members = members;
	for (size_t i = 1; i < members; i++)
		event[i].is_member = true;
	return hist_join(report, event, members);
}

/**
 * groups_join() - join the events of each group into one table, as the options say
 * @report: of which all rows are in order; to be printed now.
 *
 * Return: 0, -ENOMEM.
 */
int groups_join(struct report *report)
{
	const struct report_options *options = report->options;
	size_t named = report->event_count;
	bool any = false;
	int ret = 0;

	if (!options->group || options->hierarchy)
		return 0;
	for (size_t i = 0, members; i < report->event_count && ret == 0; i += members) {
		members = report->events[i].event->members;
		if (is_whole(&report->events[i], members)) {
			any = true;
			ret = join(report, i, members);
		} else {
			members = 1;
		}
	}
	while (named && !report->events[named - 1].name)
		named--;
	if (ret == 0 && !any && options->group > 0 && is_whole(report->events, named))
		ret = join(report, 0, named);
	return ret;
}

/**
 * group_samples() - how many samples all events of a table have
 * @event: that it is of.
 */
uint64_t group_samples(const struct report_event *event)
{
	uint64_t samples = event->samples;

	for (size_t i = 1; i < event->members; i++)
		samples += event[i].samples;
	return samples;
}

/**
 * group_print_head() - print of which events a table is, as perf does
 * @event: the first of the group.
 */
void group_print_head(const struct report_event *event)
{
	bool is_own = event->event->members > 1;
	uint64_t period = 0;

	printf("# Samples: %" PRIu64 " of events '%s", group_samples(event),
	       is_own ? "anon group { " : "");
	for (size_t i = 0; i < event->members; i++) {
		printf("%s%s", i ? ", " : "", event[i].name);
		period += event[i].period;
	}
	printf("%s'\n# Event count (approx.): %" PRIu64 "\n", is_own ? " }" : "", period);
}
