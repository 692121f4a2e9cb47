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

static int pmu_version(X86CPU *cpu)
{
    return cpu->tcg_pmu_version >= 4 ? 4 : 2;
}

/* Features that TCG supports because of the PMU. */
uint64_t x86_pmu_supported_features(X86CPU *cpu, int feature_word)
{
    switch (feature_word) {
    case FEAT_7_0_EBX:
        /* Not by default, see x86_pmu_expand_features() */
        return pmu_is_intel(cpu) ? CPUID_7_0_EBX_INTEL_PT : 0;
    case FEAT_1_ECX:
        return pmu_is_intel(cpu) ? CPUID_EXT_PDCM : 0;
    case FEAT_PERF_CAPABILITIES:
        return pmu_is_intel(cpu) ? PERF_CAP_FULL_WRITE : 0;
    case FEAT_8000_0001_ECX:
        return pmu_is_amd(cpu) ? CPUID_EXT3_PERFCORE : 0;
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
            if (w == FEAT_7_0_EBX) {
                continue; /* Intel PT has to be asked for */
            }
            env->features[w] |= x86_pmu_supported_features(cpu, w) &
                                ~env->user_features[w];
        }
    }
    if (pmu_is_intel(cpu)) {
        env->cpuid_min_level = MAX(env->cpuid_min_level, 0xa);
    }
}

/* SDM Vol. 2 "CPUID", leaf 0AH; reserved on AMD */
void x86_pmu_cpuid(X86CPU *cpu, uint32_t *eax, uint32_t *ebx,
                   uint32_t *ecx, uint32_t *edx)
{
    *eax = *ebx = *ecx = *edx = 0;
    if (pmu_is_intel(cpu)) {
        /* version, number and width of counters, length of EBX */
        *eax = pmu_version(cpu) | (INTEL_NUM_GP << 8) | (PMU_WIDTH << 16) |
               (INTEL_NUM_ARCH_EVENTS << 24);
        /* EBX: all these events are available (zero bits) */
        *edx = INTEL_NUM_FIXED | (PMU_WIDTH << 5);
        if (pmu_version(cpu) >= 4) {
            *edx |= 1 << 15; /* AnyThread deprecation */
        }
    }
}

void x86_pmu_reset(X86CPU *cpu)
{
    CPUX86State *env = &cpu->env;
    X86PMUState *pmu = &env->pmu;

    /* Everything else is zero. */
    if (pmu_is_intel(cpu)) {
        pmu->version = pmu_version(cpu);
        pmu->num_gp = INTEL_NUM_GP;
        pmu->num_fixed = INTEL_NUM_FIXED;
        env->msr_ia32_misc_enable |= MISC_ENABLE_PERFMON_AVAILABLE |
                                     MISC_ENABLE_BTS_UNAVAILABLE |
                                     MISC_ENABLE_PEBS_UNAVAILABLE;
        /* SDM Vol. 3A, table "IA-32 and Intel 64 Processor States..." */
        env->msr_global_ctrl = MAKE_64BIT_MASK(0, INTEL_NUM_GP);
    } else if (pmu_is_amd(cpu)) {
        pmu->is_amd = true;
        pmu->num_gp = env->features[FEAT_8000_0001_ECX] & CPUID_EXT3_PERFCORE
                      ? AMD_NUM_GP_CORE : AMD_NUM_GP_LEGACY;
    }
}
