/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  x86 performance monitoring unit for TCG: the registers
 *
 *  What RDMSR, WRMSR and RDPMC do to the PMU: which register is which counter,
 *  which bits may be written.  The counting itself is in pmu_helper.c.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "pmu-internal.h"

/* SDM Vol. 4; those that cpu.h does not have */
#define MSR_IA32_DEBUGCTL               0x1d9
#define MSR_IA32_PERF_GLOBAL_STATUS_SET 0x391
#define MSR_IA32_PERF_GLOBAL_INUSE      0x392
#define MSR_IA32_A_PMC0                 0x4c1

/*
 * Of x-tcg-pmu-breakable=on only, and of no processor: what of this CPU's PMU is to be
 * broken from now on.  The SDM reserves the range for such use, Vol. 4
 * "Architectural MSRs".
 *
 * LOSE_ACKS is how many acknowledgements of overflows are to be lost.  A lost one
 * leaves the counters' bits of IA32_PERF_GLOBAL_STATUS as they are: to a handler that
 * looks until there are none, the counters seem to overflow without end.
 *
 * SET_STATUS sets bits of the status, whatever they mean, as other units and microcode do;
 * all of them can be acknowledged then.  With TOO_NEAR a counter that is written nearer than
 * that to its overflow signals one at once, as well as later.
 *
 * The others are what hypervisors do to their guests.  SILENT_EVENT is an EventSelect
 * with its UnitMask, in their places, that counts nothing on the general counters;
 * SILENT_COUNTERS, one bit each as in IA32_PERF_GLOBAL_CTRL, are counters that count
 * nothing at all.  No access fails: their values are 0.  DEAF_EVTSELS are general
 * counters, one bit each, whose event selects ignore what is written to them.
 */
#define MSR_PMU_LOSE_ACKS               0x400000f0
#define MSR_PMU_SILENT_EVENT            0x400000f1
#define MSR_PMU_SILENT_COUNTERS         0x400000f2
#define MSR_PMU_DEAF_EVTSELS            0x400000f3
#define MSR_PMU_SET_STATUS              0x400000f4
#define MSR_PMU_TOO_NEAR                0x400000f5

/* APM Vol. 2 "Core Performance Event-Select/Counter Registers" */
#define MSR_AMD_LEGACY_PERF_CTL0        0xc0010000
#define MSR_AMD_LEGACY_PERF_CTR0        0xc0010004
#define MSR_AMD_CORE_PERF_CTL0          0xc0010200 /* CTR0 is next, and so on */
/* PPR for family 19h model 11h, "Performance Monitor Counters": PerfMonV2 */
#define MSR_AMD_GLOBAL_STATUS           0xc0000300
#define MSR_AMD_GLOBAL_CTL              0xc0000301
#define MSR_AMD_GLOBAL_STATUS_CLR       0xc0000302

/* The counter that MSR is, if any. */
static uint64_t *pmu_msr_counter(CPUX86State *env, uint32_t msr)
{
    X86PMUState *pmu = &env->pmu;

    if (pmu->is_amd) {
        if (msr - MSR_AMD_LEGACY_PERF_CTR0 <
            MIN(pmu->num_gp, AMD_NUM_GP_LEGACY)) {
            return &env->msr_gp_counters[msr - MSR_AMD_LEGACY_PERF_CTR0];
        }
        if (pmu->is_core && (msr & 1) &&
            msr - MSR_AMD_CORE_PERF_CTL0 < 2 * pmu->num_gp) {
            return &env->msr_gp_counters[(msr - MSR_AMD_CORE_PERF_CTL0) / 2];
        }
        return NULL;
    }
    if (msr - MSR_P6_PERFCTR0 < pmu->num_gp) {
        return &env->msr_gp_counters[msr - MSR_P6_PERFCTR0];
    }
    if (msr - MSR_IA32_A_PMC0 < pmu->num_gp &&
        (env->features[FEAT_PERF_CAPABILITIES] & PERF_CAP_FULL_WRITE)) {
        return &env->msr_gp_counters[msr - MSR_IA32_A_PMC0];
    }
    if (msr - MSR_CORE_PERF_FIXED_CTR0 < pmu->num_fixed) {
        return pmu_fixed_counter(env, msr - MSR_CORE_PERF_FIXED_CTR0);
    }
    return NULL;
}

