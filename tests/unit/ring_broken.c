// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tests of the sample ring must find a ring that is broken: here the head is published
 * at each commit, also while another writer is still writing below it. That test by
 * threads and signals is ring_threads.c.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

static void model_schedule(void);
#define PURE_SCHEDULE()		model_schedule()

#include "unit/ring_model.h"

#define RING_BREAK_PUBLISH
#include "ringbuf/ring.c"

static struct model model;

Test(ring_broken, an_interrupt_publishes_half_a_record)
{
	struct reader r = { .max_words = 4 };
	struct ring_handle task, nmi;
	struct space sp;

	space_make(&sp, 4096, 0, 0);
	cr_assert(ring_reserve(&task, &sp.ring, 32));
	cr_assert(ring_reserve(&nmi, &sp.ring, 16));
	record_begin(&nmi, 1, 0, 16);
	ring_commit(&nmi);
	cr_assert(!read_and_free(&r, &sp), "it was not found");
	space_free(&sp);
}

Test(ring_broken, the_model_finds_it)
{
	struct space sp;

	space_make(&sp, 4096, 0, 0);
	model_two_cpus_and_nmi(&model, &sp);
	cr_assert(!model_run(&model), "it was not found in %llu orders", model.orders);
	cr_log_info("after %llu orders: %s", model.orders, model.observer.finding);
	space_free(&sp);
}
