/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  Intel Processor Trace for TCG: packets, and what makes them
 *
 *  Where packets are written to is in pt_output.c, the registers are in
 *  pt_msr.c.
 */

/*
 * Intel SDM Vol. 3C, chapter "Intel Processor Trace"; called SDM below.  Its
 * sections are cited by title, because their numbers change.
 *
 * -cpu MODEL,pmu=on,intel-pt=on gives it to an Intel CPU model.
 *
 * Where packets come from
 * =======================
 *
 * - Conditional branches (TNT), near indirect branches and returns (TIP) are
 *   traced by translated code, in the TBs of those privileges that are traced.
 *   cpu_get_tb_cpu_state() adds HF_PT_MASK to the flags of such TBs; all
 *   others are those that QEMU would generate without this file.  TNT bits
 *   are collected inline, in pt.tnt.
 *
 * - Far transfers call helper_pt_far() on CPU models with Intel PT, whether
 *   they are traced or not: they enter and leave what is traced.  Interrupts
 *   and exceptions call x86_pt_interrupt().
 *
 * - Other packets need an exact IP: PSB, and TIP.PGE after the WRMSR that sets
 *   TraceEn.  These request CPU_INTERRUPT_PMU, and x86_pt_check() sends them
 *   between TBs, before the next instruction.
 *
 * - If there are ranges of addresses, translated code calls helper_branch()
 *   for each branch of a privilege that is traced, in and out of the ranges.
 *   Branches and events lead into a range or out of it, and not what is
 *   executed one after the other, SDM "Filtering by IP".
 *
 * What the SDM leaves to the processor
 * ====================================
 *
 * - Of the calls that may be used for the compression of returns, those are
 *   forgotten that came before a return which was not compressed, or before
 *   PacketEn was set: who decodes may forget them then or not.
 * - A TNT packet is sent when it is full, or before any other packet; no TIP is
 *   deferred.
 * - IP payloads are effective addresses, not linear ones (LIP is 0).
 * - No internal buffer ever overflows, so there is no OVF packet: tracing
 *   slows the CPU down instead.
 * - A TSC packet comes with each far transfer, not only with PSB: without MTC
 *   and CYC packets a decoder could not tell otherwise on which side of a
 *   context switch it is.
 * - The core always runs at the frequency of the TSC, and the cycle counter is
 *   the TSC: each packet has the time at which it was made, which for TNT is
 *   that of its last branch.
 * - MTC packets are not sent by a clock of their own: one comes before the next
 *   packet of another kind, if there was a reason for one or more.
 *
 * What is missing
 * ===============
 *
 * PTWRITE, PWRx, event trace and MODE.TSX packets; trace transport; SMM, which
 * should stop tracing; triple faults.  CPUID leaf 14H says so where it can.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/helper-proto.h"
#include "exec/exec-all.h"
#include "system/cpu-timers.h"
#include "tcg/helper-tcg.h"
#include "pt-internal.h"

/* First byte of packets with an IP, SDM "Packet Definitions" */
#define PKT_TIP                 0x0d
#define PKT_TIP_PGE             0x11
#define PKT_TIP_PGD             0x01
#define PKT_FUP                 0x1d

/* ContextEn, SDM "Context Enable (ContextEn)", if CPL were as given */
bool pt_context_en(CPUX86State *env, int cpl)
{
    uint64_t ctl = env->msr_rtit_ctrl;

    if ((ctl & RTIT_CTL_CR3FILTER) &&
        ((env->cr[3] ^ env->msr_rtit_cr3_match) & ~0x1full)) {
        return false;
    }
    return ctl & (cpl ? RTIT_CTL_USER : RTIT_CTL_OS);
}

/* Should branches executed at CPL be traced, if CR3 remains what it is? */
static bool pt_wanted(CPUX86State *env, int cpl)
{
    return env->pt.active && !env->pt.starting &&
           (env->msr_rtit_ctrl & RTIT_CTL_BRANCHEN) && pt_context_en(env, cpl);
}

static bool pt_in_range(CPUX86State *env, uint64_t ip, int use)
{
    unsigned n;

    for (n = 0; n < PT_NR_RANGES; n++) {
        if (pt_range(env, n) == use && ip >= env->msr_rtit_addrs[2 * n] &&
            ip <= env->msr_rtit_addrs[2 * n + 1]) {
            return true;
        }
    }
    return false;
}

