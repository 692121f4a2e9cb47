// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/cpuid.c */
/*
 * Decoding of what CPUID says of the PMU, on register values of real processors and on such as no
 * processor should have.
 */
#include <criterion/criterion.h>

#include "pmu/cpuid.h"
#include "explain/sentences.h"

#define GENERAL(n)	GENMASK_ULL((n) - 1, 0)
#define FIXED(n)	(GENMASK_ULL((n) - 1, 0) << HWPMU_FIXED_BASE)

static struct hwpmu_cpuid skylake(void)
{
	return (struct hwpmu_cpuid) {
		.vendor = HWPMU_VENDOR_INTEL, .family = 6, .model = 0x5e,
		.pdcm = true, .max_leaf = 0x16,
		.eax = 0x07300404, .ebx = 0, .ecx = 0, .edx = 0x603,
		.perf_capabilities = 0x33c5,
	};
}

Test(cpuid, decodes_skylake)
{
	struct hwpmu_cpuid id = skylake();
	struct hwpmu_caps caps;

	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.version, 4);
	cr_assert_eq(caps.nr_general, 4);
	cr_assert_eq(caps.nr_fixed, 3);
	cr_assert_eq(caps.general_width, 48);
	cr_assert_eq(caps.fixed_width, 48);
	cr_assert_eq(caps.counters, GENERAL(4) | FIXED(3));
	cr_assert_eq(caps.arch_events, 0x7f);
	cr_assert(caps.full_width);
	cr_assert_eq(caps.raw_mask, 0xffa4ffff | HWPMU_EVTSEL_ANY);
	cr_assert_str_eq(caps.name, "Intel architectural PMU version 4");
}

Test(cpuid, leaves_the_fourth_counter_to_transactions)
{
	struct hwpmu_cpuid id = skylake();
	struct hwpmu_caps caps;

	id.tsx_takes_counter = true;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.nr_general, 3);
	cr_assert_eq(caps.counters, GENERAL(3) | FIXED(3));

	/* Without hyperthreads */
	id.eax = 0x07300804;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.nr_general, 3);
	cr_assert_eq(caps.counters, GENERAL(3) | FIXED(3));

	/* A hypervisor may have given fewer. */
	id.eax = 0x07300204;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.nr_general, 2);
	cr_assert_eq(caps.counters, GENERAL(2) | FIXED(3));
}

Test(cpuid, decodes_icelake_version_5_with_a_bitmap_of_fixed_counters)
{
	struct hwpmu_cpuid id = skylake();
	struct hwpmu_caps caps;

	id.eax = 0x08300805;
	id.ecx = 0xf;
	id.edx = 0x8604;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.nr_general, 8);
	cr_assert_eq(caps.nr_fixed, 4);
	cr_assert_eq(caps.counters, GENERAL(8) | FIXED(4));
	cr_assert_eq(caps.raw_mask & HWPMU_EVTSEL_ANY, 0, "AnyThread is deprecated");

	/* The bitmap alone may name a counter beyond the number. */
	id.ecx = 0x10;
	id.edx = 0x8603;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(8) | FIXED(3) | BIT_ULL(36));
	cr_assert_eq(caps.nr_fixed, 4);
}

Test(cpuid, allows_any_thread_from_version_3_only)
{
	struct hwpmu_cpuid id = skylake();
	struct hwpmu_caps caps;

	id.eax = 0x07300402;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.raw_mask, 0xff84ffff);
	id.eax = 0x07300403;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.raw_mask, 0xffa4ffff);
}

Test(cpuid, leaves_out_events_that_are_not_available)
{
	struct hwpmu_cpuid id = skylake();
	struct hwpmu_caps caps;

	id.ebx = 0x21;			/* no cycles, no branches */
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.arch_events, 0x7f & ~0x21);
	id.eax = 0x03300404;		/* EBX has 3 bits only */
	id.ebx = 0;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.arch_events, 0x7);
	id.eax = 0xff300404;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.arch_events, 0x7fffffff);
}

Test(cpuid, knows_full_width_writes_only_where_the_register_exists)
{
	struct hwpmu_cpuid id = skylake();
	struct hwpmu_caps caps;

	id.pdcm = false;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_not(caps.full_width);
	id.pdcm = true;
	id.perf_capabilities = 0;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_not(caps.full_width);
}

