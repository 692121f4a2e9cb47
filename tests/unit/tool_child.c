// SPDX-License-Identifier: GPL-2.0-only
/*
 * The commands that "pmuctl stat" and "pmuctl record" start: what they inherit.
 */
/* sources: tools/stat/run.c tools/capabilities.c tools/say.c lib/src/explain.c lib/src/names.c */
/* libs: -lcap */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/stat/stat.h"

/* Runs a command that sends itself SIGPIPE; returns its status. */
static int run(const sigset_t *mask)
{
	char *argv[] = { "sh", "-c", "kill -PIPE $$; exit 5", NULL };
	struct child child = { 0 };
	int status;

	cr_assert_eq(child_start(&child, argv, mask), 0);
	cr_assert_eq(child_go(&child), 0);
	cr_assert_eq(waitpid(child.pid, &status, 0), child.pid);
	return status;
}

/* "yes | head -1" has to end in each of several runs, not only in the first. */
Test(tool_child, sigpipe_ends_every_run)
{
	sigset_t mask;
	int fd = signals_block(&mask);

	cr_assert_geq(fd, 0);
	for (int i = 0; i < 3; i++) {
		int status = run(&mask);

		cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE, "run %d: %x", i,
			  status);
	}
	close(fd);
}

/* Who had it ignored for the command, with nohup or trap, finds it so. */
Test(tool_child, sigpipe_stays_ignored_if_it_was)
{
	sigset_t mask;
	int fd;

	signal(SIGPIPE, SIG_IGN);
	fd = signals_block(&mask);
	cr_assert_geq(fd, 0);
	for (int i = 0; i < 2; i++) {
		int status = run(&mask);

		cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 5, "run %d: %x", i, status);
	}
	close(fd);
}

/* The tool itself is told by write() that nobody reads any more. */
Test(tool_child, sigpipe_does_not_end_the_tool)
{
	sigset_t mask;
	int fd = signals_block(&mask);

	cr_assert_geq(fd, 0);
	run(&mask);
	raise(SIGPIPE);
	close(fd);
}

/* Many events on many CPUs take many descriptors; a command has no more than it was given. */
Test(tool_child, descriptors_are_for_the_tool_only)
{
	char *argv[] = { "sh", "-c", "test $(ulimit -S -n) -eq 64", NULL };
	struct rlimit limit;
	sigset_t mask;
	int fd = signals_block(&mask), status;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 64;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i < 2; i++) {
		struct child child = { 0 };

		cr_assert_eq(child_start(&child, argv, &mask), 0);
		descriptors_allow();
		cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
		cr_assert_eq(limit.rlim_cur, limit.rlim_max);
		cr_assert_eq(child_go(&child), 0);
		cr_assert_eq(waitpid(child.pid, &status, 0), child.pid);
		cr_assert_eq(status, 0, "run %d", i);
	}
	close(fd);
}
