// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flame view of a report on a terminal: all calls of an event, from the outermost callers
 * down, and the keys to go through them.
 */
#ifdef HAVE_NCURSES
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "browse.h"
#include "frames.h"

static const char *name_of(const struct tree_node *node)
{
	return node->parent ? node->label : "all";
}

static void show_from(struct flame_view *v, const struct tree_node *root)
{
	v->root = root;
	v->here = root;
	v->first = 0;
}

/**
 * browse_flames_open() - show the flame view in place of the rows
 * @b: the browser.
 */
void browse_flames_open(struct browser *b)
{
	const struct report_event *event = browse_event(b);
	struct flame_view *v = &b->flames;

	if (!event->chain_root || !event->chain_root->child) {
		snprintf(b->message, sizeof(b->message), "%s", event->has_chains || !event->samples ?
			 "There are no calls to show." : "The recording has no call chains: record with -g.");
		return;
	}
	v->tree = tree_new();
	v->whole = v->tree ? frames_tree(v->tree, event->chain_root) : NULL;
	show_from(v, v->whole);
	if (v->whole)
		return;
	browse_flames_close(b);
	snprintf(b->message, sizeof(b->message), "%s", pmuctl_strerror(-ENOMEM));
}

static void draw_frame(const struct browser *b, const struct frame *frame, int y, bool odd)
{
	const struct tree_node *node = frame->node;
	const char *name = name_of(node);
	size_t width = frame->to - frame->from, border = terminal_has_colours() ? 0 : 1;
	size_t length = strlen(name);

	attrset(terminal_frame(node == b->flames.here ? FRAME_HERE :
			       node->level == 'k' ? FRAME_KERNEL : FRAME_USER, odd));
	mvprintw(y, (int)frame->from, "%*s", (int)width, "");
	if (border)
		mvaddch(y, (int)frame->from, '|');
	if (width > border)
		mvaddnstr(y, (int)(frame->from + border), name, (int)terminal_fit(name, length, width - border));
}

static void draw_titles(const struct browser *b)
{
	const struct report_event *event = browse_event(b);
	const struct flame_view *v = &b->flames;
	char line[600];

	snprintf(line, sizeof(line), "%.80s: %" PRIu64 " samples, %.2f%% shown: %s", event->name, event->samples,
		 report_percent(v->root->period, event->period), name_of(v->root));
	attrset(A_REVERSE);
	mvhline(0, 0, ' ' | A_REVERSE, COLS);
	terminal_put_line(0, line, strlen(line));
	snprintf(line, sizeof(line), "%6.2f%%  self %6.2f%%  %s",
		 report_percent(v->here->period, event->period),
		 report_percent(tree_own_part(v->here).period, event->period),
		 name_of(v->here));
	attrset(A_BOLD);
	terminal_put_line(1, line, strlen(line));
}

/* The row of the cursor is on the screen, however deep it is. */
static void keep_in_sight(struct flame_view *v, size_t depth)
{
	if (depth < v->first)
		v->first = depth;
	else if (depth >= v->first + browse_room())
		v->first = depth - browse_room() + 1;
}

/**
 * browse_flames_draw() - draw it, but for the last line
 * @b: the browser.
 */
void browse_flames_draw(struct browser *b)
{
	struct flame_view *v = &b->flames;
	struct frames frames = { 0 };
	size_t *counts;

	/* Without memory there are as many as there is some for. */
	frames_find(&frames, v->root, (size_t)COLS);
	keep_in_sight(v, frames_depth(&frames, v->here));
	counts = calloc(frames.depth + 1, sizeof(*counts));
	draw_titles(b);
	for (size_t i = 0; counts && i < frames.count; i++) {
		const struct frame *frame = &frames.list[i];
		bool odd = (counts[frame->depth]++ + frame->depth) % 2;

		if (frame->depth >= v->first && frame->depth - v->first < browse_room())
			draw_frame(b, frame, BROWSE_ROWS_AT + (int)(frame->depth - v->first), odd);
	}
	free(counts);
	frames_free(&frames);
}

static void go(struct flame_view *v, enum frames_way way)
{
	struct frames frames = { 0 };

	frames_find(&frames, v->root, (size_t)COLS);
	if (frames.count)
		v->here = frames_step(&frames, v->here, way);
	frames_free(&frames);
}

/* What was as wide as the screen becomes a frame that the cursor is on. */
static void zoom_out(struct flame_view *v)
{
	const struct tree_node *here = v->root;

	if (!here->parent)
		return;
	show_from(v, here->parent);
	v->here = here;
}

/**
 * browse_flames_key() - do what a key says
 * @b: the browser, which shows flames.
 * @key: it.
 */
void browse_flames_key(struct browser *b, int key)
{
	struct flame_view *v = &b->flames;

	switch (key) {
	case 'q':
	case 'f':
	case 27:
		browse_flames_close(b);
		break;
	case '\n':
	case '\r':
	case KEY_ENTER:
		show_from(v, v->here);
		break;
	case KEY_BACKSPACE:
	case 127:
	case '\b':
		zoom_out(v);
		break;
	case KEY_HOME:
		show_from(v, v->whole);
		break;
	case KEY_UP:
	case 'k':
		go(v, FRAMES_UP);
		break;
	case KEY_DOWN:
	case 'j':
		go(v, FRAMES_DOWN);
		break;
	case KEY_LEFT:
		go(v, FRAMES_LEFT);
		break;
	case KEY_RIGHT:
		go(v, FRAMES_RIGHT);
		break;
	}
}

void browse_flames_close(struct browser *b)
{
	tree_free(b->flames.tree);
	b->flames = (struct flame_view){ 0 };
}
#endif
