/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  Last branch records for TCG: state and interfaces
 *
 *  The design is described in system/lbr_helper.c.
 */
#ifndef I386_TCG_X86_LBR_H
#define I386_TCG_X86_LBR_H

/* This file is included by cpu.h. */

#define X86_LBR_DEPTH   32      /* a power of two */

typedef struct X86LBRState {
    /* MSR_LASTBRANCH_x_FROM_IP, _TO_IP and MSR_LBR_INFO_x */
    uint64_t from[X86_LBR_DEPTH];
    uint64_t to[X86_LBR_DEPTH];
    uint64_t info[X86_LBR_DEPTH];
    uint64_t tos;               /* MSR_LASTBRANCH_TOS */
    uint64_t select;            /* MSR_LBR_SELECT */
    /* Where the branch before went, and the cycles up to there since a record */
    uint64_t landed;
    uint64_t cycles;
    bool on;                    /* by IA32_DEBUGCTL, and not frozen */
} X86LBRState;

#ifndef CONFIG_USER_ONLY
/* Guest accesses; false if the MSR is not one of these. */
bool x86_lbr_wrmsr(CPUArchState *env, uint32_t msr, uint64_t val, bool *gp);
bool x86_lbr_rdmsr(CPUArchState *env, uint32_t msr, uint64_t *val);

/* Does the CPU have them? */
bool x86_lbr_is_there(CPUArchState *env);
/* IA32_DEBUGCTL or IA32_PERF_GLOBAL_STATUS has changed. */
void x86_lbr_update(CPUArchState *env);
/* A near branch at env->bts.from is taken; KIND is a PMUBranchKind, with PMU_BR_CALL. */
void x86_lbr_branch(CPUArchState *env, uint64_t to, int kind);
/* An interrupt or exception has been delivered; it came at FROM_EIP. */
void x86_lbr_interrupt(CPUArchState *env, uint64_t from_eip);
#endif

#endif
