// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sample ring under ThreadSanitizer, which knows whether what one thread wrote is
 * ordered before what another reads, whatever the processor did: are the barriers of
 * the protocol enough? Threads are CPUs; signals it would not deliver in time. Started by
 * ring_threads.c. Exit status: 0, or 66 if there was a race, 1 for another finding.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "unit/ring_stress.h"

static bool try(u64 size, stress_read look, u64 records)
{
	static struct stress stress;
	struct space sp;
	bool good;

	memset(&stress, 0, sizeof(stress));
	space_make(&sp, size, 0, 0);
	stress.sp = &sp;
	stress.records = records;
	good = stress_run(&stress, look) && stress_account(&stress);
	if (!good)
		fprintf(stderr, "ring_race: %s\n", stress.reader.finding);
	space_free(&sp);
	return good;
}

int main(void)
{
	bool good = try(16 * 4096, stress_look, 3000);

	good &= try(4096, stress_look_late, 3000);
	return !good;
}
