/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl top" on a terminal: a screen that is drawn anew with each refresh, and keys.
 */
#ifndef PMUCTL_TOOL_SCREEN_H
#define PMUCTL_TOOL_SCREEN_H

#include "top.h"

struct screen;

/* What a key asks the caller for */
enum screen_wish {
	SCREEN_NOTHING,
	SCREEN_DELAY,	/* the time between refreshes is another one */
	SCREEN_QUIT,
};

#ifdef HAVE_NCURSES
struct screen *screen_open(struct top_live *live);
int screen_signals(const struct screen *screen);
void screen_resize(struct screen *screen);
int screen_refresh(struct screen *screen);
enum screen_wish screen_keys(struct screen *screen);
void screen_close(struct screen *screen);
#else
static inline struct screen *screen_open(struct top_live *live)
{
	(void)live;
	say_error("this pmuctl was built without ncurses, which draws the screen: as with --stdio, then");
	return NULL;
}

static inline int screen_signals(const struct screen *screen)
{
	(void)screen;
	return -1;
}

static inline void screen_resize(struct screen *screen)
{
	(void)screen;
}

static inline int screen_refresh(struct screen *screen)
{
	(void)screen;
	return 0;
}

static inline enum screen_wish screen_keys(struct screen *screen)
{
	(void)screen;
	return SCREEN_NOTHING;
}

static inline void screen_close(struct screen *screen)
{
	(void)screen;
}
#endif

#endif /* PMUCTL_TOOL_SCREEN_H */
