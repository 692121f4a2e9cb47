/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CR4.PCE, by which user space may read counters. The kernel keeps what it has written to CR4, and
 * has a function that changes both; newer kernels have it for KVM alone. There it is the kernel
 * itself that writes the bit, at the next switch to a process, and for the CPUs where a process is
 * loaded such a switch is brought about.
 */
#ifndef PMUCTL_COMPAT_PCE_H
#define PMUCTL_COMPAT_PCE_H

#include <linux/mm_types.h>
#include <linux/smp.h>

#include <asm/mmu_context.h>
#include <asm/processor-flags.h>
#include <asm/tlbflush.h>

#include "compat/probed.h"

#ifdef COMPAT_EXPORTS_CR4_UPDATE_IRQSOFF
/* May go with 6.12. Context: IRQs off */
static inline void compat_pce_write(bool allow)
{
	if (allow)
		cr4_set_bits_irqsoff(X86_CR4_PCE);
	else
		cr4_clear_bits_irqsoff(X86_CR4_PCE);
}

static inline void compat_pce_apply(struct mm_struct *mm, smp_call_func_t here)
{
	on_each_cpu_mask(mm_cpumask(mm), here, mm, 1);
}

static inline void compat_pce_apply_all(smp_call_func_t here)
{
	on_each_cpu(here, NULL, 1);
}
#else
static inline void compat_pce_write(bool allow)
{
}

/*
 * compat_pce_apply() - have every CPU where @mm is loaded look at its perf_rdpmc_allowed, which has
 * been changed
 * @here: to be called there with @mm where it is for us to write the bit.
 *
 * When this is back every program of @mm that runs has the bit as it should be.
 *
 * Context: Process, may sleep until a worker has run on each of these CPUs.
 */
void compat_pce_apply(struct mm_struct *mm, smp_call_func_t here);

/* The same on every CPU, whatever process is loaded. Context: likewise; cpus_read_lock held. */
void compat_pce_apply_all(smp_call_func_t here);
#endif

#endif /* PMUCTL_COMPAT_PCE_H */
