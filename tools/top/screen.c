// SPDX-License-Identifier: GPL-2.0-only
/*
 * The screen of "pmuctl top". It shows the text that --stdio prints, of one event, as far as it
 * fits, with all rows to scroll through. What a key changes, the next refresh shows.
 */
#ifdef HAVE_NCURSES
#define _GNU_SOURCE
#include <errno.h>
#include <ncurses.h>
#include <stdlib.h>
#include <string.h>

#include "screen.h"
#include "terminal.h"

/* Nobody scrolls farther. */
#define ROWS_MAX 1000

/* The line about all, that of the event, the headings; below them rows, and the last line */
#define ROWS_AT 3

/**
 * struct screen - the screen
 * @live: what is shown.
 * @terminal: taken over.
 * @head: the line about all.
 * @texts: of each event: its lines, those of '#' alone left out.
 * @event: number of the one that is shown.
 * @first: the first row that is shown.
 * @paused: refreshes are not shown.
 * @has_help: in place of rows it shows the keys.
 * @asks: the key that a number is typed for, or 0.
 * @typed: that number as far as it is typed.
 * @message: what a key did, for the last line.
 */
struct screen {
	struct top_live *live;
	struct terminal *terminal;
	char *head;
	char **texts;
	size_t event;
	size_t first;
	bool paused;
	bool has_help;
	int asks;
	char typed[16];
	char message[80];
};

static const char *const sorts[] = {
	"dso,symbol", "comm,dso,symbol", "symbol", "comm", "dso", "pid,comm", "cpu",
};

static const char help[] =
	"d        seconds from refresh to refresh\n"
	"e        rows, at most; 0: all\n"
	"f        rows with this percentage or more only\n"
	"z        show only what came since the last refresh, or let it decay\n"
	"K        hide the kernel, or show it\n"
	"U        hide user space, or show it\n"
	"E        the next event\n"
	"g        show call graphs below the rows, or hide them; with -g\n"
	"S        sort by other keys\n"
	"p        pause, and go on\n"
	"arrows, PgUp, PgDn, Home, End   scroll\n"
	"h        this text\n"
	"q        quit\n";

/* --------------------------------------------------------------------- draw */

