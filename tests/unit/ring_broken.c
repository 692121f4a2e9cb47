// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lpthread */
/*
 * The tests of the sample ring must find a ring that is broken: here the head is published
 * at each commit, also while another writer is still writing below it.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

static void model_schedule(void);
#define PURE_SCHEDULE()		model_schedule()

#include "unit/ring_model.h"
#include "unit/ring_stress.h"

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

Test(ring_broken, a_reader_beside_threads_and_signals_finds_it)
{
	static struct stress stress;
	struct space sp;

	space_make(&sp, 16 * 4096, 0, 0);
	stress.sp = &sp;
	stress.signals = true;
	stress.records = ~0ULL; /* until it is found: the writers wait for the reader's look */
	cr_assert(!stress_run(&stress, stress_look));
	cr_log_info("%s", stress.reader.finding);
	space_free(&sp);
}
