// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's rings on the driver's: streams, snapshots, and control of events that
 * sample. Everything is counted in instructions, so that it is the same on any machine.
 */
#include "sampling.h"

#include <pmuctl_ring.h>

#define PERIOD	1000ull

struct sampler {
	struct pmuctl_device *dev;
	struct pmuctl_event *event;
	struct pmuctl_ring *ring;
};

/* A sample with an identifier and an address */
struct sample {
	struct perf_event_header header;
	uint64_t id;
	uint64_t ip;
};

static struct perf_event_attr attr_of_samples(void)
{
	struct perf_event_attr attr = instructions_u();

	attr.sample_period = PERIOD;
	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP;
	attr.disabled = 1;
	return attr;
}

static struct sampler sampler_open(struct perf_event_attr attr, pid_t pid, size_t pages)
{
	struct sampler s;

	cr_assert_eq(pmuctl_device_open(NULL, NULL, &s.dev), 0);
	cr_assert_eq(pmuctl_event_open(s.dev, &attr, pid, -1, 0, &s.event), 0);
	cr_assert_eq(pmuctl_ring_open(s.event, pages, &s.ring), 0);
	return s;
}

static void sampler_close(struct sampler *s)
{
	pmuctl_ring_close(s->ring);
	pmuctl_event_close(s->event);
	pmuctl_device_close(s->dev);
}

/* Reads what is there, all of it samples of @id; returns how many. */
static uint64_t samples_read(struct pmuctl_ring *ring, uint64_t id)
{
	const struct perf_event_header *record;
	uint64_t samples = 0;
	int ret;

	while ((ret = pmuctl_ring_next(ring, &record)) > 0) {
		const struct sample *sample = (const void *)record;

		cr_assert_eq(record->type, PERF_RECORD_SAMPLE, "%u", record->type);
		cr_assert_eq(record->size, sizeof(*sample));
		cr_assert_eq(sample->id, id);
		samples++;
	}
	cr_assert_eq(ret, 0);
	return samples;
}

static uint64_t count_of(struct pmuctl_event *event)
{
	struct pmuctl_reading reading;

	cr_assert_eq(pmuctl_event_read(event, &reading), 0);
	return reading.value;
}

static uint64_t id_of(struct pmuctl_event *event)
{
	uint64_t id;

	cr_assert_eq(pmuctl_event_id(event, &id), 0);
	return id;
}

TestSuite(lib_ring, .init = sampling_init, .fini = sampling_fini, .timeout = 120);

Test(lib_ring, stream_has_a_sample_for_each_period_also_where_it_wraps)
{
	struct sampler s = sampler_open(attr_of_samples(), 0, 1);
	uint64_t id = id_of(s.event), samples = 0;
	struct iovec pieces[2];
	int twice = 0;

	cr_assert_eq(pmuctl_event_enable(s.event), 0);
	for (int i = 0; i < 200; i++) {
		uint64_t now;
		int count;

		user_loop(20 * PERIOD / LOOP_INSTRUCTIONS);
		now = samples_read(s.ring, id);
		count = pmuctl_ring_pieces(s.ring, pieces);
		cr_assert_eq(pieces[0].iov_len + (count > 1 ? pieces[1].iov_len : 0),
			     now * sizeof(struct sample));
		twice += count == 2;
		samples += now;
		pmuctl_ring_consume(s.ring);
	}
	cr_assert_eq(pmuctl_event_disable(s.event), 0);
	samples += samples_read(s.ring, id);
	cr_assert_eq(samples, count_of(s.event) / PERIOD);
	cr_assert_gt(twice, 10, "it has wrapped");
	sampler_close(&s);
}

