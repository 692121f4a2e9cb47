// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for code that a process has generated itself, from files that are made here.
 */
/* sources: $(READER) $(SYMBOLS) */
/* libs: -ldw -lelf -lstdc++ -liberty -lcap */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/symbols/symbols.h"
#include "fuzz/perffile_build.h"

#define PID	70
#define CODE	0x7f0000001000ULL

static const struct perffile_info no_info;
static char root[] = "/tmp/perffile-XXXXXX";
static struct symbols *symbols;
static struct tasks *tasks;

static void run(const char *command)
{
	char text[256];

	snprintf(text, sizeof(text), command, root);
	cr_assert_eq(system(text), 0, "%s", text);
}

static void enter(void)
{
	cr_assert_not_null(mkdtemp(root));
	run("mkdir %s/tmp");
	symbols = symbols_new(&no_info, root, NULL);
	tasks = tasks_new(symbols);
	cr_assert_not_null(tasks);
}

static void leave(void)
{
	tasks_free(tasks);
	symbols_free(symbols);
	run("rm -rf -- %s");
}

TestSuite(perffile_jit, .init = enter, .fini = leave);

static void write_file(const char *name, const void *data, size_t size)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/tmp/%s", root, name);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	cr_assert_eq(fwrite(data, 1, size, file), size);
	fclose(file);
}

static void follow(struct perffile_record *record)
{
	struct perffile_error error;

	cr_assert_eq(tasks_record(tasks, record, &error), 0);
}

static void map(const char *name, uint64_t start, uint64_t length)
{
	struct perffile_record record = {
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER,
		.mmap = { .pid = PID, .tid = PID, .start = start, .length = length,
			  .name = name },
	};

	follow(&record);
}

/* It is @time now, as @clock tells; -1 is perf's own clock. */
static void now(uint64_t time, int clock)
{
	struct perffile_event event = {
		.attr = { .use_clockid = clock >= 0, .clockid = clock >= 0 ? clock : 0 },
	};
	struct perffile_record record = {
		.type = PERF_RECORD_SAMPLE, .event = &event, .attr = &event.attr, .time = time,
	};

	follow(&record);
}

static struct place at(int32_t pid, uint64_t ip)
{
	struct place place;

	tasks_place(tasks, tasks_thread(tasks, pid, pid), PERF_RECORD_MISC_USER, ip, false,
		    &place);
	return place;
}

static void is_named(uint64_t ip, const char *name)
{
	struct place place = at(PID, ip);

	if (!name) {
		cr_assert_null(place.symbol, "%#lx has a name", ip);
		return;
	}
	cr_assert_not_null(place.symbol, "%#lx has no name, not %s", ip, name);
	cr_assert_str_eq(symbol_name(symbols, place.symbol), name);
}

Test(perffile_jit, names_from_the_map_of_the_process)
{
	static const char text[] =
		"7f0000001000 20 first\n"
		"0x7f0000001020 0x10 second one; with spaces\n"
		"nonsense\n7f0000001040\n7f0000001050 8\n7f0000001060 -8 negative\n"
		"7f0000001100 40 old\n7f0000001100 40 new\n"
		"7f0000002000 10 _ZN3two5threeEv\n"
		"7f0000003000 8 without an end of line";

	write_file("perf-70.map", text, sizeof(text) - 1);
	map("//anon", CODE, 0x1000);
	is_named(CODE, "first");
	is_named(CODE + 0x1f, "first");
	is_named(CODE + 0x20, "second one; with spaces");
	is_named(CODE + 0x30, NULL);
	is_named(CODE + 0x50, NULL);
	/* The same memory was used again. */
	is_named(CODE + 0x104, "new");
	cr_assert_str_eq(at(PID, CODE).binary->name, "[JIT] tid 70");
	cr_assert_str_eq(at(PID, CODE).binary->path, "/tmp/perf-70.map");
	cr_assert_str_eq(at(PID, CODE + 0x30).binary->name, "//anon");
	/* Memory became executable later, which no record tells. */
	is_named(CODE + 0x1000, "two::three");
	is_named(CODE + 0x2000, "without an end of line");
	cr_assert_null(at(PID + 1, CODE).symbol);
}

Test(perffile_jit, a_file_is_not_generated_code)
{
	write_file("perf-70.map", "7f0000001000 20 first\n", 22);
	map("/bin/true", CODE, 0x1000);
	is_named(CODE, NULL);
}

/* Everybody may put a file into /tmp. */
Test(perffile_jit, what_is_not_ours_is_not_read)
{
	write_file("other", "7f0000001000 20 first\n", 22);
	run("ln -s other %s/tmp/perf-70.map");
	is_named(CODE, NULL);
	write_file("perf-71.map", "7f0000001000 20 first\n", 22);
	if (geteuid() == 0) {
		run("chown 12345 %s/tmp/perf-71.map");
		cr_assert_null(at(71, CODE).symbol);
		cr_assert_not_null(strstr(symbols_binary(symbols, BINARY_JIT, "/tmp/perf-71.map",
							 NULL, 0)->problem, "another user"));
	}
	run("mkfifo %s/tmp/perf-72.map");
	cr_assert_null(at(72, CODE).symbol);
}

static void build_dump(struct build *build, uint64_t flags)
{
	build_half(build, 0x4a695444);
	build_half(build, 1);
	build_half(build, 40);
	build_half(build, 62);
	build_half(build, 0);
	build_half(build, PID);
	build_word(build, 1);
	build_word(build, flags);
}

