// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/lbr_config.c module/explain/explain.c */
/*
 * Whether there are last branch records, as the module finds when it is loaded: also while somebody
 * traces with Processor Trace, when a processor refuses each access to their registers. The file of
 * the module itself runs, on a processor of a few lines.
 */
#include <criterion/criterion.h>

#include "compat/pure.h"
#include "pmu/lbr_config.h"

/* ---- What the file needs of the kernel ---- */

#define PMUCTL_PMU_PRIVATE_H
#define PMUCTL_PMU_HWPMU_H
#define BIT(n)				(1UL << (n))
#define __init
#define __ro_after_init
#define barrier()			asm volatile("" ::: "memory")
#define DEFINE_PER_CPU_ALIGNED(type, name) type name
#define this_cpu_ptr(p)			(p)
#define this_cpu_read(v)		(v)
#define this_cpu_write(v, value)	((v) = (value))
#define per_cpu(v, cpu)			(*((void)(cpu), &(v)))
#define for_each_cpu(cpu, mask)		for ((cpu) = 0; (mask) && (cpu) < 1; (cpu)++)
#define X86_VENDOR_INTEL		0
#define X86_FEATURE_PDCM		0
#define X86_FEATURE_RTM			1
#define X86_FEATURE_INTEL_PT		2
#define boot_cpu_has(feature)		(has[feature])
#define cpuid_edx(leaf)			((void)(leaf), 0)
#define hwpmu_reason()			NULL

/* SDM Vol. 4 */
#define MSR_IA32_DEBUGCTLMSR		0x1d9
#define MSR_IA32_PERF_CAPABILITIES	0x345
#define MSR_IA32_RTIT_CTL		0x570
#define MSR_LBR_SELECT			0x1c8
#define MSR_LBR_TOS			0x1c9
#define MSR_LBR_NHM_FROM		0x680
#define MSR_LBR_NHM_TO			0x6c0
#define MSR_LBR_INFO_0			0xdc0

struct hwpmu_counter {
	u64 lbr;
	u16 lbr_select;
};

static struct {
	bool lbr_stale;
} hwpmu_cpu;

static struct {
	int x86_vendor, cpuid_level;
} boot_cpu_data = { .cpuid_level = 1 };

static bool has[3];
static bool traces;		/* TraceEn */
static bool lacks_registers;	/* as some virtual machines do */

static int read_register(u32 number, u64 *value)
{
	*value = 0;
	switch (number) {
	case MSR_IA32_DEBUGCTLMSR:
		return 0;
	case MSR_IA32_PERF_CAPABILITIES:
		*value = 5;	/* with LBR_INFO */
		return 0;
	case MSR_IA32_RTIT_CTL:
		*value = traces;
		return has[X86_FEATURE_INTEL_PT] ? 0 : -EIO;
	default:
		return traces || lacks_registers ? -EIO : 0;
	}
}

#define rdmsrq_safe(number, value)	read_register(number, value)
#define rdmsrq(number, value)		((void)read_register(number, &(value)))
#define wrmsrq(number, value)		((void)(number), (void)(value))

#pragma GCC diagnostic ignored "-Wunused-parameter"	/* the kernel has no such warning */
#include "pmu/lbr.c"

static const char *reason_of(bool pt, bool on, bool lacking)
{
	has[X86_FEATURE_PDCM] = true;
	has[X86_FEATURE_INTEL_PT] = pt;
	traces = on;
	lacks_registers = lacking;
	lbr_init();
	return lbr_reason();
}

Test(lbr_found, as_the_registers_say)
{
	for (int pt = 0; pt < 2; pt++) {
		cr_expect_null(reason_of(pt, false, false));
		cr_expect_str_eq(reason_of(pt, false, true), PMUCTL_NO_LBR_MSR);
	}
}

/* Then IA32_PERF_CAPABILITIES is what there is to go by. */
Test(lbr_found, while_somebody_traces)
{
	cr_expect_null(reason_of(true, true, false));
}
