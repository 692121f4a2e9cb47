// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lines of a report on a terminal, and how they are drawn: those of the text, below a row its
 * call graph if that is open, or those of a page in their place.
 */
#ifdef HAVE_NCURSES
#define _GNU_SOURCE
#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "browse.h"

/* Nobody looks at more. */
#define ROWS_MAX 100000

/* -------------------------------------------------------------------- lines */

static bool add_line(struct lines *lines, const char *text, size_t length, size_t row, bool is_row)
{
	if (lines->count == lines->room) {
		size_t room = lines->room ? lines->room * 2 : 256;
		struct line *list = reallocarray(lines->list, room, sizeof(*list));

		if (!list)
			return false;
		lines->list = list;
		lines->room = room;
	}
	lines->list[lines->count] = (struct line){ strndup(text, length), row, is_row };
	return lines->list[lines->count].text && ++lines->count;
}

static void drop_lines(struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->list[i].text);
	free(lines->list);
	*lines = (struct lines){ 0 };
}

/* Each line of a text; without memory as many as there is some for. */
static void add_text(struct lines *lines, const char *text, size_t row, bool with_empty)
{
	while (text && *text) {
		size_t length = strcspn(text, "\n");

		if ((length || with_empty) && !add_line(lines, text, length, row, false))
			return;
		text += length + (text[length] == '\n');
	}
}

const struct report_event *browse_event(const struct browser *b)
{
	return &b->report->events[b->event];
}

static void add_graph(struct browser *b, struct lines *lines, size_t row)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	report_print_graph(out, b->report, browse_event(b), b->rows[row]);
	if (fclose(out) == 0)
		add_text(lines, text && *text ? text : "            no callers are known", row, false);
	free(text);
}

/* The rows, each with its call graph if that is open */
void browse_make_lines(struct browser *b)
{
	char *text = NULL, *at;
	struct lines lines = { 0 };
	size_t size, length;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	b->options->line_width = (size_t)COLS;
	report_print_rows(out, b->report, browse_event(b), ROWS_MAX, false);
	if (fclose(out) == 0) {
		at = text;
		length = strcspn(at, "\n");
		free(b->heading);
		b->heading = strndup(at, length);
		if (b->heading && *b->heading == '#')
			*b->heading = ' ';
		at += length;
		at += strspn(at, "\n#");
		for (size_t n = 0; *at && n < b->row_count; n++) {
			length = strcspn(at, "\n");
			if (!add_line(&lines, at, length, n, true))
				break;
			if (b->open[n])
				add_graph(b, &lines, n);
			at += length + (at[length] == '\n');
		}
	}
	free(text);
	drop_lines(&b->table.lines);
	b->table.lines = lines;
}

/* Of an event that is shown for the first time, or was read again */
bool browse_find_rows(struct browser *b)
{
	const struct report_event *event = browse_event(b);

	free(b->rows);
	free(b->open);
	b->row_count = 0;
	b->rows = calloc(event->row_count + 1, sizeof(struct report_row *));
	b->open = calloc(event->row_count + 1, sizeof(*b->open));
	if (!b->rows || !b->open)
		return false;
	for (size_t i = 0; i < event->row_count && b->row_count < ROWS_MAX; i++)
		if (report_row_is_shown(b->report, event, event->rows[i]))
			b->rows[b->row_count++] = event->rows[i];
	b->table.cursor = 0;
	b->table.first = 0;
	browse_make_lines(b);
	return true;
}

/* The row that the cursor is on, or in the call graph of; NULL: there is none. */
const struct report_row *browse_row_here(const struct browser *b)
{
	const struct view *v = &b->table;

	return v->cursor < v->lines.count ? b->rows[v->lines.list[v->cursor].row] : NULL;
}

/* --------------------------------------------------------------------- draw */

/* How many lines there is room for */
size_t browse_room(void)
{
	int lines = LINES - BROWSE_ROWS_AT - 1;

	return lines > 0 ? (size_t)lines : 1;
}

static void put_from(int y, const char *text, size_t column)
{
	size_t length = strlen(text), skip = terminal_fit(text, length, column);

	terminal_put_line(y, text + skip, length - skip);
}

