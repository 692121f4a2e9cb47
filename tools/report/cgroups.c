// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cgroups of a recording: which path a number has.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* Index of the first one whose number is not below @id */
static size_t search(const struct report_cgroups *cgroups, uint64_t id)
{
	size_t low = 0, high = cgroups->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cgroups->list[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/**
 * cgroups_add() - take in what a record tells of a cgroup
 * @report: gets it; the path of a number that is given again is the new one.
 * @record: CGROUP.
 *
 * Return: 0, -ENOMEM.
 */
int cgroups_add(struct report *report, const struct perffile_record *record)
{
	struct report_cgroups *cgroups = &report->cgroups;
	const char *path = names_intern(report->samples->symbols->names, record->cgroup.path);
	size_t at = search(cgroups, record->cgroup.id);

	if (at < cgroups->count && cgroups->list[at].id == record->cgroup.id) {
		cgroups->list[at].path = path;
		return 0;
	}
	if (cgroups->count == cgroups->room) {
		size_t room = cgroups->room ? cgroups->room * 2 : 64;
		struct report_cgroup *list = realloc(cgroups->list, room * sizeof(*list));

		if (!list)
			return -ENOMEM;
		cgroups->list = list;
		cgroups->room = room;
	}
	memmove(cgroups->list + at + 1, cgroups->list + at, (cgroups->count - at) * sizeof(*cgroups->list));
	cgroups->list[at] = (struct report_cgroup){ record->cgroup.id, path };
	cgroups->count++;
	return 0;
}

/**
 * cgroups_path() - what a cgroup is called
 * @report: the report.
 * @id: its number.
 *
 * Return: its path; its number in brackets if no record told of it; "N/A" of none, as in perf.
 */
const char *cgroups_path(const struct report *report, uint64_t id)
{
	const struct report_cgroups *cgroups = &report->cgroups;
	size_t at = search(cgroups, id);
	char text[32] = "N/A";

	if (at < cgroups->count && cgroups->list[at].id == id)
		return cgroups->list[at].path;
	if (id)
		snprintf(text, sizeof(text), "[%" PRIu64 "]", id);
	return names_intern(report->samples->symbols->names, text);
}
