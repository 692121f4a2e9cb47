// SPDX-License-Identifier: GPL-2.0-only
/*
 * Annotated functions as text, which is that of "perf annotate --stdio", or as JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "annotate.h"

/**
 * struct printer - a function that is being printed
 * @annotate: the command.
 * @function: the function.
 * @source: its sources.
 * @file: of the line that was printed last.
 * @line: its number.
 * @list: of JSON, its instructions.
 */
struct printer {
	struct annotate *annotate;
	const struct annotate_function *function;
	struct source *source;
	const char *file;
	int line;
	json_t *list;
};

/* ------------------------------------------------------------------- text */

/* How often instructions were executed between branches is told. */
static bool has_coverage(const struct printer *printer)
{
	return !printer->annotate->trace && annotate_has_branches(printer->function->event);
}

/* A share of the function, but of a trace, of all. */
static double percent_of(const struct printer *printer, const struct annotate_site *part)
{
	return annotate_percent(part->period, printer->annotate->trace ?
				annotate_total(printer->annotate, printer->function) :
				printer->function->period);
}

/* Between the percentage and the text, @part's numbers or none */
static void print_columns(const struct printer *printer, const struct annotate_site *part)
{
	if (printer->annotate->counts && part)
		printf("%8" PRIu64 " :", part->samples);
	else if (printer->annotate->counts)
		printf("         :");
	if ((printer->annotate->trace || has_coverage(printer)) && part)
		printf("%8" PRIu64 " :", printer->annotate->trace ? part->period : part->coverage);
	else if (printer->annotate->trace || has_coverage(printer))
		printf("         :");
}

static void print_heading(const struct printer *printer)
{
	const struct annotate *annotate = printer->annotate;
	const struct annotate_function *function = printer->function;
	struct samples *samples = annotate->samples;
	int length;

	length = printf(" Percent |%s%s\tSource code & Disassembly of %s for %s (%" PRIu64
			" %s, %.2f%% of all, percent: %s period)\n",
			annotate->counts ? " Samples |" : "",
			annotate->trace ? "Executed |" : has_coverage(printer) ? "Coverage |" : "",
			function->place.binary->name, samples_event_name(samples, function->event),
			function->samples, annotate->trace ? "instructions" : "samples",
			annotate_percent(function->period, annotate_total(annotate, function)),
			annotate->trace ? "global" : "local");
	for (int i = 0; i < length; i++)
		putchar('-');
	printf("\n         :");
	print_columns(printer, NULL);
	printf("\t%s():\n", samples_place_name(samples, &function->place));
}

static void print_source(struct printer *printer,
			 const struct annotate_instruction *instruction)
{
	struct names *names = printer->annotate->samples->symbols->names;
	const char *text;

	if (!instruction->file || (instruction->line == printer->line && printer->file &&
				   !strcmp(instruction->file, printer->file)))
		return;
	printer->file = instruction->file;
	printer->line = instruction->line;
	text = source_line(printer->source, instruction->file, instruction->line);
	printf("         :");
	print_columns(printer, NULL);
	printf("\t%s:%d%s%s\n", names_intern(names, instruction->file), instruction->line,
	       text ? "  " : "", text ? text : "");
}

/*
 * As "perf annotate" has it: what share of the coverage of the next branch joins at a target, what
 * share leaves by a branch, and how much of that was predicted, if it is told. What is below 0.1 % it
 * leaves out.
 */
static void print_branches(const struct annotate_site *part)
{
	double joins = annotate_percent(part->entry, part->joined);
	double leaves = annotate_percent(part->taken, part->coverage);
	uint64_t told = part->predicted + part->mispredicted;

	if (joins > 0.1 || leaves > 0.1)
		printf("\t#");
	if (joins > 0.1)
		printf(" +%.2f%%", joins);
	if (leaves > 0.1)
		printf(" -%.2f%%", leaves);
	if (leaves > 0.1 && told)
		printf(" (p:%.2f%%)", annotate_percent(part->predicted, told));
}

static void print_instruction(void *arg, const struct annotate_instruction *instruction)
{
	struct printer *printer = arg;
	const struct annotate_site *part = &instruction->part;

	print_source(printer, instruction);
	printf("%8.2f :", percent_of(printer, part));
	print_columns(printer, part);
	printf("\t%8" PRIx64 ":\t%s", instruction->address, instruction->text);
	if (instruction->target && instruction->target_offset)
		printf(" <%s+%#" PRIx64 ">", instruction->target, instruction->target_offset);
	else if (instruction->target)
		printf(" <%s>", instruction->target);
	print_branches(part);
	putchar('\n');
}

