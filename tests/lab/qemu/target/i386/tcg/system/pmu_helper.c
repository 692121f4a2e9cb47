/*
 *  x86 performance monitoring unit for TCG
 *
 * SPDX-License-Identifier: LGPL-2.1-or-later
 */

/*
 * Two PMUs are modelled, enabled by -cpu MODEL,pmu=on:
 *
 * - Intel CPU models have the architectural PMU, version 2, or version 4 with
 *   x-tcg-pmu-version=4: four general-purpose and three fixed counters.
 *   Intel SDM Vol. 3B, chapter "Performance Monitoring", "Architectural
 *   Performance Monitoring"; called SDM below.
 *
 * - AMD CPU models have the six core counters of the PerfCtrExtCore extension
 *   if the CPU model has that, else the four legacy ones.
 *   AMD64 APM Vol. 2, "Performance Monitoring Counters"; called APM below.
 *
 * Counting
 * ========
 *
 * Translated code counts three base events: instructions, branches and
 * mispredicted conditional branches.  For each of these and each privilege
 * (CPL == 0, CPL > 0), it maintains one down-counter, pmu.left[][].  It does
 * so only in the TBs of those privileges that some enabled counter counts:
 * cpu_get_tb_cpu_state() adds HF_PMU*_MASK to the flags of such TBs.  The
 * other TBs are those that QEMU would generate without this file.
 *
 * The guest-visible counters are functions of the base events.  pmu_sync()
 * brings them up to date, at each access to them and when a down-counter
 * expires.  pmu_rearm() sets each down-counter to the number of base events
 * that are sure not to make any counter overflow; a counter that counts both
 * privileges gets half of its distance in each, until it is near.
 *
 * Instructions are counted for the whole TB on entry to it.
 *
 * - If the TB is left early by an exception, x86_restore_state_to_opc() gives
 *   back the instructions that have not retired.  The third word of insn_start
 *   tells it where the TB was left.  gen_pmu_unretire() is for the exceptions
 *   that do not go through there.
 *
 * - If that takes the down-counter below zero, helper_pmu_expire() prevents
 *   the TB from being executed.  When a counter is closer to its overflow than
 *   the end of the TB, it arranges for a TB with just the right number of
 *   instructions to be executed instead.  For a TB that takes the down-counter
 *   to zero, it requests that this be looked at right after the TB.
 *
 * Branches end a TB, so that these can be counted one by one.
 *
 * On expiry of a down-counter, CPU_INTERRUPT_PMU requests a call to
 * x86_pmu_check() from the main loop, before the next instruction.  There,
 * overflows become performance monitoring interrupts through LVTPC.
 *
 * What is exact
 * =============
 *
 * Instructions and branches, in total and per privilege; they depend on
 * nothing but the instructions executed.  A REP-prefixed string instruction
 * counts once.  An instruction that faults does not count; one that traps
 * (INTn, single-step) does.  Interrupts and exceptions are not branches here.
 * An interrupt for the overflow of a counter of these is taken right after
 * the instruction that made it overflow, or at the first opportunity if the
 * interrupt is masked or blocked then: there is no skid.
 *
 * What is invented
 * ================
 *
 * Time: one cycle per instruction, none while halted; one reference cycle (of
 * the "bus" event, but not of fixed counter 2) every eight cycles.
 * Mispredicted branches: what a small gshare predictor would mispredict;
 * exact and reproducible in this model, but like no particular processor.
 * Last level cache references and misses (Intel): every 256 and 4096
 * instructions, just not to be zero.
 *
 * What is missing
 * ===============
 *
 * All other events, edge detection, AnyThread, PEBS, LBR, the host-only and
 * guest-only bits of AMD, and freezing in SMM.  Migration and snapshots lose
 * IA32_DEBUGCTL and the state of the branch predictor.
 */

#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "exec/exec-all.h"
#include "exec/translation-block.h"
#include "accel/tcg/internal-common.h"
#include "system/cpu-timers.h"
#include "hw/i386/apic.h"
#include "tcg/helper-tcg.h"

/* Both PMUs have counters of this many bits. */
#define PMU_WIDTH               48
#define PMU_CTR_MASK            MAKE_64BIT_MASK(0, PMU_WIDTH)

/* Intel, reported by CPUID.0AH */
#define INTEL_NUM_GP            4
#define INTEL_NUM_FIXED         3
#define INTEL_NUM_ARCH_EVENTS   7

