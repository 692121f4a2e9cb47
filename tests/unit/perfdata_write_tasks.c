// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a recording says of tasks, maps and files that were there before: this process is
 * the task, and knows about itself.
 */
/* sources: tools/record/tasks.c tools/record/kernel.c tools/record/dsos.c tools/record/keep.c tools/evlist/numbers.c */
/* sources: tools/perffile/perfdata_buffer.c */
/* sources: tools/perffile/perfdata.c tools/perffile/perfdata_stream.c */
/* libs: -lelf */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/record/record.h"

#define TRAILER 24u

/* Calls @visit for each record, whose size and trailer are checked. */
static void visit_records(const struct synth *synth,
			  void (*visit)(const struct perf_event_header *record, void *arg),
			  void *arg)
{
	static const unsigned char zeroes[TRAILER];
	size_t at = 0;

	cr_assert_not(synth->buffer.failed);
	while (at < synth->buffer.size) {
		const struct perf_event_header *record =
			(const void *)(synth->buffer.bytes + at);

		cr_assert_geq(record->size, sizeof(*record) + TRAILER);
		cr_assert_eq(record->size % 8, 0);
		at += record->size;
		cr_assert_leq(at, synth->buffer.size);
		cr_assert_arr_eq(synth->buffer.bytes + at - TRAILER, zeroes, TRAILER);
		visit(record, arg);
	}
}

struct seen {
	unsigned int forks;
	unsigned int comms;
	unsigned int maps;
	FILE *lines;
};

/* The next line of the maps that can be executed */
static void next_map(FILE *lines, char *line, size_t size)
{
	char bits[8];

	do {
		cr_assert_not_null(fgets(line, (int)size, lines));
		cr_assert_eq(sscanf(line, "%*s %7s", bits), 1);
	} while (bits[2] != 'x');
}

static void check_map(const struct perf_event_header *record, FILE *lines)
{
	const uint32_t *ids = (const void *)(record + 1);
	const uint64_t *range = (const void *)(ids + 2);
	const char *name = (const char *)record + 72;
	unsigned long start, end, offset;
	char line[4352], path[4096] = "//anon";

	next_map(lines, line, sizeof(line));
	cr_assert_geq(sscanf(line, "%lx-%lx %*s %lx %*s %*s %4095[^\n]", &start, &end,
			     &offset, path), 3);
	cr_assert_eq(ids[0], (uint32_t)getpid());
	cr_assert_eq(range[0], start);
	cr_assert_eq(range[1], end - start);
	cr_assert_eq(range[2], offset);
	cr_assert_str_eq(name, path);
	cr_assert(((const uint32_t *)((const char *)record + 64))[0] & 4, "PROT_EXEC");
}

static void check_record(const struct perf_event_header *record, void *arg)
{
	const uint32_t *words = (const void *)(record + 1);
	struct seen *seen = arg;
	bool is_process;

	switch (record->type) {
	case PERF_RECORD_FORK:
		/* The test runs in one of several threads. */
		is_process = words[2] == (uint32_t)getpid();
		seen->forks += is_process;
		cr_assert_eq(record->misc, PERF_RECORD_MISC_FORK_EXEC);
		cr_assert_eq(words[0], (uint32_t)getpid());
		cr_assert_eq(words[1], (uint32_t)(is_process ? getppid() : getpid()));
		cr_assert_eq(words[3], words[1]);
		break;
	case PERF_RECORD_COMM:
		cr_assert_eq(words[0], (uint32_t)getpid());
		if (words[1] != (uint32_t)gettid())
			break;
		seen->comms++;
		cr_assert_str_eq((const char *)(words + 2), "with\nnew line");
		break;
	default:
		cr_assert_eq(record->type, PERF_RECORD_MMAP2);
		cr_assert_eq(record->misc, PERF_RECORD_MISC_USER);
		check_map(record, seen->lines);
		seen->maps++;
	}
}

Test(perfdata_write_tasks, process_is_described_as_it_is)
{
	struct synth synth = { .trailer = TRAILER };
	struct seen seen = { .lines = NULL };

	cr_assert_eq(prctl(PR_SET_NAME, "with\nnew line"), 0);
	synth_process(&synth, getpid());
	seen.lines = fopen("/proc/self/maps", "re");
	cr_assert_not_null(seen.lines);
	visit_records(&synth, check_record, &seen);
	fclose(seen.lines);
	cr_assert_eq(seen.forks, 1);
	cr_assert_eq(seen.comms, 1);
	cr_assert_gt(seen.maps, 3);
	perfdata_buffer_free(&synth.buffer);
}

