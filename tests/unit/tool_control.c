// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that come to "pmuctl stat --control", in pieces and in heaps, and its answers.
 */
/* sources: tools/stat/control.c tools/say.c lib/src/explain.c lib/src/names.c */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/stat/stat.h"

/* In place of that of stat/run.c, which wants commands */
void pipe_ignore(void)
{
	signal(SIGPIPE, SIG_IGN);
}

/* What the counters were told: + and - */
static char done[64];

static int note(void *arg)
{
	strcat(done, arg);
	return 0;
}

static int enable(void *arg)
{
	cr_assert_null(arg);
	return note("+");
}

static int disable(void *arg)
{
	(void)arg;
	return note("-");
}

static int snapshot(void *arg)
{
	(void)arg;
	return note("s");
}

static struct control_calls calls = { .enable = enable, .disable = disable };

/* Ends of the two pipes, ours and those of the control */
static int commands[2], answers[2];

static void open_pipes(struct control *control)
{
	char text[64];

	cr_assert_eq(pipe(commands), 0);
	cr_assert_eq(pipe2(answers, O_NONBLOCK), 0);
	snprintf(text, sizeof(text), "fd:%d,%d", commands[0], answers[1]);
	cr_assert_eq(control_open(control, text), 0);
}

static int send_text(struct control *control, const char *text)
{
	cr_assert_eq(write(commands[1], text, strlen(text)), (ssize_t)strlen(text));
	return control_read(control, &calls);
}

static void check_answers(const char *expected)
{
	char got[256];
	ssize_t length = read(answers[0], got, sizeof(got) - 1);

	got[length > 0 ? length : 0] = '\0';
	cr_assert_str_eq(got, expected);
}

Test(tool_control, commands_are_obeyed_and_answered)
{
	struct control control;

	open_pipes(&control);
	cr_assert_eq(send_text(&control, "ping\n"), RUN_GO_ON);
	check_answers("ack\n");
	cr_assert_eq(send_text(&control, "enable\ndisable\nena"), RUN_GO_ON);
	check_answers("ack\nack\n");
	cr_assert_str_eq(done, "+-");
	cr_assert_eq(send_text(&control, "ble\n"), RUN_GO_ON);
	check_answers("ack\n");
	cr_assert_str_eq(done, "+-+");
	cr_assert_eq(send_text(&control, "enable it\n\n"), RUN_GO_ON);
	check_answers("");
	cr_assert_eq(send_text(&control, "stop\nenable\n"), RUN_END);
	check_answers("ack\n");
	cr_assert_str_eq(done, "+-+");
	control_close(&control);
}

/* Of those that trace; to others it is not known. */
Test(tool_control, snapshots_of_traces)
{
	struct control control;

	open_pipes(&control);
	cr_assert_eq(send_text(&control, "snapshot\n"), RUN_GO_ON);
	check_answers("");
	calls.snapshot = snapshot;
	cr_assert_eq(send_text(&control, "snapshot\nenable\n"), RUN_GO_ON);
	check_answers("ack\nack\n");
	cr_assert_str_eq(done, "s+");
	control_close(&control);
}

Test(tool_control, nothing_is_there_and_then_the_end)
{
	struct control control;

	open_pipes(&control);
	cr_assert_eq(control_read(&control, &calls), RUN_GO_ON);
	close(commands[1]);
	cr_assert_eq(control_read(&control, &calls), RUN_NO_MORE);
}

Test(tool_control, a_line_without_an_end_is_left_out)
{
	struct control control;
	char noise[sizeof(control.line)];

	open_pipes(&control);
	memset(noise, 'x', sizeof(noise));
	cr_assert_eq(write(commands[1], noise, sizeof(noise)), (ssize_t)sizeof(noise));
	cr_assert_eq(control_read(&control, &calls), RUN_GO_ON);
	/* It is the end of that line, and no command. */
	cr_assert_eq(send_text(&control, "disable\nenable\n"), RUN_GO_ON);
	cr_assert_str_eq(done, "+");
	check_answers("ack\n");
}

Test(tool_control, fifos_stay_open_without_a_writer)
{
	char dir[] = "/tmp/control-XXXXXX", text[128], path[64];
	struct control control;
	int writer;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/c", dir);
	cr_assert_eq(mkfifo(path, 0600), 0);
	snprintf(text, sizeof(text), "fifo:%s", path);
	cr_assert_eq(control_open(&control, text), 0);
	writer = open(path, O_WRONLY | O_NONBLOCK);
	cr_assert_eq(write(writer, "disable\n", 8), 8);
	close(writer);
	cr_assert_eq(control_read(&control, &calls), RUN_GO_ON);
	cr_assert_eq(control_read(&control, &calls), RUN_GO_ON);
	cr_assert_str_eq(done, "-");
	control_close(&control);
	unlink(path);
	rmdir(dir);
}

Test(tool_control, what_is_no_source_is_refused)
{
	static const char *const wrong[] = {
		"", "7", "fd:", "fd:x", "fd:-1", "fd:0,", "fd:0,x", "fd:0;1", "fd:0,1,2",
		"fd:999", "fd:0,999", "fifo:", "fifo:,x", "fifo:/no/such/fifo", "file:x",
		"fd:99999999999",
	};
	struct control control;

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		cr_expect_lt(control_open(&control, wrong[i]), 0, "'%s'", wrong[i]);
		control_close(&control);
	}
	cr_assert_eq(control_open(&control, NULL), 0);
	cr_assert_eq(control.commands, -1);
}
