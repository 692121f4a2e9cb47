/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  Last branch records for TCG
 */

/*
 * Intel SDM Vol. 3B, chapter "Debug, Branch Profile, TSC...", called SDM below:
 * "Last Branch, Interrupt, and Exception Recording" of the models from Nehalem to
 * Skylake.  They are cited by title, because their numbers change.
 *
 * -cpu MODEL,pmu=on,lbr-fmt=5 gives an Intel CPU model the 32 records of Skylake,
 * which have a register of information besides (IA32_PERF_CAPABILITIES[5:0] = 5).
 *
 * Where records come from
 * =======================
 *
 * As those of Branch Trace Store do: see bts_helper.c.  Translated code calls
 * helper_branch() for each near branch while records are taken, whatever the
 * privilege, and helper_lbr_far() for each far one.  Interrupts and exceptions call
 * x86_lbr_interrupt().
 *
 * What is invented
 * ================
 *
 * - The cycles of a record are the bytes of code that were passed since the record
 *   before: from where each branch went to where the next one was, up to 65535.
 *   (There is no count of instructions in the midst of translated code.)
 * - A conditional branch that goes forward has been mispredicted; all others have
 *   been predicted.
 *
 * What the SDM leaves to the processor
 * ====================================
 *
 * - In call-stack mode a return clears the record that it takes away.
 * - Registers of records can be written, with any value.
 *
 * What is missing
 * ===============
 *
 * Formats of other models, transactions, the freezing in SMM.  Migration loses all of
 * it, as it does IA32_DEBUGCTL.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "pmu-internal.h"
#include "pt-internal.h"

/* SDM Vol. 4, "MSRs in the 6th-13th Generation Intel Core Processors" */
#define MSR_LBR_SELECT          0x1c8
#define MSR_LASTBRANCH_TOS      0x1c9
#define MSR_LASTBRANCH_0_FROM   0x680
#define MSR_LASTBRANCH_0_TO     0x6c0
#define MSR_LBR_INFO_0          0xdc0

/* SDM "LBR MSRs": MSR_LBR_INFO_x of Skylake */
#define LBR_INFO_MISPRED        (1ULL << 63)
#define LBR_INFO_CYCLES         0xffff

/*
 * SDM "Filtering of Last Branch Records": what a set bit of MSR_LBR_SELECT leaves out;
 * but the last one turns a mode on, "LBR Call Stack Enhanced"
 */
#define LBR_CPL_EQ_0            (1u << 0)
#define LBR_CPL_NEQ_0           (1u << 1)
#define LBR_JCC                 (1u << 2)
#define LBR_NEAR_REL_CALL       (1u << 3)
#define LBR_NEAR_IND_CALL       (1u << 4)
#define LBR_NEAR_RET            (1u << 5)
#define LBR_NEAR_IND_JMP        (1u << 6)
#define LBR_NEAR_REL_JMP        (1u << 7)
#define LBR_FAR_BRANCH          (1u << 8)
#define LBR_EN_CALLSTACK        (1u << 9)
#define LBR_SELECT_WRITABLE     0x3ff

bool x86_lbr_is_there(CPUX86State *env)
{
    return (env->features[FEAT_PERF_CAPABILITIES] & PERF_CAP_LBR_FMT) == 5;
}

static void lbr_push(CPUX86State *env, uint64_t from, uint64_t to, bool mispredicted)
{
    X86LBRState *lbr = &env->lbr;

    lbr->tos = (lbr->tos + 1) % X86_LBR_DEPTH;
    lbr->from[lbr->tos] = from;
    lbr->to[lbr->tos] = to;
    lbr->info[lbr->tos] = MIN(lbr->cycles, LBR_INFO_CYCLES) |
                          (mispredicted ? LBR_INFO_MISPRED : 0);
    lbr->cycles = 0;
}

static void lbr_pop(CPUX86State *env)
{
    X86LBRState *lbr = &env->lbr;

    lbr->from[lbr->tos] = 0;
    lbr->to[lbr->tos] = 0;
    lbr->info[lbr->tos] = 0;
    lbr->tos = (lbr->tos - 1) % X86_LBR_DEPTH;
}

