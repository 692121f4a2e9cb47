// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tool tells on a terminal while it counts: that something goes on, which run
 * it is, and that no trace of that is left in what it prints in the end.
 */
/* libs: -lutil */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define WIPE "\r\033[K"

static char output[65536];
static size_t output_len;

/* Starts a shell command on a new terminal; returns its other end. */
static int start(const char *command, pid_t *child)
{
	int terminal;

	output_len = 0;
	output[0] = '\0';
	*child = forkpty(&terminal, NULL, NULL, NULL);
	if (*child == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	cr_assert_gt(*child, 0);
	return terminal;
}

/* Takes what comes until @text is there; with NULL until the end. */
static void read_until(int terminal, const char *text)
{
	struct pollfd wait = { .fd = terminal, .events = POLLIN };

	while (!text || !strstr(output, text)) {
		ssize_t got;

		cr_assert_eq(poll(&wait, 1, 60000), 1, "so far: %s", output);
		got = read(terminal, output + output_len,
			   sizeof(output) - output_len - 1);
		if (got <= 0) {
			cr_assert_null(text, "the end comes before '%s': %s", text,
				       output);
			return;
		}
		output_len += (size_t)got;
		output[output_len] = '\0';
	}
}

static int finish(int terminal, pid_t child)
{
	int status;

	read_until(terminal, NULL);
	close(terminal);
	cr_assert_eq(waitpid(child, &status, 0), child);
	return status;
}

static void assert_shown(const char *text)
{
	cr_assert_not_null(strstr(output, text), "'%s' is not in: %s", text, output);
}

Test(tool_terminal, counting_that_lasts_is_told_and_ctrl_c_ends_it)
{
	pid_t child;
	int terminal = start("exec pmuctl stat -e cycles -a", &child);
	int status;

	read_until(terminal, "pmuctl: counting for 1 s, Ctrl-C ends it");
	read_until(terminal, WIPE "pmuctl: counting for 2 s, Ctrl-C ends it");
	cr_assert_eq(write(terminal, "\003", 1), 1);
	status = finish(terminal, child);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 128 + SIGINT);
	assert_shown("ends it^C" WIPE "\r\n Performance counter stats for 'system wide':");
}

Test(tool_terminal, runs_are_told_where_they_take_long)
{
	pid_t child;
	int terminal = start("pmuctl stat -r 3 -e cycles:u sleep 1 >/dev/null", &child);

	cr_assert_eq(finish(terminal, child), 0);
	assert_shown("pmuctl: run 2 of 3" WIPE "pmuctl: run 3 of 3" WIPE
		     "\r\n Performance counter stats");
	cr_assert_null(strstr(output, "run 1 of 3"));
}

Test(tool_terminal, lines_of_the_command_stay_whole)
{
	pid_t child;
	int terminal = start("pmuctl stat -r 3 -e cycles:u sh -c 'sleep 1; echo word'",
			     &child);

	cr_assert_eq(finish(terminal, child), 0);
	assert_shown("word\r\npmuctl: run 2 of 3\r\nword\r\npmuctl: run 3 of 3\r\nword\r\n");
	cr_assert_null(strstr(output, WIPE));
}

Test(tool_terminal, short_runs_and_commands_need_no_telling)
{
	pid_t child;
	int terminal = start("pmuctl stat -r 2 -e cycles:u true", &child);

	cr_assert_eq(finish(terminal, child), 0);
	cr_assert_null(strstr(output, "pmuctl:"), "%s", output);
	terminal = start("pmuctl stat -a -e cycles sleep 2", &child);
	cr_assert_eq(finish(terminal, child), 0);
	cr_assert_null(strstr(output, "pmuctl:"), "%s", output);
}

Test(tool_terminal, intervals_tell_enough_themselves)
{
	pid_t child;
	int terminal = start("exec pmuctl stat -I 500 -e cycles -a", &child);

	read_until(terminal, "     2.");
	cr_assert_eq(write(terminal, "\003", 1), 1);
	cr_assert_eq(WEXITSTATUS(finish(terminal, child)), 128 + SIGINT);
	cr_assert_null(strstr(output, "pmuctl:"), "%s", output);
}

Test(tool_terminal, results_in_a_file_leave_the_terminal_clean)
{
	pid_t child;
	int terminal = start("pmuctl stat -o /tmp/terminal-test -e cycles -a", &child);

	read_until(terminal, "counting for 1 s");
	cr_assert_eq(write(terminal, "\003", 1), 1);
	finish(terminal, child);
	cr_assert_not_null(strstr(output, "ends it^C" WIPE), "%s", output);
	cr_assert_eq(system("grep -q ' cycles' /tmp/terminal-test"), 0);
	cr_assert_neq(system("grep -q counting /tmp/terminal-test"), 0);
	unlink("/tmp/terminal-test");
}
