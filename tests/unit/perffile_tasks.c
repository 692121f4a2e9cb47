// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tasks of a recording have mapped at a time, and the texts of a recording.
 */
/* sources: tools/perffile/perffile.c tools/perffile/features.c tools/perffile/records.c tools/perffile/order.c */
/* sources: tools/perffile/sample.c tools/perffile/groups.c tools/symbols/symbols.c tools/symbols/names.c tools/symbols/clean.c tools/symbols/cpp.c */
/* sources: tools/symbols/tasks.c tools/symbols/inline.c tools/symbols/jit.c tools/symbols/elf.c tools/symbols/plt.c tools/symbols/kernel.c */
/* sources: tools/perffile/stream.c tools/perffile/expand.c tools/perffile/spool.c */
/* libs: -ldw -lelf -lstdc++ -liberty */
#include <errno.h>

#include <criterion/criterion.h>

#include "../../tools/symbols/symbols.h"
#include "fuzz/perffile_build.h"

#define MISC_EXEC (1 << 13)

static const struct perffile_info no_info;

/* Records that are written to @build and followed by take() */
struct story {
	struct build build;
	struct symbols *symbols;
	struct tasks *tasks;
};

static struct story begin(void)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	struct story story;

	build_begin(&story.build, &attr, 1);
	story.symbols = symbols_new(&no_info, "/nowhere", NULL);
	story.tasks = tasks_new(story.symbols);
	cr_assert_not_null(story.tasks);
	return story;
}

static const struct build_trailer none;

/* Follow all that was written since the last time. */
static int take(struct story *story)
{
	struct perffile_error error = { "" };
	struct perffile_record record;
	struct perffile *file;
	int ret;

	build_features(&story->build, NULL, 0);
	cr_assert_eq(perffile_open_memory(&file, story->build.data, story->build.size, &error), 0,
		     "%s", error.text);
	while ((ret = perffile_next(file, &record, &error)) > 0) {
		ret = tasks_record(story->tasks, &record, &error);
		if (ret < 0)
			break;
	}
	perffile_close(file);
	story->build.size = story->build.records;
	return ret;
}

static void finish(struct story *story)
{
	build_free(&story->build);
	tasks_free(story->tasks);
	symbols_free(story->symbols);
}

/* The name of what @pid has at @ip */
static const char *at(struct story *story, int32_t pid, uint64_t ip)
{
	struct place place;

	tasks_place(story->tasks, tasks_thread(story->tasks, pid, pid), PERF_RECORD_MISC_USER,
		    ip, false, &place);
	return place.binary->name;
}

static const char *comm(struct story *story, int32_t pid)
{
	return tasks_thread(story->tasks, pid, pid)->comm;
}

Test(perffile_tasks, a_new_mapping_cuts_what_it_covers)
{
	struct story story = begin();
	struct place place;

	build_mmap(&story.build, 5, 0x1000, 0x9000, 0x100, "/bin/whole", NULL, &none);
	build_mmap(&story.build, 5, 0x3000, 0x1000, 0, "/bin/middle", NULL, &none);
	build_mmap(&story.build, 5, 0x9000, 0x3000, 0, "/bin/end", NULL, &none);
	build_mmap(&story.build, 5, 0x800, 0x1000, 0, "/bin/start", NULL, &none);
	cr_assert_eq(take(&story), 0);
	cr_assert_str_eq(at(&story, 5, 0x7ff), "[unknown]");
	cr_assert_str_eq(at(&story, 5, 0x800), "start");
	cr_assert_str_eq(at(&story, 5, 0x17ff), "start");
	cr_assert_str_eq(at(&story, 5, 0x1800), "whole");
	cr_assert_str_eq(at(&story, 5, 0x2fff), "whole");
	cr_assert_str_eq(at(&story, 5, 0x3000), "middle");
	cr_assert_str_eq(at(&story, 5, 0x4000), "whole");
	cr_assert_str_eq(at(&story, 5, 0x8fff), "whole");
	cr_assert_str_eq(at(&story, 5, 0xbfff), "end");
	cr_assert_str_eq(at(&story, 5, 0xc000), "[unknown]");
	tasks_place(story.tasks, tasks_thread(story.tasks, 5, 5), PERF_RECORD_MISC_USER, 0x4000,
		    false, &place);
	cr_assert_eq(place.address, 0x3100, "the offset in the file of what was cut");
	finish(&story);
}

