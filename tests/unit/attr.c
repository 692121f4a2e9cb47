// SPDX-License-Identifier: GPL-2.0-only
/*
 * Validation of struct perf_event_attr: every bit of every field on its own, and many
 * at once against a model that is written down a second time here.
 */
/* sources: module/core/attr.c module/explain/explain.c */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "core/attr.h"

#define FLAGS_OFFSET	40
#define ROUNDS		200000

static union pmuctl_attr base(void)
{
	union pmuctl_attr a;

	memset(&a, 0, sizeof(a));
	a.attr.size = sizeof(a);
	return a;
}

static uint64_t get(const union pmuctl_attr *a, unsigned int offset, unsigned int bytes)
{
	uint64_t value = 0;

	memcpy(&value, a->bytes + offset, bytes);
	return value;
}

static void set_bit(union pmuctl_attr *a, unsigned int offset, unsigned int bit)
{
	a->bytes[offset + bit / 8] |= 1 << bit % 8;
}

/* ---- The model ---- */

static const uint64_t unsupported_flags =
	1ULL << 31 |		/* aux_output */
	1ULL << 37;		/* sigtrap */
static const uint64_t known_flags = (1ULL << 38) - 1;
static const uint64_t precise_flags = 3ULL << 15;
#define CONFIG1_OFFSET		56
#define FLAG_INHERIT		(1ULL << 1)
#define FLAG_INHERIT_THREAD	(1ULL << 35)
#define FLAG_FREQ	(1ULL << 10)
#define FLAG_CLOCKID	(1ULL << 25)
#define FLAGS_EXEC	(1ULL << 12 | 1ULL << 36)	/* enable_on_exec, remove_on_exec */

/* Fields that must be 0 as this version of the module cannot do what they ask for; config1 only
 * of events that are not of hardware.
 */
static const struct {
	const char *name;
	unsigned int offset, bytes;
} unsupported[] = {
	{ "attr.bp_type", 52, 4 }, { "attr.config1", CONFIG1_OFFSET, 8 },
	{ "attr.config2", 64, 8 },
	{ "attr.aux_sample_size", 112, 4 },
	{ "attr.sig_data", 120, 8 }, { "attr.config3", 128, 8 },
};

/* Bits of sample_type that ask for what it cannot tell */
static const struct {
	unsigned int bit;
	const char *name;
} unsupported_samples[] = {
	{ 14, "PERF_SAMPLE_WEIGHT" },
	{ 15, "PERF_SAMPLE_DATA_SRC" }, { 17, "PERF_SAMPLE_TRANSACTION" },
	{ 19, "PERF_SAMPLE_PHYS_ADDR" }, { 20, "PERF_SAMPLE_AUX" },
	{ 22, "PERF_SAMPLE_DATA_PAGE_SIZE" },
	{ 23, "PERF_SAMPLE_CODE_PAGE_SIZE" }, { 24, "PERF_SAMPLE_WEIGHT_STRUCT" },
};
#define SAMPLE_UNSUPPORTED	0x1dac000ULL
#define SAMPLE_BRANCHES		(1ULL << 11)
#define BRANCHES_KNOWN		0x7ffffULL
#define BRANCH_PRIVILEGES	7ULL
#define SAMPLE_CALLCHAIN	(1ULL << 5)
#define SAMPLE_REGS_USER	(1ULL << 12)
#define SAMPLE_STACK_USER	(1ULL << 13)
#define SAMPLE_REGS_INTR	(1ULL << 18)

/* AX to SS, R8 to R15; not DS, ES, FS, GS */
#define REGS_KNOWN		0xff0fffULL
#define STACK_DEPTH_MAX		127
#define STACK_USER_MAX		65528

static enum pmuctl_why reserved_or_unknown(const union pmuctl_attr *a)
{
	if (get(a, FLAGS_OFFSET, 8) & ~known_flags)
		return PMUCTL_WHY_ATTR_BITS_UNKNOWN;
	if (get(a, 110, 2) || get(a, 116, 4) >> 3)
		return PMUCTL_WHY_RESERVED_SET;
	if (get(a, 32, 8) >> 5 || get(a, 24, 8) >> 25)
		return PMUCTL_WHY_ATTR_BITS_UNKNOWN;
	return PMUCTL_WHY_NOTHING;
}

