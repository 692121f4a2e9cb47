// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose an event is: what pmuctl counts is its own, all else is passed on to the kernel. The
 * numbers of types that are not the same everywhere have names in sysfs.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "request.h"

#define PERFS_TYPES	"/sys/bus/event_source/devices"
#define OUR_DRIVERS	"/sys/class/misc/pmuctl"
#define NAME_SIZE	64

/* <linux/perf_event.h>, PERF_PMU_TYPE_SHIFT: of generic events, the PMU that is meant */
#define CONFIG_TYPE(config)	((uint32_t)((config) >> 32))
#define CONFIG_EVENT		0xffffffffull
/*
 * Of the event-select register: USR, OS, PC, INT and EN, which perf sets as it needs them, whatever
 * the program says (SDM, Vol. 3B, "IA32_PERFEVTSELx MSRs"). Programs that were made for its first
 * versions have them in their events.
 */
#define CONFIG_OF_PERF	0x5b0000ull

/* Returns the number in directory/name/type, or -1. */
static long type_of(const char *directory, const char *name)
{
	char path[sizeof(PERFS_TYPES) + 280];
	long type = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/type", directory, name);
	file = fopen(path, "re");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &type) != 1)
		type = -1;
	fclose(file);
	return type;
}

/* What the kernel calls a type; "" if there is none of this number. */
static void name_type(uint32_t type, char *name)
{
	DIR *directory = opendir(PERFS_TYPES);
	struct dirent *entry;

	name[0] = '\0';
	while (directory && !name[0] && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && type_of(PERFS_TYPES, entry->d_name) == (long)type)
			snprintf(name, NAME_SIZE, "%.*s", NAME_SIZE - 1, entry->d_name);
	if (directory)
		closedir(directory);
}

/* Of a processor whose cores differ: an event of one type of core, by the number that we have. */
static int find_core(struct request *r, const char *pmu)
{
	uint64_t type = strcmp(pmu, "cpu_atom") ? PMUCTL_TYPE_CPU_CORE : PMUCTL_TYPE_CPU_ATOM;

	if (r->attr.type == PERF_TYPE_HARDWARE || r->attr.type == PERF_TYPE_HW_CACHE) {
		r->attr.config = type << 32 | (r->attr.config & CONFIG_EVENT);
		return 0;
	}
	r->attr.type = (uint32_t)type;
	r->attr.config &= ~CONFIG_OF_PERF;
	return 0;
}

static bool is_core(const char *name)
{
	return !strcmp(name, "cpu_core") || !strcmp(name, "cpu_atom");
}

/* A type of a number that the kernel has chosen */
static int find_dynamic(struct request *r)
{
	char name[NAME_SIZE];
	long ours;

	name_type(r->attr.type, name);
	if (is_core(name))
		return find_core(r, name);
	if (strcmp(name, "intel_pt") && strcmp(name, "intel_bts"))
		return REQUEST_PASS_ON;
	ours = type_of(OUR_DRIVERS, name);
	if (ours < 0)
		return REQUEST_PASS_ON;
	r->attr.type = (uint32_t)ours;
	return 0;
}

/* A generic event, perhaps of a PMU that it names */
static int find_generic(struct request *r)
{
	char name[NAME_SIZE];

	if (!CONFIG_TYPE(r->attr.config))
		return 0;
	name_type(CONFIG_TYPE(r->attr.config), name);
	if (is_core(name))
		return find_core(r, name);
	if (strcmp(name, "cpu"))
		return REQUEST_PASS_ON;
	r->attr.config &= CONFIG_EVENT;
	return 0;
}

static int find_raw(struct request *r)
{
	char name[NAME_SIZE];

	r->attr.config &= ~CONFIG_OF_PERF;
	if (type_of(PERFS_TYPES, "cpu_core") < 0)
		return 0;
	name_type(PERF_TYPE_RAW, name);
	return is_core(name) ? find_core(r, name) : 0;
}

/* Ours by its name */
static int find_tracepoint(struct request *r)
{
	return request_name_tracepoint(r) ? 0 : REQUEST_PASS_ON;
}

/* Software events that we lack; one of them is missing for cgroups only. */
static bool is_perfs_software(const struct request *r)
{
	return r->attr.config == PERF_COUNT_SW_BPF_OUTPUT ||
	       (r->attr.config == PERF_COUNT_SW_CPU_MIGRATIONS && request_is_of_cgroup(r));
}

static int find_type(struct request *r)
{
	switch (r->attr.type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
		return find_generic(r);
	case PERF_TYPE_RAW:
		return find_raw(r);
	case PERF_TYPE_SOFTWARE:
		return is_perfs_software(r) ? REQUEST_PASS_ON : 0;
	case PERF_TYPE_TRACEPOINT:
		return find_tracepoint(r);
	case PERF_TYPE_BREAKPOINT:
		return REQUEST_PASS_ON;
	default:
		return find_dynamic(r);
	}
}

/**
 * request_find_type() - decide who counts the event
 * @r: the call; its type and config become those that we have.
 *
 * Return: 0 if we do; REQUEST_PASS_ON; or a negative errno.
 */
int request_find_type(struct request *r)
{
	int ret = find_type(r);

	return ret == REQUEST_PASS_ON && r->options->strict ? request_refuse_strictly(r) : ret;
}

/**
 * request_refuse_strictly() - refuse what else is passed on
 * @r: the call.
 *
 * Return: a negative errno.
 */
int request_refuse_strictly(struct request *r)
{
	return request_refuse(r, ENOENT, "attr.type", "pmuctl has no event of type %u with config 0x%llx, and --strict passes nothing on to the kernel's perf",
			      r->attr.type, (unsigned long long)r->attr.config);
}
