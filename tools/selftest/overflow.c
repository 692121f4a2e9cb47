// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does each overflow of a counter come, once and in time?
 */
#include <inttypes.h>

#include "selftest.h"

#define PERIOD		10007
#define ROUNDS		500000	/* two million instructions: 200 samples */

static const struct {
	const char *name;
	uint64_t config;
} sampled_events[] = {
	{ "instructions",	PERF_COUNT_HW_INSTRUCTIONS },
	{ "branches",		PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "cycles",		PERF_COUNT_HW_CPU_CYCLES },
};

/* What is sampled is counted as exactly as what is not, unless it was stopped in between. */
static void judge_count(struct result *result, enum rival rival, const struct sampled *sampled)
{
	struct known known = loop_known(ROUNDS);

	if (sampled->counted < known.instructions && !sampled->throttled)
		result_fault(result, "instructions, by %s: %" PRIu64 " of %" PRIu64 " were counted while they were sampled",
			     rival_names[rival], sampled->counted, known.instructions);
}

/* Returns false if nothing may be sampled any more. */
static bool sample_events(struct result *result, struct selftest *test, enum rival rival)
{
	struct nmi_counts before = nmi_counts_of(test->cpu);
	struct refusal why;

	for (size_t i = 0; i < ARRAY_LEN(sampled_events); i++) {
		struct sampled sampled = { .period = PERIOD };

		if (sampling_run(test, rival, sampled_events[i].config, ROUNDS, &sampled, &why) < 0) {
			result_fault(result, "%s, by %s: %s", sampled_events[i].name,
				     rival_names[rival], why.text);
			continue;
		}
		result_figure(result, sampling_figure(rival, sampled_events[i].name, &sampled));
		sampling_judge(result, rival, sampled_events[i].name, &sampled);
		if (sampled_events[i].config == PERF_COUNT_HW_INSTRUCTIONS)
			judge_count(result, rival, &sampled);
		if (is_stuck_since(test, &before)) {
			result_fault(result, "%s, by %s: %s", sampled_events[i].name,
				     rival_names[rival], test->broken);
			return false;
		}
	}
	return true;
}

/**
 * check_overflow() - does each overflow come, once and in time?
 * @result: the check.
 * @test: with the device.
 */
void check_overflow(struct result *result, struct selftest *test)
{
	if (test->broken[0]) {
		result_skip(result, "%s", test->broken);
		return;
	}
	result_find(result, "every %d of instructions, branches and cycles%s%s", PERIOD,
		    test->perf ? ", and by perf" : "; not by perf: ", test->why_not_perf);
	if (sample_events(result, test, BY_PMUCTL) && test->perf)
		sample_events(result, test, BY_PERF);
}
