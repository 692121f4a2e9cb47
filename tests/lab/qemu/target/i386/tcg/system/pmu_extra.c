/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 *  x86 performance monitoring unit for TCG: registers that select what events count
 *
 *  Some of Intel's events count only what a register of their own selects: offcore
 *  responses (SDM Vol. 3B, "Off-core Response Performance Monitoring"), retired
 *  instructions after events of the front end, and snoop responses.  Which events, which
 *  registers and which of their bits there are differs between models.
 *
 *  What they count here is invented.  The lowest bit that is set decides:
 *
 *  - bit 0, which is demand data reads of MSR_OFFCORE_RSP_n: every instruction;
 *  - bit 1, demand reads for ownership: every branch;
 *  - bit n, from 2 to 15: every (1 << n)th instruction; any higher one is like 15.
 *
 *  MSR_OFFCORE_RSP_n must ask for a request and for a response, else nothing is counted.
 *
 *  On Nehalem and Westmere the threads of a core share these registers: what one writes is
 *  what the other has, from the next time on that its counters are looked at.
 */

#include "qemu/osdep.h"
#include "hw/core/cpu.h"
#include "cpu.h"
#include "pmu-internal.h"

#define NO_EVENT    0

/* Where an event of a model is, and which bits its register has */
typedef struct PMUExtraEvent {
    uint16_t event;         /* EventSelect, UnitMask from bit 8 on */
    uint8_t reg;            /* X86_PMU_RSP_0 and so on */
    uint64_t writable;
} PMUExtraEvent;

struct PMUExtraModel {
    uint8_t models[4];
    bool efficient;         /* of a hybrid processor */
    bool shared;            /* by the threads of a core */
    uint8_t response;       /* the first bit of MSR_OFFCORE_RSP_n that is a response */
    PMUExtraEvent event[7];
};

static const uint32_t extra_msr[X86_PMU_NB_EXTRA] = {
    [X86_PMU_RSP_0] = 0x1a6,
    [X86_PMU_RSP_1] = 0x1a7,
    [X86_PMU_FRONTEND] = 0x3f7,
    [X86_PMU_SNOOP_0] = 0x1328,
    [X86_PMU_SNOOP_1] = 0x1329,
};

/*
 * SDM Vol. 4, the models' tables, and the bits that Linux takes for valid.  A hybrid
 * processor's types of core have the same number.
 */
static const PMUExtraModel extra_models[] = {
    { { 0x1a, 0x1e, 0x2e }, .shared = true, .response = 8, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0xffff },
    } },
    { { 0x25, 0x2c, 0x2f }, .shared = true, .response = 8, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0xffff },
        { 0x01bb, X86_PMU_RSP_1, 0xffff },
    } },
    { { 0x2a, 0x3a }, .response = 16, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0x3f807f8fff },
        { 0x01bb, X86_PMU_RSP_1, 0x3f807f8fff },
    } },
    { { 0x2d, 0x3e, 0x3f, 0x4f }, .response = 16, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0x3fffff8fff },
        { 0x01bb, X86_PMU_RSP_1, 0x3fffff8fff },
    } },
    { { 0x55, 0x5e, 0x8e, 0x9e }, .response = 16, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0x3fffff8fff },
        { 0x01bb, X86_PMU_RSP_1, 0x3fffff8fff },
        { 0x01c6, X86_PMU_FRONTEND, 0x7fff17 },
    } },
    { { 0x6a, 0x6c, 0x7e, 0x8c }, .response = 16, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0x3fffffbfff },
        { 0x01bb, X86_PMU_RSP_1, 0x3fffffbfff },
        { 0x01c6, X86_PMU_FRONTEND, 0x7fff17 },
    } },
    { { 0x8f, 0xcf, 0x97, 0xb7 }, .response = 16, .event = {
        { 0x012a, X86_PMU_RSP_0, 0x3fffffffff },
        { 0x012b, X86_PMU_RSP_1, 0x3fffffffff },
        { 0x01c6, X86_PMU_FRONTEND, 0x7fff1f },
        { 0x40ad, X86_PMU_FRONTEND, 0x7fff1f },
        { 0x04c2, X86_PMU_FRONTEND, 0x7fff1f },
    } },
    { { 0xad, 0xae, 0xaa }, .response = 16, .event = {
        { 0x012a, X86_PMU_RSP_0, 0x3fffffffff },
        { 0x012b, X86_PMU_RSP_1, 0x3fffffffff },
        { 0x02c6, X86_PMU_FRONTEND, 0x7fff1f },
        { 0x03c6, X86_PMU_FRONTEND, 0x7fff1f },
        { 0x40ad, X86_PMU_FRONTEND, 0x7fff1f },
        { 0x04c2, X86_PMU_FRONTEND, 0x7fff1f },
    } },
    { { 0x37, 0x4a, 0x4c, 0x4d }, .response = 16, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0x768005ffff },
        { 0x02b7, X86_PMU_RSP_1, 0x368005ffff },
    } },
    { { 0xbe }, .response = 16, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0x3fffffffff },
        { 0x02b7, X86_PMU_RSP_1, 0x3fffffffff },
    } },
    { { 0x97, 0xb7 }, .efficient = true, .response = 16, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0x3fffffffff },
        { 0x02b7, X86_PMU_RSP_1, 0x3fffffffff },
    } },
    { { 0xaf, 0xb6 }, .response = 16, .event = {
        { 0x01b7, X86_PMU_RSP_0, 0x800ff3ffffffffff },
        { 0x02b7, X86_PMU_RSP_1, 0xff3ffffffffff },
        { 0x0127, X86_PMU_SNOOP_0, UINT64_MAX },
        { 0x0227, X86_PMU_SNOOP_1, UINT64_MAX },
    } },
};

