// SPDX-License-Identifier: GPL-2.0-only
/*
 * What reaches the registers for a generic or cache event is what the kernel's own perf
 * writes there on the same CPU: on every PMU the two count the same thing.
 */
#include "hybrid.h"
#include "msrs.h"

#define ENABLE		(1ull << 22)	/* SDM Vol. 3B, IA32_PERFEVTSELx.EN */
#define FIXED_CTR_CTRL	0x38d
#define OFFCORE_RSP_0	0x1a6

/* Of a processor whose CPUs differ, both; else the first */
static int cpu;

/*
 * What is being counted on that CPU: the event select that is enabled, or the fixed counter's
 * control bits; and if it is an offcore response, what is asked for. Only one event is open.
 */
struct counted {
	uint64_t extra;
	uint64_t evtsel;
	uint64_t fixed_ctrl;
};

static struct counted counted_now(const struct msrs *m)
{
	struct counted c = { 0 };
	uint64_t value[MSRS_MAX];
	unsigned int i;

	msrs_read(m, cpu, value);
	for (i = 0; i < m->n; i++) {
		if (i < m->n_evtsel && (value[i] & ENABLE)) {
			cr_assert_eq(c.evtsel, 0, "two counters");
			c.evtsel = value[i];
		}
		if (m->addr[i] == FIXED_CTR_CTRL)
			c.fixed_ctrl = value[i];
	}
	if (!pmu_is_amd() && ((c.evtsel & 0xffff) == 0x01b7 || (c.evtsel & 0xffff) == 0x012a))
		c.extra = msr_read(cpu, OFFCORE_RSP_0);
	return c;
}

static struct perf_event_attr attr_of(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = event_attr(type, config);

	attr.exclude_kernel = 1;
	return attr;
}

static bool ours(const struct msrs *m, uint32_t type, uint64_t config, struct counted *c)
{
	struct perf_event_attr attr = attr_of(type, config);
	int fd = event_try(attr, -1, cpu);

	if (fd < 0) {
		/* Of Sandy Bridge perf asks for responses that its clients do not have. */
		cr_assert(fd == -ENOENT || event_why.code == PMUCTL_WHY_EXTRA_BITS, "%s",
			  event_why.sentence);
		return false;
	}
	*c = counted_now(m);
	close(fd);
	return true;
}

static bool perfs(const struct msrs *m, uint32_t type, uint64_t config, struct counted *c)
{
	struct perf_event_attr attr = attr_of(type, config);
	int fd;

	if (is_hybrid())
		attr = perf_attr(attr, core_type(cpu));
	fd = perf_try(&attr, -1, cpu);
	if (fd < 0)
		return false;
	*c = counted_now(m);
	close(fd);
	return true;
}

static unsigned int cpu_model(void)
{
	struct raw_cpuid one = raw_cpuid(1);

	return (one.eax >> 4 & 0xf) | (one.eax >> 12 & 0xf0);
}

/* The models of these cores that are no hybrids: Sapphire, Emerald and Granite Rapids */
static bool is_performance_core(void)
{
	unsigned int model = cpu_model();

	if (is_hybrid())
		return core_type(cpu) == CORE_PERFORMANCE;
	return raw_cpu_is_intel() && (model == 0x8f || model == 0xcf || model == 0xad || model == 0xae);
}

#define CACHE(cache, op, result) (PERF_COUNT_HW_CACHE_##cache |		\
	PERF_COUNT_HW_CACHE_OP_##op << 8 | PERF_COUNT_HW_CACHE_RESULT_##result << 16)
#define P	CORE_PERFORMANCE
#define E	CORE_EFFICIENCY

/*
 * Cache events for which newer kernels ask for the response that Intel's event lists name
 * (OCR.DEMAND_DATA_RD and OCR.DEMAND_RFO), or which they do not have any more: ours on all
 * kernels. Older ones ask for another. 0: there is no such event.
 */
