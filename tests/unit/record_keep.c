// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of programs in ~/.debug: where they are, and where nothing is ever written, whatever a
 * program is called and whoever else may write there.
 */
/* sources: tools/record/keep.c */
#include <criterion/criterion.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/record.h"

static const struct dso_build_id id = { .size = 4, .bytes = { 0xde, 0xad, 0xbe, 0xef } };
static char home[64];
static int program;

static void begin(void)
{
	snprintf(home, sizeof(home), "/tmp/record-keep.XXXXXX");
	cr_assert_not_null(mkdtemp(home));
	cr_assert_eq(chdir(home), 0);
	setenv("HOME", home, 1);
	program = open("program", O_RDWR | O_CREAT | O_CLOEXEC, 0755);
	cr_assert_eq(write(program, "an ELF file", 11), 11);
}

static void end(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", home);
	cr_assert_eq(system(command), 0);
}

TestSuite(record_keep, .init = begin, .fini = end);

static int keep(const char *path)
{
	int copies = keep_open(), ret;

	cr_assert_geq(copies, 0, "%d", copies);
	ret = keep_copy(copies, program, path, &id);
	close(copies);
	return ret;
}

static unsigned int entries(const char *path)
{
	DIR *folder = opendir(path);
	unsigned int n = 0;

	cr_assert_not_null(folder, "%s", path);
	while (readdir(folder))
		n++;
	closedir(folder);
	return n - 2;
}

Test(record_keep, a_copy_is_found_by_its_path_and_its_build_id)
{
	char text[16] = "";
	FILE *f;

	cr_assert_eq(keep("/usr/bin/program"), 0);
	cr_assert_eq(access(".debug/usr/bin/program/deadbeef/elf", X_OK), 0);
	f = fopen(".debug/.build-id/de/adbeef/elf", "re");
	cr_assert_not_null(f);
	cr_assert_eq(fread(text, 1, sizeof(text), f), 11u);
	cr_expect_str_eq(text, "an ELF file");
	fclose(f);
	cr_expect_eq(entries(".debug/usr/bin/program/deadbeef"), 1);
}

Test(record_keep, it_is_copied_once)
{
	struct stat first, second;

	cr_assert_eq(keep("/program"), 0);
	cr_assert_eq(stat(".debug/program/deadbeef/elf", &first), 0);
	cr_assert_eq(keep("/program"), 0);
	cr_assert_eq(keep("/another/program"), 0);
	cr_assert_eq(stat(".debug/program/deadbeef/elf", &second), 0);
	cr_expect_eq(first.st_ino, second.st_ino);
	cr_expect_eq(entries(".debug"), 2, "there is a copy already");
}

/* A link that leads nowhere, as its folder was removed, does not keep it from being copied. */
Test(record_keep, what_was_removed_is_copied_again)
{
	cr_assert_eq(keep("/program"), 0);
	cr_assert_eq(system("rm -r .debug/program"), 0);
	cr_assert_eq(keep("/program"), 0);
	cr_expect_eq(access(".debug/.build-id/de/adbeef/elf", F_OK), 0);
}

Test(record_keep, names_that_lead_elsewhere_are_left_alone)
{
	static const char *const paths[] = {
		"/", "//", "//program", "/a//b", "/./a", "/a/.", "/..", "/../a", "/a/..", "/a/../../../b",
		"program", "", "/.build-id", "/.build-id/de/adbeef", "/a/",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		cr_expect_eq(keep(paths[i]), 0, "%s", paths[i]);
		cr_expect_eq(entries(".debug"), 0, "%s", paths[i]);
		cr_expect_neq(access("/deadbeef", F_OK), 0, "%s", paths[i]);
	}
	cr_expect_eq(keep("/...a/..b"), 0);
	cr_expect_eq(access(".debug/...a/..b/deadbeef/elf", F_OK), 0);
}

Test(record_keep, links_on_the_way_are_not_followed)
{
	cr_assert_eq(mkdir("elsewhere", 0755), 0);
	cr_assert_eq(mkdir(".debug", 0755), 0);
	cr_assert_eq(symlink("../elsewhere", ".debug/usr"), 0);
	cr_expect_lt(keep("/usr/bin/program"), 0);
	cr_expect_eq(entries("elsewhere"), 0);
}

Test(record_keep, where_others_may_write_nothing_is)
{
	cr_assert_eq(chmod(home, 01777), 0);
	cr_expect_eq(keep_open(), -ENOENT);
	cr_assert_eq(chmod(home, 0755), 0);
	cr_assert_eq(mkdir(".debug", 0755), 0);
	cr_assert_eq(chmod(".debug", 0775), 0);
	cr_expect_eq(keep_open(), -ENOENT);
	unsetenv("HOME");
	cr_expect_eq(keep_open(), -ENOENT);
}

Test(record_keep, what_is_too_large_is_not_copied)
{
	cr_assert_eq(ftruncate(program, 3l << 30), 0);
	cr_expect_eq(keep("/program"), -EFBIG);
	cr_expect_eq(entries(".debug/program/deadbeef"), 0);
	cr_expect_neq(access(".debug/.build-id", F_OK), 0);
}

Test(record_keep, who_is_asked_to_end_copies_no_more)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	raise(SIGINT);
	cr_expect_eq(keep("/program"), -EINTR);
	cr_expect_eq(entries(".debug/program/deadbeef"), 0);
}