Test(cpuid, survives_absurd_numbers_of_counters)
{
	struct hwpmu_cpuid id = skylake();
	struct hwpmu_caps caps;

	id.eax = 0x0730ff04;
	id.edx = 0x61f;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.nr_general, HWPMU_MAX_GENERAL);
	cr_assert_eq(caps.nr_fixed, HWPMU_MAX_FIXED);
	cr_assert_eq(caps.counters, GENERAL(32) | FIXED(16));
}

static struct hwpmu_cpuid alder_lake(void)
{
	struct hwpmu_cpuid id = skylake();

	id.model = 0x97;
	id.eax = 0x07300605;
	id.ecx = 0x7;
	id.edx = 0x8603;
	return id;
}

/* Alder Lake: leaf 0xA has what all have, leaf 0x23 what this one has. */
Test(cpuid, decodes_the_cores_of_a_hybrid_processor)
{
	struct hwpmu_cpuid id = alder_lake();
	struct hwpmu_caps caps;

	id.core_type = HWPMU_CORE_PERFORMANCE;
	id.ext_general = 0xff;
	id.ext_fixed = 0xf;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.core_type, HWPMU_CORE_PERFORMANCE);
	cr_assert_str_eq(caps.name, "Intel performance core, PMU version 5");
	cr_assert_eq(caps.nr_general, 8);
	cr_assert_eq(caps.nr_fixed, 4);
	cr_assert_eq(caps.counters, GENERAL(8) | FIXED(4));
	id.core_type = HWPMU_CORE_EFFICIENCY;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_str_eq(caps.name, "Intel efficiency core, PMU version 5");
	id.core_type = 0xff;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_str_eq(caps.name, "Intel core, PMU version 5");
}

/* Alder Lake as it is sold: no leaf 0x23; all performance cores, and leaf 0xA tells all */
Test(cpuid, knows_the_counters_that_performance_cores_do_not_tell_of)
{
	struct hwpmu_cpuid id = alder_lake();
	struct hwpmu_caps caps;

	id.core_type = HWPMU_CORE_PERFORMANCE;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(8) | FIXED(4));
	cr_assert_eq(caps.nr_general, 8);
	cr_assert_eq(caps.nr_fixed, 4);
	id.eax = 0x07300805;
	id.ecx = 0xf;
	id.edx = 0x8604;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(8) | FIXED(4));
	id = alder_lake();
	id.core_type = HWPMU_CORE_EFFICIENCY;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(6) | FIXED(3));
	id.core_type = 0;	/* a CPU whose types are alike */
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(6) | FIXED(3));
	id.core_type = HWPMU_CORE_PERFORMANCE;
	id.model = 0xaa;	/* it has leaf 0x23, which a hypervisor may hide */
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(6) | FIXED(3));
}

Test(cpuid, survives_absurd_bitmaps_of_counters)
{
	struct hwpmu_cpuid id = skylake();
	struct hwpmu_caps caps;

	id.ext_general = 0xfffffffe;	/* without the first: not believed */
	id.ext_fixed = ~0u;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(4) | FIXED(3));
	id.ext_general = 0xff3f;	/* up to the gap */
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(6) | FIXED(16));
	id.ext_general = ~0u;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(32) | FIXED(16));
	cr_assert_eq(caps.nr_general, 32);
	cr_assert_eq(caps.nr_fixed, 16);
}

static void assert_refused(const struct hwpmu_cpuid *id, const char *reason)
{
	struct hwpmu_caps caps;
	const char *got;

	memset(&caps, 0xff, sizeof(caps));
	got = hwpmu_cpuid_decode(id, &caps);
	cr_assert_not_null(got);
	cr_assert_str_eq(got, reason);
	cr_assert_eq(caps.version, 0);
	cr_assert_eq(caps.counters, 0);
}

static struct hwpmu_cpuid milan(void)
{
	return (struct hwpmu_cpuid) {
		.vendor = HWPMU_VENDOR_AMD, .family = 0x19, .model = 1,
		.max_leaf = 0x10, .ext1_ecx = 0x75c237ff,
	};
}

