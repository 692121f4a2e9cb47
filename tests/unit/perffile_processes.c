// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report --tasks" and "--mmaps": who has made whom, and what was mapped.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <stdint.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER)

static struct build_trailer when = { .pid = 70, .tid = 70 };

static const struct build_trailer *next(void)
{
	when.time++;
	return &when;
}

static void begin(struct build *build)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1 };

	build_begin(build, &attr, 1);
}

static void end(struct build *build)
{
	build_features(build, NULL, 0);
	write_file("perf.data", build->data, build->size);
	build_free(build);
}

/*
 * A shell, 70, has a second thread; it makes 80, which calls another program and ends, and 75. Of 90
 * there are only samples.
 */
static void enter(void)
{
	struct build_sample sample = { .id = build_id(0, 0), .ip = 0x1000, .time = 50, .pid = 90, .tid = 90 };
	struct build build;
	uint64_t seed = 1;

	enter_directory();
	begin(&build);
	build_comm(&build, 70, 70, "shell", 0, next());
	build_mmap(&build, 70, 0x1000, 0x3000, 0x2000, "/bin/shell", NULL, next());
	build_task(&build, PERF_RECORD_FORK, 70, 70, 71, 70, next());
	build_task(&build, PERF_RECORD_FORK, 80, 70, 80, 71, next());
	build_task(&build, PERF_RECORD_FORK, 75, 70, 75, 71, next());
	build_comm(&build, 80, 80, "p\033g", PERF_RECORD_MISC_COMM_EXEC, next());
	build_mmap(&build, 80, 0x5000, 0x1000, 0, "/bin/pg", NULL, next());
	/* A file that is mapped in the midst of another */
	build_mmap(&build, 70, 0x2000, 0x1000, 0, "/lib/x", NULL, next());
	build_task(&build, PERF_RECORD_EXIT, 80, 70, 80, 71, next());
	build_sample(&build, 0, PERF_RECORD_MISC_USER, &sample, &seed);
	end(&build);
}

TestSuite(perffile_processes, .init = enter, .fini = leave_directory);

Test(perffile_processes, each_is_below_its_parent)
{
	cr_assert_eq(run(&command_report, "--tasks"), 0, "%s", text_of("err"));
	cr_assert_str_eq(text_of("out"),
			 "#      pid      tid     ppid  comm\n"
			 "         0        0       -1 |swapper\n"
			 "        70       70       -1 |shell\n"
			 "        70       71       70 | shell\n"
			 "        75       75       71 |  shell\n"
			 "        80       80       71 |  p?g\n"
			 "        90       90       -1 |:90\n");
}

/* That of a process that has ended is what it had then, and of another program than before its exec. */
Test(perffile_processes, what_they_had_mapped)
{
	cr_assert_eq(run(&command_report, "--mmaps --tasks"), 0, "%s", text_of("err"));
	has("out", "        70       70       -1 |shell\n"
		   "                                1000-2000 r-xp 00002000 0 /bin/shell\n"
		   "                                2000-3000 r-xp 00000000 0 /lib/x\n"
		   "                                3000-4000 r-xp 00004000 0 /bin/shell\n");
	has("out", "        75       75       71 |  shell\n"
		   "                                  1000-4000 r-xp 00002000 0 /bin/shell\n");
	has("out", "        80       80       71 |  p?g\n"
		   "                                  5000-6000 r-xp 00000000 0 /bin/pg\n");
}

/* A number that was given again: who was made by his own child is not left out. */
Test(perffile_processes, a_circle_of_parents)
{
	struct build build;

	begin(&build);
	build_task(&build, PERF_RECORD_FORK, 80, 70, 80, 70, next());
	build_task(&build, PERF_RECORD_FORK, 90, 80, 90, 80, next());
	build_task(&build, PERF_RECORD_EXIT, 70, 1, 70, 1, next());
	build_task(&build, PERF_RECORD_FORK, 70, 90, 70, 90, next());
	build_task(&build, PERF_RECORD_FORK, 60, 80, 60, 80, next());
	end(&build);
	cr_assert_eq(run(&command_report, "--tasks"), 0, "%s", text_of("err"));
	cr_assert_str_eq(text_of("out"),
			 "#      pid      tid     ppid  comm\n"
			 "         0        0       -1 |swapper\n"
			 "        80       80       70 |:70\n"
			 "        60       60       80 | :70\n"
			 "        90       90       80 | :70\n"
			 "        70       70       90 |  :70\n");
}

Test(perffile_processes, what_goes_with_it)
{
	cr_expect_eq(run(&command_report, "--tasks -D"), 2);
	has("err", "only one of ");
	cr_expect_eq(run(&command_report, "--mmaps -j"), 2);
	cr_expect_eq(run(&command_report, "--tasks -i none"), 1);
}