/* The event select register that MSR is, if any. */
static uint64_t *pmu_msr_evtsel(CPUX86State *env, uint32_t msr)
{
    X86PMUState *pmu = &env->pmu;

    if (pmu->is_amd) {
        if (msr - MSR_AMD_LEGACY_PERF_CTL0 <
            MIN(pmu->num_gp, AMD_NUM_GP_LEGACY)) {
            return &env->msr_gp_evtsel[msr - MSR_AMD_LEGACY_PERF_CTL0];
        }
        if (pmu->is_core && !(msr & 1) &&
            msr - MSR_AMD_CORE_PERF_CTL0 < 2 * pmu->num_gp) {
            return &env->msr_gp_evtsel[(msr - MSR_AMD_CORE_PERF_CTL0) / 2];
        }
        return NULL;
    }
    if (msr - MSR_P6_EVNTSEL0 < pmu->num_gp) {
        return &env->msr_gp_evtsel[msr - MSR_P6_EVNTSEL0];
    }
    return NULL;
}

/* SDM "IA32_PERF_GLOBAL_INUSE MSR" */
static uint64_t pmu_global_inuse(CPUX86State *env)
{
    uint64_t val = 0;
    int i;

    for (i = 0; i < env->pmu.num_gp; i++) {
        if (env->msr_gp_evtsel[i] & 0xff) {
            val |= 1ULL << i;
        }
        if (env->msr_gp_evtsel[i] & EVTSEL_INT) {
            val |= GLOBAL_INUSE_PMI;
        }
    }
    for (i = 0; i < env->pmu.num_fixed; i++) {
        unsigned ctrl = env->msr_fixed_ctr_ctrl >> (4 * i);

        if (ctrl & (FIXED_CTRL_OS | FIXED_CTRL_USR)) {
            val |= 1ULL << (GLOBAL_FIXED_SHIFT + i);
        }
        if (ctrl & FIXED_CTRL_PMI) {
            val |= GLOBAL_INUSE_PMI;
        }
    }
    return val;
}

/* What MSR breaks, if the guest can do that; see the top. */
static uint64_t *pmu_msr_broken(CPUX86State *env, uint32_t msr)
{
    X86PMUState *pmu = &env->pmu;

    if (!env_archcpu(env)->tcg_pmu_breakable || !pmu->has_global) {
        return NULL;
    }
    switch (msr) {
    case MSR_PMU_LOSE_ACKS:
        return &pmu->lost_acks;
    case MSR_PMU_SILENT_EVENT:
        return &pmu->silent_event;
    case MSR_PMU_SILENT_COUNTERS:
        return &pmu->silent_counters;
    case MSR_PMU_DEAF_EVTSELS:
        return &pmu->deaf_evtsels;
    case MSR_PMU_TOO_NEAR:
        return &pmu->too_near;
    default:
        return NULL;
    }
}

static bool pmu_is_deaf(CPUX86State *env, const uint64_t *reg)
{
    size_t n = reg - env->msr_gp_evtsel;

    return reg >= env->msr_gp_evtsel && n < env->pmu.num_gp &&
           ((env->pmu.deaf_evtsels >> n) & 1);
}

/*
 * What a write of VAL to the counter or event select register MSR stores:
 * false if MSR is neither.  RESERVED gets the bits that must be zero.
 */
static bool pmu_prepare_gp(CPUX86State *env, uint32_t msr, uint64_t *val,
                           uint64_t **reg, uint64_t *reserved)
{
    X86PMUState *pmu = &env->pmu;

    *reg = pmu_msr_counter(env, msr);
    if (*reg) {
        if (pmu->is_amd) {
            *val &= PMU_CTR_MASK;
        } else if (msr - MSR_P6_PERFCTR0 < pmu->num_gp) {
            /* SDM "Full-Width Writes to Performance Counter Registers" */
            *val = (int64_t)(int32_t)*val & PMU_CTR_MASK;
        }
        *reserved = ~PMU_CTR_MASK;
        return true;
    }

    *reg = pmu_msr_evtsel(env, msr);
    if (*reg) {
        *reserved = 0;
        if (pmu->is_amd) {
            *val &= ~pmu->evtsel_reserved;
        } else {
            *reserved = pmu->evtsel_reserved;
        }
        return true;
    }
    return false;
}

