// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processors whose CPUs are not all alike: performance and efficiency cores. Each type has its
 * own number of counters and its own events (SDM Vol. 3B, "Performance Monitoring for
 * Hybrid Processors").
 *
 * An event is encoded for each type when it is opened, and which of these is programmed is
 * decided when it is started. A type that has no such event, or for which it is not meant, does not
 * count it: an event of a CPU of that type is refused, one of a task has no counter while the task
 * is there, which shows in its times.
 *
 * What differs in more than that is not used: the same registers, the same widths. On other
 * processors a static key makes all of this one no-op.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/smp.h>

#include <asm/cpufeature.h>
#include <asm/cpuid/api.h>
#include <asm/processor.h>

#include "explain/explain.h"
#include "pmu/private.h"

/* Not in the headers of all kernels */
#define LEAF_CORE_TYPE		0x1a
#define LEAF_EXTENDED		0x23
#define EXTENDED_COUNTERS	BIT(1)	/* leaf 0x23, sub-leaf 0, EAX: there is sub-leaf 1 */
#define HAS_LEAF_EXTENDED	BIT(8)	/* leaf 7, sub-leaf 1, EAX */

DEFINE_STATIC_KEY_FALSE(hwpmu_is_hybrid);

/**
 * struct hwpmu_type - a type of CPU
 * @announced: its PMU as CPUID has it.
 * @caps: as it is.
 */
static struct hwpmu_type {
	struct hwpmu_caps announced;
	struct hwpmu_caps caps;
} hwpmu_types[HWPMU_MAX_TYPES] __ro_after_init;
static unsigned int hwpmu_types_found __ro_after_init;

/* ---- What a CPU is ---- */

static void read_cpuid_hybrid(struct hwpmu_cpuid *id)
{
	u32 leaves, unused;

	id->core_type = cpuid_eax(LEAF_CORE_TYPE) >> 24;
	cpuid_count(7, 1, &leaves, &unused, &unused, &unused);
	if (!(leaves & HAS_LEAF_EXTENDED) || id->max_leaf < LEAF_EXTENDED)
		return;
	cpuid_count(LEAF_EXTENDED, 0, &leaves, &unused, &unused, &unused);
	if (leaves & EXTENDED_COUNTERS)
		cpuid_count(LEAF_EXTENDED, 1, &id->ext_general, &id->ext_fixed,
			    &unused, &unused);
}

/* Unless transactions are always aborted. SDM Vol. 4, IA32_TSX_FORCE_ABORT */
static bool tsx_takes_counter(void)
{
	u64 value;

	return boot_cpu_has(X86_FEATURE_TSX_FORCE_ABORT) &&
		!boot_cpu_has(X86_FEATURE_RTM_ALWAYS_ABORT) &&
		!rdmsrq_safe(MSR_TSX_FORCE_ABORT, &value) &&
		!(value & MSR_TFA_RTM_FORCE_ABORT);
}

void hwpmu_read_cpuid(struct hwpmu_cpuid *id)
{
	const struct cpuinfo_x86 *c = &boot_cpu_data;

	memset(id, 0, sizeof(*id));
	switch (c->x86_vendor) {
	case X86_VENDOR_INTEL:
		id->vendor = HWPMU_VENDOR_INTEL;
		break;
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		id->vendor = HWPMU_VENDOR_AMD;
		break;
	default:
		id->vendor = HWPMU_VENDOR_OTHER;
	}
	id->family = c->x86;
	id->model = c->x86_model;
	id->hypervisor = boot_cpu_has(X86_FEATURE_HYPERVISOR);
	id->xen_pv = boot_cpu_has(X86_FEATURE_XENPV);
	id->pdcm = boot_cpu_has(X86_FEATURE_PDCM);
	id->max_leaf = c->cpuid_level;
	if (id->max_leaf >= 0xa)
		cpuid(0xa, &id->eax, &id->ebx, &id->ecx, &id->edx);
	if (boot_cpu_has(X86_FEATURE_HYBRID_CPU) && id->max_leaf >= LEAF_CORE_TYPE)
		read_cpuid_hybrid(id);
	id->ext1_ecx = c->extended_cpuid_level >= 0x80000001 ?
		cpuid_ecx(0x80000001) : 0;
	if (c->extended_cpuid_level >= 0x80000022) {
		id->ext22_eax = cpuid_eax(0x80000022);
		id->ext22_ebx = cpuid_ebx(0x80000022);
	}
	id->tsx_takes_counter = tsx_takes_counter();
	if (id->pdcm)
		rdmsrq_safe(MSR_IA32_PERF_CAPABILITIES, &id->perf_capabilities);
}

/* What is the same for all types, for the code to work on all */
static bool is_compatible(const struct hwpmu_caps *a, const struct hwpmu_caps *b)
{
	return a->global == b->global && a->full_width == b->full_width &&
		a->general_width == b->general_width && a->fixed_width == b->fixed_width;
}

/* The type of this CPU, HWPMU_NO_TYPE if it is none of those that have been found */
static u8 find_type(struct hwpmu_caps *announced)
{
	struct hwpmu_cpuid id;
	unsigned int i;

	hwpmu_read_cpuid(&id);
	if (hwpmu_cpuid_decode(&id, announced))
		return HWPMU_NO_TYPE;
	for (i = 0; i < hwpmu_types_found; i++)
		if (!memcmp(&hwpmu_types[i].announced, announced, sizeof(*announced)))
			return i;
	return HWPMU_NO_TYPE;
}

/* ---- Which types there are ---- */

static void look_at_cpu(void *unused)
{
	struct hwpmu_type *new = &hwpmu_types[hwpmu_types_found];
	struct hwpmu_caps announced;
	u8 type = find_type(&announced);

	if (type == HWPMU_NO_TYPE && announced.version &&
	    hwpmu_types_found < HWPMU_MAX_TYPES) {
		new->announced = announced;
		new->caps = announced;
		if (is_compatible(&announced, &hwpmu_the_caps) &&
		    hwpmu_regs_probe(&new->caps))
			type = hwpmu_types_found++;
	}
	this_cpu_write(hwpmu_cpu.type, type);
}

/* The numbers of the processor as a whole are those of its greatest CPUs. */
static void unite_types(void)
{
	struct hwpmu_caps *all = &hwpmu_the_caps;
	unsigned int i;

	for (i = 0; i < hwpmu_types_found; i++) {
		const struct hwpmu_caps *caps = &hwpmu_types[i].caps;

		all->counters |= caps->counters;
		all->nr_general = max(all->nr_general, caps->nr_general);
		all->nr_fixed = max(all->nr_fixed, caps->nr_fixed);
		all->arch_events |= caps->arch_events;
	}
	scnprintf(all->name, sizeof(all->name), "Intel architectural PMU version %u, hybrid",
		  all->version);
}

void __init hwpmu_hybrid_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu(hwpmu_cpu, cpu).type = HWPMU_NO_TYPE;
	cpus_read_lock();
	for_each_online_cpu(cpu)
		smp_call_function_single(cpu, look_at_cpu, NULL, 1);
	cpus_read_unlock();
	if (!hwpmu_types_found)
		return;
	unite_types();
	static_branch_enable(&hwpmu_is_hybrid);
}