static bool are_regs_wrong(uint64_t mask)
{
	return !mask || (mask & ~REGS_KNOWN);
}

static enum pmuctl_why model_sampling(const union pmuctl_attr *a)
{
	uint64_t flags = get(a, FLAGS_OFFSET, 8), type = get(a, 24, 8), branches = get(a, 72, 8);
	uint32_t clock = get(a, 92, 4), stack = get(a, 88, 4);

	if (!(flags & FLAG_FREQ) && get(a, 16, 8) >= 1ULL << 63)
		return PMUCTL_WHY_PERIOD_RANGE;
	if (type & SAMPLE_CALLCHAIN && get(a, 108, 2) > STACK_DEPTH_MAX)
		return PMUCTL_WHY_STACK_DEPTH;
	if (type & SAMPLE_UNSUPPORTED)
		return PMUCTL_WHY_SAMPLE_UNSUPPORTED;
	if ((type & SAMPLE_REGS_USER && are_regs_wrong(get(a, 80, 8))) ||
	    (type & SAMPLE_REGS_INTR && are_regs_wrong(get(a, 96, 8))))
		return PMUCTL_WHY_REGS;
	if (type & SAMPLE_STACK_USER && (stack & 7 || stack > STACK_USER_MAX))
		return PMUCTL_WHY_STACK_USER;
	if (!(type & SAMPLE_BRANCHES)) {
		if (branches)
			return PMUCTL_WHY_BRANCH_UNUSED;
	} else if (branches & ~BRANCHES_KNOWN) {
		return PMUCTL_WHY_ATTR_BITS_UNKNOWN;
	} else if (!(branches & ~BRANCH_PRIVILEGES)) {
		return PMUCTL_WHY_BRANCH_NO_KIND;
	}
	if (!(flags & FLAG_CLOCKID))
		return clock ? PMUCTL_WHY_CLOCK_UNUSED : PMUCTL_WHY_NOTHING;
	if (clock != 0 && clock != 1 && clock != 4 && clock != 7 && clock != 11)
		return PMUCTL_WHY_CLOCK;
	return PMUCTL_WHY_NOTHING;
}

/* aux_watermark and aux_start_paused are of events that trace, the others of others. */
static enum pmuctl_why model_aux(const union pmuctl_attr *a, bool traces)
{
	uint32_t action = get(a, 116, 4);

	if (!traces && get(a, 104, 4))
		return PMUCTL_WHY_AUX_ONLY;
	if ((action & 6) == 6)
		return PMUCTL_WHY_AUX_BOTH;
	if (!traces && action & 1)
		return PMUCTL_WHY_AUX_ONLY;
	return traces && action & 6 ? PMUCTL_WHY_AUX_ITSELF : PMUCTL_WHY_NOTHING;
}

static enum pmuctl_why model(const union pmuctl_attr *a)
{
	uint64_t flags = get(a, FLAGS_OFFSET, 8);
	uint32_t type = get(a, 0, 4);

	if (reserved_or_unknown(a))
		return reserved_or_unknown(a);
	if (type == 5)
		return PMUCTL_WHY_TYPE_UNSUPPORTED;
	if (type > 5 && type < 1000 && type != 900 && type != 901)
		return PMUCTL_WHY_TYPE_UNKNOWN;
	if (flags & unsupported_flags)
		return PMUCTL_WHY_ATTR_UNSUPPORTED;
	for (size_t i = 0; i < ARRAY_SIZE(unsupported); i++)
		if (get(a, unsupported[i].offset, unsupported[i].bytes) &&
		    !(unsupported[i].offset == CONFIG1_OFFSET && (type == 0 || type == 3 || type == 4)))
			return PMUCTL_WHY_ATTR_UNSUPPORTED;
	if (model_aux(a, type >= 1000))
		return model_aux(a, type >= 1000);
	if (model_sampling(a))
		return model_sampling(a);
	if (flags & FLAG_INHERIT_THREAD && !(flags & FLAG_INHERIT))
		return PMUCTL_WHY_INHERIT_THREAD;
	if ((flags & FLAGS_EXEC) == FLAGS_EXEC)
		return PMUCTL_WHY_EXEC_BOTH;
	if (flags & precise_flags && (type == 0 || type == 3 || type == 4))
		return PMUCTL_WHY_PRECISE;
	return PMUCTL_WHY_NOTHING;
}

