// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The names of events that mean the same on every CPU: the generic hardware
 * events, software events, and the cache events, which are made of level, operation and result.
 * Tables and look-up; the grammar around them is in parse.c.
 */
#include <errno.h>
#include <string.h>
#include <strings.h>

#include "internal.h"

struct generic_name {
	const char *name;
	const char *alias;
	const char *description;
	uint64_t config;
	uint32_t type;
};

static const struct generic_name generic_names[] = {
	{ "cycles", "cpu-cycles", "core clock cycles",
	  PERF_COUNT_HW_CPU_CYCLES, PERF_TYPE_HARDWARE },
	{ "instructions", NULL, "instructions retired",
	  PERF_COUNT_HW_INSTRUCTIONS, PERF_TYPE_HARDWARE },
	{ "cache-references", NULL, "accesses to the last level cache",
	  PERF_COUNT_HW_CACHE_REFERENCES, PERF_TYPE_HARDWARE },
	{ "cache-misses", NULL, "misses of the last level cache",
	  PERF_COUNT_HW_CACHE_MISSES, PERF_TYPE_HARDWARE },
	{ "branches", "branch-instructions", "branch instructions retired",
	  PERF_COUNT_HW_BRANCH_INSTRUCTIONS, PERF_TYPE_HARDWARE },
	{ "branch-misses", NULL, "mispredicted branches retired",
	  PERF_COUNT_HW_BRANCH_MISSES, PERF_TYPE_HARDWARE },
	{ "bus-cycles", NULL, "clock cycles of the bus",
	  PERF_COUNT_HW_BUS_CYCLES, PERF_TYPE_HARDWARE },
	{ "stalled-cycles-frontend", "idle-cycles-frontend",
	  "cycles in which no instructions were delivered",
	  PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, PERF_TYPE_HARDWARE },
	{ "stalled-cycles-backend", "idle-cycles-backend",
	  "cycles in which no instructions were retired",
	  PERF_COUNT_HW_STALLED_CYCLES_BACKEND, PERF_TYPE_HARDWARE },
	{ "ref-cycles", NULL, "cycles at the reference clock's fixed rate",
	  PERF_COUNT_HW_REF_CPU_CYCLES, PERF_TYPE_HARDWARE },
#define SOFTWARE(name, alias, description, config) \
	{ name, alias, description, PERF_COUNT_SW_##config, PERF_TYPE_SOFTWARE }
	SOFTWARE("cpu-clock", NULL, "ns for which it was counting, by a clock of the CPU", CPU_CLOCK),
	SOFTWARE("task-clock", NULL, "ns for which the task was on a CPU", TASK_CLOCK),
	SOFTWARE("page-faults", "faults", "accesses to memory that was not there", PAGE_FAULTS),
	SOFTWARE("minor-faults", NULL, "page faults that needed no waiting", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", NULL, "page faults that waited, mostly for a disk", PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", "cs", "times another task came on the CPU", CONTEXT_SWITCHES),
	SOFTWARE("cgroup-switches", NULL, "times a task of another cgroup came on the CPU", CGROUP_SWITCHES),
	SOFTWARE("cpu-migrations", "migrations", "times the task came to another CPU", CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", NULL, "accesses that the kernel had to align; none on x86", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", NULL, "instructions that the kernel emulated; none on x86", EMULATION_FAULTS),
	SOFTWARE("dummy", NULL, "nothing: for the records that go with an event", DUMMY),
#undef SOFTWARE
};

#define CAN_READ	(1u << PERF_COUNT_HW_CACHE_OP_READ)
#define CAN_WRITE	(1u << PERF_COUNT_HW_CACHE_OP_WRITE)
#define CAN_PREFETCH	(1u << PERF_COUNT_HW_CACHE_OP_PREFETCH)
#define CAN_ALL		(CAN_READ | CAN_WRITE | CAN_PREFETCH)

#define WORDS_MAX 6

/* Index: PERF_COUNT_HW_CACHE_*. The first word of each is the listed one. */
static const struct cache_level {
	const char *words[WORDS_MAX];
	unsigned int operations;
} cache_levels[] = {
	{ { "L1-dcache", "L1-d", "L1d", "L1-data" }, CAN_ALL },
	{ { "L1-icache", "L1-i", "L1i", "L1-instruction" },
	  CAN_READ | CAN_PREFETCH },
	{ { "LLC", "L2" }, CAN_ALL },
	{ { "dTLB", "d-tlb", "Data-TLB" }, CAN_ALL },
	{ { "iTLB", "i-tlb", "Instruction-TLB" }, CAN_READ },
	{ { "branch", "branches", "bpu", "btb", "bpc" }, CAN_READ },
	{ { "node" }, CAN_ALL },
};

/* Index: PERF_COUNT_HW_CACHE_OP_* */
static const char *const cache_operations[][WORDS_MAX] = {
	{ "load", "loads", "read" },
	{ "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};

/* Index: PERF_COUNT_HW_CACHE_RESULT_* */
static const char *const cache_results[][WORDS_MAX] = {
	{ "refs", "reference", "ops", "access", "accesses" },
	{ "misses", "miss" },
};

/* What pmuctl_name_get() lists, level by level. */
static const struct cache_name {
	const char *name;
	const char *description;
	unsigned char level, operation, result;
} cache_names[] = {
#define CACHE(name, description, level, op, result) \
	{ name, description, PERF_COUNT_HW_CACHE_##level, \
	  PERF_COUNT_HW_CACHE_OP_##op, PERF_COUNT_HW_CACHE_RESULT_##result }
	CACHE("L1-dcache-loads", "loads from the L1 data cache", L1D, READ, ACCESS),
	CACHE("L1-dcache-load-misses", "loads that missed the L1 data cache", L1D, READ, MISS),
	CACHE("L1-dcache-stores", "stores to the L1 data cache", L1D, WRITE, ACCESS),
	CACHE("L1-dcache-store-misses", "stores that missed the L1 data cache", L1D, WRITE, MISS),
	CACHE("L1-dcache-prefetches", "prefetches into the L1 data cache", L1D, PREFETCH, ACCESS),
	CACHE("L1-dcache-prefetch-misses", "prefetches that missed the L1 data cache", L1D, PREFETCH, MISS),
	CACHE("L1-icache-loads", "fetches from the L1 instruction cache", L1I, READ, ACCESS),
	CACHE("L1-icache-load-misses", "fetches that missed the L1 instruction cache", L1I, READ, MISS),
	CACHE("L1-icache-prefetches", "prefetches into the L1 instruction cache", L1I, PREFETCH, ACCESS),
	CACHE("L1-icache-prefetch-misses", "prefetches that missed the L1 instruction cache", L1I, PREFETCH, MISS),
	CACHE("LLC-loads", "loads from the last level cache", LL, READ, ACCESS),
	CACHE("LLC-load-misses", "loads that missed the last level cache", LL, READ, MISS),
	CACHE("LLC-stores", "stores to the last level cache", LL, WRITE, ACCESS),
	CACHE("LLC-store-misses", "stores that missed the last level cache", LL, WRITE, MISS),
	CACHE("LLC-prefetches", "prefetches into the last level cache", LL, PREFETCH, ACCESS),
	CACHE("LLC-prefetch-misses", "prefetches that missed the last level cache", LL, PREFETCH, MISS),
	CACHE("dTLB-loads", "data TLB look-ups for loads", DTLB, READ, ACCESS),
	CACHE("dTLB-load-misses", "loads that missed the data TLB", DTLB, READ, MISS),
	CACHE("dTLB-stores", "data TLB look-ups for stores", DTLB, WRITE, ACCESS),
	CACHE("dTLB-store-misses", "stores that missed the data TLB", DTLB, WRITE, MISS),
	CACHE("dTLB-prefetches", "data TLB look-ups for prefetches", DTLB, PREFETCH, ACCESS),
	CACHE("dTLB-prefetch-misses", "prefetches that missed the data TLB", DTLB, PREFETCH, MISS),
	CACHE("iTLB-loads", "instruction TLB look-ups", ITLB, READ, ACCESS),
	CACHE("iTLB-load-misses", "fetches that missed the instruction TLB", ITLB, READ, MISS),
	CACHE("branch-loads", "branch predictions made", BPU, READ, ACCESS),
	CACHE("branch-load-misses", "branch predictions that were wrong", BPU, READ, MISS),
	CACHE("node-loads", "loads from this node's memory", NODE, READ, ACCESS),
	CACHE("node-load-misses", "loads that another node's memory served", NODE, READ, MISS),
	CACHE("node-stores", "stores to this node's memory", NODE, WRITE, ACCESS),
	CACHE("node-store-misses", "stores that went to another node's memory", NODE, WRITE, MISS),
	CACHE("node-prefetches", "prefetches from this node's memory", NODE, PREFETCH, ACCESS),
	CACHE("node-prefetch-misses", "prefetches that another node's memory served", NODE, PREFETCH, MISS),
#undef CACHE
};

/* attr.config of a cache event, as <linux/perf_event.h> defines it */
static uint64_t cache_config(uint64_t level, uint64_t operation, uint64_t result)
{
	return level | operation << 8 | result << 16;
}

/**
 * pmuctl_span_is() - is this piece of text that word? The case does not matter.
 * @span: the piece.
 * @word: the word.
 */
bool pmuctl_span_is(struct span span, const char *word)
{
	return strlen(word) == span.len && !strncasecmp(span.start, word, span.len);
}

/**
 * pmuctl_name_find_generic() - look up a generic event, or a software event
 * @name: its name or alias.
 * @attr: type and config are set if it is one.
 */
bool pmuctl_name_find_generic(struct span name, struct perf_event_attr *attr)
{
	for (size_t i = 0; i < ARRAY_LEN(generic_names); i++) {
		const struct generic_name *known = &generic_names[i];

		if (pmuctl_span_is(name, known->name) ||
		    (known->alias && pmuctl_span_is(name, known->alias))) {
			attr->type = known->type;
			attr->config = known->config;
			return true;
		}
	}
	return false;
}

/* Eats the longest of the words that @text starts with, up to '-' or the end. */
static bool eat_word(struct span *text, const char *const words[WORDS_MAX])
{
	size_t longest = 0;

	for (size_t i = 0; i < WORDS_MAX && words[i]; i++) {
		size_t len = strlen(words[i]);

		if (len <= text->len && len > longest &&
		    !strncasecmp(text->start, words[i], len) &&
		    (len == text->len || text->start[len] == '-'))
			longest = len;
	}
	text->start += longest;
	text->len -= longest;
	return longest != 0;
}

/* Eats one word of a table of words; returns its index, or -1. */
static int eat_choice(struct span *text, const char *const (*table)[WORDS_MAX],
		      size_t count)
{
	struct span rest = { text->start + 1, text->len - 1 };

	if (!text->len || text->start[0] != '-')
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (eat_word(&rest, table[i])) {
			*text = rest;
			return (int)i;
		}
	}
	return -1;
}

static bool cache_find_rest(unsigned int level, struct span rest,
			    struct perf_event_attr *attr)
{
	int operation = -1, result = -1;

	/* Either may come first, either may lack, but not both. */
	while (rest.len) {
		int op = operation < 0 ? eat_choice(&rest, cache_operations,
						    ARRAY_LEN(cache_operations)) : -1;
		int res = op < 0 && result < 0 ?
			eat_choice(&rest, cache_results,
				   ARRAY_LEN(cache_results)) : -1;

		if (op < 0 && res < 0)
			return false;
		if (op >= 0)
			operation = op;
		else
			result = res;
	}
	if (operation < 0 && result < 0)
		return false;
	if (operation < 0)
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (!(cache_levels[level].operations & 1u << operation))
		return false;
	attr->type = PERF_TYPE_HW_CACHE;
	attr->config = cache_config(level, (uint64_t)operation, (uint64_t)result);
	return true;
}

/**
 * pmuctl_name_find_cache() - look up a cache event
 * @name: level, operation and result with dashes between.
 * @attr: type and config are set if it is one.
 */
bool pmuctl_name_find_cache(struct span name, struct perf_event_attr *attr)
{
	for (unsigned int level = 0; level < ARRAY_LEN(cache_levels); level++) {
		struct span rest = name;

		if (eat_word(&rest, cache_levels[level].words))
			return cache_find_rest(level, rest, attr);
	}
	return false;
}

PMUCTL_API int pmuctl_name_get(size_t index, struct pmuctl_name *name)
{
	memset(name, 0, sizeof(*name));
	if (index < ARRAY_LEN(generic_names)) {
		const struct generic_name *known = &generic_names[index];

		name->name = known->name;
		name->alias = known->alias;
		name->description = known->description;
		name->type = known->type;
		name->config = known->config;
		return 0;
	}
	index -= ARRAY_LEN(generic_names);
	if (index < ARRAY_LEN(cache_names)) {
		const struct cache_name *known = &cache_names[index];

		name->name = known->name;
		name->description = known->description;
		name->type = PERF_TYPE_HW_CACHE;
		name->config = cache_config(known->level, known->operation,
					    known->result);
		return 0;
	}
	return -ENOENT;
}
