// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals of struct perf_event_attr: every bit and every field that is unknown, reserved
 * or not supported, each on its own, and every event that does not exist.
 */
#include "refusal.h"

#define FLAGS_OFFSET	40	/* of the word of single-bit flags */
#define FIRST_UNKNOWN	38	/* its bits from here on are not defined */

/* Its bits: what each is, and whether it is supported. */
static const struct {
	const char *field;
	bool supported;
} flags[FIRST_UNKNOWN] = {
	{ "attr.disabled", true }, { "attr.inherit", true }, { "attr.pinned", true },
	{ "attr.exclusive", true }, { "attr.exclude_user", true },
	{ "attr.exclude_kernel", true }, { "attr.exclude_hv", true },
	{ "attr.exclude_idle", true }, { "attr.mmap", true }, { "attr.comm", true },
	{ "attr.freq", true }, { "attr.inherit_stat", true },
	{ "attr.enable_on_exec", true }, { "attr.task", true },
	{ "attr.watermark", true }, { "attr.precise_ip", true },
	{ "attr.precise_ip", true }, { "attr.mmap_data", true },
	{ "attr.sample_id_all", true }, { "attr.exclude_host", true },
	{ "attr.exclude_guest", true }, { "attr.exclude_callchain_kernel", true },
	{ "attr.exclude_callchain_user", true }, { "attr.mmap2", true },
	{ "attr.comm_exec", true }, { "attr.use_clockid", true },
	{ "attr.context_switch", true }, { "attr.write_backward", true },
	{ "attr.namespaces", true }, { "attr.ksymbol", true },
	{ "attr.bpf_event", true }, { "attr.aux_output", false },
	{ "attr.cgroup", true }, { "attr.text_poke", true },
	{ "attr.build_id", true }, { "attr.inherit_thread", true },
	{ "attr.remove_on_exec", true }, { "attr.sigtrap", false },
};

static uint64_t get_flags(const union raw_attr *a)
{
	uint64_t word;

	memcpy(&word, a->bytes + FLAGS_OFFSET, sizeof(word));
	return word;
}

static void set_flags(union raw_attr *a, uint64_t word)
{
	memcpy(a->bytes + FLAGS_OFFSET, &word, sizeof(word));
}

Test(refuse_attr, supported_flags_are_accepted)
{
	for (int bit = 0; bit < FIRST_UNKNOWN; bit++) {
		union raw_attr a = raw_instructions();

		if (!flags[bit].supported || !strcmp(flags[bit].field, "attr.precise_ip"))
			continue;
		set_flags(&a, 1ULL << bit);
		if (!strcmp(flags[bit].field, "attr.inherit_thread"))
			a.attr.inherit = 1;
		close(event_open(a));
	}
}

Test(refuse_attr, flags_that_are_not_supported)
{
	for (int bit = 0; bit < FIRST_UNKNOWN; bit++) {
		union raw_attr a = raw_instructions();

		if (flags[bit].supported)
			continue;
		set_flags(&a, get_flags(&a) | 1ULL << bit);
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_ATTR_UNSUPPORTED,
			      flags[bit].field,
			      "%s is not supported by this version of pmuctl: leave it 0",
			      flags[bit].field);
	}
}

Test(refuse_attr, flags_that_nobody_knows)
{
	for (int bit = FIRST_UNKNOWN; bit < 64; bit++) {
		union raw_attr a = raw_instructions();
		uint64_t word = get_flags(&a) | 1ULL << bit;

		set_flags(&a, word);
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_ATTR_BITS_UNKNOWN, "attr.flags",
			      "0x%lx has bits that no struct perf_event_attr known to this module defines: only 0x3fffffffff may be set",
			      (unsigned long)word);
	}
}

Test(refuse_attr, inherit_thread_without_inherit)
{
	check_refused(OPEN(RAW_ATTR(.inherit_thread = 1)), EINVAL, PMUCTL_WHY_INHERIT_THREAD,
		      "attr.inherit_thread",
		      "attr.inherit_thread says which children inherit the event, and attr.inherit is not set: set both");
}

/* Software events tell exactly where they are, and perf ignores how precise that is to be. */
Test(refuse_attr, precise_sampling_of_software)
{
	union raw_attr a = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	a.attr.precise_ip = 2;
	close(event_open(a));
}

