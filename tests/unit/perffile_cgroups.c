// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report -s cgroup": the paths of cgroups that records told of.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <stdint.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	      PERF_SAMPLE_CGROUP | PERF_SAMPLE_IDENTIFIER)

static struct build_trailer when = { .pid = 70, .tid = 70 };

static void add_cgroup(struct build *build, uint64_t id, const char *path)
{
	size_t at = build_record(build, PERF_RECORD_CGROUP, 0);

	when.time++;
	build_word(build, id);
	build_string(build, path);
	build_trailer(build, TYPE, &when);
	build_record_end(build, at);
}

static void add_sample(struct build *build, uint64_t cgroup, uint64_t period)
{
	struct build_sample sample = {
		.id = build_id(0, 0), .ip = 0x1000, .time = ++when.time, .pid = 70, .tid = 70,
		.period = period, .cgroup = cgroup,
	};
	uint64_t seed = 1;

	build_sample(build, 0, PERF_RECORD_MISC_USER, &sample, &seed);
}

TestSuite(perffile_cgroups, .init = enter_directory, .fini = leave_directory);

/* More than there is room for at first, in no order; a number is given again. */
Test(perffile_cgroups, each_has_its_path)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1 };
	struct build build;
	char path[32];

	build_begin(&build, &attr, 1);
	add_cgroup(&build, 1, "/");
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "/old/%u", i);
		add_cgroup(&build, 1000 + i * 37 % 100, path);
	}
	add_cgroup(&build, 1037, "/n\033w");
	add_sample(&build, 1, 40);
	add_sample(&build, 1037, 30);
	add_sample(&build, 1074, 15);
	add_sample(&build, 7, 10);
	add_sample(&build, 0, 4);
	add_sample(&build, 1037, 1);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	build_free(&build);
	cr_assert_eq(run(&command_report, "-s cgroup -n"), 0, "%s", text_of("err"));
	has("out", "# Overhead   Samples  Cgroup\n#\n"
		   "    40.00%         1  /\n"
		   "    31.00%         2  /n?w\n"
		   "    15.00%         1  /old/2\n"
		   "    10.00%         1  [7]\n"
		   "     4.00%         1  N/A\n");
	cr_assert_eq(run(&command_report, "-D"), 0);
	has("out", "PERF_RECORD_CGROUP cgroup: 1037 /n?w\n");
}

Test(perffile_cgroups, what_is_not_there)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE & ~(uint64_t)PERF_SAMPLE_CGROUP,
	};
	struct build build;

	build_begin(&build, &attr, 1);
	add_sample(&build, 0, 1);
	build_features(&build, NULL, 0);
	write_file("bare", build.data, build.size);
	build_free(&build);
	cr_expect_eq(run(&command_report, "-i bare -s cgroup"), 1);
	has("err", "'bare' does not tell in which cgroup a sample was: record with --all-cgroups, or leave the key 'cgroup' out");
}
