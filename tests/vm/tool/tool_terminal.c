// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tool tells on a terminal while it counts: that something goes on, which run
 * it is, and that no trace of that is left in what it prints in the end. And the screens of
 * "pmuctl top" and "pmuctl report".
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
#include <sys/ioctl.h>
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

#define SIZE "stty rows 24 cols 80; "
#define TOP "exec pmuctl top -d 1 -e instructions:u -c 1000003"

/* As the terminal "screen" has them: another page, from which one goes back. */
#define TO_PAGE "\033\\[\\?1049h"
#define FROM_PAGE "\033\\[\\?1049l"

/*
 * Types something, and waits until something like @pattern is shown; what looks like that which
 * was there before is not written again.
 */
static void type(int terminal, const char *keys, const char *pattern)
{
	output_len = 0;
	output[0] = '\0';
	cr_assert_eq(write(terminal, keys, strlen(keys)), (ssize_t)strlen(keys));
	read_until(terminal, pattern);
}

Test(tool_terminal, top_has_a_screen_until_q)
{
	pid_t child;
	int terminal = start(SIZE "TERM=screen " TOP, &child);

	read_until(terminal, TO_PAGE);
	read_until(terminal, "pmuctl top: [0-9]+ samples/s, kernel: 0.0%, lost: 0 ");
	read_until(terminal, "Samples: [0-9]+ of event 'instructions:u', period 1000003");
	read_until(terminal, "Overhead  Shared object");
	cr_assert_eq(write(terminal, "q", 1), 1);
	cr_assert_eq(finish(terminal, child), 0);
	assert_shown(FROM_PAGE);
}

Test(tool_terminal, keys_of_top)
{
	pid_t child;
	int terminal = start(SIZE "TERM=screen " TOP " -e cycles:u", &child);

	read_until(terminal, "'instructions:u'");
	type(terminal, "h", "seconds from refresh to refresh");
	type(terminal, "h", "Overhead|%|\033");
	type(terminal, "K", "The kernel is hi");
	type(terminal, "U", "Nothing would be");
	type(terminal, "S", "Sorted by comm,dso,s");
	read_until(terminal, "Command");
	type(terminal, "d0\r", "It is from 1 to 86400");
	type(terminal, "z", "Only what came");
	type(terminal, "f101\r", "It is from 0 to 100");
	type(terminal, "E", "cycles:u");
	type(terminal, "g", "There are no call ch");
	type(terminal, "p", "Paused");
	cr_assert_eq(write(terminal, "\003", 1), 1);
	cr_assert_eq(finish(terminal, child), 0);
	assert_shown(FROM_PAGE);
}

Test(tool_terminal, call_graphs_of_top)
{
	pid_t child;
	int terminal = start(SIZE "TERM=screen " TOP " -g", &child);

	read_until(terminal, "Children +Self");
	type(terminal, "g", "Call graphs are shown");
	read_until(terminal, "%  [^ ]");
	type(terminal, "g", "hidden");
	cr_assert_eq(write(terminal, "q", 1), 1);
	cr_assert_eq(finish(terminal, child), 0);
	assert_shown(FROM_PAGE);
}

/* The last line is that of the larger terminal then. */
static void check_size(const char *command, const char *ready)
{
	const struct winsize size = { .ws_row = 60, .ws_col = 200 };
	pid_t child;
	int terminal = start(command, &child);

	read_until(terminal, ready);
	output_len = 0;
	output[0] = '\0';
	cr_assert_eq(ioctl(terminal, TIOCSWINSZ, &size), 0);
	read_until(terminal, "\033\\[60(;1H|d)");
	type(terminal, "q", FROM_PAGE);
	cr_assert_eq(finish(terminal, child), 0);
}

Test(tool_terminal, top_follows_the_size_of_the_terminal)
{
	check_size(SIZE "TERM=screen " TOP, "Overhead");
}

/* As when a program becomes shorter whose symbols are read */
Test(tool_terminal, top_gives_the_terminal_back_where_it_cannot_go_on)
{
	pid_t child;
	int terminal = start(SIZE "TERM=screen " TOP, &child);

	read_until(terminal, "Overhead");
	output_len = 0;
	output[0] = '\0';
	cr_assert_eq(kill(child, SIGBUS), 0);
	cr_assert_eq(WEXITSTATUS(finish(terminal, child)), 1);
	assert_shown(FROM_PAGE ".*pmuctl: the recording, or a program in it, became shorter");
}

Test(tool_terminal, top_prints_text_where_the_terminal_is_not_known)
{
	pid_t child;
	int terminal = start("TERM=nothing " TOP " --iterations 1", &child);

	cr_assert_eq(finish(terminal, child), 0);
	assert_shown("pmuctl: the terminal 'nothing' is not known here: as with --stdio, then");
	assert_shown("\033\\[H\033\\[2Jpmuctl top: ");
}

#define RECORDING "/tmp/terminal-test.data"
#define REPORT "TERM=screen exec pmuctl report -i " RECORDING

static void record(void)
{
	/* It ends with 3. */
	cr_assert_eq(WEXITSTATUS(system("pmuctl record -q -g -e instructions:u,cycles:u -c 170003 -o "
					RECORDING " /pmuctl/tests/prog/hot-warm-cold")), 3);
}

static void forget(void)
{
	unlink(RECORDING);
}

Test(tool_terminal, report_has_a_screen_until_q, .init = record, .fini = forget)
{
	pid_t child;
	int terminal = start(SIZE REPORT, &child);

	read_until(terminal, TO_PAGE);
	read_until(terminal, "instructions:u: [0-9]+ samples, [0-9]+ events; " RECORDING);
	read_until(terminal, "Children +Self +Command +Shared object");
	read_until(terminal, "] hot");
	read_until(terminal, "q: quit");
	cr_assert_eq(write(terminal, "q", 1), 1);
	cr_assert_eq(finish(terminal, child), 0);
	assert_shown(FROM_PAGE);
}

