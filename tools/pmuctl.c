// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pmuctl command: picks the command, prints help and version.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "options.h"

static const struct command *const commands[] = {
	&command_stat,
	&command_timec,
	&command_exporter,
	&command_record,
	&command_top,
	&command_trace,
	&command_report,
	&command_annotate,
	&command_diff,
	&command_evlist,
	&command_script,
	&command_run,
	&command_list,
	&command_doctor,
	&command_selftest,
};

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static void overview(FILE *out)
{
	fputs("usage: pmuctl COMMAND [ARGUMENTS]\n\nCounts events of the CPU's performance monitoring unit.\n\n",
	      out);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		fprintf(out, "  %-10s%s\n", commands[i]->name,
			commands[i]->summary);
	fputs("  version   the version of this tool\n"
	      "  help      help on a command: pmuctl help COMMAND\n", out);
}

/* For completion, as "perf --list-cmds" */
static void list_commands(void)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		printf("%s ", commands[i]->name);
	puts("version help");
}

/* Of the fingers, for a command to be taken for another one */
#define SLIPS_MAX	2

static size_t least(size_t one, size_t other)
{
	return one < other ? one : other;
}

/* How many letters are to be changed, left out, put in or swapped; more than @most is only that. */
static size_t difference(const char *one, const char *other, size_t most)
{
	size_t changes;

	while (*one && *one == *other)
		one++, other++;
	if (!*one || !*other)
		return strlen(one) + strlen(other);
	if (!most)
		return 1;
	changes = least(difference(one + 1, other + 1, most - 1),
			least(difference(one + 1, other, most - 1),
			      difference(one, other + 1, most - 1)));
	if (one[0] == other[1] && one[1] == other[0])
		changes = least(changes, difference(one + 2, other + 2, most - 1));
	return changes + 1;
}

/* Commands of perf that open events: they do so here as well. */
static const char *const perf_counts[] = {
	"c2c", "iostat", "kmem", "kvm", "kwork", "lock", "mem", "sched", "test", "timechart", NULL
};

/* And those that read recordings, also ours */
static const char *const perf_reads[] = {
	"archive", "buildid-cache", "buildid-list", "data", "inject", NULL
};

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

static int unknown_command(const char *name)
{
	const struct command *nearest = NULL;
	size_t best = SLIPS_MAX + 1;

	if (is_one_of(name, perf_counts)) {
		say_error("unknown command '%s': 'pmuctl run perf %s' runs perf's, with the events of pmuctl",
			  name, name);
		return STATUS_USAGE;
	}
	if (is_one_of(name, perf_reads)) {
		say_error("unknown command '%s': 'perf %s' reads recordings of pmuctl, too",
			  name, name);
		return STATUS_USAGE;
	}
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		size_t slips = difference(name, commands[i]->name, SLIPS_MAX);

		if (slips < best && 2 * slips < strlen(name)) {
			best = slips;
			nearest = commands[i];
		}
	}
	if (nearest)
		say_error("unknown command '%s': did you mean '%s'?", name, nearest->name);
	else
		say_error("unknown command '%s'", name);
	fputs("Try 'pmuctl help'.\n", stderr);
	return STATUS_USAGE;
}

static int help(const char *name)
{
	const struct command *command;

	if (!name) {
		overview(stdout);
		return STATUS_OK;
	}
	command = command_find(name);
	if (!command)
		return unknown_command(name);
	options_help(command);
	return STATUS_OK;
}

/* What could not be written is no success; a command that has seen that has said so. */
static int finish(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (status == STATUS_OK) {
		say_error("cannot write to standard output: %s", strerror(errno));
		status = STATUS_FAILED;
	}
	return status;
}

static int run(int argc, char **argv)
{
	const struct command *command;
	int status;

	if (argc < 2) {
		overview(stderr);
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help") ||
	    !strcmp(argv[1], "-h"))
		return help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(argv[1], "version") || !strcmp(argv[1], "--version") ||
	    !strcmp(argv[1], "-V")) {
		printf("pmuctl %s\n", pmuctl_version());
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "--list-cmds")) {
		list_commands();
		return STATUS_OK;
	}
	command = command_find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	if (argc == 3 && !strcmp(argv[2], "--list-opts")) {
		options_list(command);
		return STATUS_OK;
	}
	status = command->run(argc - 1, argv + 1);
	return status == STATUS_HELP ? STATUS_OK : status;
}

int main(int argc, char **argv)
{
	return finish(run(argc, argv));
}
