/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  x86 performance monitoring unit for TCG: state and interfaces
 *
 *  The counting design is described in system/pmu_helper.c.
 */
#ifndef I386_TCG_X86_PMU_H
#define I386_TCG_X86_PMU_H

/* This file is included by cpu.h. */

/*
 * The base events: what translated code counts.  All the events that the
 * guest can program are derived from these, see pmu_helper.c.
 */
enum {
    X86_PMU_INSN,   /* instructions retired */
    X86_PMU_BR,     /* branch instructions retired */
    X86_PMU_BRM,    /* mispredicted conditional branches (modelled) */
    X86_PMU_COND,   /* conditional branches retired; counted with X86_PMU_BR */
    X86_PMU_NB_EV,
};

/* Registers that select what some events count: MSR_OFFCORE_RSP_n and so on */
enum {
    X86_PMU_RSP_0,
    X86_PMU_RSP_1,
    X86_PMU_FRONTEND,
    X86_PMU_SNOOP_0,
    X86_PMU_SNOOP_1,
    X86_PMU_NB_EXTRA,
};

typedef struct PMUExtraModel PMUExtraModel;

/* Size of the predictor behind X86_PMU_BRM, a power of two. */
#define X86_PMU_BHT_SIZE    4096

typedef struct X86PMUState {
    /*
     * Down-counters of base events, maintained by translated code.  The
     * second index is CPL > 0.
     */
    int64_t left[X86_PMU_NB_EV][2];
    /* Value of left[] when it was last folded into total[]. */
    int64_t armed[X86_PMU_NB_EV][2];
    /* Up-counters of base events, valid after pmu_sync(). */
    uint64_t total[X86_PMU_NB_EV][2];
    /* HF_PMU*_MASK to be added to the TB flags at each CPL. */
    uint32_t tb_flags[4];

    /* Set up at reset; all zero if the CPU has no PMU. */
    uint8_t version;            /* Intel: CPUID.0AH:EAX[7:0]; AMD: PerfMonV.. */
    uint8_t num_gp;
    uint8_t num_fixed;
    bool is_amd;
    bool has_global;            /* global control and status */
    bool has_metrics;           /* the bits of PERF_METRICS in these */
    bool is_core;               /* AMD: core counters, not legacy ones */
    bool is_f15;                /* AMD: family 15h, which has not all events on all */
    uint64_t ctr_mask;          /* their bits in the global registers */
    uint64_t evtsel_reserved;   /* must be zero (Intel); are ignored (AMD) */
    uint64_t fixed_ctrl_writable;

    /* What the model has of X86_PMU_NB_EXTRA, NULL: none; and what is in them */
    const PMUExtraModel *extra_model;
    uint64_t extra[X86_PMU_NB_EXTRA];

    /* IA32_FIXED_CTR3; CPUX86State has room for three */
    uint64_t fixed_ctr3;
    /* IA32_DEBUGCTL; the other counter MSRs are in CPUX86State. */
    uint64_t debugctl;
    /* A counter has overflowed, the local APIC has not been told yet. */
    bool pmi_pending;
    /* What the guest has broken of it, see pmu_msr.c */
    uint64_t lost_acks;         /* still to be lost */
    uint64_t silent_event;
    uint64_t silent_counters;
    uint64_t deaf_evtsels;
    uint64_t too_near;

    /* gshare branch predictor, only used while X86_PMU_BRM is counted */
    uint32_t branch_history;
    uint8_t bht[X86_PMU_BHT_SIZE];
} X86PMUState;

#ifndef CONFIG_USER_ONLY
/* CPU model and reset */
uint64_t x86_pmu_supported_features(X86CPU *cpu, int feature_word);
void x86_pmu_expand_features(X86CPU *cpu);
void x86_pmu_cpuid(X86CPU *cpu, uint32_t *eax, uint32_t *ebx,
                   uint32_t *ecx, uint32_t *edx);
void x86_pmu_cpuid_amd(X86CPU *cpu, uint32_t *eax, uint32_t *ebx);
void x86_pmu_cpuid_hybrid(X86CPU *cpu, uint32_t leaf, uint32_t count,
                          uint32_t *eax, uint32_t *ebx);
void x86_pmu_reset(X86CPU *cpu);
void x86_pmu_pre_save(CPUArchState *env);
void x86_pmu_post_load(CPUArchState *env);

/* Guest accesses; false if the MSR or counter is not part of this PMU. */
bool x86_pmu_wrmsr(CPUArchState *env, uint32_t msr, uint64_t val, bool *gp);
bool x86_pmu_rdmsr(CPUArchState *env, uint32_t msr, uint64_t *val, bool *gp);
bool x86_pmu_rdpmc(CPUArchState *env, uint32_t idx, uint64_t *val);

/* Handle CPU_INTERRUPT_PMU.  Called between TBs, with the BQL held. */
void x86_pmu_check(CPUArchState *env);
/* The CPU is about to halt, there may be no "between TBs" for long. */
void x86_pmu_halt(CPUArchState *env);
#endif

#endif
