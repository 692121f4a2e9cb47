// SPDX-License-Identifier: GPL-2.0-only
/*
 * Traces in "pmuctl record": an event that traces has a buffer behind each of its rings,
 * and the ring of its target is its own. The file begins with what a decoder must know
 * of the machine; the pieces of trace follow among the records, as they are.
 */
#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "record.h"

/* In pages of 4 KiB: 4 MiB, or what a user without rights may lock */
#define PAGES_DEFAULT	1024u
#define PAGES_LEAST	32u

/* Where sysfs has the terms of a driver that traces, and the type of the other */
#define FORMATS "/sys/class/misc/pmuctl/intel_pt/format"
#define BTS_TYPE "/sys/class/misc/pmuctl/intel_bts/type"

static bool type_is_of_branches(uint32_t type)
{
	FILE *file = fopen(BTS_TYPE, "re");
	uint32_t number = 0;
	int n;

	if (!file)
		return false;
	n = fscanf(file, "%" SCNu32, &number);
	fclose(file);
	return n == 1 && number == type;
}

/**
 * traces_find() - which event of a recording traces
 * @r: the recording, with its events known.
 *
 * Return: 0, or -EINVAL, having told the user, if there are several.
 */
int traces_find(struct recording *r)
{
	bool found = false;

	for (size_t i = 0; i < r->set.nr_events; i++) {
		if (!r->set.events[i].traces)
			continue;
		if (found) {
			say_error("'%s' and '%s' both trace, and a recording has one trace of each task or CPU: leave one out",
				  r->set.events[r->ring_event].name,
				  r->set.events[i].name);
			return -EINVAL;
		}
		found = true;
		r->ring_event = i;
	}
	if (!found)
		return 0;
	r->of_branches = type_is_of_branches(r->set.events[r->ring_event].attr.type);
	r->traces = calloc(r->set.targets.count, sizeof(struct pmuctl_trace *));
	return r->traces ? 0 : -ENOMEM;
}

/* ------------------------------------------------------------------ buffers */

static void close_buffers(struct recording *r)
{
	for (size_t i = 0; i < r->set.targets.count; i++) {
		pmuctl_trace_close(r->traces[i]);
		r->traces[i] = NULL;
	}
}

/* Of one size all; returns 0 or a negative errno, with the number of the target in @target. */
static int open_buffers(struct recording *r, unsigned int pages, size_t *target)
{
	int ret = 0;

	for (*target = 0; *target < r->set.targets.count; ++*target) {
		if (!r->rings[*target])
			continue;
		ret = pmuctl_trace_open(r->rings[*target], pages, r->options->snapshot,
					&r->traces[*target]);
		if (ret < 0)
			break;
	}
	return ret;
}

/**
 * traces_open() - open and map the buffers of all traces
 * @r: the recording, with its rings open.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int traces_open(struct recording *r)
{
	unsigned int pages = r->options->trace_pages ? r->options->trace_pages : PAGES_DEFAULT;
	size_t target;
	int ret;

	if (!r->traces)
		return 0;
	ret = open_buffers(r, pages, &target);
	while (ret == -EPERM && !r->options->trace_pages && pages > PAGES_LEAST) {
		close_buffers(r);
		pages /= 2;
		ret = open_buffers(r, pages, &target);
	}
	if (ret == -EPERM)
		say_error("cannot lock %u pages of memory for each of %zu traces: ask for less with -m ,PAGES, or raise 'ulimit -l'",
			  pages, r->set.targets.count);
	else if (ret < 0)
		event_set_say(&r->set, r->ring_event,
			      *event_set_handle(&r->set, r->ring_event, target),
			      "map the trace of", ret);
	return ret;
}

/**
 * traces_close() - unmap them
 * @r: the recording.
 */
void traces_close(struct recording *r)
{
	if (!r->traces)
		return;
	close_buffers(r);
	free(r->traces);
	r->traces = NULL;
}

/* ---------------------------------------------------------- what decoders ask for */

