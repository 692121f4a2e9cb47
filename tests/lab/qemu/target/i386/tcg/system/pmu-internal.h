/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  x86 performance monitoring unit for TCG: what its files share
 *
 *  Sizes and register layouts that more than one of pmu_helper.c, pmu_msr.c
 *  and pmu_model.c needs, and how the others reach the counting.
 */
#ifndef I386_TCG_SYSTEM_PMU_INTERNAL_H
#define I386_TCG_SYSTEM_PMU_INTERNAL_H

/* Both PMUs have counters of this many bits. */
#define PMU_WIDTH               48
#define PMU_CTR_MASK            MAKE_64BIT_MASK(0, PMU_WIDTH)

/* Intel, reported by CPUID.0AH */
#define INTEL_NUM_GP            4
#define INTEL_NUM_FIXED         3
#define INTEL_NUM_GP_V5         8
#define INTEL_NUM_FIXED_V5      4

/* x-tcg-pmu-hybrid, see pmu_model.c; efficiency cores */
#define PMU_HYBRID_COMMON       1
#define PMU_HYBRID_OWN          2
#define PMU_HYBRID_SILENT       3
#define EFFICIENT_NUM_GP        6
/* SDM Vol. 2 "CPUID", leaf 07H, sub-leaves 0 and 1 */
#define CPUID_7_0_EDX_HYBRID            (1u << 15)
#define CPUID_7_1_EAX_ARCH_PERFMON_EXT  (1u << 8)
/* SDM Vol. 4, IA32_PERF_CAPABILITIES: PERF_METRICS_AVAILABLE */
#define PERF_CAP_METRICS        (1ULL << 15)

/* Of those that are announced, the ones there with x-tcg-pmu-partial=on */
#define PARTIAL_NUM             2

/* APM Vol. 3, leaf 8000_0022H, EAX: LbrAndPmcFreeze */
#define CPUID_8000_0022_EAX_PMC_FREEZE  (1u << 2)

/* AMD, architectural; no CPUID field except with PerfMonV2 */
#define AMD_NUM_GP_LEGACY       4
#define AMD_NUM_GP_CORE         6

/*
 * IA32_PERFEVTSELx, SDM "Architectural Performance Monitoring Version 1
 * Facilities"; PERF_CTLx of AMD has these at the same places, APM "Core
 * Performance Event-Select Registers".
 */
#define EVTSEL_EVENT            0xf0000ffffULL  /* EventSelect and UnitMask */
#define EVTSEL_USR              (1u << 16)
#define EVTSEL_OS               (1u << 17)
#define EVTSEL_INT              (1u << 20)
#define EVTSEL_EN               (1u << 22)
#define EVTSEL_INV              (1u << 23)
#define EVTSEL_CMASK_SHIFT      24
#define INTEL_EVTSEL_RESERVED   0xffffffff00000000ULL
/* Of version 3; reserved before, and where CPUID.0AH:EDX[15] says so */
#define INTEL_EVTSEL_ANY        0x200000ULL
/* EventSelect[11:8] is in bits 35:32, HostOnly and GuestOnly in 41:40 */
#define AMD_EVTSEL_WRITABLE     0x0000030fffffffffULL

/*
 * IA32_FIXED_CTR_CTRL, SDM "Architectural Performance Monitoring Version 2":
 * per counter, two enable bits, AnyThread (as in the event select), PMI
 */
#define FIXED_CTRL_WRITABLE     0xb
#define FIXED_CTRL_ANY          4
#define FIXED_CTRL_OS           1
#define FIXED_CTRL_USR          2
#define FIXED_CTRL_PMI          8

/* IA32_PERF_GLOBAL_{CTRL,STATUS}, same place */
#define GLOBAL_FIXED_SHIFT      32
/* SDM "PERF_METRICS MSR": enable and overflow bit; nothing is measured */
#define GLOBAL_METRICS          (1ULL << 48)
/* SDM "ToPA PMI"; of CPUs with Intel PT */
#define GLOBAL_STATUS_TOPAPMI   (1ULL << 55)
#define GLOBAL_STATUS_OVFBUF    (1ULL << 62)
#define GLOBAL_STATUS_CONDCHGD  (1ULL << 63)
/* SDM "Architectural Performance Monitoring Version 4" */
#define GLOBAL_STATUS_LBR_FRZ   (1ULL << 58)
#define GLOBAL_STATUS_CTR_FRZ   (1ULL << 59)
/* What other units have there, and CondChgd: SDM Vol. 4, IA32_PERF_GLOBAL_STATUS */
#define GLOBAL_STATUS_OTHERS    MAKE_64BIT_MASK(58, 6)
#define GLOBAL_INUSE_PMI        (1ULL << 63)

/* SDM "IA32_DEBUGCTL MSR" */
#define DEBUGCTL_LBR                    (1u << 0)
#define DEBUGCTL_FREEZE_LBRS_ON_PMI     (1u << 11)
#define DEBUGCTL_FREEZE_PERFMON_ON_PMI  (1u << 12)

/* An event that the guest can program, as a function of a base event */
typedef struct PMUEvent {
    uint16_t event;     /* EventSelect */
    uint8_t umask;
    uint8_t base;       /* X86_PMU_* */
    uint8_t shift;      /* one event every (1 << shift) base events */
    uint8_t counters;   /* on these only, one bit each; 0: on all */
} PMUEvent;

/*
 * Registers that select what some events count, pmu_extra.c: which this model has, what
 * an event (EventSelect, and UnitMask from bit 8 on) counts by its register, or NULL; and
 * the place of register MSR, or NULL.
 */
void pmu_extra_reset(X86CPU *cpu, bool efficient);
const PMUEvent *pmu_extra_event(X86PMUState *pmu, unsigned event);
uint64_t *pmu_extra_msr(CPUX86State *env, uint32_t msr, uint64_t *reserved);
void pmu_extra_written(CPUX86State *env, const uint64_t *reg);

/*
 * Counting, pmu_helper.c.  An access to a register syncs, to see or change
 * the present values, and after a change rearms.
 */
void pmu_sync(CPUX86State *env);
void pmu_rearm(CPUX86State *env);
void pmu_sync_before_insn(CPUX86State *env);
void pmu_signal_at_once(CPUX86State *env, int n);

/* The value of fixed counter N */
static inline uint64_t *pmu_fixed_counter(CPUX86State *env, unsigned n)
{
    return n < MAX_FIXED_COUNTERS ? &env->msr_fixed_counters[n]
                                  : &env->pmu.fixed_ctr3;
}

#endif
