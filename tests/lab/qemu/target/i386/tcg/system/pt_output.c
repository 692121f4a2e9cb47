/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  Intel Processor Trace for TCG: output
 *
 *  Packets go to a small buffer, and from there to the guest's physical memory:
 *  the regions of a table (ToPA), or a single range.
 */

#include "qemu/osdep.h"
#include "cpu.h"
#include "exec/address-spaces.h"
#include "exec/memory.h"
#include "pt-internal.h"

void pt_stop_output(CPUX86State *env, uint64_t status)
{
    env->msr_rtit_status |= status;
    env->pt.active = false;
    env->pt.packet_en = false;
    env->pt.buf_len = 0;
    pt_update_tb_flags(env);
    /*
     * This may be in the middle of a TB that traces. It must not be chained to
     * the next one, which does not: it would still lead there when tracing is
     * on again.
     */
    x86_pmu_request_check(env);
}

/*
 * Find the output region that the MSRs point to, following END entries.
 * SDM "ToPA Tables and Output" and "ToPA Errors".
 */
bool pt_load_region(CPUX86State *env)
{
    X86PTState *pt = &env->pt;
    X86CPU *cpu = env_archcpu(env);
    uint64_t phys_reserved = ~MAKE_64BIT_MASK(0, cpu->phys_bits);
    uint64_t mask_ptrs = env->msr_rtit_output_mask;
    int hops;

    if (!(env->msr_rtit_ctrl & RTIT_CTL_TOPA)) {
        uint64_t mask = (uint32_t)mask_ptrs;

        /* SDM "Single-Range Output" */
        if ((mask & (mask + 1)) || (env->msr_rtit_output_base & mask) ||
            (mask_ptrs >> 32) > mask) {
            pt_stop_output(env, RTIT_STATUS_ERROR);
            return false;
        }
        pt->region_entry = 0;
        pt->region_base = env->msr_rtit_output_base;
        pt->region_size = mask + 1;
        return true;
    }
    for (hops = 0; hops < 2; hops++) {
        uint64_t index = (uint32_t)env->msr_rtit_output_mask >> 7;
        uint64_t entry = ldq_le_phys(cpu_get_address_space(env_cpu(env), 0),
                                     env->msr_rtit_output_base + index * 8);

        if (entry & (phys_reserved |
                     (entry & TOPA_END ? TOPA_RESERVED_END : TOPA_RESERVED))) {
            break;
        }
        if (entry & TOPA_END) {
            env->msr_rtit_output_base = entry & TARGET_PAGE_MASK;
            env->msr_rtit_output_mask &= ~0xffffffffull;
            env->msr_rtit_output_mask |= RTIT_MASK_LOWER;
            continue;
        }
        pt->region_entry = entry;
        pt->region_base = entry & TARGET_PAGE_MASK;
        pt->region_size = 4096ull << ((entry >> TOPA_SIZE_SHIFT) &
                                      TOPA_SIZE_MASK);
        if ((pt->region_base & (pt->region_size - 1)) ||
            (env->msr_rtit_output_mask >> 32) >= pt->region_size) {
            break;
        }
        return true;
    }
    pt_stop_output(env, RTIT_STATUS_ERROR);
    return false;
}

/* Output has reached the end of a region.  Return false if it stops there. */
static bool pt_next_region(CPUX86State *env)
{
    X86PTState *pt = &env->pt;

    if (!(env->msr_rtit_ctrl & RTIT_CTL_TOPA)) {
        env->msr_rtit_output_mask = (uint32_t)env->msr_rtit_output_mask;
        return true;
    }
    if (pt->region_entry & TOPA_INT) {
        x86_pmu_raise_topa(env);
    }
    if (pt->region_entry & TOPA_STOP) {
        /* The output offset stays at the end of the region. */
        pt_stop_output(env, RTIT_STATUS_STOPPED);
        return false;
    }
    env->msr_rtit_output_mask = (uint32_t)env->msr_rtit_output_mask + 0x80;
    return pt_load_region(env);
}

/* Write all packets out and bring the output MSRs up to date. */
void pt_flush(CPUX86State *env)
{
    X86PTState *pt = &env->pt;
    AddressSpace *as = cpu_get_address_space(env_cpu(env), 0);
    unsigned done = 0;

    while (done < pt->buf_len) {
        uint64_t offset = env->msr_rtit_output_mask >> 32;
        unsigned n = MIN(pt->buf_len - done, pt->region_size - offset);

        address_space_write(as, pt->region_base + offset,
                            MEMTXATTRS_UNSPECIFIED, pt->buf + done, n);
        done += n;
        offset += n;
        env->msr_rtit_output_mask = deposit64(env->msr_rtit_output_mask,
                                              32, 32, offset);
        if (offset == pt->region_size && !pt_next_region(env)) {
            return;
        }
    }
    pt->buf_len = 0;
}

void pt_out(CPUX86State *env, const void *packet, unsigned len)
{
    X86PTState *pt = &env->pt;
    uint64_t count;

    if (pt->buf_len + len > sizeof(pt->buf)) {
        pt_flush(env);
    }
    if (!pt->active) {
        return;
    }
    if (pt->region_entry & TOPA_STOP) {
        uint64_t room = pt->region_size - (env->msr_rtit_output_mask >> 32);

        if (pt->buf_len + len > room) {
            /* Fill up with PAD instead of sending part of a packet. */
            memset(pt->buf + pt->buf_len, 0, room - pt->buf_len);
            pt->buf_len = room;
            pt_flush(env);
            return;
        }
    }
    memcpy(pt->buf + pt->buf_len, packet, len);
    pt->buf_len += len;

    /* SDM "IA32_RTIT_STATUS MSR", PacketByteCnt */
    count = extract64(env->msr_rtit_status, 32, 17) + len;
    env->msr_rtit_status = deposit64(env->msr_rtit_status, 32, 17, count);
    if (count >= PSB_PERIOD_MIN << extract64(env->msr_rtit_ctrl,
                                             RTIT_CTL_PSBFREQ_SHIFT, 4) &&
        !pt->psb_pending) {
        pt->psb_pending = true;
        x86_pmu_request_check(env);
    }
}
