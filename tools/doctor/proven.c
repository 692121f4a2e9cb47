// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has pmuctl been proven on this model of CPU? What it knows of processors is from manuals; proof
 * is a report of "pmuctl selftest" without a failure, from such a machine, not a virtual one.
 */
#include <string.h>

#include "doctor.h"

/* The models, with the version of pmuctl that was tried; docs/models.md has the same list. */
static const struct {
	const char *vendor;
	unsigned int family, model;
	const char *version;
} proven[] = {
	{ .vendor = NULL },
};

/**
 * check_proven() - is there a report from this model of CPU?
 * @check: filled.
 * @patient: unused.
 */
void check_proven(struct check *check, const struct patient *patient)
{
	struct cpu_model cpu;

	(void)patient;
	cpu_model_get(&cpu);
	for (size_t i = 0; i < ARRAY_LEN(proven) && proven[i].vendor; i++) {
		if (strcmp(proven[i].vendor, cpu.vendor) != 0 || proven[i].family != cpu.family ||
		    proven[i].model != cpu.model)
			continue;
		check_set(check, CHECK_OK, "%s family %u model %u: proven with version %s",
			  cpu.vendor, cpu.family, cpu.model, proven[i].version);
		return;
	}
	check_set(check, CHECK_NOTE, "%s family %u model %u: not yet proven, what is known of it is from manuals",
		  cpu.vendor, cpu.family, cpu.model);
	check_remedy(check, "on a real machine, run 'pmuctl selftest' as root and send its report");
}