static void build_load(struct build *build, uint64_t time, uint64_t address, uint64_t size,
		       const char *name)
{
	build_half(build, 0);
	build_half(build, (uint32_t)(16 + 40 + strlen(name) + 1 + size));
	build_word(build, time);
	build_half(build, PID);
	build_half(build, PID);
	build_word(build, address);
	build_word(build, address);
	build_word(build, size);
	build_word(build, 1);
	build_bytes(build, name, strlen(name) + 1);
	for (uint64_t i = 0; i < size; i++)
		build_bytes(build, "", 1);
}

static void build_move(struct build *build, uint64_t time, uint64_t from, uint64_t to)
{
	build_half(build, 1);
	build_half(build, 16 + 48);
	build_word(build, time);
	build_half(build, PID);
	build_half(build, PID);
	build_word(build, from);
	build_word(build, from);
	build_word(build, to);
	build_word(build, 16);
	build_word(build, 1);
}

static void write_dump(uint64_t flags)
{
	struct build build = { 0 };

	build_dump(&build, flags);
	build_load(&build, 100, CODE, 32, "early");
	build_load(&build, 200, CODE + 8, 16, "late");
	build_move(&build, 300, CODE + 8, CODE + 0x5000);
	build_load(&build, 50, CODE + 0xff0, 32, "on two pages");
	/* Its code is not there. */
	build_load(&build, 50, CODE + 0x9000, 32, "cut");
	write_file("jit-70.dump", build.data, build.size - 1);
	build_free(&build);
}

Test(perffile_jit, a_dump_tells_names_by_time)
{
	write_dump(0);
	map("//anon", CODE, 0x1000);
	map("/tmp/jit-70.dump", 0x7e0000000000, 0x1000);
	now(99, CLOCK_MONOTONIC);
	is_named(CODE + 8, NULL);
	is_named(CODE + 0xff0, "on two pages");
	is_named(CODE + 0x100f, "on two pages");
	is_named(CODE + 0x9000, NULL);
	now(100, CLOCK_MONOTONIC);
	is_named(CODE + 8, "early");
	now(250, CLOCK_MONOTONIC);
	is_named(CODE + 7, "early");
	is_named(CODE + 8, "late");
	is_named(CODE + 0x5000, NULL);
	now(300, CLOCK_MONOTONIC);
	is_named(CODE + 0x500f, "late");
	cr_assert_str_eq(at(PID, CODE).binary->name, "jit-70.dump");
}

/* Of another clock nothing is known: what came last is the best guess. */
Test(perffile_jit, a_dump_of_another_clock)
{
	write_dump(0);
	map("/tmp/jit-70.dump", 0x7e0000000000, 0x1000);
	now(1, -1);
	is_named(CODE + 8, "late");
	now(1, CLOCK_BOOTTIME);
	is_named(CODE + 8, "late");
}

Test(perffile_jit, a_dump_by_the_time_stamp_counter)
{
	write_dump(1);
	map("/tmp/jit-70.dump", 0x7e0000000000, 0x1000);
	now(1, CLOCK_MONOTONIC);
	is_named(CODE + 8, "late");
}

Test(perffile_jit, forged_dumps_are_read_within_their_ends)
{
	uint64_t seed = 11, ends[] = { 0, 1, 0xffffffff, UINT64_MAX, 1ULL << 63, 40, CODE };

	for (int i = 0; i < 300; i++) {
		struct build build = { 0 };
		char name[32];

		build_dump(&build, 0);
		for (int n = 0; n < 5; n++) {
			build_load(&build, 100, CODE + 16 * (uint64_t)n, 16, "name");
			build_move(&build, 100, CODE, CODE + 0x1000);
		}
		for (int n = 0; n < 3; n++) {
			uint64_t where = build_random(&seed) % (build.size / 4) * 4;
			uint64_t what = ends[build_random(&seed) % 7];
			size_t size = build.size - where < 8 ? 4 : build_random(&seed) % 2 ? 4 : 8;

			memcpy(build.data + where, &what, size);
		}
		snprintf(name, sizeof(name), "jit-%d.dump", i);
		write_file(name, build.data, build_random(&seed) % (build.size + 1));
		snprintf(name, sizeof(name), "/tmp/jit-%d.dump", i);
		map(name, 0x7e0000000000, 0x1000);
		at(PID, CODE);
		at(PID, CODE + 0x1000);
		at(PID, UINT64_MAX >> 1);
		build_free(&build);
	}
	cr_assert_str_eq(symbols_binary(symbols, BINARY_JIT, "/tmp/jit-0.dump", NULL, 0)->name,
			 "jit-0.dump");
}

/* Functions that are moved to one place a million times are found in a bearable time. */
Test(perffile_jit, a_dump_of_moves_ends, .timeout = 60)
{
	struct build build = { 0 };

	build_dump(&build, 0);
	build_load(&build, 1, CODE, 16, "moved");
	for (uint64_t i = 0; i < 300000; i++)
		build_move(&build, 2 + i, CODE, CODE);
	write_file("jit-70.dump", build.data, build.size);
	build_free(&build);
	map("/tmp/jit-70.dump", 0x7e0000000000, 0x1000);
	is_named(CODE + 8, "moved");
}
