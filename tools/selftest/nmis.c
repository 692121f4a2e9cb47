// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs: how many the kernel has counted, and what the module tells of its own.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "selftest.h"

/* Text for people, which tells this of each CPU: module/front/debugfs.c */
#define MODULES_CPUS	"/sys/kernel/debug/pmuctl/cpus"

/**
 * nmi_counts_of() - what is known of a CPU's NMIs
 * @cpu: which.
 *
 * Return: the numbers.
 */
struct nmi_counts nmi_counts_of(int cpu)
{
	struct nmi_counts counts = { .all = interrupts_of_cpu(cpu, "NMI") };
	FILE *in = fopen(MODULES_CPUS, "re");
	char *line = NULL;
	size_t size = 0;
	int at = -1;

	while (in && getline(&line, &size, in) > 0) {
		if (sscanf(line, "cpu %d:", &at) == 1)
			continue;
		if (at == cpu &&
		    sscanf(line, " overflows %" SCNu64 ", NMIs seen %" SCNu64 ", claimed %" SCNu64 ", stuck %" SCNu64,
			   &counts.overflows, &counts.seen, &counts.claimed, &counts.stuck) == 4)
			break;
	}
	free(line);
	if (in)
		fclose(in);
	return counts;
}

/**
 * is_stuck_since() - have overflows been found to have no end?
 * @test: with the CPU; from now on nothing is sampled if so.
 * @before: what was known then.
 *
 * Return: true if so.
 */
bool is_stuck_since(struct selftest *test, const struct nmi_counts *before)
{
	if (nmi_counts_of(test->cpu).stuck <= before->stuck)
		return false;
	snprintf(test->broken, sizeof(test->broken),
		 "overflows have no end on this machine, and its counters were stopped");
	return true;
}
