// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl stat": the command line, and the order of things: open, start, wait,
 * read, print. The steps themselves are in stat_count.c, stat_run.c, stat_print.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "stat.h"

static const char stat_help[] =
"usage: pmuctl stat [OPTIONS] COMMAND [ARGUMENTS]\n"
"       pmuctl stat [OPTIONS] -p PIDS | -t TIDS | -C CPUS [COMMAND [ARGUMENTS]]\n"
"\n"
"Counts events while COMMAND runs. With -p, -t or -C, counts those instead, until\n"
"COMMAND ends, they end, or Ctrl-C.\n"
"\n"
"  -e, --event LIST            what to count, several -e add up; see pmuctl-list(1)\n"
"  -p, --pid LIST              the threads that these processes have now\n"
"  -t, --tid LIST              these threads\n"
"  -C, --cpu LIST              these CPUs, all that runs there: 0,2-3\n"
"  -x, --field-separator TEXT  CSV output with TEXT between the columns\n"
"  -j, --json                  JSON output, one object a line\n"
"  -o, --output FILE           write the counts to FILE instead of stderr\n"
"      --append                to its end\n"
"  -h, --help                  this text\n"
"\n"
"Without -e: cycles, instructions, branches, branch-misses, those the CPU has.\n"
"The exit status is COMMAND's own, 128 plus the signal that ended it, 127 if it is\n"
"not found, 126 if it cannot be executed; 1 if events are refused, 2 for wrong\n"
"options.\n";

enum {
	OPTION_APPEND = 256,
};

