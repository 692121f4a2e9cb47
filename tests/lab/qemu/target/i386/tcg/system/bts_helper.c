/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  Branch Trace Store for TCG
 */

/*
 * Intel SDM Vol. 3B, chapter "Debug, Branch Profile, TSC...", called SDM below:
 * "Branch Trace Store (BTS)", "BTS and DS Save Area" and the sections after it.
 * They are cited by title, because their numbers change.
 *
 * -cpu MODEL,pmu=on,ds=on,dtes64=on,ds-cpl=on gives it to an Intel CPU model.
 *
 * Where records come from
 * =======================
 *
 * Translated code calls helper_branch() for each near branch in the TBs of those
 * privileges whose branches are stored, and helper_bts_far() for each far one.
 * These TBs have the flag of those that Intel PT traces; env->pt.hooked tells
 * them that it is not for PT alone.  Interrupts and exceptions call
 * x86_bts_interrupt().
 *
 * Records go to memory by linear addresses, through the page tables in use at the
 * branch, with the rights of the kernel, at once.
 *
 * What the SDM leaves to the processor
 * ====================================
 *
 * - Whether BTS_OFF_OS and BTS_OFF_USR leave a branch from one privilege to
 *   another is decided where it comes from: with BTS_OFF_OS the kernel's entries
 *   are stored, and its exits are not.
 * - A record that finds no page, or no room in a buffer whose interrupt is asked
 *   for (BTINT), is lost.
 * - The interrupt comes with each record at or beyond the threshold.
 * - Without BTINT the index stays at the absolute maximum until the next record.
 * - Every branch has been predicted.
 *
 * What is missing
 * ===============
 *
 * The 32-bit format of legacy mode: nothing is stored outside of IA-32e mode.
 * Branch trace messages (TR without BTS) go to a bus that nobody sees.  PEBS.
 * Migration loses all of it, as it does IA32_DEBUGCTL.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/cpu_ldst.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "pt-internal.h"

/* SDM Vol. 4, "Architectural MSRs" */
#define MSR_IA32_DS_AREA        0x600

/* SDM "IA32_DEBUGCTL MSR" */
#define DEBUGCTL_TR             (1u << 6)
#define DEBUGCTL_BTS            (1u << 7)
#define DEBUGCTL_BTINT          (1u << 8)
#define DEBUGCTL_BTS_OFF_OS     (1u << 9)
#define DEBUGCTL_BTS_OFF_USR    (1u << 10)

/* SDM "IA-32e Mode DS Save Area": offsets in the buffer management area */
#define DS_BTS_BASE             0x00
#define DS_BTS_INDEX            0x08
#define DS_BTS_MAXIMUM          0x10
#define DS_BTS_THRESHOLD        0x18

/* A record: from, to, and flags */
#define RECORD_SIZE             24
#define RECORD_PREDICTED        (1u << 4)

static bool bts_reachable(CPUX86State *env, uint64_t addr, MMUAccessType type)
{
    void *host;

    return !(addr & 7) && sextract64(addr, 0, 48) == addr &&
           !(probe_access_flags(env, addr, 8, type, MMU_KSMAP64_IDX, true,
                                &host, 0) & TLB_INVALID_MASK);
}

static bool bts_load(CPUX86State *env, uint64_t addr, uint64_t *val)
{
    if (!bts_reachable(env, addr, MMU_DATA_LOAD)) {
        return false;
    }
    *val = cpu_ldq_le_mmuidx_ra(env, addr, MMU_KSMAP64_IDX, 0);
    return true;
}

static bool bts_store(CPUX86State *env, uint64_t addr, uint64_t val)
{
    if (!bts_reachable(env, addr, MMU_DATA_STORE)) {
        return false;
    }
    cpu_stq_le_mmuidx_ra(env, addr, val, MMU_KSMAP64_IDX, 0);
    return true;
}

/* SDM "Setting Up the BTS Buffer" */
static void bts_record(CPUX86State *env, uint64_t from, uint64_t to)
{
    uint64_t ds = env->bts.ds_area, base, index, maximum, threshold;
    bool interrupts = env->pmu.debugctl & DEBUGCTL_BTINT;

    if (!(env->hflags & HF_LMA_MASK) ||
        !bts_load(env, ds + DS_BTS_BASE, &base) ||
        !bts_load(env, ds + DS_BTS_INDEX, &index) ||
        !bts_load(env, ds + DS_BTS_MAXIMUM, &maximum) ||
        !bts_load(env, ds + DS_BTS_THRESHOLD, &threshold)) {
        return;
    }
    if (index + RECORD_SIZE > maximum) {
        if (interrupts) {
            return;
        }
        index = base;
    }
    if (!bts_store(env, index, from) || !bts_store(env, index + 8, to) ||
        !bts_store(env, index + 16, RECORD_PREDICTED)) {
        return;
    }
    index += RECORD_SIZE;
    bts_store(env, ds + DS_BTS_INDEX, index);
    if (interrupts && index >= threshold) {
        x86_pmu_raise_pmi(env);
    }
}

bool x86_bts_wanted(CPUX86State *env, int cpl)
{
    return env->bts.priv & (cpl ? 2 : 1);
}

void x86_bts_branch(CPUX86State *env, uint64_t to)
{
    if (x86_bts_wanted(env, env->hflags & HF_CPL_MASK)) {
        bts_record(env, env->bts.from, to);
    }
}

void x86_bts_interrupt(CPUX86State *env, uint64_t from_eip, int from_cpl)
{
    if (x86_bts_wanted(env, from_cpl)) {
        bts_record(env, from_eip, env->eip);
    }
}

/* A far transfer has come from env->bts.from, and gone to env->eip. */
void helper_bts_far(CPUX86State *env, uint32_t from_cpl)
{
    x86_bts_interrupt(env, env->bts.from, from_cpl);
}

/* SDM "CPL-Qualified Branch Trace Mechanism" */
void x86_bts_debugctl(CPUX86State *env, uint64_t debugctl)
{
    env->bts.priv = 0;
    if ((env->features[FEAT_1_EDX] & CPUID_DTS) &&
        (debugctl & DEBUGCTL_TR) && (debugctl & DEBUGCTL_BTS)) {
        env->bts.priv = (debugctl & DEBUGCTL_BTS_OFF_OS ? 0 : 1) |
                        (debugctl & DEBUGCTL_BTS_OFF_USR ? 0 : 2);
    }
    pt_update_tb_flags(env);
}

bool x86_bts_wrmsr(CPUX86State *env, uint32_t msr, uint64_t val, bool *gp)
{
    if (msr != MSR_IA32_DS_AREA || !(env->features[FEAT_1_EDX] & CPUID_DTS)) {
        return false;
    }
    if (sextract64(val, 0, 48) == val) {
        env->bts.ds_area = val;
    } else {
        *gp = true;
    }
    return true;
}

bool x86_bts_rdmsr(CPUX86State *env, uint32_t msr, uint64_t *val)
{
    if (msr != MSR_IA32_DS_AREA || !(env->features[FEAT_1_EDX] & CPUID_DTS)) {
        return false;
    }
    *val = env->bts.ds_area;
    return true;
}