/* Time passes, and a branch is taken. CLASS is its bit of MSR_LBR_SELECT; IS_USER: it ends there. */
static void lbr_branch(CPUX86State *env, uint64_t from, uint64_t to, unsigned class,
                       bool is_user)
{
    X86LBRState *lbr = &env->lbr;

    lbr->cycles += from > lbr->landed ? from - lbr->landed : 0;
    lbr->landed = to;
    if (lbr->select & (class | (is_user ? LBR_CPL_NEQ_0 : LBR_CPL_EQ_0))) {
        return;
    }
    if ((lbr->select & LBR_EN_CALLSTACK) && class == LBR_NEAR_RET) {
        lbr_pop(env);
    } else {
        lbr_push(env, from, to, class == LBR_JCC && to > from);
    }
}

static unsigned lbr_class(int kind)
{
    switch (kind) {
    case PMU_BR_TAKEN:
        return LBR_JCC;
    case PMU_BR_DIRECT:
        return LBR_NEAR_REL_JMP;
    case PMU_BR_DIRECT | PMU_BR_CALL:
        return LBR_NEAR_REL_CALL;
    case PMU_BR_INDIRECT:
        return LBR_NEAR_IND_JMP;
    case PMU_BR_INDIRECT | PMU_BR_CALL:
        return LBR_NEAR_IND_CALL;
    default:
        return LBR_NEAR_RET;
    }
}

/* SDM "LBR Call Stack Enhanced": a call of what is next to it, of five bytes, is none. */
void x86_lbr_branch(CPUX86State *env, uint64_t to, int kind)
{
    X86LBRState *lbr = &env->lbr;
    uint64_t from = env->bts.from;

    if (!lbr->on) {
        return;
    }
    if ((lbr->select & LBR_EN_CALLSTACK) && to == from + 5 &&
        lbr_class(kind) == LBR_NEAR_REL_CALL) {
        return;
    }
    lbr_branch(env, from, to, lbr_class(kind), env->hflags & HF_CPL_MASK);
}

void x86_lbr_interrupt(CPUX86State *env, uint64_t from_eip)
{
    if (env->lbr.on) {
        lbr_branch(env, from_eip, env->eip, LBR_FAR_BRANCH,
                   env->hflags & HF_CPL_MASK);
    }
}

/* A far transfer has come from env->bts.from, and gone to env->eip. */
void helper_lbr_far(CPUX86State *env)
{
    x86_lbr_interrupt(env, env->bts.from);
}

void x86_lbr_update(CPUX86State *env)
{
    bool on = x86_lbr_is_there(env) && (env->pmu.debugctl & DEBUGCTL_LBR) &&
              !(env->msr_global_status & GLOBAL_STATUS_LBR_FRZ);

    if (on != env->lbr.on) {
        env->lbr.on = on;
        env->lbr.landed = env->eip;
        env->lbr.cycles = 0;
        pt_update_tb_flags(env);
    }
}

static uint64_t *lbr_msr(CPUX86State *env, uint32_t msr)
{
    X86LBRState *lbr = &env->lbr;

    if (!x86_lbr_is_there(env)) {
        return NULL;
    }
    if (msr - MSR_LASTBRANCH_0_FROM < X86_LBR_DEPTH) {
        return &lbr->from[msr - MSR_LASTBRANCH_0_FROM];
    }
    if (msr - MSR_LASTBRANCH_0_TO < X86_LBR_DEPTH) {
        return &lbr->to[msr - MSR_LASTBRANCH_0_TO];
    }
    if (msr - MSR_LBR_INFO_0 < X86_LBR_DEPTH) {
        return &lbr->info[msr - MSR_LBR_INFO_0];
    }
    return msr == MSR_LASTBRANCH_TOS ? &lbr->tos :
           msr == MSR_LBR_SELECT ? &lbr->select : NULL;
}

bool x86_lbr_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val, bool *gp)
{
    uint64_t *reg = lbr_msr(env, msr);

    if (!reg) {
        return false;
    }
    if (msr == MSR_LBR_SELECT && (val & ~(uint64_t)LBR_SELECT_WRITABLE)) {
        *gp = true;
    } else {
        *reg = msr == MSR_LASTBRANCH_TOS ? val % X86_LBR_DEPTH : val;
    }
    return true;
}

bool x86_lbr_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    const uint64_t *reg = lbr_msr(env, msr);

    if (reg) {
        *val = *reg;
    }
    return reg;
}
