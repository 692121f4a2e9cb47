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
#define RTIT_CTL_TRACEEN        (1u << 0)
#define RTIT_CTL_OS             (1u << 2)
#define RTIT_CTL_USER           (1u << 3)
#define RTIT_CTL_CR3FILTER      (1u << 7)
#define RTIT_CTL_TOPA           (1u << 8)
#define RTIT_CTL_TSCEN          (1u << 10)
#define RTIT_CTL_DISRETC        (1u << 11)
#define RTIT_CTL_BRANCHEN       (1u << 13)
#define RTIT_CTL_WRITABLE       (RTIT_CTL_TRACEEN | RTIT_CTL_OS | \
                                 RTIT_CTL_USER | RTIT_CTL_CR3FILTER | \
                                 RTIT_CTL_TOPA | RTIT_CTL_TSCEN | \
                                 RTIT_CTL_DISRETC | RTIT_CTL_BRANCHEN)

/* IA32_RTIT_STATUS, SDM "IA32_RTIT_STATUS MSR" */
#define RTIT_STATUS_CONTEXTEN   (1u << 1)
#define RTIT_STATUS_TRIGGEREN   (1u << 2)
#define RTIT_STATUS_ERROR       (1u << 4)
#define RTIT_STATUS_STOPPED     (1u << 5)
#define RTIT_STATUS_BYTECNT     MAKE_64BIT_MASK(32, 17)
#define RTIT_STATUS_WRITABLE    (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED | \
                                 RTIT_STATUS_BYTECNT)
#define RTIT_STATUS_READONLY    (RTIT_STATUS_CONTEXTEN | RTIT_STATUS_TRIGGEREN)

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

/* SDM "IA32_RTIT_CTL MSR", PSBFreq: the value that is not configurable */
#define PSB_PERIOD              2048

/* pt_helper.c: should branches at CPL be traced, with this CR3? */
bool pt_context_en(CPUX86State *env, int cpl);
/* Has to be called after each change of what decides that. */
void pt_update_tb_flags(CPUX86State *env);
/* The last packets before TraceEn is cleared */
void pt_out_last(CPUX86State *env);

/* pt_output.c: find the region the MSRs point to; false: output has stopped. */
bool pt_load_region(CPUX86State *env);
/* Write all packets out and bring the output MSRs up to date. */
void pt_flush(CPUX86State *env);
/* Add a packet. */
void pt_out(CPUX86State *env, const void *packet, unsigned len);

#endif
