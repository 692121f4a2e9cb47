/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the perf.data format, for its writer (perfdata.h) and its reader (perffile.h).
 * Source: tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#ifndef PMUCTL_TOOL_PERFFILE_FORMAT_H
#define PMUCTL_TOOL_PERFFILE_FORMAT_H

#include <stdint.h>

/* The first eight bytes of a file */
#define PERFFILE_MAGIC "PERFILE2"

/* The header of a stream ends behind the magic and its own size; records follow. */
#define PERFFILE_STREAM_HEADER 16

/* Of PERFFILE_COMPRESSION: zstd, one stream of it through all compressed records */
#define PERFFILE_ZSTD 1

/* Bytes of a GNU build id; what is shorter is filled with zeroes. */
#define PERFFILE_BUILD_ID_MAX 20

/* Types of records that no kernel writes; all are at least PERFFILE_USER_TYPE. */
enum {
	PERFFILE_USER_TYPE	= 64,
	PERFFILE_HEADER_ATTR	= 64,	/* in a pipe only, as are the others of this name */
	PERFFILE_HEADER_EVENT_TYPE = 65,
	PERFFILE_HEADER_TRACING_DATA = 66,
	PERFFILE_BUILD_ID_ENTRY	= 67,	/* in its feature, or in a pipe */
	PERFFILE_FINISHED_ROUND	= 68,
	PERFFILE_ID_INDEX	= 69,
	PERFFILE_AUXTRACE_INFO	= 70,
	PERFFILE_AUXTRACE	= 71,
	PERFFILE_AUXTRACE_ERROR	= 72,
	PERFFILE_THREAD_MAP	= 73,
	PERFFILE_CPU_MAP	= 74,
	PERFFILE_STAT_CONFIG	= 75,
	PERFFILE_STAT_RECORD	= 76,
	PERFFILE_STAT_ROUND	= 77,
	PERFFILE_EVENT_UPDATE	= 78,
	PERFFILE_TIME_CONV	= 79,
	PERFFILE_HEADER_FEATURE	= 80,
	PERFFILE_COMPRESSED	= 81,
	PERFFILE_FINISHED_INIT	= 82,
	PERFFILE_COMPRESSED2	= 83,
};

/* Of PERFFILE_EVENT_UPDATE: what follows the number of the event is its name. */
#define PERFFILE_UPDATE_NAME 2

/* Bytes of an AUXTRACE record: header, five words, and one more of which half is used */
#define PERFFILE_AUXTRACE_SIZE 48

/* Numbers of features, sections behind the records; each has a bit in the header. */
enum perffile_feature {
	PERFFILE_TRACING_DATA	= 1,
	PERFFILE_BUILD_ID	= 2,
	PERFFILE_HOSTNAME	= 3,
	PERFFILE_OSRELEASE	= 4,
	PERFFILE_VERSION	= 5,
	PERFFILE_ARCH		= 6,
	PERFFILE_NRCPUS		= 7,
	PERFFILE_CPUDESC	= 8,
	PERFFILE_CPUID		= 9,
	PERFFILE_TOTAL_MEM	= 10,
	PERFFILE_CMDLINE	= 11,
	PERFFILE_EVENT_DESC	= 12,
	PERFFILE_GROUP_DESC	= 17,
	PERFFILE_AUXTRACE_INDEX	= 18,
	PERFFILE_STAT		= 19,
	PERFFILE_SAMPLE_TIME	= 21,
	PERFFILE_DIR_FORMAT	= 24,
	PERFFILE_COMPRESSION	= 27,
	PERFFILE_FEATURES	= 256,
};

/* Of PERFFILE_AUXTRACE_INFO: whose trace it is, and what its words are then */
#define PERFFILE_TRACE_INTEL_PT 1
#define PERFFILE_TRACE_INTEL_BTS 2

enum perffile_intel_pt {
	PERFFILE_PT_TYPE,		/* attr.type */
	PERFFILE_PT_TIME_SHIFT,		/* from the TSC to the time of records */
	PERFFILE_PT_TIME_MULT,
	PERFFILE_PT_TIME_ZERO,
	PERFFILE_PT_HAS_TIME_ZERO,
	PERFFILE_PT_TSC,		/* bits of attr.config */
	PERFFILE_PT_NO_RETC,
	PERFFILE_PT_SWITCHES,		/* how switches of tasks are told */
	PERFFILE_PT_SNAPSHOT,
	PERFFILE_PT_PER_CPU,		/* a buffer for each CPU, not each task */
	PERFFILE_PT_MTC,
	PERFFILE_PT_MTC_PERIOD,
	PERFFILE_PT_TSC_CTC_N,		/* CPUID.15H: EBX, EAX */
	PERFFILE_PT_TSC_CTC_D,
	PERFFILE_PT_CYC,
	PERFFILE_PT_RATIO,		/* without turbo, 0 if it is not known */
	PERFFILE_PT_FILTER_SIZE,	/* of a text behind the words */
	PERFFILE_PT_WORDS,
};

/* The first ones, up to PERFFILE_PT_HAS_TIME_ZERO, are the same here. */
enum perffile_intel_bts {
	PERFFILE_BTS_SNAPSHOT = PERFFILE_PT_HAS_TIME_ZERO + 1,
	PERFFILE_BTS_WORDS,
};

/* What Branch Trace Store writes: where a branch is, where it goes, and flags */
struct perffile_branch {
	uint64_t from;
	uint64_t to;
	uint64_t flags;
};

/* PERFFILE_PT_SWITCHES: by records of the tasks that are traced, or of all of a CPU */
#define PERFFILE_SWITCHES_OF_TASKS 2
#define PERFFILE_SWITCHES_OF_CPUS 3

#endif /* PMUCTL_TOOL_PERFFILE_FORMAT_H */