/* The bits of attr.config that a term is; 0 if this CPU does not have it */
static uint64_t format_bits(const char *term)
{
	unsigned int low, high;
	char path[200];
	FILE *file;
	int n;

	snprintf(path, sizeof(path), FORMATS "/%s", term);
	file = fopen(path, "re");
	if (!file)
		return 0;
	n = fscanf(file, "config:%u-%u", &low, &high);
	fclose(file);
	if (n < 1 || low > 63)
		return 0;
	if (n == 1)
		high = low;
	return high > 63 || high < low ? 0 : (~0ULL << low) & (~0ULL >> (63 - high));
}

static const struct perf_event_mmap_page *any_page(const struct recording *r)
{
	for (size_t i = 0; i < r->set.targets.count; i++)
		if (r->rings[i])
			return pmuctl_ring_page(r->rings[i]);
	return NULL;
}

/* The first words of both units */
static void put_clock(const struct recording *r, uint64_t *words)
{
	const struct perf_event_mmap_page *page = any_page(r);

	words[PERFFILE_PT_TYPE] = r->events[r->ring_event].attr.type;
	if (!page || !page->cap_user_time_zero)
		return;
	words[PERFFILE_PT_TIME_SHIFT] = page->time_shift;
	words[PERFFILE_PT_TIME_MULT] = page->time_mult;
	words[PERFFILE_PT_TIME_ZERO] = page->time_zero;
	words[PERFFILE_PT_HAS_TIME_ZERO] = 1;
}

static void put_machine(uint64_t *words)
{
	unsigned int eax, ebx, ecx, edx;

	words[PERFFILE_PT_TSC] = format_bits("tsc");
	words[PERFFILE_PT_NO_RETC] = format_bits("noretcomp");
	words[PERFFILE_PT_MTC] = format_bits("mtc");
	words[PERFFILE_PT_MTC_PERIOD] = format_bits("mtc_period");
	words[PERFFILE_PT_CYC] = format_bits("cyc");
	if (__get_cpuid(0x15, &eax, &ebx, &ecx, &edx)) {
		words[PERFFILE_PT_TSC_CTC_N] = ebx;
		words[PERFFILE_PT_TSC_CTC_D] = eax;
	}
	/* Base frequency in MHz, in steps of the bus clock */
	if (__get_cpuid(0x16, &eax, &ebx, &ecx, &edx))
		words[PERFFILE_PT_RATIO] = (eax & 0xffff) / 100;
}

/**
 * traces_describe() - write what a decoder must know, before all records
 * @r: the recording.
 * @file: where to.
 *
 * Return: 0 or a negative errno.
 */
int traces_describe(const struct recording *r, struct perfdata *file)
{
	struct {
		struct perf_event_header header;
		uint32_t whose;
		uint32_t reserved;
		uint64_t words[PERFFILE_PT_WORDS];
	} record = {
		.header.type = PERFFILE_AUXTRACE_INFO,
		.header.size = sizeof(record),
		.whose = PERFFILE_TRACE_INTEL_PT,
	};
	static const char padding[sizeof(uint64_t)];
	struct iovec pieces[3] = { { &record, sizeof(record) } };
	const struct measure *measure = &r->options->measure;
	const char *filter = measure->address_filter;

	if (!r->traces)
		return 0;
	put_clock(r, record.words);
	if (r->of_branches) {
		record.whose = PERFFILE_TRACE_INTEL_BTS;
		record.words[PERFFILE_BTS_SNAPSHOT] = r->options->snapshot;
		pieces[0].iov_len -= (PERFFILE_PT_WORDS - PERFFILE_BTS_WORDS) * sizeof(uint64_t);
		record.header.size = (uint16_t)pieces[0].iov_len;
		return perfdata_write(file, pieces, 1);
	}
	record.words[PERFFILE_PT_SNAPSHOT] = r->options->snapshot;
	record.words[PERFFILE_PT_PER_CPU] = event_set_cpu(&r->set, 0) >= 0;
	record.words[PERFFILE_PT_SWITCHES] = measure_is_of_cpus(measure) ? PERFFILE_SWITCHES_OF_CPUS :
					     measure->on_each_cpu ? PERFFILE_SWITCHES_OF_TASKS : 0;
	put_machine(record.words);
	if (!filter)
		return perfdata_write(file, pieces, 1);
	/* With a 0 behind it, and up to whole words. The driver takes none that is longer than that. */
	record.words[PERFFILE_PT_FILTER_SIZE] = strlen(filter);
	pieces[1] = (struct iovec){ (void *)filter, strlen(filter) };
	pieces[2] = (struct iovec){ (void *)padding, sizeof(padding) - strlen(filter) % sizeof(padding) };
	record.header.size = (uint16_t)(sizeof(record) + pieces[1].iov_len + pieces[2].iov_len);
	return perfdata_write(file, pieces, 3);
}

