/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds what a recording says of its tracepoints, PERFFILE_TRACING_DATA, in memory: for the
 * tests of its reader and its fuzzers.
 */
#ifndef PMUCTL_TESTS_TRACING_BUILD_H
#define PMUCTL_TESTS_TRACING_BUILD_H

#include "perffile_build.h"

/* Fields that all events have: 8 bytes */
#define TRACING_COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

/* A format as tracefs has it, of event number 1 */
#define TRACING_FORMAT(fields, print) \
	"name: event\nID: 1\nformat:\n" TRACING_COMMON fields "\nprint fmt: " print "\n"

#define TRACING_FIELD(type, name, offset, size, is_signed) \
	"\tfield:" type " " name ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #is_signed ";\n"

static inline void tracing_text(struct build *build, const char *text, size_t size)
{
	build_word(build, size);
	build_bytes(build, text, size);
}

/* Up to the formats of @count events of one system, which follow */
static inline void tracing_begin(struct build *build, uint32_t count)
{
	static const char magic[] = "\027\010\104tracing0.6";
	static const uint8_t machine[] = { 0, 8 };

	build_bytes(build, magic, sizeof(magic));
	build_bytes(build, machine, sizeof(machine));
	build_half(build, 4096);
	build_bytes(build, "header_page", 12);
	tracing_text(build, "page", 4);
	build_bytes(build, "header_event", 13);
	tracing_text(build, "event", 5);
	build_half(build, 0);
	build_half(build, 1);
	build_bytes(build, "system", 7);
	build_half(build, count);
}

static inline void tracing_end(struct build *build)
{
	static const char texts[] = "0x1234 : \"a text\"\n0x5678 no colon\n";
	static const char commands[] = "7 name\n";

	build_half(build, 0);
	build_half(build, sizeof(texts) - 1);
	build_bytes(build, texts, sizeof(texts) - 1);
	tracing_text(build, commands, sizeof(commands) - 1);
}

#endif /* PMUCTL_TESTS_TRACING_BUILD_H */