/* SDM "Filter Enable (FilterEn)": a branch or event has gone to IP. */
static void pt_land(CPUX86State *env, uint64_t ip)
{
    unsigned n;
    bool any = false;

    for (n = 0; n < PT_NR_RANGES; n++) {
        any |= pt_range(env, n) == PT_RANGE_FILTER;
    }
    env->pt.filter_en = !any || pt_in_range(env, ip, PT_RANGE_FILTER);
}

/* Has to be called after each change to what pt_wanted(), BTS and LBR use. */
void pt_update_tb_flags(CPUX86State *env)
{
    int cpl;

    for (cpl = 0; cpl < 4; cpl++) {
        env->pt.tb_flags[cpl] = env->lbr.on || pt_wanted(env, cpl) ||
                                x86_bts_wanted(env, cpl) ? HF_PT_MASK : 0;
    }
    env->pt.hooked = env->lbr.on || env->bts.priv ||
                     (env->pt.active && env->pt.filtered);
}

/*
 * Packets, SDM "Packet Definitions"
 */

/* A two byte opcode, and LEN bytes of payload */
static void pt_out_ext(CPUX86State *env, uint8_t opcode,
                       uint64_t payload, unsigned len)
{
    uint8_t packet[10] = { 0x02, opcode };

    stq_le_p(packet + 2, payload);
    pt_out(env, packet, 2 + len);
}

static void pt_out_tnt(CPUX86State *env)
{
    uint64_t tnt = env->pt.tnt;

    if (tnt == 1) {
        return;
    }
    env->pt.tnt = 1;
    if (tnt < 0x80) {
        uint8_t packet = tnt << 1;

        pt_out(env, &packet, 1);
    } else {
        pt_out_ext(env, 0xa3, tnt, 6);
    }
}

/* SDM "IP Compression" */
static void pt_out_ip(CPUX86State *env, uint8_t opcode, uint64_t ip)
{
    X86PTState *pt = &env->pt;
    uint64_t diff = ip ^ pt->last_ip;
    uint8_t packet[9];
    unsigned ipbytes, len;

    if (diff >> 16 == 0) {
        ipbytes = 1;
        len = 2;
    } else if (diff >> 32 == 0) {
        ipbytes = 2;
        len = 4;
    } else if (sextract64(ip, 0, 48) == ip) {
        ipbytes = 3;
        len = 6;
    } else if (diff >> 48 == 0) {
        ipbytes = 4;
        len = 6;
    } else {
        ipbytes = 6;
        len = 8;
    }
    packet[0] = opcode | (ipbytes << 5);
    stq_le_p(packet + 1, ip);
    pt_out(env, packet, 1 + len);
    pt->last_ip = ip;
}

/*
 * Clocks
 */

/* With icount, time can only be told in certain places. */
static bool pt_can_tell_time(CPUX86State *env)
{
    return !icount_enabled() || env_cpu(env)->neg.can_do_io;
}

static uint64_t pt_tsc(CPUX86State *env)
{
    return cpu_get_tsc(env) + env->tsc_offset;
}

static uint64_t pt_mtc_of(CPUX86State *env, uint64_t tsc)
{
    return tsc / TSC_PER_ART >>
           extract64(env->msr_rtit_ctrl, RTIT_CTL_MTCFREQ_SHIFT, 4);
}

void pt_start_clocks(CPUX86State *env)
{
    uint64_t tsc = pt_can_tell_time(env) ? pt_tsc(env) : 0;

    env->pt.last_cyc = tsc;
    env->pt.last_mtc = pt_mtc_of(env, tsc);
}