/* AMD, architectural; no CPUID field except with PerfMonV2 */
#define AMD_NUM_GP_LEGACY       4
#define AMD_NUM_GP_CORE         6

/*
 * IA32_PERFEVTSELx, SDM "Architectural Performance Monitoring Version 1
 * Facilities"; PERF_CTLx of AMD has these at the same places, APM "Core
 * Performance Event-Select Registers".
 */
#define EVTSEL_USR              (1u << 16)
#define EVTSEL_OS               (1u << 17)
#define EVTSEL_INT              (1u << 20)
#define EVTSEL_EN               (1u << 22)
#define EVTSEL_INV              (1u << 23)
#define EVTSEL_CMASK_SHIFT      24
/* Bits 63:32, and AnyThread, which version 2 does not have */
#define INTEL_EVTSEL_RESERVED   0xffffffff00200000ULL
/* EventSelect[11:8] is in bits 35:32, HostOnly and GuestOnly in 41:40 */
#define AMD_EVTSEL_WRITABLE     0x0000030fffffffffULL

/*
 * IA32_FIXED_CTR_CTRL, SDM "Architectural Performance Monitoring Version 2":
 * per counter, two enable bits, AnyThread (reserved in version 2), PMI
 */
#define FIXED_CTRL_WRITABLE     0xbbbULL
#define FIXED_CTRL_OS           1
#define FIXED_CTRL_USR          2
#define FIXED_CTRL_PMI          8

/* IA32_PERF_GLOBAL_{CTRL,STATUS}, same place */
#define GLOBAL_FIXED_SHIFT      32
#define GLOBAL_CTR_MASK         (MAKE_64BIT_MASK(0, INTEL_NUM_GP) | \
                                 MAKE_64BIT_MASK(GLOBAL_FIXED_SHIFT, \
                                                 INTEL_NUM_FIXED))
#define GLOBAL_STATUS_OVFBUF    (1ULL << 62)
#define GLOBAL_STATUS_CONDCHGD  (1ULL << 63)
/* SDM "Architectural Performance Monitoring Version 4" */
#define GLOBAL_STATUS_LBR_FRZ   (1ULL << 58)
#define GLOBAL_STATUS_CTR_FRZ   (1ULL << 59)
#define GLOBAL_INUSE_PMI        (1ULL << 63)

/* SDM "IA32_DEBUGCTL MSR" */
#define DEBUGCTL_FREEZE_PERFMON_ON_PMI  (1u << 12)

/* IA32_MISC_ENABLE, SDM Vol. 4 "Architectural MSRs" */
#define MISC_ENABLE_PERFMON_AVAILABLE   (1u << 7)
#define MISC_ENABLE_BTS_UNAVAILABLE     (1u << 11)
#define MISC_ENABLE_PEBS_UNAVAILABLE    (1u << 12)

/* SDM Vol. 4; those that cpu.h does not have */
#define MSR_IA32_DEBUGCTL               0x1d9
#define MSR_IA32_PERF_GLOBAL_STATUS_SET 0x391
#define MSR_IA32_PERF_GLOBAL_INUSE      0x392
#define MSR_IA32_A_PMC0                 0x4c1

/* APM Vol. 2 "Core Performance Event-Select/Counter Registers" */
#define MSR_AMD_LEGACY_PERF_CTL0        0xc0010000
#define MSR_AMD_LEGACY_PERF_CTR0        0xc0010004
#define MSR_AMD_CORE_PERF_CTL0          0xc0010200 /* CTR0 is next, and so on */

/* An event that the guest can program, as a function of a base event */
typedef struct PMUEvent {
    uint16_t event;     /* EventSelect */
    uint8_t umask;
    uint8_t base;       /* X86_PMU_* */
    uint8_t shift;      /* one event every (1 << shift) base events */
} PMUEvent;

/* SDM, table "UMask and Event Select Encodings for Pre-Defined..." */
static const PMUEvent intel_events[] = {
    { 0xc0, 0x00, X86_PMU_INSN, 0 },    /* Instruction Retired */
    { 0x3c, 0x00, X86_PMU_INSN, 0 },    /* UnHalted Core Cycles */
    { 0x3c, 0x01, X86_PMU_INSN, 3 },    /* UnHalted Reference Cycles */
    { 0x2e, 0x4f, X86_PMU_INSN, 8 },    /* LLC Reference */
    { 0x2e, 0x41, X86_PMU_INSN, 12 },   /* LLC Misses */
    { 0xc4, 0x00, X86_PMU_BR, 0 },      /* Branch Instruction Retired */
    { 0xc5, 0x00, X86_PMU_BRM, 0 },     /* Branch Misses Retired */
};

