/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A report on a terminal: what its parts share. browse.c understands keys, browse_lines.c makes
 * lines of rows, call graphs and pages, and draws them; browse_flames.c has the flame view.
 */
#ifndef PMUCTL_TOOL_BROWSE_H
#define PMUCTL_TOOL_BROWSE_H

#include "report.h"
#include "terminal.h"

/* The line about the event, and the headings; below them rows, and the last line */
#define BROWSE_ROWS_AT 2

/**
 * struct line - one of those that can be scrolled through
 * @text: owned.
 * @row: number of its row, in the order of the text; of a page 0.
 * @is_row: it is the row itself, not its call graph.
 */
struct line {
	char *text;
	size_t row;
	bool is_row;
};

struct lines {
	struct line *list;
	size_t count;
	size_t room;
};

/**
 * struct view - lines, and where one is in them
 * @lines: all.
 * @cursor: the line that keys are about.
 * @first: the first that is on the screen.
 */
struct view {
	struct lines lines;
	size_t cursor;
	size_t first;
};

/**
 * struct flame_view - a flame view, and where one is in it
 * @tree: of its nodes; NULL: it is not shown.
 * @whole: what has all.
 * @root: what is as wide as the screen.
 * @here: what the cursor is on.
 * @first: the first row of frames that is on the screen.
 */
struct flame_view {
	struct tree *tree;
	const struct tree_node *whole;
	const struct tree_node *root;
	const struct tree_node *here;
	size_t first;
};

/**
 * struct browser - what is on the screen
 * @report: what is shown.
 * @options: of it; keys change them.
 * @before: as they were at first.
 * @terminal: taken over.
 * @event: number of the event that is shown.
 * @heading: of its columns.
 * @rows: its rows, as far as they are shown.
 * @row_count: how many.
 * @open: whose call graph is shown, by the number of the row.
 * @table: the view of these.
 * @page: that of another text in its place, as long as it has lines.
 * @title: of that.
 * @flames: the flame view.
 * @asks: a part of a name is typed.
 * @typed: as far as that is.
 * @chosen: what filters point to: file, command, part of a name.
 * @column: of the lines, the first that is on the screen.
 * @message: what a key did, for the last line.
 */
struct browser {
	struct report *report;
	struct report_options *options;
	struct report_options before;
	struct terminal *terminal;
	size_t event;
	char *heading;
	const struct report_row **rows;
	size_t row_count;
	bool *open;
	struct view table;
	struct view page;
	char title[200];
	struct flame_view flames;
	bool asks;
	char typed[64];
	char *chosen[3];
	size_t column;
	char message[160];
};

/* browse_lines.c */
void browse_make_lines(struct browser *b);
bool browse_find_rows(struct browser *b);
const struct report_row *browse_row_here(const struct browser *b);
const struct report_event *browse_event(const struct browser *b);
size_t browse_room(void);
void browse_draw(struct browser *b);
void browse_show_page(struct browser *b, const char *title, const char *text);
void browse_show_hottest(struct browser *b);
void browse_drop_page(struct browser *b);
void browse_free(struct browser *b);

/* browse_flames.c */
void browse_flames_open(struct browser *b);
void browse_flames_draw(struct browser *b);
void browse_flames_key(struct browser *b, int key);
void browse_flames_close(struct browser *b);

#endif /* PMUCTL_TOOL_BROWSE_H */