/* SDM "TSC/MTC Alignment (TMA) Packet" */
static void pt_out_tsc(CPUX86State *env)
{
    uint8_t packet[9] = { 0x19 };
    uint64_t tsc;

    if (!(env->msr_rtit_ctrl & RTIT_CTL_TSCEN) || !pt_can_tell_time(env)) {
        return;
    }
    tsc = pt_tsc(env);
    stq_le_p(packet + 1, tsc);
    pt_out(env, packet, 8);
    if (env->msr_rtit_ctrl & RTIT_CTL_MTCEN) {
        uint64_t ctc = extract64(tsc / TSC_PER_ART, 0, 16);

        pt_out_ext(env, 0x73, ctc | tsc % TSC_PER_ART << 24, 5);
        env->pt.last_mtc = pt_mtc_of(env, tsc);
    }
}

/* SDM "Core:Bus Ratio (CBR) Packet" */
static void pt_out_cbr(CPUX86State *env)
{
    pt_out_ext(env, 0x03, CORE_BUS_RATIO, 2);
}

/* SDM "Cycle Count Packet (CYC) Packet" and "Cycle Thresholds" */
static void pt_out_cyc(CPUX86State *env, uint64_t tsc)
{
    uint64_t cycles = tsc - env->pt.last_cyc;
    unsigned thresh = extract64(env->msr_rtit_ctrl,
                                RTIT_CTL_CYCTHRESH_SHIFT, 4);
    uint8_t packet[10];
    unsigned len = 0;

    if (!cycles || (thresh && cycles < 1ull << (thresh - 1))) {
        return;
    }
    env->pt.last_cyc = tsc;
    packet[len++] = 3 | (cycles & 0x1f) << 3 | (cycles > 0x1f) << 2;
    for (cycles >>= 5; cycles; cycles >>= 7) {
        packet[len++] = (cycles & 0x7f) << 1 | (cycles > 0x7f);
    }
    pt_out(env, packet, len);
}

/* What tells the time, before the packets of an instruction or event */
static void pt_out_timing(CPUX86State *env)
{
    uint64_t ctl = env->msr_rtit_ctrl, tsc, mtc;

    if (!(ctl & (RTIT_CTL_MTCEN | RTIT_CTL_CYCEN)) || !env->pt.active ||
        !pt_can_tell_time(env)) {
        return;
    }
    tsc = pt_tsc(env);
    if (ctl & RTIT_CTL_CYCEN) {
        pt_out_cyc(env, tsc);
    }
    mtc = pt_mtc_of(env, tsc);
    if ((ctl & RTIT_CTL_MTCEN) && mtc != env->pt.last_mtc) {
        uint8_t packet[2] = { 0x59, mtc };

        env->pt.last_mtc = mtc;
        pt_out(env, packet, sizeof(packet));
    }
}

/* SDM "MODE Packets": CS.D, and CS.L && LMA */
static void pt_out_exec_mode(CPUX86State *env, bool force)
{
    int mode = env->hflags & HF_CS64_MASK ? 1 :
               env->hflags & HF_CS32_MASK ? 2 : 0;
    uint8_t packet[2] = { 0x99, mode };

    if (force || mode != env->pt.exec_mode) {
        env->pt.exec_mode = mode;
        pt_out(env, packet, sizeof(packet));
    }
}

/* SDM "Paging Information Packet (PIP)" */
static void pt_out_pip(CPUX86State *env, uint64_t cr3)
{
    pt_out_ext(env, 0x43, extract64(cr3, 5, 47) << 1, 6);
}

/* SDM "Packet Stream Boundary (PSB) Packet", PSB+ */
static void pt_out_psb(CPUX86State *env)
{
    X86PTState *pt = &env->pt;
    uint8_t psb[16];
    int i;

    pt_out_tnt(env);
    for (i = 0; i < sizeof(psb); i += 2) {
        psb[i] = 0x02;
        psb[i + 1] = 0x82;
    }
    pt_out(env, psb, sizeof(psb));
    pt->last_ip = 0;
    pt->nr_calls = 0;
    env->msr_rtit_status &= ~RTIT_STATUS_BYTECNT;

    pt_out_tsc(env);
    if (env->msr_rtit_ctrl & RTIT_CTL_OS) {
        pt_out_pip(env, env->cr[3]);
    }
    pt_out_cbr(env);
    if (pt->packet_en) {
        pt_out_exec_mode(env, true);
        pt_out_ip(env, PKT_FUP, env->eip);
    }
    pt_out_ext(env, 0x23, 0, 0);
    pt->psb_pending = false;
}