Test(perffile_tasks, a_child_has_its_parents_map_until_it_changes_it)
{
	struct story story = begin();

	build_comm(&story.build, 5, 5, "parent", 0, &none);
	build_mmap(&story.build, 5, 0x1000, 0x1000, 0, "/bin/one", NULL, &none);
	build_task(&story.build, PERF_RECORD_FORK, 6, 5, 6, 5, &none);
	cr_assert_eq(take(&story), 0);
	cr_assert_str_eq(at(&story, 6, 0x1000), "one");
	cr_assert_str_eq(comm(&story, 6), "parent");
	build_mmap(&story.build, 6, 0x1000, 0x1000, 0, "/bin/two", NULL, &none);
	build_mmap(&story.build, 5, 0x5000, 0x1000, 0, "/bin/three", NULL, &none);
	cr_assert_eq(take(&story), 0);
	cr_assert_str_eq(at(&story, 5, 0x1000), "one");
	cr_assert_str_eq(at(&story, 6, 0x1000), "two");
	cr_assert_str_eq(at(&story, 5, 0x5000), "three");
	cr_assert_str_eq(at(&story, 6, 0x5000), "[unknown]");
	finish(&story);
}

static const struct binary *binary_at(struct story *story, int32_t pid, uint64_t ip)
{
	struct place place;

	tasks_place(story->tasks, tasks_thread(story->tasks, pid, pid), PERF_RECORD_MISC_USER,
		    ip, false, &place);
	return place.binary;
}

/* A container's, which tells its build id, and ours, whose path does */
Test(perffile_tasks, files_with_one_path_and_two_build_ids)
{
	static const uint8_t one[20] = { 1 }, two[20] = { 2 };
	struct story story = begin();

	build_mmap(&story.build, 5, 0x1000, 0x1000, 0, "/lib/c", NULL, &none);
	build_mmap(&story.build, 6, 0x1000, 0x1000, 0, "/lib/c", one, &none);
	build_mmap(&story.build, 7, 0x1000, 0x1000, 0, "/lib/c", NULL, &none);
	build_mmap(&story.build, 8, 0x1000, 0x1000, 0, "/lib/c", two, &none);
	build_mmap(&story.build, 9, 0x1000, 0x1000, 0, "/lib/c", NULL, &none);
	build_mmap(&story.build, 9, 0x1000, 0x1000, 0, "/lib/c", one, &none);
	cr_assert_eq(take(&story), 0);
	cr_assert_eq(binary_at(&story, 5, 0x1000)->build_id_size, 0);
	cr_assert_eq(binary_at(&story, 7, 0x1000), binary_at(&story, 5, 0x1000));
	cr_assert_eq(binary_at(&story, 6, 0x1000)->build_id[0], 1);
	cr_assert_eq(binary_at(&story, 8, 0x1000)->build_id[0], 2);
	cr_assert_eq(binary_at(&story, 9, 0x1000), binary_at(&story, 6, 0x1000),
		     "what comes last is true");
	finish(&story);
}

Test(perffile_tasks, exec_begins_anew)
{
	struct story story = begin();

	build_mmap(&story.build, 5, 0x1000, 0x1000, 0, "/bin/old", NULL, &none);
	build_task(&story.build, PERF_RECORD_FORK, 6, 5, 6, 5, &none);
	build_comm(&story.build, 6, 6, "renamed", 0, &none);
	cr_assert_eq(take(&story), 0);
	cr_assert_str_eq(at(&story, 6, 0x1000), "old");
	build_comm(&story.build, 6, 6, "new", MISC_EXEC, &none);
	cr_assert_eq(take(&story), 0);
	cr_assert_str_eq(at(&story, 6, 0x1000), "[unknown]");
	cr_assert_str_eq(comm(&story, 6), "new");
	cr_assert_str_eq(at(&story, 5, 0x1000), "old");
	finish(&story);
}

