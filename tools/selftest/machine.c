// SPDX-License-Identifier: GPL-2.0-only
/*
 * On which machine a report was made: what CPUID, the kernel and the module say.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "selftest.h"

/* SDM Vol. 2, CPUID; APM Vol. 3, appendix E */
#define LEAF_FEATURES		0x07
#define LEAF_PERFMON		0x0a
#define LEAF_CORE_TYPE		0x1a
#define LEAF_HYPERVISOR		0x40000000
#define LEAF_AMD_FEATURES	0x80000001
#define LEAF_BRAND		0x80000002
#define LEAF_AMD_PERFMON	0x80000022

struct cpuid {
	unsigned int eax, ebx, ecx, edx;
};

static struct cpuid cpuid_of(unsigned int leaf)
{
	struct cpuid r = { 0, 0, 0, 0 };

	__get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx);
	return r;
}

/**
 * machine_is_amd() - is it a processor of AMD's, or one made like those?
 *
 * Return: true if so.
 */
bool machine_is_amd(void)
{
	struct cpu_model cpu;

	cpu_model_get(&cpu);
	return !strcmp(cpu.vendor, "AuthenticAMD") || !strcmp(cpu.vendor, "HygonGenuine");
}

/* "GenuineIntel family 6 model 94 stepping 3" in numbers */
static json_t *cpu_facts(void)
{
	struct cpu_model cpu;
	char brand[49] = "";

	cpu_model_get(&cpu);
	if (cpuid_of(0x80000000).eax >= LEAF_BRAND + 2) {
		for (unsigned int i = 0; i < 3; i++) {
			struct cpuid r = cpuid_of(LEAF_BRAND + i);

			memcpy(brand + 16 * i, &r, sizeof(r));
		}
	}
	return json_pack("{s:s, s:i, s:i, s:i, s:s}", "vendor", cpu.vendor,
			 "family", cpu.family, "model", cpu.model, "stepping", cpu.stepping,
			 "name", brand + strspn(brand, " "));
}

/* The text of a line of /proc/cpuinfo, the first of its kind; to be freed, NULL if there is none */
static char *cpuinfo_line(const char *key)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char *line = NULL, *text = NULL;
	size_t size = 0;

	while (in && !text && getline(&line, &size, in) > 0) {
		char *colon = strchr(line, ':');

		line[strcspn(line, "\n")] = '\0';
		if (colon && !strncmp(line, key, strlen(key)) &&
		    strspn(line + strlen(key), " \t") == (size_t)(colon - line) - strlen(key))
			text = strdup(colon + 1 + strspn(colon + 1, " "));
	}
	free(line);
	if (in)
		fclose(in);
	return text;
}

/**
 * machine_has_flag() - does the kernel show this flag of the CPU?
 * @flag: as /proc/cpuinfo has it.
 *
 * Return: true if so.
 */
bool machine_has_flag(const char *flag)
{
	char *flags = cpuinfo_line("flags"), *save, *word = NULL;

	if (flags)
		word = strtok_r(flags, " ", &save);
	while (word && strcmp(word, flag) != 0)
		word = strtok_r(NULL, " ", &save);
	free(flags);
	return word;
}

static void hypervisor_of(char *text, size_t size)
{
	struct cpuid r;

	if (!machine_has_flag("hypervisor")) {
		snprintf(text, size, "none");
		return;
	}
	__cpuid(LEAF_HYPERVISOR, r.eax, r.ebx, r.ecx, r.edx);
	snprintf(text, size, "%.4s%.4s%.4s", (char *)&r.ebx, (char *)&r.ecx, (char *)&r.edx);
	if (!text[0])
		snprintf(text, size, "one without a name");
}

/**
 * machine_is_hybrid() - has the processor CPUs of more than one type?
 *
 * Return: true if so.
 */
bool machine_is_hybrid(void)
{
	return cpuid_of(LEAF_FEATURES).edx >> 15 & 1;
}

/**
 * machine_core_type() - of which type the CPU is that this thread is on
 *
 * Return: CORE_*, 0 if all CPUs are alike.
 */
unsigned int machine_core_type(void)
{
	return machine_is_hybrid() ? cpuid_of(LEAF_CORE_TYPE).eax >> 24 : 0;
}

/**
 * machine_counters() - which counters CPUID announces
 *
 * Return: the numbers of this CPU.
 */
struct announced machine_counters(void)
{
	struct announced n = { 0, 0 };
	struct cpuid r;

	if (machine_is_hybrid())
		return n;
	if (machine_is_amd()) {
		n.general = cpuid_of(LEAF_AMD_FEATURES).ecx >> 23 & 1 ? 6 : 4;
		r = cpuid_of(LEAF_AMD_PERFMON);
		if (r.eax & 1)
			n.general = r.ebx & 0xf;
		return n;
	}
	r = cpuid_of(LEAF_PERFMON);
	n.general = r.eax >> 8 & 0xff;
	if ((r.eax & 0xff) > 1)
		n.fixed = r.edx & 0x1f;
	return n;
}

/**
 * machine_facts() - what this machine is
 * @test: with what the driver says.
 *
 * Return: an object, which the caller owns; NULL if there is no memory.
 */
json_t *machine_facts(const struct selftest *test)
{
	char *microcode = cpuinfo_line("microcode");
	char hypervisor[32], watchdog[8], smt[8];
	struct utsname system = { .release = "" };
	json_t *facts;

	uname(&system);
	hypervisor_of(hypervisor, sizeof(hypervisor));
	file_word("/proc/sys/kernel/nmi_watchdog", watchdog, sizeof(watchdog));
	file_word("/sys/devices/system/cpu/smt/active", smt, sizeof(smt));
	facts = json_pack("{s:o, s:s, s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s}",
			  "cpu", cpu_facts(),
			  "microcode", microcode ? microcode : "not told",
			  "cpus_online", (int)sysconf(_SC_NPROCESSORS_ONLN),
			  "threads_of_cores", !strcmp(smt, "1") ? "several" : "one",
			  "hypervisor", hypervisor,
			  "kernel", system.release,
			  "kernel_version", system.version,
			  "nmi_watchdog", watchdog[0] ? watchdog : "not there",
			  "module", test->info.module_version,
			  "tool", pmuctl_version(),
			  "pmu", test->info.pmu_name[0] ? test->info.pmu_name : test->info.pmu_reason);
	free(microcode);
	return facts;
}