/* ------------------------------------------------------------------- JSON */

static json_int_t number(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (json_int_t)value;
}

static const char *count_key(const struct printer *printer)
{
	return printer->annotate->trace ? "executed" : "samples";
}

static void set_branches(json_t *object, const struct annotate_site *part)
{
	json_object_set_new(object, "coverage", json_integer(number(part->coverage)));
	json_object_set_new(object, "entry", json_integer(number(part->entry)));
	json_object_set_new(object, "taken", json_integer(number(part->taken)));
	if (!part->predicted && !part->mispredicted)
		return;
	json_object_set_new(object, "predicted", json_integer(number(part->predicted)));
	json_object_set_new(object, "mispredicted", json_integer(number(part->mispredicted)));
}

static void add_instruction(void *arg, const struct annotate_instruction *instruction)
{
	struct printer *printer = arg;
	const struct annotate_site *part = &instruction->part;
	struct names *names = printer->annotate->samples->symbols->names;
	char address[24];
	json_t *object;

	snprintf(address, sizeof(address), "%#" PRIx64, instruction->address);
	object = json_pack("{s:s, s:I, s:f, s:I, s:I, s:s}", "address", address, "offset",
			   number(instruction->offset), "percent", percent_of(printer, part), "period",
			   number(part->period), count_key(printer), number(part->samples), "text",
			   instruction->text);
	if (has_coverage(printer))
		set_branches(object, part);
	if (instruction->target) {
		json_object_set_new(object, "target", json_string(instruction->target));
		json_object_set_new(object, "target_offset",
				    json_integer(number(instruction->target_offset)));
	}
	if (instruction->file) {
		json_object_set_new(object, "file",
				    json_string(names_intern(names, instruction->file)));
		json_object_set_new(object, "line", json_integer(instruction->line));
	}
	json_array_append_new(printer->list, object);
}

static json_t *function_json(const struct printer *printer)
{
	const struct annotate_function *function = printer->function;
	struct annotate *annotate = printer->annotate;

	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:f, s:O}", "event",
			 samples_event_name(annotate->samples, function->event), "symbol",
			 samples_place_name(annotate->samples, &function->place), "dso",
			 function->place.binary->name, count_key(printer), number(function->samples),
			 "period", number(function->period), "percent",
			 annotate_percent(function->period, annotate_total(annotate, function)),
			 "instructions", printer->list);
}

/* -------------------------------------------------------------------- all */

/* Whether its code was there */
static bool print_function(struct annotate_code *code, struct printer *printer,
			   json_t *functions)
{
	const struct annotate_function *function = printer->function;
	struct samples *samples = printer->annotate->samples;
	const char *problem;
	bool found;

	if (functions)
		printer->list = json_array();
	else
		print_heading(printer);
	found = code_visit(code, function, functions ? add_instruction : print_instruction,
			   printer, &problem);
	if (functions) {
		json_array_append_new(functions, function_json(printer));
		json_decref(printer->list);
	} else {
		putchar('\n');
	}
	if (!found)
		say_error("no code of %s in %s: %s", samples_place_name(samples, &function->place),
			  function->place.binary->name, problem);
	return found;
}

/**
 * annotate_print() - print functions
 * @annotate: the command.
 * @list: the functions.
 * @count: how many.
 *
 * Return: how many had code; -ENOMEM, which was told.
 */
int annotate_print(struct annotate *annotate, struct annotate_function *const *list,
		   size_t count)
{
	struct printer printer = { .annotate = annotate };
	json_t *functions = annotate->json ? json_array() : NULL;
	struct annotate_code *code = code_new(annotate);
	int found = 0;

	printer.source = source_new(annotate->input.root);
	if (!code || !printer.source)
		found = -ENOMEM;
	for (size_t i = 0; found >= 0 && i < count; i++) {
		printer.function = list[i];
		printer.file = NULL;
		found += print_function(code, &printer, functions);
	}
	if (functions && found >= 0) {
		json_t *all = json_pack("{s:O}", "functions", functions);

		json_dumpf(all, stdout, JSON_INDENT(1));
		putchar('\n');
		json_decref(all);
	}
	json_decref(functions);
	source_free(printer.source);
	code_free(code);
	return found;
}