Test(perffile_tasks, threads_share_their_process_map)
{
	struct story story = begin();
	struct place place;

	build_comm(&story.build, 5, 5, "main", 0, &none);
	build_task(&story.build, PERF_RECORD_FORK, 5, 5, 50, 5, &none);
	build_comm(&story.build, 5, 50, "worker", 0, &none);
	build_mmap(&story.build, 5, 0x1000, 0x1000, 0, "/bin/x", NULL, &none);
	cr_assert_eq(take(&story), 0);
	tasks_place(story.tasks, tasks_thread(story.tasks, 5, 50), PERF_RECORD_MISC_USER, 0x1000,
		    false, &place);
	cr_assert_str_eq(place.binary->name, "x");
	cr_assert_str_eq(tasks_thread(story.tasks, 5, 50)->comm, "worker");
	cr_assert_str_eq(comm(&story, 5), "main");
	/* The map lasts as long as the last thread; names last longer. */
	build_task(&story.build, PERF_RECORD_EXIT, 5, 5, 5, 5, &none);
	cr_assert_eq(take(&story), 0);
	cr_assert_str_eq(at(&story, 5, 0x1000), "x");
	build_task(&story.build, PERF_RECORD_EXIT, 5, 5, 50, 50, &none);
	cr_assert_eq(take(&story), 0);
	cr_assert_str_eq(at(&story, 5, 0x1000), "[unknown]");
	cr_assert_str_eq(comm(&story, 5), "main");
	finish(&story);
}

Test(perffile_tasks, a_number_that_is_used_again_is_another_process)
{
	struct story story = begin();

	build_mmap(&story.build, 5, 0x1000, 0x1000, 0, "/bin/five", NULL, &none);
	build_mmap(&story.build, 7, 0x1000, 0x1000, 0, "/bin/seven", NULL, &none);
	build_task(&story.build, PERF_RECORD_EXIT, 7, 1, 7, 1, &none);
	build_task(&story.build, PERF_RECORD_FORK, 7, 5, 7, 5, &none);
	cr_assert_eq(take(&story), 0);
	cr_assert_str_eq(at(&story, 7, 0x1000), "five");
	/* A recorder's own fork record brings no map. */
	build_task(&story.build, PERF_RECORD_FORK, 8, 5, 8, 5, &none);
	story.build.data[story.build.records + 5] = MISC_EXEC >> 8;
	cr_assert_eq(take(&story), 0);
	cr_assert_str_eq(at(&story, 8, 0x1000), "[unknown]");
	finish(&story);
}

Test(perffile_tasks, maps_that_multiply_are_refused)
{
	struct story story = begin();

	for (uint64_t i = 0; i < 3000; i++)
		build_mmap(&story.build, 5, i << 12, 0x1000, 0, "/bin/x", NULL, &none);
	/* Each child copies 3000 mappings. */
	for (uint32_t pid = 6; pid < 2000; pid++) {
		build_task(&story.build, PERF_RECORD_FORK, pid, 5, pid, 5, &none);
		build_mmap(&story.build, (int32_t)pid, 0, 0x1000, 0, "/bin/y", NULL, &none);
	}
	cr_assert_eq(take(&story), -ENOMEM);
	finish(&story);
}

Test(perffile_tasks, kernel_and_modules)
{
	struct story story = begin();
	struct place place;

	build_mmap(&story.build, -1, 0xffffffff81000000, 0x1000, 0xffffffff81000000,
		   "[kernel.kallsyms]_text", NULL, &none);
	build_mmap(&story.build, -1, 0xffffffffc0000000, 0x1000, 0,
		   "/lib/modules/6.1.0/kernel/drivers/net/snd-hda.ko.xz", NULL, &none);
	cr_assert_eq(take(&story), 0);
	tasks_place(story.tasks, NULL, PERF_RECORD_MISC_KERNEL, 0xffffffff81000010, false, &place);
	cr_assert_str_eq(place.binary->name, "[kernel.kallsyms]");
	cr_assert_eq(place.level, 'k');
	tasks_place(story.tasks, NULL, 0, 0xffffffffc0000fff, false, &place);
	cr_assert_str_eq(place.binary->name, "[snd_hda]");
	cr_assert_str_eq(story.symbols->reference, "_text");
	cr_assert_eq(story.symbols->reference_address, 0xffffffff81000000);
	/* A call at the very end returns behind it. */
	tasks_place(story.tasks, NULL, 0, 0xffffffffc0001000, true, &place);
	cr_assert_str_eq(place.binary->name, "[snd_hda]");
	finish(&story);
}

