// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader of perf.data files: what it takes from good ones, and that it refuses the
 * others, each with its reason.
 */
/* sources: tools/perffile/perffile.c tools/perffile/features.c tools/perffile/records.c tools/perffile/order.c */
/* sources: tools/perffile/sample.c tools/perffile/groups.c */
/* sources: tools/perffile/stream.c tools/perffile/expand.c tools/perffile/spool.c */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/perffile/perffile.h"
#include "fuzz/perffile_build.h"

#define SIMPLE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID)

static struct perf_event_attr attr_of(uint64_t type)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = type, .sample_period = 4000,
		.sample_id_all = 1,
	};

	return attr;
}

static struct perffile *open_built(const struct build *build)
{
	struct perffile_error error = { "" };
	struct perffile *file = NULL;

	cr_assert_eq(perffile_open_memory(&file, build->data, build->size, &error), 0, "%s",
		     error.text);
	return file;
}

static void refused(const void *data, size_t size, const char *words)
{
	struct perffile_error error = { "" };
	struct perffile *file = NULL;
	/* Behind a copy of the exact size, sanitizers see every byte too many. */
	void *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	cr_assert_eq(perffile_open_memory(&file, copy, size, &error), -EBADMSG,
		     "%zu bytes are taken, not refused with '%s'", size, words);
	cr_assert_not_null(strstr(error.text, words), "'%s' lacks '%s'", error.text, words);
	free(copy);
}

/* Two events, a task, three samples out of order, features */
static void build_example(struct build *build)
{
	static const unsigned int features[] = { 2, 3, 4, 11, 12 };
	static const char *const names[] = { "instructions:u", "my cycles" };
	struct perf_event_attr attrs[] = { attr_of(SIMPLE), attr_of(SIMPLE) };
	struct build_trailer zero = { .pid = 7, .tid = 7 };
	uint8_t id[20] = { 1, 2, 3, [19] = 0xff };
	struct build_sample sample;
	uint64_t seed = 1;

	build_begin(build, attrs, 2);
	build_comm(build, 7, 7, "example", 0, &zero);
	build_mmap(build, 7, 0x400000, 0x1000, 0, "/usr/bin/example", id, &zero);
	for (int i = 0; i < 3; i++) {
		build_sample_random(&sample, i % 2, &seed);
		sample.time = 100 - i;
		sample.pid = 7;
		build_sample(build, i % 2, PERF_RECORD_MISC_USER, &sample, &seed);
	}
	build_features(build, features, 5);
	build_feature_build_id(build, 0, "/usr/bin/example", id);
	build_feature_text(build, 1, "machine");
	build_feature_text(build, 2, "6.1.0");
	build_feature(build, 3);
	build_half(build, 3);
	build_text(build, "perf");
	build_text(build, "record");
	build_text(build, "a b");
	build_feature_end(build, 3);
	build_feature_names(build, 4, names);
}

Test(perffile, tells_about_the_recording)
{
	struct perffile_build_id *id;
	struct perffile *file;
	struct build build;

	build_example(&build);
	file = open_built(&build);
	cr_assert_eq(file->event_count, 2);
	cr_assert_str_eq(file->events[0].name, "instructions:u");
	cr_assert_str_eq(file->events[1].name, "my cycles");
	cr_assert_eq(file->events[1].attr.sample_period, 4000);
	cr_assert_str_eq(file->info.hostname, "machine");
	cr_assert_str_eq(file->info.osrelease, "6.1.0");
	cr_assert_str_eq(file->info.cmdline, "perf record a b");
	cr_assert_null(file->info.version);
	cr_assert_eq(file->info.build_id_count, 1);
	id = &file->info.build_ids[0];
	cr_assert_str_eq(id->name, "/usr/bin/example");
	cr_assert_eq(id->size, 20);
	cr_assert_eq(id->id[1], 2);
	cr_assert_eq(id->id[19], 0xff);
	perffile_close(file);
	build_free(&build);
}

Test(perffile, every_truncation_is_told)
{
	struct build build;

	build_example(&build);
	for (size_t size = 0; size < build.size; size++)
		refused(build.data, size, size ? size < 16 ? "too short" : "truncated" : "empty");
	build_free(&build);
}

Test(perffile, other_files_are_told)
{
	struct build build;

	refused("#!/bin/sh\nexit 0 # longer", 25, "not a perf.data file");
	build_example(&build);
	memcpy(build.data, "2ELIFREP", 8);
	refused(build.data, build.size, "other byte order");
	memcpy(build.data, "PERFFILE", 8);
	refused(build.data, build.size, "before Linux 3.6");
	memcpy(build.data, "PERFILE2", 8);
	/* Those of a pipe have records there: see perffile_stream.c. */
	build_set(&build, 8, 16);
	refused(build.data, build.size, "damaged at byte 16");
	refused(build.data, 16, "written to a pipe");
	build_set(&build, 8, 112);
	refused(build.data, build.size, "header says that it has 112");
	build_set(&build, 8, 104);
	build_set(&build, 48, 0);
	refused(build.data, build.records, "not finished, and has no records");
	build_free(&build);
}

