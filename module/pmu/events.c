// SPDX-License-Identifier: GPL-2.0-only
/*
 * Encoding of HARDWARE, HW_CACHE and RAW events, by the tables of the CPU's vendor in
 * events_intel.c and events_amd.c. Pure logic: compiles in user space too.
 */
#include "explain/explain.h"
#include "pmu/event_tables.h"
#include "pmu/events_extra.h"

/* IA32_FIXED_CTR_CTRL, SDM Vol. 3B, "Architectural Performance Monitoring Version 2" */
#define FIXED_CTRL_OS		0x1
#define FIXED_CTRL_USR		0x2
#define FIXED_CTRL_ANY		0x4
#define FIXED_CTRL_PMI		0x8

static const char *const generic_names[PERF_COUNT_HW_MAX] = {
	[PERF_COUNT_HW_CPU_CYCLES] = "cpu-cycles",
	[PERF_COUNT_HW_INSTRUCTIONS] = "instructions",
	[PERF_COUNT_HW_CACHE_REFERENCES] = "cache-references",
	[PERF_COUNT_HW_CACHE_MISSES] = "cache-misses",
	[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = "branch-instructions",
	[PERF_COUNT_HW_BRANCH_MISSES] = "branch-misses",
	[PERF_COUNT_HW_BUS_CYCLES] = "bus-cycles",
	[PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] = "stalled-cycles-frontend",
	[PERF_COUNT_HW_STALLED_CYCLES_BACKEND] = "stalled-cycles-backend",
	[PERF_COUNT_HW_REF_CPU_CYCLES] = "ref-cycles",
};

static bool is_amd(const struct hwpmu_caps *caps)
{
	return caps->vendor == HWPMU_VENDOR_AMD;
}

static u64 generic_config(const struct hwpmu_caps *caps, unsigned int event)
{
	return is_amd(caps) ? hwpmu_amd_generic(caps, event) :
			      hwpmu_intel_generic(caps, event);
}

u64 hwpmu_generic_events(const struct hwpmu_caps *caps)
{
	u64 events = 0;
	unsigned int i;

	for (i = 0; caps->version && i < PERF_COUNT_HW_MAX; i++)
		if (generic_config(caps, i))
			events |= BIT_ULL(i);
	return events;
}

static int encode_hardware(const struct hwpmu_caps *caps,
			   const struct perf_event_attr *attr, u64 *config,
			   struct pmuctl_explanation *why)
{
	unsigned int event;

	if (attr->config >= PERF_COUNT_HW_MAX)
		return pmuctl_refuse(why, EVENT_UNKNOWN, "attr.config",
				     attr->config, attr->type);
	event = array_index_nospec(attr->config, PERF_COUNT_HW_MAX);
	*config = generic_config(caps, event);
	if (!*config)
		return pmuctl_refuse(why, EVENT_NOT_HERE, "attr.config",
				     caps->name, generic_names[event]);
	return 0;
}

/* The event select, and for some that of another register; 0: this CPU has none. */
static u64 cache_config(const struct hwpmu_caps *caps, unsigned int cache, unsigned int op,
			unsigned int result, u64 *extra)
{
	if (is_amd(caps))
		return hwpmu_amd_cache(caps, cache, op, result);
	if (cache == PERF_COUNT_HW_CACHE_LL || cache == PERF_COUNT_HW_CACHE_NODE)
		return hwpmu_extra_cache(caps, cache, op, result, extra);
	return hwpmu_intel_cache(caps, cache, op, result);
}

static int encode_cache(const struct hwpmu_caps *caps,
			const struct perf_event_attr *attr, u64 *config, u64 *extra,
			struct pmuctl_explanation *why)
{
	unsigned int cache = attr->config & 0xff;
	unsigned int op = (attr->config >> 8) & 0xff;
	unsigned int result = (attr->config >> 16) & 0xff;

	if (attr->config >> 24 || cache >= PERF_COUNT_HW_CACHE_MAX ||
	    op >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		return pmuctl_refuse(why, EVENT_UNKNOWN, "attr.config",
				     attr->config, attr->type);
	cache = array_index_nospec(cache, PERF_COUNT_HW_CACHE_MAX);
	op = array_index_nospec(op, PERF_COUNT_HW_CACHE_OP_MAX);
	result = array_index_nospec(result, PERF_COUNT_HW_CACHE_RESULT_MAX);
	*config = cache_config(caps, cache, op, result, extra);
	if (!*config)
		return pmuctl_refuse(why, EVENT_NOT_HERE, "attr.config",
				     caps->name, "this use of this cache");
	return 0;
}

static int encode_raw(const struct hwpmu_caps *caps,
		      const struct perf_event_attr *attr, u64 *config,
		      struct pmuctl_explanation *why)
{
	u64 bad = attr->config & ~caps->raw_mask;

	if (bad)
		return pmuctl_refuse(why, RAW_BITS, "attr.config", attr->config,
				     caps->raw_mask, bad);
	*config = attr->config;
	return is_amd(caps) ? hwpmu_amd_check_raw(caps, attr->config, why) :
			      hwpmu_intel_check_raw(caps, attr->config, why);
}

static u8 core_of_type(u32 type)
{
	switch (type) {
	case PMUCTL_TYPE_CPU_CORE:
		return HWPMU_CORE_PERFORMANCE;
	case PMUCTL_TYPE_CPU_ATOM:
		return HWPMU_CORE_EFFICIENCY;
	default:
		return 0;
	}
}

static bool is_generic(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
}

u8 hwpmu_event_core(const struct perf_event_attr *attr)
{
	return core_of_type(is_generic(attr) ? attr->config >> 32 : attr->type);
}

void hwpmu_event_for_all(struct perf_event_attr *attr)
{
	if (is_generic(attr))
		attr->config = (u32)attr->config;
	else
		attr->type = PERF_TYPE_RAW;
}

const char *hwpmu_core_name(u8 core_type)
{
	return core_type == HWPMU_CORE_EFFICIENCY ? "cpu_atom" : "cpu_core";
}

int hwpmu_event_encode(const struct hwpmu_caps *caps,
		       const struct perf_event_attr *attr,
		       struct hwpmu_config *hw, struct pmuctl_explanation *why)
{
	u64 config = 0, extra = attr->config1;
	int err;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		err = encode_hardware(caps, attr, &config, why);
		break;
	case PERF_TYPE_HW_CACHE:
		err = encode_cache(caps, attr, &config, &extra, why);
		break;
	default:
		err = encode_raw(caps, attr, &config, why);
		break;
	}
	if (err)
		return err;

	hw->allowed = is_amd(caps) ? hwpmu_amd_counters(caps, config) :
				     hwpmu_intel_counters(caps, config);
	if (!hw->allowed)
		return pmuctl_refuse(why, EVENT_NOT_HERE, "attr.config",
				     caps->name, "that counter's event");
	hw->shortest = 1;
	hw->multiple = 1;
	if (!is_amd(caps))
		hwpmu_intel_periods(caps, config, hw);
	hw->extra = HWPMU_EXTRA_NONE;
	hw->other_extra = HWPMU_EXTRA_NONE;
	err = hwpmu_extra_encode(caps, config, extra, hw, why);
	if (err)
		return err;
	hw->evtsel = config | HWPMU_EVTSEL_INT | HWPMU_EVTSEL_EN;
	hw->fixed_ctrl = FIXED_CTRL_PMI;
	/*
	 * What excludes the host counts at no level of it: nothing, as guests of KVM have no
	 * counter of ours for themselves.
	 */
	if (!attr->exclude_user && !attr->exclude_host) {
		hw->evtsel |= HWPMU_EVTSEL_USR;
		hw->fixed_ctrl |= FIXED_CTRL_USR;
	}
	if (!attr->exclude_kernel && !attr->exclude_host) {
		hw->evtsel |= HWPMU_EVTSEL_OS;
		hw->fixed_ctrl |= FIXED_CTRL_OS;
	}
	if (config & HWPMU_EVTSEL_ANY)
		hw->fixed_ctrl |= FIXED_CTRL_ANY;
	return 0;
}