bool hwpmu_hybrid_online(void)
{
	struct hwpmu_caps announced;

	if (this_cpu_read(hwpmu_cpu.type) != HWPMU_NO_TYPE)
		return true;
	this_cpu_write(hwpmu_cpu.type, find_type(&announced));
	if (this_cpu_read(hwpmu_cpu.type) != HWPMU_NO_TYPE)
		return true;
	pr_notice_once("CPU %d is of a type that no CPU was when the module was loaded, and nothing counts there: load it again\n",
		       smp_processor_id());
	return false;
}

unsigned int hwpmu_nr_types(void)
{
	return static_branch_unlikely(&hwpmu_is_hybrid) ? hwpmu_types_found : 1;
}

const struct hwpmu_caps *hwpmu_caps_of_type(unsigned int type)
{
	if (!static_branch_unlikely(&hwpmu_is_hybrid) || type >= hwpmu_types_found)
		return &hwpmu_the_caps;
	return &hwpmu_types[type].caps;
}

const struct hwpmu_caps *hwpmu_caps_of_cpu(int cpu)
{
	return hwpmu_caps_of_type(per_cpu(hwpmu_cpu, cpu).type);
}

u64 hwpmu_caps_common(struct hwpmu_caps *common)
{
	u64 events = hwpmu_generic_events(hwpmu_caps_of_type(0));
	unsigned int i;

	*common = hwpmu_the_caps;
	for (i = 0; i < hwpmu_nr_types(); i++) {
		const struct hwpmu_caps *caps = hwpmu_caps_of_type(i);

		common->counters &= caps->counters;
		common->nr_general = min(common->nr_general, caps->nr_general);
		common->nr_fixed = min(common->nr_fixed, caps->nr_fixed);
		events &= hwpmu_generic_events(caps);
	}
	return events;
}

