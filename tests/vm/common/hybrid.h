/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests on machines whose CPUs are not all alike: what type each is, and events of
 * perf, which has a PMU of its own for each type.
 */
#ifndef VM_HYBRID_H
#define VM_HYBRID_H

#include "loops.h"

/* SDM Vol. 2A, "CPUID", leaf 1AH, EAX[31:24] */
#define CORE_EFFICIENCY		0x20
#define CORE_PERFORMANCE	0x40

/* SDM Vol. 2A, "CPUID", leaf 7, EDX[15] */
static inline bool is_hybrid(void)
{
	return raw_cpu_is_intel() && raw_cpuid(0).eax >= 0x1a && (raw_cpuid(7).edx >> 15 & 1);
}

static inline unsigned int core_type(int cpu)
{
	pin_here(cpu);
	return raw_cpuid(0x1a).eax >> 24;
}

/* The laboratory's: tests/lab/qemu/target/i386/tcg/system/pmu_model.c */
#define BIG_GENERAL	8
#define BIG_FIXED	4
#define SMALL_GENERAL	6
#define SMALL_FIXED	3

/* The CPU, 0 or 1, that is of this type */
static inline int cpu_of_type(unsigned int type)
{
	int cpu;

	for (cpu = 0; cpu < 2; cpu++)
		if (core_type(cpu) == type)
			return cpu;
	cr_assert_fail("no CPU of type %#x: this guest needs --cpu hybrid", type);
	return -1;
}

/* Go where perf counts generic events of which nobody says for which type of CPU. */
static inline void pin_where_perf_counts(void)
{
	if (is_hybrid())
		pin_here(cpu_of_type(CORE_PERFORMANCE));
}

/* The number of perf's PMU for this type; 0 if there is none */
static inline uint64_t perf_type(unsigned int type)
{
	char path[80], text[16];
	int fd, n;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
		 type == CORE_EFFICIENCY ? "cpu_atom" : "cpu_core");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	cr_assert_gt(n, 0);
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

/* The same event of perf, for CPUs of a type: a generic one names the PMU in its upper half. */
static inline struct perf_event_attr perf_attr(struct perf_event_attr attr, unsigned int type)
{
	uint64_t number = perf_type(type);

	cr_assert(number, "perf has no PMU for cores of type %#x", type);
	if (attr.type == PERF_TYPE_RAW)
		attr.type = number;
	else
		attr.config |= number << 32;
	return attr;
}

#endif /* VM_HYBRID_H */
