// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names that libpmuctl knows by itself: each with the type and config that
 * <linux/perf_event.h> defines for it, aliases, cache events and their absurdities.
 */
/* sources: lib/src/names.c lib/src/fields.c lib/src/parse.c lib/src/terms.c lib/src/events.c */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include <criterion/criterion.h>

#include <pmuctl.h>

#define CACHE(level, op, result) \
	(PERF_COUNT_HW_CACHE_##level | PERF_COUNT_HW_CACHE_OP_##op << 8 | \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

struct expected {
	const char *name;
	unsigned int type;
	unsigned long long config;
};

static const struct expected generic[] = {
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY },
	{ "Instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
};

static const struct expected cache[] = {
	{ "L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS) },
	{ "L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS) },
	{ "L1-dcache-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS) },
	{ "L1-dcache-miss-load", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS) },
	{ "l1d-store-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, WRITE, MISS) },
	{ "L1-d-prefetch", PERF_TYPE_HW_CACHE, CACHE(L1D, PREFETCH, ACCESS) },
	{ "L1-data-speculative-load-refs", PERF_TYPE_HW_CACHE, CACHE(L1D, PREFETCH, ACCESS) },
	{ "L1-icache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1I, READ, MISS) },
	{ "L1-instruction-prefetches", PERF_TYPE_HW_CACHE, CACHE(L1I, PREFETCH, ACCESS) },
	{ "LLC-stores", PERF_TYPE_HW_CACHE, CACHE(LL, WRITE, ACCESS) },
	{ "L2-read", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS) },
	{ "dTLB-loads", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, ACCESS) },
	{ "dtlb-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS) },
	{ "iTLB-loads", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, ACCESS) },
	{ "Instruction-TLB-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS) },
	{ "branch-loads", PERF_TYPE_HW_CACHE, CACHE(BPU, READ, ACCESS) },
	{ "branch-load-misses", PERF_TYPE_HW_CACHE, CACHE(BPU, READ, MISS) },
	{ "btb-access", PERF_TYPE_HW_CACHE, CACHE(BPU, READ, ACCESS) },
	{ "node-prefetch-misses", PERF_TYPE_HW_CACHE, CACHE(NODE, PREFETCH, MISS) },
};

static const char *const nonsense[] = {
	"L1-dcache",			/* neither operation nor result */
	"L1-dcache-",
	"L1-dcache-loads-stores",
	"L1-dcache-misses-refs",
	"L1-dcache-load-misses-more",
	"L1-dcache-walks",
	"L1-dcacheloads",
	"L1-icache-stores",		/* nobody stores there */
	"iTLB-stores",
	"branch-stores",
	"LLC",
	"instruction",
	"cycle",
	"cycless",
};

static void check(const struct expected *expected)
{
	struct pmuctl_events *events = NULL;
	const struct perf_event_attr *attr;
	int ret = pmuctl_events_parse(expected->name, NULL, NULL, NULL, &events);

	cr_assert_eq(ret, 0, "%s: %d", expected->name, ret);
	cr_assert_eq(pmuctl_events_count(events), 1);
	cr_assert_str_eq(pmuctl_events_name(events, 0), expected->name);
	attr = pmuctl_events_attr(events, 0);
	cr_assert_eq(attr->size, sizeof(*attr));
	cr_assert_eq(attr->type, expected->type, "%s", expected->name);
	cr_assert_eq(attr->config, expected->config, "%s: %llx", expected->name,
		     (unsigned long long)attr->config);
	cr_assert(!attr->exclude_user && !attr->exclude_kernel && !attr->exclude_hv);
	pmuctl_events_free(events);
}

Test(lib_names, generic_events_and_their_aliases)
{
	for (size_t i = 0; i < sizeof(generic) / sizeof(generic[0]); i++)
		check(&generic[i]);
}

Test(lib_names, cache_events_in_all_spellings)
{
	for (size_t i = 0; i < sizeof(cache) / sizeof(cache[0]); i++)
		check(&cache[i]);
}

Test(lib_names, what_only_looks_like_a_name_is_refused)
{
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct pmuctl_events *events = NULL;
		int ret = pmuctl_events_parse(nonsense[i], NULL, NULL, NULL, &events);

		cr_assert_eq(ret, -EINVAL, "%s: %d", nonsense[i], ret);
		cr_assert_null(events);
	}
}

Test(lib_names, every_listed_name_is_understood_as_listed)
{
	struct pmuctl_name name;
	size_t count = 0;

	for (; pmuctl_name_get(count, &name) == 0; count++) {
		struct expected expected = { name.name, name.type, name.config };

		check(&expected);
		cr_assert(name.description && *name.description);
		if (name.alias) {
			expected.name = name.alias;
			check(&expected);
		}
	}
	cr_assert_eq(count, 10 + 11 + 32);
	cr_assert_eq(pmuctl_name_get(count, &name), -ENOENT);
	cr_assert_eq(pmuctl_name_get((size_t)-1, &name), -ENOENT);
}

Test(lib_names, no_two_listed_names_are_the_same_event)
{
	struct pmuctl_name a, b;

	for (size_t i = 0; pmuctl_name_get(i, &a) == 0; i++) {
		for (size_t j = 0; j < i; j++) {
			cr_assert_eq(pmuctl_name_get(j, &b), 0);
			cr_assert(a.type != b.type || a.config != b.config,
				  "%s and %s", a.name, b.name);
			cr_assert(strcasecmp(a.name, b.name) != 0);
		}
	}
}