/*
 * PPR for AMD family 17h and later, "Core Performance Monitor Counters";
 * the same in the BKDGs of all earlier families.
 */
static const PMUEvent amd_events[] = {
    { 0xc0, 0x00, X86_PMU_INSN, 0 },    /* Retired Instructions */
    { 0x76, 0x00, X86_PMU_INSN, 0 },    /* Cycles not in Halt */
    { 0xc2, 0x00, X86_PMU_BR, 0 },      /* Retired Branch Instructions */
    { 0xc3, 0x00, X86_PMU_BRM, 0 },     /* Retired ... Mispredicted */
};

/* One of the counters that the guest sees, if it is enabled */
typedef struct PMUCounter {
    uint64_t *val;
    int status_bit;     /* Intel, in IA32_PERF_GLOBAL_{CTRL,STATUS} */
    const PMUEvent *ev;
    unsigned priv;      /* bit 0: counts at CPL 0, bit 1: at CPL > 0 */
    bool pmi;
} PMUCounter;

static inline int pmu_cur_priv(CPUX86State *env)
{
    return (env->hflags & HF_CPL_MASK) != 0;
}

static const PMUEvent *pmu_find_event(X86PMUState *pmu, uint64_t evtsel)
{
    const PMUEvent *ev = pmu->is_amd ? amd_events : intel_events;
    int n = pmu->is_amd ? ARRAY_SIZE(amd_events) : ARRAY_SIZE(intel_events);
    unsigned event = (evtsel & 0xff) | ((evtsel >> 24) & 0xf00);
    unsigned umask = (evtsel >> 8) & 0xff;
    unsigned cmask = (evtsel >> EVTSEL_CMASK_SHIFT) & 0xff;
    bool inv = evtsel & EVTSEL_INV;

    /* With a counter mask, count the cycles that have enough events (or not) */
    if (cmask && (1 >= cmask) == inv) {
        return NULL;
    }
    for (; n--; ev++) {
        if (ev->event == event && ev->umask == umask) {
            return ev;
        }
    }
    return NULL;
}

/* Return true if counter N is enabled and counts, and describe it in C. */
static bool pmu_get_counter(CPUX86State *env, int n, PMUCounter *c)
{
    X86PMUState *pmu = &env->pmu;

    if (n < pmu->num_gp) {
        uint64_t sel = env->msr_gp_evtsel[n];

        if (!(sel & EVTSEL_EN)) {
            return false;
        }
        c->val = &env->msr_gp_counters[n];
        c->status_bit = n;
        c->ev = pmu_find_event(pmu, sel);
        c->priv = (sel & EVTSEL_OS ? 1 : 0) | (sel & EVTSEL_USR ? 2 : 0);
        c->pmi = sel & EVTSEL_INT;
    } else {
        unsigned ctrl;

        n -= pmu->num_gp;
        ctrl = env->msr_fixed_ctr_ctrl >> (4 * n);
        c->val = &env->msr_fixed_counters[n];
        c->status_bit = GLOBAL_FIXED_SHIFT + n;
        c->ev = &intel_events[0]; /* instructions, cycles, ref-cycles */
        c->priv = ctrl & (FIXED_CTRL_OS | FIXED_CTRL_USR);
        c->pmi = ctrl & FIXED_CTRL_PMI;
    }
    if (!pmu->is_amd &&
        (!((env->msr_global_ctrl >> c->status_bit) & 1) ||
         (env->msr_global_status & GLOBAL_STATUS_CTR_FRZ))) {
        return false;
    }
    return c->ev && c->priv;
}

/*
 * Ask for a call to x86_pmu_check() before the next TB.  This is what
 * cpu_interrupt() does, except that with icount that may only be used by
 * I/O instructions.  Here it is fine in any place, because the reason for
 * the request is the execution of an instruction.
 */
