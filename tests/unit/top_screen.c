// SPDX-License-Identifier: GPL-2.0-only
/*
 * The screen of "pmuctl top": what stands where on terminals of several sizes.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap -lutil $(SCREEN_LIBS) */
#include "unit/screen.h"

#include "../../tools/top/screen.c"

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#ifdef HAVE_NCURSES
#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD)

static const char kallsyms[] = "ffffffff81000000 T _text\nffffffff81001000 T leaf\nffffffff81002000 T end\n";

static struct top_options top;
static struct top_live live = { .options = &top, .event_count = 1 };
static struct screen *screen;

/* What text.c makes of it all, but for the numbers */
void text_head(FILE *out, const struct top_live *shown)
{
	(void)shown;
	fprintf(out, "pmuctl top: 1 samples/s\n");
}

void text_event(FILE *out, const struct top_live *shown, const struct report_event *event, size_t rows)
{
	fprintf(out, "# Samples: %d of event '%s'\n#\n", 2, event->name);
	report_print_rows(out, &shown->report, event, rows, false);
}

void live_decay(struct top_live *shown, bool all)
{
	(void)shown;
	(void)all;
}

/* 70 % are in a function, and 30 % in a library with a long name. */
static void show(unsigned short rows, unsigned short columns)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1 };
	struct build_sample sample = { .ip = 0xffffffff81001010, .pid = 7, .tid = 7, .period = 70 };
	const struct build_trailer none = { 0 };
	struct build build;
	uint64_t seed = 1;

	enter_directory();
	build_begin(&build, &attr, 1);
	build_mmap(&build, 7, 0x10000, 0x1000, 0,
		   "/a-library-whose-name-has-as-many-characters-as-a-line-has-room-for-nearly.so", NULL, &none);
	build_sample(&build, 0, PERF_RECORD_MISC_KERNEL, &sample, &seed);
	sample.ip = 0x10010;
	sample.period = 30;
	build_sample(&build, 0, PERF_RECORD_MISC_USER, &sample, &seed);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	build_free(&build);
	top = (struct top_options){ .report = {
		.input = { .path = "perf.data", .root = "", .kallsyms = "kallsyms", .is_quiet = true },
		.sort_text = "dso,symbol", .graph.order = GRAPH_NONE,
	} };
	cr_assert_eq(report_open(&live.report, &top.report), 0);
	cr_assert_eq(report_read(&live.report), 0);
	screen_enter(rows, columns);
	screen = screen_open(&live);
	cr_assert_not_null(screen);
	cr_assert_eq(screen_refresh(screen), 0);
}

static void hide_all(void)
{
	screen_close(screen);
	report_close(&live.report);
	leave_directory();
}

/* Types something, and draws what comes of it. */
static void keys(const char *typed)
{
	for (; *typed; typed++)
		take_key(screen, *typed);
	draw(screen);
}

Test(top_screen, headings_are_above_their_columns)
{
	show(24, 120);
	screen_has(0, 0, "pmuctl top: 1 samples/s");
	screen_has(1, 0, "Samples: 2 of event 'cycles'");
	screen_has(2, 0, "  Overhead  Shared object");
	screen_has(3, 0, "    70.00%  [kernel.kallsyms]");
	screen_has(3, screen_find(2, "Symbol"), "[k] leaf");
	screen_has(23, 0, "h: help, q: quit");
	hide_all();
}

Test(top_screen, long_names_of_programs_leave_room_for_the_function)
{
	show(24, 80);
	screen_has(3, screen_find(2, "Symbol"), "[k] leaf");
	screen_has(4, screen_find(2, "Symbol"), "[.] [unknown]");
	hide_all();
}

Test(top_screen, the_cursor_is_where_something_is_typed)
{
	show(24, 80);
	cr_assert(!screen_shows_cursor());
	keys("d12");
	cr_assert(screen_shows_cursor());
	cr_assert_eq(getcury(stdscr), 23);
	cr_assert_eq(getcurx(stdscr), (int)strlen("Seconds from refresh to refresh: 12"));
	keys("\033");
	cr_assert(!screen_shows_cursor());
	hide_all();
}

Test(top_screen, rows_that_have_counted_more)
{
	show(24, 80);
	top.report.more_than = 29;
	cr_assert_eq(screen_refresh(screen), 0);
	screen_has(4, 0, "    30.00%");
	top.report.more_than = 30;
	cr_assert_eq(screen_refresh(screen), 0);
	screen_has(3, 0, "    70.00%");
	cr_assert_str_eq(screen_line(4, 0), "");
	hide_all();
}

/* No size is too small for any key. */
Test(top_screen, all_keys_on_terminals_of_any_size)
{
	static const unsigned short sizes[][2] = { { 1, 1 }, { 2, 3 }, { 3, 200 }, { 24, 2 } };

	show(24, 80);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		screen_size(sizes[i][0], sizes[i][1]);
		screen_resize(screen);
		keys("hhd12\re5\rf.5\rzzKKUUEgpp? ");
		cr_assert_eq(screen_refresh(screen), 0);
	}
	hide_all();
}

#include "../../tools/terminal.c"
#endif
