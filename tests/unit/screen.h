/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests of screens: a terminal of any size, which ncurses takes over as standard input and
 * output of the test, and what is on it then.
 *
 * It is included before the sources of the screen, which are a part of such a test: keys are handed to
 * functions that nobody else calls. "tools/terminal.c" comes last, as <term.h> takes many a name.
 */
#ifndef PMUCTL_TESTS_UNIT_SCREEN_H
#define PMUCTL_TESTS_UNIT_SCREEN_H

#define _GNU_SOURCE
#include <fcntl.h>
#include <pty.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <criterion/criterion.h>

#if __has_include(<ncurses.h>)
#define HAVE_NCURSES
#include <ncurses.h>

#include "../../tools/terminal.h"

/* The other end of the terminal */
static int screen_end;

/* Changes of the size are told by who makes them. */
int signal_block(int signal)
{
	(void)signal;
	return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

static inline void screen_size(unsigned short rows, unsigned short columns)
{
	const struct winsize size = { .ws_row = rows, .ws_col = columns };

	cr_assert_eq(ioctl(screen_end, TIOCSWINSZ, &size), 0);
}

/* What is written to it is not read: there is room for that of a test. */
static inline void screen_enter(unsigned short rows, unsigned short columns)
{
	int inner;

	setenv("TERM", "screen", 1);
	setenv("LC_ALL", "C.UTF-8", 1);
	unsetenv("NO_COLOR");
	unsetenv("LINES");
	unsetenv("COLUMNS");
	cr_assert_eq(openpty(&screen_end, &inner, NULL, NULL, NULL), 0);
	screen_size(rows, columns);
	cr_assert_geq(dup2(inner, STDIN_FILENO), 0);
	cr_assert_geq(dup2(inner, STDOUT_FILENO), 0);
	close(inner);
}

/* A line of the screen from a column on, up to its last character */
static inline const char *screen_line(int y, int x)
{
	static char text[4096];
	size_t length;

	memset(text, 0, sizeof(text));
	cr_assert_neq(mvinnstr(y, x, text, sizeof(text) - 1), ERR);
	length = strlen(text);
	while (length && text[length - 1] == ' ')
		text[--length] = '\0';
	return text;
}

/* In which column of a line a text begins; the line is ASCII up to there. */
static inline int screen_find(int y, const char *what)
{
	const char *line = screen_line(y, 0), *at = strstr(line, what);

	cr_assert_not_null(at, "'%s' is not in: %s", what, line);
	return (int)(at - line);
}

static inline void screen_has(int y, int x, const char *what)
{
	const char *line = screen_line(y, x);

	cr_assert(!strncmp(line, what, strlen(what)), "line %d has from column %d on '%s', not '%s'", y, x, line, what);
}

static inline bool screen_shows_cursor(void)
{
	int before = curs_set(0);

	curs_set(before);
	return before > 0;
}
#endif

#endif /* PMUCTL_TESTS_UNIT_SCREEN_H */
