// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a recording says of cgroups that were there before: of directories here.
 */
/* sources: tools/record/cgroups.c tools/record/tasks.c tools/record/kernel.c tools/record/dsos.c tools/record/keep.c */
/* sources: tools/evlist/numbers.c tools/perffile/perfdata_buffer.c */
/* sources: tools/perffile/perfdata.c tools/perffile/perfdata_stream.c */
/* libs: -lelf */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "../../tools/record/record.h"

#define TRAILER 24u

static char *hierarchy;

/* In place of the mounted one */
char *cgroup_hierarchy(void);
char *cgroup_hierarchy(void)
{
	return hierarchy ? strdup(hierarchy) : NULL;
}

static void add(const char *path, bool is_directory)
{
	char whole[128];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", hierarchy, path);
	if (is_directory) {
		cr_assert_eq(mkdir(whole, 0700), 0);
		return;
	}
	file = fopen(whole, "w");
	cr_assert_not_null(file);
	fclose(file);
}

/* Is there one record of it, with the number of its directory? */
static void is_told(const struct synth *synth, const char *path)
{
	unsigned int found = 0;
	struct stat about;
	char whole[128];

	snprintf(whole, sizeof(whole), "%s%s", hierarchy, path);
	cr_assert_eq(stat(whole, &about), 0);
	for (size_t at = 0; at < synth->buffer.size; ) {
		const struct perf_event_header *record = (const void *)(synth->buffer.bytes + at);
		const char *told = (const char *)(record + 1) + sizeof(uint64_t);

		cr_assert_eq(record->type, PERF_RECORD_CGROUP);
		cr_assert_eq(record->size, sizeof(*record) + 8 + ((strlen(told) + 8) & ~7UL) + TRAILER);
		at += record->size;
		if (strcmp(told, path) != 0)
			continue;
		found++;
		cr_assert_eq(memcmp(record + 1, &(uint64_t){ about.st_ino }, 8), 0);
	}
	cr_assert_eq(found, 1, "%s: %u", path, found);
}

static size_t count(const struct synth *synth)
{
	size_t number = 0;

	for (size_t at = 0; at < synth->buffer.size; number++)
		at += ((const struct perf_event_header *)(const void *)(synth->buffer.bytes + at))->size;
	return number;
}

Test(record_cgroups, each_directory_is_one)
{
	char directory[] = "/tmp/cgroups-XXXXXX", command[64];
	struct synth synth = { .trailer = TRAILER };

	hierarchy = mkdtemp(directory);
	cr_assert_not_null(hierarchy);
	add("/system.slice", true);
	add("/system.slice/cgroup.procs", false);
	add("/system.slice/a name", true);
	add("/user", true);
	synth_cgroups(&synth);
	cr_expect_eq(count(&synth), 4);
	is_told(&synth, "/");
	is_told(&synth, "/system.slice");
	is_told(&synth, "/system.slice/a name");
	is_told(&synth, "/user");
	perfdata_buffer_free(&synth.buffer);
	snprintf(command, sizeof(command), "rm -rf -- %s", hierarchy);
	cr_assert_eq(system(command), 0);
}

Test(record_cgroups, none_are_mounted)
{
	struct synth synth = { .trailer = TRAILER };

	synth_cgroups(&synth);
	cr_expect_eq(synth.buffer.size, 0);
}
