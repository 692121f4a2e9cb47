// SPDX-License-Identifier: GPL-2.0-only
/*
 * What branch stacks tell of instructions: from the target of a branch up to the source of the next
 * one each was executed. Terms are those of "perf annotate": such a range is entered at its first
 * instruction, covers all of them, and the branch at its end is taken.
 */
#include <errno.h>

#include "annotate.h"

/* From, to, flags */
#define BRANCH_WORDS 3

#define FLAG_MISPREDICTED (1U << 0)
#define FLAG_PREDICTED (1U << 1)

/* Code that runs from a function into the next one, and so on, is followed so far. */
#define FUNCTIONS_MAX 16

/**
 * struct range - code that was executed from its first to its last instruction
 * @annotate: the command.
 * @event: that was sampled.
 * @thread: whose code it is.
 * @from: its first instruction.
 * @to: its last one, a branch.
 * @flags: of that branch.
 */
struct range {
	struct annotate *annotate;
	const struct perffile_event *event;
	const struct thread *thread;
	struct place from;
	struct place to;
	uint64_t flags;
};

static void place_at(const struct range *range, uint64_t ip, struct place *place)
{
	uint16_t mode = ip >> 63 ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	tasks_place(range->annotate->samples->tasks, range->thread, mode, ip, false, place);
}

/* Is it code in one piece? Between records of filtered branches, and at returns from the kernel, not. */
static bool is_sound(const struct range *range)
{
	const struct place *from = &range->from, *to = &range->to;

	return from->ip && from->ip <= to->ip && from->level == to->level &&
	       from->symbol && to->symbol && from->binary == to->binary &&
	       to->ip - from->ip == to->address - from->address;
}

/* Where the part of a range ends that begins at @at: behind its last byte, or 0: with the range */
static uint64_t leaves_at(const struct range *range, const struct place *at)
{
	const struct symbol *symbol = at->symbol, *last = range->to.symbol;

	if (symbol == last)
		return 0;
	return last->start > at->address && last->start < symbol->end ? last->start : symbol->end;
}

/* The part of a range that is in the function at @at; @is_entry: it begins there. */
static int add_part(const struct range *range, const struct place *at, uint64_t end, bool is_entry)
{
	struct annotate_function *function;
	struct annotate_site *site;
	int ret = sites_find(range->annotate, range->event, at, &function);

	if (ret < 0 || !function)
		return ret;
	site = sites_new(function, at->address - at->symbol->start);
	if (!site)
		return -ENOMEM;
	site->begins++;
	site->entry += is_entry;
	site = sites_new(function, (end ? end - 1 : range->to.address) - at->symbol->start);
	if (!site)
		return -ENOMEM;
	site->ends++;
	if (end)
		return 0;
	site->taken++;
	site->predicted += !!(range->flags & FLAG_PREDICTED);
	site->mispredicted += !!(range->flags & FLAG_MISPREDICTED);
	return 0;
}

static int add_range(const struct range *range)
{
	struct place at = range->from;

	for (unsigned int i = 0; i < FUNCTIONS_MAX && at.symbol && at.ip <= range->to.ip; i++) {
		uint64_t end = leaves_at(range, &at);
		int ret = add_part(range, &at, end, !i);

		if (ret < 0 || !end)
			return ret;
		place_at(range, at.ip + (end - at.address), &at);
	}
	return 0;
}

/**
 * annotate_add_branches() - add what the branch stack of a sample tells
 * @annotate: the command.
 * @record: the sample, of an event for which annotate_has_branches() is true.
 * @thread: whose.
 *
 * Return: 0, -ENOMEM.
 */
int annotate_add_branches(struct annotate *annotate, const struct perffile_record *record,
			  const struct thread *thread)
{
	const struct perffile_words *words = &record->sample.branches;
	struct range range = { .annotate = annotate, .event = record->event, .thread = thread };
	int ret = 0;

	/* The newest comes first. */
	for (size_t at = 0; ret == 0 && at + 2 * BRANCH_WORDS <= words->count; at += BRANCH_WORDS) {
		place_at(&range, perffile_words_get(words, at + BRANCH_WORDS + 1), &range.from);
		place_at(&range, perffile_words_get(words, at), &range.to);
		range.flags = perffile_words_get(words, at + 2);
		if (is_sound(&range))
			ret = add_range(&range);
	}
	return ret;
}

/**
 * branches_finish() - find what share of its branch's coverage each entry is
 * @function: with its sites in order.
 */
void branches_finish(struct annotate_function *function)
{
	uint64_t over = 0, next = 0;

	for (size_t i = 0; i < function->site_count; i++) {
		struct annotate_site *site = &function->sites[i];

		over += site->begins;
		site->coverage = over;
		over -= site->ends;
	}
	for (size_t i = function->site_count; i--; ) {
		struct annotate_site *site = &function->sites[i];

		if (site->taken)
			next = site->coverage;
		site->joined = next;
	}
}
