/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbers of the perf.data format, for its writer (perfdata.h) and its reader (perffile.h).
 * Source: tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#ifndef PMUCTL_TOOL_PERFFILE_FORMAT_H
#define PMUCTL_TOOL_PERFFILE_FORMAT_H

/* The first eight bytes of a file */
#define PERFFILE_MAGIC "PERFILE2"

/* Bytes of a GNU build id; what is shorter is filled with zeroes. */
#define PERFFILE_BUILD_ID_MAX 20

/* Types of records that no kernel writes; all are at least PERFFILE_USER_TYPE. */
enum {
	PERFFILE_USER_TYPE	= 64,
	PERFFILE_BUILD_ID_ENTRY	= 67,	/* in its feature only */
	PERFFILE_FINISHED_ROUND	= 68,
	PERFFILE_AUXTRACE	= 71,
	PERFFILE_COMPRESSED	= 81,
	PERFFILE_COMPRESSED2	= 83,
};

/* Numbers of features, sections behind the records; each has a bit in the header. */
enum perffile_feature {
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
	PERFFILE_SAMPLE_TIME	= 21,
	PERFFILE_FEATURES	= 256,
};

#endif /* PMUCTL_TOOL_PERFFILE_FORMAT_H */