static void pmu_request_check(CPUX86State *env)
{
    CPUState *cs = env_cpu(env);
    bool locked = bql_locked();

    if (!locked) {
        bql_lock();
    }
    cs->interrupt_request |= CPU_INTERRUPT_PMU;
    qatomic_set(&cs->neg.icount_decr.u16.high, -1);
    if (!locked) {
        bql_unlock();
    }
}

/* Bring the guest-visible counters up to date. */
static void pmu_sync(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t old[X86_PMU_NB_EV][2];
    PMUCounter c;
    bool pmi = false;
    int i, ev, p;

    for (ev = 0; ev < X86_PMU_NB_EV; ev++) {
        for (p = 0; p < 2; p++) {
            old[ev][p] = pmu->total[ev][p];
            pmu->total[ev][p] += pmu->armed[ev][p] - pmu->left[ev][p];
            pmu->armed[ev][p] = pmu->left[ev][p];
        }
    }
    for (i = 0; i < pmu->num_gp + pmu->num_fixed; i++) {
        if (!pmu_get_counter(env, i, &c)) {
            continue;
        }
        for (p = 0; p < 2; p++) {
            if (c.priv & (1 << p)) {
                *c.val += (pmu->total[c.ev->base][p] >> c.ev->shift) -
                          (old[c.ev->base][p] >> c.ev->shift);
            }
        }
        if (*c.val & ~PMU_CTR_MASK) {
            *c.val &= PMU_CTR_MASK;
            if (!pmu->is_amd) {
                env->msr_global_status |= 1ULL << c.status_bit;
            }
            pmi |= c.pmi;
        }
    }
    if (pmi) {
        /* SDM "Freezing LBR and Performance Counters on PMI" */
        if (pmu->debugctl & DEBUGCTL_FREEZE_PERFMON_ON_PMI) {
            if (pmu->version >= 4) {
                env->msr_global_status |= GLOBAL_STATUS_CTR_FRZ;
            } else {
                env->msr_global_ctrl = 0;
            }
        }
        pmu->pmi_pending = true;
        pmu_request_check(env);
    }
}

/* After pmu_sync(): set the down-counters, and which TBs maintain them. */
static void pmu_rearm(CPUX86State *env)
{
    X86PMUState *pmu = &env->pmu;
    int64_t bound[X86_PMU_NB_EV][2];
    uint32_t flags[2] = { 0, 0 };
    int cur = pmu_cur_priv(env);
    PMUCounter c;
    int i, ev, p;

    for (ev = 0; ev < X86_PMU_NB_EV; ev++) {
        for (p = 0; p < 2; p++) {
            bound[ev][p] = INT64_MAX / 4;
        }
    }
    for (i = 0; i < pmu->num_gp + pmu->num_fixed; i++) {
        uint64_t todo;

        if (!pmu_get_counter(env, i, &c)) {
            continue;
        }
        /* base events until overflow, counted from total[] rounded down */
        todo = (PMU_CTR_MASK + 1 - *c.val) << c.ev->shift;
        for (p = 0; p < 2; p++) {
            int64_t b;

            if (!(c.priv & (1 << p))) {
                continue;
            }
            if (c.priv == 3 && todo > 4096) {
                /* The other privilege counts too: give half to each */
                b = (todo >> (c.ev->shift + 1)) << c.ev->shift;
            } else if (c.priv == 3 && p != cur) {
                /* Near the overflow: come back as soon as we get there */
                b = 0;
            } else {
                b = todo - (pmu->total[c.ev->base][p] &
                            ((1ULL << c.ev->shift) - 1));
            }
            bound[c.ev->base][p] = MIN(bound[c.ev->base][p], b);
            flags[p] |= HF_PMU_MASK;
            if (c.ev->base == X86_PMU_BR) {
                flags[p] |= HF_PMU_BR_MASK;
            } else if (c.ev->base == X86_PMU_BRM) {
                flags[p] |= HF_PMU_BRM_MASK;
            }
        }
    }
    for (ev = 0; ev < X86_PMU_NB_EV; ev++) {
        for (p = 0; p < 2; p++) {
            pmu->left[ev][p] = pmu->armed[ev][p] = bound[ev][p];
        }
    }
    pmu->tb_flags[0] = flags[0];
    pmu->tb_flags[1] = pmu->tb_flags[2] = pmu->tb_flags[3] = flags[1];
}

/*
 * Sync for the sake of an instruction that reads a counter.  It is the last
 * one of its TB and has been counted on entry, but it has not retired yet.
 */
