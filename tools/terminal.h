/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A screen on the terminal, drawn by ncurses: what commands that have one share.
 */
#ifndef PMUCTL_TOOL_TERMINAL_H
#define PMUCTL_TOOL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

struct terminal;

/* Frames side by side, which are to be told apart */
enum terminal_frame {
	FRAME_USER,
	FRAME_KERNEL,
	FRAME_HERE,	/* that the cursor is on */
};

/* terminal_text.c */
size_t terminal_character(const char *text, size_t length);
size_t terminal_columns(const char *text, size_t length);
size_t terminal_fit(const char *line, size_t length, size_t width);

#ifdef HAVE_NCURSES
/* terminal.c */
struct terminal *terminal_open(void);
int terminal_signals(const struct terminal *terminal);
bool terminal_resize(struct terminal *terminal);
void terminal_suspend(void);
void terminal_put_line(int y, const char *text, size_t length);
void terminal_put_last(const char *text, bool asks);
unsigned int terminal_colour_of(double share);
unsigned int terminal_frame(enum terminal_frame frame, bool odd);
bool terminal_has_colours(void);
void terminal_close(struct terminal *terminal);
#endif

#endif /* PMUCTL_TOOL_TERMINAL_H */
