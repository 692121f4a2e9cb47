// SPDX-License-Identifier: GPL-2.0-only
/*
 * A screen on the terminal: taking it over and giving it back, whatever ends the command; its size,
 * lines and colours. What is on it is the caller's.
 */
#ifdef HAVE_NCURSES
#define _GNU_SOURCE
#include <errno.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "stat/stat.h"
#include "terminal.h"

/* Shares that perf shows in these colours */
#define RED_FROM 5.0
#define GREEN_FROM 0.5

enum { COLOUR_RED = 1, COLOUR_GREEN, COLOUR_FRAMES };

/* Of frames, each kind in two in turn */
static const struct {
	short on, text;
} frame_colours[][2] = {
	[FRAME_USER] = { { COLOR_YELLOW, COLOR_BLACK }, { COLOR_GREEN, COLOR_BLACK } },
	[FRAME_KERNEL] = { { COLOR_CYAN, COLOR_BLACK }, { COLOR_BLUE, COLOR_WHITE } },
};

static bool has_colours;

/**
 * struct terminal - the terminal, taken over
 * @screen: of ncurses.
 * @signals: a signalfd of changes of its size.
 * @is_ours: it was taken over.
 */
struct terminal {
	SCREEN *screen;
	int signals;
	bool is_ours;
};

/* That end us, and that nobody waits for */
static const int ends[] = { SIGBUS, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT };

static struct sigaction before[ARRAY_LEN(ends)];

static void undo_signals(void)
{
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		sigaction(ends[i], &before[i], NULL);
}

/*
 * The terminal is as it was before, whatever ends us. A SIGBUS, of a program that became shorter
 * while its symbols were read, is told by whoever reads programs.
 */
static void give_back(int signal)
{
	undo_signals();
	endwin();
	raise(signal);
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = give_back, .sa_flags = SA_RESETHAND };

	sigfillset(&action.sa_mask); /* another one comes when that is done */
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		sigaction(ends[i], &action, &before[i]);
		/* As after nohup(1) */
		if (before[i].sa_handler == SIG_IGN)
			signal(ends[i], SIG_IGN);
	}
}

/* Without a way to put the cursor somewhere there is no screen, as on the terminal "dumb". */
static bool has_screen(struct terminal *terminal)
{
	terminal->screen = newterm(NULL, stdout, stdin);
	return terminal->screen && cursor_address;
}

/* There are none for who does not want any. */
static void begin_colours(void)
{
	const char *none = getenv("NO_COLOR");

	has_colours = !(none && *none) && has_colors() && start_color() == OK && use_default_colors() == OK;
	if (!has_colours)
		return;
	init_pair(COLOUR_RED, COLOR_RED, -1);
	init_pair(COLOUR_GREEN, COLOR_GREEN, -1);
	for (short i = 0; i < (short)ARRAY_LEN(frame_colours) * 2; i++)
		init_pair((short)(COLOUR_FRAMES + i), frame_colours[i / 2][i % 2].text, frame_colours[i / 2][i % 2].on);
}

/**
 * terminal_open() - take over the terminal
 *
 * Return: to be closed with terminal_close(); NULL if it is not to be had, which was told.
 */
struct terminal *terminal_open(void)
{
	struct terminal *terminal = calloc(1, sizeof(*terminal));

	if (terminal) {
		terminal->signals = signal_block(SIGWINCH);
		setlocale(LC_CTYPE, "");
	}
	if (!terminal || !has_screen(terminal)) {
		if (terminal && terminal->screen)
			endwin();
		say_error("the terminal '%s' is not known here: as with --stdio, then",
			  getenv("TERM") ? getenv("TERM") : "");
		terminal_close(terminal);
		return NULL;
	}
	catch_signals();
	terminal->is_ours = true;
	cbreak();
	noecho();
	nodelay(stdscr, TRUE);
	keypad(stdscr, TRUE);
	curs_set(0);
	set_escdelay(25);
	begin_colours();
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

/**
 * terminal_put_last() - the last line
 * @text: what.
 * @asks: something is typed at its end: that is in sight, and the cursor is behind it.
 */
void terminal_put_last(const char *text, bool asks)
{
	size_t length = strlen(text), size;

	while (asks && length && terminal_columns(text, length) >= (size_t)COLS) {
		size = terminal_character(text, length);
		text += size;
		length -= size;
	}
	attrset(A_NORMAL);
	terminal_put_line(LINES - 1, text, length);
	curs_set(asks);
}

/* The attribute of a line with this share, in percent */
unsigned int terminal_colour_of(double share)
{
	if (!has_colours || share < GREEN_FROM)
		return A_NORMAL;
	return (unsigned int)COLOR_PAIR(share < RED_FROM ? COLOUR_GREEN : COLOUR_RED);
}

bool terminal_has_colours(void)
{
	return has_colours;
}

/* The attribute of a frame; without colours those of all but the cursor's are the same. */
unsigned int terminal_frame(enum terminal_frame frame, bool odd)
{
	if (frame == FRAME_HERE)
		return has_colours ? A_REVERSE | A_BOLD : A_BOLD | A_UNDERLINE;
	return has_colours ? (unsigned int)COLOR_PAIR(COLOUR_FRAMES + 2 * (int)frame + odd) : A_REVERSE;
}

/**
 * terminal_close() - give it back as it was
 * @terminal: open, or NULL.
 */
void terminal_close(struct terminal *terminal)
{
	if (!terminal)
		return;
	/* After terminal_suspend() something may have been told: it is not to be written over. */
	if (terminal->is_ours) {
		if (isendwin())
			reset_shell_mode();
		else
			endwin();
		undo_signals();
	}
	if (terminal->screen)
		delscreen(terminal->screen);
	if (terminal->signals >= 0)
		close(terminal->signals);
	free(terminal);
}
#endif