static void pmu_sync_before_insn(CPUX86State *env)
{
    int cpl = env->hflags & HF_CPL_MASK;
    bool counted = env->pmu.tb_flags[cpl] & HF_PMU_MASK;

    env->pmu.left[X86_PMU_INSN][cpl != 0] += counted;
    pmu_sync(env);
    pmu_rearm(env);
    env->pmu.left[X86_PMU_INSN][cpl != 0] -= counted;
}

/*
 * A TB of N instructions has just been entered, which has taken the
 * down-counter of instructions to zero or below.  Return true if the TB
 * is to be executed, else the caller returns to the main loop.
 */
uint32_t helper_pmu_expire(CPUX86State *env, uint32_t n)
{
    CPUState *cs = env_cpu(env);
    int64_t *left = &env->pmu.left[X86_PMU_INSN][pmu_cur_priv(env)];

    if (*left == 0) {
        pmu_request_check(env);
        return true;
    }

    *left += n;
    if (icount_enabled()) {
        /* gen_tb_start() too has taken the TB for executed */
        cs->neg.icount_decr.u16.low += n;
    }
    pmu_sync(env);
    pmu_rearm(env);
    if (!env->pmu.pmi_pending && *left > 0 && *left < n) {
        /*
         * Execute just the instructions up to the overflow, then look
         * again before anything else happens.
         */
        cs->cflags_next_tb = (curr_cflags(cs) & ~CF_COUNT_MASK) | *left |
                             CF_NOIRQ | CF_NO_GOTO_TB | CF_NO_GOTO_PTR;
    }
    return false;
}

/* The down-counter of branches has expired, at the end of a TB. */
void helper_pmu_event(CPUX86State *env)
{
    pmu_request_check(env);
}

/* A conditional branch that ends at PC retires, at the end of a TB. */
void helper_pmu_cond_branch(CPUX86State *env, target_ulong pc, uint32_t taken)
{
    X86PMUState *pmu = &env->pmu;
    uint8_t *ctr = &pmu->bht[(pc ^ pmu->branch_history) % X86_PMU_BHT_SIZE];

    if ((*ctr >= 2) != taken) {
        if (--pmu->left[X86_PMU_BRM][pmu_cur_priv(env)] <= 0) {
            pmu_request_check(env);
        }
    }
    if (taken) {
        *ctr += *ctr < 3;
    } else {
        *ctr -= *ctr > 0;
    }
    pmu->branch_history = (pmu->branch_history << 1) | taken;
}

void x86_pmu_check(CPUX86State *env)
{
    X86CPU *cpu = env_archcpu(env);

    pmu_sync(env);
    pmu_rearm(env);
    CPU(cpu)->interrupt_request &= ~CPU_INTERRUPT_PMU;
    if (env->pmu.pmi_pending) {
        env->pmu.pmi_pending = false;
        if (cpu->apic_state) {
            apic_deliver_pmi(cpu->apic_state, !env->pmu.is_amd);
        }
    }
}

/* HLT may be what overflows a counter, and the PMI then wakes the CPU up. */
void x86_pmu_halt(CPUX86State *env)
{
    if (env->pmu.tb_flags[env->hflags & HF_CPL_MASK] & HF_PMU_MASK) {
        bql_lock();
        x86_pmu_check(env);
        bql_unlock();
    }
}

/*
 * Migration.  What the guest sees is in CPUX86State, in the same fields as
 * with KVM, so it suffices that all is up to date before, and no down-counter
 * is running after.
 */

void x86_pmu_pre_save(CPUX86State *env)
{
    if (env->pmu.num_gp) {
        x86_pmu_check(env);
    }
}

void x86_pmu_post_load(CPUX86State *env)
{
    if (env->pmu.num_gp) {
        memcpy(env->pmu.left, env->pmu.armed, sizeof(env->pmu.left));
        env->pmu.pmi_pending = false;
        pmu_rearm(env);
    }
}

/*
 * MSRs
 */

