// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the branches that samples tell, one for each from where and to where: "report -b".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "report.h"

#define BRANCH_WORDS	3

/* Of a branch's third word: see struct perf_branch_entry */
#define MISPREDICTED	(1U << 0)
#define PREDICTED	(1U << 1)

static void fill_symbol(struct report *report, struct report_row *row, enum report_key key,
			const struct place *place)
{
	row->text[key] = samples_place_name(report->samples, place);
	row->marks[key] = place->level;
	row->key[key] = place->symbol ? (uint64_t)(uintptr_t)place->symbol :
			(uint64_t)(uintptr_t)row->text[key] + (uint64_t)(unsigned char)place->level;
}

static const char *cycles_text(struct report *report, unsigned int cycles)
{
	char text[16] = "-";

	if (cycles)
		snprintf(text, sizeof(text), "%u", cycles);
	return names_intern(report->samples->symbols->names, text);
}

/* As perf: the CPU may tell neither. */
static const char *prediction(unsigned int flags)
{
	return flags & MISPREDICTED ? "Y" : flags & PREDICTED ? "N" : "N/A";
}

/**
 * branches_fill_key() - what makes the row of a branch different from others
 * @report: of which a branch is looked at, or none.
 * @row: gets it.
 * @key: one of branches.
 */
void branches_fill_key(struct report *report, struct report_row *row, enum report_key key)
{
	const struct report_branch *branch = report->branch;
	struct names *names = report->samples->symbols->names;

	switch (key) {
	case KEY_SYMBOL_FROM:
		fill_symbol(report, row, key, &branch->from);
		return;
	case KEY_SYMBOL_TO:
		fill_symbol(report, row, key, &branch->to);
		return;
	case KEY_DSO_FROM:
		row->text[key] = branch->from.binary->name;
		break;
	case KEY_DSO_TO:
		row->text[key] = branch->to.binary->name;
		break;
	case KEY_MISPREDICT:
		row->text[key] = names_intern(names, prediction(branch->flags));
		break;
	case KEY_CYCLES:
		row->text[key] = cycles_text(report, branch->cycles);
		break;
	default:
		return;
	}
	row->key[key] = (uint64_t)(uintptr_t)row->text[key];
}

/**
 * branches_count() - how many branches a sample tells
 * @record: the sample.
 */
size_t branches_count(const struct perffile_record *record)
{
	return record->sample.branches.count / BRANCH_WORDS;
}

/**
 * report_add_branches() - add the branches of a sample
 * @report: the report.
 * @event: that it is of.
 * @record: the sample.
 * @thread: its thread.
 *
 * Return: 0, -ENOMEM.
 */
int report_add_branches(struct report *report, struct report_event *event,
			const struct perffile_record *record, const struct thread *thread)
{
	const bool only_known = report->options->filter.hide_unresolved;
	const struct perffile_words *words = &record->sample.branches;
	struct tasks *tasks = report->samples->tasks;
	struct report_branch branch;
	int ret = 0;

	report->branch = &branch;
	for (size_t i = 0; ret == 0 && i < branches_count(record); i++) {
		uint64_t flags = perffile_words_get(words, i * BRANCH_WORDS + 2);

		tasks_place(tasks, thread, 0, perffile_words_get(words, i * BRANCH_WORDS), false, &branch.from);
		tasks_place(tasks, thread, 0, perffile_words_get(words, i * BRANCH_WORDS + 1), false, &branch.to);
		branch.flags = (unsigned int)flags;
		branch.cycles = flags >> 4 & 0xffff;
		if (!only_known || (branch.from.symbol && branch.to.symbol))
			ret = hist_add_branch(report, event, record, thread);
	}
	report->branch = NULL;
	return ret;
}