static void draw_lines(const struct browser *b, const struct view *v)
{
	for (size_t i = v->first; i < v->lines.count && i - v->first < browse_room(); i++) {
		const struct line *line = &v->lines.list[i];
		bool here = v == &b->table && i == v->cursor;
		int y = BROWSE_ROWS_AT + (int)(i - v->first);

		attrset(line->is_row || v == &b->page ? terminal_colour_of(strtod(line->text, NULL)) : A_NORMAL);
		if (here) {
			attron(A_REVERSE);
			mvhline(y, 0, ' ' | A_REVERSE, COLS);
		}
		put_from(y, line->text, b->column);
	}
}

static void add_choice(char *text, size_t size, const char *words, const char *what)
{
	size_t length = strlen(text);

	if (what)
		snprintf(text + length, size - length, "; %s%s", words, what);
}

/* "; only libc.so.6; no kernel": what keys have chosen */
static void name_choices(const struct filter *filter, char *text, size_t size)
{
	*text = '\0';
	add_choice(text, size, "only ", filter->comm);
	add_choice(text, size, "only ", filter->dso_row);
	add_choice(text, size, "only functions with ", filter->symbol_part);
	add_choice(text, size, "", filter->hide_kernel ? "no kernel" : NULL);
	add_choice(text, size, "", filter->hide_user ? "no user space" : NULL);
}

static void draw_head(const struct browser *b, bool is_page)
{
	const struct report_event *event = browse_event(b);
	char line[600], choices[250];

	name_choices(&b->options->filter, choices, sizeof(choices));
	if (is_page)
		snprintf(line, sizeof(line), "%s", b->title);
	else
		snprintf(line, sizeof(line), "%.80s: %" PRIu64 " samples, %" PRIu64 " events%s; %s",
			 event->name, event->samples, event->period, choices, b->report->samples->path);
	attrset(A_REVERSE);
	mvhline(0, 0, ' ' | A_REVERSE, COLS);
	terminal_put_line(0, line, strlen(line));
	attrset(A_BOLD);
	if (!is_page && b->heading)
		put_from(1, b->heading, b->column);
}

/* What keys do, where nothing else is to be told */
static const char *keys_for(const struct browser *b)
{
	static const char rows[] = "Enter: callers, a: code, f: flames, /: find, h: help, q: quit";
	static const char flames[] = "arrows: move, Enter: zoom, Backspace: out, q: back";

	if (b->page.lines.count)
		return "q: back";
	if (b->flames.tree)
		return COLS < (int)sizeof(flames) ? "q: back" : flames;
	return COLS < (int)sizeof(rows) ? "h: help, q: quit" : rows;
}

void browse_draw(struct browser *b)
{
	bool is_page = b->page.lines.count > 0;
	char line[200];

	erase();
	if (b->flames.tree) {
		browse_flames_draw(b);
	} else {
		draw_head(b, is_page);
		draw_lines(b, is_page ? &b->page : &b->table);
	}
	if (b->asks)
		snprintf(line, sizeof(line), "In the name of the function: %s", b->typed);
	else
		snprintf(line, sizeof(line), "%s", *b->message ? b->message : keys_for(b));
	terminal_put_last(line, b->asks);
	refresh();
}

/* -------------------------------------------------------------------- pages */

void browse_show_page(struct browser *b, const char *title, const char *text)
{
	drop_lines(&b->page.lines);
	b->page.cursor = 0;
	b->page.first = 0;
	snprintf(b->title, sizeof(b->title), "%s", title);
	add_text(&b->page.lines, text, 0, true);
}

/* Begin with the instruction that has most, of a page that is code */
void browse_show_hottest(struct browser *b)
{
	const struct lines *lines = &b->page.lines;
	size_t hottest = 0, before = browse_room() / 2;
	double most = 0;

	for (size_t i = 0; i < lines->count; i++) {
		double share = strtod(lines->list[i].text, NULL);

		if (share <= most)
			continue;
		most = share;
		hottest = i;
	}
	b->page.first = hottest > before ? hottest - before : 0;
}

void browse_drop_page(struct browser *b)
{
	drop_lines(&b->page.lines);
}

/* What a browser has, but for its report and the terminal */
void browse_free(struct browser *b)
{
	drop_lines(&b->table.lines);
	drop_lines(&b->page.lines);
	browse_flames_close(b);
	free(b->heading);
	free(b->rows);
	free(b->open);
	for (size_t i = 0; i < ARRAY_LEN(b->chosen); i++)
		free(b->chosen[i]);
}
#endif