/* The counter that MSR is, if any. */
static uint64_t *pmu_msr_counter(CPUX86State *env, uint32_t msr)
{
    X86PMUState *pmu = &env->pmu;

    if (pmu->is_amd) {
        if (msr - MSR_AMD_LEGACY_PERF_CTR0 < AMD_NUM_GP_LEGACY) {
            return &env->msr_gp_counters[msr - MSR_AMD_LEGACY_PERF_CTR0];
        }
        if (pmu->num_gp == AMD_NUM_GP_CORE && (msr & 1) &&
            msr - MSR_AMD_CORE_PERF_CTL0 < 2 * AMD_NUM_GP_CORE) {
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
        return &env->msr_fixed_counters[msr - MSR_CORE_PERF_FIXED_CTR0];
    }
    return NULL;
}

/* The event select register that MSR is, if any. */
static uint64_t *pmu_msr_evtsel(CPUX86State *env, uint32_t msr)
{
    X86PMUState *pmu = &env->pmu;

    if (pmu->is_amd) {
        if (msr - MSR_AMD_LEGACY_PERF_CTL0 < AMD_NUM_GP_LEGACY) {
            return &env->msr_gp_evtsel[msr - MSR_AMD_LEGACY_PERF_CTL0];
        }
        if (pmu->num_gp == AMD_NUM_GP_CORE && !(msr & 1) &&
            msr - MSR_AMD_CORE_PERF_CTL0 < 2 * AMD_NUM_GP_CORE) {
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

bool x86_pmu_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val, bool *gp)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t *reg, reserved, status_bits;
    uint64_t status_clear = 0, status_set = 0;

    reg = pmu_msr_counter(env, msr);
    if (reg) {
        if (pmu->is_amd) {
            val &= PMU_CTR_MASK;
        } else if (msr - MSR_P6_PERFCTR0 < pmu->num_gp) {
            /* SDM "Full-Width Writes to Performance Counter Registers" */
            val = (int64_t)(int32_t)val & PMU_CTR_MASK;
        }
        reserved = ~PMU_CTR_MASK;
        goto write;
    }

    reg = pmu_msr_evtsel(env, msr);
    if (reg) {
        if (pmu->is_amd) {
            val &= AMD_EVTSEL_WRITABLE;
            reserved = 0;
        } else {
            reserved = INTEL_EVTSEL_RESERVED;
        }
        goto write;
    }

    if (!pmu->version) {
        return false;
    }
    status_bits = GLOBAL_CTR_MASK | GLOBAL_STATUS_OVFBUF;
    if (pmu->version >= 4) {
        status_bits |= GLOBAL_STATUS_CTR_FRZ | GLOBAL_STATUS_LBR_FRZ;
    }
    switch (msr) {
    case MSR_CORE_PERF_FIXED_CTR_CTRL:
        reg = &env->msr_fixed_ctr_ctrl;
        reserved = ~FIXED_CTRL_WRITABLE;
        break;
    case MSR_CORE_PERF_GLOBAL_CTRL:
        reg = &env->msr_global_ctrl;
        reserved = ~GLOBAL_CTR_MASK;
        break;
    case MSR_CORE_PERF_GLOBAL_OVF_CTRL:
        /* also known as IA32_PERF_GLOBAL_STATUS_RESET in version 4 */
        reserved = ~(status_bits | GLOBAL_STATUS_CONDCHGD);
        status_clear = val;
        break;
    case MSR_IA32_PERF_GLOBAL_STATUS_SET:
        if (pmu->version < 4) {
            return false;
        }
        reserved = ~status_bits;
        status_set = val;
        break;
    case MSR_IA32_DEBUGCTL:
        pmu->debugctl = val;
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

write:
    if (val & reserved) {
        *gp = true;
        return true;
    }
    /* The WRMSR itself retires under the old configuration */
    pmu_sync(env);
    if (reg) {
        *reg = val;
    }
    env->msr_global_status &= ~status_clear;
    env->msr_global_status |= status_set;
    pmu_rearm(env);
    return true;
}

bool x86_pmu_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val, bool *gp)
{
    X86PMUState *pmu = &env->pmu;
    uint64_t *reg;

    reg = pmu_msr_counter(env, msr);
    if (reg) {
        pmu_sync_before_insn(env);
        *val = *reg;
        return true;
    }
    reg = pmu_msr_evtsel(env, msr);
    if (reg) {
        *val = *reg;
        return true;
    }
    if (!pmu->version) {
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
        reg = &env->msr_fixed_counters[idx - (1u << 30)];
    } else {
        return false;
    }
    pmu_sync_before_insn(env);
    *val = *reg;
    return true;
}

/*
 * CPU model
 */

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
