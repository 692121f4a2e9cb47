// SPDX-License-Identifier: GPL-2.0-only
/*
 * The results of checks, and the report of them all, for people and for programs.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "selftest.h"

/* Of the JSON object; grows when a key changes its meaning. */
#define REPORT_FORMAT	1

/**
 * result_init() - begin a check
 * @result: the check.
 * @name: for programs.
 * @title: for people.
 *
 * Return: 0 or -ENOMEM; to be freed with result_free() in either case.
 */
int result_init(struct result *result, const char *name, const char *title)
{
	*result = (struct result) {
		.name = name,
		.title = title,
		.faults = json_array(),
		.figures = json_array(),
	};
	return result->faults && result->figures ? 0 : -ENOMEM;
}

/**
 * result_free() - forget it
 * @result: the check.
 */
void result_free(struct result *result)
{
	json_decref(result->faults);
	json_decref(result->figures);
}

/**
 * result_find() - say what was looked at
 * @result: the check.
 * @format: a sentence.
 */
void result_find(struct result *result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(result->finding, sizeof(result->finding), format, args);
	va_end(args);
}

/**
 * result_skip() - say why the check is not made
 * @result: the check.
 * @format: a sentence.
 */
void result_skip(struct result *result, const char *format, ...)
{
	va_list args;

	result->skipped = true;
	va_start(args, format);
	vsnprintf(result->finding, sizeof(result->finding), format, args);
	va_end(args);
}

/**
 * result_fault() - say that something is wrong
 * @result: the check, which has failed with this.
 * @format: a sentence.
 */
void result_fault(struct result *result, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	json_array_append_new(result->faults, json_string(text));
}

/**
 * result_figure() - keep what was measured
 * @result: the check.
 * @figure: an object, which belongs to the check then.
 */
void result_figure(struct result *result, json_t *figure)
{
	json_array_append_new(result->figures, figure);
}

/**
 * result_failed() - has it failed?
 * @result: the check.
 *
 * Return: true if there is a fault.
 */
bool result_failed(const struct result *result)
{
	return json_array_size(result->faults) > 0;
}

static const char *verdict_of(const struct result *result)
{
	return result_failed(result) ? "FAILED" : result->skipped ? "skipped" : "ok";
}

/* How many have this verdict */
static size_t how_many(const struct result *results, size_t n, const char *verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += !strcmp(verdict_of(&results[i]), verdict);
	return count;
}

/* ------------------------------------------------------------------ text */

static void print_value(json_t *value);

/* "key value, key value"; what is within a value is in brackets. */
static void print_object(json_t *object)
{
	const char *before = "", *key;
	json_t *value;

	json_object_foreach(object, key, value) {
		printf("%s%s ", before, key);
		print_value(value);
		before = ", ";
	}
}

static void print_value(json_t *value)
{
	json_t *entry;
	size_t i;

	if (json_is_array(value)) {
		putchar('(');
		json_array_foreach(value, i, entry) {
			fputs(i ? ", " : "", stdout);
			print_value(entry);
		}
		putchar(')');
	} else if (json_is_string(value)) {
		fputs(json_string_value(value), stdout);
	} else if (json_is_object(value)) {
		putchar('(');
		print_object(value);
		putchar(')');
	} else {
		json_dumpf(value, stdout, JSON_ENCODE_ANY);
	}
}

static void print_result(const struct result *result)
{
	json_t *entry;
	size_t i;

	printf("%-8s %s: %s\n", verdict_of(result), result->title, result->finding);
	json_array_foreach(result->faults, i, entry)
		printf("%-8s   FAULT: %s\n", "", json_string_value(entry));
	json_array_foreach(result->figures, i, entry) {
		printf("%-8s   ", "");
		print_object(entry);
		putchar('\n');
	}
}

/**
 * report_text() - print the report for people
 * @machine: what machine_facts() gave.
 * @results: the checks.
 * @n: how many.
 */
void report_text(json_t *machine, const struct result *results, size_t n)
{
	json_t *value;
	const char *key;

	printf("pmuctl selftest\n\n");
	json_object_foreach(machine, key, value) {
		printf("%-18s ", key);
		if (json_is_object(value))
			print_object(value);
		else
			print_value(value);
		putchar('\n');
	}
	putchar('\n');
	for (size_t i = 0; i < n; i++)
		print_result(&results[i]);
	printf("\n%zu ok, %zu failed, %zu skipped\n", how_many(results, n, "ok"),
	       how_many(results, n, "FAILED"), how_many(results, n, "skipped"));
}

/* ------------------------------------------------------------------ JSON */

/**
 * report_json() - print the report for programs
 * @machine: what machine_facts() gave.
 * @results: the checks.
 * @n: how many.
 *
 * Return: 0 or -ENOMEM.
 */
int report_json(json_t *machine, const struct result *results, size_t n)
{
	json_t *checks = json_array(), *all;
	int failed;

	for (size_t i = 0; i < n; i++) {
		const struct result *result = &results[i];

		json_array_append_new(checks, json_pack("{s:s, s:s, s:s, s:O, s:O}",
							"name", result->name,
							"verdict", verdict_of(result),
							"finding", result->finding,
							"faults", result->faults,
							"figures", result->figures));
	}
	all = json_pack("{s:i, s:b, s:O, s:o}", "format", REPORT_FORMAT,
			"passed", !how_many(results, n, "FAILED"), "machine", machine,
			"checks", checks);
	failed = !all || json_dumpf(all, stdout, JSON_INDENT(1));
	json_decref(all);
	putchar('\n');
	return failed ? -ENOMEM : 0;
}
