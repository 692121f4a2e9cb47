/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of the test program itself: what it has mapped, and samples of its own addresses.
 */
#ifndef TESTS_UNIT_PERFFILE_SELF_H
#define TESTS_UNIT_PERFFILE_SELF_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/symbols/samples.h"
#include "fuzz/perffile_build.h"

/* What this program has mapped, as records of process @pid */
static inline void build_own_maps(struct build *build, int32_t pid)
{
	struct build_trailer early = { .pid = (uint32_t)pid, .tid = (uint32_t)pid, .time = 1 };
	uint64_t start, end, offset;
	char line[512], mode[8], path[256];
	FILE *maps = fopen("/proc/self/maps", "r");

	cr_assert_not_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s", &start,
			   &end, mode, &offset, path) == 5 && mode[2] == 'x')
			build_mmap(build, pid, start, end - start, offset, path, NULL, &early);
	fclose(maps);
}

/* Opened as a recording, with everything but options.path; @build is freed. */
static inline struct samples *open_built_with(struct build *build, struct samples_options options)
{
	char name[] = "/tmp/samples-XXXXXX";
	struct samples *samples;
	int fd = mkstemp(name);

	options.path = name;
	build_features(build, NULL, 0);
	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, build->data, build->size), (ssize_t)build->size);
	close(fd);
	build_free(build);
	cr_assert_eq(samples_open(&samples, &options), 0);
	unlink(name);
	return samples;
}

static inline struct samples *open_built(struct build *build, bool no_inline)
{
	return open_built_with(build,
			       (struct samples_options){ .root = "", .no_inline = no_inline });
}

/* Resolve the next sample; false behind the last one. */
static inline bool next_sample(struct samples *samples)
{
	struct perffile_record record;

	while (samples_next(samples, &record) > 0) {
		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		cr_assert_not_null(samples_resolve(samples, &record, true));
		return true;
	}
	return false;
}

#endif /* TESTS_UNIT_PERFFILE_SELF_H */
