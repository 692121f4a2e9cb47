/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  x86 performance monitoring unit for TCG: counting
 *
 *  This file counts, and turns overflows into interrupts.  The registers that
 *  the guest reads and writes are in pmu_msr.c, what CPU models have which PMU
 *  in pmu_model.c.
 */

/*
 * Two PMUs are modelled, enabled by -cpu MODEL,pmu=on, and several versions of each,
 * chosen by x-tcg-pmu-version:
 *
 * - Intel CPU models have the architectural PMU, versions 1 to 5, 2 if not told
 *   otherwise: four general-purpose and three fixed counters, in version 5
 *   eight and four, in version 1 no fixed ones and no global registers.
 *   Intel SDM Vol. 3B, chapter "Performance Monitoring", "Architectural
 *   Performance Monitoring"; called SDM below.
 *
 * - AMD CPU models have the six core counters of the PerfCtrExtCore extension
 *   if the CPU model has that, else the four legacy ones; with version 2, six core
 *   counters with the global registers of PerfMonV2.
 *   AMD64 APM Vol. 2, "Performance Monitoring Counters"; called APM below.
 *
 * With x-tcg-pmu-partial=on, CPUID announces what is not there, as some hypervisors do:
 * only the first two counters of each kind exist.
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
 * the "bus" event, but not of fixed counter 2), one slot of fixed counter 3 per cycle every eight cycles.
 * Mispredicted branches: what a small gshare predictor would mispredict;
 * exact and reproducible in this model, but like no particular processor.
 * Last level cache references and misses (Intel): every 256 and 4096
 * instructions, just not to be zero.
 * Events that count what another register selects, such as offcore responses: see
 * pmu_extra.c.
 *
 * What can be broken
 * ==================
 *
 * With x-tcg-pmu-breakable=on, a PMU with a status has registers of its own in which the
 * guest asks it to lose acknowledgements of overflows, to signal overflows twice, to have
 * statuses of other units, and to count as little as some hypervisors let it, see pmu_msr.c.
 * That is for tests of what has to survive this, or to notice.
 *
 * What is missing
 * ===============
 *
 * All other events, edge detection, AnyThread, PEBS, the host-only and
 * guest-only bits of AMD, and freezing in SMM.  AMD processors count interrupts
 * and exceptions among the retired branches (PPR, PMCx0C2), these do not.
 * Migration and snapshots lose IA32_DEBUGCTL and the state of the branch
 * predictor.
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
#include "pmu-internal.h"

/*
 * SDM, table "UMask and Event Select Encodings for Pre-Defined Architectural
 * Performance Events".  What the text below it says of instructions retired is
 * kept: a REP prefix counts once, a fault does not count, interrupt handlers
 * do.
 */
static const PMUEvent intel_events[] = {
    { 0xc0, 0x00, X86_PMU_INSN, 0 },    /* Instruction Retired */
    { 0x3c, 0x00, X86_PMU_INSN, 0 },    /* UnHalted Core Cycles */
    { 0x3c, 0x01, X86_PMU_INSN, 3 },    /* UnHalted Reference Cycles */
    { 0x2e, 0x4f, X86_PMU_INSN, 8 },    /* LLC Reference */
    { 0x2e, 0x41, X86_PMU_INSN, 12 },   /* LLC Misses */
    { 0xc4, 0x00, X86_PMU_BR, 0 },      /* Branch Instruction Retired */
    { 0xc5, 0x00, X86_PMU_BRM, 0 },     /* Branch Misses Retired */
    /*
     * BR_INST_RETIRED.CONDITIONAL of the cores up to Skylake, and .COND from Ice Lake on, where
     * the first is something else (event lists of both)
     */
    { 0xc4, 0x01, X86_PMU_COND, 0 },
    { 0xc4, 0x11, X86_PMU_COND, 0 },
};