Test(perfdata_write_tasks, what_is_gone_is_left_out)
{
	struct synth synth = { .trailer = TRAILER };

	synth_process(&synth, 1 << 30);
	synth_thread(&synth, 1 << 30);
	cr_assert_eq(synth.buffer.size, 0);
	perfdata_buffer_free(&synth.buffer);
}

static void find_self(const struct perf_event_header *record, void *found)
{
	const uint32_t *words = (const void *)(record + 1);

	if (record->type == PERF_RECORD_COMM && words[0] == (uint32_t)getpid())
		*(bool *)found = true;
}

Test(perfdata_write_tasks, all_tasks_are_found)
{
	struct synth synth = { .trailer = TRAILER };
	bool found = false;

	synth_all_tasks(&synth);
	visit_records(&synth, find_self, &found);
	cr_assert(found);
	perfdata_buffer_free(&synth.buffer);
}

static void ignore_record(const struct perf_event_header *record, void *arg)
{
	(void)record;
	(void)arg;
}

Test(perfdata_write_tasks, record_that_is_too_long_is_left_out)
{
	const struct perf_event_header header = { .type = PERF_RECORD_COMM };
	struct synth synth = { .trailer = TRAILER };
	static char text[1 << 16];

	memset(text, 'x', sizeof(text) - 1);
	synth_record(&synth, header, NULL, 0, text);
	cr_assert_eq(synth.buffer.size, 0);
	synth_record(&synth, header, "12345678", 8, text + sizeof(text) - 8);
	cr_assert_eq(synth.buffer.size, 8 + 8 + 8 + TRAILER);
	visit_records(&synth, ignore_record, NULL);
	perfdata_buffer_free(&synth.buffer);
}

/* ---------------------------------------------------------------- build ids */

struct own_id {
	unsigned char bytes[64];
	size_t size;
};

/* Of the first object, which is the program */
static int find_id(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct own_id *id = arg;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		const char *at = (const char *)info->dlpi_addr + header->p_vaddr;
		const char *end = at + header->p_memsz;

		while (header->p_type == PT_NOTE && at < end) {
			const ElfW(Nhdr) *note = (const void *)at;
			const char *desc = at + sizeof(*note) +
					   (note->n_namesz + 3) / 4 * 4;

			if (note->n_type == NT_GNU_BUILD_ID) {
				id->size = note->n_descsz;
				memcpy(id->bytes, desc, id->size);
				return 1;
			}
			at = desc + (note->n_descsz + 3) / 4 * 4;
		}
	}
	return 1;
}

/* Of a file whose device and inode nobody knows */
static int add(struct dsos *dsos, const char *path)
{
	const struct dso_mapping mapping = { .path = path, .pid = getpid() };
	struct dso_build_id own;

	return dsos_add(dsos, &mapping, &own);
}

/* As the kernel tells of the file @now that is mapped at @at, and is called @path */
static struct dso_mapping mapping_of(const char *path, const char *now, void *at, size_t size)
{
	struct stat about;

	cr_assert_eq(stat(now, &about), 0);
	return (struct dso_mapping){
		path, at ? getpid() : 0, (uint64_t)(uintptr_t)at, size,
		major(about.st_dev), minor(about.st_dev), about.st_ino,
	};
}

/* The build id that the list has for @path; size 0 if it has none */
static struct own_id listed(struct dsos *dsos, const char *path)
{
	struct perfdata_buffer buffer = { .size = 0 };
	struct own_id id = { .size = 0 };

	dsos_put(dsos, &buffer);
	for (size_t at = 0; at < buffer.size;) {
		const struct perf_event_header *entry = (const void *)(buffer.bytes + at);

		if (entry->misc & PERF_RECORD_MISC_USER &&
		    !strcmp((const char *)entry + 36, path)) {
			cr_assert_eq(id.size, 0, "it is there once");
			id.size = PERFFILE_BUILD_ID_MAX;
			memcpy(id.bytes, (const char *)entry + 12, id.size);
		}
		at += entry->size;
	}
	perfdata_buffer_free(&buffer);
	return id;
}

/* Who may open what is mapped finds the right one. */
static void finds_what_is_mapped(const struct dso_mapping *here, const struct own_id *own)
{
	struct dsos *dsos = dsos_new();
	struct dso_build_id told;
	struct own_id id;
	char name[96];
	int fd;

	snprintf(name, sizeof(name), "/proc/self/map_files/%" PRIx64 "-%" PRIx64, here->start,
		 here->start + here->size);
	fd = open(name, O_RDONLY);
	cr_assert_eq(dsos_add(dsos, here, &told), fd < 0);
	id = listed(dsos, here->path);
	cr_assert_eq(id.size, fd < 0 ? 0 : PERFFILE_BUILD_ID_MAX);
	cr_assert_arr_eq(id.bytes, own->bytes, id.size);
	if (fd >= 0)
		close(fd);
	dsos_free(dsos);
}

