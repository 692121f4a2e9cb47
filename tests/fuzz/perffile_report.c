// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing what is made of perf.data files (libFuzzer): tasks, rows, trees, text, JSON,
 * flame graphs, samples one by one and by instruction. The files that a recording names are not opened
 * here: a fuzzer must not read where random paths lead, and elfutils is others' code.
 * Output goes to /dev/null.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../tools/annotate/annotate.h"
#include "../../tools/diff/diff.h"
#include "../../tools/report/report.h"
#include "../../tools/script/script.h"
#include "../../tools/symbols/inline.h"
#include "../../tools/symbols/jit.h"
#include "../../tools/symbols/unwind.h"

const struct command command_report = { .name = "report" };

/* A message for each input would only slow the fuzzer down. */
void say_error(const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
}

int say_usage(const struct command *command, const char *format, ...)
{
	(void)command;
	(void)format;
	return STATUS_USAGE;
}

/* A few functions for the kernel and every file, so that there are names. */
static void add_functions(struct binary *binary)
{
	static const char *const names[] = { "one", "_ZN3two5threeEv", "four;five", "<six>",
					     "_RINvC3six5sevenThhEE" };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct symbol symbol = { .start = i * 768, .end = i * 768 + (i & 1) * 512,
					 .raw = names[i] };

		if (symbol_table_add(&binary->table, &symbol) < 0)
			abort();
	}
	symbol_table_finish(&binary->table);
}

void symbols_load_file(struct symbols *symbols, struct binary *binary)
{
	(void)symbols;
	add_functions(binary);
}

void symbols_load_kernel(struct symbols *symbols)
{
	add_functions(symbols->kernel);
}

uint64_t binary_address(const struct binary *binary, uint64_t offset)
{
	(void)binary;
	return offset & 0xfff;
}

const char *symbols_source_line(struct symbols *symbols, const struct place *place)
{
	return place->address & 1 ? names_intern(symbols->names, "file.c:1") : NULL;
}

void binary_close(struct binary *binary)
{
	(void)binary;
}

/* Of the recording, or NULL */
static struct tracepoints *formats;

/* libtraceevent is others' code, and has a process of its own. */
char *printer_print(struct tracepoints *tracepoints, struct tracepoint_format *format,
		    const uint8_t *raw, size_t size)
{
	(void)tracepoints;
	(void)format;
	(void)raw;
	(void)size;
	return NULL;
}

void printer_end(struct tracepoints *tracepoints)
{
	(void)tracepoints;
}

/* At every other address the same function is inlined, once or three times. */
size_t inlined_add(struct symbols *symbols, struct place *places, size_t max, bool is_return)
{
	static struct symbol inlined = { .raw = "seven", .is_inlined = true };
	size_t count = (places[0].address - is_return) & 3;

	inlined.name = names_intern(symbols->names, "seven (inlined)");
	if (!(count & 1) || count >= max)
		return 0;
	places[count] = places[0];
	for (size_t i = 0; i < count; i++) {
		places[i] = places[count];
		places[i].symbol = &inlined;
	}
	return count;
}

/* Generated code is that at odd addresses. */
void jit_mapped(struct symbols *symbols, struct jit_files *files, int32_t pid,
		const char *path)
{
	(void)pid;
	files->dump = symbols_binary(symbols, BINARY_JIT, path, NULL, 0);
}

bool jit_place(struct symbols *symbols, struct jit_files *files, int32_t pid, uint64_t time,
	       uint64_t address, struct place *place)
{
	(void)pid;
	(void)time;
	if (!(address & 1) || !files->dump)
		return false;
	place->binary = files->dump;
	place->symbol = symbols_find(symbols, files->dump, address & 0xfff);
	return place->symbol;
}

void jit_load_map(struct symbols *symbols, struct binary *binary)
{
	symbols_load_file(symbols, binary);
}

void jit_free(struct jit *jit)
{
	(void)jit;
}

/* The words of the stack, in place of what programs know of their frames */
struct unwinder *unwinder_new(struct tasks *tasks)
{
	return (struct unwinder *)tasks;
}

