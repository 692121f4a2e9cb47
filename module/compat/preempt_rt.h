/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A PREEMPT_RT kernel is refused when the module is built. There spinlocks sleep, memory is
 * not allocated with preemption off, and irq_work runs in a thread unless it says
 * otherwise; the module relies on the contrary of each.
 */
#ifndef PMUCTL_COMPAT_PREEMPT_RT_H
#define PMUCTL_COMPAT_PREEMPT_RT_H

#ifdef CONFIG_PREEMPT_RT
#error "pmuctl does not work on a PREEMPT_RT kernel: spinlocks and irq_work sleep there"
#endif

#endif /* PMUCTL_COMPAT_PREEMPT_RT_H */