Test(lib_ring, full_stream_loses_what_comes_and_tells)
{
	struct perf_event_attr attr = attr_of_samples();
	const struct perf_event_header *record;
	uint64_t lost = 0, samples = 0;
	struct sampler s;

	s = sampler_open(attr, 0, 1);
	cr_assert_eq(pmuctl_event_enable(s.event), 0);
	user_loop(1000 * PERIOD / LOOP_INSTRUCTIONS);
	/* Room for one sample more, which the record of what was lost precedes */
	while (samples < 10 && pmuctl_ring_next(s.ring, &record) > 0)
		samples++;
	pmuctl_ring_consume(s.ring);
	user_loop(3 * PERIOD / LOOP_INSTRUCTIONS);
	cr_assert_eq(pmuctl_event_disable(s.event), 0);
	while (pmuctl_ring_next(s.ring, &record) > 0) {
		if (record->type == PERF_RECORD_LOST)
			lost += ((const uint64_t *)(record + 1))[1];
		else
			samples++;
	}
	cr_assert_gt(lost, 800);
	cr_assert_eq(samples + lost, count_of(s.event) / PERIOD);
	sampler_close(&s);
}

Test(lib_ring, snapshot_keeps_the_newest_first)
{
	struct perf_event_attr attr = attr_of_samples();
	const struct perf_event_header *record;
	struct sampler s;
	uint64_t id;

	attr.write_backward = 1;
	s = sampler_open(attr, 0, 1);
	id = id_of(s.event);
	cr_assert_eq(pmuctl_ring_next(s.ring, &record), -EBUSY);
	cr_assert_eq(pmuctl_event_enable(s.event), 0);
	for (int i = 0; i < 3; i++) {
		uint64_t samples;

		user_loop(1000 * PERIOD / LOOP_INSTRUCTIONS);
		cr_assert_eq(pmuctl_ring_freeze(s.ring), 0);
		/* Dropped */
		user_loop(100 * PERIOD / LOOP_INSTRUCTIONS);
		samples = samples_read(s.ring, id);
		cr_assert_eq(samples, 4096 / sizeof(struct sample), "%lu", samples);
		cr_assert_eq(pmuctl_ring_next(s.ring, &record), 0);
		cr_assert_eq(pmuctl_ring_thaw(s.ring), 0);
		cr_assert_eq(pmuctl_ring_next(s.ring, &record), -EBUSY);
	}
	sampler_close(&s);
}

Test(lib_ring, refresh_allows_so_many_and_hangs_up)
{
	struct sampler s = sampler_open(attr_of_samples(), 0, 1);
	uint64_t id = id_of(s.event);

	cr_assert_eq(pmuctl_event_refresh(s.event, 5), 0);
	user_loop(100 * PERIOD / LOOP_INSTRUCTIONS);
	/* What is there may be read before the end is told. */
	cr_assert_eq(pmuctl_ring_wait(s.ring, 0), 1);
	cr_assert_eq(samples_read(s.ring, id), 5);
	pmuctl_ring_consume(s.ring);
	sampler_close(&s);
}

Test(lib_ring, period_can_be_changed_while_it_samples)
{
	struct sampler s = sampler_open(attr_of_samples(), 0, 64);
	uint64_t id = id_of(s.event), samples;

	cr_assert_eq(pmuctl_event_enable(s.event), 0);
	user_loop(100 * PERIOD / LOOP_INSTRUCTIONS);
	cr_assert_eq(pmuctl_event_set_period(s.event, 10 * PERIOD), 0);
	samples = samples_read(s.ring, id);
	cr_assert(samples >= 100 && samples <= 105, "%lu", samples);
	user_loop(1000 * PERIOD / LOOP_INSTRUCTIONS);
	samples = samples_read(s.ring, id);
	cr_assert(samples >= 99 && samples <= 105, "%lu", samples);
	cr_assert_eq(pmuctl_event_set_period(s.event, 0), -EINVAL);
	sampler_close(&s);
}