/* Check one attr against the model; the explanation is given back. */
static struct pmuctl_explanation check(const union pmuctl_attr *a)
{
	static const int errors[] = {
		[PMUCTL_WHY_ATTR_BITS_UNKNOWN] = EINVAL,
		[PMUCTL_WHY_RESERVED_SET] = EINVAL,
		[PMUCTL_WHY_TYPE_UNSUPPORTED] = ENOENT,
		[PMUCTL_WHY_TYPE_UNKNOWN] = ENOENT,
		[PMUCTL_WHY_ATTR_UNSUPPORTED] = EINVAL,
		[PMUCTL_WHY_PRECISE] = EOPNOTSUPP,
		[PMUCTL_WHY_PERIOD_RANGE] = EINVAL,
		[PMUCTL_WHY_STACK_DEPTH] = EOVERFLOW,
		[PMUCTL_WHY_SAMPLE_UNSUPPORTED] = EINVAL,
		[PMUCTL_WHY_REGS] = EINVAL,
		[PMUCTL_WHY_STACK_USER] = EINVAL,
		[PMUCTL_WHY_CLOCK] = EINVAL,
		[PMUCTL_WHY_EXEC_BOTH] = EINVAL,
		[PMUCTL_WHY_INHERIT_THREAD] = EINVAL,
		[PMUCTL_WHY_CLOCK_UNUSED] = EINVAL,
		[PMUCTL_WHY_AUX_ONLY] = EOPNOTSUPP,
		[PMUCTL_WHY_AUX_BOTH] = EINVAL,
		[PMUCTL_WHY_AUX_ITSELF] = EINVAL,
		[PMUCTL_WHY_BRANCH_UNUSED] = EINVAL,
		[PMUCTL_WHY_BRANCH_NO_KIND] = EINVAL,
	};
	struct pmuctl_explanation why = { .size = 0 };
	union pmuctl_attr before = *a;
	enum pmuctl_why expected = model(a);
	int ret = pmuctl_attr_check(a, &why);

	cr_assert_eq(why.code, expected, "code %u, expected %u: %s", why.code,
		     expected, why.sentence);
	cr_assert_eq(ret, -errors[expected], "%d: %s", ret, why.sentence);
	cr_assert_eq(pmuctl_attr_check(a, NULL), ret);
	cr_assert_arr_eq(a, &before, sizeof(before));
	if (expected) {
		cr_assert_eq(why.error, (uint32_t)-ret);
		cr_assert_eq(strncmp(why.field, "attr.", 5), 0);
		cr_assert_lt(strnlen(why.field, sizeof(why.field)), sizeof(why.field));
		cr_assert_lt(strlen(why.sentence), sizeof(why.sentence) - 1);
	}
	return why;
}

/* ---- Each on its own ---- */

Test(attr, what_is_supported_is_accepted)
{
	static const uint32_t types[] = { PERF_TYPE_HARDWARE, PERF_TYPE_HW_CACHE,
		PERF_TYPE_RAW };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		union pmuctl_attr a = base();

		a.attr.type = types[i];
		a.attr.config = ~0ULL; /* what it means is the PMU's matter */
		a.attr.config1 = ~0ULL;
		a.attr.read_format = 31;
		a.attr.disabled = 1;
		a.attr.exclude_kernel = 1;
		a.attr.exclude_hv = 1;
		a.attr.exclude_idle = 1;
		a.attr.enable_on_exec = 1;
		a.attr.inherit = 1;
		a.attr.inherit_thread = 1;
		cr_assert_eq(check(&a).code, PMUCTL_WHY_NOTHING);
		cr_assert_eq(pmuctl_attr_check(&a, NULL), 0);
	}
}

