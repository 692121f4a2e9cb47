// SPDX-License-Identifier: GPL-2.0-only
/*
 * Overflows of all counters, so close to each other that one's NMI comes while another's is
 * handled. NMIs of others are in nmi_foreign.c, which can tell whose each was.
 */
#include "positions.h"

TestSuite(sample_nmi, .init = sampling_init, .fini = sampling_fini);

/*
 * The periods are so that any two of them soon overflow with any distance from 0 to some
 * dozens of instructions. Branches come one in ten.
 */
Test(sample_nmi, back_to_back_overflows_of_all_counters)
{
	static const struct {
		uint64_t config, period;
	} events[AT_ONCE] = {
		{ PERF_COUNT_HW_INSTRUCTIONS, 101 }, { PERF_COUNT_HW_INSTRUCTIONS, 103 },
		{ PERF_COUNT_HW_INSTRUCTIONS, 107 }, { PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 11 },
		{ PERF_COUNT_HW_INSTRUCTIONS, 109 },
	};
	const unsigned int n = events_at_once();
	uint64_t rounds = is_stress() ? 300000 : 10000, expected, got;
	struct perf_event_attr attr[n];
	struct perf_event_header *header;
	struct ring r[n];
	struct sample s;
	int fds[n];

	for (unsigned int i = 0; i < n; i++) {
		attr[i] = sampling_attr(events[i].period);
		attr[i].config = events[i].config;
		attr[i].sample_type = PERF_SAMPLE_READ;
		attr[i].disabled = !i;
		fds[i] = event_open(attr[i], .group = i ? fds[0] : -1);
		ring_map(&r[i], fds[i], is_stress() ? 1024 : 64);
	}
	block_run(fds[0], rounds);
	for (unsigned int i = 0; i < n; i++) {
		got = 0;
		while ((header = ring_next(&r[i]))) {
			take_sample(&attr[i], header, &s);
			got++;
			if (!is_witness())
				cr_assert_eq(s.read.each[0].value,
					     got * events[i].period, "event %u", i);
		}
		expected = sampling_value(fds[i]) / events[i].period;
		/* The kernel's own perf loses one now and then. */
		cr_assert_leq(got, expected + is_witness(), "event %u: %lu samples of %lu",
			      i, got, expected);
		cr_assert_geq(got, expected - (is_witness() ? expected / 50 : 0),
			      "event %u: %lu samples of %lu", i, got, expected);
		cr_assert_gt(got, 500);
		close(fds[i]);
	}
}
