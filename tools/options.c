// SPDX-License-Identifier: GPL-2.0-only
/*
 * The options of commands: from their tables come the parser and the help.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "options.h"

#define LINE_WIDTH	80
/* No command has more. */
#define LONG_MAX_COUNT	96
#define LETTERS_SIZE	128
#define NAMES_SIZE	80

static const struct cli_option help_option = {
	.value = 'h', .name = "help", .help = "this text",
};

/* The options that a command's help has, one by one; NULL behind the last, which is -h. */
static const struct cli_option *option_at(const struct command *command, size_t index)
{
	for (size_t i = 0; i < ARRAY_LEN(command->options) && command->options[i]; i++)
		for (const struct cli_option *option = command->options[i]; option->value; option++)
			if (index-- == 0)
				return option;
	return index == 0 ? &help_option : NULL;
}

/* And those that it takes: another command's, too */
static const struct cli_option *taken_at(const struct command *command, size_t index)
{
	const struct cli_option *option = option_at(command, index);
	size_t own = 0;

	if (option || !command->base)
		return option;
	while (option_at(command, own))
		own++;
	return option_at(command->base, index - own);
}

static bool has_letter(const struct cli_option *option)
{
	return option->value < OPTION_NO_LETTER;
}

/* ----------------------------------------------------------------- parse */

/* no_argument, required_argument or optional_argument */
static int argument_kind(const struct cli_option *option)
{
	if (!option->argument)
		return no_argument;
	return option->argument[0] == '[' ? optional_argument : required_argument;
}

/* An argument that may be left out is the next word, unless that is an option. */
static bool is_next_word(const struct command *command, int value)
{
	const struct cli_option *option;

	for (size_t i = 0; (option = taken_at(command, i)); i++)
		if (option->value == value)
			return option->argument && option->argument[0] == '[' &&
			       option->argument[1] != '=';
	return false;
}

/* What getopt_long() wants; "+" is for commands whose operands have options of their own. */
static void for_getopt(const struct command *command, char *letters, struct option *longs)
{
	const struct cli_option *option;

	if (command->starts_command)
		*letters++ = '+';
	*letters++ = ':';
	for (size_t i = 0; (option = taken_at(command, i)); i++) {
		const char *const names[] = { option->name, option->alias };
		int kind = argument_kind(option);

		if (has_letter(option)) {
			*letters++ = (char)option->value;
			for (int colons = 0; colons < kind; colons++)
				*letters++ = ':';
		}
		for (size_t j = 0; j < ARRAY_LEN(names) && names[j]; j++)
			*longs++ = (struct option){ names[j], kind, NULL, option->value };
	}
	*letters = '\0';
	*longs = (struct option){ NULL, 0, NULL, 0 };
}

static bool is_word(const char *name, const char *word)
{
	return strlen(name) == strcspn(word, "=") && !strncmp(name, word, strlen(name));
}

/* One of perf's? @word has it if it is a long one, perhaps with "no-" before and "=" behind. */
static const struct other_option *other_at(const struct command *command, int letter, const char *word)
{
	const struct other_option *other = command->others;
	const char *without;

	word += 2 * !letter;
	without = !letter && !strncmp(word, "no-", 3) ? word + 3 : word;
	for (; other && other->name; other++)
		if (letter ? other->letter == letter :
			     is_word(other->name, word) || is_word(other->name, without))
			return other;
	return NULL;
}

static int say_other(const struct command *command, const struct other_option *other)
{
	if (other->instead)
		return say_usage(command, "--%s of 'perf %s' is not here: %s", other->name, command->name,
				 other->instead);
	return say_usage(command, "--%s of 'perf %s' is not here; perf reads recordings of pmuctl, too", other->name,
			 command->name);
}

/* Why getopt_long() returned ':' or '?' */
static int bad_option(const struct command *command, int result, const char *word)
{
	bool is_long = !strncmp(word, "--", 2);
	const struct other_option *other = other_at(command, optopt, word);
	const struct cli_option *option;
	size_t i = 0;

	if (result == ':' && is_long)
		return say_usage(command, "the option '%s' needs an argument", word);
	if (result == ':')
		return say_usage(command, "the option '-%c' needs an argument", optopt);
	if (other)
		return say_other(command, other);
	if (!optopt)
		return say_usage(command, "unknown option '%s'", word);
	while ((option = taken_at(command, i)) && option->value != optopt)
		i++;
	if (option)
		return say_usage(command, "the option '%.*s' takes no argument",
				 (int)strcspn(word, "="), word);
	return say_usage(command, "unknown option '-%c'", optopt);
}

/**
 * options_parse() - understand the options on the command line
 * @command: the command.
 * @argc: number of arguments.
 * @argv: the arguments; optind is the first one that is no option, afterwards.
 * @apply: called for each option.
 * @arg: for @apply.
 *
 * Return: 0, an exit status, or STATUS_HELP: the help was printed.
 */
