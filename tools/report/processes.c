// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tasks of a recording, each below the one that has made it, and what they had mapped:
 * "report --tasks" and "--mmaps", in the form of perf's.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "symbols/tasks.h"

/* Where in an MMAP2 the inode and the flags are */
#define MMAP2_INODE	48
#define MMAP2_FLAGS	68

#define MISC_MMAP_DATA		(1 << 13)
#define MISC_MMAP_BUILD_ID	(1 << 14)

/**
 * struct task_node - a task
 * @thread: it.
 * @parent: who has made it; NULL: nobody knows.
 * @child: the first that it has made.
 * @sibling: the next of the same parent.
 * @seen: number of the walk that came by, from 1 on.
 */
struct task_node {
	const struct thread *thread;
	struct task_node *parent;
	struct task_node *child;
	struct task_node *sibling;
	size_t seen;
};

/* All of them, in the order of their numbers */
struct task_list {
	struct task_node *nodes;
	size_t count;
};

static int compare_numbers(int32_t tid, int32_t pid, const struct thread *other)
{
	if (tid != other->tid)
		return tid < other->tid ? -1 : 1;
	return pid < other->pid ? -1 : pid > other->pid;
}

static int compare(const void *left, const void *right)
{
	const struct task_node *one = left, *other = right;

	return compare_numbers(one->thread->tid, one->thread->pid, other->thread);
}

static struct task_node *find(const struct task_list *list, int32_t tid, int32_t pid)
{
	size_t low = 0, high = list->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = compare_numbers(tid, pid, list->nodes[middle].thread);

		if (!order)
			return &list->nodes[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static int collect(const struct tasks *tasks, struct task_list *list)
{
	size_t count = 0;

	for (size_t i = 0; i < TASKS_BUCKETS; i++)
		for (const struct thread *thread = tasks->threads[i]; thread; thread = thread->next)
			count++;
	list->nodes = calloc(count, sizeof(*list->nodes));
	if (!list->nodes)
		return -ENOMEM;
	for (size_t i = 0; i < TASKS_BUCKETS; i++)
		for (const struct thread *thread = tasks->threads[i]; thread; thread = thread->next)
			list->nodes[list->count++].thread = thread;
	qsort(list->nodes, list->count, sizeof(*list->nodes), compare);
	return 0;
}

/* A number that was given again may be its own ancestor: the first of such a circle has no parent. */
static void cut_circle(struct task_node *from, size_t walk)
{
	struct task_node *node = from;

	while (node && !node->seen) {
		node->seen = walk;
		node = node->parent;
	}
	if (node && node->seen == walk)
		node->parent = NULL;
}

static void link_all(struct task_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		struct task_node *node = &list->nodes[i];

		if (node->thread->ptid >= 0)
			node->parent = find(list, node->thread->ptid, node->thread->ppid);
	}
	for (size_t i = 0; i < list->count; i++)
		cut_circle(&list->nodes[i], i + 1);
	for (size_t i = list->count; i-- > 0; ) {
		struct task_node *node = &list->nodes[i];

		if (!node->parent)
			continue;
		node->sibling = node->parent->child;
		node->parent->child = node;
	}
}

static void print_map(const struct perffile *file, const struct mapping *map, int indent)
{
	const uint8_t *at = file->data + map->told;
	struct perffile_record record;
	struct perffile_error error;
	uint64_t inode = 0;
	uint32_t flags = 0;

	if (perffile_record_read(file, map->told, &record, &error) < 0)
		return;
	if (record.type == PERF_RECORD_MMAP)
		record.mmap.prot = record.misc & MISC_MMAP_DATA ? 0 : 4;
	else
		memcpy(&flags, at + MMAP2_FLAGS, sizeof(flags));
	if (record.type == PERF_RECORD_MMAP2 && !(record.misc & MISC_MMAP_BUILD_ID))
		inode = perffile_word(at + MMAP2_INODE);
	printf("%*s  %" PRIx64 "-%" PRIx64 " %c%c%c%c %08" PRIx64 " %" PRIu64 " %s\n", indent, "", map->start,
	       map->end, record.mmap.prot & 1 ? 'r' : '-', record.mmap.prot & 2 ? 'w' : '-',
	       record.mmap.prot & 4 ? 'x' : '-', flags & 1 ? 's' : 'p', map->offset, inode, map->binary->path);
}

static void print_task(const struct report *report, const struct thread *thread, int level)
{
	int indent = printf("  %8d %8d %8d |%*s", thread->pid, thread->tid, thread->ptid, level, "");
	const struct space *space = thread->process->space;

	printf("%s\n", thread->comm);
	for (size_t i = 0; report->options->maps && space && i < space->count; i++)
		print_map(report->samples->file, &space->list[i], indent);
}

static void print_tree(const struct report *report, const struct task_node *top)
{
	const struct task_node *node = top;
	int level = 0;

	while (node) {
		print_task(report, node->thread, level);
		if (node->child) {
			node = node->child;
			level++;
			continue;
		}
		while (node != top && !node->sibling) {
			node = node->parent;
			level--;
		}
		node = node == top ? NULL : node->sibling;
	}
}

/* Whoever a sample is of is a task, even if no record tells of him. */
static int read_all(struct samples *samples)
{
	struct perffile_record record;
	int ret;

	samples->tasks->keeps_maps = true;
	if (!tasks_thread(samples->tasks, 0, 0))
		return -ENOMEM;
	while ((ret = samples_next(samples, &record)) > 0)
		if (record.type == PERF_RECORD_SAMPLE && record.fields & PERF_SAMPLE_TID &&
		    !tasks_thread(samples->tasks, record.pid, record.tid))
			return -ENOMEM;
	return ret;
}

/**
 * processes_print() - print the tasks of a recording; says what is wrong
 * @report: open, of which nothing was read.
 *
 * Return: 0 or a negative error number.
 */
int processes_print(const struct report *report)
{
	struct task_list list = { .count = 0 };
	int ret = read_all(report->samples);

	if (ret == 0)
		ret = collect(report->samples->tasks, &list);
	if (ret == -ENOMEM)
		say_error("%s", pmuctl_strerror(ret));
	if (ret < 0)
		return ret;
	link_all(&list);
	printf("# %8s %8s %8s  %s\n", "pid", "tid", "ppid", "comm");
	for (size_t i = 0; i < list.count; i++)
		if (!list.nodes[i].parent)
			print_tree(report, &list.nodes[i]);
	free(list.nodes);
	return 0;
}
