/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  x86 performance monitoring unit for TCG: the CPU models
 *
 *  Which CPU model has which PMU, what CPUID says of it, and its state after
 *  reset.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "pmu-internal.h"

/* The length of EBX in CPUID.0AH: one bit for each architectural event */
#define INTEL_NUM_ARCH_EVENTS   7

/* IA32_MISC_ENABLE, SDM Vol. 4 "Architectural MSRs" */
#define MISC_ENABLE_PERFMON_AVAILABLE   (1u << 7)
#define MISC_ENABLE_BTS_UNAVAILABLE     (1u << 11)
#define MISC_ENABLE_PEBS_UNAVAILABLE    (1u << 12)

static bool pmu_is_intel(X86CPU *cpu)
{
    return cpu->enable_pmu &&
           (IS_INTEL_CPU(&cpu->env) || IS_ZHAOXIN_CPU(&cpu->env));
}

static bool pmu_is_amd(X86CPU *cpu)
{
    return cpu->enable_pmu && IS_AMD_CPU(&cpu->env);
}

/* Of Intel's architectural PMU; or of AMD's, where 2 is PerfMonV2 */
static int pmu_version(X86CPU *cpu)
{
    if (pmu_is_amd(cpu)) {
        return cpu->tcg_pmu_version >= 2 ? 2 : 1;
    }
    if (cpu->tcg_pmu_hybrid) {
        return 5;
    }
    return cpu->tcg_pmu_version ? MIN(cpu->tcg_pmu_version, 5) : 2;
}

/*
 * With x-tcg-pmu-hybrid there are two types of CPU, in turn: performance and
 * efficiency cores. Their PMUs are of version 5.
 *
 * 1: CPU 0 is a performance core. Leaf 0AH says on each CPU what all have, and
 *    leaf 23H what this one has.
 * 2: CPU 0 is an efficiency core. Leaf 0AH says on each what it has; there is
 *    no leaf 23H.
 * 3: like 1, but no leaf 23H: as Alder Lake and Raptor Lake are. Software knows of
 *    these models that a performance core has two general counters and a fixed one
 *    more than leaf 0AH says.
 */
static bool pmu_is_efficient(X86CPU *cpu)
{
    bool odd = cpu->apic_id & 1;

    return cpu->tcg_pmu_hybrid && odd == (cpu->tcg_pmu_hybrid != PMU_HYBRID_OWN);
}

static bool pmu_is_performant(X86CPU *cpu)
{
    return cpu->tcg_pmu_hybrid && !pmu_is_efficient(cpu);
}

static int intel_num_gp(X86CPU *cpu)
{
    if (pmu_is_efficient(cpu)) {
        return EFFICIENT_NUM_GP;
    }
    return pmu_version(cpu) >= 5 ? INTEL_NUM_GP_V5 : INTEL_NUM_GP;
}

static int intel_num_fixed(X86CPU *cpu)
{
    if (pmu_is_efficient(cpu)) {
        return INTEL_NUM_FIXED;
    }
    switch (pmu_version(cpu)) {
    case 1:
        return 0;
    case 5:
        return INTEL_NUM_FIXED_V5;
    default:
        return INTEL_NUM_FIXED;
    }
}

/*
 * AnyThread came with version 3 and is deprecated in the models of versions 4 and
 * 5.  There is one thread to a core here, so it changes nothing.
 */
static bool intel_has_any_thread(X86CPU *cpu)
{
    return pmu_version(cpu) == 3;
}

/* Features that TCG supports because of the PMU. */
uint64_t x86_pmu_supported_features(X86CPU *cpu, int feature_word)
{
    switch (feature_word) {
    case FEAT_7_0_EBX:
        return pmu_is_intel(cpu) ? CPUID_7_0_EBX_INTEL_PT : 0;
    case FEAT_7_0_EDX:
        return pmu_is_intel(cpu) && cpu->tcg_pmu_hybrid ?
               CPUID_7_0_EDX_HYBRID : 0;
    case FEAT_7_1_EAX:
        return pmu_is_intel(cpu) && cpu->tcg_pmu_hybrid == PMU_HYBRID_COMMON ?
               CPUID_7_1_EAX_ARCH_PERFMON_EXT : 0;
    case FEAT_1_EDX:
        return pmu_is_intel(cpu) && pmu_version(cpu) >= 2 ? CPUID_DTS : 0;
    case FEAT_1_ECX:
        return pmu_is_intel(cpu) && pmu_version(cpu) >= 2 ?
               CPUID_EXT_PDCM | CPUID_EXT_DTES64 | CPUID_EXT_DSCPL : 0;
    case FEAT_PERF_CAPABILITIES:
        return pmu_is_intel(cpu) && pmu_version(cpu) >= 2 ?
               PERF_CAP_FULL_WRITE | PERF_CAP_LBR_FMT |
               (pmu_is_performant(cpu) ? PERF_CAP_METRICS : 0) : 0;
    case FEAT_8000_0001_ECX:
        return pmu_is_amd(cpu) ? CPUID_EXT3_PERFCORE : 0;
    case FEAT_8000_0022_EAX:
        return pmu_is_amd(cpu) && pmu_version(cpu) >= 2 ?
               CPUID_8000_0022_EAX_PERFMON_V2 | CPUID_8000_0022_EAX_PMC_FREEZE : 0;
    default:
        return 0;
    }
}

