// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of a command's options: what is understood, how wrong ones are told, and the
 * help.
 */
/* sources: tools/options.c tools/say.c lib/src/explain.c lib/src/names.c */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/options.h"

enum { OPTION_WHAT = OPTION_NO_LETTER };

static const char *const words[] = { "one", "two", NULL };

static const struct cli_option common_options[] = {
	{ 'a', "all", "every", .help = "all of it" },
	{ 0 },
};

static const struct cli_option own_options[] = {
	{ 'f', "file", .argument = "FILE",
	  .help = "a file that is written to, and a sentence that is much longer than the line of eighty columns" },
	{ OPTION_WHAT, "what", .argument = "[=WHAT]", .words = words, .help = "what to do" },
	{ 'g', .help = "has no other name" },
	{ 0 },
};

static struct command command = {
	.name = "test",
	.operands = "COMMAND\n-a",
	.about = "About.",
	.options = { common_options, own_options },
	.notes = "Notes.",
};

/* What was understood, with its arguments: "a f=file " */
static char seen[256];

static int take_option(void *arg, int value)
{
	size_t length = strlen(seen);

	cr_expect_eq(arg, &command);
	if (optarg && !strcmp(optarg, "bad"))
		return STATUS_FAILED;
	snprintf(seen + length, sizeof(seen) - length, "%c%s%s ",
		 value == OPTION_WHAT ? 'W' : value, optarg ? "=" : "", optarg ? optarg : "");
	return STATUS_OK;
}

static const char *text_of(const char *name)
{
	static char text[4096];
	FILE *file = fopen(name, "r");

	cr_assert_not_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void setup(void)
{
	char directory[] = "/tmp/tool_options.XXXXXX";

	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(chdir(directory), 0);
}

static void teardown(void)
{
	char directory[256];

	unlink("err");
	unlink("out");
	if (getcwd(directory, sizeof(directory)))
		rmdir(directory);
}

TestSuite(tool_options, .init = setup, .fini = teardown);

/* Returns what options_parse() returns for these words; the errors are in "err". */
static int parse(const char *line)
{
	static char text[256];
	static char *argv[16];
	char *rest = text;
	int argc = 0;

	snprintf(text, sizeof(text), "test %s", line);
	while ((argv[argc] = strtok_r(rest, " ", &rest)))
		argc++;
	seen[0] = '\0';
	cr_assert_not_null(freopen("err", "w", stderr));
	int status = options_parse(&command, argc, argv, take_option, &command);

	fflush(stderr);
	return status;
}

static void understands(const char *line, const char *expected)
{
	cr_expect_eq(parse(line), STATUS_OK, "%s", line);
	cr_expect_str_eq(seen, expected, "%s", line);
}

static void refuses(const char *line, const char *sentence)
{
	char expected[256];

	snprintf(expected, sizeof(expected), "pmuctl: %s\nTry 'pmuctl test --help'.\n", sentence);
	cr_expect_eq(parse(line), STATUS_USAGE, "%s", line);
	cr_expect_str_eq(text_of("err"), expected, "%s", line);
}

Test(tool_options, letters_and_names)
{
	understands("", "");
	understands("-a --all --every -g", "a a a g ");
	understands("-ag -ffile -f file --file=file --file file", "a g f=file f=file f=file f=file ");
	understands("-agf file --fil file", "a g f=file f=file ");
	understands("--what --what=one", "W W=one ");
	understands("-a -- -g", "a ");
}

Test(tool_options, operands_have_options_if_they_are_a_command)
{
	understands("-a file -g", "a g ");
	command.starts_command = true;
	understands("-a file -g", "a ");
	cr_expect_eq(optind, 2);
}

Test(tool_options, wrong_ones_are_told)
{
	refuses("--nothing", "unknown option '--nothing'");
	refuses("--nothing=3", "unknown option '--nothing=3'");
	refuses("-Z", "unknown option '-Z'");
	refuses("--all -aZg", "unknown option '-Z'");
	refuses("--all=3", "the option '--all' takes no argument");
	refuses("-f", "the option '-f' needs an argument");
	refuses("-agf", "the option '-f' needs an argument");
	refuses("--file", "the option '--file' needs an argument");
	/* After an end in the middle of a word, all is well. */
	understands("-a", "a ");
}

Test(tool_options, an_error_ends_it)
{
	cr_expect_eq(parse("-a -f bad -g"), STATUS_FAILED);
	cr_expect_str_eq(seen, "a ");
}

Test(tool_options, the_help)
{
	cr_assert_not_null(freopen("out", "w", stdout));
	cr_expect_eq(parse("-a -h -g"), STATUS_HELP);
	fflush(stdout);
	cr_expect_str_eq(seen, "a ");
	cr_expect_str_eq(text_of("out"),
			 "usage: pmuctl test [OPTIONS] COMMAND\n"
			 "       pmuctl test [OPTIONS] -a\n"
			 "\n"
			 "About.\n"
			 "\n"
			 "  -a, --all, --every  all of it\n"
			 "  -f, --file FILE     a file that is written to, and a sentence that is much\n"
			 "                      longer than the line of eighty columns\n"
			 "      --what[=WHAT]   what to do: one, two\n"
			 "  -g                  has no other name\n"
			 "  -h, --help          this text\n"
			 "\n"
			 "Notes.\n");
}

Test(tool_options, the_list_for_completion)
{
	cr_assert_not_null(freopen("out", "w", stdout));
	options_print(&command);
	fflush(stdout);
	cr_expect_str_eq(text_of("out"),
			 "-a -\n--all -\n--every -\n-f FILE\n--file FILE\n--what [=WHAT] one two\n"
			 "-g -\n-h -\n--help -\n");
}