/* What the lowest bit of a register makes an event count: see the top. */
static const PMUEvent extra_counts[] = {
    { .base = X86_PMU_INSN }, { .base = X86_PMU_BR },
    { .base = X86_PMU_INSN, .shift = 2 }, { .base = X86_PMU_INSN, .shift = 3 },
    { .base = X86_PMU_INSN, .shift = 4 }, { .base = X86_PMU_INSN, .shift = 5 },
    { .base = X86_PMU_INSN, .shift = 6 }, { .base = X86_PMU_INSN, .shift = 7 },
    { .base = X86_PMU_INSN, .shift = 8 }, { .base = X86_PMU_INSN, .shift = 9 },
    { .base = X86_PMU_INSN, .shift = 10 }, { .base = X86_PMU_INSN, .shift = 11 },
    { .base = X86_PMU_INSN, .shift = 12 }, { .base = X86_PMU_INSN, .shift = 13 },
    { .base = X86_PMU_INSN, .shift = 14 }, { .base = X86_PMU_INSN, .shift = 15 },
};

void pmu_extra_reset(X86CPU *cpu, bool efficient)
{
    uint32_t version = cpu->env.cpuid_version;
    uint8_t model = ((version >> 4) & 0xf) | ((version >> 12) & 0xf0);
    int i, n;

    for (i = 0; i < ARRAY_SIZE(extra_models); i++) {
        for (n = 0; n < ARRAY_SIZE(extra_models[i].models); n++) {
            if (((version >> 8) & 0xf) == 6 && extra_models[i].models[n] == model &&
                extra_models[i].efficient == efficient) {
                cpu->env.pmu.extra_model = &extra_models[i];
            }
        }
    }
}

const PMUEvent *pmu_extra_event(X86PMUState *pmu, unsigned event)
{
    const PMUExtraModel *model = pmu->extra_model;
    int i;

    for (i = 0; model && i < ARRAY_SIZE(model->event); i++) {
        const PMUExtraEvent *e = &model->event[i];
        uint64_t val;

        if (e->event == NO_EVENT || e->event != event) {
            continue;
        }
        val = qatomic_read(&pmu->extra[e->reg]);
        if (!val || (e->reg <= X86_PMU_RSP_1 &&
                     (!(val >> model->response) || ctz64(val) >= model->response))) {
            return NULL;
        }
        return &extra_counts[MIN(ctz64(val), ARRAY_SIZE(extra_counts) - 1)];
    }
    return NULL;
}

uint64_t *pmu_extra_msr(CPUX86State *env, uint32_t msr, uint64_t *reserved)
{
    const PMUExtraModel *model = env->pmu.extra_model;
    int i;

    for (i = 0; model && i < ARRAY_SIZE(model->event); i++) {
        const PMUExtraEvent *e = &model->event[i];

        if (e->event != NO_EVENT && extra_msr[e->reg] == msr) {
            *reserved = ~e->writable;
            return &env->pmu.extra[e->reg];
        }
    }
    return NULL;
}

/* REG has been written: so has that of the other threads of this core, if they share it. */
void pmu_extra_written(CPUX86State *env, const uint64_t *reg)
{
    X86CPU *cpu = env_archcpu(env);
    CPUState *cs;

    if (!env->pmu.extra_model->shared) {
        return;
    }
    CPU_FOREACH(cs) {
        X86CPU *other = X86_CPU(cs);

        if (other != cpu && other->socket_id == cpu->socket_id &&
            other->core_id == cpu->core_id) {
            qatomic_set(&other->env.pmu.extra[reg - env->pmu.extra], *reg);
        }
    }
}
