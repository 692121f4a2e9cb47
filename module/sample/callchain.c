// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call chains, and user space's registers and stack, as samples have them. The kernel's
 * part of a chain comes from the kernel's own unwinder. User space is read by frame
 * pointers and never trusted: each frame is checked, a loop is found, a page that is
 * missing stays missing. Runs in any context, NMI too.
 */
#include <linux/log2.h>
#include <linux/perf_event.h>
#include <linux/sched/task_stack.h>
#include <linux/uaccess.h>

#include <asm/cpu_entry_area.h>
#include <asm/unwind.h>

#include "sample/callchain.h"

/*
 * A chain in the making: where the next value goes, where the last address that is
 * wanted ends, and where there is no room any more
 */
struct chain {
	u64 *next;
	u64 *stop;
	u64 *end;
};

/* What a function with a frame pointer leaves on the stack: of 64 and of 32 bits */
struct frame64 {
	u64 next;
	u64 ip;
};

struct frame32 {
	u32 next;
	u32 ip;
};

/*
 * Where a walk along frame pointers has been. Remembering one frame is enough if it is
 * exchanged for the latest one after 1, 2, 4, 8... steps: once on a loop, and for longer
 * than that takes, it is met again.
 */
struct walk {
	unsigned long fp;
	unsigned long seen;
	unsigned int steps;
};

static void chain_mark(struct chain *chain, u64 context)
{
	if (chain->next >= chain->end)
		return;
	*chain->next++ = context;
	chain->stop = min(chain->stop + 1, chain->end);
}

/* Return: false if that was the last one. */
static bool chain_add(struct chain *chain, u64 ip)
{
	if (chain->next >= chain->stop)
		return false;
	*chain->next++ = ip;
	return chain->next < chain->stop;
}

static void chain_add_kernel(struct chain *chain, struct pt_regs *regs)
{
	struct unwind_state state;
	unsigned long ip = regs->ip;

	if (!chain_add(chain, ip))
		return;
	/*
	 * Of what was interrupted, the unwinder begins with the caller. Registers that no
	 * interrupt has saved are but a place on the stack, with which it begins.
	 */
	if (regs->flags) {
		unwind_start(&state, current, regs, NULL);
	} else {
		unwind_start(&state, current, NULL, (void *)regs->sp);
		if (!unwind_done(&state) && unwind_get_return_address(&state) == ip)
			unwind_next_frame(&state);
	}
	for (; !unwind_done(&state); unwind_next_frame(&state)) {
		ip = unwind_get_return_address(&state);
		if (!ip || !chain_add(chain, ip))
			return;
	}
}

/* Return: false if the next frame is not to be followed. */
static bool walk_on(struct walk *walk, unsigned long fp)
{
	walk->fp = fp;
	if (fp == walk->seen)
		return false;
	if (is_power_of_2(++walk->steps))
		walk->seen = fp;
	return true;
}

/* May it be a frame? The first page is never mapped, and a fault there costs much. */
static __always_inline bool is_frame(unsigned long fp, size_t size)
{
	return fp >= PAGE_SIZE && fp <= TASK_SIZE_MAX - size &&
	       IS_ALIGNED(fp, size / 2);
}

/*
 * Is user space's memory the current task's now? It is not in the middle of a switch.
 * There is no way to ask but to read something.
 */
static bool can_read(unsigned long fp, size_t size)
{
	struct frame64 frame;

	return is_frame(fp, size) &&
	       !copy_from_user_nmi(&frame, (const void __user *)fp, size);
}

/* Read a frame. Page faults are disabled. */
static __always_inline bool read_frame(struct frame64 *frame, unsigned long fp,
				       bool is_64bit)
{
	const struct frame64 __user *wide = (const struct frame64 __user *)fp;
	const struct frame32 __user *narrow = (const struct frame32 __user *)fp;
	size_t size = is_64bit ? sizeof(*wide) : sizeof(*narrow);

	if (!is_frame(fp, size) || !user_access_begin(wide, size))
		return false;
	if (is_64bit) {
		unsafe_get_user(frame->next, &wide->next, err_end);
		unsafe_get_user(frame->ip, &wide->ip, err_end);
	} else {
		unsafe_get_user(frame->next, &narrow->next, err_end);
		unsafe_get_user(frame->ip, &narrow->ip, err_end);
	}
	user_access_end();
	return true;

err_end:
	user_access_end();
	return false;
}

/* Inline, to make a loop for each width: it runs for every frame of every sample. */
static __always_inline void chain_walk(struct chain *to, unsigned long fp,
				       bool is_64bit)
{
	struct walk walk = { .fp = fp, .seen = fp };
	struct chain chain = *to;
	struct frame64 frame;

	pagefault_disable();
	while (read_frame(&frame, walk.fp, is_64bit) &&
	       chain_add(&chain, frame.ip) && walk_on(&walk, frame.next))
		;
	pagefault_enable();
	*to = chain;
}

