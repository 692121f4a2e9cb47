/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  Intel Processor Trace for TCG: the registers
 *
 *  What RDMSR and WRMSR do, which CPU models have them, and what CPUID says.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "pt-internal.h"

static void pt_enable(CPUX86State *env)
{
    X86PTState *pt = &env->pt;

    /* SDM "IA32_RTIT_STATUS MSR": software has to clear these first. */
    if (env->msr_rtit_status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED)) {
        return;
    }
    pt->tnt = 1;
    pt->last_ip = 0;
    pt->exec_mode = -1;
    pt->packet_en = false;
    pt->psb_pending = false;
    pt->buf_len = 0;
    env->msr_rtit_status &= ~RTIT_STATUS_BYTECNT;
    pt_start_clocks(env);
    pt->filtered = env->msr_rtit_ctrl & RTIT_CTL_ADDR;
    pt->filter_en = false;
    pt->active = true;
    if (pt_load_region(env)) {
        pt->starting = true;
        x86_pmu_request_check(env);
    }
}

static void pt_disable(CPUX86State *env)
{
    X86PTState *pt = &env->pt;

    if (pt->active) {
        pt_out_last(env);
        pt_flush(env);
    }
    pt->active = pt->starting = pt->packet_en = false;
}

/* SDM "IA32_RTIT_CTL MSR": values that CPUID does not announce are refused. */
static bool pt_ctl_is_valid(uint64_t val)
{
    return !(val & ~RTIT_CTL_WRITABLE) &&
           (PT_MTC_PERIODS >> extract64(val, RTIT_CTL_MTCFREQ_SHIFT, 4) & 1) &&
           (PT_CYC_THRESHOLDS >> extract64(val, RTIT_CTL_CYCTHRESH_SHIFT, 4) & 1) &&
           (PT_PSB_PERIODS >> extract64(val, RTIT_CTL_PSBFREQ_SHIFT, 4) & 1) &&
           extract64(val, RTIT_CTL_ADDR_SHIFT, 4) <= PT_RANGE_STOP &&
           extract64(val, RTIT_CTL_ADDR_SHIFT + 4, 4) <= PT_RANGE_STOP;
}

/* Returns false for #GP.  While tracing, nothing but TraceEn can be changed. */
static bool pt_write_ctl(CPUX86State *env, uint64_t val)
{
    bool enabled = env->msr_rtit_ctrl & RTIT_CTL_TRACEEN;

    if (!pt_ctl_is_valid(val) ||
        (enabled && (val & RTIT_CTL_TRACEEN) && val != env->msr_rtit_ctrl)) {
        return false;
    }
    if (enabled && !(val & RTIT_CTL_TRACEEN)) {
        pt_disable(env);
    }
    env->msr_rtit_ctrl = val;
    if (!enabled && (val & RTIT_CTL_TRACEEN)) {
        pt_enable(env);
    }
    pt_update_tb_flags(env);
    return true;
}

bool x86_pt_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val, bool *gp)
{
    X86CPU *cpu = env_archcpu(env);
    bool enabled = env->msr_rtit_ctrl & RTIT_CTL_TRACEEN;
    uint64_t phys_reserved = ~MAKE_64BIT_MASK(0, cpu->phys_bits);

    if (!(env->features[FEAT_7_0_EBX] & CPUID_7_0_EBX_INTEL_PT)) {
        return false;
    }
    switch (msr) {
    case MSR_IA32_RTIT_CTL:
        if (!pt_write_ctl(env, val)) {
            goto gp;
        }
        return true;
    case MSR_IA32_RTIT_STATUS:
        if (enabled || (val & ~(RTIT_STATUS_WRITABLE | RTIT_STATUS_READONLY))) {
            goto gp;
        }
        env->msr_rtit_status = val & RTIT_STATUS_WRITABLE;
        return true;
    case MSR_IA32_RTIT_OUTPUT_BASE:
        if (enabled || (val & (phys_reserved | RTIT_MASK_LOWER))) {
            goto gp;
        }
        env->msr_rtit_output_base = val;
        return true;
    case MSR_IA32_RTIT_OUTPUT_MASK:
        if (enabled) {
            goto gp;
        }
        env->msr_rtit_output_mask = val | RTIT_MASK_LOWER;
        return true;
    case MSR_IA32_RTIT_ADDR0_A ... MSR_IA32_RTIT_ADDR0_A + 2 * PT_NR_RANGES - 1:
        if (enabled || sextract64(val, 0, 48) != val) {
            goto gp;
        }
        env->msr_rtit_addrs[msr - MSR_IA32_RTIT_ADDR0_A] = val;
        return true;
    case MSR_IA32_RTIT_CR3_MATCH:
        if (enabled || (val & 0x1f)) {
            goto gp;
        }
        env->msr_rtit_cr3_match = val;
        return true;
    default:
        return false;
    }

gp:
    *gp = true;
    return true;
}

