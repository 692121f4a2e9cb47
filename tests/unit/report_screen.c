// SPDX-License-Identifier: GPL-2.0-only
/*
 * The screen of "pmuctl report": what stands where on terminals of several sizes.
 */
/* sources: $(READER) $(SYMBOLS) $(filter-out tools/report/browse%.c,$(REPORT)) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap -lutil $(SCREEN_LIBS) */
#include "unit/screen.h"

#include "../../tools/report/browse.c"
#include "../../tools/report/browse_flames.c"
#include "../../tools/report/browse_lines.c"

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#ifdef HAVE_NCURSES
#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | \
	      PERF_SAMPLE_IDENTIFIER)

#define LEAF	0xffffffff81001010
#define WORK	0xffffffff81002020
#define OUTER	0xffffffff81003030

#define LONG_LIBRARY "a-library-whose-name-has-as-many-characters-as-a-line-has-room-for-nearly.so"

static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81001000 T leaf\nffffffff81002000 T work\n"
	"ffffffff81003000 T outer\nffffffff81004000 T end\n";

static struct report report;
static struct report_options options;
static struct browser b;

static void add(struct build *build, uint32_t pid, uint64_t period, bool is_user, size_t count, const uint64_t *chain)
{
	struct build_sample sample = {
		.id = build_id(0, 0), .ip = chain[0], .period = period, .pid = pid, .tid = pid, .chain = count + 1,
	};
	uint64_t seed = 1;

	sample.chain_at[0] = (uint64_t)(is_user ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL);
	memcpy(sample.chain_at + 1, chain, count * sizeof(*chain));
	build_sample(build, 0, is_user ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL, &sample, &seed);
}

/* 60 % in leaf(), of which outer() has called 50 directly and 10 by work(); 40 % in a library */
static void write_recording(const char *comm, const char *library)
{
	static const uint64_t leaf[] = { LEAF, WORK, OUTER }, at_once[] = { LEAF, OUTER }, user[] = { 0x10010 };
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1 };
	struct build_trailer none = { .pid = 70, .tid = 70 };
	struct build build;

	build_begin(&build, &attr, 1);
	build_comm(&build, 70, 70, comm, 0, &none);
	build_comm(&build, 80, 80, "plain", 0, &none);
	build_mmap(&build, 80, 0x10000, 0x1000, 0, library, NULL, &none);
	add(&build, 70, 500, false, 2, at_once);
	add(&build, 80, 400, true, 1, user);
	add(&build, 70, 100, false, 3, leaf);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	build_free(&build);
}

static void show(const char *comm, const char *library, unsigned short rows, unsigned short columns)
{
	enter_directory();
	write_recording(comm, library);
	screen_enter(rows, columns);
	options = (struct report_options){
		.input = { .path = "perf.data", .root = "", .kallsyms = "kallsyms", .is_quiet = true },
		.children = 0, .graph.limit = 0.5, .graph.order = GRAPH_CALLER, .group = -1,
	};
	cr_assert_eq(report_open(&report, &options), 0);
	cr_assert_eq(report_read(&report), 0);
	b = (struct browser){ .report = &report, .options = &options, .before = options };
	b.terminal = terminal_open();
	cr_assert_not_null(b.terminal);
	cr_assert(browse_find_rows(&b));
	browse_draw(&b);
}

static void hide_all(void)
{
	terminal_close(b.terminal);
	browse_free(&b);
	report_close(&report);
	leave_directory();
}

static void keys(const char *typed)
{
	for (; *typed; typed++)
		cr_assert(take_key(&b, *typed), "%c", *typed);
	browse_draw(&b);
}

/* Perf's way would be that the name of the function is not seen at all. */
Test(report_screen, long_names_of_programs_leave_room_for_the_function)
{
	int dso, symbol;

	show("a-command-of-15", "/" LONG_LIBRARY, 24, 80);
	dso = screen_find(1, "Shared object");
	symbol = screen_find(1, "Symbol");
	screen_has(1, 0, "  Overhead  Command");
	screen_has(2, 0, "    60.00%  a-command-of-15  [kernel.kallsyms]");
	screen_has(2, symbol, "[k] leaf");
	screen_has(3, 0, "    40.00%  plain            a-library-whose-name");
	screen_has(3, symbol, "[.] [unknown]");
	/* There is no blank that it could have had. */
	cr_assert_eq(symbol + (int)strlen("[.] [unknown]"), 80);
	cr_assert_eq(strlen(screen_line(3, dso)), 80 - (size_t)dso);
	hide_all();
}

Test(report_screen, another_size_has_other_columns)
{
	show("one", "/" LONG_LIBRARY, 24, 80);
	screen_size(60, 200);
	cr_assert(terminal_resize(b.terminal));
	browse_make_lines(&b);
	browse_draw(&b);
	screen_has(3, screen_find(1, "Shared object"), LONG_LIBRARY "  [.] [unknown]");
	screen_has(59, 0, "Enter: callers, ");
	hide_all();
}

