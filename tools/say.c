// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the tool says what is wrong: on stderr, with its name before, and never as
 * a bare error number.
 */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

static void say(const char *format, va_list args)
{
	fflush(stdout);
	fputs("pmuctl: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

/**
 * say_error() - say something on stderr
 * @format: one line, without the newline.
 */
void say_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

/**
 * say_refusal() - say why an event was not opened
 * @name: the event.
 * @why: the explanation.
 */
void say_refusal(const char *name, const struct pmuctl_explanation *why)
{
	char text[sizeof(why->field) + sizeof(why->sentence) + 4];

	pmuctl_explanation_format(why, text, sizeof(text));
	say_error("cannot open '%s': %s", name, text);
}

/**
 * say_usage() - say what is wrong with the command line
 * @command: the command.
 * @format: one line, without the newline.
 *
 * Return: the exit status for that.
 */
int say_usage(const struct command *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	fprintf(stderr, "Try 'pmuctl %s --help'.\n", command->name);
	return STATUS_USAGE;
}
