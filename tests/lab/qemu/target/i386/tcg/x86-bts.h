/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  Branch Trace Store for TCG: state and interfaces
 *
 *  The design is described in system/bts_helper.c.
 */
#ifndef I386_TCG_X86_BTS_H
#define I386_TCG_X86_BTS_H

/* This file is included by cpu.h. */

typedef struct X86BTSState {
    /* IA32_DS_AREA; IA32_DEBUGCTL is in X86PMUState. */
    uint64_t ds_area;
    /* Where the branch is that translated code is about to take */
    uint64_t from;
    /* Branches are stored: bit 0 at CPL 0, bit 1 at CPL > 0 */
    uint8_t priv;
} X86BTSState;

#ifndef CONFIG_USER_ONLY
/* Guest accesses; false if the MSR is not one of BTS. */
bool x86_bts_wrmsr(CPUArchState *env, uint32_t msr, uint64_t val, bool *gp);
bool x86_bts_rdmsr(CPUArchState *env, uint32_t msr, uint64_t *val);

/* IA32_DEBUGCTL has been written. */
void x86_bts_debugctl(CPUArchState *env, uint64_t debugctl);
/* Are branches at CPL stored? */
bool x86_bts_wanted(CPUArchState *env, int cpl);
/* A near branch at env->bts.from is taken. */
void x86_bts_branch(CPUArchState *env, uint64_t to);
/* An interrupt or exception has been delivered; it came at FROM_EIP. */
void x86_bts_interrupt(CPUArchState *env, uint64_t from_eip, int from_cpl);

/* Raise a PMI that IA32_PERF_GLOBAL_STATUS does not tell of. */
void x86_pmu_raise_pmi(CPUArchState *env);
#endif

#endif
