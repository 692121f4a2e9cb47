// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMUCTL_IOC_INFO: what it says of the PMU against what CPUID says, in a guest of any
 * kind.
 */
#include "refusal.h"

/* CPUID leaf 0xA, zero if there is none */
static struct raw_cpuid leaf_a(void)
{
	if (raw_cpuid(0).eax >= 0xa)
		return raw_cpuid(0xa);
	return (struct raw_cpuid){ .eax = 0 };
}

static bool is_usable(const struct raw_cpuid *leaf)
{
	return !raw_cpu_is_intel() || (leaf->eax & 0xff) >= 1;
}

Test(abi_info, what_every_machine_says)
{
	struct pmuctl_info info = raw_settled_info();
	struct raw_cpuid leaf = leaf_a();
	char version[33] = "";
	int fd = open("/sys/module/pmuctl/version", O_RDONLY);

	cr_assert_gt(read(fd, version, sizeof(version) - 1), 0);
	version[strcspn(version, "\n")] = '\0';
	close(fd);
	cr_assert_eq(info.size, sizeof(info));
	cr_assert_eq(info.flags, 0);
	cr_assert_eq(info.abi_version, PMUCTL_ABI_VERSION);
	cr_assert_eq(info.attr_size, PMUCTL_ATTR_SIZE);
	cr_assert_eq(info.paranoid, raw_read_number(RAW_PARANOID));
	cr_assert_eq(info.not_inherited, 0);
	cr_assert_eq(info.hw_events, 0);
	cr_assert_eq(info.pmu_owner, PMUCTL_OWNER_NOBODY);
	cr_assert_str_eq(info.module_version, version);
	cr_assert_eq(info.pmu_kind != PMUCTL_PMU_NONE, is_usable(&leaf));
	cr_assert_eq(info.pmu_reason[0] == '\0', is_usable(&leaf));
	cr_assert_eq(info.pmu_name[0] != '\0', is_usable(&leaf));
}

