// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tasks that were there before the recording began, as records that tell the same as
 * those of the kernel would have: who they are, and what they have mapped. Their time is
 * 0, before everything else. A task may end while it is looked at: what is not there any
 * more is left out.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "record.h"

/* As in records of the kernel, when there is no file */
#define ANONYMOUS "//anon"

/**
 * synth_record() - add a record
 * @synth: where to.
 * @header: its type and misc; the size is filled in.
 * @body: what comes behind the header.
 * @size: bytes there.
 * @text: a string at the end, NULL for none.
 */
void synth_record(struct synth *synth, struct perf_event_header header,
		  const void *body, size_t size, const char *text)
{
	size_t length = text ? strlen(text) + 1 : 0;
	size_t padding = (8 - length % 8) % 8;
	size_t total = sizeof(header) + size + length + padding + synth->trailer;

	if (total > UINT16_MAX)
		return;
	header.size = (uint16_t)total;
	perfdata_put(&synth->buffer, &header, sizeof(header));
	perfdata_put(&synth->buffer, body, size);
	perfdata_put(&synth->buffer, text, length);
	perfdata_put(&synth->buffer, NULL, padding + synth->trailer);
}

/* ---------------------------------------------------------------------- tasks */

/* The number behind @key in /proc/@tid/status, -1 if there is none */
static int status_number(pid_t tid, const char *key)
{
	char path[64], line[256];
	size_t length = strlen(key);
	int number = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (fgets(line, sizeof(line), file)) {
		if (!strncmp(line, key, length)) {
			number = atoi(line + length);
			break;
		}
	}
	fclose(file);
	return number;
}

static void put_fork(struct synth *synth, pid_t pid, pid_t tid, pid_t parent)
{
	/* It has maps of its own: no reader is to copy its parent's. */
	const struct perf_event_header header = {
		.type = PERF_RECORD_FORK,
		.misc = PERF_RECORD_MISC_FORK_EXEC,
	};
	const struct {
		uint32_t pid;
		uint32_t parent_pid;
		uint32_t tid;
		uint32_t parent_tid;
		uint64_t time;
	} body = { (uint32_t)pid, (uint32_t)parent, (uint32_t)tid, (uint32_t)parent, 0 };

	synth_record(synth, header, &body, sizeof(body), NULL);
}

static void put_name(struct synth *synth, pid_t pid, pid_t tid, const char *name)
{
	const struct perf_event_header header = { .type = PERF_RECORD_COMM };
	const uint32_t body[] = { (uint32_t)pid, (uint32_t)tid };

	synth_record(synth, header, body, sizeof(body), name);
}

static void put_comm(struct synth *synth, pid_t pid, pid_t tid)
{
	char path[64], name[64] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	file = fopen(path, "re");
	if (!file)
		return;
	/* A name may have newlines of its own: only the last one is the file's. */
	name[fread(name, 1, sizeof(name) - 1, file)] = '\0';
	fclose(file);
	if (!*name)
		return;
	name[strlen(name) - 1] = '\0';
	put_name(synth, pid, tid, name);
}

/* ----------------------------------------------------------------------- maps */

struct map {
	uint32_t pid;
	uint32_t tid;
	uint64_t start;
	uint64_t size;
	uint64_t offset;
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	uint64_t generation;
	uint32_t protection;
	uint32_t flags;
};

/* A line of /proc/PID/maps; returns where its path begins, or NULL. */
static const char *map_parse(const char *line, struct map *map)
{
	char bits[8];
	uint64_t end;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &map->start, &end, bits, &map->offset, &map->major, &map->minor,
		   &map->inode, &path) != 7 || !path)
		return NULL;
	map->size = end - map->start;
	map->protection = (bits[0] == 'r' ? PROT_READ : 0) |
			  (bits[1] == 'w' ? PROT_WRITE : 0) |
			  (bits[2] == 'x' ? PROT_EXEC : 0);
	map->flags = bits[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	return line + path;
}

