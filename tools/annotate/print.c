// SPDX-License-Identifier: GPL-2.0-only
/*
 * Annotated functions as text, which is that of "perf annotate --stdio", or as JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/* ------------------------------------------------------------------ lines */

/* As with perf: what has less is not worth a line. */
#define LINE_PERCENT 0.5

struct line {
	const char *file;
	int number;
	uint64_t period;
};

/**
 * struct lines - what the lines of a function have
 * @list: them.
 * @count: how many.
 * @failed: there was no memory for all.
 */
struct lines {
	struct line *list;
	size_t count;
	bool failed;
};

/* With -P its path, as the debug information has it */
static const char *file_name(const struct annotate *annotate, const char *file)
{
	const char *slash = annotate->full_paths ? NULL : strrchr(file, '/');

	return names_intern(annotate->samples->symbols->names, slash ? slash + 1 : file);
}

static const char *program_name(const struct annotate *annotate, const struct binary *binary)
{
	return annotate->full_paths ? binary->path : binary->name;
}

/* An annotate_visit; where no line is known there is nothing to add it to. */
static void add_line(void *arg, const struct annotate_instruction *instruction)
{
	struct lines *lines = arg;
	struct line *line;

	if (!instruction->file || !instruction->part.period)
		return;
	line = reallocarray(lines->list, lines->count + 1, sizeof(*line));
	lines->failed |= !line;
	if (!line)
		return;
	lines->list = line;
	line[lines->count++] = (struct line){
		instruction->file, instruction->line, instruction->part.period,
	};
}

static int by_place(const void *left, const void *right)
{
	const struct line *a = left, *b = right;
	int order = strcmp(a->file, b->file);

	return order ? order : (a->number > b->number) - (a->number < b->number);
}

static int by_period(const void *left, const void *right)
{
	const struct line *a = left, *b = right;

	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	return by_place(left, right);
}

/* The same line is in several places. */
static void add_up(struct lines *lines)
{
	size_t kept = 0;

	if (!lines->count)
		return;
	qsort(lines->list, lines->count, sizeof(*lines->list), by_place);
	for (size_t i = 1; i < lines->count; i++) {
		if (by_place(&lines->list[kept], &lines->list[i]))
			lines->list[++kept] = lines->list[i];
		else
			lines->list[kept].period += lines->list[i].period;
	}
	lines->count = kept + 1;
	qsort(lines->list, lines->count, sizeof(*lines->list), by_period);
}

/* Which lines of the function have which share of it, the largest first */
static void print_lines(struct annotate_code *code, const struct printer *printer)
{
	const struct annotate_function *function = printer->function;
	const struct annotate *annotate = printer->annotate;
	struct lines lines = { .list = NULL };
	size_t printed = 0;
	const char *problem;

	/* If there is no code, that is told later. */
	code_visit(code, function, add_line, &lines, &problem);
	add_up(&lines);
	if (lines.failed)
		say_error("%s", pmuctl_strerror(-ENOMEM));
	printf("\nSorted summary for file %s\n----------------------------------------------\n\n",
	       function->place.binary->path);
	for (; printed < lines.count; printed++) {
		const struct line *line = &lines.list[printed];
		double percent = annotate_percent(line->period, function->period);

		if (percent <= LINE_PERCENT)
			break;
		printf(" %7.2f %s:%d\n", percent, file_name(annotate, line->file), line->number);
	}
	if (!printed)
		printf(" Nothing higher than %1.1f%%\n", LINE_PERCENT);
	free(lines.list);
}

/* Behind an instruction, its line if it has a share that is worth it */
static void print_place(const struct printer *printer, const struct annotate_instruction *instruction)
{
	const struct annotate *annotate = printer->annotate;

	if (annotate->lines && instruction->file &&
	    annotate_percent(instruction->part.period, printer->function->period) > LINE_PERCENT)
		printf(" // %s:%d", file_name(annotate, instruction->file), instruction->line);
}

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
			program_name(annotate, function->place.binary),
			samples_event_name(samples, function->event), function->samples,
			annotate->trace ? "instructions" : "samples",
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

	if (!instruction->file || printer->annotate->no_source ||
	    (instruction->line == printer->line && printer->file &&
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
	print_place(printer, instruction);
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

	if (printer->annotate->lines && !functions)
		print_lines(code, printer);
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
