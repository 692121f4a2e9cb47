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

static struct stress stress;

static void begin(struct space *sp, u64 size, unsigned int flags, u64 records)
{
	memset(&stress, 0, sizeof(stress));
	space_make(sp, size, flags, 0);
	stress.sp = sp;
	stress.records = records;
}

static bool end(struct space *sp, bool good)
{
	if (!good)
		fprintf(stderr, "ring_race: %s\n", stress.reader.finding);
	space_free(sp);
	return good;
}

int main(void)
{
	struct space sp;
	bool good;

	begin(&sp, 16 * 4096, 0, 1500);
	good = stress_run(&stress, stress_look) && stress_account(&stress);
	good = end(&sp, good);

	begin(&sp, 4096, 0, 1500);
	good &= stress_run(&stress, stress_look_late) && stress_account(&stress);
	good = end(&sp, good);

	begin(&sp, 2 * 4096, RING_OVERWRITE | RING_BACKWARD, ~0ULL);
	stress.pauses = true;
	good &= stress_run(&stress, stress_look_paused);
	return !end(&sp, good);
}