/*
 * PPR for AMD family 17h and later, "Core Performance Monitor Counters":
 * PMCx0C0, PMCx076, PMCx0C2, PMCx0C3 and PMCx0D1.  Linux uses the same of the first four for all
 * earlier families, back to the K7.
 */
static const PMUEvent amd_events[] = {
    { 0xc0, 0x00, X86_PMU_INSN, 0 },    /* Retired Instructions */
    { 0x76, 0x00, X86_PMU_INSN, 0 },    /* Cycles not in Halt */
    { 0xc2, 0x00, X86_PMU_BR, 0 },      /* Retired Branch Instructions */
    { 0xc3, 0x00, X86_PMU_BRM, 0 },     /* Retired ... Mispredicted */
    { 0xd1, 0x00, X86_PMU_COND, 0 },    /* Retired Conditional Branch Instructions */
};

/*
 * "BIOS and Kernel Developer's Guide" for AMD family 15h, models 00h to 0Fh (42301),
 * "Performance Counter Events": which counters each of these is for
 */
static const PMUEvent amd_f15_events[] = {
    { 0xc0, 0x00, X86_PMU_INSN, 0, 0x3f },
    { 0x76, 0x00, X86_PMU_INSN, 0, 0x07 },
    { 0xc2, 0x00, X86_PMU_BR, 0, 0x3f },
    { 0xc3, 0x00, X86_PMU_BRM, 0, 0x3f },
};

/* One of the counters that the guest sees, if it is enabled */
typedef struct PMUCounter {
    uint64_t *val;
    int status_bit;     /* in the global control and status */
    const PMUEvent *ev;
    unsigned priv;      /* bit 0: counts at CPL 0, bit 1: at CPL > 0 */
    bool pmi;
} PMUCounter;

static inline int pmu_cur_priv(CPUX86State *env)
{
    return (env->hflags & HF_CPL_MASK) != 0;
}

static const PMUEvent *pmu_events(X86PMUState *pmu, int *n)
{
    if (!pmu->is_amd) {
        *n = ARRAY_SIZE(intel_events);
        return intel_events;
    }
    if (pmu->is_f15) {
        *n = ARRAY_SIZE(amd_f15_events);
        return amd_f15_events;
    }
    *n = ARRAY_SIZE(amd_events);
    return amd_events;
}

/* Intel's conditional branches have another unit mask from Ice Lake on, which has version 5. */
static bool pmu_has_umask(const X86PMUState *pmu, const PMUEvent *ev)
{
    return pmu->is_amd || ev->base != X86_PMU_COND || (ev->umask == 0x11) == (pmu->version >= 5);
}