Test(attr, every_bit_on_its_own)
{
	unsigned int accepted = 0;

	for (unsigned int bit = 0; bit < sizeof(union pmuctl_attr) * 8; bit++) {
		union pmuctl_attr a = base();

		set_bit(&a, 0, bit);
		accepted += !check(&a).code;
	}
	/* types 1, 2 and 4, and from 1024 on; size; config; config1; a period without its last bit;
	 * what a sample can have by itself; read_format; flags, inherit_thread not without inherit;
	 * wakeup_events; registers and stack, which nobody asked for, and a depth; to pause and to resume.
	 */
	cr_assert_eq(accepted, 3 + 22 + 2 + 32 + 64 + 64 + 63 + 14 + 5 + 33 + 32 + 2 * 64 + 32 + 16,
		     "%u", accepted);
}

/* The field at fault is named as in C: bit-fields found by setting them so. */
Test(attr, flags_are_named_as_in_c)
{
#define FLAG(name) do {								\
	union pmuctl_attr a = base();						\
	struct pmuctl_explanation why;						\
										\
	a.attr.name = 1;							\
	why = check(&a);							\
	cr_assert_eq(why.code, PMUCTL_WHY_ATTR_UNSUPPORTED, #name);		\
	cr_assert_str_eq(why.field, "attr." #name);				\
	cr_assert_str_eq(why.sentence, "attr." #name				\
			 " is not supported by this version of pmuctl: leave it 0"); \
} while (0)
	FLAG(aux_output);
	FLAG(sigtrap);
#undef FLAG
}

Test(attr, fields_are_named_as_in_c)
{
	for (size_t i = 0; i < ARRAY_SIZE(unsupported); i++) {
		for (unsigned int bit = 0; bit < unsupported[i].bytes * 8; bit++) {
			union pmuctl_attr a = base();
			struct pmuctl_explanation why;

			a.attr.type = PERF_TYPE_SOFTWARE;
			set_bit(&a, unsupported[i].offset, bit);
			why = check(&a);
			cr_assert_str_eq(why.field, unsupported[i].name,
					 "bit %u of %s: %s", bit,
					 unsupported[i].name, why.field);
		}
	}
}

Test(attr, unknown_bits_are_shown_with_the_known_ones)
{
	union pmuctl_attr a = base();
	struct pmuctl_explanation why;

	set_bit(&a, FLAGS_OFFSET, 0);
	set_bit(&a, FLAGS_OFFSET, 38);
	why = check(&a);
	cr_assert_str_eq(why.field, "attr.flags");
	cr_assert_str_eq(why.sentence,
			 "0x4000000001 has bits that no struct perf_event_attr known to this module defines: only 0x3fffffffff may be set");
	a = base();
	a.attr.read_format = 32;
	why = check(&a);
	cr_assert_str_eq(why.field, "attr.read_format");
	cr_assert_str_eq(why.sentence,
			 "0x20 has bits that no struct perf_event_attr known to this module defines: only 0x1f may be set");
}

Test(attr, precise_ip_is_told_with_its_value)
{
	for (unsigned int precise = 1; precise < 4; precise++) {
		union pmuctl_attr a = base();
		char sentence[208];

		a.attr.precise_ip = precise;
		snprintf(sentence, sizeof(sentence),
			 "precise_ip %u asks for precise sampling, which this version of pmuctl lacks: set it to 0 (no modifier :p)",
			 precise);
		cr_assert_str_eq(check(&a).sentence, sentence);
	}
}

Test(attr, types_from_0_to_1000)
{
	for (uint32_t type = 0; type < 1000; type++) {
		union pmuctl_attr a = base();

		a.attr.type = type;
		check(&a);
	}
}

/* ---- Sampling ---- */

Test(attr, what_a_sample_cannot_tell_is_named)
{
	for (size_t i = 0; i < ARRAY_SIZE(unsupported_samples); i++) {
		union pmuctl_attr a = base();
		struct pmuctl_explanation why;
		char sentence[208];

		a.attr.sample_type = 1ULL << unsupported_samples[i].bit;
		snprintf(sentence, sizeof(sentence),
			 "attr.sample_type has %s, which this version of pmuctl cannot tell: clear it",
			 unsupported_samples[i].name);
		why = check(&a);
		cr_assert_eq(why.code, PMUCTL_WHY_SAMPLE_UNSUPPORTED);
		cr_assert_str_eq(why.field, "attr.sample_type");
		cr_assert_str_eq(why.sentence, sentence);
	}
}

/* With all that it needs */
Test(attr, everything_else_can_be_in_a_sample)
{
	union pmuctl_attr a = base();

	a.attr.sample_type = ((1ULL << 25) - 1) & ~SAMPLE_UNSUPPORTED;
	a.attr.sample_regs_user = REGS_KNOWN;
	a.attr.sample_regs_intr = REGS_KNOWN;
	a.attr.sample_stack_user = STACK_USER_MAX;
	a.attr.sample_max_stack = STACK_DEPTH_MAX;
	a.attr.branch_sample_type = BRANCHES_KNOWN;
	cr_assert_eq(check(&a).code, PMUCTL_WHY_NOTHING);
}

Test(attr, branches)
{
	union pmuctl_attr a = base();

	for (unsigned int bit = 0; bit < 64; bit++) {
		a.attr.branch_sample_type = 1ULL << bit;
		a.attr.sample_type = 0;
		cr_assert_eq(check(&a).code, PMUCTL_WHY_BRANCH_UNUSED);
		a.attr.sample_type = SAMPLE_BRANCHES;
		cr_assert_eq(check(&a).code, bit < 3 ? PMUCTL_WHY_BRANCH_NO_KIND :
			     bit < 19 ? PMUCTL_WHY_NOTHING : PMUCTL_WHY_ATTR_BITS_UNKNOWN);
	}
}

/* Those that are named; else those that the event counts. */
Test(attr, privileges_of_branches)
{
	union pmuctl_attr a = base();

	a.attr.branch_sample_type = 8;
	cr_assert_eq(pmuctl_attr_branches(&a.attr), 8 | 7);
	a.attr.exclude_kernel = 1;
	cr_assert_eq(pmuctl_attr_branches(&a.attr), 8 | 5);
	a.attr.exclude_hv = 1;
	cr_assert_eq(pmuctl_attr_branches(&a.attr), 8 | 1);
	a.attr.exclude_user = 1;
	cr_assert_eq(pmuctl_attr_branches(&a.attr), 8);
	a.attr.branch_sample_type = 8 | 2;
	cr_assert_eq(pmuctl_attr_branches(&a.attr), 8 | 2);
}

Test(attr, periods_to_their_end)
{
	static const uint64_t good[] = { 0, 1, 1ULL << 31, 1ULL << 32, (1ULL << 63) - 1 };
	static const uint64_t bad[] = { 1ULL << 63, (1ULL << 63) + 1, ~0ULL };
	union pmuctl_attr a = base();

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		a.attr.sample_period = good[i];
		cr_assert_eq(check(&a).code, PMUCTL_WHY_NOTHING);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		a.attr.freq = 0;
		a.attr.sample_period = bad[i];
		cr_assert_eq(check(&a).code, PMUCTL_WHY_PERIOD_RANGE);
		cr_assert_str_eq(check(&a).field, "attr.sample_period");
		/* A frequency has a limit of its own, which is a parameter. */
		a.attr.freq = 1;
		cr_assert_eq(check(&a).code, PMUCTL_WHY_NOTHING);
	}
}

