// SPDX-License-Identifier: GPL-2.0-only
/*
 * A report on a terminal: its rows to go through, below a row its call graph, the code of a
 * function, and rows chosen anew while one looks at them.
 *
 * The lines are those of the text. What they are of is the report's; another choice of samples
 * or rows reads the recording again.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "browse.h"

/**
 * browse_is_wanted() - is a report to be shown so?
 * @options: of it.
 *
 * Return: whether it is text that nobody has asked for as text, on a terminal.
 */
bool browse_is_wanted(const struct report_options *options)
{
#ifdef HAVE_NCURSES
	return options->format == FORMAT_TEXT && !options->stdio && !options->separator &&
	       !options->sets_widths && !options->branches && !options->hierarchy &&
	       !options->threads && options->about == ABOUT_SHORT &&
	       isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
#else
	(void)options;
	return false;
#endif
}

#ifdef HAVE_NCURSES
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <ncurses.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ttydefaults.h>
#include <sys/wait.h>

/* Columns that < and > go */
#define SIDEWAYS	8

static const char *const sorts[] = {
	"comm,dso,symbol", "dso,symbol", "symbol", "comm", "dso", "pid,comm", "cpu",
};

static const char help[] =
	"Enter, +       callers of this row, or without them\n"
	"a              the code of this function, with the samples of each instruction\n"
	"f              all calls as flames: arrows move, Enter and Backspace zoom\n"
	"d              only this program or library\n"
	"t              only this command\n"
	"/              only functions that have something in their names\n"
	"K              without the kernel, or with it\n"
	"U              without user space, or with it\n"
	"Left, Esc      with all samples again\n"
	"S              sorted by other keys\n"
	"E, Tab         the next event\n"
	"H              in code: the instruction with most samples\n"
	"<, >           to the left, to the right\n"
	"C              no call graphs\n"
	"arrows, j, k, PgUp, PgDn, Home, End   move\n"
	"h, ?           this text\n"
	"q              back, or quit\n"
	"\n"
	"pmuctl report --stdio prints all of it.\n";

/* -------------------------------------------------------------------- pages */

