// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a recording tells of the machine and the run it comes from.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record.h"

/* The value behind "@key : " in a file of such lines; false if it is not there. */
static bool value_of(const char *path, const char *key, char *value, size_t size)
{
	size_t length = strlen(key);
	char line[512];
	bool found = false;
	FILE *file = fopen(path, "re");

	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *at = line + length;

		if (strncmp(line, key, length) != 0)
			continue;
		at += strspn(at, " \t");
		if (*at++ != ':')
			continue;
		at += strspn(at, " \t");
		snprintf(value, size, "%.*s", (int)strcspn(at, "\n"), at);
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}

static void put_text(struct perfdata *file, enum perffile_feature feature,
		     const char *text)
{
	perfdata_put_string(perfdata_feature(file, feature), text);
}

static void put_system(struct perfdata *file)
{
	struct utsname system;
	char version[64];

	uname(&system);
	put_text(file, PERFFILE_HOSTNAME, system.nodename);
	put_text(file, PERFFILE_OSRELEASE, system.release);
	put_text(file, PERFFILE_ARCH, system.machine);
	snprintf(version, sizeof(version), "pmuctl %s", pmuctl_version());
	put_text(file, PERFFILE_VERSION, version);
}

static void put_cpu(struct perfdata *file)
{
	struct perfdata_buffer *counts = perfdata_feature(file, PERFFILE_NRCPUS);
	char words[4][64] = { "" }, text[300];
	static const char *const keys[] = {
		"vendor_id", "cpu family", "model", "stepping",
	};

	/* Those that there are, then those that are online */
	perfdata_put_u32(counts, (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
	perfdata_put_u32(counts, (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
	if (value_of("/proc/cpuinfo", "model name", text, sizeof(text)))
		put_text(file, PERFFILE_CPUDESC, text);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!value_of("/proc/cpuinfo", keys[i], words[i], sizeof(words[i])))
			return;
	snprintf(text, sizeof(text), "%s,%s,%s,%s", words[0], words[1], words[2],
		 words[3]);
	put_text(file, PERFFILE_CPUID, text);
}

static void put_memory(struct perfdata *file)
{
	char text[64];

	/* In kilobytes, as the file has it */
	if (value_of("/proc/meminfo", "MemTotal", text, sizeof(text)))
		perfdata_put_u64(perfdata_feature(file, PERFFILE_TOTAL_MEM),
				 strtoull(text, NULL, 10));
}

static void put_command_line(struct perfdata *file, char *const *line)
{
	struct perfdata_buffer *buffer = perfdata_feature(file, PERFFILE_CMDLINE);
	uint32_t count = 0;

	while (line[count])
		count++;
	perfdata_put_u32(buffer, count + 1);
	perfdata_put_string(buffer, "pmuctl");
	for (uint32_t i = 0; i < count; i++)
		perfdata_put_string(buffer, line[i]);
}

/**
 * info_put() - fill the features that are about the machine and the run
 * @file: of which recording.
 * @line: the command line, ended by NULL.
 * @totals: what was recorded.
 */
void info_put(struct perfdata *file, char *const *line,
	      const struct record_totals *totals)
{
	struct perfdata_buffer *times;

	put_system(file);
	put_cpu(file);
	put_memory(file);
	put_command_line(file, line);
	if (!totals->samples)
		return;
	times = perfdata_feature(file, PERFFILE_SAMPLE_TIME);
	perfdata_put_u64(times, totals->first);
	perfdata_put_u64(times, totals->last);
}
