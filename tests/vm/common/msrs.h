/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The registers of the guest's PMU, whatever it is, as /dev/cpu/N/msr shows them.
 * SDM Vol. 4, "Architectural MSRs"; APM Vol. 2, "Performance Counter MSRs".
 */
#ifndef VM_MSRS_H
#define VM_MSRS_H

#include "pmu.h"

#define MSRS_MAX	64

/**
 * struct msrs - which registers there are
 * @n: how many.
 * @n_evtsel: that many of them, the first ones, are event selects.
 * @addr: of each.
 */
struct msrs {
	unsigned int n, n_evtsel;
	uint32_t addr[MSRS_MAX];
};

/* Whatever reads or writes registers needs it; so does nobody else in the guest. */
void msrs_load_driver(void);

/* Those of this CPU; with the driver */
struct msrs msrs_find(void);

/* The values on a CPU, in the order of the addresses; the others are 0. */
void msrs_read(const struct msrs *m, unsigned int cpu, uint64_t *value);

uint64_t msr_read(unsigned int cpu, uint32_t msr);
void msr_write(unsigned int cpu, uint32_t msr, uint64_t value);

#endif /* VM_MSRS_H */