Test(attr, each_register)
{
	for (unsigned int bit = 0; bit < 64; bit++) {
		union pmuctl_attr a = base();

		a.attr.sample_type = SAMPLE_REGS_USER;
		a.attr.sample_regs_user = 1ULL << bit;
		cr_assert_eq(!check(&a).code, REGS_KNOWN >> bit & 1, "bit %u", bit);
		a = base();
		a.attr.sample_type = SAMPLE_REGS_INTR;
		a.attr.sample_regs_intr = 1ULL << bit;
		cr_assert_eq(!check(&a).code, REGS_KNOWN >> bit & 1, "bit %u", bit);
	}
}

Test(attr, the_mask_at_fault_is_named)
{
	union pmuctl_attr a = base();

	a.attr.sample_type = SAMPLE_REGS_USER | SAMPLE_REGS_INTR;
	cr_assert_str_eq(check(&a).field, "attr.sample_regs_user");
	a.attr.sample_regs_user = 1;
	cr_assert_str_eq(check(&a).field, "attr.sample_regs_intr");
	a.attr.sample_regs_intr = 1;
	cr_assert_eq(check(&a).code, PMUCTL_WHY_NOTHING);
}

/* All numbers that fit into 16 bits, and what lies around every power of two */
Test(attr, depths_stacks_and_clocks)
{
	for (unsigned int n = 0; n < 65536 + 3 * 32; n++) {
		uint32_t value = n < 65536 ? n : (1U << (n - 65536) / 3) + n % 3 - 1;
		union pmuctl_attr a = base();

		a.attr.sample_type = SAMPLE_STACK_USER;
		a.attr.sample_stack_user = value;
		check(&a);
		a = base();
		a.attr.sample_max_stack = value;
		check(&a);
		a = base();
		a.attr.clockid = value;
		check(&a);
		a.attr.use_clockid = 1;
		check(&a);
	}
}

