// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters before and after the CPU was idle, and after it was busy: it may have lost power, and
 * its frequency changes. What is exact must stay so.
 */
#include <errno.h>
#include <inttypes.h>
#include <sys/ioctl.h>
#include <time.h>

#include "selftest.h"

#define TIMES		3
#define ROUNDS		100000
#define WAIT_NS		50000000l

/**
 * struct pair - two events of a group
 * @instructions: the leader.
 * @cycles: the other one.
 */
struct pair {
	struct opened instructions, cycles;
};

static int open_pair(struct selftest *test, enum rival rival, struct pair *pair, struct refusal *why)
{
	struct perf_event_attr attr = event_attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int ret;

	attr.disabled = 1;
	ret = event_open(test, rival, &attr, NULL, &pair->instructions, why);
	if (ret < 0)
		return ret;
	attr.config = PERF_COUNT_HW_CPU_CYCLES;
	attr.disabled = 0;
	ret = event_open(test, rival, &attr, &pair->instructions, &pair->cycles, why);
	if (ret < 0)
		event_close(&pair->instructions);
	return ret;
}

static void be_idle(void)
{
	const struct timespec wait = { 0, WAIT_NS };

	nanosleep(&wait, NULL);
}

static void be_busy(void)
{
	uint64_t end = now_ns() + WAIT_NS;

	while (now_ns() < end)
		loop_run(-1, ROUNDS);
}

/* The interrupts are counted around the loop; those of the wait do not matter. */
static void run_pair(struct result *result, struct selftest *test, enum rival rival,
		     const struct pair *pair, const char *after)
{
	struct known known = loop_known(ROUNDS);
	uint64_t interrupts = interrupts_of_cpu(test->cpu, NULL), took = now_ns();
	struct count instructions, cycles;
	int ret = loop_run(pair->instructions.fd, ROUNDS);

	took = now_ns() - took;
	interrupts = interrupts_of_cpu(test->cpu, NULL) - interrupts;
	if (!ret)
		ret = event_count(&pair->instructions, &instructions);
	if (!ret)
		ret = event_count(&pair->cycles, &cycles);
	if (ret < 0) {
		result_fault(result, "by %s, after the CPU was %s: %s", rival_names[rival], after,
			     pmuctl_strerror(ret));
		return;
	}
	if (instructions.value < known.instructions ||
	    instructions.value > known.instructions + PER_INTERRUPT * interrupts)
		result_fault(result, "instructions, by %s, after the CPU was %s: %" PRIu64 " instead of %" PRIu64,
			     rival_names[rival], after, instructions.value, known.instructions);
	result_figure(result, json_pack("{s:s, s:s, s:I, s:I, s:I}", "by", rival_names[rival],
					"after", after,
					"instructions", (json_int_t)instructions.value,
					"cycles", (json_int_t)cycles.value,
					"ns", (json_int_t)took));
}

static void run_by(struct result *result, struct selftest *test, enum rival rival)
{
	struct refusal why;
	struct pair pair;

	if (open_pair(test, rival, &pair, &why) < 0) {
		result_fault(result, "instructions and cycles, by %s: %s", rival_names[rival], why.text);
		return;
	}
	for (int i = 0; i < TIMES; i++) {
		be_idle();
		ioctl(pair.instructions.fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
		run_pair(result, test, rival, &pair, "idle");
		be_busy();
		ioctl(pair.instructions.fd, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
		run_pair(result, test, rival, &pair, "busy");
	}
	event_close(&pair.cycles);
	event_close(&pair.instructions);
}

/**
 * check_idle() - is what is exact still so after the CPU was idle, or busy?
 * @result: the check.
 * @test: with the device.
 */
void check_idle(struct result *result, struct selftest *test)
{
	if (test->broken[0]) {
		result_skip(result, "%s", test->broken);
		return;
	}
	result_find(result, "instructions and cycles after %ld ms of idling, and of work%s%s",
		    WAIT_NS / 1000000, test->perf ? ", and by perf" : "; not by perf: ", test->why_not_perf);
	run_by(result, test, BY_PMUCTL);
	if (test->perf)
		run_by(result, test, BY_PERF);
}