/* This program is mapped, then another one takes its name, as an update does it. */
Test(perfdata_write_tasks, files_that_were_replaced)
{
	const struct dso_build_id nobody = { .size = PERFFILE_BUILD_ID_MAX };
	char dir[] = "/tmp/perfdata-XXXXXX", path[64], kept[64], command[512];
	struct own_id own = { .size = 0 }, id;
	struct dso_mapping here, gone, other;
	struct dsos *dsos = dsos_new();
	struct dso_build_id told;
	void *at;
	int fd;

	dl_iterate_phdr(find_id, &own);
	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/program", dir);
	snprintf(kept, sizeof(kept), "%s/kept", dir);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s && ln %s %s", getpid(), path,
		 path, kept);
	cr_assert_eq(system(command), 0);
	fd = open(path, O_RDONLY);
	at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	cr_assert_neq(at, MAP_FAILED);
	close(fd);
	here = mapping_of(path, kept, at, 4096);
	gone = mapping_of(path, kept, NULL, 4096);
	snprintf(command, sizeof(command), "cp /bin/true %s/new && mv %s/new %s", dir, dir, path);
	cr_assert_eq(system(command), 0);
	other = mapping_of(path, path, NULL, 4096);

	/* Its task is gone: only the other one is there. That one is not taken for it. */
	cr_assert_eq(dsos_add(dsos, &gone, &told), 1);
	cr_assert_arr_eq(&told, &nobody, sizeof(told));
	cr_assert_eq(listed(dsos, path).size, 0);
	/* The other one is mapped, too. */
	cr_assert_eq(dsos_add(dsos, &other, &told), 1);
	cr_assert_eq(told.size, PERFFILE_BUILD_ID_MAX);
	cr_assert_arr_neq(told.bytes, nobody.bytes, told.size);
	cr_assert_arr_neq(told.bytes, own.bytes, told.size);
	cr_assert_eq(listed(dsos, path).size, 0, "the path is not its alone");
	dsos_free(dsos);

	/* The first one has the path. */
	dsos = dsos_new();
	cr_assert_eq(dsos_add(dsos, &other, &told), 0);
	cr_assert_eq(dsos_add(dsos, &other, &told), 0);
	cr_assert_eq(dsos_add(dsos, &gone, &told), 1);
	cr_assert_arr_eq(&told, &nobody, sizeof(told));
	id = listed(dsos, path);
	cr_assert_eq(id.size, PERFFILE_BUILD_ID_MAX);
	cr_assert_arr_neq(id.bytes, own.bytes, id.size);
	dsos_free(dsos);

	finds_what_is_mapped(&here, &own);
	munmap(at, 4096);
	snprintf(command, sizeof(command), "rm -rf -- %s", dir);
	cr_assert_eq(system(command), 0);
}

Test(perfdata_write_tasks, files_have_their_build_ids)
{
	struct perfdata_buffer buffer = { .size = 0 };
	struct own_id own = { .size = 0 };
	struct dsos *dsos = dsos_new();
	unsigned int found = 0;
	char self[4096] = "";

	dl_iterate_phdr(find_id, &own);
	cr_assert_eq(own.size, PERFFILE_BUILD_ID_MAX);
	cr_assert_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	cr_assert_eq(add(dsos, self), 0);
	cr_assert_eq(add(dsos, self), 0, "it is there once");
	/* What is no program is left out, whatever it is. */
	cr_assert_eq(add(dsos, "/dev/null"), 0);
	cr_assert_eq(add(dsos, "/etc/passwd"), 0);
	cr_assert_eq(add(dsos, "/nonexistent"), 0);
	cr_assert_eq(add(dsos, "[vdso]"), 0);
	cr_assert_eq(add(dsos, "//anon"), 0);
	dsos_put(dsos, &buffer);
	for (size_t at = 0; at < buffer.size;) {
		const struct perf_event_header *entry =
			(const void *)(buffer.bytes + at);

		if (entry->misc & PERF_RECORD_MISC_USER) {
			cr_assert_str_eq((const char *)entry + 36, self);
			cr_assert_arr_eq((const char *)entry + 12, own.bytes, own.size);
			found++;
		}
		at += entry->size;
	}
	cr_assert_eq(found, 1);
	perfdata_buffer_free(&buffer);
	dsos_free(dsos);
	dsos_free(NULL);
}
