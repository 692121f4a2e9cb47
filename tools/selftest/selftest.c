// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl selftest": what does the PMU of this machine really do, and is it what pmuctl relies
 * on? Runs the checks and prints a report that can be sent.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "options.h"
#include "selftest.h"

enum {
	OPTION_HOTPLUG = OPTION_NO_LETTER,
};

/**
 * struct choice - what the options ask for
 * @json: a report for programs.
 * @hotplug: the CPU that goes offline and back, -1: none.
 */
struct choice {
	bool json;
	int hotplug;
};

static const struct cli_option selftest_options[] = {
	{ 'j', "json",
	  .help = "one JSON object: passed, machine, and checks with name, verdict, finding, faults, figures" },
	{ OPTION_HOTPLUG, "hotplug", .argument = "CPU",
	  .help = "have this CPU go offline and come back, too" },
	{ 0 },
};

static const struct {
	const char *name;
	const char *title;
	void (*run)(struct result *result, struct selftest *test);
} checks[] = {
	{ "counters",	"Counters",		check_counters },
	{ "events",	"Events",		check_events },
	{ "overflow",	"Overflow",		check_overflow },
	{ "periods",	"Periods",		check_periods },
	{ "together",	"All counters at once",	check_together },
	{ "nmis",	"NMIs",			check_nmis },
	{ "idle",	"Idle and busy",	check_idle },
	{ "trace",	"Processor Trace",	check_trace },
	{ "registers",	"Registers",		check_registers },
	{ "hotplug",	"Hotplug",		check_hotplug },
};

/* The loops run on one CPU, the first that this process may use. */
static bool stay_on_a_cpu(struct selftest *test)
{
	cpu_set_t set;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return false;
	while (cpu < CPU_SETSIZE - 1 && !CPU_ISSET(cpu, &set))
		cpu++;
	return go_to_cpu(test, cpu);
}

static int run_checks(struct selftest *test, bool json)
{
	struct result results[ARRAY_LEN(checks)] = { { .name = NULL } };
	json_t *machine = machine_facts(test);
	int status = STATUS_OK, ret = machine ? 0 : -ENOMEM;

	for (size_t i = 0; i < ARRAY_LEN(checks) && !ret; i++) {
		ret = result_init(&results[i], checks[i].name, checks[i].title);
		if (!ret)
			checks[i].run(&results[i], test);
		if (!ret && result_failed(&results[i]))
			status = STATUS_FAILED;
	}
	if (!ret && json)
		ret = report_json(machine, results, ARRAY_LEN(checks));
	else if (!ret)
		report_text(machine, results, ARRAY_LEN(checks));
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		result_free(&results[i]);
	json_decref(machine);
	if (ret < 0)
		say_error("%s", pmuctl_strerror(ret));
	return ret < 0 ? STATUS_FAILED : status;
}

static int test_machine(const struct choice *choice)
{
	struct pmuctl_explanation why;
	struct selftest test = { .dev = NULL, .hotplug = choice->hotplug };
	int status;

	if (geteuid() != 0) {
		say_error("selftest must be run as root: it looks at the whole PMU, and takes it from others");
		return STATUS_FAILED;
	}
	if (pmuctl_device_open(NULL, &why, &test.dev) < 0) {
		say_error("%s", why.sentence);
		return STATUS_FAILED;
	}
	pmuctl_device_info(test.dev, &test.info, sizeof(test.info));
	test.perf = perf_may_have_it(test.why_not_perf, sizeof(test.why_not_perf));
	test.log = nmi_log_open();
	test.registers = registers_take(&test);
	if (stay_on_a_cpu(&test)) {
		status = run_checks(&test, choice->json);
	} else {
		say_error("selftest cannot stay on a CPU");
		status = STATUS_FAILED;
	}
	if (test.log >= 0)
		close(test.log);
	free(test.registers);
	pmuctl_device_close(test.dev);
	return status;
}

/* An option_apply */
static int take_option(void *arg, int value)
{
	struct choice *choice = arg;
	char *end;
	long cpu;

	if (value == 'j') {
		choice->json = true;
		return STATUS_OK;
	}
	cpu = strtol(optarg, &end, 10);
	if (end == optarg || *end || cpu < 0 || cpu > INT_MAX)
		return say_usage(&command_selftest, "'%s' is not the number of a CPU", optarg);
	choice->hotplug = (int)cpu;
	return STATUS_OK;
}

static int selftest_run(int argc, char **argv)
{
	struct choice choice = { .json = false, .hotplug = -1 };
	int status = options_parse(&command_selftest, argc, argv, take_option, &choice);

	if (status)
		return status;
	if (optind < argc)
		return say_usage(&command_selftest, "'%s' is not expected here",
				 argv[optind]);
	return test_machine(&choice);
}

const struct command command_selftest = {
	.name = "selftest",
	.run = selftest_run,
	.summary = "measure what this machine's PMU really does, for a report",
	.operands = "",
	.about =
"Has the PMU count code whose counts are known, by pmuctl and by the kernel's perf in turn, "
"compares, and prints a report with all figures, which can be sent. It needs root and less than "
"two minutes, changes nothing for good, and takes the PMU from nobody who uses it.",
	.options = { selftest_options },
	.notes = "The exit status is 0 if nothing failed, else 1.",
};