Test(perffile, damaged_headers_are_told)
{
	static const uint64_t bad_strides[] = { 0, 79, 1, 1ULL << 63, UINT64_MAX };
	uint64_t attr_size = BUILD_ATTR + 16, where;
	uint32_t size = 7;
	struct build build;

	build_example(&build);
	for (size_t i = 0; i < 5; i++) {
		build_set(&build, 16, bad_strides[i]);
		refused(build.data, build.size, "list of events is damaged");
	}
	build_set(&build, 16, attr_size);
	build_set(&build, 32, UINT64_MAX);
	refused(build.data, build.size, "list of events should be");
	build_set(&build, 32, 0);
	refused(build.data, build.size, "list of events is damaged");
	build_set(&build, 32, 2 * attr_size);
	memcpy(&where, build.data + 24, 8);
	memcpy(build.data + where + 4, &size, 4);
	refused(build.data, build.size, "says that it has 7 bytes");
	size = BUILD_ATTR + 1;
	memcpy(build.data + where + 4, &size, 4);
	refused(build.data, build.size, "says that it has");
	size = 0;
	memcpy(build.data + where + 4, &size, 4);
	perffile_close(open_built(&build));
	build_set(&build, where + BUILD_ATTR, UINT64_MAX);
	refused(build.data, build.size, "list of numbers");
	/* Each list is in the file, and together they are longer than it. */
	for (int i = 0; i < 2; i++) {
		build_set(&build, where + i * attr_size + BUILD_ATTR, 0);
		build_set(&build, where + i * attr_size + BUILD_ATTR + 8, build.size & ~7UL);
	}
	refused(build.data, build.size, "overlap");
	build_free(&build);
}

Test(perffile, events_that_cannot_be_told_apart)
{
	struct perf_event_attr attrs[] = { attr_of(SIMPLE), attr_of(SIMPLE | PERF_SAMPLE_ADDR) };
	struct build build;

	build_begin(&build, attrs, 2);
	build_comm(&build, 1, 1, "x", 0, &(struct build_trailer){ 0 });
	build_features(&build, NULL, 0);
	refused(build.data, build.size, "cannot be told apart");
	build_free(&build);
	attrs[0].sample_type = PERF_SAMPLE_IP;
	attrs[1].sample_type = PERF_SAMPLE_TIME;
	build_begin(&build, attrs, 2);
	build_pad(&build, 8);
	build_features(&build, NULL, 0);
	refused(build.data, build.size, "cannot be told apart");
	build_free(&build);
	/* With the number in front, the rest may differ. */
	attrs[0].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	attrs[1].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
	build_begin(&build, attrs, 2);
	build_comm(&build, 1, 1, "x", 0, &(struct build_trailer){ .id = build_id(1, 0) });
	build_features(&build, NULL, 0);
	perffile_close(open_built(&build));
	build_free(&build);
}

static size_t open_files(void)
{
	size_t count = 0;

	for (int fd = 0; fd < 100; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

Test(perffile, what_is_no_file)
{
	char path[] = "/tmp/perffile-XXXXXX";
	struct perffile_error error;
	struct perffile *file;
	size_t before;

	cr_assert_not_null(mkdtemp(path));
	before = open_files();
	cr_assert_eq(perffile_open(&file, path, &error), -EBADMSG);
	cr_assert_not_null(strstr(error.text, "is a directory"));
	cr_assert_eq(rmdir(path), 0);
	cr_assert_eq(perffile_open(&file, path, &error), -ENOENT);
	cr_assert_str_eq(error.text, "No such file or directory");
	cr_assert_eq(perffile_open(&file, "/dev/null", &error), -EBADMSG);
	cr_assert_not_null(strstr(error.text, "not a file on a disk"));
	/* Nobody writes to it: this must not wait. */
	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_eq(perffile_open(&file, path, &error), -EBADMSG);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(open_files(), before);
}

Test(perffile, reads_a_file_of_a_disk)
{
	char path[] = "/tmp/perffile-XXXXXX";
	struct perffile_error error = { "" };
	struct perffile *file;
	struct build build;
	int fd = mkstemp(path);

	build_example(&build);
	cr_assert_geq(fd, 0);
	cr_assert_eq(perffile_open(&file, path, &error), -EBADMSG);
	cr_assert_not_null(strstr(error.text, "empty"));
	cr_assert_eq(write(fd, build.data, build.size), (ssize_t)build.size);
	close(fd);
	cr_assert_eq(perffile_open(&file, path, &error), 0, "%s", error.text);
	cr_assert_eq(unlink(path), 0);
	cr_assert_eq(file->record_count, 5);
	perffile_close(file);
	build_free(&build);
}