/* Returns whether the record must tell the build id; then it is in it. */
static bool map_tells_build_id(struct dsos *dsos, struct map *map, const char *name)
{
	const struct dso_mapping mapping = {
		name, (pid_t)map->pid, map->start, map->size,
		map->major, map->minor, map->inode,
	};
	struct dso_build_id id;

	if (dsos_add(dsos, &mapping, &id) <= 0)
		return false;
	memcpy(&map->major, &id, sizeof(id));
	return true;
}

/* Code, and what perf reads to unwind copies of stacks */
static bool is_told(const struct synth *synth, const struct map *map, const char *name)
{
	return map->protection & PROT_EXEC ||
	       (synth->data && map->protection & PROT_READ && (*name == '/' || *name == '['));
}

static void put_maps(struct synth *synth, pid_t pid)
{
	char path[64], *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	file = fopen(path, "re");
	while (file && getline(&line, &size, file) > 0) {
		struct perf_event_header header = {
			.type = PERF_RECORD_MMAP2,
			.misc = PERF_RECORD_MISC_USER,
		};
		struct map map = { .pid = (uint32_t)pid, .tid = (uint32_t)pid };
		const char *name;

		line[strcspn(line, "\n")] = '\0';
		name = map_parse(line, &map);
		if (!name || !is_told(synth, &map, name))
			continue;
		if (!(map.protection & PROT_EXEC))
			header.misc |= PERF_RECORD_MISC_MMAP_DATA;
		else if (synth->dsos && map_tells_build_id(synth->dsos, &map, name))
			header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		synth_record(synth, header, &map, sizeof(map),
			     *name ? name : ANONYMOUS);
	}
	free(line);
	if (file)
		fclose(file);
}

/* ------------------------------------------------------------------ processes */

struct process {
	struct synth *synth;
	pid_t pid;
	pid_t parent;
};

static void put_task(void *arg, int tid)
{
	const struct process *process = arg;

	put_fork(process->synth, process->pid, tid,
		 tid == process->pid ? process->parent : process->pid);
	put_comm(process->synth, process->pid, tid);
}

/**
 * synth_process() - describe a process: its threads and its maps
 * @synth: where to.
 * @pid: which.
 */
void synth_process(struct synth *synth, pid_t pid)
{
	struct process process = { synth, pid, status_number(pid, "PPid:") };
	char folder[64];

	if (process.parent < 0)
		return;
	snprintf(folder, sizeof(folder), "/proc/%d/task", pid);
	numbers_visit(folder, put_task, &process);
	put_maps(synth, pid);
}

/**
 * synth_thread() - describe the process of a thread
 * @synth: where to.
 * @tid: one of its threads.
 */
void synth_thread(struct synth *synth, pid_t tid)
{
	int pid = status_number(tid, "Tgid:");

	if (pid > 0)
		synth_process(synth, pid);
}

static void put_process(void *arg, int pid)
{
	synth_process(arg, pid);
}

/**
 * synth_all_tasks() - describe all processes
 * @synth: where to.
 */
void synth_all_tasks(struct synth *synth)
{
	numbers_visit("/proc", put_process, synth);
}

/**
 * synth_command() - describe the process that is to become the command
 * @synth: where to.
 * @pid: the process. It has a name before its exec, when the kernel already works for it.
 */
void synth_command(struct synth *synth, pid_t pid)
{
	put_fork(synth, pid, pid, getpid());
	put_name(synth, pid, pid, CHILD_COMM);
}

/**
 * synth_targets() - describe what is sampled
 * @synth: where to.
 * @measure: whom that is.
 * @child: the command, if it is that.
 * @all: all other tasks, too.
 */
void synth_targets(struct synth *synth, const struct measure *measure, pid_t child, bool all)
{
	switch (all ? TARGET_ALL_CPUS : measure->kind) {
	case TARGET_COMMAND:
		synth_process(synth, child);
		break;
	case TARGET_PROCESS:
		for (size_t i = 0; i < measure->ids.count; i++)
			synth_process(synth, measure->ids.list[i]);
		break;
	case TARGET_THREAD:
		for (size_t i = 0; i < measure->ids.count; i++)
			synth_thread(synth, measure->ids.list[i]);
		break;
	case TARGET_CPU:
	case TARGET_ALL_CPUS:
		synth_all_tasks(synth);
		break;
	}
}