/* ------------------------------------------------------------------- copying */

/*
 * The end of the buffer has no room for a whole record, and what is there is none. A
 * snapshot is one piece in the file: where a second one begins with the branches that the
 * first one ends with, as in a loop, perf takes them for the same and leaves them out.
 */
static int write_branches(const struct recording *r, struct perfdata *file,
			  struct perfdata_trace *trace, const struct iovec *pieces, int count)
{
	struct iovec whole[2];
	int ret = 0;

	for (int i = 0; i < count; i++) {
		whole[i] = pieces[i];
		whole[i].iov_len -= whole[i].iov_len % sizeof(struct perffile_branch);
	}
	if (r->options->snapshot)
		return perfdata_write_trace(file, trace, whole, count);
	for (int i = 0; i < count && ret == 0; i++) {
		if (whole[i].iov_len)
			ret = perfdata_write_trace(file, trace, &whole[i], 1);
		trace->position += pieces[i].iov_len;
	}
	return ret;
}

static int write_pieces(const struct recording *r, struct perfdata *file, size_t target,
			const struct iovec *pieces, int count)
{
	int cpu = event_set_cpu(&r->set, target);
	struct perfdata_trace trace = {
		.position = pmuctl_trace_position(r->traces[target]),
		.reference = __rdtsc(),
		.buffer = (uint32_t)target,
		.tid = cpu < 0 ? r->set.targets.list[target] : -1,
		.cpu = cpu,
	};

	if (r->of_branches)
		return write_branches(r, file, &trace, pieces, count);
	return perfdata_write_trace(file, &trace, pieces, count);
}

/**
 * trace_read() - copy what is new in a stream
 * @r: the recording.
 * @file: where to.
 * @target: whose.
 * @any: set if there was something.
 *
 * The kernel tells of bytes when the trace has stopped for a moment, so that what is there
 * now ends with a whole packet, and may be padded.
 *
 * Return: 0 or a negative errno.
 */
int trace_read(const struct recording *r, struct perfdata *file, size_t target, bool *any)
{
	struct iovec pieces[2];
	size_t bytes = 0;
	int count, ret;

	if (!r->traces || !r->traces[target])
		return 0;
	count = pmuctl_trace_pieces(r->traces[target], pieces);
	if (!count)
		return 0;
	for (int i = 0; i < count; i++)
		bytes += pieces[i].iov_len;
	ret = write_pieces(r, file, target, pieces, count);
	if (ret < 0)
		return ret;
	pmuctl_trace_consume(r->traces[target], bytes);
	*any = true;
	return 0;
}

static int snapshot_one(const struct recording *r, struct perfdata *file, size_t target,
			bool go_on)
{
	struct pmuctl_event *event = *event_set_handle(&r->set, r->ring_event, target);
	struct iovec pieces[2];
	int ret, count, error;

	/* A task that has ended does not write any more. */
	ret = pmuctl_event_disable(event);
	if (ret < 0 && ret != -ESRCH)
		return ret;
	count = pmuctl_trace_snapshot(r->traces[target], pieces);
	error = count > 0 ? write_pieces(r, file, target, pieces, count) : count;
	ret = go_on ? pmuctl_event_enable(event) : 0;
	return error < 0 ? error : ret == -ESRCH ? 0 : ret;
}

/**
 * traces_snapshot() - copy what is new in all snapshots
 * @r: the recording.
 * @file: where to.
 * @go_on: tracing goes on then.
 *
 * Return: 0 or a negative errno.
 */
int traces_snapshot(const struct recording *r, struct perfdata *file, bool go_on)
{
	int ret = 0;

	for (size_t i = 0; r->traces && i < r->set.targets.count && ret == 0; i++)
		if (r->traces[i])
			ret = snapshot_one(r, file, i, go_on);
	return ret;
}
