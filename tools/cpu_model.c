// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which model of CPU this is, as CPUID tells: SDM Vol. 2, CPUID, leaves 0 and 1; APM Vol. 3,
 * appendix E.
 */
#include <cpuid.h>
#include <string.h>

#include "command.h"

/**
 * cpu_model_get() - which model of CPU this is
 * @model: filled.
 */
void cpu_model_get(struct cpu_model *model)
{
	unsigned int eax = 0, ebx = 0, ecx = 0, edx = 0;

	__get_cpuid(0, &eax, &ebx, &ecx, &edx);
	memcpy(model->vendor, &ebx, 4);
	memcpy(model->vendor + 4, &edx, 4);
	memcpy(model->vendor + 8, &ecx, 4);
	model->vendor[12] = '\0';
	__get_cpuid(1, &eax, &ebx, &ecx, &edx);
	model->stepping = eax & 0xf;
	model->model = eax >> 4 & 0xf;
	model->family = eax >> 8 & 0xf;
	if (model->family == 6 || model->family == 15)
		model->model |= eax >> 12 & 0xf0;
	if (model->family == 15)
		model->family += eax >> 20 & 0xff;
}