/* The bits of IA32_PERF_GLOBAL_STATUS that software can set and clear. */
static uint64_t pmu_status_bits(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t bits = pmu->ctr_mask;

    if (!pmu->is_amd) {
        bits |= GLOBAL_STATUS_OVFBUF;
    } else if (env->features[FEAT_8000_0022_EAX] & CPUID_8000_0022_EAX_PMC_FREEZE) {
        bits |= GLOBAL_STATUS_CTR_FRZ | GLOBAL_STATUS_LBR_FRZ;
    }
    if (env_archcpu(env)->tcg_pmu_breakable) {
        bits |= GLOBAL_STATUS_OTHERS;
    }
    if (pmu->version >= 4) {
        bits |= GLOBAL_STATUS_CTR_FRZ | GLOBAL_STATUS_LBR_FRZ;
    }
    if (pmu->has_metrics) {
        bits |= GLOBAL_METRICS;
    }
    if (env->features[FEAT_7_0_EBX] & CPUID_7_0_EBX_INTEL_PT) {
        bits |= GLOBAL_STATUS_TOPAPMI;
    }
    return bits;
}

/* The bits of the status that an acknowledgement of BITS does clear */
static uint64_t pmu_acknowledge(CPUX86State *env, uint64_t bits)
{
    X86PMUState *pmu = &env->pmu;

    if (pmu->lost_acks && (env->msr_global_status & bits & pmu->ctr_mask)) {
        pmu->lost_acks--;
        return bits & ~pmu->ctr_mask;
    }
    return bits;
}

/* A write that passed all checks: REG, if any, and the status change. */
static void pmu_commit(CPUX86State *env, uint64_t *reg, uint64_t val,
                       uint64_t status_clear, uint64_t status_set)
{
    /* The WRMSR itself retires under the old configuration */
    pmu_sync(env);
    if (reg) {
        *reg = val;
    }
    env->msr_global_status &= ~pmu_acknowledge(env, status_clear);
    env->msr_global_status |= status_set;
    x86_lbr_update(env);
    pmu_rearm(env);
}

/* REG has been written. Is it a counter that is too near to its overflow? See the top. */
static void pmu_check_distance(CPUX86State *env, const uint64_t *reg)
{
    X86PMUState *pmu = &env->pmu;
    int i;

    if (PMU_CTR_MASK - *reg >= pmu->too_near) {
        return;
    }
    for (i = 0; i < pmu->num_gp; i++) {
        if (reg == &env->msr_gp_counters[i]) {
            pmu_signal_at_once(env, i);
        }
    }
    for (i = 0; i < pmu->num_fixed; i++) {
        if (reg == pmu_fixed_counter(env, i)) {
            pmu_signal_at_once(env, GLOBAL_FIXED_SHIFT + i);
        }
    }
}

/* The registers that only the other type of CPU has raise #GP. */
static bool pmu_is_of_other_type(X86PMUState *pmu, uint32_t msr)
{
    return (msr - MSR_P6_EVNTSEL0 < INTEL_NUM_GP_V5 &&
            msr - MSR_P6_EVNTSEL0 >= pmu->num_gp) ||
           (msr - MSR_P6_PERFCTR0 < INTEL_NUM_GP_V5 &&
            msr - MSR_P6_PERFCTR0 >= pmu->num_gp) ||
           (msr - MSR_IA32_A_PMC0 < INTEL_NUM_GP_V5 &&
            msr - MSR_IA32_A_PMC0 >= pmu->num_gp) ||
           (msr - MSR_CORE_PERF_FIXED_CTR0 < INTEL_NUM_FIXED_V5 &&
            msr - MSR_CORE_PERF_FIXED_CTR0 >= pmu->num_fixed);
}

