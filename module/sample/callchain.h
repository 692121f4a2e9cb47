/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a sample tells of the stack and the registers of the task that was interrupted:
 * its chain of callers, the registers it had in user space, and a piece of its stack
 * there. Everything is about the current task and works in an NMI. Which of it a sample
 * has, and where it goes, is decided elsewhere.
 */
#ifndef PMUCTL_CALLCHAIN_H
#define PMUCTL_CALLCHAIN_H

#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/types.h>

#include "core/attr.h"

/**
 * pmuctl_callchain() - the addresses of the interrupted function and its callers
 * @ips: is filled: PERF_CONTEXT_KERNEL and the kernel's addresses, PERF_CONTEXT_USER and
 *	those of user space, each part with the innermost function first.
 * @room: how many values fit there.
 * @max_stack: how many addresses are wanted at most; markers are not counted.
 * @regs: where the task was interrupted.
 * @kernel: fill the kernel's part, which there is if the kernel was interrupted.
 * @user: fill the part of user space, which kernel threads and ending tasks lack.
 *
 * The user's frames are followed by frame pointers: a frame that cannot be read, is not
 * aligned, or was seen before ends the chain. Its first address is always there.
 *
 * Context: Any, NMI-safe. The current task may not be exchanged meanwhile.
 * Return: how many values were written.
 */
unsigned int pmuctl_callchain(u64 *ips, unsigned int room,
			      unsigned int max_stack, struct pt_regs *regs,
			      bool kernel, bool user);

/*
 * Is the stack the kernel's? For some instructions SYSCALL leaves the user's stack pointer to
 * it, and with page table isolation the address of page tables comes after that.
 */
static inline bool pmuctl_regs_have_stack(const struct pt_regs *regs)
{
	return regs->sp >= -BIT(56);
}

/* Those of the calling function, as far as they say where it is; the others are 0. Any context. */
static __always_inline void pmuctl_regs_here(struct pt_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	perf_fetch_caller_regs(regs); /* sets four of them */
}

/**
 * pmuctl_regs_fill() - pick registers
 * @values: is filled, in the order of the bits; it has room for as many as there are.
 * @mask: which ones, of PMUCTL_REGS_SUPPORTED.
 * @regs: where they are.
 *
 * Context: Any, NMI-safe.
 * Return: how many values were written.
 */
unsigned int pmuctl_regs_fill(u64 *values, u64 mask, const struct pt_regs *regs);

/**
 * pmuctl_regs_abi() - how wide the registers of the current task are
 *
 * Context: Any, NMI-safe.
 * Return: PERF_SAMPLE_REGS_ABI_64 or PERF_SAMPLE_REGS_ABI_32.
 */
u64 pmuctl_regs_abi(void);

/**
 * pmuctl_regs_user() - the registers of user space
 * @regs: where the current task was interrupted, there or in the kernel.
 *
 * Context: Any, NMI-safe.
 * Return: those with which the task goes on in user space, valid until it does; NULL if
 * it never will, or if the kernel was just saving them: the ABI is
 * PERF_SAMPLE_REGS_ABI_NONE then.
 */
struct pt_regs *pmuctl_regs_user(struct pt_regs *regs);

/**
 * pmuctl_stack_user_size() - how much there may be of a stack
 * @regs: of user space; NULL if there are none.
 * @wanted: how many bytes the sample is to have; a multiple of 8.
 *
 * Context: Any, NMI-safe.
 * Return: bytes, a multiple of 8: no more than there can be above the stack pointer.
 */
u32 pmuctl_stack_user_size(const struct pt_regs *regs, u32 wanted);

/**
 * pmuctl_stack_user_copy() - copy a piece of a stack
 * @to: is filled.
 * @regs: of user space.
 * @offset: from its stack pointer, in bytes.
 * @size: how many bytes; with the offset no more than pmuctl_stack_user_size().
 *
 * Nothing is brought into memory for it: the copy ends where a page is missing.
 *
 * Context: Any, NMI-safe.
 * Return: how many bytes were copied; nothing beyond them can be.
 */
u32 pmuctl_stack_user_copy(void *to, const struct pt_regs *regs, u32 offset,
			   u32 size);

#endif /* PMUCTL_CALLCHAIN_H */