Test(lib_ring, events_share_a_ring_and_are_told_apart)
{
	struct perf_event_attr attr = attr_of_samples();
	const struct perf_event_header *record;
	uint64_t ids[2], samples[2] = { 0, 0 };
	struct pmuctl_event *other;
	struct sampler s;

	s = sampler_open(attr, 0, 64);
	attr.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	cr_assert_eq(pmuctl_event_open(s.dev, &attr, 0, -1, 0, &other), 0);
	cr_assert_eq(pmuctl_event_set_output(other, s.event), 0);
	ids[0] = id_of(s.event);
	ids[1] = id_of(other);
	cr_assert_eq(pmuctl_event_enable(s.event), 0);
	cr_assert_eq(pmuctl_event_enable(other), 0);
	user_loop(1000 * PERIOD / LOOP_INSTRUCTIONS);
	cr_assert_eq(pmuctl_event_disable(s.event), 0);
	cr_assert_eq(pmuctl_event_disable(other), 0);
	while (pmuctl_ring_next(s.ring, &record) > 0) {
		const struct sample *sample = (const void *)record;

		cr_assert(sample->id == ids[0] || sample->id == ids[1]);
		samples[sample->id == ids[1]]++;
	}
	cr_assert_eq(samples[0], count_of(s.event) / PERIOD);
	cr_assert_eq(samples[1], count_of(other) / PERIOD);
	cr_assert_gt(samples[1], 400);
	cr_assert_eq(pmuctl_event_set_output(other, NULL), 0);
	pmuctl_event_close(other);
	sampler_close(&s);
}

Test(lib_ring, paused_output_is_lost)
{
	struct sampler s = sampler_open(attr_of_samples(), 0, 64);
	const struct perf_event_header *record;
	uint64_t samples = 0, lost = 0;

	cr_assert_eq(pmuctl_event_enable(s.event), 0);
	cr_assert_eq(pmuctl_event_pause_output(s.event, 1), 0);
	user_loop(100 * PERIOD / LOOP_INSTRUCTIONS);
	cr_assert_eq(pmuctl_event_pause_output(s.event, 0), 0);
	user_loop(100 * PERIOD / LOOP_INSTRUCTIONS);
	cr_assert_eq(pmuctl_event_disable(s.event), 0);
	while (pmuctl_ring_next(s.ring, &record) > 0) {
		if (record->type == PERF_RECORD_LOST)
			lost += ((const uint64_t *)(record + 1))[1];
		else
			samples++;
	}
	cr_assert(samples >= 100 && samples <= 105, "%lu", samples);
	cr_assert_eq(samples + lost, count_of(s.event) / PERIOD);
	sampler_close(&s);
}

Test(lib_ring, wait_tells_wakeups_time_and_the_end)
{
	struct perf_event_attr attr = attr_of_samples();
	const struct perf_event_header *record;
	struct sampler s;
	int samples = 0, go[2], ret;
	pid_t child;
	char byte;

	attr.wakeup_events = 1;
	cr_assert_eq(pipe(go), 0);
	child = fork();
	cr_assert_geq(child, 0);
	if (!child) {
		if (read(go[0], &byte, 1) == 1)
			user_loop(100 * PERIOD / LOOP_INSTRUCTIONS);
		_exit(0);
	}
	s = sampler_open(attr, child, 64);
	cr_assert_eq(pmuctl_ring_wait(s.ring, 10), 0, "nothing is sampled yet");
	cr_assert_eq(pmuctl_event_enable(s.event), 0);
	cr_assert_eq(write(go[1], "", 1), 1);
	while ((ret = pmuctl_ring_wait(s.ring, -1)) == 1) {
		while (pmuctl_ring_next(s.ring, &record) > 0)
			samples++;
		pmuctl_ring_consume(s.ring);
	}
	cr_assert_eq(ret, -ESRCH, "%d", ret);
	cr_assert_geq(samples, 100);
	cr_assert_eq(waitpid(child, NULL, 0), child);
	sampler_close(&s);
}

Test(lib_ring, control_of_what_does_not_sample_is_refused_and_explained)
{
	struct perf_event_attr attr = instructions_u();
	struct pmuctl_explanation why;
	struct pmuctl_device *dev;
	struct pmuctl_event *event;
	struct pmuctl_ring *ring;

	cr_assert_eq(pmuctl_device_open(NULL, NULL, &dev), 0);
	cr_assert_eq(pmuctl_event_open(dev, &attr, 0, -1, 0, &event), 0);
	cr_assert_eq(pmuctl_event_refresh(event, 1), -EINVAL);
	cr_assert_eq(pmuctl_event_explain(event, &why), 0);
	cr_assert_neq(why.sentence[0], '\0');
	cr_assert_eq(pmuctl_event_set_period(event, 1000), -EINVAL);
	cr_assert_eq(pmuctl_ring_open(event, 3, &ring), -EINVAL);
	pmuctl_event_close(event);
	pmuctl_device_close(dev);
}
