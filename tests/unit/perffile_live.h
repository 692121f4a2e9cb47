/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of records that come by and by instead of from a file: a report of a recording without
 * records, which is fed with what is built behind it.
 */
#ifndef UNIT_PERFFILE_LIVE_H
#define UNIT_PERFFILE_LIVE_H

#include "../../tools/report/report.h"
#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define LEAF	0xffffffff81001010
#define WORK	0xffffffff81002020
#define MAIN	0xffffffff81003030

static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81001000 T leaf\nffffffff81002000 T work\n"
	"ffffffff81003000 T main\nffffffff81004000 T end\n";

static struct build build;
static struct report_options options;
static struct report report;

/* @type: attr.sample_type of its event; @wanted: options, beside those that say where it is. */
static void live_enter(uint64_t type, struct report_options wanted)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = type, .sample_id_all = 1,
	};
	const struct build_trailer none = { 0 };

	enter_directory();
	build_begin(&build, &attr, 1);
	build_comm(&build, 7, 7, "before", 0, &none);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	build.size = build.records;
	options = wanted;
	options.input.path = "perf.data";
	options.input.root = "";
	options.input.kallsyms = "kallsyms";
	options.sort_text = "symbol";
	options.about = ABOUT_NOTHING;
	cr_assert_eq(report_open(&report, &options), 0);
}

static void live_leave(void)
{
	report_close(&report);
	build_free(&build);
	leave_directory();
}

/* The row of a function; NULL if there is none. */
static const struct report_row *row_of(const char *name)
{
	const struct report_event *event = &report.events[0];

	for (size_t i = 0; i < event->row_count; i++)
		if (!strcmp(event->rows[i]->text[KEY_SYMBOL], name))
			return event->rows[i];
	return NULL;
}

#endif /* UNIT_PERFFILE_LIVE_H */
