// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report of what is in the rings now. "pmuctl report" reads a recording; this one is in
 * memory, has the events only, and is fed with the records of the rings.
 *
 * Memory does not grow with the time that it runs: rows decay until they are gone, and tasks that
 * ended are forgotten with what they had mapped. What stays is the programs that were seen, and
 * names.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "top.h"

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int report_begin(struct top_live *live)
{
	struct report_options *options = &live->options->report;
	int ret;

	options->input.path = live->path;
	live->has_report = true;
	ret = report_open(&live->report, options);
	if (ret == 0)
		live->report.samples->path = "the rings";
	/* The one behind the others that only tells of tasks has nothing to show. */
	live->event_count = live->report.event_count - live->options->record.measure.teller;
	return ret;
}

/**
 * live_open() - open events and rings, disabled; says what is wrong
 * @live: filled; to be given to live_close(), whatever becomes of it.
 * @dev: the driver.
 * @options: the command line.
 * @child: the command that was started, if that is sampled, or 0.
 *
 * Return: 0 or a negative errno.
 */
int live_open(struct top_live *live, struct pmuctl_device *dev, struct top_options *options,
	      pid_t child)
{
	int ret;

	*live = (struct top_live){ .options = options, .child = child, .file = -1 };
	ret = recording_open(dev, &options->record, child, &live->recording);
	if (ret == 0)
		ret = recording_to_memory(live->recording, "pmuctl-top", &live->file, live->path,
					  sizeof(live->path));
	return ret < 0 ? ret : report_begin(live);
}

/* Hands the records that were read to the report. */
static int take_records(struct top_live *live)
{
	struct report *report = &live->report;
	struct perffile_error error;
	struct perffile_record record;
	int ret;

	if (live->records.failed)
		ret = -ENOMEM;
	else
		ret = perffile_feed(report->samples->file, live->records.bytes,
				    live->records.size, &error);
	live->records.size = 0;
	if (ret < 0) {
		say_error("cannot read the rings: %s",
			  ret == -ENOMEM ? pmuctl_strerror(ret) : error.text);
		return ret;
	}
	while ((ret = samples_next(report->samples, &record)) > 0) {
		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		live->samples += !record.again;
		live->kernel += !record.again && (record.misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
				PERF_RECORD_MISC_KERNEL;
		if (report_add(report, &record) < 0) {
			say_error("%s", pmuctl_strerror(-ENOMEM));
			return -ENOMEM;
		}
	}
	return ret;
}

/* Tells the report what is there already. */
static int describe(struct top_live *live)
{
	const struct measure *measure = &live->options->record.measure;
	struct synth synth = {
		.trailer = recording_trailer(live->recording),
		.data = live->options->record.callgraph == CALLGRAPH_DWARF,
	};

	if (recording_samples_kernel(live->recording) && synth_kernel(&synth) < 0)
		say_error("kernel symbols will be missing: %s", kernel_hidden_now());
	synth_targets(&synth, measure, live->child, false);
	if (synth.buffer.failed)
		live->records.failed = true;
	perfdata_put(&live->records, synth.buffer.bytes, synth.buffer.size);
	perfdata_buffer_free(&synth.buffer);
	return take_records(live);
}

/**
 * live_begin() - start to sample; says what is wrong
 * @live: open. A command begins to be sampled by itself.
 *
 * Return: 0 or a negative errno.
 */
int live_begin(struct top_live *live)
{
	/* What tasks map while they are described is told twice, not never; we are not sampled. */
	int ret = recording_tell(live->recording);

	if (ret == 0)
		ret = describe(live);
	live->since = seconds_now();
	if (ret == 0 && live->options->record.measure.kind != TARGET_COMMAND)
		ret = event_set_enable(&live->recording->set);
	return ret;
}

/**
 * live_read() - read all rings once; says what is wrong
 * @live: begun.
 *
 * Return: 0 or a negative errno.
 */
int live_read(struct top_live *live)
{
	live->damaged += recording_take(live->recording, &live->records);
	return take_records(live);
}

/**
 * live_refresh() - read all that is there, and put the rows in order; says what is wrong
 * @live: begun; to be shown now, and then given to live_decay().
 *
 * Return: 0 or a negative errno.
 */
int live_refresh(struct top_live *live)
{
	/* The second time nothing is held back of what was there the first time. */
	int ret = live_read(live);
	double now = seconds_now();

	if (ret == 0)
		ret = live_read(live);
	for (size_t i = 0; ret == 0 && i < live->report.event_count; i++)
		hist_finish(&live->report, &live->report.events[i]);
	live->lost = recording_lost(live->recording);
	live->elapsed = now - live->since;
	live->since = now;
	return ret;
}

/**
 * live_decay() - what was shown counts less from now on, as perf has it
 * @live: refreshed, and shown.
 * @zero: it does not count at all any more.
 */
void live_decay(struct top_live *live, bool zero)
{
	for (size_t i = 0; i < live->report.event_count; i++)
		hist_decay(&live->report.events[i], zero ? 0 : 7);
	tasks_forget(live->report.samples->tasks);
	live->samples = 0;
	live->kernel = 0;
}

/**
 * live_close() - close all
 * @live: opened, or not.
 */
void live_close(struct top_live *live)
{
	if (live->has_report)
		report_close(&live->report);
	if (live->file >= 0)
		close(live->file);
	perfdata_buffer_free(&live->records);
	recording_close(live->recording);
}
