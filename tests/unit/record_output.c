// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a recording goes: nothing that was recorded before is lost, neither by a new
 * recording nor by one that comes to nothing.
 */
/* sources: tools/record/output.c tools/say.c lib/src/explain.c lib/src/names.c */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/record/record.h"

static char directory[] = "/tmp/output-XXXXXX";

static void enter(void)
{
	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(chdir(directory), 0);
	cr_assert_not_null(freopen("/dev/null", "w", stderr));
}

static void leave(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf -- %s", directory);
	cr_assert_eq(system(command), 0);
}

TestSuite(record_output, .init = enter, .fini = leave);

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text), "%s", path);
	close(fd);
}

/* In place of that of record/kcore.c, which wants a whole recorder */
int kcore_create(const char *dir)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/kcore_dir", dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/kcore_dir/kcore", dir);
	put(path, "code");
	snprintf(path, sizeof(path), "%s/data", dir);
	return open(path, O_WRONLY | O_CREAT, 0600);
}

static void has(const char *path, const char *text)
{
	char found[64] = "";
	int fd = open(path, O_RDONLY);

	cr_assert_geq(fd, 0, "%s", path);
	cr_assert_geq(read(fd, found, sizeof(found) - 1), 0);
	cr_assert_str_eq(found, text, "%s has '%s'", path, found);
	close(fd);
}

static size_t count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	cr_assert_not_null(dir);
	while ((entry = readdir(dir)) != NULL)
		count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..");
	closedir(dir);
	return count;
}

/* A recording of this text; one that is not kept came to nothing. */
static void record(const char *name, const char *text, bool kcore, bool keep)
{
	struct output output;

	cr_assert_eq(output_open(&output, name, kcore, -1), 0);
	cr_assert_eq(write(output.fd, text, strlen(text)), (ssize_t)strlen(text));
	if (keep)
		output_keep(&output);
	cr_assert_eq(output_close(&output), 0);
}

/* Where the file system has files without names, as most have */
Test(record_output, nothing_is_seen_before_it_is_kept)
{
	struct output output;
	struct stat about;

	put("perf.data", "old");
	cr_assert_eq(output_open(&output, "perf.data", false, -1), 0);
	cr_assert_eq(fstat(output.fd, &about), 0);
	cr_assert_eq(about.st_nlink, 0);
	cr_assert_eq(write(output.fd, "new", 3), 3);
	has("perf.data", "old");
	output_keep(&output);
	has("perf.data", "new");
	has("perf.data.old", "old");
	cr_assert_eq(fstat(output.fd, &about), 0);
	cr_assert_eq(about.st_nlink, 1);
	cr_assert_eq(output_close(&output), 0);
}

Test(record_output, what_was_there_is_kept)
{
	struct stat about;

	record("file", "first", false, true);
	has("file", "first");
	cr_assert_eq(count_files("."), 1);
	cr_assert_eq(stat("file", &about), 0);
	cr_assert_eq(about.st_mode, S_IFREG | 0600);
	record("file", "second", false, true);
	has("file", "second");
	has("file.old", "first");
	record("file", "third", false, true);
	has("file", "third");
	has("file.old", "second");
	cr_assert_eq(count_files("."), 2);
}

/* What is empty is not worth the place of what was recorded before it. */
Test(record_output, an_empty_file_is_not_kept)
{
	record("file", "first", false, true);
	record("file", "second", false, true);
	put("file", "");
	record("file", "third", false, true);
	has("file", "third");
	has("file.old", "first");
}

Test(record_output, a_recording_that_comes_to_nothing_leaves_all)
{
	record("file", "first", false, true);
	record("file", "second", false, true);
	record("file", "third", false, false);
	has("file", "second");
	has("file.old", "first");
	record("file", "third", true, false);
	has("file", "second");
	has("file.old", "first");
	record("other", "fourth", false, false);
	record("other", "fourth", true, false);
	cr_assert_eq(count_files("."), 2);
}

/* Until it is kept, the old one is there. */
Test(record_output, the_old_one_is_there_until_the_new_one_is)
{
	struct output output;

	record("file", "first", false, true);
	cr_assert_eq(output_open(&output, "file", false, -1), 0);
	has("file", "first");
	output_keep(&output);
	has("file", "");
	has("file.old", "first");
	cr_assert_eq(write(output.fd, "second", 6), 6);
	cr_assert_eq(output_close(&output), 0);
	has("file", "second");
}

