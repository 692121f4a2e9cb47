// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl doctor": can this machine count, and if not, why, and what to do. Runs the
 * checks in the order in which things must be right, and prints them.
 */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "doctor.h"
#include "options.h"

static const struct cli_option doctor_options[] = {
	{ 'j', "json",
	  .help = "one JSON object: can_count, and checks with name, state, finding, remedy" },
	{ 0 },
};

/* The last one decides. */
static const struct {
	const char *name;
	const char *title;
	void (*run)(struct check *check, const struct patient *patient);
} checks[] = {
	{ "driver",	"Driver",		check_driver },
	{ "version",	"Versions",		check_version },
	{ "device",	"Device permissions",	check_device },
	{ "secure_boot", "Secure Boot",		check_secure_boot },
	{ "machine",	"Machine",		check_machine },
	{ "pmu",	"PMU",			check_pmu },
	{ "owner",	"PMU's owner",		check_owner },
	{ "claim",	"Taking the PMU",	check_claim },
	{ "guests",	"Virtual machines",	check_guests },
	{ "reading",	"Reading counters",	check_reading },
	{ "permission",	"Permission level",	check_permission },
	{ "proven",	"CPU model",		check_proven },
	{ "counting",	"Counting test",	check_counting },
};

static const char *const state_words[] = {
	[CHECK_OK] = "ok",
	[CHECK_NOTE] = "note",
	[CHECK_PROBLEM] = "problem",
	[CHECK_UNKNOWN] = "unknown",
};

/**
 * check_set() - say what a check found
 * @check: the check.
 * @state: how it went.
 * @format: a sentence.
 */
void check_set(struct check *check, enum check_state state, const char *format, ...)
{
	va_list args;

	check->state = state;
	va_start(args, format);
	vsnprintf(check->finding, sizeof(check->finding), format, args);
	va_end(args);
}

/**
 * check_remedy() - say what to do about it
 * @check: the check.
 * @format: a sentence.
 */
void check_remedy(struct check *check, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(check->remedy, sizeof(check->remedy), format, args);
	va_end(args);
}

static void print_text(const struct check *results, bool can_count)
{
	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		printf("%-8s %s: %s\n", state_words[results[i].state],
		       results[i].title, results[i].finding);
		if (results[i].remedy[0])
			printf("%-8s   -> %s\n", "", results[i].remedy);
	}
	printf("\n%s\n", can_count ? "This machine can count." :
				     "This machine cannot count now.");
}

static int print_json(const struct check *results, bool can_count)
{
	json_t *list = json_array();
	json_t *all;
	int failed;

	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		json_t *check = json_pack("{s:s, s:s, s:s, s:s}",
					  "name", results[i].name,
					  "state", state_words[results[i].state],
					  "finding", results[i].finding,
					  "remedy", results[i].remedy);

		json_array_append_new(list, check);
	}
	all = json_pack("{s:b, s:o}", "can_count", can_count, "checks", list);
	failed = !all || json_dumpf(all, stdout, JSON_INDENT(1));
	json_decref(all);
	putchar('\n');
	return failed ? -ENOMEM : 0;
}

static int examine(bool json)
{
	struct check results[ARRAY_LEN(checks)] = { { .name = NULL } };
	struct patient patient = { .dev = NULL };
	bool can_count;
	int ret = 0;

	if (pmuctl_device_open(NULL, &patient.why, &patient.dev) == 0)
		pmuctl_device_info(patient.dev, &patient.info,
				   sizeof(patient.info));
	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		results[i].name = checks[i].name;
		results[i].title = checks[i].title;
		checks[i].run(&results[i], &patient);
	}
	pmuctl_device_close(patient.dev);
	can_count = results[ARRAY_LEN(checks) - 1].state == CHECK_OK;
	if (json)
		ret = print_json(results, can_count);
	else
		print_text(results, can_count);
	if (ret < 0)
		say_error("%s", pmuctl_strerror(ret));
	return can_count && ret == 0 ? STATUS_OK : STATUS_FAILED;
}

/* An option_apply; -j is all there is. */
static int take_option(void *arg, int value)
{
	bool *json = arg;

	*json = value == 'j';
	return STATUS_OK;
}

static int doctor_run(int argc, char **argv)
{
	bool json = false;
	int status = options_parse(&command_doctor, argc, argv, take_option, &json);

	if (status)
		return status;
	if (optind < argc)
		return say_usage(&command_doctor, "'%s' is not expected here",
				 argv[optind]);
	return examine(json);
}

const struct command command_doctor = {
	.name = "doctor",
	.run = doctor_run,
	.summary = "tell whether this machine can count, and if not, why",
	.operands = "",
	.about =
"Looks for what could keep this machine from counting, tells for each thing how it is "
"and what to do, and counts a loop of one million instructions as the proof.",
	.options = { doctor_options },
	.notes = "The exit status is 0 if this machine can count for this user, else 1.",
};
