// SPDX-License-Identifier: GPL-2.0-only
/*
 * All counters of all CPUs sample at once, each with a period of its own: overflows come in every
 * order, together, and while another's is handled. None may be lost.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "selftest.h"

#define ROUNDS		1000000
#define PERIOD		50021
#define STEP		2

/**
 * struct station - a CPU whose counters sample
 * @test: the test, as of that CPU.
 * @rival: by whom.
 * @cpu: which CPU.
 * @thread: stays there.
 * @ret: 0, or what went wrong; @why: in words, if that has any.
 * @n: how many events.
 * @event: each; @ring: its records.
 * @sampled: what came of it.
 */
struct station {
	struct selftest test;
	enum rival rival;
	int cpu;
	pthread_t thread;
	int ret;
	struct refusal why;
	unsigned int n;
	struct opened event[COPIES_MAX];
	struct ring ring[COPIES_MAX];
	struct sampled sampled[COPIES_MAX];
};

/* Instructions and branches in turn; a group has as many as there are counters for. */
static int open_next(struct station *at, struct refusal *why)
{
	uint64_t period = PERIOD + STEP * at->n;
	struct perf_event_attr attr = sampling_attr(at->n % 2 ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS :
						    PERF_COUNT_HW_INSTRUCTIONS, period);
	struct opened *event = &at->event[at->n];
	int ret;

	attr.disabled = !at->n;
	ret = event_open(&at->test, at->rival, &attr, at->n ? &at->event[0] : NULL, event, why);
	if (ret < 0)
		return ret;
	at->sampled[at->n] = (struct sampled) { .period = period };
	ret = ring_open(&at->ring[at->n], event->fd);
	if (ret < 0) {
		snprintf(why->text, sizeof(why->text), "no ring: %s", pmuctl_strerror(ret));
		event_close(event);
		return ret;
	}
	at->n++;
	return 0;
}

static int open_all(struct station *at)
{
	struct refusal full;
	int ret = open_next(at, &at->why);

	while (!ret && at->n < COPIES_MAX && open_next(at, &full) == 0)
		;
	return ret;
}

static void *station_run(void *arg)
{
	struct station *at = arg;
	struct count count;

	snprintf(at->why.text, sizeof(at->why.text), "the CPU cannot be used");
	at->ret = go_to_cpu(&at->test, at->cpu) ? open_all(at) : -EINVAL;
	if (!at->ret)
		at->ret = loop_run(at->event[0].fd, ROUNDS);
	for (unsigned int i = 0; i < at->n && !at->ret; i++) {
		at->ret = event_count(&at->event[i], &count);
		at->sampled[i].counted = count.value;
		sampling_read(&at->ring[i], &at->sampled[i]);
	}
	while (at->n--) {
		ring_close(&at->ring[at->n]);
		event_close(&at->event[at->n]);
	}
	return NULL;
}

static void judge(struct result *result, const struct station *at, unsigned int n)
{
	struct sampled all = { .period = 0 };
	char event[64];

	for (unsigned int i = 0; i < n; i++) {
		snprintf(event, sizeof(event), "%s on CPU %d, all counters at once",
			 i % 2 ? "branches" : "instructions", at->cpu);
		sampling_judge(result, at->rival, event, &at->sampled[i]);
		all.samples += at->sampled[i].samples;
		all.lost += at->sampled[i].lost;
		all.throttled += at->sampled[i].throttled;
		all.counted += at->sampled[i].counted / at->sampled[i].period;
	}
	result_figure(result, json_pack("{s:i, s:s, s:i, s:I, s:I, s:I, s:I}",
					"cpu", at->cpu, "by", rival_names[at->rival], "events", n,
					"periods", (json_int_t)all.counted,
					"samples", (json_int_t)all.samples,
					"lost", (json_int_t)all.lost,
					"throttled", (json_int_t)all.throttled));
}

/* Of all CPUs that are online; what they count, they count at the same time, more or less. */
static size_t run_stations(struct result *result, struct selftest *test, enum rival rival,
			   struct station *all, size_t n)
{
	size_t started = 0, failed = 0;

	for (size_t i = 0; i < n; i++) {
		all[i].test = *test;
		all[i].rival = rival;
		all[i].ret = 0;
		all[i].n = 0;
		if (pthread_create(&all[i].thread, NULL, station_run, &all[i]) != 0)
			break;
		started++;
	}
	for (size_t i = 0; i < started; i++) {
		unsigned int events = 0;

		pthread_join(all[i].thread, NULL);
		while (events < COPIES_MAX && all[i].sampled[events].period)
			events++;
		if (all[i].ret) {
			result_fault(result, "CPU %d, by %s: %s", all[i].cpu, rival_names[rival],
				     all[i].why.text);
			failed++;
		} else {
			judge(result, &all[i], events);
		}
		for (unsigned int e = 0; e < events; e++)
			all[i].sampled[e].period = 0;
	}
	return started - failed;
}

/**
 * check_together() - is any overflow lost when all counters sample?
 * @result: the check.
 * @test: with the device.
 */
void check_together(struct result *result, struct selftest *test)
{
	size_t max = (size_t)sysconf(_SC_NPROCESSORS_CONF), cpus;
	struct nmi_counts before = nmi_counts_of(test->cpu);
	struct station *all;
	int *numbers;

	if (test->broken[0]) {
		result_skip(result, "%s", test->broken);
		return;
	}
	all = calloc(max, sizeof(*all));
	numbers = calloc(max, sizeof(*numbers));
	if (!all || !numbers) {
		result_skip(result, "there is no memory");
		free(numbers);
		free(all);
		return;
	}
	cpus = cpus_online(numbers, max);
	for (size_t i = 0; i < cpus; i++)
		all[i].cpu = numbers[i];
	free(numbers);
	cpus = run_stations(result, test, BY_PMUCTL, all, cpus);
	result_find(result, "all counters of %zu CPUs%s", cpus, test->perf ? ", and by perf" : "");
	if (is_stuck_since(test, &before))
		result_fault(result, "%s", test->broken);
	else if (test->perf)
		run_stations(result, test, BY_PERF, all, cpus);
	free(all);
}
