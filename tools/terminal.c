// SPDX-License-Identifier: GPL-2.0-only
/*
 * A screen on the terminal: taking it over and giving it back, whatever ends the command; its size,
 * lines and colours. What is on it is the caller's.
 */
#define _GNU_SOURCE
#include "stat/stat.h"
#include "terminal.h"

/**
 * terminal_fit() - how much of a line there is room for
 * @line: its text, UTF-8.
 * @length: bytes of it.
 * @width: columns that there are.
 *
 * Return: bytes. Those that continue a character take no room, so that none is cut in two.
 */
size_t terminal_fit(const char *line, size_t length, size_t width)
{
	size_t bytes = 0, columns = 0;

	for (; bytes < length; bytes++) {
		columns += ((unsigned char)line[bytes] & 0xc0) != 0x80;
		if (columns > width)
			break;
	}
	return bytes;
}

#ifdef HAVE_NCURSES
#include <errno.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

/* Shares that perf shows in these colours */
#define RED_FROM 5.0
#define GREEN_FROM 0.5

enum { COLOUR_RED = 1, COLOUR_GREEN };

/**
 * struct terminal - the terminal, taken over
 * @screen: of ncurses.
 * @signals: a signalfd of changes of its size.
 */
struct terminal {
	SCREEN *screen;
	int signals;
};

static struct sigaction bus_before;

/*
 * A program became shorter while its symbols were read, never within ncurses: this is the end,
 * which whoever reads programs tells of.
 */
static void give_back(int signal)
{
	endwin();
	bus_before.sa_handler(signal);
}

/**
 * terminal_open() - take over the terminal
 *
 * Return: to be closed with terminal_close(); NULL if it is not to be had, which was told.
 */
struct terminal *terminal_open(void)
{
	const struct sigaction bus = { .sa_handler = give_back };
	struct terminal *terminal = calloc(1, sizeof(*terminal));

	if (terminal) {
		terminal->signals = signal_block(SIGWINCH);
		setlocale(LC_CTYPE, "");
		terminal->screen = newterm(NULL, stdout, stdin);
	}
	if (!terminal || !terminal->screen) {
		say_error("the terminal '%s' is not known here: as with --stdio, then",
			  getenv("TERM") ? getenv("TERM") : "");
		terminal_close(terminal);
		return NULL;
	}
	sigaction(SIGBUS, &bus, &bus_before);
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(25);
	if (has_colors() && start_color() == OK && use_default_colors() == OK) {
		init_pair(COLOUR_RED, COLOR_RED, -1);
		init_pair(COLOUR_GREEN, COLOR_GREEN, -1);
	}
	return terminal;
}

/**
 * terminal_signals() - where it tells of another size
 * @terminal: open.
 *
 * Return: a descriptor; when it can be read, terminal_resize() is to be called.
 */
int terminal_signals(const struct terminal *terminal)
{
	return terminal->signals;
}

/**
 * terminal_resize() - it has another size now
 * @terminal: open.
 *
 * Return: whether all is to be drawn anew.
 */
bool terminal_resize(struct terminal *terminal)
{
	struct signalfd_siginfo info;
	struct winsize size;

	while (read(terminal->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
		return false;
	resizeterm(size.ws_row, size.ws_col);
	clearok(curscr, TRUE);
	return true;
}

/*
 * Give it back until the next refresh(), so that something can be told as ever. What is typed
 * meanwhile waits until then.
 */
void terminal_suspend(void)
{
	struct termios mode;

	endwin();
	if (tcgetattr(STDIN_FILENO, &mode) < 0)
		return;
	mode.c_lflag &= ~(tcflag_t)(ECHO | ICANON);
	tcsetattr(STDIN_FILENO, TCSANOW, &mode);
}

/**
 * terminal_put_line() - one line, which ends at the right side
 * @y: where.
 * @text: what.
 * @length: its bytes.
 */
void terminal_put_line(int y, const char *text, size_t length)
{
	mvaddnstr(y, 0, text, (int)terminal_fit(text, length, (size_t)COLS));
}

/* The attribute of a line with this share, in percent */
unsigned int terminal_colour_of(double share)
{
	if (!has_colors() || share < GREEN_FROM)
		return A_NORMAL;
	return (unsigned int)COLOR_PAIR(share < RED_FROM ? COLOUR_GREEN : COLOUR_RED);
}

/**
 * terminal_close() - give it back as it was
 * @terminal: open, or NULL.
 */
void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	if (terminal->screen) {
		endwin();
		sigaction(SIGBUS, &bus_before, NULL);
		delscreen(terminal->screen);
	}
	if (terminal->signals >= 0)
		close(terminal->signals);
	free(terminal);
}
#endif
