// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMU's registers, through the kernel's msr driver if that is loaded: does pmuctl leave them as
 * they were? They are only read.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selftest.h"

/* SDM Vol. 4, "Architectural MSRs" */
#define IA32_PMC0		0x0c1
#define IA32_PERFEVTSEL0	0x186
#define IA32_DEBUGCTL		0x1d9
#define IA32_FIXED_CTR0		0x309
#define IA32_FIXED_CTR_CTRL	0x38d
#define IA32_PERF_GLOBAL_STATUS	0x38e
#define IA32_PERF_GLOBAL_CTRL	0x38f
#define IA32_PEBS_ENABLE	0x3f1
#define IA32_RTIT_CTL		0x570
/* APM Vol. 2, "Performance Monitoring Counters" */
#define PERF_LEGACY_CTL0	0xc0010000
#define PERF_LEGACY_CTR0	0xc0010004
#define PERF_CTL0		0xc0010200
#define PERF_CNTR_GLOBAL_STATUS	0xc0000300
#define PERF_CNTR_GLOBAL_CTL	0xc0000301

#define REGISTERS_MAX		128

/**
 * struct registers - the registers of a CPU
 * @n: how many there are, at most.
 * @msr: the address of each.
 * @value: what it holds.
 * @there: it could be read.
 */
struct registers {
	unsigned int n;
	uint32_t msr[REGISTERS_MAX];
	uint64_t value[REGISTERS_MAX];
	bool there[REGISTERS_MAX];
};

static void add(struct registers *set, uint32_t msr)
{
	if (set->n < REGISTERS_MAX)
		set->msr[set->n++] = msr;
}

static void find_amd(struct registers *set, const struct pmuctl_info *info)
{
	bool core = machine_has_flag("perfctr_core");

	for (unsigned int i = 0; i < info->nr_counters; i++) {
		add(set, core ? PERF_CTL0 + 2 * i : PERF_LEGACY_CTL0 + i);
		add(set, core ? PERF_CTL0 + 2 * i + 1 : PERF_LEGACY_CTR0 + i);
	}
	if (info->pmu_version < 2)
		return;
	add(set, PERF_CNTR_GLOBAL_CTL);
	add(set, PERF_CNTR_GLOBAL_STATUS);
}

static void find_intel(struct registers *set, const struct pmuctl_info *info)
{
	for (unsigned int i = 0; i < info->nr_counters; i++) {
		add(set, IA32_PERFEVTSEL0 + i);
		add(set, IA32_PMC0 + i);
	}
	for (unsigned int i = 0; i < info->nr_fixed; i++)
		add(set, IA32_FIXED_CTR0 + i);
	add(set, IA32_DEBUGCTL);
	add(set, IA32_PEBS_ENABLE);
	add(set, IA32_RTIT_CTL);
	if (info->pmu_version < 2)
		return;
	add(set, IA32_FIXED_CTR_CTRL);
	add(set, IA32_PERF_GLOBAL_CTRL);
	add(set, IA32_PERF_GLOBAL_STATUS);
}

/* Returns whether the driver lets us read registers of this CPU. */
static bool read_cpu(int cpu, struct registers *set)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	for (unsigned int i = 0; i < set->n; i++)
		set->there[i] = pread(fd, &set->value[i], sizeof(set->value[i]),
				      (off_t)set->msr[i]) == (ssize_t)sizeof(set->value[i]);
	close(fd);
	return true;
}

/**
 * registers_take() - read the registers of all CPUs
 * @test: with what the driver found.
 *
 * Return: an array, an element for each CPU that may be there, to be freed; NULL if they cannot
 * be read.
 */
struct registers *registers_take(const struct selftest *test)
{
	int n = (int)sysconf(_SC_NPROCESSORS_CONF);
	struct registers *all = calloc((size_t)n, sizeof(*all));
	bool any = false;

