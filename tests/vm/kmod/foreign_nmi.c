// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests only: sends NMIs that nobody owns, and counts what NMIs each CPU gets.
 *
 *	parameters/send		written a CPU's number: it gets an NMI; returns when that
 *				has arrived
 *	parameters/send_pmi	as send, but the CPU's LVTPC is masked before, as Intel's
 *				processors do when they deliver a counter's interrupt
 *	parameters/counts	a line for each CPU: its number, all NMIs, those with a
 *				counter overflown, those without, those nobody wanted
 *
 * Nothing of an NMI tells who sent it, so one of these may be taken for a counter's if both
 * are there at once: the processor makes one NMI of them.
 *
 * What nobody wanted is taken here, at last, before the kernel complains about it. The
 * counts are written by NMIs of their CPU only, which do not nest.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/percpu.h>

#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/msr.h>
#include <asm/perf_event.h>
#include <asm/nmi.h>
#if __has_include("asm/cpuid/api.h")
#include <asm/cpuid/api.h>
#endif

/* The names since 6.16 */
#ifndef rdmsrq
#define rdmsrq		rdmsrl
#define rdmsrq_safe	rdmsrl_safe
#endif

#define NAME		"foreign_nmi"
/* An NMI that has not come in this time will not come. */
#define PATIENCE	(60 * HZ)
/* Bits of IA32_PERF_GLOBAL_STATUS that are counters, SDM Vol. 4 */
#define COUNTERS	0x0000ffffffffffffULL

/*
 * Without such a register each counter is looked at: one that samples is set to the upper half
 * of its range, at whose end it overflows, so it has overflowed if it is enabled and in
 * the lower half. APM Vol. 2, "Performance Monitoring Counters"; SDM Vol. 3B,
 * "Architectural Performance Monitoring Version 1 Facilities".
 */
static u32 evtsel0, counter0, stride;
static unsigned int nr_counters;
static u64 half_range;

struct counts {
	unsigned long all;
	unsigned long overflown;
	unsigned long alone;
	unsigned long unknown;
};

static DEFINE_PER_CPU(struct counts, counts);

static bool any_overflown(void)
{
	unsigned int i;
	u64 value;

	if (!nr_counters) {
		rdmsrq(MSR_CORE_PERF_GLOBAL_STATUS, value);
		return value & COUNTERS;
	}
	for (i = 0; i < nr_counters; i++) {
		rdmsrq(evtsel0 + i * stride, value);
		if (!(value & ARCH_PERFMON_EVENTSEL_ENABLE))
			continue;
		rdmsrq(counter0 + i * stride, value);
		if (!(value & half_range))
			return true;
	}
	return false;
}

static int see_nmi(unsigned int type, struct pt_regs *regs)
{
	struct counts *c = this_cpu_ptr(&counts);

	if (any_overflown())
		WRITE_ONCE(c->overflown, c->overflown + 1);
	else
		WRITE_ONCE(c->alone, c->alone + 1);
	WRITE_ONCE(c->all, c->all + 1);
	return NMI_DONE;
}

static int take_unknown(unsigned int type, struct pt_regs *regs)
{
	struct counts *c = this_cpu_ptr(&counts);

	WRITE_ONCE(c->unknown, c->unknown + 1);
	return NMI_HANDLED;
}

/*
 * It has come when one was unknown, which is the end of it. Or it became one with a counter's:
 * with one that had not been seen when it was sent, or with the next.
 */
static bool has_come(const struct counts *c, const struct counts *before)
{
	return READ_ONCE(c->unknown) != before->unknown ||
		READ_ONCE(c->overflown) - before->overflown > 3;
}

static int send_set(const char *text, const struct kernel_param *kp)
{
	unsigned long end = jiffies + PATIENCE;
	const struct counts *c;
	struct counts before = { 0 };
	unsigned int cpu;
	int err;

	err = kstrtouint(text, 0, &cpu);
	if (err)
		return err;
	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -ENODEV;
	c = per_cpu_ptr(&counts, cpu);
	before.unknown = READ_ONCE(c->unknown);
	before.overflown = READ_ONCE(c->overflown);
	apic->send_IPI(cpu, NMI_VECTOR);
	while (!has_come(c, &before)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		cond_resched();
	}
	return 0;
}

