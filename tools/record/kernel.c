// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the kernel and its modules are, as records of what the kernel has mapped: from
 * /proc/kallsyms and /proc/modules, which show addresses only to the privileged.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "record.h"

#define READ_SIZE 65536u

/* Names as readers know them: the symbol is the one that tells where it was moved to. */
#define KERNEL_NAME	"[kernel.kallsyms]_text"

/* -------------------------------------------------------------------- kernel */

struct kernel_range {
	uint64_t start;		/* of its code; 0 is unknown */
	uint64_t end;
};

static void kernel_find(struct kernel_range *range)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char *line = NULL;
	size_t size = 0;

	range->start = 0;
	range->end = 0;
	/* It is megabytes long, and each read gives as much as it can. */
	if (file)
		setvbuf(file, NULL, _IOFBF, READ_SIZE);
	while (file && (!range->start || !range->end) &&
	       getline(&line, &size, file) > 0) {
		uint64_t address;
		char name[128], type;

		if (sscanf(line, "%" SCNx64 " %c %127s", &address, &type, name) != 3)
			continue;
		if (!strcmp(name, "_text"))
			range->start = address;
		else if (!strcmp(name, "_etext"))
			range->end = address;
	}
	free(line);
	if (file)
		fclose(file);
}

static void put_map(struct synth *synth, uint64_t address, uint64_t size,
		    uint64_t offset, const char *name)
{
	const struct perf_event_header header = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
	};
	const struct {
		int32_t pid;
		uint32_t tid;
		uint64_t address;
		uint64_t size;
		uint64_t offset;
	} body = { -1, 0, address, size, offset };

	synth_record(synth, header, &body, sizeof(body), name);
}

/* ------------------------------------------------------------------- modules */

/* All of a file that is not large; NULL if it cannot be read */
static char *file_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	if (getdelim(&text, &size, '\0', file) < 0) {
		free(text);
		text = NULL;
	}
	fclose(file);
	return text;
}

/* Is @line of modules.dep, "kernel/fs/some-thing.ko.xz: ...", the module @name? */
static bool is_module_line(const char *line, const char *name)
{
	size_t end = strcspn(line, ":\n"), start = end;

	while (start && line[start - 1] != '/')
		start--;
	for (; *name; name++, start++) {
		char c = line[start] == '-' ? '_' : line[start];

		if (c != *name)
			return false;
	}
	return !strncmp(line + start, ".ko", 3);
}

/* The file of a module, as depmod knows it; in brackets what it does not know. */
static void module_path(const char *folder, const char *list, const char *name,
			char *path, size_t size)
{
	for (const char *line = list; line && *line; line = strchr(line, '\n')) {
		if (*line == '\n')
			line++;
		if (!is_module_line(line, name))
			continue;
		snprintf(path, size, "%s%s%.*s", *line == '/' ? "" : folder,
			 *line == '/' ? "" : "/", (int)strcspn(line, ":\n"), line);
		return;
	}
	snprintf(path, size, "[%s]", name);
}

/**
 * modules_visit() - look at all modules that are loaded
 * @visit: called with the name, file, address and size of each.
 * @arg: for @visit.
 */
void modules_visit(module_visit visit, void *arg)
{
	FILE *file = fopen("/proc/modules", "re");
	char folder[128], dep[160], path[512];
	char *line = NULL, *list;
	struct utsname system;
	size_t size = 0;

	if (!file)
		return;
	uname(&system);
	snprintf(folder, sizeof(folder), "/lib/modules/%s", system.release);
	snprintf(dep, sizeof(dep), "%s/modules.dep", folder);
	list = file_text(dep);
	while (getline(&line, &size, file) > 0) {
		uint64_t address, bytes;
		char name[128];

		/* name, size, users, who uses it, state, address */
		if (sscanf(line, "%127s %" SCNu64 " %*s %*s %*s %" SCNx64, name,
			   &bytes, &address) != 3 || !address)
			continue;
		module_path(folder, list, name, path, sizeof(path));
		visit(arg, name, path, address, bytes);
	}
	free(line);
	free(list);
	fclose(file);
}

static void put_module(void *arg, const char *name, const char *path,
		       uint64_t address, uint64_t size)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)name;
	put_map(arg, address, (size + page - 1) / page * page, 0, path);
}

/**
 * synth_kernel() - describe the kernel and its modules
 * @synth: where to.
 *
 * Return: 0; -EACCES if the caller may not know where they are.
 */
int synth_kernel(struct synth *synth)
{
	struct kernel_range range;

	kernel_find(&range);
	if (!range.start)
		return -EACCES;
	put_map(synth, range.start,
		range.end > range.start ? range.end - range.start : 0 - range.start,
		range.start, KERNEL_NAME);
	modules_visit(put_module, synth);
	return 0;
}
