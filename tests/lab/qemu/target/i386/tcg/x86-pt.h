/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  Intel Processor Trace for TCG: state and interfaces
 *
 *  The design is described in system/pt_helper.c.
 */
#ifndef I386_TCG_X86_PT_H
#define I386_TCG_X86_PT_H

/* This file is included by cpu.h. */

/* Packets that have not been written to guest memory yet */
#define X86_PT_BUF_SIZE     256

/* A pending TNT packet is sent when it has as many bits as fit in one. */
#define X86_PT_TNT_FULL     (1ULL << 47)

/* How many calls are remembered, SDM "Indirect Transfer Compression for Returns" */
#define X86_PT_CALLS        64

/* Kinds of branches, for code generation and for what it calls */
typedef enum {
    PMU_BR_NOT_TAKEN,
    PMU_BR_TAKEN,
    PMU_BR_DIRECT,      /* near, unconditional */
    PMU_BR_INDIRECT,    /* near; EIP is the target */
    PMU_BR_RETURN,      /* near; likewise */
    PMU_BR_FAR,         /* EIP and CPL are those of the target */
} PMUBranchKind;

/* Beside one of these, for helper_branch(): it is a call. */
#define PMU_BR_CALL         0x10

typedef struct X86PTState {
    /*
     * The pending TNT packet: a stop bit, then one bit per conditional
     * branch, the most recent one being bit 0.  Maintained by translated code.
     */
    uint64_t tnt;
    /* HF_PT_MASK, to be added to the TB flags at each CPL, or 0 */
    uint32_t tb_flags[4];

    /* TraceEn is set and nothing has stopped the output. */
    bool active;
    /* TraceEn has been set, the first packets are to be sent. */
    bool starting;
    /* PacketEn: the last one of TIP.PGE and TIP.PGD was TIP.PGE. */
    bool packet_en;
    /* There are ranges of addresses. */
    bool filtered;
    /* helper_branch() sees each branch: there are ranges, or BTS or LBR is on. */
    bool hooked;
    /* FilterEn */
    bool filter_en;
    /* A PSB is due at the next opportunity. */
    bool psb_pending;
    /* Payload of the last MODE.Exec packet since TIP.PGE, or -1 */
    int exec_mode;
    /* Last IP, for IP compression */
    uint64_t last_ip;

    /* Where the last calls return to, for the compression of returns */
    uint64_t calls[X86_PT_CALLS];
    unsigned call_top;          /* the next one to be used */
    unsigned nr_calls;

    /* Cycle counter at the last CYC packet */
    uint64_t last_cyc;
    /* ART >> MTCFreq of the last MTC, TMA or start */
    uint64_t last_mtc;

    /* The current output region; those MSRs are up to date after a flush */
    uint64_t region_base;
    uint64_t region_size;
    uint64_t region_entry;      /* ToPA entry, 0 for Single-Range Output */

    unsigned buf_len;
    uint8_t buf[X86_PT_BUF_SIZE];
} X86PTState;

#ifndef CONFIG_USER_ONLY
/* CPU model */
void x86_pt_cpuid(uint32_t count, uint32_t *eax, uint32_t *ebx,
                  uint32_t *ecx, uint32_t *edx);
void x86_pt_cpuid_tsc(uint32_t *eax, uint32_t *ebx,
                      uint32_t *ecx, uint32_t *edx);

/* Guest accesses; false if the MSR is not one of Intel PT. */
bool x86_pt_wrmsr(CPUArchState *env, uint32_t msr, uint64_t val, bool *gp);
bool x86_pt_rdmsr(CPUArchState *env, uint32_t msr, uint64_t *val, bool *gp);

/* CR3 is about to be changed. */
void x86_pt_cr3_write(CPUArchState *env, uint64_t new_cr3);
/* An interrupt or exception has been delivered; it came at FROM_EIP. */
void x86_pt_interrupt(CPUArchState *env, uint64_t from_eip);
/* Part of x86_pmu_check(), but only when that is called between TBs. */
void x86_pt_check(CPUArchState *env);

void x86_pt_pre_save(CPUArchState *env);
void x86_pt_post_load(CPUArchState *env);

/* Ask for x86_pt_check() before the next instruction. */
void x86_pmu_request_check(CPUArchState *env);
/* Set IA32_PERF_GLOBAL_STATUS.TraceToPAPMI and raise a PMI. */
void x86_pmu_raise_topa(CPUArchState *env);
#endif

#endif
