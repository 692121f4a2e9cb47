// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branches in samples; branches.h says more. What an event is not to be told of the processor
 * leaves out as far as it can, and this file again: no address of the kernel gets to whom has not
 * asked for its branches, wherever a program pretended to jump.
 */
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include <asm/perf_event.h>
#include <asm/ptrace.h>

#include "core/event.h"
#include "pmu/lbr.h"
#include "sample/branches.h"
#include "sample/output.h"

/*
 * What kind of branch is at a place in the program? As far as its memory is there; who has none of
 * his own has run none of it.
 */
static enum lbr_kind kind_at(u64 from)
{
	u8 insn[LBR_INSN_BYTES];
	unsigned int n;

	if (lbr_is_kernel(from) || !current->mm)
		return LBR_UNKNOWN;
	n = sizeof(insn) - copy_from_user_nmi(insn, (void __user *)from, sizeof(insn));
	return lbr_kind_of_insn(insn, n, any_64bit_mode(task_pt_regs(current)));
}

static bool is_told(const struct lbr_record *record, u64 branches, enum lbr_kind *kind)
{
	*kind = LBR_UNKNOWN;
	if (!lbr_may_tell(record, branches))
		return false;
	if (!lbr_needs_kind(branches))
		return true;
	*kind = kind_at(record->from);
	return lbr_is_wanted(record, branches, kind);
}

u64 *pmuctl_branches_put(u64 *out, const struct pmuctl_event *event)
{
	const u64 branches = event->output->branches;
	const struct lbr_records *records;
	enum lbr_kind kind;
	unsigned int i;
	u64 *nr = out++;

	*nr = 0;
	if (!event->own.counter.lbr) {
		if (branches & PERF_SAMPLE_BRANCH_HW_INDEX)
			*out++ = -1ULL;
		return out;
	}
	records = lbr_read();
	if (branches & PERF_SAMPLE_BRANCH_HW_INDEX)
		*out++ = records->tos;
	for (i = 0; i < records->nr; i++) {
		const struct lbr_record *record = &records->record[i];

		if (!is_told(record, branches, &kind))
			continue;
		*out++ = record->from;
		*out++ = record->to;
		*out++ = lbr_flags(record, branches, kind, lbr_has_transactions());
		++*nr;
	}
	return out;
}