/* Of these, the ones that are there only if they are asked for: tracing, and records of branches */
static uint64_t pmu_optional_features(FeatureWord feature_word)
{
    switch (feature_word) {
    case FEAT_7_0_EBX:
        return CPUID_7_0_EBX_INTEL_PT;
    case FEAT_1_EDX:
        return CPUID_DTS;
    case FEAT_1_ECX:
        return CPUID_EXT_DTES64 | CPUID_EXT_DSCPL;
    case FEAT_PERF_CAPABILITIES:
        return PERF_CAP_LBR_FMT;
    default:
        return 0;
    }
}

/*
 * The Intel CPU models do not have the features of a PMU, but should with
 * pmu=on.  Those of AMD that should have PerfCtrExtCore do have it.
 */
void x86_pmu_expand_features(X86CPU *cpu)
{
    CPUX86State *env = &cpu->env;
    FeatureWord w;

    if (pmu_is_intel(cpu) || cpu->max_features) {
        for (w = 0; w < FEATURE_WORDS; w++) {
            env->features[w] |= x86_pmu_supported_features(cpu, w) &
                                ~pmu_optional_features(w) &
                                ~env->user_features[w];
        }
    }
    if (pmu_is_intel(cpu)) {
        env->cpuid_min_level = MAX(env->cpuid_min_level,
                                   cpu->tcg_pmu_hybrid == PMU_HYBRID_COMMON ? 0x23 :
                                   cpu->tcg_pmu_hybrid ? 0x1a : 0xa);
    }
    if (pmu_is_amd(cpu) && pmu_version(cpu) >= 2) {
        env->features[FEAT_8000_0022_EAX] |= CPUID_8000_0022_EAX_PERFMON_V2 |
                                             CPUID_8000_0022_EAX_PMC_FREEZE;
        env->cpuid_min_xlevel = MAX(env->cpuid_min_xlevel, 0x80000022);
    }
}

/* SDM Vol. 2 "CPUID", leaf 0AH; reserved on AMD */
void x86_pmu_cpuid(X86CPU *cpu, uint32_t *eax, uint32_t *ebx,
                   uint32_t *ecx, uint32_t *edx)
{
    *eax = *ebx = *ecx = *edx = 0;
    if (pmu_is_intel(cpu)) {
        int num_gp = intel_num_gp(cpu), num_fixed = intel_num_fixed(cpu);

        if (cpu->tcg_pmu_hybrid && cpu->tcg_pmu_hybrid != PMU_HYBRID_OWN) {
            num_gp = EFFICIENT_NUM_GP;
            num_fixed = INTEL_NUM_FIXED;
        }
        /* version, number and width of counters, length of EBX */
        *eax = pmu_version(cpu) | (num_gp << 8) |
               (PMU_WIDTH << 16) | (INTEL_NUM_ARCH_EVENTS << 24);
        /* EBX: all these events are available (zero bits) */
        if (pmu_version(cpu) >= 2) {
            *edx = num_fixed | (PMU_WIDTH << 5);
        }
        if (pmu_version(cpu) >= 4) {
            *edx |= 1 << 15; /* AnyThread deprecation */
        }
        if (pmu_version(cpu) >= 5) {
            *ecx = MAKE_64BIT_MASK(0, num_fixed);
        }
    }
}

/*
 * SDM Vol. 2 "CPUID": leaf 1AH, the type of this core; leaf 23H, sub-leaf 1, bitmaps
 * of its counters
 */
