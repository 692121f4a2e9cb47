/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What processes have mapped, as tasks.c keeps it.
 */
#ifndef PMUCTL_TOOL_TASKS_H
#define PMUCTL_TOOL_TASKS_H

#include "jit.h"

struct mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	struct binary *binary;
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

#endif /* PMUCTL_TOOL_TASKS_H */
