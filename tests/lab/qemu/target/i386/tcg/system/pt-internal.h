/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  Intel Processor Trace for TCG: what its files share
 *
 *  The layout of registers and tables, and how pt_helper.c (what happens),
 *  pt_output.c (where packets go) and pt_msr.c (what the guest programs) reach
 *  each other.  The design is described in pt_helper.c.
 */
#ifndef I386_TCG_SYSTEM_PT_INTERNAL_H
#define I386_TCG_SYSTEM_PT_INTERNAL_H

/* IA32_RTIT_CTL, SDM "IA32_RTIT_CTL MSR" */
#define RTIT_CTL_TRACEEN        (1ull << 0)
#define RTIT_CTL_CYCEN          (1ull << 1)
#define RTIT_CTL_OS             (1ull << 2)
#define RTIT_CTL_USER           (1ull << 3)
#define RTIT_CTL_CR3FILTER      (1ull << 7)
#define RTIT_CTL_TOPA           (1ull << 8)
#define RTIT_CTL_MTCEN          (1ull << 9)
#define RTIT_CTL_TSCEN          (1ull << 10)
#define RTIT_CTL_DISRETC        (1ull << 11)
#define RTIT_CTL_BRANCHEN       (1ull << 13)
#define RTIT_CTL_MTCFREQ_SHIFT  14
#define RTIT_CTL_CYCTHRESH_SHIFT 19
#define RTIT_CTL_PSBFREQ_SHIFT  24
#define RTIT_CTL_MTCFREQ        (15ull << RTIT_CTL_MTCFREQ_SHIFT)
#define RTIT_CTL_CYCTHRESH      (15ull << RTIT_CTL_CYCTHRESH_SHIFT)
#define RTIT_CTL_PSBFREQ        (15ull << RTIT_CTL_PSBFREQ_SHIFT)
/* ADDRn_CFG, four bits each */
#define RTIT_CTL_ADDR_SHIFT     32
#define RTIT_CTL_ADDR           MAKE_64BIT_MASK(RTIT_CTL_ADDR_SHIFT, \
                                                4 * PT_NR_RANGES)
#define PT_NR_RANGES            2
enum { PT_RANGE_UNUSED, PT_RANGE_FILTER, PT_RANGE_STOP };
#define RTIT_CTL_WRITABLE       (RTIT_CTL_TRACEEN | RTIT_CTL_CYCEN | \
                                 RTIT_CTL_OS | RTIT_CTL_USER | \
                                 RTIT_CTL_CR3FILTER | RTIT_CTL_TOPA | \
                                 RTIT_CTL_MTCEN | RTIT_CTL_TSCEN | \
                                 RTIT_CTL_DISRETC | RTIT_CTL_BRANCHEN | \
                                 RTIT_CTL_MTCFREQ | RTIT_CTL_CYCTHRESH | \
                                 RTIT_CTL_PSBFREQ | RTIT_CTL_ADDR)

/* CPUID leaf 14H, subleaf 1: which values these fields may have, a Skylake's */
#define PT_MTC_PERIODS          0x0249
#define PT_CYC_THRESHOLDS       0x3fff
#define PT_PSB_PERIODS          0x003f

/*
 * CPUID leaf 15H: the TSC, which counts nanoseconds, is the core crystal clock
 * (ART) times TSC_PER_ART.  The bus has 100 MHz, the core always the frequency
 * of the TSC.
 */
#define MSR_PLATFORM_INFO       0xce
#define TSC_PER_ART             40
#define CORE_BUS_RATIO          10

/* IA32_RTIT_STATUS, SDM "IA32_RTIT_STATUS MSR" */
#define RTIT_STATUS_FILTEREN    (1u << 0)
#define RTIT_STATUS_CONTEXTEN   (1u << 1)
#define RTIT_STATUS_TRIGGEREN   (1u << 2)
#define RTIT_STATUS_ERROR       (1u << 4)
#define RTIT_STATUS_STOPPED     (1u << 5)
#define RTIT_STATUS_BYTECNT     MAKE_64BIT_MASK(32, 17)
#define RTIT_STATUS_WRITABLE    (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED | \
                                 RTIT_STATUS_BYTECNT)
#define RTIT_STATUS_READONLY    (RTIT_STATUS_FILTEREN | \
                                 RTIT_STATUS_CONTEXTEN | RTIT_STATUS_TRIGGEREN)

/* IA32_RTIT_OUTPUT_MASK_PTRS, SDM "IA32_RTIT_OUTPUT_MASK_PTRS MSR" */
#define RTIT_MASK_LOWER         0x7full

/* SDM "Table of Physical Addresses (ToPA)" */
#define TOPA_END                (1u << 0)
#define TOPA_INT                (1u << 2)
#define TOPA_STOP               (1u << 4)
#define TOPA_SIZE_SHIFT         6
#define TOPA_SIZE_MASK          0xf
#define TOPA_RESERVED           ((1u << 1) | (1u << 3) | (1u << 5) | \
                                 (3u << 10))
#define TOPA_RESERVED_END       (TOPA_RESERVED | TOPA_INT | TOPA_STOP)

/* SDM "IA32_RTIT_CTL MSR", PSBFreq 0; each next value is twice as much */
#define PSB_PERIOD_MIN          2048

/* pt_helper.c: should branches at CPL be traced, with this CR3? */
bool pt_context_en(CPUX86State *env, int cpl);
/* How is range N used, PT_RANGE_*? */
static inline int pt_range(CPUX86State *env, unsigned n)
{
    return extract64(env->msr_rtit_ctrl, RTIT_CTL_ADDR_SHIFT + 4 * n, 4);
}
/* Has to be called after each change of what decides that. */
void pt_update_tb_flags(CPUX86State *env);
/* Time begins for a trace. */
void pt_start_clocks(CPUX86State *env);
/* The last packets before TraceEn is cleared */
void pt_out_last(CPUX86State *env);

/* pt_output.c: find the region the MSRs point to; false: output has stopped. */
bool pt_load_region(CPUX86State *env);
/* Write all packets out and bring the output MSRs up to date. */
void pt_flush(CPUX86State *env);
/* Stop for good, setting STATUS; what is not written out is lost. */
void pt_stop_output(CPUX86State *env, uint64_t status);
/* Add a packet. */
void pt_out(CPUX86State *env, const void *packet, unsigned len);

#endif