Test(perffile_tasks, memory_without_a_file)
{
	static const char *const names[] = {
		"//anon", "[heap]", "[stack]", "/memfd:x (deleted)", "/dev/zero", "[vdso]",
	};
	struct story story = begin();
	struct place place;

	for (uint64_t i = 0; i < 6; i++)
		build_mmap(&story.build, 5, i << 12, 0x1000, 0, names[i], NULL, &none);
	cr_assert_eq(take(&story), 0);
	for (uint64_t i = 0; i < 6; i++) {
		tasks_place(story.tasks, tasks_thread(story.tasks, 5, 5), PERF_RECORD_MISC_USER,
			    i << 12, false, &place);
		cr_assert_eq(place.binary->kind, i == 5 ? BINARY_VDSO : BINARY_NONE, "%s",
			     names[i]);
		cr_assert_str_eq(place.binary->path, names[i]);
	}
	finish(&story);
}

static void cleaned(const char *text, const char *wanted)
{
	struct names *names = names_new();
	const char *name = names_intern(names, text);

	cr_assert_str_eq(name, wanted, "'%s' is '%s'", text, name);
	cr_assert_eq(names_intern(names, wanted), name, "equal texts are one");
	names_free(names);
}

Test(perffile_names, only_what_is_printable_stays)
{
	cleaned("", "");
	cleaned("plain text", "plain text");
	cleaned("a\x1b[31mred\x7f\n\t", "a?[31mred???");
	cleaned("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x94\xa5", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x94\xa5");
	cleaned("\xc3", "?");
	cleaned("\xc3(", "?(");
	cleaned("\xc0\xaf", "??");
	cleaned("\xed\xa0\x80", "???");		/* half of a pair */
	cleaned("\xf4\x90\x80\x80", "????");	/* beyond the last one */
	cleaned("\xc2\x9b" "31m", "??31m");	/* the short form of ESC [ */
	cleaned("\xe2\x80\xae" "abc", "???abc");	/* from right to left */
	cleaned("\xef\xbf\xbf", "???");
}

Test(perffile_names, many_are_kept)
{
	struct names *names = names_new();
	const char *kept[5000];
	char text[32];

	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		kept[i] = names_intern(names, text);
	}
	for (int i = 0; i < 5000; i++) {
		snprintf(text, sizeof(text), "name %d", i);
		cr_assert_eq(names_intern(names, text), kept[i]);
		cr_assert_str_eq(kept[i], text);
	}
	names_free(names);
}

/* A task's last records may come a little after its end, and its number may be used again. */
Test(perffile_tasks, what_ended_long_ago_is_forgotten)
{
	struct story story = begin();

	for (uint32_t pid = 5; pid < 8; pid++) {
		build_comm(&story.build, pid, pid, "task", 0, &none);
		build_mmap(&story.build, (int32_t)pid, 0x1000, 0x1000, 0, "/bin/one", NULL, &none);
	}
	build_comm(&story.build, 5, 6, "thread", 0, &none);
	build_task(&story.build, PERF_RECORD_EXIT, 5, 5, 5, 5, &none);
	build_task(&story.build, PERF_RECORD_EXIT, 6, 6, 6, 6, &none);
	build_task(&story.build, PERF_RECORD_EXIT, 7, 7, 7, 7, &none);
	cr_assert_eq(take(&story), 0);
	tasks_forget(story.tasks);
	cr_assert_str_eq(comm(&story, 6), "task", "it ended just now");
	build_comm(&story.build, 7, 7, "again", 0, &none);
	cr_assert_eq(take(&story), 0);
	tasks_forget(story.tasks);
	cr_assert_str_eq(comm(&story, 6), ":6");
	cr_assert_str_eq(comm(&story, 7), "again");
	cr_assert_str_eq(at(&story, 5, 0x1000), "one", "another thread of it is there");
	tasks_forget(story.tasks);
	cr_assert_str_eq(comm(&story, 7), "again");
	finish(&story);
}