void unwinder_free(struct unwinder *unwinder)
{
	(void)unwinder;
}

size_t unwinder_walk(struct unwinder *unwinder, const struct thread *thread,
		     const struct perffile_record *record, uint64_t *ips, size_t max)
{
	size_t count = 0;
	uint64_t bias;

	while (count < max && (count + 1) * 8 <= record->sample.stack_size) {
		ips[count] = perffile_word(record->sample.stack + count * 8);
		tasks_file_at((struct tasks *)unwinder, thread, ips[count++], &bias);
	}
	return tasks_map_number(thread) ? count : 0;
}

/* ---- in place of the files of code and sources that "annotate" reads */

struct annotate_code *code_new(struct annotate *annotate)
{
	return (struct annotate_code *)annotate;
}

void code_free(struct annotate_code *code)
{
	(void)code;
}

/* An instruction where samples are, now and then of a line or with a target; or there is no code. */
bool code_visit(struct annotate_code *code, const struct annotate_function *function,
		annotate_visit visit, void *arg, const char **problem)
{
	(void)code;
	*problem = "none";
	for (size_t i = 0; i < function->site_count; i++) {
		const struct annotate_site *site = &function->sites[i];
		struct annotate_instruction instruction = {
			.address = function->place.symbol->start + site->offset, .offset = site->offset,
			.size = 1, .text = "nop", .part = *site, .file = site->offset & 1 ? "file.c" : NULL,
			.target = site->offset & 2 ? "one" : NULL, .target_offset = site->offset & 4,
		};

		if (i && site->offset <= site[-1].offset)
			abort();
		visit(arg, &instruction);
	}
	return function->samples & 1;
}

struct source *source_new(const char *root)
{
	return (struct source *)root;
}

void source_free(struct source *source)
{
	(void)source;
}

const char *source_line(struct source *source, const char *file, int line)
{
	return source && file && line ? "text" : NULL;
}

/* The writer of an event's samples, one after the other */
static void export_all(struct export *export, size_t which)
{
	static const char *const names[] = { "pprof", "speedscope", "firefox" };
	const struct export_format *format = export_format(names[which % ARRAY_LEN(names)]);

	if (!format || export_write(export, format, "-") < 0)
		abort();
	export_free(export);
}

static void print_one(struct samples *samples, const struct perffile_record *record, bool json)
{
	struct script script = { .fields = ~0U, .chains = true, .samples = samples,
				 .tracepoints = formats };
	const struct thread *thread = tasks_thread(samples->tasks, record->pid, record->tid);

	if (json)
		script_print_json(&script, record, thread);
	else if (record->type == PERF_RECORD_SAMPLE)
		script_print_sample(&script, record, thread);
	else
		script_print_record(&script, record, thread);
}

static void add_all(struct report *report, struct annotate *annotate)
{
	struct samples *samples = report->samples;
	struct perffile_record record;

	while (samples_next(samples, &record) > 0) {
		struct report_event *event;
		struct thread *thread;
		bool is_sample = record.type == PERF_RECORD_SAMPLE;

		if (is_sample && !record.event)
			continue;
		if (is_sample) {
			event = &report->events[record.event - samples->file->events];
			thread = samples_resolve(samples, &record, true);
			filter_skips(&report->options->filter, &record);
			filter_has(&report->options->filter, samples, &record, thread);
			if (!thread || hist_add(report, event, &record, thread) < 0 ||
			    flame_add(report, event, thread, record.sample.period) < 0 ||
			    export_add(&event->export, &record, thread) < 0 ||
			    sites_add(annotate, &record) < 0)
				abort();
			annotate->totals[event - report->events] += record.sample.period;
		}
		print_one(samples, &record, record.offset & 8);
	}
}

static void print_annotated(struct annotate *annotate)
{
	struct annotate_function **list;

	if (!annotate->count)
		return;
	if (sites_finish(annotate, &list) < 0 || annotate_print(annotate, list, annotate->count) < 0)
		abort();
	free(list);
}

