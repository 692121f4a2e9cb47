// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names that the maker of this CPU gave to its events, through libpfm4: look-up for
 * event lists, and enumeration for "pmuctl list". Only core PMUs: others (uncore)
 * are not ours to count.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "command.h"

/*
 * libpfm4 carries a copy of <linux/perf_event.h>, which collides with the
 * original. Its guard, set here, keeps the copy out; the attr is the same.
 */
#define __PERFMON_PERF_EVENT_H__
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

#define NAME_MAX_LEN 128

/* Sets up libpfm4 once; it looks at the CPU. */
static int pfm_ready(char *sentence, size_t size)
{
	static int state = 1;

	if (state == 1)
		state = pfm_initialize();
	if (state == PFM_SUCCESS)
		return 0;
	if (sentence)
		snprintf(sentence, size,
			 "the event table of this CPU is not known to libpfm4 (%s): use generic or raw events",
			 pfm_strerror(state));
	return -ENOENT;
}

/*
 * What the vendor's tables, and perf with them, call the fixed counters; libpfm4 does not. SDM Vol.
 * 3B, "Fixed-function Performance Counters".
 */
static bool fixed_find(const char *name, struct perf_event_attr *attr)
{
	static const struct {
		const char *name;
		uint64_t config;
	} fixed[] = {
		{ "inst_retired.any", PERF_COUNT_HW_INSTRUCTIONS },
		{ "cpu_clk_unhalted.thread", PERF_COUNT_HW_CPU_CYCLES },
		{ "cpu_clk_unhalted.core", PERF_COUNT_HW_CPU_CYCLES },
		{ "cpu_clk_unhalted.ref", PERF_COUNT_HW_REF_CPU_CYCLES },
		{ "cpu_clk_unhalted.ref_tsc", PERF_COUNT_HW_REF_CPU_CYCLES },
	};
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		if (strcasecmp(fixed[i].name, name) != 0)
			continue;
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = fixed[i].config;
		/* Is it one of Intel's CPUs? */
		return pfm_find_event("ix86arch::INSTRUCTION_RETIRED") >= 0;
	}
	return false;
}

/**
 * cpu_name_resolve() - a pmuctl_name_fn that asks libpfm4
 * @arg: unused.
 * @name: such as "INST_RETIRED:ANY_P" or "UOPS_ISSUED:ANY:c=1".
 * @attr: type, config, and exclude_* if the name says so.
 * @sentence: why not.
 * @size: bytes there.
 *
 * Return: 0, -ENOENT if there is no such event, -EINVAL if its parts do not fit.
 */
int cpu_name_resolve(void *arg, const char *name, struct perf_event_attr *attr,
		     char *sentence, size_t size)
{
	struct perf_event_attr found = { .size = sizeof(found) };
	pfm_perf_encode_arg_t encode = { .attr = &found, .size = sizeof(encode) };
	int ret;

	(void)arg;
	ret = pfm_ready(sentence, size);
	if (ret < 0)
		return ret;
	if (fixed_find(name, attr))
		return 0;
	ret = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3,
					PFM_OS_PERF_EVENT, &encode);
	if (ret == PFM_ERR_NOTFOUND) {
		snprintf(sentence, size,
			 "unknown event '%.64s': 'pmuctl list' shows the names there are",
			 name);
		return -ENOENT;
	}
	if (ret != PFM_SUCCESS) {
		snprintf(sentence, size, "'%.64s' does not fit together: %s; see 'pmuctl list %.*s'",
			 name, pfm_strerror(ret), (int)strcspn(name, ":."), name);
		return -EINVAL;
	}
	attr->type = found.type;
	attr->config = found.config;
	attr->config1 = found.config1;
	attr->config2 = found.config2;
	attr->exclude_user = found.exclude_user;
	attr->exclude_kernel = found.exclude_kernel;
	return 0;
}

/* One event: itself if it has no unit masks, else one line for each. */
static void visit_event(const pfm_pmu_info_t *pmu, int index,
			void (*visit)(void *arg, const struct cpu_event *event),
			void *arg)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	struct cpu_event event = { .pmu = pmu->name,
				   .pmu_description = pmu->desc };
	int nr_masks = 0;

	if (pfm_get_event_info(index, PFM_OS_PERF_EVENT, &info) != PFM_SUCCESS)
		return;
	for (int i = 0; i < info.nattrs; i++) {
		pfm_event_attr_info_t mask = { .size = sizeof(mask) };
		char name[NAME_MAX_LEN];

		if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT,
					    &mask) != PFM_SUCCESS ||
		    mask.type != PFM_ATTR_UMASK)
			continue;
		nr_masks++;
		snprintf(name, sizeof(name), "%s:%s", info.name, mask.name);
		event.name = name;
		event.description = mask.desc ? mask.desc : info.desc;
		visit(arg, &event);
	}
	if (nr_masks)
		return;
	event.name = info.name;
	event.description = info.desc;
	visit(arg, &event);
}

/**
 * cpu_events_visit() - list the events of this CPU's core PMU
 * @visit: called for each; the strings are valid during the call only.
 * @arg: handed to it.
 *
 * Return: the number of core PMUs known for this CPU.
 */
int cpu_events_visit(void (*visit)(void *arg, const struct cpu_event *event),
		     void *arg)
{
	int found = 0;

	if (pfm_ready(NULL, 0) < 0)
		return 0;
	for (int id = 0; id < PFM_PMU_MAX; id++) {
		pfm_pmu_info_t pmu = { .size = sizeof(pmu) };

		if (pfm_get_pmu_info((pfm_pmu_t)id, &pmu) != PFM_SUCCESS ||
		    !pmu.is_present || pmu.type != PFM_PMU_TYPE_CORE)
			continue;
		/* Architectural and model table overlap: the model's is better. */
		if (!strcmp(pmu.name, "ix86arch"))
			continue;
		found++;
		for (int i = pmu.first_event; i != -1; i = pfm_get_event_next(i))
			visit_event(&pmu, i, visit, arg);
	}
	return found;
}