/* PacketEn becomes true with the instruction at IP. */
static void pt_out_pge(CPUX86State *env, uint64_t ip)
{
    pt_out_tsc(env);
    pt_out_exec_mode(env, true);
    pt_out_ip(env, PKT_TIP_PGE, ip);
    env->pt.nr_calls = 0;
    env->pt.packet_en = true;
}

/*
 * PacketEn becomes false.  SDM "Packet Generation Disable (TIP.PGD) Packet":
 * the IP is suppressed if it is out of context.
 */
static void pt_out_pgd(CPUX86State *env)
{
    uint8_t packet = PKT_TIP_PGD;

    pt_out_tnt(env);
    pt_out(env, &packet, 1);
    env->pt.packet_en = false;
}

/* The same, out of the ranges of addresses, where the IP may be told */
static void pt_out_pgd_ip(CPUX86State *env, uint64_t ip)
{
    pt_out_tnt(env);
    pt_out_ip(env, PKT_TIP_PGD, ip);
    env->pt.packet_en = false;
}

/* SDM "TraceStop" and "TraceStop Packet": is it there? */
static void pt_check_stop(CPUX86State *env, uint64_t ip)
{
    if (env->pt.filtered && pt_in_range(env, ip, PT_RANGE_STOP) &&
        pt_context_en(env, env->hflags & HF_CPL_MASK)) {
        if (env->pt.packet_en) {
            pt_out_pgd_ip(env, ip);
        }
        pt_out_ext(env, 0x83, 0, 0);
        pt_flush(env);
        if (env->pt.active) {
            pt_stop_output(env, RTIT_STATUS_STOPPED);
        }
    }
}

/*
 * Sources of packets
 */

void helper_pt_tnt_full(CPUX86State *env)
{
    pt_out_timing(env);
    pt_out_tnt(env);
}

void helper_pt_tip(CPUX86State *env, target_ulong eip)
{
    pt_out_timing(env);
    pt_out_tnt(env);
    pt_out_ip(env, PKT_TIP, eip);
}

/* SDM "Indirect Transfer Compression for Returns (RET)" */
void helper_pt_call(CPUX86State *env, target_ulong next_eip)
{
    X86PTState *pt = &env->pt;

    pt->calls[pt->call_top] = next_eip;
    pt->call_top = (pt->call_top + 1) % X86_PT_CALLS;
    pt->nr_calls = MIN(pt->nr_calls + 1, X86_PT_CALLS);
}

void helper_pt_ret(CPUX86State *env, target_ulong eip)
{
    X86PTState *pt = &env->pt;
    unsigned top = (pt->call_top - 1) % X86_PT_CALLS;

    if (pt->nr_calls && pt->calls[top] == eip &&
        !(env->msr_rtit_ctrl & RTIT_CTL_DISRETC)) {
        pt->call_top = top;
        pt->nr_calls--;
        pt->tnt = pt->tnt << 1 | 1;
        if (pt->tnt >= X86_PT_TNT_FULL) {
            helper_pt_tnt_full(env);
        }
    } else {
        pt->nr_calls = 0;
        helper_pt_tip(env, eip);
    }
}

/*
 * A near branch, there may be ranges of addresses.  SDM "Packet Generation under
 * Different Enable Conditions", rows 6 to 9
 */
static void pt_branch(CPUX86State *env, uint64_t target, PMUBranchKind kind)
{
    X86PTState *pt = &env->pt;
    bool taken = kind != PMU_BR_NOT_TAKEN;

    if (!pt_wanted(env, env->hflags & HF_CPL_MASK)) {
        return;
    }
    if (taken) {
        pt_land(env, target);
    }
    if (!pt->packet_en) {
        if (taken && pt->filter_en) {
            pt_out_timing(env);
            pt_out_pge(env, target);
        }
    } else if (taken && !pt->filter_en) {
        pt_out_timing(env);
        if (kind == PMU_BR_TAKEN) {
            pt_out_pgd(env);
        } else {
            pt_out_pgd_ip(env, target);
        }
    } else if (kind == PMU_BR_INDIRECT) {
        helper_pt_tip(env, target);
    } else if (kind == PMU_BR_RETURN) {
        helper_pt_ret(env, target);
    } else if (kind != PMU_BR_DIRECT) {
        pt->tnt = pt->tnt << 1 | taken;
        if (pt->tnt >= X86_PT_TNT_FULL) {
            helper_pt_tnt_full(env);
        }
    }
    if (taken) {
        pt_check_stop(env, target);
    }
}