/* Its EDX is reserved. */
Test(cpuid, decodes_version_1_without_global_control)
{
	struct hwpmu_cpuid id = skylake();
	struct hwpmu_caps caps;

	id.eax = 0x07280201;
	id.edx = 0x603;
	id.pdcm = false;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.version, 1);
	cr_assert_not(caps.global);
	cr_assert_not(caps.full_width);
	cr_assert_eq(caps.nr_general, 2);
	cr_assert_eq(caps.general_width, 40);
	cr_assert_eq(caps.nr_fixed, 0);
	cr_assert_eq(caps.fixed_width, 0);
	cr_assert_eq(caps.counters, GENERAL(2));
	cr_assert_eq(caps.raw_mask, 0xff84ffff);
	id.eax = 0x07280202;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert(caps.global);
}

Test(cpuid, decodes_amd_with_legacy_and_core_counters)
{
	struct hwpmu_cpuid id = milan();
	struct hwpmu_caps caps;

	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.vendor, HWPMU_VENDOR_AMD);
	cr_assert_eq(caps.version, 1);
	cr_assert_eq(caps.nr_general, 6);
	cr_assert_eq(caps.nr_fixed, 0);
	cr_assert_eq(caps.general_width, 48);
	cr_assert_eq(caps.counters, GENERAL(6));
	cr_assert_eq(caps.raw_mask, 0xfff84ffffULL);
	cr_assert(caps.core_ext);
	cr_assert(caps.full_width);
	cr_assert_not(caps.global);
	cr_assert_str_eq(caps.name, "AMD family 19h, core counters");

	id.family = 15;
	id.ext1_ecx = 0;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.counters, GENERAL(4));
	cr_assert_not(caps.core_ext);
	cr_assert_str_eq(caps.name, "AMD family fh, legacy counters");
}

Test(cpuid, decodes_perfmon_v2)
{
	struct hwpmu_cpuid id = milan();
	struct hwpmu_caps caps;

	id.ext22_eax = 0x7;
	id.ext22_ebx = 0x4105;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.version, 2);
	cr_assert_eq(caps.counters, GENERAL(5));
	cr_assert(caps.global);
	cr_assert(caps.core_ext);
	cr_assert_str_eq(caps.name, "AMD family 19h, PerfMonV2");
	/* Other features of the leaf do not make it one. */
	id.ext22_eax = 0x6;
	cr_assert_null(hwpmu_cpuid_decode(&id, &caps));
	cr_assert_eq(caps.version, 1);
	cr_assert_eq(caps.nr_general, 6);
}

Test(cpuid, says_why_there_is_no_usable_pmu)
{
	struct hwpmu_cpuid id;

	id = skylake();
	id.eax = 0;
	assert_refused(&id, PMUCTL_NO_PMU_ABSENT);
	id.hypervisor = true;
	assert_refused(&id, PMUCTL_NO_PMU_HIDDEN);

	id = skylake();
	id.max_leaf = 5;
	assert_refused(&id, PMUCTL_NO_PMU_ABSENT);

	id = skylake();
	id.eax = 0x07300406;
	assert_refused(&id, PMUCTL_NO_PMU_VERSION6);
	id.eax = 0x07300004;
	assert_refused(&id, PMUCTL_NO_PMU_COUNTERS);

	id = skylake();
	id.eax = 0x07000404;
	assert_refused(&id, PMUCTL_NO_PMU_WIDTH);
	id.eax = 0x07410404;
	assert_refused(&id, PMUCTL_NO_PMU_WIDTH);
	id = skylake();
	id.edx = 0x003;
	assert_refused(&id, PMUCTL_NO_PMU_WIDTH);

	id = milan();
	id.family = 5;
	assert_refused(&id, PMUCTL_NO_PMU_AMD);
	id = milan();
	id.ext22_eax = 1;
	assert_refused(&id, PMUCTL_NO_PMU_AMD_NONE);
	id = skylake();
	id.vendor = HWPMU_VENDOR_OTHER;
	assert_refused(&id, PMUCTL_NO_PMU_VENDOR);

	id = skylake();
	id.hypervisor = true;
	id.xen_pv = true;
	assert_refused(&id, PMUCTL_NO_PMU_XEN_PV);
	id = milan();
	id.xen_pv = true;
	assert_refused(&id, PMUCTL_NO_PMU_XEN_PV);
}