Test(record_output, links_are_followed)
{
	cr_assert_eq(mkdir("there", 0700), 0);
	cr_assert_eq(symlink("there/file", "link"), 0);
	cr_assert_eq(symlink("file2", "there/second"), 0);
	cr_assert_eq(symlink("there/second", "to-second"), 0);
	cr_assert_eq(symlink("round", "round"), 0);
	record("link", "first", false, true);
	has("there/file", "first");
	record("link", "second", false, true);
	has("there/file", "second");
	has("there/file.old", "first");
	has("link", "second");
	record("to-second", "third", false, true);
	has("there/file2", "third");
	cr_assert_eq(count_files("."), 4);
	cr_assert_eq(count_files("there"), 4);
	cr_assert_eq(output_close(&(struct output){ .fd = -1 }), 0);
}

static void refused(const char *name, bool kcore, int error)
{
	struct output output;

	cr_assert_eq(output_open(&output, name, kcore, -1), -error, "%s", name);
	cr_assert_eq(output_close(&output), 0);
}

Test(record_output, what_cannot_be_replaced_is_refused)
{
	cr_assert_eq(mkdir("folder", 0700), 0);
	put("folder/data", "not ours");
	cr_assert_eq(symlink("round", "round"), 0);
	cr_assert_eq(mkfifo("fifo", 0600), 0);
	refused("folder", false, EISDIR);
	refused("folder", true, EISDIR);
	refused("round", false, ELOOP);
	refused("fifo", true, ENOTDIR);
	refused("/dev/null", true, ENOTDIR);
	refused("-", true, ENOTDIR);
	refused("nowhere/file", false, ENOENT);
	refused("nowhere/file", true, ENOENT);
	has("folder/data", "not ours");
	cr_assert_eq(count_files("."), 3);
}

/* A recording with the kernel's code is a directory, before or behind one without. */
Test(record_output, directories_and_files_take_turns)
{
	record("it", "1", true, true);
	has("it/data", "1");
	has("it/kcore_dir/kcore", "code");
	record("it", "2", true, true);
	has("it/data", "2");
	has("it.old/data", "1");
	record("it", "3", true, true);
	has("it.old/data", "2");
	record("it", "4", false, true);
	has("it", "4");
	has("it.old/data", "3");
	record("it", "5", false, true);
	has("it", "5");
	has("it.old", "4");
	record("it", "6", true, true);
	has("it/data", "6");
	has("it.old", "5");
	record("it", "7", true, true);
	has("it.old/data", "6");
	put("empty", "");
	record("empty", "8", true, true);
	has("empty/data", "8");
	cr_assert_eq(count_files("."), 3);
}

/* Nothing is removed to make room but recordings. */
Test(record_output, what_is_no_recording_is_not_removed)
{
	cr_assert_eq(mkdir("file.old", 0700), 0);
	put("file.old/data", "not ours");
	record("file", "first", false, true);
	record("file", "second", false, true);
	has("file.old/data", "not ours");
	has("file", "first");
	/* and the new one is where the user has been told */
	cr_assert_eq(count_files("."), 3);
}

static void is_stream(const char *name)
{
	struct output output;

	cr_assert_eq(output_open(&output, name, false, -1), 0, "%s", name);
	cr_assert(output.is_stream, "%s", name);
	output_keep(&output);
	cr_assert_eq(output_close(&output), 0);
}

Test(record_output, pipes_and_devices_are_written_to)
{
	struct output output;
	char name[32];
	int fds[2], reader, asked = eventfd(1, 0);

	cr_assert_eq(pipe(fds), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", fds[1]);
	is_stream(name);
	is_stream("/dev/null");
	cr_assert_eq(mkfifo("fifo", 0600), 0);
	/* Nobody reads it, and a signal comes. */
	cr_assert_eq(output_open(&output, "fifo", false, asked), -EINTR);
	cr_assert_eq(output_close(&output), 0);
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	is_stream("fifo");
	close(reader);
	cr_assert_eq(count_files("."), 1);
}

/* Our own output may be a file, which can be written as one if it is empty. */
Test(record_output, our_own_output)
{
	struct output output;
	int out = dup(STDOUT_FILENO), fd = open("out", O_RDWR | O_CREAT, 0600);

	dup2(fd, STDOUT_FILENO);
	cr_assert_eq(output_open(&output, "-", false, -1), 0);
	cr_assert_not(output.is_stream);
	cr_assert_eq(write(output.fd, "first", 5), 5);
	output_keep(&output);
	cr_assert_eq(output_close(&output), 0);
	has("out", "first");
	is_stream("-");		/* it is not at its beginning any more */
	dup2(out, STDOUT_FILENO);
	cr_assert_eq(count_files("."), 1);
}