Test(refuse_attr, precise_sampling)
{
	for (unsigned int precise = 1; precise <= 3; precise++) {
		union raw_attr a = raw_instructions();

		a.attr.precise_ip = precise;
		check_refused(OPEN(a), EOPNOTSUPP, PMUCTL_WHY_PRECISE, "attr.precise_ip",
			      "precise_ip %u asks for precise sampling, which this version of pmuctl lacks: set it to 0 (no modifier :p)",
			      precise);
	}
}

/* Every bit of every field that must be 0 */
static const struct {
	const char *field;
	unsigned int offset, bytes;
} fields[] = {
	{ "attr.bp_type", 52, 4 }, { "attr.config1", 56, 8 },
	{ "attr.config2", 64, 8 },
	{ "attr.aux_sample_size", 112, 4 },
	{ "attr.sig_data", 120, 8 }, { "attr.config3", 128, 8 },
};

Test(refuse_attr, fields_that_are_not_supported)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(fields); i++) {
		for (unsigned int bit = 0; bit < fields[i].bytes * 8; bit++) {
			/* config1 of hardware events is the PMU's: count_extra.c. */
			union raw_attr a = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);

			a.bytes[fields[i].offset + bit / 8] |= 1 << bit % 8;
			check_refused(OPEN(a), EINVAL, PMUCTL_WHY_ATTR_UNSUPPORTED,
				      fields[i].field,
				      "%s is not supported by this version of pmuctl: leave it 0",
				      fields[i].field);
		}
	}
}

Test(refuse_attr, reserved_fields)
{
	for (unsigned int bit = 0; bit < 48; bit++) {
		union raw_attr a = raw_instructions();
		bool second = bit < 16;
		unsigned int place = second ? 110 * 8 + bit : 116 * 8 + bit - 16;

		if (bit >= 16 && bit < 19)
			continue; /* aux_action's: refuse_aux.c */
		a.bytes[place / 8] |= 1 << place % 8;
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_RESERVED_SET,
			      second ? "attr.__reserved_2" : "attr.__reserved_3",
			      "a reserved field is 0x%lx: it must be 0",
			      second ? 1UL << bit : 1UL << (bit - 16));
	}
}

/* What a sample can have is in refuse_sampling.c. */
Test(refuse_attr, formats_that_nobody_knows)
{
	for (int bit = 25; bit < 64; bit++) {
		union raw_attr a = raw_instructions();

		a.attr.sample_type = 1ULL << bit;
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_ATTR_BITS_UNKNOWN, "attr.sample_type",
			      "0x%lx has bits that no struct perf_event_attr known to this module defines: only 0x1ffffff may be set",
			      1UL << bit);
	}
	for (int bit = 0; bit < 64; bit++) {
		union raw_attr a = raw_instructions();

		a.attr.read_format = 1ULL << bit;
		if (bit < 5)
			close(event_open(a));
		else
			check_refused(OPEN(a), EINVAL, PMUCTL_WHY_ATTR_BITS_UNKNOWN,
				      "attr.read_format",
				      "0x%lx has bits that no struct perf_event_attr known to this module defines: only 0x1f may be set",
				      1UL << bit);
	}
}

Test(refuse_attr, types_that_do_not_exist)
{
	static const uint32_t types[] = { 6, 7, 8, 100, 0x7fffffff, 0xffffffff };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(types); i++) {
		union raw_attr a = raw_attr(types[i], 0);

		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_TYPE_UNKNOWN, "attr.type",
			      "event type %u does not exist here: use PERF_TYPE_HARDWARE (0), _SOFTWARE (1), _TRACEPOINT (2), _HW_CACHE (3) or _RAW (4)",
			      types[i]);
	}
}

Test(refuse_attr, types_that_are_not_supported)
{
	static const struct {
		uint32_t type;
		const char *name;
	} types[] = {
		{ PERF_TYPE_BREAKPOINT, "breakpoint" } };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(types); i++) {
		union raw_attr a = raw_attr(types[i].type, 0);

		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_TYPE_UNSUPPORTED, "attr.type",
			      "events of type %u (%s) are not supported by this version of pmuctl: use PERF_TYPE_HARDWARE, _SOFTWARE, _TRACEPOINT, _HW_CACHE or _RAW",
			      types[i].type, types[i].name);
	}
}

Test(refuse_attr, generic_events_that_do_not_exist)
{
	static const uint64_t configs[] = { 10, 11, 255, 1ULL << 32, 1ULL << 63,
		(1ULL << 32) + 1, ~0ULL };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(configs); i++) {
		union raw_attr a = raw_attr(PERF_TYPE_HARDWARE, configs[i]);

		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_EVENT_UNKNOWN, "attr.config",
			      "config 0x%lx is not an event of type 0: see PERF_COUNT_* in <linux/perf_event.h>",
			      (unsigned long)configs[i]);
	}
}

