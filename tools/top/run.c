// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of things in "pmuctl top": start the command, open events and rings, then read and
 * show them until the end.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "screen.h"

/**
 * struct session - what is done for one command line
 * @options: the command line.
 * @signals: from signals_block().
 * @child: the command, its pid is 0 if there is none.
 * @live: what is shown.
 * @rings: tells when there is something in them.
 * @refreshes: how often it was shown.
 * @timer: of refreshes.
 * @screen: on a terminal; NULL: it is printed.
 */
struct session {
	struct top_options *options;
	int signals;
	struct child child;
	struct top_live live;
	struct rings_watch rings;
	uint64_t refreshes;
	int timer;
	struct screen *screen;
};

/* ------------------------------------------------------------------- events */

/* Returns a run_next. */
static int rings_gone(struct session *s)
{
	rings_watch_forget(&s->rings);
	/* A command may have ended with its first thread, and others of it be there. */
	return s->rings.alive || s->child.pid ? RUN_GO_ON : RUN_END;
}

static int rings_ready(void *arg)
{
	struct session *s = arg;
	int ret = live_read(&s->live);

	return ret < 0 ? ret : rings_gone(s);
}

/* Shows what there is; returns a run_next. */
static int show(struct session *s)
{
	int ret = live_refresh(&s->live);

	if (ret < 0)
		return ret;
	ret = s->screen ? screen_refresh(s->screen) : text_print(&s->live);
	if (ret < 0) {
		say_error("cannot write: %s", strerror(-ret));
		return ret;
	}
	live_decay(&s->live, s->options->zero);
	s->refreshes++;
	return s->refreshes == s->options->iterations ? RUN_END : RUN_GO_ON;
}

static int timer_ready(void *arg)
{
	return show(arg);
}

/* A command has the terminal for itself, and what it prints there must not be wiped. */
static bool is_interactive(const struct session *s)
{
	return !s->options->stdio && !s->child.pid && isatty(STDIN_FILENO) &&
	       isatty(STDOUT_FILENO);
}

static int keys_ready(void *arg)
{
	struct session *s = arg;
	const struct itimerspec timer = {
		.it_interval.tv_sec = (time_t)s->options->delay,
		.it_value.tv_sec = (time_t)s->options->delay,
	};

	switch (screen_keys(s->screen)) {
	case SCREEN_QUIT:
		return RUN_END;
	case SCREEN_DELAY:
		timerfd_settime(s->timer, 0, &timer, NULL);
		break;
	case SCREEN_NOTHING:
		break;
	}
	return RUN_GO_ON;
}

static int size_ready(void *arg)
{
	struct session *s = arg;

	screen_resize(s->screen);
	return RUN_GO_ON;
}

/* -------------------------------------------------------------------- order */

static int wait_for_end(struct session *s, struct run_end *end)
{
	const struct run_source sources[] = {
		{ .fd = s->rings.fd, .call = rings_ready, .arg = s },
		{ .fd = s->timer, .is_timer = true, .call = timer_ready, .arg = s },
		{ .fd = s->screen ? STDIN_FILENO : -1, .call = keys_ready, .arg = s },
		{ .fd = s->screen ? screen_signals(s->screen) : -1, .call = size_ready, .arg = s },
	};
	/* It never tells anything: the rings say when all targets are gone. */
	int never = eventfd(0, EFD_CLOEXEC), ret;

	if (never < 0)
		ret = -errno;
	else
		ret = run_wait(s->signals, s->child.pid, &never, 1, sources,
			       ARRAY_LEN(sources), end);
	if (never >= 0)
		close(never);
	return ret;
}

/*
 * What came after the last refresh is shown too, unless it was not to be that much, or the
 * screen is to go.
 */
static int show_rest(struct session *s)
{
	if (s->screen || (s->refreshes && s->refreshes == s->options->iterations))
		return 0;
	return show(s);
}

/* Returns the exit status. */
static int top_all(struct session *s)
{
	struct run_end end = { .status = STATUS_FAILED };
	int ret = live_begin(&s->live);

	if (ret == 0)
		ret = rings_watch_open(&s->rings, s->live.recording);
	if (ret == 0) {
		s->timer = timer_open((unsigned int)s->options->delay * 1000, true);
		ret = s->timer < 0 ? s->timer : 0;
	}
	if (ret < 0) {
		if (s->child.pid)
			child_cancel(&s->child);
		return STATUS_FAILED;
	}
	if (s->child.pid)
		ret = child_run(&s->child, s->options->record.measure.argv[0]);
	if (ret)
		return ret;
	if (is_interactive(s))
		s->screen = screen_open(&s->live);
	/* There is room for them on request only. */
	s->options->graphs = !s->screen;
	ret = wait_for_end(s, &end);
	recording_disable(s->live.recording);
	if (ret == 0 && !end.interrupted)
		ret = show_rest(s);
	/* Ctrl-C is how one leaves it. */
	if (!s->child.pid && end.interrupted == SIGINT)
		end.status = STATUS_OK;
	return ret < 0 && !end.status ? STATUS_FAILED : end.status;
}

/**
 * top_run() - do what the command line asks for
 * @dev: the driver.
 * @options: the command line.
 *
 * Return: the exit status.
 */
int top_run(struct pmuctl_device *dev, struct top_options *options)
{
	struct session s = { .options = options, .rings.fd = -1, .timer = -1, .live.file = -1 };
	const struct measure *measure = &options->record.measure;
	int status = STATUS_FAILED, ret = 0;
	sigset_t mask;

	s.signals = signals_block(&mask);
	if (s.signals < 0) {
		say_error("cannot handle signals: %s", strerror(-s.signals));
		return STATUS_FAILED;
	}
	if (measure->argv)
		ret = child_start(&s.child, measure->argv, &mask);
	if (ret < 0) {
		say_error("cannot start '%s': %s", measure->argv[0], strerror(-ret));
		s.child.pid = 0;
	} else if (live_open(&s.live, dev, options, s.child.pid) == 0) {
		status = top_all(&s);
	} else if (s.child.pid) {
		child_cancel(&s.child);
	}
	screen_close(s.screen);
	if (s.rings.fd >= 0)
		close(s.rings.fd);
	if (s.timer >= 0)
		close(s.timer);
	live_close(&s.live);
	close(s.signals);
	return status;
}