/* ---- What an event is on each ---- */

static bool is_meant(unsigned int type, u8 core)
{
	return !core || hwpmu_types[type].caps.core_type == core;
}

/* The refusal of the only type, or of the first, in the name of all */
static int refuse_for_all(const struct perf_event_attr *attr, u8 core,
			  struct pmuctl_explanation *why)
{
	struct hwpmu_caps caps = hwpmu_types[0].caps;
	unsigned int i;
	struct hwpmu_config unused;

	for (i = 0; core && i < hwpmu_types_found; i++)
		if (is_meant(i, core))
			return hwpmu_event_encode(&hwpmu_types[i].caps, attr, &unused, why);
	if (core)
		return pmuctl_refuse(why, EVENT_ALIKE, "attr.type", hwpmu_core_name(core));
	strscpy(caps.name, hwpmu_the_caps.name, sizeof(caps.name));
	return hwpmu_event_encode(&caps, attr, &unused, why);
}

int hwpmu_hybrid_encode(struct hwpmu_counter *counter, const struct perf_event_attr *attr,
			u8 core, struct pmuctl_explanation *why)
{
	unsigned int i, n = 0;

	for (i = 0; i < hwpmu_types_found; i++) {
		struct hwpmu_config *config = &counter->of_type[i];

		if (!is_meant(i, core) ||
		    hwpmu_event_encode(&hwpmu_types[i].caps, attr, config, NULL)) {
			memset(config, 0, sizeof(*config));
			continue;
		}
		counter->config = *config;
		n++;
	}
	return n ? 0 : refuse_for_all(attr, core, why);
}

const struct hwpmu_config *hwpmu_config_on_type(const struct hwpmu_counter *counter,
						unsigned int type)
{
	if (!static_branch_unlikely(&hwpmu_is_hybrid))
		return &counter->config;
	return &counter->of_type[min(type, hwpmu_types_found - 1)];
}

const struct hwpmu_config *hwpmu_config_on_cpu(const struct hwpmu_counter *counter, int cpu)
{
	/* One that has never been online counts nothing, and is no reason to refuse. */
	static const struct hwpmu_config anything = { .allowed = ~0ULL };
	u8 type = per_cpu(hwpmu_cpu, cpu).type;

	return type == HWPMU_NO_TYPE ? &anything : hwpmu_config_on_type(counter, type);
}

u64 hwpmu_hybrid_here(struct hwpmu_counter *counter)
{
	u8 type = this_cpu_read(hwpmu_cpu.type);

	if (type == HWPMU_NO_TYPE || !counter->of_type[type].allowed)
		return 0;
	counter->config = counter->of_type[type];
	return counter->config.allowed;
}