/* How many rows there is room for */
static size_t room(void)
{
	int lines = LINES - ROWS_AT - 1;

	return lines > 0 ? (size_t)lines : 0;
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

/* The lines of the event, and its headings, then rows from the first that is shown on */
static void draw_event(const struct screen *screen, const char *text)
{
	for (size_t n = 0; *text; n++) {
		size_t length = strcspn(text, "\n"), row = n - 2;

		if (n < 2) {
			attrset(n ? A_BOLD : A_NORMAL);
			terminal_put_line((int)n + 1, text, length);
		} else if (screen->has_help) {
			break;
		} else if (row >= screen->first && row - screen->first < room()) {
			attrset(terminal_colour_of(strtod(text, NULL)));
			terminal_put_line(ROWS_AT + (int)(row - screen->first), text, length);
		}
		text += length + (text[length] == '\n');
	}
}

static void draw_help(void)
{
	const char *text = help;

	for (size_t n = 0; *text && n < room(); n++) {
		size_t length = strcspn(text, "\n");

		terminal_put_line(ROWS_AT + (int)n, text, length);
		text += length + (text[length] == '\n');
	}
}

static void draw_last(const struct screen *screen)
{
	static const char *const questions[] = {
		['d'] = "Seconds from refresh to refresh: ", ['e'] = "Rows: ",
		['f'] = "Least percentage: ",
	};
	char line[160];

	if (screen->asks)
		snprintf(line, sizeof(line), "%s%s", questions[screen->asks], screen->typed);
	else
		snprintf(line, sizeof(line), "%s%s", screen->paused ? "Paused. " : "",
			 *screen->message ? screen->message : "h: help, q: quit");
	terminal_put_last(line, screen->asks);
}

static void draw(const struct screen *screen)
{
	const char *text = screen->texts[screen->event];

	erase();
	attrset(A_REVERSE);
	mvhline(0, 0, ' ' | A_REVERSE, COLS);
	terminal_put_line(0, screen->head ? screen->head : "", strcspn(screen->head ? screen->head : "", "\n"));
	draw_event(screen, text ? text : "");
	attrset(A_NORMAL);
	if (screen->has_help)
		draw_help();
	draw_last(screen);
	refresh();
}

/* ------------------------------------------------------------------- texts */

/* Lines of '#' alone are to be read by programs; those of headings are as far to the left as their columns. */
static void drop_marks(char *text)
{
	char *to = text;

	for (bool first = true; *text; first = false) {
		size_t length = strcspn(text, "\n"), skip = first && *text == '#' && length > 1 ? 2 : 0;

		if (!skip && *text == '#' && length > 1)
			*text = ' ';
		length += text[length] == '\n';
		if (strncmp(text, "#\n", 2)) {
			memmove(to, text + skip, length - skip);
			to += length - skip;
		}
		text += length;
	}
	*to = '\0';
}

/* Takes over the text of a stream; NULL, which shows nothing, without memory. */
static char *taken_text(FILE *out, char **text)
{
	if (fclose(out) == 0)
		return *text;
	free(*text);
	return NULL;
}

/**
 * screen_refresh() - show what there is now
 * @screen: the screen, of what was refreshed.
 *
 * Return: 0, -ENOMEM.
 */
int screen_refresh(struct screen *screen)
{
	const struct top_live *live = screen->live;
	size_t length, rows = live->options->entries ? live->options->entries : ROWS_MAX;
	char *text;
	FILE *out;

	if (screen->paused)
		return 0;
	screen->live->options->report.line_width = (size_t)COLS;
	for (size_t i = 0; i <= live->event_count; i++) {
		char **to = i ? &screen->texts[i - 1] : &screen->head;

		text = NULL;
		out = open_memstream(&text, &length);
		if (!out)
			return -ENOMEM;
		if (i)
			text_event(out, live, &live->report.events[i - 1], rows);
		else
			text_head(out, live);
		free(*to);
		*to = taken_text(out, &text);
		if (i && *to)
			drop_marks(*to);
	}
	*screen->message = '\0';
	draw(screen);
	return 0;
}

/**
 * screen_resize() - the terminal has another size now
 * @screen: the screen.
 */
void screen_resize(struct screen *screen)
{
	if (!terminal_resize(screen->terminal))
		return;
	draw(screen);
}

/* --------------------------------------------------------------------- keys */

/* What rows are made of has changed. */
static void begin_anew(struct screen *screen)
{
	columns_set(&screen->live->options->report);
	live_decay(screen->live, true);
	screen->first = 0;
}

static void hide(struct screen *screen, bool *hides, const bool *other, const char *what)
{
	if (!*hides && *other) {
		snprintf(screen->message, sizeof(screen->message), "Nothing would be left.");
		return;
	}
	*hides = !*hides;
	snprintf(screen->message, sizeof(screen->message), "%s is %s from the next refresh on.",
		 what, *hides ? "hidden" : "shown");
	begin_anew(screen);
}

static void sort_next(struct screen *screen)
{
	struct report_options *options = &screen->live->options->report;
	size_t next = 0;

	while (next < ARRAY_LEN(sorts) && strcmp(sorts[next], options->sort_text))
		next++;
	options->sort_text = sorts[(next + 1) % ARRAY_LEN(sorts)];
	snprintf(screen->message, sizeof(screen->message), "Sorted by %s from the next refresh on.",
		 options->sort_text);
	begin_anew(screen);
}

static void show_graphs(struct screen *screen)
{
	struct top_options *options = screen->live->options;

	if (options->report.graph.order == GRAPH_NONE) {
		snprintf(screen->message, sizeof(screen->message),
			 "There are no call chains: start it with -g.");
		return;
	}
	options->graphs = !options->graphs;
	snprintf(screen->message, sizeof(screen->message),
		 "Call graphs are %s from the next refresh on.",
		 options->graphs ? "shown" : "hidden");
}

static void scroll_to(struct screen *screen, int key)
{
	const char *text = screen->texts[screen->event];
	size_t lines = text ? count_lines(text) : 0, rows = lines > 2 ? lines - 2 : 0;
	size_t last = rows > room() ? rows - room() : 0, first = screen->first;

	switch (key) {
	case KEY_UP:
		first -= first > 0;
		break;
	case KEY_DOWN:
		first++;
		break;
	case KEY_PPAGE:
		first = first > room() ? first - room() : 0;
		break;
	case KEY_NPAGE:
		first += room();
		break;
	case KEY_HOME:
		first = 0;
		break;
	case KEY_END:
		first = last;
		break;
	}
	screen->first = first > last ? last : first;
}

/* The number that was typed; what is none, or out of range, changes nothing. */
static enum screen_wish answer(struct screen *screen, int asked)
{
	struct top_options *options = screen->live->options;
	double least = asked == 'd' ? 1 : 0;
	double most = asked == 'd' ? TOP_DELAY_MAX : asked == 'e' ? TOP_ENTRIES_MAX : 100;
	char *end;
	double number = strtod(screen->typed, &end);

	if (end == screen->typed)
		return SCREEN_NOTHING;
	if (*end || !(number >= least && number <= most)) {
		snprintf(screen->message, sizeof(screen->message), "It is from %.0f to %.0f.",
			 least, most);
		return SCREEN_NOTHING;
	}
	if (asked == 'e')
		options->entries = (uint64_t)number;
	else if (asked == 'f')
		options->report.limit = number;
	else
		options->delay = (uint64_t)number;
	return asked == 'd' ? SCREEN_DELAY : SCREEN_NOTHING;
}

/* A key while a number is asked for */
static enum screen_wish type(struct screen *screen, int key)
{
	size_t length = strlen(screen->typed);
	int asked = screen->asks;

	if (key == '\n' || key == KEY_ENTER || key == '\r') {
		screen->asks = 0;
		return answer(screen, asked);
	}
	if (key == 27)
		screen->asks = 0;
	else if ((key == KEY_BACKSPACE || key == 127 || key == '\b') && length)
		screen->typed[length - 1] = '\0';
	else if (((key >= '0' && key <= '9') || key == '.') && length + 1 < sizeof(screen->typed))
		screen->typed[length] = (char)key;
	return SCREEN_NOTHING;
}

static enum screen_wish take_key(struct screen *screen, int key)
{
	struct top_options *options = screen->live->options;
	struct filter *filter = &options->report.filter;

	if (screen->asks)
		return type(screen, key);
	*screen->message = '\0';
	switch (key) {
	case 'q':
		return SCREEN_QUIT;
	case 'd':
	case 'e':
	case 'f':
		screen->asks = key;
		memset(screen->typed, 0, sizeof(screen->typed));
		break;
	case 'z':
		options->zero = !options->zero;
		snprintf(screen->message, sizeof(screen->message), "%s", options->zero ?
			 "Only what came since the last refresh." : "What came before decays.");
		break;
	case 'K':
		hide(screen, &filter->hide_kernel, &filter->hide_user, "The kernel");
		break;
	case 'U':
		hide(screen, &filter->hide_user, &filter->hide_kernel, "User space");
		break;
	case 'E':
		screen->event = (screen->event + 1) % screen->live->event_count;
		screen->first = 0;
		break;
	case 'g':
		show_graphs(screen);
		break;
	case 'S':
		sort_next(screen);
		break;
	case 'p':
		screen->paused = !screen->paused;
		break;
	case 'h':
	case '?':
		screen->has_help = !screen->has_help;
		break;
	default:
		screen->has_help = false;
		scroll_to(screen, key);
	}
	return SCREEN_NOTHING;
}

/**
 * screen_keys() - do what was typed
 * @screen: the screen; its terminal can be read.
 *
 * Return: what is left to the caller; SCREEN_QUIT too if the terminal is gone.
 */
enum screen_wish screen_keys(struct screen *screen)
{
	enum screen_wish wish = SCREEN_NOTHING;
	int key = getch();

	if (key == ERR)
		return SCREEN_QUIT;
	for (; key != ERR && wish != SCREEN_QUIT; key = getch()) {
		enum screen_wish next = take_key(screen, key);

		wish = next == SCREEN_NOTHING ? wish : next;
	}
	draw(screen);
	return wish;
}

/* ---------------------------------------------------------------- beginning */

/**
 * screen_open() - take over the terminal
 * @live: open; what will be shown.
 *
 * Return: to be closed with screen_close(); NULL if it is not to be had, which was told.
 */
struct screen *screen_open(struct top_live *live)
{
	struct screen *screen = calloc(1, sizeof(*screen));

	if (screen) {
		screen->live = live;
		screen->texts = calloc(live->event_count, sizeof(*screen->texts));
	}
	if (!screen || !screen->texts) {
		say_error("%s", pmuctl_strerror(-ENOMEM));
		screen_close(screen);
		return NULL;
	}
	screen->terminal = terminal_open();
	if (!screen->terminal) {
		screen_close(screen);
		return NULL;
	}
	snprintf(screen->message, sizeof(screen->message), "Sampling ...");
	draw(screen);
	return screen;
}

/**
 * screen_signals() - where the terminal tells of another size
 * @screen: the screen.
 *
 * Return: a descriptor; when it can be read, screen_resize() is to be called.
 */
int screen_signals(const struct screen *screen)
{
	return terminal_signals(screen->terminal);
}

/**
 * screen_close() - give the terminal back as it was
 * @screen: the screen or NULL.
 */
void screen_close(struct screen *screen)
{
	if (!screen)
		return;
	terminal_close(screen->terminal);
	for (size_t i = 0; screen->texts && i < screen->live->event_count; i++)
		free(screen->texts[i]);
	free(screen->texts);
	free(screen->head);
	free(screen);
}
#endif