bool x86_pt_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val, bool *gp)
{
    if (!(env->features[FEAT_7_0_EBX] & CPUID_7_0_EBX_INTEL_PT)) {
        return false;
    }
    if (env->pt.active) {
        pt_flush(env);
    }
    switch (msr) {
    case MSR_PLATFORM_INFO:
        /* The largest ratio of core and bus but for turbo modes */
        *val = CORE_BUS_RATIO << 8;
        return true;
    case MSR_IA32_RTIT_CTL:
        *val = env->msr_rtit_ctrl;
        return true;
    case MSR_IA32_RTIT_STATUS:
        *val = env->msr_rtit_status;
        if (env->pt.active) {
            *val |= RTIT_STATUS_TRIGGEREN;
            if (env->pt.filter_en) {
                *val |= RTIT_STATUS_FILTEREN;
            }
            if (pt_context_en(env, env->hflags & HF_CPL_MASK)) {
                *val |= RTIT_STATUS_CONTEXTEN;
            }
        }
        return true;
    case MSR_IA32_RTIT_OUTPUT_BASE:
        *val = env->msr_rtit_output_base;
        return true;
    case MSR_IA32_RTIT_OUTPUT_MASK:
        *val = env->msr_rtit_output_mask;
        return true;
    case MSR_IA32_RTIT_ADDR0_A ... MSR_IA32_RTIT_ADDR0_A + 2 * PT_NR_RANGES - 1:
        *val = env->msr_rtit_addrs[msr - MSR_IA32_RTIT_ADDR0_A];
        return true;
    case MSR_IA32_RTIT_CR3_MATCH:
        *val = env->msr_rtit_cr3_match;
        return true;
    default:
        return false;
    }
}

/*
 * After migration.  The MSRs are in CPUX86State, in the same fields as with
 * KVM.  The trace goes on with a new PSB.
 */
void x86_pt_post_load(CPUX86State *env)
{
    memset(&env->pt, 0, sizeof(env->pt));
    if (env->msr_rtit_ctrl & RTIT_CTL_TRACEEN) {
        pt_enable(env);
    }
}

/* SDM Vol. 2 "CPUID", leaf 14H; SDM "Enumeration of Intel PT..." */
void x86_pt_cpuid(uint32_t count, uint32_t *eax, uint32_t *ebx,
                  uint32_t *ecx, uint32_t *edx)
{
    *eax = *ebx = *ecx = *edx = 0;
    if (count == 0) {
        *eax = 1;       /* last subleaf */
        /* CR3 filtering, PSB frequencies and CYC, address ranges, MTC */
        *ebx = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 3;
        *ecx = 7;       /* ToPA, with many entries, and Single-Range Output */
    } else if (count == 1) {
        *eax = PT_MTC_PERIODS << 16 | PT_NR_RANGES;
        *ebx = (uint32_t)PT_PSB_PERIODS << 16 | PT_CYC_THRESHOLDS;
    }
}

/*
 * SDM Vol. 2 "CPUID", leaf 15H.  The frequency of the crystal is left out: the
 * local APIC's timer does not run at it, which guests would infer.
 */
void x86_pt_cpuid_tsc(uint32_t *eax, uint32_t *ebx,
                      uint32_t *ecx, uint32_t *edx)
{
    *eax = 1;
    *ebx = TSC_PER_ART;
    *ecx = *edx = 0;
}
