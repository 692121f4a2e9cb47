// SPDX-License-Identifier: GPL-2.0-only
#include "positions.h"

unsigned int events_at_once(void)
{
	/* Without the module nobody tells; perf is a witness where they fit. */
	bool fit = is_witness() || pmu_general() + !!pmu_fixed() >= AT_ONCE;

	return fit ? AT_ONCE : pmu_general();
}

/* Perf does not go below 2, which it does not say in the sample. */
static uint64_t true_period(uint64_t period)
{
	return is_witness() && period == 1 ? 2 : period;
}

void check_place(struct positions *p, const struct sample *s, uint64_t at)
{
	uint64_t length = BLOCK_LENGTH(p->rounds);

	if (is_witness() && at % length == 0)
		return;
	if (is_witness() && s->read.each[0].value == at + 1)
		at++;
	cr_assert_eq(s->read.each[0].value, at, "sample %lu: after %lu, not %lu", p->n,
		     s->read.each[0].value, at);
	cr_assert_eq(s->ip, block_ip(at, p->rounds),
		     "sample %lu, after %lu: at the first instruction + %ld", p->n, at,
		     (long)(s->ip - (uintptr_t)sampled_first));
	cr_assert_eq(s->misc, PERF_RECORD_MISC_USER);
}

static void check_sample(struct positions *p, const struct sample *s)
{
	check_place(p, s, ++p->n * true_period(p->attr.sample_period));
	cr_assert_eq(s->period, p->attr.sample_period);
	cr_assert_eq(s->cpu_reserved, 0);
	p->moves += p->n > 1 && s->cpu != p->cpu;
	p->cpu = s->cpu;
}

void check_samples(struct positions *p, struct ring *r)
{
	struct perf_event_header *header;
	uint64_t end = ring_head(r);
	struct sample s;

	while ((header = ring_next_before(r, end))) {
		take_sample(&p->attr, header, &s);
		check_sample(p, &s);
	}
}

void check_end(const struct positions *p, int fd, uint64_t blocks)
{
	uint64_t all = blocks * BLOCK_LENGTH(p->rounds);

	cr_assert_eq(sampling_value(fd), all);
	cr_assert_eq(p->n, all / true_period(p->attr.sample_period));
}