/* ---- Many at once ---- */

static uint64_t random_bits(void)
{
	static uint64_t state = 88172645463325252ULL;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Values from both sides of the limits */
static void set_sampling(union pmuctl_attr *a)
{
	a->attr.sample_type = random_bits() & ((1ULL << 25) - 1) & random_bits();
	if (random_bits() & 3)
		a->attr.sample_type &= ~SAMPLE_UNSUPPORTED;
	a->attr.sample_period = random_bits() >> random_bits() % 8;
	a->attr.freq = random_bits() & 1;
	a->attr.sample_regs_user = random_bits() & REGS_KNOWN;
	a->attr.sample_regs_intr = random_bits() & REGS_KNOWN;
	a->attr.sample_max_stack = random_bits() % 8 ? random_bits() % 128 : random_bits();
	a->attr.sample_stack_user = random_bits() % (STACK_USER_MAX + 64);
	if (random_bits() & 7)
		a->attr.sample_stack_user &= ~7U;
	a->attr.use_clockid = random_bits() & 1;
	a->attr.clockid = random_bits() % 13;
	if (!a->attr.use_clockid && random_bits() & 7)
		a->attr.clockid = 0;
}

Test(attr, any_combination_is_answered_as_the_rules_say)
{
	unsigned int seen[256] = { 0 };

	for (int round = 0; round < ROUNDS; round++) {
		union pmuctl_attr a = base();
		unsigned int n = random_bits() % 6;

		a.attr.type = random_bits() % 8 < 6 ? PERF_TYPE_RAW : random_bits() % 7;
		a.attr.config = random_bits();
		a.attr.exclude_user = random_bits() & 1;
		a.attr.exclude_kernel = random_bits() & 1;
		if (random_bits() & 1)
			set_sampling(&a);
		while (n--) {
			/* Half of the bits are among the flags that are known. */
			if (random_bits() & 1)
				set_bit(&a, FLAGS_OFFSET, random_bits() % 39);
			else
				set_bit(&a, 8, random_bits() % ((sizeof(a) - 8) * 8));
		}
		seen[check(&a).code]++;
	}
	cr_assert_gt(seen[PMUCTL_WHY_NOTHING], 100);
	cr_assert_gt(seen[PMUCTL_WHY_ATTR_BITS_UNKNOWN], 100);
	cr_assert_gt(seen[PMUCTL_WHY_RESERVED_SET], 100);
	cr_assert_gt(seen[PMUCTL_WHY_TYPE_UNKNOWN], 100);
	cr_assert_gt(seen[PMUCTL_WHY_TYPE_UNSUPPORTED], 100);
	cr_assert_gt(seen[PMUCTL_WHY_ATTR_UNSUPPORTED], 100);
	cr_assert_gt(seen[PMUCTL_WHY_PRECISE], 100);
	cr_assert_gt(seen[PMUCTL_WHY_PERIOD_RANGE], 100);
	cr_assert_gt(seen[PMUCTL_WHY_STACK_DEPTH], 100);
	cr_assert_gt(seen[PMUCTL_WHY_SAMPLE_UNSUPPORTED], 100);
	cr_assert_gt(seen[PMUCTL_WHY_REGS], 100);
	cr_assert_gt(seen[PMUCTL_WHY_STACK_USER], 100);
	cr_assert_gt(seen[PMUCTL_WHY_CLOCK], 100);
	cr_assert_gt(seen[PMUCTL_WHY_CLOCK_UNUSED], 100);
}