static const struct corrected {
	unsigned int model, core;
	uint64_t config;
	uint64_t ours, older;
} corrected[] = {
	{ 0x6a, 0, CACHE(LL, READ, ACCESS), 0x10001, 0x3fc0010001 },
	{ 0x6a, 0, CACHE(LL, READ, MISS), 0x3fbfc00001, 0x3ffc020001 },
	{ 0x6a, 0, CACHE(LL, WRITE, ACCESS), 0x3f3ffc0002, 0x3fc0010002 },
	{ 0x6a, 0, CACHE(LL, WRITE, MISS), 0x3f3fc00002, 0x3ffc020002 },
	{ 0x6a, 0, CACHE(NODE, READ, ACCESS), 0x104000001, 0x1fc4000001 },
	{ 0x6a, 0, CACHE(NODE, READ, MISS), 0x730000001, 0x1ff8000001 },
	{ 0x6a, 0, CACHE(NODE, WRITE, ACCESS), 0x104000002, 0x1fc4000002 },
	{ 0x6a, 0, CACHE(NODE, WRITE, MISS), 0x730000002, 0x1ff8000002 },
	{ 0x8f, 0, CACHE(NODE, READ, ACCESS), 0x104000001, 0x10c000001 },
	{ 0x8f, 0, CACHE(NODE, READ, MISS), 0x730000001, 0x3fb3000001 },
	{ 0xad, 0, CACHE(NODE, READ, ACCESS), 0x104000001, 0x10c000001 },
	{ 0xad, 0, CACHE(NODE, READ, MISS), 0x730000001, 0x3fb3000001 },
	{ 0x97, P, CACHE(LL, WRITE, ACCESS), 0x10002, 0x3f3ffc0002 },
	{ 0x97, P, CACHE(LL, WRITE, MISS), 0x3fbfc00002, 0x3f3fc00002 },
	{ 0x97, P, CACHE(NODE, READ, ACCESS), 0, 0x10c000001 },
	{ 0x97, P, CACHE(NODE, READ, MISS), 0, 0x3fb3000001 },
	{ 0x97, E, CACHE(LL, READ, MISS), 0x3f84400001, 0x3f04000001 },
	{ 0x97, E, CACHE(LL, WRITE, MISS), 0x3f84400002, 0x3f04000002 },
	{ 0xbe, 0, CACHE(LL, READ, MISS), 0x3f84400001, 0x3f04000001 },
	{ 0xbe, 0, CACHE(LL, WRITE, MISS), 0x3f84400002, 0x3f04000002 },
	{ 0xaf, 0, CACHE(LL, READ, MISS), 0x3fbfc00001, 0x3f04000001 },
	{ 0xaf, 0, CACHE(LL, WRITE, MISS), 0x3fbfc00002, 0x3f04000002 },
};

static const struct corrected *corrected_of(uint32_t type, uint64_t config)
{
	unsigned int model = cpu_model(), core = is_hybrid() ? core_type(cpu) : 0;

	if (type != PERF_TYPE_HW_CACHE || !raw_cpu_is_intel())
		return NULL;
	for (size_t i = 0; i < RAW_ARRAY_SIZE(corrected); i++)
		if (corrected[i].model == model && corrected[i].core == core &&
		    corrected[i].config == config)
			return &corrected[i];
	return NULL;
}

static bool perf_is_corrected(void)
{
	return !raw_kernel_before(7, 0);
}

/*
 * Of performance cores perf has another unit mask for the branches as cache events, which is
 * not in Intel's event list (BR_INST_RETIRED, BR_MISP_RETIRED); ours are the architectural ones.
 */
#define UMASK_4		0x400

static uint64_t expected_of_perf(uint32_t type, uint64_t config, uint64_t evtsel)
{
	if (type == PERF_TYPE_HW_CACHE && (config & 0xff) == PERF_COUNT_HW_CACHE_BPU &&
	    is_performance_core())
		return evtsel | UMASK_4;
	return evtsel;
}

/* Newer kernels know that fixed counter 2 of these cores counts the bus cycles too. */
static bool is_on_fixed(uint32_t type, uint64_t config, const struct counted *perf)
{
	return (is_hybrid() || is_performance_core()) && type == PERF_TYPE_HARDWARE &&
		config == PERF_COUNT_HW_BUS_CYCLES && !perf->evtsel &&
		perf->fixed_ctrl == 0xa00;
}

/*
 * Before 6.10 the kernel took the stalled cycles of Zen 1 for those of all later ones, which
 * do not have these events (PPR for family 17h, model 31h, and later).
 */
static bool is_of_zen_1(uint32_t type, uint64_t config)
{
	return pmu_is_amd() && raw_cpu_family() == 0x19 && type == PERF_TYPE_HARDWARE &&
		(config == PERF_COUNT_HW_STALLED_CYCLES_FRONTEND ||
		 config == PERF_COUNT_HW_STALLED_CYCLES_BACKEND) && raw_kernel_before(6, 10);
}

/*
 * Where perf knows the architectural events only it has no cache events. Ours of branches are
 * architectural, so they are its generic events.
 */
static void check_architectural(const struct msrs *m, uint64_t config, uint64_t evtsel)
{
	bool misses = config >> 16 == PERF_COUNT_HW_CACHE_RESULT_MISS;
	struct counted perf;

	cr_expect(!perfs(m, PERF_TYPE_HW_CACHE, config, &perf), "perf has config %#lx", config);
	if ((config & 0xff) != PERF_COUNT_HW_CACHE_BPU)
		return;
	cr_assert(perfs(m, PERF_TYPE_HARDWARE,
			misses ? PERF_COUNT_HW_BRANCH_MISSES : PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
			&perf));
	cr_expect_eq(evtsel, perf.evtsel, "config %#lx: %#lx, perf %#lx", config, evtsel,
		     perf.evtsel);
}