/*
 * Some hypervisors announce counters in CPUID that they do not have: the event
 * selects of those raise #GP, and their values are ignored like any unknown MSR.
 */
static bool pmu_is_withheld(CPUX86State *env, uint32_t msr)
{
    X86PMUState *pmu = &env->pmu;

    if (env_archcpu(env)->tcg_pmu_hybrid) {
        return pmu_is_of_other_type(pmu, msr);
    }
    if (!env_archcpu(env)->tcg_pmu_partial) {
        return false;
    }
    if (pmu->is_amd) {
        return pmu->is_core && !(msr & 1) &&
               msr - MSR_AMD_CORE_PERF_CTL0 < 2 * AMD_NUM_GP_CORE &&
               msr - MSR_AMD_CORE_PERF_CTL0 >= 2 * pmu->num_gp;
    }
    return msr - MSR_P6_EVNTSEL0 < INTEL_NUM_GP &&
           msr - MSR_P6_EVNTSEL0 >= pmu->num_gp;
}

/* The global registers of PerfMonV2; bits that do not exist are ignored. */
static bool pmu_wrmsr_amd(CPUX86State *env, uint32_t msr, uint64_t val, bool *gp)
{
    X86PMUState *pmu = &env->pmu;

    switch (msr) {
    case MSR_AMD_GLOBAL_CTL:
        pmu_commit(env, &env->msr_global_ctrl, val & pmu->ctr_mask, 0, 0);
        return true;
    case MSR_AMD_GLOBAL_STATUS_CLR:
        pmu_commit(env, NULL, 0, val & pmu_status_bits(env), 0);
        return true;
    case MSR_IA32_DEBUGCTL:
        pmu->debugctl = val;
        return true;
    case MSR_AMD_GLOBAL_STATUS:
        *gp = true;
        return true;
    default:
        return false;
    }
}

/* What Intel's PMU has from version 2 on, besides the counters */
static bool pmu_wrmsr_intel(CPUX86State *env, uint32_t msr, uint64_t val, bool *gp)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t *reg = NULL, reserved;
    uint64_t status_clear = 0, status_set = 0;

    switch (msr) {
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        reg = &env->msr_fixed_ctr_ctrl;
        reserved = ~pmu->fixed_ctrl_writable;
        break;
    case MSR_CORE_PERF_GLOBAL_CTRL:
        reg = &env->msr_global_ctrl;
        reserved = ~(pmu->ctr_mask | (pmu->has_metrics ? GLOBAL_METRICS : 0));
        break;
    case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
        /* also known as IA32_PERF_GLOBAL_STATUS_RESET in version 4 */
        reserved = ~(pmu_status_bits(env) | GLOBAL_STATUS_CONDCHGD);
        status_clear = val;
        break;
    case MSR_IA32_PERF_GLOBAL_STATUS_SET:
        if (pmu->version < 4) {
            return false;
        }
        reserved = ~pmu_status_bits(env);
        status_set = val;
        break;
    case MSR_IA32_DEBUGCTL:
        pmu->debugctl = val;
        x86_bts_debugctl(env, val);
        x86_lbr_update(env);
        return true;
    case MSR_IA32_PERF_GLOBAL_INUSE:
        if (pmu->version < 4) {
            return false;
        }
        /* fall through */
    case MSR_CORE_PERF_GLOBAL_STATUS:
    case MSR_IA32_PERF_CAPABILITIES:
        *gp = true;
        return true;
    default:
        return false;
    }

    if (val & reserved) {
        *gp = true;
    } else {
        pmu_commit(env, reg, val, status_clear, status_set);
    }
    return true;
}