/* A near branch while something has to know of each, in a TB that traces */
void helper_branch(CPUX86State *env, target_ulong target, uint32_t kind)
{
    if (kind != PMU_BR_NOT_TAKEN) {
        x86_bts_branch(env, target);
        x86_lbr_branch(env, target, kind);
    }
    pt_branch(env, target, kind & ~PMU_BR_CALL);
}

/* A far transfer has gone to env->eip, from the instruction at *FUP. */
static void pt_far_transfer(CPUX86State *env, const uint64_t *fup)
{
    X86PTState *pt = &env->pt;
    bool wanted = pt_wanted(env, env->hflags & HF_CPL_MASK), here = wanted;

    if (!pt->starting) {
        pt_land(env, env->eip);
        wanted = wanted && pt->filter_en;
    }
    pt_out_timing(env);
    if (pt->packet_en) {
        pt_out_tnt(env);
        pt_out_tsc(env);
        if (fup) {
            pt_out_ip(env, PKT_FUP, *fup);
        }
        if (wanted) {
            pt_out_exec_mode(env, false);
            pt_out_ip(env, PKT_TIP, env->eip);
        } else if (here) {
            pt_out_pgd_ip(env, env->eip);
        } else {
            pt_out_pgd(env);
        }
    } else if (wanted) {
        pt_out_pge(env, env->eip);
    }
    pt_check_stop(env, env->eip);
}

void helper_pt_far(CPUX86State *env)
{
    if (env->pt.active) {
        pt_far_transfer(env, NULL);
    }
}

/* SDM "FUP Cases and IP Payload" */
void x86_pt_interrupt(CPUX86State *env, uint64_t from_eip)
{
    if (env->pt.active) {
        pt_far_transfer(env, &from_eip);
    }
}

void x86_pt_cr3_write(CPUX86State *env, uint64_t new_cr3)
{
    if (!env->pt.active || env->pt.starting) {
        return;
    }
    if ((env->msr_rtit_ctrl & RTIT_CTL_OS) &&
        (env->msr_rtit_ctrl & RTIT_CTL_BRANCHEN)) {
        pt_out_timing(env);
        pt_out_tnt(env);
        pt_out_pip(env, new_cr3);
    }
    if (env->msr_rtit_ctrl & RTIT_CTL_CR3FILTER) {
        x86_pmu_request_check(env);
    }
}

/* Between TBs: env->eip is the address of the next instruction. */
void x86_pt_check(CPUX86State *env)
{
    X86PTState *pt = &env->pt;
    bool wanted;

    if (!pt->active) {
        return;
    }
    if (pt->starting) {
        pt->starting = false;
        pt_land(env, env->eip);
        pt_out_psb(env);
    }
    wanted = pt_wanted(env, env->hflags & HF_CPL_MASK) && pt->filter_en;
    if (wanted != pt->packet_en) {
        pt_out_timing(env);
        if (wanted) {
            pt_out_pge(env, env->eip);
        } else {
            pt_out_pgd(env);
        }
    } else if (pt->psb_pending) {
        pt_out_psb(env);
    }
    pt_update_tb_flags(env);
}

/* TraceEn is about to be cleared by the WRMSR at env->eip. */
void pt_out_last(CPUX86State *env)
{
    if (env->pt.packet_en) {
        pt_out_timing(env);
        pt_out_tnt(env);
        /* The next instruction; WRMSR has two bytes. */
        pt_out_ip(env, PKT_TIP_PGD, env->eip + 2);
    }
}

/* Before migration: what the guest sees is up to date, see pt_msr.c. */
void x86_pt_pre_save(CPUX86State *env)
{
    if (env->pt.active) {
        if (env->pt.packet_en) {
            pt_out_pgd(env);
        }
        pt_flush(env);
        env->pt.starting = true;
        pt_update_tb_flags(env);
        x86_pmu_request_check(env);
    }
}
