// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs: which are online, and how to get there.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "selftest.h"

/**
 * go_to_cpu() - have this thread run on a CPU, and nowhere else
 * @test: its CPU and what type that has are set.
 * @cpu: which.
 *
 * Return: whether it can.
 */
bool go_to_cpu(struct selftest *test, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		return false;
	test->cpu = cpu;
	test->core = machine_core_type();
	return true;
}

/**
 * cpus_online() - the CPUs that are online
 * @cpus: filled with their numbers.
 * @max: room there.
 *
 * Return: how many.
 */
size_t cpus_online(int *cpus, size_t max)
{
	char path[64], online[4];
	size_t n = 0;

	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF) && n < max; cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
		if (access(path, F_OK) != 0)
			continue;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
		if (!file_word(path, online, sizeof(online)) || online[0] == '1')
			cpus[n++] = cpu;
	}
	return n;
}
