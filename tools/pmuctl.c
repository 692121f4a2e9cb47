// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pmuctl command: picks the command, prints help and version.
 */
#include <stdio.h>
#include <string.h>

#include "options.h"

static const struct command *const commands[] = {
	&command_stat,
	&command_timec,
	&command_record,
	&command_top,
	&command_trace,
	&command_report,
	&command_annotate,
	&command_diff,
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

static int unknown_command(const char *name)
{
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
	if (command->help)
		fputs(command->help, stdout);
	else
		options_help(command);
	return STATUS_OK;
}

int main(int argc, char **argv)
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
	command = command_find(argv[1]);
	if (!command)
		return unknown_command(argv[1]);
	status = command->run(argc - 1, argv + 1);
	return status == STATUS_HELP ? STATUS_OK : status;
}