static void check_our_response(uint32_t type, uint64_t config, const struct counted *c)
{
	const struct corrected *known = corrected_of(type, config);

	if (known)
		cr_expect_eq(c->extra, known->ours, "type %u, config %#lx: response %#lx, not %#lx",
			     type, config, c->extra, known->ours);
}

static void check_same_response(uint32_t type, uint64_t config, uint64_t our, uint64_t perfs)
{
	const struct corrected *known = corrected_of(type, config);
	uint64_t expected = known && !perf_is_corrected() ? known->older : our;

	cr_expect_eq(perfs, expected, "type %u, config %#lx: response %#lx, perf %#lx, not %#lx",
		     type, config, our, perfs, expected);
}

/* What only older kernels have */
static void check_gone(const struct msrs *m, uint64_t config)
{
	const struct corrected *known = corrected_of(PERF_TYPE_HW_CACHE, config);
	struct counted perf = { 0 };
	bool has;

	if (!known)
		return;
	cr_expect_eq(known->ours, 0, "config %#lx: %s", config, event_why.sentence);
	cr_expect_eq(event_why.code, PMUCTL_WHY_EVENT_NOT_HERE, "%s", event_why.sentence);
	has = perfs(m, PERF_TYPE_HW_CACHE, config, &perf);
	cr_expect_eq(has, perf_knows_cpu() && !perf_is_corrected(), "config %#lx: %d", config, has);
	if (has)
		cr_expect_eq(perf.extra, known->older, "config %#lx: response %#lx", config,
			     perf.extra);
}

/* Returns whether we can count it: then perf can, and does it in the same way. */
static bool check_same(const struct msrs *m, uint32_t type, uint64_t config)
{
	struct counted a, b;

	if (!ours(m, type, config, &a))
		return false;
	cr_assert(a.evtsel || a.fixed_ctrl, "type %u, config %#lx: nothing counts", type,
		  config);
	check_our_response(type, config, &a);
	if (type == PERF_TYPE_HW_CACHE && !perf_knows_cpu()) {
		check_architectural(m, config, a.evtsel);
		return true;
	}
	cr_assert(perfs(m, type, config, &b), "perf has no type %u, config %#lx", type,
		  config);
	if (is_on_fixed(type, config, &b) || is_of_zen_1(type, config))
		return true;
	cr_expect_eq(expected_of_perf(type, config, a.evtsel), b.evtsel,
		     "type %u, config %#lx: %#lx, perf %#lx", type, config, a.evtsel,
		     b.evtsel);
	check_same_response(type, config, a.extra, b.extra);
	cr_expect_eq(a.fixed_ctrl, b.fixed_ctrl, "type %u, config %#lx: fixed %#lx, perf %#lx",
		     type, config, a.fixed_ctrl, b.fixed_ctrl);
	return true;
}

static void check_generic_events(void)
{
	unsigned int i, n = 0;
	struct counted c;
	struct msrs m;

	pin_here(cpu);
	m = msrs_find();
	for (i = 0; i < PERF_COUNT_HW_MAX; i++) {
		if (check_same(&m, PERF_TYPE_HARDWARE, i))
			n++;
		/* Perf opens this one also where there is no counter that could count it. */
		else if (i != PERF_COUNT_HW_REF_CPU_CYCLES &&
			 !is_of_zen_1(PERF_TYPE_HARDWARE, i))
			cr_expect(!perfs(&m, PERF_TYPE_HARDWARE, i, &c),
				  "perf has event %u", i);
	}
	cr_expect_geq(n, 6, "%u", n);
}

Test(pmu_same, generic_events)
{
	for (cpu = 0; cpu < (is_hybrid() ? 2 : 1); cpu++)
		check_generic_events();
}

/* Perf has some that need the north bridge's counters, and those of models that we have none of. */
static void check_cache_events(void)
{
	unsigned int cache, op, result, n = 0;
	uint64_t config;
	struct msrs m;

	pin_here(cpu);
	m = msrs_find();
	for (cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
		for (op = 0; op < PERF_COUNT_HW_CACHE_OP_MAX; op++)
			for (result = 0; result < PERF_COUNT_HW_CACHE_RESULT_MAX; result++) {
				config = cache | op << 8 | result << 16;
				if (check_same(&m, PERF_TYPE_HW_CACHE, config))
					n++;
				else
					check_gone(&m, config);
			}
	if (pmu_is_amd() || is_hybrid() || !perf_knows_cpu())
		cr_expect_geq(n, 11, "%u", n);
}

Test(pmu_same, cache_events)
{
	for (cpu = 0; cpu < (is_hybrid() ? 2 : 1); cpu++)
		check_cache_events();
}