/* What is new from the first event to the last one, as if these were of two recordings */
static void compare(struct report *report)
{
	struct diff diff = {
		.options = *report->options, .compute = (enum diff_compute)(report->event_count & 3),
		.weights = { 2, 3 }, .periods = true, .paths = { "old", "new" },
		.reports = { *report, *report },
	};
	struct diff_rows rows = {
		.name = "event",
		.events = { &report->events[0], &report->events[report->event_count - 1] },
	};

	if (pairs_make(&diff, &rows) < 0 || diff_print_json(&diff, &rows, 1) < 0)
		abort();
	diff_print(&diff, &rows);
	free(rows.list);
}

static void print_all(struct report *report)
{
	for (size_t i = 0; i < report->event_count; i++) {
		hist_finish(report, &report->events[i]);
		flame_print_folded(&report->events[i]);
		flame_write_svg(report, &report->events[i], "-");
		export_all(&report->events[i].export, i + report->event_count);
	}
	if (groups_join(report) < 0)
		abort();
	about_print(report);
	about_print_stats(report);
	report_print(report);
	if (report_print_json(report) < 0)
		abort();
	if (report->event_count)
		compare(report);
}

/* What is asked for depends on the size of the input. */
static void choose(struct report_options *options, struct samples *samples, size_t size)
{
	options->children = size & 1;
	options->graph.order = size & 2 ? GRAPH_CALLER : GRAPH_CALLEE;
	options->graph.style = (enum report_style)(size >> 2 & 3);
	options->hierarchy = size & 16;
	options->filter.symbol_part = size & 32 ? "o" : NULL;
	options->filter.relative = size & 64;
	options->filter.time = size & 128 ? "10%/2,50%-90%" : NULL;
	options->group = (int)(size >> 8 & 3) - 1;
	options->about = ABOUT_HEADER;
	options->counts = true;
	options->sort_text = "comm,pid,tid,cpu,dso,symbol,srcline,parent";
	filter_parent(&command_report, &options->filter, "three|six");
	columns_set(options);
	filter_start(&options->filter, samples);
}

static void run(struct samples *samples, size_t size)
{
	struct report_options options = { .separator = NULL };
	struct report report = { .options = &options, .samples = samples };
	struct annotate annotate = { .samples = samples, .json = size & 512, .counts = size & 1 };

	annotate.input.root = "";
	annotate.totals = calloc(samples->file->event_count, sizeof(*annotate.totals));
	choose(&options, samples, size);
	report.event_count = samples->file->event_count;
	report.events = calloc(report.event_count, sizeof(*report.events));
	for (size_t i = 0; i < report.event_count; i++) {
		struct report_event *event = &report.events[i];

		event->event = &samples->file->events[i];
		event->name = samples_event_name(samples, event->event);
		event->export = (struct export){ .samples = samples, .event = event->event,
						 .name = event->name };
	}
	add_all(&report, &annotate);
	print_all(&report);
	print_annotated(&annotate);
	sites_free(&annotate);
	free(annotate.totals);
	for (size_t i = 0; i < report.event_count; i++)
		hist_free(&report.events[i]);
	free(report.events);
	filter_free(&options.filter);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the tool prints is not looked at; what the fuzzer says goes to another descriptor. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (!freopen("/dev/null", "w", stdout))
		abort();
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct samples *samples = calloc(1, sizeof(*samples));
	struct perffile_error error;

	if (!samples)
		abort();
	samples->path = "fuzz";
	if (perffile_open_memory(&samples->file, data, size, &error) < 0) {
		free(samples);
		return 0;
	}
	samples->symbols = symbols_new(&samples->file->info, "", NULL);
	samples->tasks = tasks_new(samples->symbols);
	formats = samples->file->info.tracing ?
		  tracepoints_new(samples->file->info.tracing,
				  samples->file->info.tracing_size) : NULL;
	run(samples, size);
	tracepoints_free(formats);
	samples_close(samples);
	return 0;
}