int options_parse(const struct command *command, int argc, char **argv,
		  option_apply apply, void *arg)
{
	struct option longs[LONG_MAX_COUNT];
	char letters[LETTERS_SIZE];
	int result, status = 0;

	for_getopt(command, letters, longs);
	opterr = 0;
	optind = 0;
	while (!status && (result = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		if (result == ':' || result == '?')
			return bad_option(command, result, argv[optind - 1]);
		if (result == help_option.value) {
			options_help(command);
			return STATUS_HELP;
		}
		if (!optarg && optind < argc && argv[optind][0] != '-' &&
		    is_next_word(command, result))
			optarg = argv[optind++];
		status = apply(arg, result);
	}
	return status;
}

/* ------------------------------------------------------------------ help */

/* "  -e, --event EVENTS"; returns how long it is. */
static size_t option_names(const struct cli_option *option, char *text)
{
	const char letter[] = { '-', (char)option->value, '\0' };
	bool joined = option->argument && !strncmp(option->argument, "[=", 2);

	return (size_t)snprintf(text, NAMES_SIZE, "  %s%s%s%s%s%s%s",
				has_letter(option) ? letter : "  ",
				!option->name ? "" : has_letter(option) ? ", --" : "  --",
				option->name ? option->name : "",
				option->alias ? ", --" : "",
				option->alias ? option->alias : "",
				option->argument && !joined ? " " : "",
				option->argument ? option->argument : "");
}

/*
 * Words from @column on; lines that are too long go on at @indent, and so does what is
 * behind a newline of the text. Returns the column that it ends at.
 */
static size_t print_wrapped(const char *text, size_t indent, size_t column)
{
	while (*text) {
		size_t spaces = strspn(text, " ");
		size_t length = spaces + strcspn(text + spaces, "\n ");

		if (column > indent && column + length > LINE_WIDTH) {
			printf("\n%*s", (int)indent, "");
			text += spaces;
			length -= spaces;
			column = indent;
		}
		printf("%.*s", (int)length, text);
		column += length;
		text += length;
		if (*text == '\n') {
			printf("\n%*s", (int)indent, "");
			column = indent;
			text++;
		}
	}
	return column;
}

static void print_option(const struct cli_option *option, size_t indent)
{
	char names[NAMES_SIZE], word[NAMES_SIZE];
	size_t column;

	option_names(option, names);
	printf("%-*s", (int)indent, names);
	column = print_wrapped(option->help, indent, indent);
	if (option->words)
		column = print_wrapped(":", indent, column);
	for (size_t i = 0; option->words && option->words[i]; i++) {
		snprintf(word, sizeof(word), " %s%s", option->words[i],
			 option->words[i + 1] ? "," : "");
		column = print_wrapped(word, indent, column);
	}
	putchar('\n');
}

/**
 * options_percent() - understand an argument that is a percentage
 * @command: whose option it is.
 * @text: the argument.
 * @percent: gets it.
 *
 * Return: 0 or an exit status: it is no number, or not one from 0 to 100.
 */
int options_percent(const struct command *command, const char *text, double *percent)
{
	char *end;

	*percent = strtod(text, &end);
	if (end == text || *end || !(*percent >= 0 && *percent <= 100))
		return say_usage(command, "'%s' is no percentage", text);
	return STATUS_OK;
}

/**
 * options_help() - print what "pmuctl COMMAND --help" prints
 * @command: the command.
 */
void options_help(const struct command *command)
{
	const char *operands = command->operands;
	const struct cli_option *option;
	char names[NAMES_SIZE];
	size_t indent = 0;

	for (const char *before = "usage:"; operands; before = "      ") {
		int length = (int)strcspn(operands, "\n");

		printf("%s pmuctl %s [OPTIONS]%s%.*s\n", before, command->name,
		       length ? " " : "", length, operands);
		operands = operands[length] ? operands + length + 1 : NULL;
	}
	putchar('\n');
	print_wrapped(command->about, 0, 0);
	printf("\n\n");
	for (size_t i = 0; (option = option_at(command, i)); i++) {
		size_t length = option_names(option, names) + 2;

		indent = length > indent ? length : indent;
	}
	for (size_t i = 0; (option = option_at(command, i)); i++)
		print_option(option, indent);
	putchar('\n');
	print_wrapped(command->notes, 0, 0);
	putchar('\n');
}

/**
 * options_list() - print what "pmuctl COMMAND --list-opts" prints, for completion
 * @command: the command.
 *
 * A line for each option: its names, its argument and the words that it is made of, with tabs
 * between; and before them one without a name, for the operands.
 */
void options_list(const struct command *command)
{
	const struct cli_option *option;

	printf("\t%.*s\t\n", (int)strcspn(command->operands, "\n"), command->operands);
	for (size_t i = 0; (option = taken_at(command, i)); i++) {
		const char *const names[] = { option->name, option->alias };

		if (has_letter(option))
			printf("-%c ", option->value);
		for (size_t j = 0; j < ARRAY_LEN(names) && names[j]; j++)
			printf("--%s ", names[j]);
		printf("\t%s\t", option->argument ? option->argument : "");
		for (size_t j = 0; option->words && option->words[j]; j++)
			printf("%s ", option->words[j]);
		putchar('\n');
	}
}

/**
 * recording_default() - the name of a recording if nobody gives one
 * @fd: our input, if it is read; our output, if it is written.
 *
 * Return: as with perf, "-" if that is a pipe, so that "record | report" needs no names; else the
 * usual name.
 */
const char *recording_default(int fd)
{
	struct stat about;

	return fstat(fd, &about) == 0 && S_ISFIFO(about.st_mode) ? "-" : "perf.data";
}
