// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a tracepoint was hit. A probe that is alone on it is called from there. If there are more,
 * as where the kernel's own makes the record that ours samples, a function of the kernel's calls
 * them one after the other, and stands between: no sample names it, so that they all begin with the
 * place that was hit.
 */
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include <asm/unwind.h>

#include "soft/tracepoint_private.h"

/* The kernel tells a symbol's size to modules only so: "name+0x0/0x58 [module]" */
static unsigned long symbol_size(unsigned long address)
{
	char *text = kmalloc(KSYM_SYMBOL_LEN, GFP_KERNEL);
	unsigned long size = 0;
	char *slash;

	if (!text)
		return 0;
	sprint_symbol(text, address);
	*strchrnul(text, ' ') = '\0';
	slash = strstr(text, "+0x0/");
	if (slash && kstrtoul(slash + strlen("+0x0/"), 0, &size))
		size = 0;
	kfree(text);
	return size;
}

void pmuctl_tracepoint_find_iterator(struct pmuctl_tracepoint *t)
{
	if (!t->tp || t->syscall)
		return;
	t->iterator = (unsigned long)t->tp->iterator;
	t->iterator_size = symbol_size(t->iterator);
}

/*
 * The function has one call in it, so that its frame is always as large: it is unwound once.
 * Only the ORC unwinder says where a frame ends.
 */
static unsigned long find_caller(const struct pt_regs *regs)
{
#ifdef CONFIG_UNWINDER_ORC
	struct unwind_state state;

	unwind_start(&state, current, NULL, (void *)regs->sp);
	if (unwind_done(&state) || unwind_get_return_address(&state) != regs->ip)
		return 0;
	unwind_next_frame(&state);
	if (!unwind_done(&state) && unwind_get_return_address(&state))
		return state.sp - sizeof(long) - regs->sp;
#endif
	return 0;
}

void pmuctl_tracepoint_leave_iterator(struct pmuctl_tracepoint *t, struct pt_regs *regs)
{
	unsigned long to_caller = READ_ONCE(t->to_caller);

	if (unlikely(!to_caller)) {
		to_caller = find_caller(regs);
		if (!to_caller)
			return;
		WRITE_ONCE(t->to_caller, to_caller);
	}
	regs->sp += to_caller;
	regs->ip = READ_ONCE_NOCHECK(*(unsigned long *)regs->sp);
}
