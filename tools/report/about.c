// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a recording says of itself: the header, as "perf report --header" has it, and how
 * many records of which type it has.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "report.h"

static const char *clean(const struct samples *samples, const char *text)
{
	return names_intern(samples->symbols->names, text);
}

static void print_short(const struct report *report)
{
	const struct samples *samples = report->samples;
	const struct perffile_info *info = &samples->file->info;

	printf("# recording: %s\n", clean(samples, samples->path));
	if (info->cmdline)
		printf("# command: %s\n", clean(samples, info->cmdline));
	if (info->hostname && info->osrelease)
		printf("# machine: %s, kernel %s\n", clean(samples, info->hostname),
		       clean(samples, info->osrelease));
	printf("# lost records: %" PRIu64 "\n", samples->lost + samples->lost_samples);
}

static void print_text(const struct samples *samples, const char *what, const char *text)
{
	if (text)
		printf("# %s : %s\n", what, clean(samples, text));
}

static void print_event(struct samples *samples, const struct perffile_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	printf("# event : name = %s, , id = {", samples_event_name(samples, event));
	for (size_t i = 0; i < event->id_count; i++)
		printf("%s %" PRIu64, i ? "," : "", perffile_word(event->ids + i * 8));
	printf(" }, type = %u, config = %#" PRIx64 ", { sample_period, sample_freq } = %" PRIu64
	       ", sample_type = %#" PRIx64 ", read_format = %#" PRIx64 "\n", attr->type,
	       (uint64_t)attr->config, (uint64_t)attr->sample_period,
	       (uint64_t)attr->sample_type, (uint64_t)attr->read_format);
}

/**
 * about_header() - print the header, each line behind a '#'
 * @samples: the recording.
 */
void about_header(struct samples *samples)
{
	const struct perffile *file = samples->file;
	const struct perffile_info *info = &file->info;
	struct stat about;

	printf("# ========\n");
	if (stat(samples->path, &about) == 0)
		printf("# captured on    : %s", ctime(&about.st_mtime));
	printf("# data offset    : %" PRIu64 "\n# data size      : %" PRIu64 "\n", file->records,
	       file->records_end - file->records);
	print_text(samples, "hostname", info->hostname);
	print_text(samples, "os release", info->osrelease);
	print_text(samples, "perf version", info->version);
	print_text(samples, "arch", info->arch);
	if (info->cpus_available)
		printf("# nrcpus online : %u\n# nrcpus avail : %u\n", info->cpus_online,
		       info->cpus_available);
	print_text(samples, "cpudesc", info->cpudesc);
	print_text(samples, "cpuid", info->cpuid);
	if (info->memory)
		printf("# total memory : %" PRIu64 " kB\n", info->memory);
	print_text(samples, "cmdline", info->cmdline);
	for (size_t i = 0; i < file->event_count; i++)
		print_event(samples, &file->events[i]);
	printf("# ========\n#\n");
}

/**
 * about_print() - print what the recording says of itself, as far as it was asked for
 * @report: the report.
 */
void about_print(const struct report *report)
{
	enum report_about about = report->options->about;

	if (about == ABOUT_HEADER || about == ABOUT_ONLY)
		about_header(report->samples);
	if (about == ABOUT_SHORT || about == ABOUT_HEADER)
		print_short(report);
}

/**
 * about_type_name() - perf's name for a type of record
 * @type: the kernel's, or perf's own.
 */
const char *about_type_name(unsigned int type)
{
	static const char *const names[] = {
		[PERF_RECORD_MMAP] = "MMAP", [PERF_RECORD_LOST] = "LOST",
		[PERF_RECORD_COMM] = "COMM", [PERF_RECORD_EXIT] = "EXIT",
		[PERF_RECORD_THROTTLE] = "THROTTLE", [PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
		[PERF_RECORD_FORK] = "FORK", [PERF_RECORD_READ] = "READ",
		[PERF_RECORD_SAMPLE] = "SAMPLE", [PERF_RECORD_MMAP2] = "MMAP2",
		[PERF_RECORD_AUX] = "AUX", [PERF_RECORD_ITRACE_START] = "ITRACE_START",
		[PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES", [PERF_RECORD_SWITCH] = "SWITCH",
		[PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
		[PERF_RECORD_NAMESPACES] = "NAMESPACES", [PERF_RECORD_KSYMBOL] = "KSYMBOL",
		[PERF_RECORD_BPF_EVENT] = "BPF_EVENT", [PERF_RECORD_CGROUP] = "CGROUP",
		[PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
		[PERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
		[PERFFILE_HEADER_ATTR] = "ATTR", [PERFFILE_HEADER_EVENT_TYPE] = "EVENT_TYPE",
		[PERFFILE_HEADER_TRACING_DATA] = "TRACING_DATA",
		[PERFFILE_BUILD_ID_ENTRY] = "BUILD_ID",
		[PERFFILE_FINISHED_ROUND] = "FINISHED_ROUND", [PERFFILE_ID_INDEX] = "ID_INDEX",
		[PERFFILE_AUXTRACE_INFO] = "AUXTRACE_INFO", [PERFFILE_AUXTRACE] = "AUXTRACE",
		[PERFFILE_AUXTRACE_ERROR] = "AUXTRACE_ERROR",
		[PERFFILE_THREAD_MAP] = "THREAD_MAP", [PERFFILE_CPU_MAP] = "CPU_MAP",
		[PERFFILE_STAT_CONFIG] = "STAT_CONFIG", [PERFFILE_STAT_RECORD] = "STAT",
		[PERFFILE_STAT_ROUND] = "STAT_ROUND", [PERFFILE_EVENT_UPDATE] = "EVENT_UPDATE",
		[PERFFILE_TIME_CONV] = "TIME_CONV", [PERFFILE_HEADER_FEATURE] = "FEATURE",
		[PERFFILE_COMPRESSED] = "COMPRESSED", [PERFFILE_FINISHED_INIT] = "FINISHED_INIT",
		[PERFFILE_COMPRESSED2] = "COMPRESSED2",
	};

	return type < ARRAY_LEN(names) && names[type] ? names[type] : "UNKNOWN";
}

/**
 * about_print_stats() - print how many records there are
 * @report: of which all records were read.
 */
void about_print_stats(const struct report *report)
{
	uint64_t total = 0;

	for (unsigned int type = 0; type < PERFFILE_USER_TYPE; type++)
		total += report->types[type];
	printf("\nAggregated stats:\n%16s events: %10" PRIu64 "\n", "TOTAL", total);
	for (unsigned int type = 0; type < PERFFILE_USER_TYPE; type++)
		if (report->types[type])
			printf("%16s events: %10" PRIu64 "  (%4.1f%%)\n", about_type_name(type),
			       report->types[type], report_percent(report->types[type], total));
	for (size_t i = 0; i < report->event_count; i++)
		if (report->events[i].name)
			printf("%s stats:\n%16s events: %10" PRIu64 "\n", report->events[i].name,
			       "SAMPLE", report->events[i].samples);
}
