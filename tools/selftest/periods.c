// SPDX-License-Identifier: GPL-2.0-only
/*
 * Periods of all lengths: with short ones the next overflow is there before the interrupt, long
 * ones are longer than what 32 bits with a sign hold.
 */
#include <inttypes.h>

#include "selftest.h"

static const uint64_t periods[] = {
	1, 2, 3, 10, 32, 100, 1000, 10007, 65537, 1000003, 16777259, 0x7fffffff, 0x80000000,
};

#define SAMPLES		100
/* From here on samples are few. */
#define LONG		1000000
/* As many samples as come in this time, one at least */
#define USUAL_NS	50000000ull
/* What takes longer is not tried. */
#define LONGEST_NS	2000000000ull

static uint64_t rounds_of(uint64_t instructions)
{
	return instructions / (loop_known(2).instructions - loop_known(1).instructions) + 1;
}

/* So many rounds that the last period is over some time before the end; 0: it takes too long */
static uint64_t rounds_for(uint64_t period, uint64_t usual)
{
	uint64_t one = rounds_of(period + period / 16 + 1000);
	uint64_t many = rounds_of(SAMPLES * period + period / 2);

	if (one > LONGEST_NS / USUAL_NS * usual)
		return 0;
	if (many > usual)
		many = usual;
	return many > one ? many : one;
}

static void sample_period(struct result *result, struct selftest *test, enum rival rival,
			  uint64_t period, uint64_t rounds)
{
	struct sampled sampled = { .period = period };
	struct refusal why;

	if (sampling_run(test, rival, PERF_COUNT_HW_INSTRUCTIONS, rounds, &sampled, &why) < 0) {
		result_fault(result, "instructions, by %s, every %" PRIu64 ": %s",
			     rival_names[rival], period, why.text);
		return;
	}
	result_figure(result, sampling_figure(rival, "instructions", &sampled));
	sampling_judge(result, rival, "instructions", &sampled);
}

/**
 * check_periods() - are periods of all lengths kept?
 * @result: the check.
 * @test: with the device.
 */
void check_periods(struct result *result, struct selftest *test)
{
	uint64_t usual = loop_rounds_of_ns(USUAL_NS), longest = 0;
	struct nmi_counts before = nmi_counts_of(test->cpu);

	if (test->broken[0]) {
		result_skip(result, "%s", test->broken);
		return;
	}
	for (enum rival rival = BY_PMUCTL; rival < RIVALS; rival++) {
		for (size_t i = 0; i < ARRAY_LEN(periods); i++) {
			uint64_t rounds = rounds_for(periods[i], usual), took = now_ns();

			if (!rounds || (rival == BY_PERF && !test->perf))
				continue;
			sample_period(result, test, rival, periods[i], rounds);
			/* The loop may be slower when it is counted; samples take their time, too. */
			took = now_ns() - took;
			if (periods[i] >= LONG && took > USUAL_NS / 2)
				usual = rounds * USUAL_NS / took;
			longest = periods[i] > longest ? periods[i] : longest;
			if (is_stuck_since(test, &before)) {
				result_fault(result, "every %" PRIu64 ": %s", periods[i], test->broken);
				return;
			}
		}
	}
	result_find(result, "instructions, every %" PRIu64 " to every %" PRIu64 "%s", periods[0], longest,
		    longest < periods[ARRAY_LEN(periods) - 1] ?
			"; longer ones would take too long here" : "");
}