/* What EVTSEL counts on general counter INDEX; NULL: nothing */
static const PMUEvent *pmu_find_event(X86PMUState *pmu, uint64_t evtsel, int index)
{
    int n;
    const PMUEvent *ev = pmu_events(pmu, &n);
    unsigned event = (evtsel & 0xff) | ((evtsel >> 24) & 0xf00);
    unsigned umask = (evtsel >> 8) & 0xff;
    unsigned cmask = (evtsel >> EVTSEL_CMASK_SHIFT) & 0xff;
    bool inv = evtsel & EVTSEL_INV;

    /* With a counter mask, count the cycles that have enough events (or not) */
    if (cmask && (1 >= cmask) == inv) {
        return NULL;
    }
    for (; n--; ev++) {
        if (ev->event == event && ev->umask == umask && pmu_has_umask(pmu, ev)) {
            return !ev->counters || ((ev->counters >> index) & 1) ? ev : NULL;
        }
    }
    return pmu_extra_event(pmu, event | (umask << 8));
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
        if (pmu->silent_event && (sel & EVTSEL_EVENT) == pmu->silent_event) {
            return false;
        }
        c->val = &env->msr_gp_counters[n];
        c->status_bit = n;
        c->ev = pmu_find_event(pmu, sel, n);
        c->priv = (sel & EVTSEL_OS ? 1 : 0) | (sel & EVTSEL_USR ? 2 : 0);
        c->pmi = sel & EVTSEL_INT;
    } else {
        unsigned ctrl;

        n -= pmu->num_gp;
        ctrl = env->msr_fixed_ctr_ctrl >> (4 * n);
        c->val = pmu_fixed_counter(env, n);
        c->status_bit = GLOBAL_FIXED_SHIFT + n;
        c->ev = &intel_events[0]; /* whatever it counts: see the top */
        c->priv = ctrl & (FIXED_CTRL_OS | FIXED_CTRL_USR);
        c->pmi = ctrl & FIXED_CTRL_PMI;
    }
    if ((pmu->silent_counters >> c->status_bit) & 1) {
        return false;
    }
    if (pmu->has_global &&
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
void x86_pmu_request_check(CPUX86State *env)
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

/* The buffer of BTS is full up to the threshold, see bts_helper.c. */
void x86_pmu_raise_pmi(CPUX86State *env)
{
    env->pmu.pmi_pending = true;
    x86_pmu_request_check(env);
}

/* An output region of Intel PT with the INT bit is full, see pt_output.c. */
void x86_pmu_raise_topa(CPUX86State *env)
{
    env->msr_global_status |= GLOBAL_STATUS_TOPAPMI;
    x86_pmu_raise_pmi(env);
}

/*
 * Counter N, as in IA32_PERF_GLOBAL_CTRL, has been written, and is nearer to its overflow
 * than this PMU bears, see pmu_msr.c: it seems to have overflowed, whether it counts or not.
 */
void pmu_signal_at_once(CPUX86State *env, int n)
{
    env->msr_global_status |= 1ULL << n;
    x86_pmu_raise_pmi(env);
}

/* Bring the guest-visible counters up to date. */
void pmu_sync(CPUX86State *env)
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
            if (pmu->has_global) {
                env->msr_global_status |= 1ULL << c.status_bit;
            }
            pmi |= c.pmi;
        }
    }
    if (pmi) {
        /*
         * SDM "Freezing LBR and Performance Counters on PMI"; APM Vol. 2
         * "PerfCntrGlobalStatus", which has the bits of Intel's version 4
         */
        if (pmu->debugctl & DEBUGCTL_FREEZE_PERFMON_ON_PMI) {
            if (pmu->is_amd || pmu->version >= 4) {
                env->msr_global_status |= GLOBAL_STATUS_CTR_FRZ;
            } else {
                env->msr_global_ctrl = 0;
            }
        }
        if (x86_lbr_is_there(env) && (pmu->debugctl & DEBUGCTL_FREEZE_LBRS_ON_PMI)) {
            if (pmu->version >= 4) {
                env->msr_global_status |= GLOBAL_STATUS_LBR_FRZ;
            } else {
                pmu->debugctl &= ~DEBUGCTL_LBR;
            }
            x86_lbr_update(env);
        }
        pmu->pmi_pending = true;
        x86_pmu_request_check(env);
    }
}

/* After pmu_sync(): set the down-counters, and which TBs maintain them. */
void pmu_rearm(CPUX86State *env)
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
            if (c.ev->base == X86_PMU_BR || c.ev->base == X86_PMU_COND) {
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
void pmu_sync_before_insn(CPUX86State *env)
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
        x86_pmu_request_check(env);
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
    x86_pmu_request_check(env);
}

/* A conditional branch that ends at PC retires, at the end of a TB. */
void helper_pmu_cond_branch(CPUX86State *env, target_ulong pc, uint32_t taken)
{
    X86PMUState *pmu = &env->pmu;
    uint8_t *ctr = &pmu->bht[(pc ^ pmu->branch_history) % X86_PMU_BHT_SIZE];

    if ((*ctr >= 2) != taken) {
        if (--pmu->left[X86_PMU_BRM][pmu_cur_priv(env)] <= 0) {
            x86_pmu_request_check(env);
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