static const struct kernel_param_ops send_ops = { .set = send_set };
module_param_cb(send, &send_ops, NULL, 0200);

/* On the CPU, IRQs off: the NMI comes at once. */
static void deliver_pmi(void *unused)
{
	apic->write(APIC_LVTPC, apic->read(APIC_LVTPC) | APIC_LVT_MASKED);
	apic->send_IPI(smp_processor_id(), NMI_VECTOR);
}

static int send_pmi_set(const char *text, const struct kernel_param *kp)
{
	unsigned long end = jiffies + PATIENCE;
	unsigned long before;
	unsigned int cpu;
	int err;

	err = kstrtouint(text, 0, &cpu);
	if (err)
		return err;
	if (cpu >= nr_cpu_ids)
		return -ENODEV;
	before = READ_ONCE(per_cpu_ptr(&counts, cpu)->all);
	err = smp_call_function_single(cpu, deliver_pmi, NULL, 1);
	while (!err && READ_ONCE(per_cpu_ptr(&counts, cpu)->all) == before) {
		if (time_after(jiffies, end))
			err = -ETIMEDOUT;
		cond_resched();
	}
	return err;
}

static const struct kernel_param_ops send_pmi_ops = { .set = send_pmi_set };
module_param_cb(send_pmi, &send_pmi_ops, NULL, 0200);

static int counts_get(char *buffer, const struct kernel_param *kp)
{
	const struct counts *c;
	int cpu, n = 0;

	for_each_online_cpu(cpu) {
		c = per_cpu_ptr(&counts, cpu);
		n += scnprintf(buffer + n, PAGE_SIZE - n, "%d %lu %lu %lu %lu\n", cpu,
			       READ_ONCE(c->all), READ_ONCE(c->overflown),
			       READ_ONCE(c->alone), READ_ONCE(c->unknown));
	}
	return n;
}

static const struct kernel_param_ops counts_ops = { .get = counts_get };
module_param_cb(counts, &counts_ops, NULL, 0400);

static void __init find_counters(void)
{
	unsigned int eax;

	if (boot_cpu_data.x86_vendor == X86_VENDOR_AMD) {
		evtsel0 = MSR_K7_EVNTSEL0;
		counter0 = MSR_K7_PERFCTR0;
		stride = 1;
		nr_counters = 4;
		half_range = BIT_ULL(47);
		if (boot_cpu_has(X86_FEATURE_PERFCTR_CORE)) {
			evtsel0 = MSR_F15H_PERF_CTL;
			counter0 = MSR_F15H_PERF_CTR;
			stride = 2;
			nr_counters = 6;
		}
		return;
	}
	eax = boot_cpu_data.cpuid_level >= 0xa ? cpuid_eax(0xa) : 0;
	if ((eax & 0xff) != 1)
		return;
	evtsel0 = MSR_ARCH_PERFMON_EVENTSEL0;
	counter0 = MSR_ARCH_PERFMON_PERFCTR0;
	stride = 1;
	nr_counters = eax >> 8 & 0xff;
	half_range = BIT_ULL((eax >> 16 & 0xff) - 1);
}

/* First of all, as the product does, which is loaded by then: so before it */
static int __init foreign_nmi_init(void)
{
	u64 status;
	int err;

	find_counters();
	if (!nr_counters && rdmsrq_safe(MSR_CORE_PERF_GLOBAL_STATUS, &status))
		return -ENODEV;
	err = register_nmi_handler(NMI_LOCAL, see_nmi, NMI_FLAG_FIRST, NAME);
	if (err)
		return err;
	err = register_nmi_handler(NMI_UNKNOWN, take_unknown, 0, NAME);
	if (err)
		unregister_nmi_handler(NMI_LOCAL, NAME);
	return err;
}

static void __exit foreign_nmi_exit(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, NAME);
	unregister_nmi_handler(NMI_LOCAL, NAME);
}

module_init(foreign_nmi_init);
module_exit(foreign_nmi_exit);

MODULE_DESCRIPTION("NMIs that nobody owns, for tests of pmuctl");
MODULE_LICENSE("GPL");