static void chain_add_user(struct chain *chain, struct pt_regs *regs)
{
	if (!chain_add(chain, regs->ip))
		return;
	if (user_64bit_mode(regs)) {
		if (can_read(regs->bp, sizeof(struct frame64)))
			chain_walk(chain, regs->bp, true);
	} else {
		if (can_read((u32)regs->bp, sizeof(struct frame32)))
			chain_walk(chain, (u32)regs->bp, false);
	}
}

unsigned int pmuctl_callchain(u64 *ips, unsigned int room,
			      unsigned int max_stack, struct pt_regs *regs,
			      bool kernel, bool user)
{
	struct chain chain = {
		.next = ips,
		.stop = ips + min(room, max_stack),
		.end = ips + room,
	};

	if (kernel && !user_mode(regs)) {
		chain_mark(&chain, PERF_CONTEXT_KERNEL);
		chain_add_kernel(&chain, regs);
	}
	regs = user ? pmuctl_regs_user(regs) : NULL;
	if (regs) {
		chain_mark(&chain, PERF_CONTEXT_USER);
		chain_add_user(&chain, regs);
	}
	return chain.next - ips;
}

/* Offsets in struct pt_regs, by PERF_REG_X86_* */
static const u8 reg_offset[PERF_REG_X86_64_MAX] = {
	[PERF_REG_X86_AX]	= offsetof(struct pt_regs, ax),
	[PERF_REG_X86_BX]	= offsetof(struct pt_regs, bx),
	[PERF_REG_X86_CX]	= offsetof(struct pt_regs, cx),
	[PERF_REG_X86_DX]	= offsetof(struct pt_regs, dx),
	[PERF_REG_X86_SI]	= offsetof(struct pt_regs, si),
	[PERF_REG_X86_DI]	= offsetof(struct pt_regs, di),
	[PERF_REG_X86_BP]	= offsetof(struct pt_regs, bp),
	[PERF_REG_X86_SP]	= offsetof(struct pt_regs, sp),
	[PERF_REG_X86_IP]	= offsetof(struct pt_regs, ip),
	[PERF_REG_X86_FLAGS]	= offsetof(struct pt_regs, flags),
	[PERF_REG_X86_R8]	= offsetof(struct pt_regs, r8),
	[PERF_REG_X86_R9]	= offsetof(struct pt_regs, r9),
	[PERF_REG_X86_R10]	= offsetof(struct pt_regs, r10),
	[PERF_REG_X86_R11]	= offsetof(struct pt_regs, r11),
	[PERF_REG_X86_R12]	= offsetof(struct pt_regs, r12),
	[PERF_REG_X86_R13]	= offsetof(struct pt_regs, r13),
	[PERF_REG_X86_R14]	= offsetof(struct pt_regs, r14),
	[PERF_REG_X86_R15]	= offsetof(struct pt_regs, r15),
};

static u64 reg_value(const struct pt_regs *regs, unsigned int reg)
{
	/* What the processor saves beside a selector is none of the register. */
	if (reg == PERF_REG_X86_CS)
		return (u16)regs->cs;
	if (reg == PERF_REG_X86_SS)
		return (u16)regs->ss;
	return *(const unsigned long *)((const char *)regs + reg_offset[reg]);
}

unsigned int pmuctl_regs_fill(u64 *values, u64 mask, const struct pt_regs *regs)
{
	u64 *next = values;

	for (mask &= PMUCTL_REGS_SUPPORTED; mask; mask &= mask - 1)
		*next++ = reg_value(regs, __ffs64(mask));
	return next - values;
}

u64 pmuctl_regs_abi(void)
{
	return user_64bit_mode(task_pt_regs(current)) ?
		PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_32;
}

/* That of the CPU, on which an entry begins, and which is left for the task's at once */
static bool is_entry_stack(unsigned long sp)
{
	unsigned long begin = (unsigned long)cpu_entry_stack(smp_processor_id());

	return sp > begin && sp <= begin + sizeof(struct entry_stack);
}

struct pt_regs *pmuctl_regs_user(struct pt_regs *regs)
{
	struct pt_regs *saved;

	if (user_mode(regs))
		return regs;
	if (!current->mm || current->flags & (PF_KTHREAD | PF_USER_WORKER))
		return NULL;
	/* Of this entry nothing has been saved yet. */
	if (!pmuctl_regs_have_stack(regs) || is_entry_stack(regs->sp))
		return NULL;
	saved = task_pt_regs(current);
	/* The stack pointer is among them: what is there is old. */
	if (regs->sp > (unsigned long)saved &&
	    regs->sp <= (unsigned long)(saved + 1))
		return NULL;
	return user_mode(saved) ? saved : NULL;
}

u32 pmuctl_stack_user_size(const struct pt_regs *regs, u32 wanted)
{
	if (!regs || !regs->sp || regs->sp >= TASK_SIZE)
		return 0;
	return round_down(min_t(u64, wanted, TASK_SIZE - regs->sp), 8);
}

u32 pmuctl_stack_user_copy(void *to, const struct pt_regs *regs, u32 offset,
			   u32 size)
{
	const void __user *from = (const void __user *)regs->sp + offset;

	return size - copy_from_user_nmi(to, from, size);
}