Test(tool_terminal, keys_of_report, .init = record, .fini = forget)
{
	pid_t child;
	int terminal = start(SIZE REPORT, &child);

	read_until(terminal, "q: quit");
	type(terminal, "h", "callers of this row");
	type(terminal, "q", "Enter: callers");
	/* From the outermost caller on, down to who was hit */
	type(terminal, "\r", "%  hot");
	type(terminal, "C", "Without call");
	type(terminal, "jk/war\r", "warm");
	type(terminal, "a", "The code of warm");
	read_until(terminal, "Percent");
	read_until(terminal, "dec|jn[ez]");
	type(terminal, "q", "Enter: callers");
	type(terminal, "f", "arrows: move");
	type(terminal, "jj", "phase");
	type(terminal, "q", "Enter: call");
	type(terminal, "U", "User space is hi");
	type(terminal, "K", "Nothing would be");
	type(terminal, "\033", "cold");
	type(terminal, "d", "events; only hot-warm-cold; ");
	type(terminal, "t", "events; only hot-warm-cold; only");
	type(terminal, "S", "Sorted by dso,symbol");
	type(terminal, "E", "cycles:u");
	type(terminal, "\t", "instructions:u");
	type(terminal, "\033", "cold");
	type(terminal, "/w\x15ol\r", "events; only functions with ol");
	type(terminal, "SSS", "Sorted by dso");
	type(terminal, "/", "Rows are not sorted by functions");
	type(terminal, "q", FROM_PAGE);
	cr_assert_eq(finish(terminal, child), 0);
}

Test(tool_terminal, report_follows_the_size_of_the_terminal, .init = record, .fini = forget)
{
	check_size(SIZE REPORT, "q: quit");
}

/* What is read again may have gone: that is told when the terminal is as it was. */
Test(tool_terminal, report_tells_why_it_cannot_go_on, .init = record)
{
	pid_t child;
	int terminal = start(SIZE REPORT, &child);

	read_until(terminal, "q: quit");
	forget();
	cr_assert_eq(write(terminal, "K", 1), 1);
	cr_assert_eq(WEXITSTATUS(finish(terminal, child)), 1);
	assert_shown(FROM_PAGE ".*pmuctl: cannot read '" RECORDING "'");
}

/* Another recording, with one event, takes the place of the one whose second is shown. */
Test(tool_terminal, report_goes_on_with_another_recording, .init = record, .fini = forget)
{
	pid_t child;
	int terminal = start(SIZE REPORT, &child);

	read_until(terminal, "q: quit");
	type(terminal, "E", "cycles:u");
	cr_assert_eq(WEXITSTATUS(system("pmuctl record -q -e branches:u -c 170003 -o " RECORDING
					" /pmuctl/tests/prog/hot-warm-cold")), 3);
	type(terminal, "K", "branches:u: [0-9]+ samples");
	type(terminal, "E", "no other event");
	type(terminal, "q", FROM_PAGE);
	cr_assert_eq(finish(terminal, child), 0);
	unlink(RECORDING ".old");
}

/* Whatever ends it */
Test(tool_terminal, report_gives_the_terminal_back, .init = record, .fini = forget)
{
	static const int signals[] = { SIGHUP, SIGTERM, SIGSEGV };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		pid_t child;
		int terminal = start(SIZE REPORT, &child), status;

		read_until(terminal, "q: quit");
		output_len = 0;
		output[0] = '\0';
		cr_assert_eq(kill(child, signals[i]), 0);
		status = finish(terminal, child);
		/* ncurses ends by itself after SIGTERM. */
		cr_assert(signals[i] == SIGTERM ? WIFEXITED(status) : WTERMSIG(status) == signals[i],
			  "signal %d: %#x", signals[i], status);
		cr_assert(is_shown(FROM_PAGE), "signal %d: %s", signals[i], output);
	}
}

/* A program becomes shorter after the recording was read again. */
Test(tool_terminal, report_gives_the_terminal_back_after_it_read_again, .init = record, .fini = forget)
{
	pid_t child;
	int terminal = start(SIZE REPORT, &child);

	read_until(terminal, "q: quit");
	type(terminal, "K", "The kernel is hi");
	output_len = 0;
	output[0] = '\0';
	cr_assert_eq(kill(child, SIGBUS), 0);
	cr_assert_eq(WEXITSTATUS(finish(terminal, child)), 1);
	assert_shown(FROM_PAGE ".*became shorter");
}

Test(tool_terminal, report_is_text_where_that_is_asked_for, .init = record, .fini = forget)
{
	static const char *const with[] = {
		"--stdio", "-q", "-t ,", "--header", "-T", "| cat", "</dev/null",
	};
	static const char *const names[] = { "nothing", "dumb" };
	char command[200];
	int terminal;
	pid_t child;

	for (size_t i = 0; i < sizeof(with) / sizeof(*with); i++) {
		snprintf(command, sizeof(command), "TERM=screen pmuctl report -i " RECORDING " %s", with[i]);
		terminal = start(command, &child);
		cr_assert_eq(finish(terminal, child), 0);
		assert_shown("%.*hot");
		cr_assert(!is_shown(TO_PAGE), "%s", with[i]);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(command, sizeof(command), "TERM=%s pmuctl report -i " RECORDING, names[i]);
		terminal = start(command, &child);
		cr_assert_eq(finish(terminal, child), 0);
		assert_shown("pmuctl: the terminal '[a-z]+' is not known here: as with --stdio, then");
		assert_shown("%.*hot");
	}
}