Test(report_screen, wide_characters_do_not_move_what_is_behind)
{
	int dso, symbol;

	show("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", "/e\xcc\x81t\xc3\xa9.so", 24, 80);
	dso = screen_find(1, "Shared object");
	symbol = screen_find(1, "Symbol");
	screen_has(2, dso, "[kernel.kallsyms]  [k] leaf");
	screen_has(2, symbol, "[k] leaf");
	screen_has(3, symbol, "[.] [unknown]");
	hide_all();
}

Test(report_screen, small_terminals_show_what_there_is_room_for)
{
	show("one", "/lib.so", 10, 40);
	screen_has(2, 0, "    60.00%  one     [kerne  [k] leaf");
	screen_has(9, 0, "h: help, q: quit");
	keys("f");
	screen_has(9, 0, "q: back");
	keys("qh");
	screen_has(9, 0, "q: back");
	hide_all();
}

/* No size is too small for any key. */
Test(report_screen, all_keys_on_terminals_of_any_size)
{
	static const unsigned short sizes[][2] = { { 1, 1 }, { 2, 3 }, { 3, 200 }, { 24, 2 } };

	show("one", "/lib.so", 24, 80);
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		screen_size(sizes[i][0], sizes[i][1]);
		cr_assert(terminal_resize(b.terminal));
		keys("\r+jjkj C<>/leaf\rh q?H\033fjjqf\rjj\r\177\033SE\t<KK/abc\x15\033 ");
		keys("\r");
	}
	hide_all();
}

Test(report_screen, the_cursor_is_where_something_is_typed)
{
	show("one", "/lib.so", 24, 80);
	cr_assert(!screen_shows_cursor());
	keys("/le");
	cr_assert(screen_shows_cursor());
	cr_assert_eq(getcury(stdscr), 23);
	cr_assert_eq(getcurx(stdscr), (int)strlen("In the name of the function: le"));
	screen_has(23, 0, "In the name of the function: le");
	keys("\033");
	cr_assert(!screen_shows_cursor());
	hide_all();
}

Test(report_screen, the_end_of_what_is_typed_is_in_sight)
{
	show("one", "/lib.so", 10, 40);
	keys("/a_long_name_of_a_function");
	cr_assert_eq(getcurx(stdscr), 39);
	screen_has(9, 0, "the function: a_long_name_of_a_function");
	hide_all();
}

Test(report_screen, code_begins_with_its_hottest_instruction)
{
	char text[8192] = "", line[64];

	show("one", "/lib.so", 24, 80);
	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof(line), "   %5.2f :  %x:  nop\n", i == 60 ? 70.5 : i == 61 ? 2.5 : 0.0, i);
		strcat(text, line);
	}
	browse_show_page(&b, "The code of leaf", text);
	browse_show_hottest(&b);
	browse_draw(&b);
	screen_has(12, 0, "   70.50 :  3c:");
	cr_assert_eq(mvinch(12, 4) & A_COLOR, terminal_colour_of(70));
	cr_assert_eq(mvinch(13, 4) & A_COLOR, terminal_colour_of(2));
	cr_assert_eq(mvinch(14, 4) & A_COLOR, 0);
	keys(" H");
	screen_has(12, 0, "   70.50 :  3c:");
	hide_all();
}

Test(report_screen, no_colour_where_none_is_wanted)
{
	show("one", "/lib.so", 24, 80);
	cr_assert_neq(terminal_colour_of(50), A_NORMAL);
	terminal_close(b.terminal);
	setenv("NO_COLOR", "1", 1);
	b.terminal = terminal_open();
	cr_assert_not_null(b.terminal);
	cr_assert_eq(terminal_colour_of(50), A_NORMAL);
	keys("f");
	screen_has(2, 0, "|all");
	hide_all();
}

/* leaf() has 60 %, whoever called it; the widest is on the left. */
Test(report_screen, flames)
{
	show("one", "/lib.so", 24, 100);
	keys("f");
	screen_has(0, 0, "cycles: 3 samples, 100.00% shown: all");
	screen_has(1, 0, "100.00%  self   0.00%  all");
	screen_has(2, 0, "all");
	screen_has(3, 0, "outer");
	screen_has(3, 60, "[lib.so]");
	screen_has(4, 0, "leaf");
	screen_has(4, 50, "work");
	screen_has(5, 50, "leaf");
	screen_has(6, 0, "");
	keys("jj");
	screen_has(1, 0, " 50.00%  self  50.00%  leaf");
	cr_assert_neq(mvinch(4, 49) & A_REVERSE, 0);
	cr_assert_eq(mvinch(4, 50) & A_REVERSE, 0);
	hide_all();
}

Test(report_screen, flames_of_one_function)
{
	show("one", "/lib.so", 24, 100);
	keys("fj\r");
	screen_has(0, 0, "cycles: 3 samples, 60.00% shown: outer");
	screen_has(2, 0, "outer");
	screen_has(3, 0, "leaf");
	screen_has(3, 83, "work");
	keys("\177");
	screen_has(0, 0, "cycles: 3 samples, 100.00% shown: all");
	screen_has(1, 0, " 60.00%  self   0.00%  outer");
	keys("\177q");
	screen_has(1, 0, "  Overhead");
	hide_all();
}

#include "../../tools/terminal.c"
#endif