/* What a command of ours prints, errors too; NULL: it could not be started. */
static char *output_of(char *const *argv)
{
	posix_spawn_file_actions_t actions;
	int ends[2], status;
	char *text = NULL, part[4096];
	size_t size;
	FILE *out;
	ssize_t n;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
	status = posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	out = status ? NULL : open_memstream(&text, &size);
	while (out && ((n = read(ends[0], part, sizeof(part))) > 0 || (n < 0 && errno == EINTR)))
		fwrite(part, 1, n > 0 ? (size_t)n : 0, out);
	close(ends[0]);
	if (!status)
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (out && fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

/* The code of a function, as "pmuctl annotate" prints it */
static void show_code(struct browser *b)
{
	const struct samples_options *input = &b->options->input;
	const struct report_row *row = browse_row_here(b);
	char *argv[20] = { "pmuctl", "annotate", "--stdio", "-i", (char *)input->path,
			   "-e", (char *)browse_event(b)->name };
	char title[sizeof(b->title)], *text;
	size_t n = 7;

	if (!row || !row->text[KEY_SYMBOL]) {
		snprintf(b->message, sizeof(b->message), "Rows are not sorted by functions: S sorts them otherwise.");
		return;
	}
	if (*input->root) {
		argv[n++] = "--symfs";
		argv[n++] = (char *)input->root;
	}
	if (input->kallsyms) {
		argv[n++] = "--kallsyms";
		argv[n++] = (char *)input->kallsyms;
	}
	if (input->vmlinux) {
		argv[n++] = "-k";
		argv[n++] = (char *)input->vmlinux;
	}
	/* Another file may have a function of that name; it is a list, with commas between. */
	if (row->text[KEY_DSO] && !strchr(row->text[KEY_DSO], ',')) {
		argv[n++] = "-d";
		argv[n++] = (char *)row->text[KEY_DSO];
	}
	if (b->options->filter.time) {
		argv[n++] = "--time";
		argv[n++] = (char *)b->options->filter.time;
	}
	argv[n++] = "-s";
	argv[n] = (char *)row->text[KEY_SYMBOL];
	text = output_of(argv);
	snprintf(title, sizeof(title), "The code of %s", row->text[KEY_SYMBOL]);
	browse_show_page(b, title, text ? text : "pmuctl annotate cannot be started");
	browse_show_hottest(b);
	free(text);
}

/* --------------------------------------------------------------------- keys */

static bool is_possible(struct browser *b)
{
	if (strcmp(b->options->input.path, "-"))
		return true;
	snprintf(b->message, sizeof(b->message), "What came through a pipe cannot be read again.");
	return false;
}

/* The first event with samples, or else the first that is shown */
static size_t first_event(const struct report *report)
{
	size_t first = report->event_count;

	for (size_t i = 0; i < report->event_count; i++) {
		if (!report->events[i].name)
			continue;
		if (report->events[i].samples)
			return i;
		first = first < i ? first : i;
	}
	return first;
}

/* With other samples, or other rows. False: that was told, and is the end. */
static bool read_again(struct browser *b)
{
	b->report->options = b->options;
	b->options->input.is_quiet = true;
	terminal_suspend();
	report_close(b->report);
	if (report_open(b->report, b->options) < 0 || report_read(b->report) < 0)
		return false;
	/* Another recording may have taken the place of the one that was shown. */
	if (b->event >= b->report->event_count || !b->report->events[b->event].name)
		b->event = first_event(b->report);
	return browse_find_rows(b);
}

/* Keep what a filter points to as long as the report */
static const char *choose(struct browser *b, unsigned int which, const char *text)
{
	free(b->chosen[which]);
	b->chosen[which] = strdup(text);
	return b->chosen[which];
}

/* Only the command of this row, or only its file */
static bool zoom(struct browser *b, enum report_key key, const char **filter, const char *what)
{
	const struct report_row *row = browse_row_here(b);

	if (!row) {
		snprintf(b->message, sizeof(b->message), "There is no row.");
		return true;
	}
	if (!row->text[key]) {
		snprintf(b->message, sizeof(b->message), "Rows are not sorted by %s: S sorts them otherwise.", what);
		return true;
	}
	if (!is_possible(b))
		return true;
	*filter = choose(b, key == KEY_COMM, row->text[key]);
	snprintf(b->message, sizeof(b->message), "Left: all again.");
	return read_again(b);
}

static bool hide(struct browser *b, bool *hides, const bool *other, const char *what)
{
	if (!is_possible(b))
		return true;
	if (!*hides && *other) {
		snprintf(b->message, sizeof(b->message), "Nothing would be left.");
		return true;
	}
	*hides = !*hides;
	snprintf(b->message, sizeof(b->message), "%s is %s.", what, *hides ? "hidden" : "shown");
	return read_again(b);
}

/* What rows no longer have leaves none of them. */
static void forget_filters_of_rows(struct filter *filter, const char *sort)
{
	if (!strstr(sort, "sym"))
		filter->symbol_part = NULL;
	if (!strstr(sort, "dso"))
		filter->dso_row = NULL;
}

static bool unzoom(struct browser *b)
{
	struct filter *now = &b->options->filter;
	const struct filter *then = &b->before.filter;

	if (now->comm == then->comm && now->dso_row == then->dso_row &&
	    now->symbol_part == then->symbol_part && now->hide_kernel == then->hide_kernel &&
	    now->hide_user == then->hide_user)
		return true;
	now->comm = then->comm;
	now->dso_row = then->dso_row;
	now->symbol_part = then->symbol_part;
	now->hide_kernel = then->hide_kernel;
	now->hide_user = then->hide_user;
	if (b->options->sort_text)
		forget_filters_of_rows(now, b->options->sort_text);
	return read_again(b);
}

static bool is_one_of_sorts(const char *sort)
{
	for (size_t i = 0; i < ARRAY_LEN(sorts); i++)
		if (!strcmp(sorts[i], sort))
			return true;
	return false;
}

static bool sort_next(struct browser *b)
{
	struct report_options *options = b->options;
	const char *first = b->before.sort_text;
	size_t next = 0;

	if (!is_possible(b))
		return true;
	while (options->sort_text && next < ARRAY_LEN(sorts) && strcmp(sorts[next], options->sort_text))
		next++;
	/* Behind the last one what was asked for, if that is none of these */
	if (next + 1 == ARRAY_LEN(sorts) && first && !is_one_of_sorts(first))
		options->sort_text = first;
	else
		options->sort_text = sorts[next >= ARRAY_LEN(sorts) ? 0 : (next + 1) % ARRAY_LEN(sorts)];
	options->fields_text = NULL;
	if (!options->filter.symbol_part)
		options->filter.symbol_part = b->before.filter.symbol_part;
	forget_filters_of_rows(&options->filter, options->sort_text);
	snprintf(b->message, sizeof(b->message), "Sorted by %s.", options->sort_text);
	return read_again(b);
}

static bool next_event(struct browser *b)
{
	size_t count = b->report->event_count;

	for (size_t i = 1; i < count; i++) {
		size_t next = (b->event + i) % count;

		if (!b->report->events[next].name)
			continue;
		b->event = next;
		return browse_find_rows(b);
	}
	snprintf(b->message, sizeof(b->message), "The recording has no other event.");
	return true;
}

/* Show or leave out the callers of the row, which the cursor then is on. */
static void toggle(struct browser *b)
{
	struct view *v = &b->table;
	size_t row;

	if (v->cursor >= v->lines.count)
		return;
	if (!browse_event(b)->has_chains) {
		snprintf(b->message, sizeof(b->message), "The recording has no call chains: record with -g.");
		return;
	}
	row = v->lines.list[v->cursor].row;
	b->open[row] = !b->open[row];
	browse_make_lines(b);
	for (v->cursor = 0; v->cursor + 1 < v->lines.count; v->cursor++)
		if (v->lines.list[v->cursor].is_row && v->lines.list[v->cursor].row == row)
			break;
}

/* With the cursor, or without one: it is where the screen begins. */
static void move_to(struct view *v, int key, bool has_cursor)
{
	size_t last = v->lines.count ? v->lines.count - 1 : 0, at = has_cursor ? v->cursor : v->first;

	if (!has_cursor)
		last = v->lines.count > browse_room() ? v->lines.count - browse_room() : 0;
	switch (key) {
	case KEY_UP:
	case 'k':
		at -= at > 0;
		break;
	case KEY_DOWN:
	case 'j':
		at++;
		break;
	case KEY_PPAGE:
		at = at > browse_room() ? at - browse_room() : 0;
		break;
	case KEY_NPAGE:
	case ' ':
		at += browse_room();
		break;
	case KEY_HOME:
		at = 0;
		break;
	case KEY_END:
		at = last;
		break;
	}
	v->cursor = at > last ? last : at;
	if (!has_cursor || v->cursor < v->first)
		v->first = v->cursor;
	else if (v->cursor >= v->first + browse_room())
		v->first = v->cursor - browse_room() + 1;
}

/* Without the last character, which may be several bytes */
static void untype(char *typed)
{
	size_t length = strlen(typed);

	while (length && ((unsigned char)typed[length - 1] & 0xc0) == 0x80)
		length--;
	typed[length - (length > 0)] = '\0';
}

/* A key while a name is typed; false is the end. */
static bool type(struct browser *b, int key)
{
	size_t length = strlen(b->typed);

	if (key == 27) {
		b->asks = false;
	} else if (key == '\n' || key == '\r' || key == KEY_ENTER) {
		b->asks = false;
		b->options->filter.symbol_part = *b->typed ? choose(b, 2, b->typed) :
						 b->before.filter.symbol_part;
		return read_again(b);
	} else if (key == KEY_BACKSPACE || key == 127 || key == '\b') {
		untype(b->typed);
	} else if (key == CTRL('U')) {
		*b->typed = '\0';
	} else if (key >= ' ' && key <= UCHAR_MAX && length + 1 < sizeof(b->typed)) {
		b->typed[length] = (char)key;
		b->typed[length + 1] = '\0';
	}
	return true;
}

/* Those that choose other samples or rows; false is the end. */
static bool choose_key(struct browser *b, int key)
{
	struct filter *filter = &b->options->filter;

	switch (key) {
	case 'd':
		return zoom(b, KEY_DSO, &filter->dso_row, "programs");
	case 't':
		return zoom(b, KEY_COMM, &filter->comm, "commands");
	case 'K':
		return hide(b, &filter->hide_kernel, &filter->hide_user, "The kernel");
	case 'U':
		return hide(b, &filter->hide_user, &filter->hide_kernel, "User space");
	case 'S':
		return sort_next(b);
	case 'E':
	case '\t':
		return next_event(b);
	case KEY_LEFT:
	case 27:
		return unzoom(b);
	}
	move_to(&b->table, key, true);
	return true;
}

static void ask_for_name(struct browser *b)
{
	if (!b->options->is_key[KEY_SYMBOL]) {
		snprintf(b->message, sizeof(b->message), "Rows are not sorted by functions: S sorts them otherwise.");
		return;
	}
	b->asks = is_possible(b);
	*b->typed = '\0';
}

static void scroll_sideways(struct browser *b, bool right)
{
	if (right)
		b->column += SIDEWAYS;
	else
		b->column -= b->column < SIDEWAYS ? b->column : SIDEWAYS;
}

static bool take_key(struct browser *b, int key)
{
	*b->message = '\0';
	if (b->asks)
		return type(b, key);
	if (b->flames.tree) {
		browse_flames_key(b, key);
		return true;
	}
	if (key == '<' || key == '>') {
		scroll_sideways(b, key == '>');
		return true;
	}
	if (b->page.lines.count) {
		if (key == 'q' || key == 27 || key == KEY_LEFT)
			browse_drop_page(b);
		else if (key == 'H')
			browse_show_hottest(b);
		else
			move_to(&b->page, key, false);
		return true;
	}
	switch (key) {
	case 'q':
		return false;
	case '\n':
	case '\r':
	case KEY_ENTER:
	case KEY_RIGHT:
	case '+':
		toggle(b);
		return true;
	case 'C':
		snprintf(b->message, sizeof(b->message), "Without call graphs.");
		memset(b->open, 0, b->row_count * sizeof(*b->open));
		b->table.cursor = 0;
		b->table.first = 0;
		browse_make_lines(b);
		return true;
	case 'a':
		show_code(b);
		return true;
	case 'f':
		browse_flames_open(b);
		return true;
	case '/':
		ask_for_name(b);
		return true;
	case 'h':
	case '?':
		browse_show_page(b, "Keys", help);
		return true;
	}
	return choose_key(b, key);
}

/* Until the end: STATUS_OK if it was asked for */
static int follow_keys(struct browser *b)
{
	struct pollfd ends[] = {
		{ .fd = STDIN_FILENO, .events = POLLIN },
		{ .fd = terminal_signals(b->terminal), .events = POLLIN },
	};

	for (;;) {
		int key;

		move_to(b->page.lines.count ? &b->page : &b->table, ERR, !b->page.lines.count);
		browse_draw(b);
		if (poll(ends, ARRAY_LEN(ends), -1) < 0 && errno != EINTR)
			return STATUS_OK;
		if (ends[1].revents && terminal_resize(b->terminal))
			browse_make_lines(b);
		if (!ends[0].revents)
			continue;
		key = getch();
		if (key == ERR)
			return STATUS_OK; /* the terminal is gone */
		for (; key != ERR; key = getch())
			if (!take_key(b, key))
				return key == 'q' ? STATUS_OK : STATUS_FAILED;
	}
}

/**
 * browse() - show a report on the terminal until it is left
 * @report: read; it may have been read again afterwards.
 * @options: of it.
 *
 * Return: the exit status; STATUS_HELP: it is to be printed instead, which was told.
 */
int browse(struct report *report, struct report_options *options)
{
	struct browser b = {
		.report = report, .options = options, .before = *options,
		.event = first_event(report),
	};
	int status = STATUS_HELP;

	b.terminal = terminal_open();
	if (b.terminal && browse_find_rows(&b))
		status = follow_keys(&b);
	terminal_close(b.terminal);
	options->filter.comm = b.before.filter.comm;
	options->filter.dso_row = b.before.filter.dso_row;
	options->filter.symbol_part = b.before.filter.symbol_part;
	browse_free(&b);
	return status;
}
#else
int browse(struct report *report, struct report_options *options)
{
	(void)report;
	(void)options;
	return STATUS_HELP;
}
#endif