static const struct option long_options[] = {
	{ "event",		required_argument, NULL, 'e' },
	{ "pid",		required_argument, NULL, 'p' },
	{ "tid",		required_argument, NULL, 't' },
	{ "cpu",		required_argument, NULL, 'C' },
	{ "field-separator",	required_argument, NULL, 'x' },
	{ "json",		no_argument, NULL, 'j' },
	{ "json-output",	no_argument, NULL, 'j' },
	{ "output",		required_argument, NULL, 'o' },
	{ "append",		no_argument, NULL, OPTION_APPEND },
	{ "help",		no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* What the command line said, before it is understood. */
struct stat_words {
	char *events;		/* all -e, with commas between */
	bool has_target;
};

/* ---------------------------------------------------------------- options */

static int words_add_events(struct stat_words *words, const char *list)
{
	char *joined;

	if (asprintf(&joined, "%s%s%s", words->events ? words->events : "",
		     words->events ? "," : "", list) < 0)
		return -ENOMEM;
	free(words->events);
	words->events = joined;
	return 0;
}

static int target_option(struct stat_options *options, struct stat_words *words,
			 enum target_kind kind, const char *text)
{
	size_t position;

	if (words->has_target)
		return say_usage(&command_stat,
				 "only one of -p, -t and -C can be given");
	words->has_target = true;
	options->kind = kind;
	options->ids_text = text;
	if (int_list_parse(text, kind == TARGET_CPU, &options->ids,
			   &position) == 0)
		return 0;
	return say_usage(&command_stat,
			 "'%s' is not a list of numbers: wrong at character %zu",
			 text, position + 1);
}

/* One option; returns 0, or an exit status, or -1 to end well. */
static int option_apply(struct stat_options *options, struct stat_words *words,
			int option, int argc, char **argv)
{
	switch (option) {
	case 'e':
		return words_add_events(words, optarg) < 0 ? STATUS_FAILED : 0;
	case 'p':
		return target_option(options, words, TARGET_PROCESS, optarg);
	case 't':
		return target_option(options, words, TARGET_THREAD, optarg);
	case 'C':
		return target_option(options, words, TARGET_CPU, optarg);
	case 'x':
		if (!*optarg)
			return say_usage(&command_stat, "the separator is empty");
		options->separator = strcmp(optarg, "\\t") ? optarg : "\t";
		return 0;
	case 'j':
		options->json = true;
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	case OPTION_APPEND:
		options->append = true;
		return 0;
	case 'h':
		fputs(stat_help, stdout);
		return -1;
	case ':':
		return say_usage(&command_stat, "the option '%s' needs an argument",
				 argv[optind - 1]);
	default:
		return say_bad_option(&command_stat, argc, argv);
	}
}

/* Says where a list of events is wrong, with a mark below it. */
static void say_parse_error(const char *text, const struct pmuctl_parse_error *error)
{
	say_error("events: at character %zu: %s", error->position + 1,
		  error->sentence);
	fprintf(stderr, "  %s\n  %*s^\n", text, (int)error->position, "");
}

static int events_understand(struct stat_options *options, const char *text)
{
	struct pmuctl_parse_error error;
	int ret = pmuctl_events_parse(text, cpu_name_resolve, NULL, &error,
				      &options->events);

	if (ret == -ENOMEM) {
		say_error("%s", pmuctl_strerror(ret));
		return STATUS_FAILED;
	}
	if (ret == 0)
		return 0;
	say_parse_error(text, &error);
	return STATUS_USAGE;
}

static int options_check(struct stat_options *options, struct stat_words *words)
{
	if (options->separator && options->json)
		return say_usage(&command_stat, "-x and -j exclude each other");
	if (options->append && !options->output)
		return say_usage(&command_stat, "--append needs -o FILE");
	if (!words->has_target && !options->argv)
		return say_usage(&command_stat,
				 "nothing to count: give a command, or -p, -t or -C");
	options->default_events = !words->events;
	return words->events ? events_understand(options, words->events) : 0;
}

/* Returns 0, an exit status, or -1 to end well. */
static int options_parse(struct stat_options *options, int argc, char **argv)
{
	struct stat_words words = { NULL, false };
	int option, ret = 0;

	opterr = 0;
	optind = 1;
	while (ret == 0 && (option = getopt_long(argc, argv, "+:e:p:t:C:x:jo:h",
						 long_options, NULL)) != -1)
		ret = option_apply(options, &words, option, argc, argv);
	if (ret == 0) {
		options->argv = optind < argc ? argv + optind : NULL;
		ret = options_check(options, &words);
	}
	free(words.events);
	return ret;
}

/* --------------------------------------------------------- default events */

static const struct {
	const char *name;
	unsigned int bit;
} default_events[] = {
	{ "cycles",		PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions",	PERF_COUNT_HW_INSTRUCTIONS },
	{ "branches",		PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses",	PERF_COUNT_HW_BRANCH_MISSES },
};

/* Those that the CPU has; all if it has none, so that the driver says why. */
static int default_events_choose(struct pmuctl_device *dev,
				 struct stat_options *options)
{
	struct pmuctl_info info;
	char text[128] = "";
	uint64_t have = 0;

	if (pmuctl_device_info(dev, &info, sizeof(info)) == 0)
		have = info.generic_events;
	for (int pass = 0; pass < 2 && !text[0]; pass++) {
		for (size_t i = 0; i < ARRAY_LEN(default_events); i++) {
			if (!pass && !(have >> default_events[i].bit & 1))
				continue;
			if (text[0])
				strcat(text, ",");
			strcat(text, default_events[i].name);
		}
	}
	return events_understand(options, text);
}

/* ------------------------------------------------------------------- run */

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* The end of the headline, to be freed. */
static char *describe(const struct stat_options *options)
{
	static const char *const formats[] = {
		[TARGET_PROCESS] = "process id '%s'",
		[TARGET_THREAD] = "thread id '%s'",
		[TARGET_CPU] = "CPU(s) '%s'",
	};
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (options->kind != TARGET_COMMAND) {
		fprintf(out, formats[options->kind], options->ids_text);
	} else {
		for (char **word = options->argv; *word; word++)
			fprintf(out, "%s%s", word == options->argv ? "'" : " ",
				*word);
		fputc('\'', out);
	}
	fclose(out);
	return text;
}

static int results_print(FILE *out, const struct stat_options *options,
			 const struct stat_result *result)
{
	time_t started = time(NULL) - (time_t)result->elapsed;

	if (options->output && !options->json)
		fprintf(out, "# started on %s\n", ctime(&started));
	if (options->json)
		return print_json(out, result);
	if (options->separator)
		print_csv(out, result, options->separator);
	else
		print_text(out, result);
	return 0;
}

static int results_write(FILE *out, const struct stat_options *options,
			 const struct counters *counters, double elapsed,
			 const struct run_end *end)
{
	struct stat_result result = { .elapsed = elapsed };
	char *what = describe(options);
	int ret;

	if (!what) {
		say_error("%s", pmuctl_strerror(ENOMEM));
		return -ENOMEM;
	}
	result.what = what;
	result.rows = counters_rows(counters, &result.count);
	result.has_usage = options->kind == TARGET_COMMAND && end->has_usage;
	result.user = end->user;
	result.system = end->system;
	errno = 0;
	ret = results_print(out, options, &result);
	if (fflush(out) != 0 || ferror(out))
		ret = errno ? -errno : -EIO;
	if (ret < 0)
		say_error("cannot write the counts to %s: %s",
			  options->output ? options->output : "stderr",
			  strerror(-ret));
	free(what);
	return ret;
}

/* Events are open; the command, if any, waits. Returns the exit status. */
static int measure(const struct stat_options *options, struct counters *counters,
		   struct child *child, int signals, FILE *out)
{
	bool attached = options->kind != TARGET_COMMAND;
	size_t nr_fds = counters_fds(counters, NULL, 0);
	int *fds = calloc(nr_fds + 1, sizeof(*fds));
	struct run_end end = { 0 };
	double start, elapsed;
	int ret = fds ? 0 : -ENOMEM;

	if (fds)
		counters_fds(counters, fds, nr_fds);
	if (ret == 0 && attached)
		ret = counters_enable(counters);
	if (ret < 0) {
		if (options->argv)
			child_cancel(child);
		free(fds);
		return STATUS_FAILED;
	}
	start = now();
	if (options->argv) {
		ret = child_go(child);
		if (ret) {
			say_error("cannot execute '%s': %s", options->argv[0],
				  strerror(ret));
			free(fds);
			return ret == ENOENT ? STATUS_NOT_FOUND :
					       STATUS_NOT_EXECUTABLE;
		}
	}
	ret = run_wait(signals, options->argv ? child->pid : 0, fds, nr_fds, &end);
	elapsed = now() - start;
	if (ret == 0 && attached)
		ret = counters_disable(counters);
	free(fds);
	if (ret == 0)
		ret = counters_read(counters);
	if (ret == 0)
		ret = results_write(out, options, counters, elapsed, &end);
	return ret < 0 ? STATUS_FAILED : end.status;
}

static int start_and_measure(struct pmuctl_device *dev,
			     const struct stat_options *options, FILE *out)
{
	struct counters *counters = NULL;
	struct child child = { 0 };
	sigset_t before;
	int signals = signals_block(&before);
	int status = STATUS_FAILED, ret = 0;

	if (signals < 0) {
		say_error("cannot receive signals: %s", strerror(-signals));
		return STATUS_FAILED;
	}
	if (options->argv)
		ret = child_start(&child, options->argv, &before);
	if (ret < 0)
		say_error("cannot start a process: %s", strerror(-ret));
	else if (counters_open(dev, options, child.pid, &counters) == 0)
		status = measure(options, counters, &child, signals, out);
	else if (options->argv)
		child_cancel(&child);
	counters_close(counters);
	close(signals);
	return status;
}

static FILE *output_open(const struct stat_options *options)
{
	FILE *out;

	if (!options->output)
		return stderr;
	out = fopen(options->output, options->append ? "ae" : "we");
	if (!out)
		say_error("cannot write to '%s': %s", options->output,
			  strerror(errno));
	return out;
}

static int stat_run(int argc, char **argv)
{
	struct stat_options options = { .kind = TARGET_COMMAND };
	struct pmuctl_device *dev = NULL;
	struct pmuctl_explanation why;
	FILE *out = NULL;
	int status = options_parse(&options, argc, argv);

	if (status)
		goto out;
	status = STATUS_FAILED;
	if (pmuctl_device_open(NULL, &why, &dev) < 0) {
		say_error("%s", why.sentence);
		goto out;
	}
	if (options.default_events) {
		status = default_events_choose(dev, &options);
		if (status)
			goto out;
		status = STATUS_FAILED;
	}
	out = output_open(&options);
	if (out)
		status = start_and_measure(dev, &options, out);
out:
	if (out && out != stderr && fclose(out) != 0 && status == STATUS_OK) {
		say_error("cannot write to '%s': %s", options.output,
			  strerror(errno));
		status = STATUS_FAILED;
	}
	pmuctl_device_close(dev);
	pmuctl_events_free(options.events);
	int_list_free(&options.ids);
	return status < 0 ? STATUS_OK : status;
}

const struct command command_stat = {
	.name = "stat",
	.run = stat_run,
	.summary = "count events of a command, a process, a thread or a CPU",
	.help = stat_help,
};
