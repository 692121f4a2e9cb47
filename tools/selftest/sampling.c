// SPDX-License-Identifier: GPL-2.0-only
/*
 * The known loop, sampled. The k-th sample belongs to the k-th period; it comes after that many
 * events and, as a CPU needs its time for an interrupt, some more: the skid.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "selftest.h"

/* Longer than the skid of any known CPU: then no period is over before the last one's sample. */
#define PERIOD_EXACT	10000

/* At the end an overflow may be counted whose interrupt no longer comes. */
#define MISSING		1

/**
 * sampling_attr() - a generic event of this thread in user space that samples
 * @config: which.
 * @period: events from one sample to the next.
 *
 * Return: its attributes; it is disabled.
 */
struct perf_event_attr sampling_attr(uint64_t config, uint64_t period)
{
	struct perf_event_attr attr = event_attr_of(PERF_TYPE_HARDWARE, config);

	attr.disabled = 1;
	attr.sample_period = period;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
	return attr;
}

struct sample_record {
	struct perf_event_header header;
	uint64_t ip;
	struct count count;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

static void take_sample(struct sampled *sampled, const struct sample_record *record)
{
	uint64_t skid = record->count.value % sampled->period;

	sampled->samples++;
	sampled->outside += !loop_has(record->ip);
	if (sampled->period >= PERIOD_EXACT && skid > sampled->period / 2) {
		sampled->early++;
		return;
	}
	if (sampled->samples == 1 || skid < sampled->skid_min)
		sampled->skid_min = skid;
	if (skid > sampled->skid_max)
		sampled->skid_max = skid;
	sampled->skid_sum += skid;
}

/**
 * sampling_read() - look at the records that have come
 * @ring: where they are; it is empty then.
 * @sampled: with the period; they are added.
 */
void sampling_read(struct ring *ring, struct sampled *sampled)
{
	union {
		struct perf_event_header header;
		struct sample_record sample;
		struct lost_record lost;
	} record;

	while (ring_record(ring, &record, sizeof(record))) {
		if (record.header.type == PERF_RECORD_SAMPLE)
			take_sample(sampled, &record.sample);
		else if (record.header.type == PERF_RECORD_LOST)
			sampled->lost += record.lost.lost;
		else if (record.header.type == PERF_RECORD_THROTTLE)
			sampled->throttled++;
	}
}

/**
 * sampling_run() - sample the known loop
 * @test: with the device.
 * @rival: by whom.
 * @config: the generic event.
 * @rounds: of the loop.
 * @sampled: with the period; filled.
 * @why: filled if it cannot be.
 *
 * Return: 0 or a negative errno.
 */
int sampling_run(struct selftest *test, enum rival rival, uint64_t config, uint64_t rounds,
		 struct sampled *sampled, struct refusal *why)
{
	struct perf_event_attr attr = sampling_attr(config, sampled->period);
	struct opened event;
	struct count count;
	struct ring ring;
	int ret = event_open(test, rival, &attr, NULL, &event, why);

	if (ret < 0)
		return ret;
	ret = ring_open(&ring, event.fd);
	if (!ret)
		ret = loop_run(event.fd, rounds);
	if (!ret)
		ret = event_count(&event, &count);
	if (!ret) {
		sampled->counted = count.value;
		sampling_read(&ring, sampled);
	} else {
		snprintf(why->text, sizeof(why->text), "%s", pmuctl_strerror(ret));
		why->code = 0;
	}
	ring_close(&ring);
	event_close(&event);
	return ret;
}

/**
 * sampling_judge() - are the samples those that should be there?
 * @result: the check.
 * @rival: whose.
 * @event: which.
 * @sampled: what came of it.
 */
void sampling_judge(struct result *result, enum rival rival, const char *event,
		    const struct sampled *sampled)
{
	uint64_t expected = sampled->counted / sampled->period;
	uint64_t came = sampled->samples + sampled->lost;

	if (!came && expected > MISSING)
		result_fault(result, "%s, by %s, every %" PRIu64 ": no overflow is signalled, %" PRIu64 " were counted",
			     event, rival_names[rival], sampled->period, expected);
	else if (came > expected + MISSING ||
		 (sampled->period >= PERIOD_EXACT && came + MISSING < expected))
		result_fault(result, "%s, by %s, every %" PRIu64 ": %" PRIu64 " samples instead of %" PRIu64,
			     event, rival_names[rival], sampled->period, came, expected);
	if (sampled->early)
		result_fault(result, "%s, by %s, every %" PRIu64 ": %" PRIu64 " samples came before their period was over",
			     event, rival_names[rival], sampled->period, sampled->early);
}

/**
 * sampling_figure() - what was measured
 * @rival: by whom.
 * @event: which.
 * @sampled: what came of it.
 *
 * Return: an object, which the caller owns.
 */
json_t *sampling_figure(enum rival rival, const char *event, const struct sampled *sampled)
{
	uint64_t mean = sampled->samples ? sampled->skid_sum / sampled->samples : 0;

	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
			 "event", event, "by", rival_names[rival],
			 "period", (json_int_t)sampled->period,
			 "counted", (json_int_t)sampled->counted,
			 "samples", (json_int_t)sampled->samples,
			 "lost", (json_int_t)sampled->lost,
			 "throttled", (json_int_t)sampled->throttled,
			 "outside", (json_int_t)sampled->outside,
			 "skid_min", (json_int_t)sampled->skid_min,
			 "skid_mean", (json_int_t)mean,
			 "skid_max", (json_int_t)sampled->skid_max);
}