	for (int cpu = 0; cpu < n && all; cpu++) {
		if (test->info.pmu_kind == PMUCTL_PMU_AMD)
			find_amd(&all[cpu], &test->info);
		else if (test->info.pmu_kind == PMUCTL_PMU_INTEL)
			find_intel(&all[cpu], &test->info);
		any = read_cpu(cpu, &all[cpu]) || any;
	}
	if (any)
		return all;
	free(all);
	return NULL;
}

static json_t *figure_of(int cpu, uint32_t msr, uint64_t before, uint64_t after)
{
	char address[16], old[24], new[24];

	snprintf(address, sizeof(address), "%" PRIX32 "H", msr);
	snprintf(old, sizeof(old), "%#" PRIx64, before);
	snprintf(new, sizeof(new), "%#" PRIx64, after);
	return json_pack("{s:i, s:s, s:s, s:s}", "cpu", cpu, "msr", address,
			 "before", old, "after", new);
}

/* What the checks have made of them, perf's too: all of this CPU, and those of others that differ */
static unsigned int tell(struct result *result, const struct selftest *test,
			 const struct registers *now)
{
	unsigned int n = 0;

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		const struct registers *old = &test->registers[cpu];

		for (unsigned int i = 0; i < old->n; i++) {
			if (!old->there[i] || !now[cpu].there[i])
				continue;
			n++;
			if (cpu == test->cpu || old->value[i] != now[cpu].value[i])
				result_figure(result, figure_of(cpu, old->msr[i], old->value[i],
								now[cpu].value[i]));
		}
	}
	return n;
}

/* What nobody else has changed meanwhile is as it was before pmuctl had the PMU. */
static void judge_cpu(struct result *result, int cpu, const struct registers *first,
		      const struct registers *before, const struct registers *after)
{
	for (unsigned int i = 0; i < before->n; i++) {
		if (!before->there[i] || !after->there[i] || first->value[i] != before->value[i] ||
		    before->value[i] == after->value[i])
			continue;
		result_fault(result, "CPU %d, MSR %" PRIX32 "H: %#" PRIx64 " before pmuctl had the PMU, %#" PRIx64 " after",
			     cpu, before->msr[i], before->value[i], after->value[i]);
	}
}

static void judge(struct result *result, const struct registers *first,
		  const struct registers *before, const struct registers *after)
{
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		judge_cpu(result, cpu, &first[cpu], &before[cpu], &after[cpu]);
}

/* All that pmuctl changes on the PMU, once */
static int use_pmu(struct selftest *test, struct refusal *why)
{
	static const uint64_t configs[] = {
		PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	};
	int ret = 0;

	for (size_t i = 0; i < ARRAY_LEN(configs) && !ret; i++) {
		struct sampled sampled = { .period = 10007 };

		ret = sampling_run(test, BY_PMUCTL, configs[i], 100000, &sampled, why);
	}
	return ret;
}

/**
 * check_registers() - does pmuctl leave the registers as they were?
 * @result: the check.
 * @test: with the registers as they were before all checks.
 */
void check_registers(struct result *result, struct selftest *test)
{
	struct registers *first, *before, *after = NULL;
	struct refusal why = { 0, "" };

	if (!test->registers) {
		result_skip(result, "there is no /dev/cpu/*/msr to read them: 'modprobe msr' as root");
		return;
	}
	if (test->broken[0] || !test->perf) {
		result_skip(result, "%s", test->broken[0] ? test->broken : test->why_not_perf);
		return;
	}
	perf_may_have_it(why.text, sizeof(why.text));
	first = registers_take(test);
	before = registers_take(test);
	if (use_pmu(test, &why) < 0)
		result_fault(result, "pmuctl cannot use the PMU: %s", why.text);
	perf_may_have_it(why.text, sizeof(why.text));
	after = registers_take(test);
	if (first && before && after) {
		judge(result, first, before, after);
		result_find(result, "%u registers, before and after pmuctl had the PMU; those of all checks, perf's too:",
			    tell(result, test, after));
	}
	free(first);
	free(before);
	free(after);
}
