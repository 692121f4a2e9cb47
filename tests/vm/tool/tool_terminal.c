// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tool tells on a terminal while it counts: that something goes on, which run
 * it is, and that no trace of that is left in what it prints in the end.
 */
/* libs: -lutil */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define WIPE "\r\033[K"

/* The same in a regular expression, and what is told each second; a busy host skips some. */
#define WIPED "\r\033\\[K"
#define SECONDS "pmuctl: counting for [0-9]+ s, Ctrl-C ends it"

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

/* Is there a part of the output that this extended regular expression describes? */
static bool is_shown(const char *pattern)
{
	regex_t regex;
	int ret;

	cr_assert_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	ret = regexec(&regex, output, 0, NULL, 0);
	regfree(&regex);
	return ret == 0;
}

/* Takes what comes until something like @pattern is there; with NULL until the end. */
static void read_until(int terminal, const char *pattern)
{
	while (!pattern || !is_shown(pattern)) {
		ssize_t got = read(terminal, output + output_len,
				   sizeof(output) - output_len - 1);

		if (got <= 0) {
			cr_assert_null(pattern, "the end comes before '%s': %s",
				       pattern, output);
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

static void assert_shown(const char *pattern)
{
	cr_assert(is_shown(pattern), "'%s' is not in: %s", pattern, output);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}

/* The seconds that are told grow, with the clock that we have. */
static void check_seconds(double began)
{
	unsigned int first, second;

	cr_assert_eq(sscanf(output, "pmuctl: counting for %u s, Ctrl-C ends it" WIPE
			    "pmuctl: counting for %u s", &first, &second), 2);
	cr_assert(first >= 1 && second >= 2 && second >= first &&
		  second <= now() - began + 1, "%u, %u of %f", first, second,
		  now() - began);
}

Test(tool_terminal, counting_that_lasts_is_told_and_ctrl_c_ends_it)
{
	double began = now();
	pid_t child;
	int terminal = start("exec pmuctl stat -e cycles -a", &child);
	int status;

	read_until(terminal, "^" SECONDS WIPED SECONDS);
	check_seconds(began);
	cr_assert_eq(write(terminal, "\003", 1), 1);
	status = finish(terminal, child);
	cr_assert(WIFEXITED(status));
	cr_assert_eq(WEXITSTATUS(status), 128 + SIGINT);
	assert_shown("ends it\\^C(" WIPED SECONDS ")*" WIPED
		     "\r\n Performance counter stats for 'system wide':");
}

Test(tool_terminal, runs_are_told_where_they_take_long)
{
	pid_t child;
	int terminal = start("pmuctl stat -r 3 -e cycles:u sleep 1 >/dev/null", &child);

	cr_assert_eq(finish(terminal, child), 0);
	assert_shown("pmuctl: run 2 of 3" WIPED "pmuctl: run 3 of 3" WIPED
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

/* Where a run takes a second it is told; on a host that is that busy, another try. */
Test(tool_terminal, short_runs_and_commands_need_no_telling)
{
	int terminal;
	double began;
	pid_t child;

	do {
		began = now();
		terminal = start("pmuctl stat -r 2 -e cycles:u true", &child);
		cr_assert_eq(finish(terminal, child), 0);
	} while (now() - began >= 1);
	cr_assert_null(strstr(output, "pmuctl:"), "%s", output);
	terminal = start("pmuctl stat -a -e cycles sleep 2", &child);
	cr_assert_eq(finish(terminal, child), 0);
	cr_assert_null(strstr(output, "pmuctl:"), "%s", output);
}

Test(tool_terminal, intervals_tell_enough_themselves)
{
	pid_t child;
	int terminal = start("exec pmuctl stat -I 500 -e cycles -a", &child);

	read_until(terminal, "\n +([2-9]|[1-9][0-9]+)\\.[0-9]+ ");
	cr_assert_eq(write(terminal, "\003", 1), 1);
	cr_assert_eq(WEXITSTATUS(finish(terminal, child)), 128 + SIGINT);
	cr_assert_null(strstr(output, "pmuctl:"), "%s", output);
}

Test(tool_terminal, results_in_a_file_leave_the_terminal_clean)
{
	pid_t child;
	int terminal = start("pmuctl stat -o /tmp/terminal-test -e cycles -a", &child);

	read_until(terminal, SECONDS);
	cr_assert_eq(write(terminal, "\003", 1), 1);
	finish(terminal, child);
	assert_shown("ends it\\^C(" WIPED SECONDS ")*" WIPED);
	cr_assert_eq(system("grep -q ' cycles' /tmp/terminal-test"), 0);
	cr_assert_neq(system("grep -q counting /tmp/terminal-test"), 0);
	unlink("/tmp/terminal-test");
}