/* CPUID.0xA:EBX has a bit for each event that is missing: those that perf names */
static uint64_t generic_events(const struct raw_cpuid *leaf)
{
	static const struct {
		unsigned int bit, event;
	} all[] = {
		{ 0, PERF_COUNT_HW_CPU_CYCLES },
		{ 1, PERF_COUNT_HW_INSTRUCTIONS },
		{ 2, PERF_COUNT_HW_BUS_CYCLES },
		{ 3, PERF_COUNT_HW_CACHE_REFERENCES },
		{ 4, PERF_COUNT_HW_CACHE_MISSES },
		{ 5, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
		{ 6, PERF_COUNT_HW_BRANCH_MISSES },
	};
	uint64_t events = 0;

	for (size_t i = 0; i < RAW_ARRAY_SIZE(all); i++)
		if (all[i].bit < leaf->eax >> 24 && !(leaf->ebx >> all[i].bit & 1))
			events |= 1ULL << all[i].event;
	if ((leaf->eax & 0xff) > 1 && (leaf->edx & 0x1f) > 2)
		events |= 1ULL << PERF_COUNT_HW_REF_CPU_CYCLES;
	return events;
}

#define WITHOUT_PMU							\
	(PMUCTL_FEATURE_TASK | PMUCTL_FEATURE_CPU | PMUCTL_FEATURE_GROUPS |	\
	 PMUCTL_FEATURE_ENABLE_ON_EXEC | PMUCTL_FEATURE_ALL_CPUS |		\
	 PMUCTL_FEATURE_SAMPLING | PMUCTL_FEATURE_SOFTWARE |			\
	 PMUCTL_FEATURE_TRACEPOINT | PMUCTL_FEATURE_LISTS | PMUCTL_FEATURE_CGROUP)

static void check_intel(const struct pmuctl_info *info, const struct raw_cpuid *leaf)
{
	char name[sizeof(info->pmu_name)];

	/* CPUID.7:EDX[15] */
	snprintf(name, sizeof(name), "Intel architectural PMU version %u%s",
		 leaf->eax & 0xff, raw_cpuid(7).edx >> 15 & 1 ? ", hybrid" : "");
	cr_assert_eq(info->pmu_kind, PMUCTL_PMU_INTEL);
	cr_assert_eq(info->pmu_version, leaf->eax & 0xff);
	cr_assert_eq(info->nr_counters, leaf->eax >> 8 & 0xff);
	cr_assert_eq(info->counter_width, leaf->eax >> 16 & 0xff);
	cr_assert_eq(info->nr_fixed, leaf->edx & 0x1f);
	cr_assert_eq(info->fixed_width, leaf->edx >> 5 & 0xff);
	cr_assert_eq(info->generic_events, generic_events(leaf),
		     "0x%llx, expected 0x%lx",
		     (unsigned long long)info->generic_events,
		     (unsigned long)generic_events(leaf));
	cr_assert_str_eq(info->pmu_name, name);
}

/* APM Vol. 3, "Obtaining Processor Information Via the CPUID Instruction" */
static void check_amd(const struct pmuctl_info *info)
{
	struct raw_cpuid v2 = { .eax = 0 };
	bool core = raw_cpuid(0x80000001).ecx >> 23 & 1;
	char name[sizeof(info->pmu_name)];
	unsigned int n = core ? 6 : 4;

	if (raw_cpuid(0x80000000).eax >= 0x80000022)
		v2 = raw_cpuid(0x80000022);
	if (v2.eax & 1)
		n = v2.ebx & 0xf;
	snprintf(name, sizeof(name), "AMD family %xh, %s", raw_cpu_family(),
		 v2.eax & 1 ? "PerfMonV2" : core ? "core counters" : "legacy counters");
	cr_assert_eq(info->pmu_kind, PMUCTL_PMU_AMD);
	cr_assert_eq(info->pmu_version, v2.eax & 1 ? 2 : 1);
	cr_assert_eq(info->nr_counters, n);
	cr_assert_eq(info->counter_width, 48);
	cr_assert_eq(info->nr_fixed, 0);
	cr_assert_eq(info->fixed_width, 0);
	/* Cycles, instructions, caches, branches; and what the family has */
	cr_assert_eq(info->generic_events & 0x7f, 0x3f, "0x%llx",
		     (unsigned long long)info->generic_events);
	cr_assert_str_eq(info->pmu_name, name);
}

Test(abi_info, pmu_is_what_cpuid_says)
{
	struct pmuctl_info info = raw_info();
	struct raw_cpuid leaf = leaf_a();

	if (!is_usable(&leaf)) {
		const struct pmuctl_info none = { .size = 0 };

		cr_assert_eq(info.features, WITHOUT_PMU);
		cr_assert_eq(info.generic_events, 0);
		cr_assert_arr_eq(&info.pmu_kind, &none.pmu_kind, 6 * 4,
				 "kind, version, numbers, widths are 0");
		return;
	}
	cr_assert_eq(info.features, WITHOUT_PMU | PMUCTL_FEATURE_COUNTING |
		     PMUCTL_FEATURE_MULTIPLEXING | PMUCTL_FEATURE_USER_READ);
	if (raw_cpu_is_intel())
		check_intel(&info, &leaf);
	else
		check_amd(&info);
}

/* What INFO promises opens, and nothing else does. */
Test(abi_info, generic_events_are_those_that_open)
{
	struct pmuctl_info info = raw_info();

	for (unsigned int i = 0; i < PERF_COUNT_HW_MAX; i++) {
		union raw_attr a = raw_attr(PERF_TYPE_HARDWARE, i);
		int fd = raw_open(&a, 0, -1, 0, NULL);

		if (info.generic_events >> i & 1)
			cr_assert_geq(fd, 0, "event %u: %d", i, fd);
		else
			cr_assert_eq(fd, -ENOENT, "event %u: %d", i, fd);
		if (fd >= 0)
			close(fd);
	}
}

Test(abi_info, open_events_are_told)
{
	union raw_attr a = raw_instructions();
	int one, two;

	if (raw_info().pmu_kind == PMUCTL_PMU_NONE) {
		cr_assert_eq(raw_open(&a, 0, -1, 0, NULL), -ENOENT);
		cr_assert_eq(raw_info().hw_events, 0);
		return;
	}
	one = event_open(a);
	cr_assert_eq(raw_info().hw_events, 1);
	cr_assert_eq(raw_info().pmu_owner, PMUCTL_OWNER_PMUCTL);
	two = event_open(a, -1, 0);
	cr_assert_eq(raw_info().hw_events, 2);
	close(one);
	cr_assert_eq(raw_info().hw_events, 1);
	cr_assert_eq(raw_info().pmu_owner, PMUCTL_OWNER_PMUCTL);
	close(two);
	cr_assert_eq(raw_info().hw_events, 0);
	cr_assert_eq(raw_settled_info().pmu_owner, PMUCTL_OWNER_NOBODY);
}

Test(abi_info, another_owner_is_told)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr), .config = PERF_COUNT_HW_INSTRUCTIONS };
	int fd;

	if (raw_info().pmu_kind == PMUCTL_PMU_NONE)
		return;
	cr_assert_eq(raw_settled_info().pmu_owner, PMUCTL_OWNER_NOBODY);
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	cr_assert_geq(fd, 0);
	cr_assert_eq(raw_info().pmu_owner, PMUCTL_OWNER_OTHER);
	close(fd);
	cr_assert_eq(raw_info().pmu_owner, PMUCTL_OWNER_NOBODY);
}

/* Finding that out takes the PMU for an instant, which is not everybody's to do. */
Test(abi_info, users_are_not_told_whether_another_owns_it)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		if (raw_become(RAW_USER))
			_exit(100);
		_exit(raw_settled_info().pmu_owner);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status),
		     raw_info().pmu_kind == PMUCTL_PMU_NONE ?
		     PMUCTL_OWNER_NOBODY : PMUCTL_OWNER_UNKNOWN);
}

Test(abi_info, unknown_flags_are_refused)
{
	for (int bit = 0; bit < 32; bit++) {
		struct pmuctl_info info = { .size = sizeof(info),
			.flags = 1U << bit };

		check_refused(IOCTL(raw_device(), PMUCTL_IOC_INFO, &info), EINVAL,
			      PMUCTL_WHY_FLAGS_UNKNOWN, "flags",
			      "flags 0x%x has bits that this module does not know: only 0x0 may be set",
			      1U << bit);
	}
}

/* What the caller wrote in other fields does not matter. */
Test(abi_info, other_fields_are_only_filled)
{
	struct pmuctl_info clean = raw_info(), dirty;

	memset(&dirty, 0xff, sizeof(dirty));
	dirty.size = sizeof(dirty);
	dirty.flags = 0;
	cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_INFO, &dirty), 0);
	cr_assert_arr_eq(&dirty, &clean, sizeof(clean));
}