bool x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val, bool *gp)
{
    uint64_t *reg, reserved;

    if (pmu_is_withheld(env, msr)) {
        *gp = true;
        return true;
    }
    if (pmu_prepare_gp(env, msr, &val, &reg, &reserved)) {
        if (val & reserved) {
            *gp = true;
        } else if (!pmu_is_deaf(env, reg)) {
            pmu_commit(env, reg, val, 0, 0);
            pmu_check_distance(env, reg);
        }
        return true;
    }
    reg = pmu_extra_msr(env, msr, &reserved);
    if (reg) {
        if (val & reserved) {
            *gp = true;
        } else {
            pmu_commit(env, reg, val, 0, 0);
            pmu_extra_written(env, reg);
        }
        return true;
    }
    if (!env->pmu.has_global) {
        return false;
    }
    reg = pmu_msr_broken(env, msr);
    if (reg) {
        pmu_commit(env, reg, val, 0, 0);
        return true;
    }
    if (msr == MSR_PMU_SET_STATUS && env_archcpu(env)->tcg_pmu_breakable) {
        pmu_commit(env, NULL, 0, 0, val);
        return true;
    }
    return env->pmu.is_amd ? pmu_wrmsr_amd(env, msr, val, gp)
                           : pmu_wrmsr_intel(env, msr, val, gp);
}

/* Those whose value is what was written */
static uint64_t *pmu_msr_as_it_is(CPUX86State *env, uint32_t msr)
{
    uint64_t reserved, *reg = pmu_msr_evtsel(env, msr);

    if (!reg) {
        reg = pmu_extra_msr(env, msr, &reserved);
    }
    return reg ? reg : pmu_msr_broken(env, msr);
}

static bool pmu_rdmsr_amd(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    if (!env->pmu.has_global) {
        return false;
    }
    switch (msr) {
    case MSR_AMD_GLOBAL_CTL:
        *val = env->msr_global_ctrl;
        return true;
    case MSR_AMD_GLOBAL_STATUS:
        pmu_sync_before_insn(env);
        *val = env->msr_global_status;
        return true;
    case MSR_IA32_DEBUGCTL:
        *val = env->pmu.debugctl;
        return true;
    case MSR_AMD_GLOBAL_STATUS_CLR:
        *val = 0;
        return true;
    default:
        return false;
    }
}

bool x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val, bool *gp)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t *reg;

    if (pmu_is_withheld(env, msr)) {
        *gp = true;
        return true;
    }
    reg = pmu_msr_counter(env, msr);
    if (reg) {
        pmu_sync_before_insn(env);
        *val = *reg;
        return true;
    }
    reg = pmu_msr_as_it_is(env, msr);
    if (reg) {
        *val = *reg;
        return true;
    }
    if (pmu->is_amd) {
        return pmu_rdmsr_amd(env, msr, val);
    }
    if (!pmu->has_global) {
        return false;
    }
    switch (msr) {
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        *val = env->msr_fixed_ctr_ctrl;
        return true;
    case MSR_CORE_PERF_GLOBAL_CTRL:
        /* Freezing changes this too */
        pmu_sync_before_insn(env);
        *val = env->msr_global_ctrl;
        return true;
    case MSR_CORE_PERF_GLOBAL_STATUS:
        pmu_sync_before_insn(env);
        *val = env->msr_global_status;
        return true;
    case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
        *val = 0;
        return true;
    case MSR_IA32_PERF_GLOBAL_STATUS_SET:
        *val = 0;
        return pmu->version >= 4;
    case MSR_IA32_PERF_GLOBAL_INUSE:
        *val = pmu_global_inuse(env);
        return pmu->version >= 4;
    case MSR_IA32_DEBUGCTL:
        *val = pmu->debugctl;
        return true;
    case MSR_IA32_PERF_CAPABILITIES:
        *val = env->features[FEAT_PERF_CAPABILITIES];
        return true;
    default:
        return false;
    }
}

/* SDM Vol. 2 and APM Vol. 3 "RDPMC"; bit 30 selects the fixed counters. */
bool x86_pmu_rdpmc(CPUX86State *env, uint32_t idx, uint64_t *val)
{
    uint64_t *reg;

    if (idx < env->pmu.num_gp) {
        reg = &env->msr_gp_counters[idx];
    } else if (idx - (1u << 30) < env->pmu.num_fixed) {
        reg = pmu_fixed_counter(env, idx - (1u << 30));
    } else {
        return false;
    }
    pmu_sync_before_insn(env);
    *val = *reg;
    return true;
}
