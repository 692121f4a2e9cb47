/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tasks and what they have mapped, as tasks.c keeps them.
 */
#ifndef PMUCTL_TOOL_TASKS_H
#define PMUCTL_TOOL_TASKS_H

#include "jit.h"

/* Buckets of tasks, by their numbers */
#define TASKS_BUCKETS 4096

/**
 * struct mapping - a part of an address space
 * @start: its first address.
 * @end: the one behind it.
 * @offset: in the file, of the first.
 * @binary: what is there.
 * @told: where the record is that told of it, in the file of the recording.
 */
struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	struct binary *binary;
	uint64_t told;
};

/**
 * struct space - what a process has mapped
 * @users: processes that have it.
 * @number: of the map; another one when it has lost a part of a file.
 * @list: sorted by address, without overlaps.
 * @count: how many.
 * @room: for so many.
 */
struct space {
	size_t users;
	uint64_t number;
	struct mapping *list;
	size_t count;
	size_t room;
};

struct process {
	struct process *next;
	int32_t pid;
	size_t live;
	size_t threads;
	struct space *space;
	struct jit_files jit;
};

/**
 * struct tasks - all tasks of a recording
 * @symbols: its binaries.
 * @threads: by their numbers.
 * @processes: by theirs.
 * @kernel: what is where in the kernel.
 * @mappings: in all maps together.
 * @numbers: of maps that were given.
 * @keeps_maps: of a process that has ended, too.
 * @now: CLOCK_MONOTONIC at this record; UINT64_MAX if the recording has another clock.
 */
struct tasks {
	struct symbols *symbols;
	struct thread *threads[TASKS_BUCKETS];
	struct process *processes[TASKS_BUCKETS];
	struct space *kernel;
	size_t mappings;
	uint64_t numbers;
	bool keeps_maps;
	uint64_t now;
};

#endif /* PMUCTL_TOOL_TASKS_H */
