// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the metrics of this machine depend on.
 */
#include <cpuid.h>
#include <stdio.h>

#include "metric/metric.h"

/* CPUID leaf 7: SDM Vol. 2, CPUID */
#define LEAF7_EDX_HYBRID	(1u << 15)

/**
 * metric_machine_get() - what this machine is
 * @machine: filled.
 */
void metric_machine_get(struct metric_machine *machine)
{
	unsigned int eax, ebx, ecx, edx = 0;
	FILE *file = fopen("/sys/devices/system/cpu/smt/active", "re");

	cpu_model_get(&machine->model);
	machine->is_hybrid = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) &&
			     edx & LEAF7_EDX_HYBRID;
	machine->smt_on = file && fgetc(file) == '1';
	if (file)
		fclose(file);
}
