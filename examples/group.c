// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many of the branches of a piece of code the processor predicts wrongly: a group of events,
 * which are counted at the same time or not at all, of this thread in user space.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <pmuctl.h>

#define MEMBERS	3

static const char list[] = "{instructions,branches,branch-misses}:u";

static struct pmuctl_event *members[MEMBERS];

/* Branches that nobody can foresee: the bits of random numbers */
static unsigned int work(void)
{
	unsigned int ones = 0;

	for (int i = 0; i < 10000; i++)
		for (long bits = random(); bits; bits >>= 1)
			if (bits & 1)
				ones++;
	return ones;
}

/* The events of the list, disabled, all in the group of the first */
static int open_group(struct pmuctl_device *dev)
{
	struct pmuctl_parse_error error;
	struct pmuctl_explanation why;
	struct pmuctl_events *events;
	int ret = pmuctl_events_parse(list, NULL, NULL, &error, &events);

	if (ret < 0) {
		fprintf(stderr, "%s: character %zu: %s\n", list, error.position + 1,
			error.sentence);
		return ret;
	}
	for (size_t i = 0; i < MEMBERS && ret == 0; i++) {
		struct perf_event_attr attr = *pmuctl_events_attr(events, i);

		/* The first one switches all. */
		attr.disabled = i == 0;
		attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
				   PERF_FORMAT_TOTAL_TIME_RUNNING;
		ret = pmuctl_event_open_group(dev, &attr, 0, -1, 0, i ? members[0] : NULL,
					      &members[i]);
		if (ret < 0) {
			pmuctl_device_explain(dev, &why);
			fprintf(stderr, "%s: %s\n", pmuctl_events_name(events, i), why.sentence);
		}
	}
	pmuctl_events_free(events);
	return ret;
}

int main(void)
{
	struct pmuctl_reading readings[MEMBERS];
	struct pmuctl_explanation why;
	struct pmuctl_device *dev;
	int status = EXIT_FAILURE;

	if (pmuctl_device_open(NULL, &why, &dev) < 0) {
		fprintf(stderr, "%s\n", why.sentence);
		return EXIT_FAILURE;
	}
	if (open_group(dev) < 0)
		goto out;
	pmuctl_group_enable(members[0]);
	work();
	pmuctl_group_disable(members[0]);
	if (pmuctl_group_read(members[0], readings, MEMBERS) != MEMBERS) {
		pmuctl_event_explain(members[0], &why);
		fprintf(stderr, "%s\n", why.sentence);
		goto out;
	}
	printf("%" PRIu64 " instructions, %" PRIu64 " branches, %.1f %% of them predicted wrongly\n",
	       readings[0].value, readings[1].value,
	       100.0 * (double)readings[2].value / (double)readings[1].value);
	status = EXIT_SUCCESS;
out:
	for (int i = MEMBERS - 1; i >= 0; i--)
		pmuctl_event_close(members[i]);
	pmuctl_device_close(dev);
	return status;
}
