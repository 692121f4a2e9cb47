// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each thread has counted, of recordings that tell it when a thread ends: "record -s" and
 * "report -T", as perf has them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "report.h"

/**
 * threads_add() - add what a thread has counted in its life
 * @threads: all threads.
 * @record: a READ record, with an event.
 *
 * Return: 0 or -ENOMEM.
 */
int threads_add(struct report_threads *threads, const struct perffile_record *record)
{
	if (threads->count == threads->room) {
		size_t room = threads->room ? threads->room * 2 : 64;
		struct report_thread *list = reallocarray(threads->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		threads->list = list;
		threads->room = room;
	}
	threads->list[threads->count++] = (struct report_thread){
		.pid = record->count.pid, .tid = record->count.tid, .event = record->event,
		.value = record->count.value,
	};
	return 0;
}

static int compare(const void *left, const void *right)
{
	const struct report_thread *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->tid < b->tid ? -1 : a->tid > b->tid;
}

static void print_heading(const struct report *report)
{
	const struct perffile *file = report->samples->file;

	printf("\n# %8s %8s", "PID", "TID");
	for (size_t i = 0; i < file->event_count; i++)
		if (file->events[i].attr.inherit_stat)
			printf(" %20s", samples_event_name(report->samples, &file->events[i]));
	putchar('\n');
}

/* Later threads of the same number are counted together, as by perf. */
static void print_thread(const struct report *report, const struct report_thread *list, size_t count)
{
	const struct perffile *file = report->samples->file;

	printf("  %8" PRIu32 " %8" PRIu32, list->pid, list->tid);
	for (size_t event = 0; event < file->event_count; event++) {
		uint64_t value = 0;

		if (!file->events[event].attr.inherit_stat)
			continue;
		for (size_t i = 0; i < count; i++)
			if (list[i].event == &file->events[event])
				value += list[i].value;
		printf(" %20" PRIu64, value);
	}
	putchar('\n');
}

static void say_none(const struct report *report)
{
	const struct perffile *file = report->samples->file;
	bool is_asked = false;

	for (size_t i = 0; i < file->event_count; i++)
		is_asked |= file->events[i].attr.inherit_stat;
	say_error(is_asked ? "in '%s' no thread has told what it has counted: those that begin later do at their end" :
			     "'%s' does not tell what each thread has counted: record with -s",
		  report->samples->path);
}

/**
 * threads_print() - print a row for each thread, a column for each event
 * @report: of which all records were read.
 */
void threads_print(const struct report *report)
{
	const struct report_threads *threads = &report->threads;
	const struct report_thread *list = threads->list;
	size_t count;

	if (!threads->count) {
		say_none(report);
		return;
	}
	qsort(threads->list, threads->count, sizeof(*threads->list), compare);
	print_heading(report);
	for (size_t i = 0; i < threads->count; i += count) {
		count = 1;
		while (i + count < threads->count && compare(&list[i], &list[i + count]) == 0)
			count++;
		print_thread(report, &list[i], count);
	}
}