Test(refuse_attr, generic_events_that_this_cpu_lacks)
{
	static const char *const names[PERF_COUNT_HW_MAX] = {
		"cpu-cycles", "instructions", "cache-references", "cache-misses",
		"branch-instructions", "branch-misses", "bus-cycles",
		"stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles",
	};
	struct pmuctl_info info = raw_info();
	int refused = 0;

	for (unsigned int i = 0; i < PERF_COUNT_HW_MAX; i++) {
		union raw_attr a = raw_attr(PERF_TYPE_HARDWARE, i);

		if (info.generic_events >> i & 1)
			continue;
		refused++;
		check_refused(OPEN(a), ENOENT, PMUCTL_WHY_EVENT_NOT_HERE, "attr.config",
			      "this CPU (%s) has no event for %s: use a raw event of this CPU, 'pmuctl list' shows them",
			      info.pmu_name, names[i]);
	}
	cr_assert_geq(refused, 2);
}

/* What of inherit_thread differs does not matter. */
Test(refuse_attr, siblings_that_are_inherited_otherwise_than_their_leader)
{
	for (unsigned int bits = 0; bits < 16; bits++) {
		union raw_attr a = raw_instructions();
		bool differs = (bits ^ bits >> 1) & 1;
		int leader;

		a.attr.inherit = bits & 1;
		a.attr.inherit_thread = a.attr.inherit && bits >> 2 & 1;
		leader = event_open(a);
		a.attr.inherit = bits >> 1 & 1;
		a.attr.inherit_thread = a.attr.inherit && bits >> 3 & 1;
		if (differs)
			check_refused(OPEN(a, .group = leader), EINVAL, PMUCTL_WHY_SIBLING_INHERIT,
				      "attr.inherit",
				      "a group is inherited as a whole or not at all: set attr.inherit as its leader has it");
		else
			close(event_open(a, .group = leader));
		close(leader);
	}
}

/* What comes first when much is wrong: what nobody knows, the type, what we lack, what
 * contradicts itself, the target.
 */
Test(refuse_attr, order_of_refusals)
{
	long last = raw_read_number("/sys/devices/system/cpu/possible");
	union raw_attr a = raw_attr(99, 0);

	a.attr.sigtrap = 1;
	a.attr.config1 = 1;
	a.attr.sample_period = ~0ULL;
	a.attr.read_format = 1 << 20;
	a.attr.exclude_user = 1;
	check_refused(OPEN(a, -5, -7), EINVAL, PMUCTL_WHY_ATTR_BITS_UNKNOWN, "attr.read_format",
		      "0x100000 has bits that no struct perf_event_attr known to this module defines: only 0x1f may be set");
	a.attr.read_format = 0;
	check_refused(OPEN(a, -5, -7), ENOENT, PMUCTL_WHY_TYPE_UNKNOWN, "attr.type",
		      "event type 99 does not exist here: use PERF_TYPE_HARDWARE (0), _SOFTWARE (1), _TRACEPOINT (2), _HW_CACHE (3) or _RAW (4)");
	a.attr.type = PERF_TYPE_RAW;
	check_refused(OPEN(a, -5, -7), EINVAL, PMUCTL_WHY_ATTR_UNSUPPORTED, "attr.sigtrap",
		      "attr.sigtrap is not supported by this version of pmuctl: leave it 0");
	a.attr.sigtrap = 0;
	a.attr.config2 = 1;
	check_refused(OPEN(a, -5, -7), EINVAL, PMUCTL_WHY_ATTR_UNSUPPORTED, "attr.config2",
		      "attr.config2 is not supported by this version of pmuctl: leave it 0");
	a.attr.config2 = 0;
	check_refused(OPEN(a, -5, -7), EINVAL, PMUCTL_WHY_PERIOD_RANGE, "attr.sample_period",
		      "%lu is not a period: it is from 1 to 2^63 - 1", ~0ul);
	a.attr.sample_period = 0;
	a.attr.exclude_user = 0;
	check_refused(OPEN(a, -5, -7), ESRCH, PMUCTL_WHY_PID_INVALID, "pid",
		      "pid -5 is not a target: use 0 for the calling task, a thread id, or -1 with a cpu");
	check_refused(OPEN(a, 0, -7), EINVAL, PMUCTL_WHY_CPU_INVALID, "cpu",
		      "cpu -7 does not exist: this machine has the CPUs 0 to %ld, and -1 means any",
		      last);
}