void x86_pmu_cpuid_hybrid(X86CPU *cpu, uint32_t leaf, uint32_t count,
                          uint32_t *eax, uint32_t *ebx)
{
    if (!pmu_is_intel(cpu) || !cpu->tcg_pmu_hybrid) {
        return;
    }
    if (leaf == 0x1a) {
        if (count == 0) {
            *eax = (pmu_is_efficient(cpu) ? 0x20000000 : 0x40000000) | 1;
        }
    } else if (cpu->tcg_pmu_hybrid == PMU_HYBRID_COMMON) {
        if (count == 0) {
            *eax = 0x3; /* sub-leaves 0 and 1 */
        } else if (count == 1) {
            *eax = MAKE_64BIT_MASK(0, intel_num_gp(cpu));
            *ebx = MAKE_64BIT_MASK(0, intel_num_fixed(cpu));
        }
    }
}

/* APM Vol. 3, "Extended Performance Monitoring and Debug", leaf 8000_0022H */
void x86_pmu_cpuid_amd(X86CPU *cpu, uint32_t *eax, uint32_t *ebx)
{
    *eax = cpu->env.features[FEAT_8000_0022_EAX];
    if (pmu_is_amd(cpu) && (*eax & CPUID_8000_0022_EAX_PERFMON_V2)) {
        *ebx = AMD_NUM_GP_CORE; /* NumPerfCtrCore */
    }
}

static void pmu_reset_intel(X86CPU *cpu, X86PMUState *pmu)
{
    CPUX86State *env = &cpu->env;
    int i;

    pmu->version = pmu_version(cpu);
    pmu->has_global = pmu->version >= 2;
    pmu->num_gp = intel_num_gp(cpu);
    pmu->num_fixed = intel_num_fixed(cpu);
    pmu->evtsel_reserved = INTEL_EVTSEL_RESERVED;
    for (i = 0; i < pmu->num_fixed; i++) {
        pmu->fixed_ctrl_writable |= (uint64_t)FIXED_CTRL_WRITABLE << (4 * i);
        if (intel_has_any_thread(cpu)) {
            pmu->fixed_ctrl_writable |= (uint64_t)FIXED_CTRL_ANY << (4 * i);
        }
    }
    if (!intel_has_any_thread(cpu)) {
        pmu->evtsel_reserved |= INTEL_EVTSEL_ANY;
    }
    pmu->has_metrics = pmu_is_performant(cpu);
    pmu_extra_reset(cpu, pmu_is_efficient(cpu));
    if (cpu->tcg_pmu_partial) {
        pmu->num_gp = PARTIAL_NUM;
        pmu->num_fixed = PARTIAL_NUM;
    }
    env->msr_ia32_misc_enable |= MISC_ENABLE_PERFMON_AVAILABLE |
                                 MISC_ENABLE_PEBS_UNAVAILABLE;
    if (!(env->features[FEAT_1_EDX] & CPUID_DTS)) {
        env->msr_ia32_misc_enable |= MISC_ENABLE_BTS_UNAVAILABLE;
    }
}

static void pmu_reset_amd(X86CPU *cpu, X86PMUState *pmu)
{
    CPUX86State *env = &cpu->env;

    pmu->is_amd = true;
    pmu->version = pmu_version(cpu);
    pmu->has_global = pmu->version >= 2;
    pmu->is_core = env->features[FEAT_8000_0001_ECX] & CPUID_EXT3_PERFCORE;
    pmu->num_gp = pmu->is_core ? AMD_NUM_GP_CORE : AMD_NUM_GP_LEGACY;
    pmu->evtsel_reserved = ~AMD_EVTSEL_WRITABLE;
    pmu->is_f15 = ((env->cpuid_version >> 8) & 0xf) == 0xf &&
                  ((env->cpuid_version >> 20) & 0xff) == 0x6;
    if (cpu->tcg_pmu_partial) {
        pmu->num_gp = PARTIAL_NUM;
    }
}

void x86_pmu_reset(X86CPU *cpu)
{
    CPUX86State *env = &cpu->env;
    X86PMUState *pmu = &env->pmu;

    /* Everything else is zero. */
    if (pmu_is_intel(cpu)) {
        pmu_reset_intel(cpu, pmu);
    } else if (pmu_is_amd(cpu)) {
        pmu_reset_amd(cpu, pmu);
    }
    pmu->ctr_mask = (pmu->num_gp ? MAKE_64BIT_MASK(0, pmu->num_gp) : 0) |
                    (pmu->num_fixed ?
                     MAKE_64BIT_MASK(GLOBAL_FIXED_SHIFT, pmu->num_fixed) : 0);
    if (pmu->has_global) {
        /*
         * SDM Vol. 3A, table "IA-32 and Intel 64 Processor States..."; the same with
         * AMD, so that software works that does not know of the register.
         */
        env->msr_global_ctrl = pmu->ctr_mask & UINT32_MAX;
    }
}
