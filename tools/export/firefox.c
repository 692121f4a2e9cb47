// SPDX-License-Identifier: GPL-2.0-only
/*
 * The processed profile format of the Firefox Profiler (profiler.firefox.com): for each thread
 * tables of strings, functions, frames, stacks and samples, each as columns. Its versions
 * are those of docs-developer/CHANGELOG-formats.md of github.com/firefox-devtools/profiler;
 * the viewer takes all that are older than its own.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "export.h"

#define GECKO_VERSION 27
#define PROCESSED_VERSION 48

/* Numbers of categories, as write_meta() has them */
enum { CATEGORY_USER, CATEGORY_KERNEL, CATEGORY_OTHER };

/**
 * struct columns - the tables of one thread
 * @data: the samples.
 * @out: where to.
 * @frames: numbers of the frames that it has.
 * @stacks: numbers of the stacks.
 * @binaries: of the functions.
 */
struct columns {
	const struct export *data;
	FILE *out;
	struct export_table frames;
	struct export_table stacks;
	struct export_table binaries;
};

/* A cell of row @row of a column */
typedef void (*write_cell)(const struct columns *columns, uint32_t row);

static void write_column(const struct columns *columns, const char *name, uint32_t rows,
			 write_cell cell)
{
	fprintf(columns->out, "\"%s\":[", name);
	for (uint32_t i = 0; i < rows; i++) {
		if (i)
			fputc(',', columns->out);
		cell(columns, i);
	}
	fputs("],", columns->out);
}

static struct export_frame frame_at(const struct columns *columns, uint32_t row)
{
	return export_frame(columns->data, (uint32_t)columns->frames.keys[row].part[0]);
}

static const struct binary *binary_at(const struct columns *columns, uint32_t row)
{
	return (void *)(uintptr_t)columns->binaries.keys[row].part[0];
}

/* A stack, its callers before it, as the viewer wants them */
static int add_stack(struct columns *columns, uint32_t number, uint32_t *row)
{
	struct export_stack stack = export_stack(columns->data, number);
	uint32_t path[SAMPLES_FRAMES_MAX], frame, parent = EXPORT_NONE, binary;
	size_t depth = 0;

	for (; number != EXPORT_NONE; number = stack.parent) {
		stack = export_stack(columns->data, number);
		path[depth++] = stack.frame;
	}
	while (depth--) {
		struct export_frame about = export_frame(columns->data, path[depth]);

		if (export_table_add(&columns->frames, (struct export_key){ { path[depth] } },
				     &frame) < 0 ||
		    export_table_add(&columns->binaries, (struct export_key){
				     { (uint64_t)(uintptr_t)about.binary } }, &binary) < 0 ||
		    export_table_add(&columns->stacks, (struct export_key){ { parent, frame } },
				     &parent) < 0)
			return -ENOMEM;
	}
	*row = parent;
	return 0;
}

static void cell_minus_one(const struct columns *columns, uint32_t row)
{
	(void)row;
	fputs("-1", columns->out);
}

static void cell_zero(const struct columns *columns, uint32_t row)
{
	(void)row;
	fputc('0', columns->out);
}

static void cell_null(const struct columns *columns, uint32_t row)
{
	(void)row;
	fputs("null", columns->out);
}

static void cell_false(const struct columns *columns, uint32_t row)
{
	(void)row;
	fputs("false", columns->out);
}

static void cell_row(const struct columns *columns, uint32_t row)
{
	fprintf(columns->out, "%" PRIu32, row);
}

/* Names of binaries come behind those of functions. */
static void cell_binary_name(const struct columns *columns, uint32_t row)
{
	fprintf(columns->out, "%" PRIu32, columns->frames.count + row);
}

static void cell_resource(const struct columns *columns, uint32_t row)
{
	struct export_key key = { { (uint64_t)(uintptr_t)frame_at(columns, row).binary } };
	uint32_t number = 0;

	/* It is there: nothing is added. */
	export_table_add((struct export_table *)&columns->binaries, key, &number);
	fprintf(columns->out, "%" PRIu32, number);
}

static void cell_category(const struct columns *columns, uint32_t row)
{
	char level = frame_at(columns, row).level;

	fprintf(columns->out, "%d", level == '.' ? CATEGORY_USER :
				    level == 'k' ? CATEGORY_KERNEL : CATEGORY_OTHER);
}

static void cell_stack_category(const struct columns *columns, uint32_t row)
{
	cell_category(columns, (uint32_t)columns->stacks.keys[row].part[1]);
}

static void cell_stack_frame(const struct columns *columns, uint32_t row)
{
	fprintf(columns->out, "%" PRIu64, columns->stacks.keys[row].part[1]);
}

static void cell_stack_prefix(const struct columns *columns, uint32_t row)
{
	uint64_t parent = columns->stacks.keys[row].part[0];

	if (parent == EXPORT_NONE)
		fputs("null", columns->out);
	else
		fprintf(columns->out, "%" PRIu64, parent);
}

static void write_functions(const struct columns *columns)
{
	uint32_t frames = columns->frames.count, binaries = columns->binaries.count;

	fputs("\"frameTable\":{", columns->out);
	write_column(columns, "address", frames, cell_minus_one);
	write_column(columns, "inlineDepth", frames, cell_zero);
	write_column(columns, "category", frames, cell_category);
	write_column(columns, "subcategory", frames, cell_zero);
	write_column(columns, "func", frames, cell_row);
	write_column(columns, "nativeSymbol", frames, cell_null);
	write_column(columns, "innerWindowID", frames, cell_zero);
	write_column(columns, "implementation", frames, cell_null);
	write_column(columns, "line", frames, cell_null);
	write_column(columns, "column", frames, cell_null);
	fprintf(columns->out, "\"length\":%" PRIu32 "},\n\"funcTable\":{", frames);
	write_column(columns, "isJS", frames, cell_false);
	write_column(columns, "relevantForJS", frames, cell_false);
	write_column(columns, "name", frames, cell_row);
	write_column(columns, "resource", frames, cell_resource);
	write_column(columns, "fileName", frames, cell_null);
	write_column(columns, "lineNumber", frames, cell_null);
	write_column(columns, "columnNumber", frames, cell_null);
	fprintf(columns->out, "\"length\":%" PRIu32 "},\n\"resourceTable\":{", frames);
	write_column(columns, "lib", binaries, cell_null);
	write_column(columns, "name", binaries, cell_binary_name);
	write_column(columns, "host", binaries, cell_null);
	/* 1: a library */
	fputs("\"type\":[", columns->out);
	for (uint32_t i = 0; i < binaries; i++)
		fputs(i ? ",1" : "1", columns->out);
	fprintf(columns->out, "],\"length\":%" PRIu32 "},\n", binaries);
}

static void write_strings(const struct columns *columns)
{
	FILE *out = columns->out;

	fputs("\"stringArray\":[", out);
	for (uint32_t i = 0; i < columns->frames.count; i++) {
		fputs(i ? ",\n" : "\n", out);
		export_json_string(out, frame_at(columns, i).name);
	}
	for (uint32_t i = 0; i < columns->binaries.count; i++) {
		fputs(",\n", out);
		export_json_string(out, binary_at(columns, i)->name);
	}
	fputs("],\n", out);
}

static void write_stacks(const struct columns *columns)
{
	uint32_t stacks = columns->stacks.count;

	fputs("\"stackTable\":{", columns->out);
	write_column(columns, "frame", stacks, cell_stack_frame);
	write_column(columns, "prefix", stacks, cell_stack_prefix);
	write_column(columns, "category", stacks, cell_stack_category);
	write_column(columns, "subcategory", stacks, cell_zero);
	fprintf(columns->out, "\"length\":%" PRIu32 "},\n", stacks);
}

/* Milliseconds since the first sample of all, to the nanosecond */
static void write_time(FILE *out, uint64_t time, uint64_t start)
{
	uint64_t since = time > start ? time - start : 0;

	fprintf(out, "%" PRIu64 ".%06" PRIu64, since / 1000000, since % 1000000);
}

static void write_samples(const struct columns *columns, size_t from, size_t to,
			  const uint32_t *rows, uint64_t start)
{
	const struct export_sample *list = columns->data->list;
	FILE *out = columns->out;

	fputs("\"samples\":{\"weightType\":\"samples\",\"weight\":[", out);
	for (size_t i = from; i < to; i++)
		fprintf(out, "%s%" PRIu64, i > from ? "," : "", list[i].period);
	fputs("],\"stack\":[", out);
	for (size_t i = from; i < to; i++)
		fprintf(out, "%s%" PRIu32, i > from ? "," : "", rows[i - from]);
	fputs("],\"time\":[", out);
	for (size_t i = from; i < to; i++) {
		fputs(i > from ? "," : "", out);
		write_time(out, list[i].time, start);
	}
	fprintf(out, "],\"length\":%zu},\n", to - from);
}

static void write_head(const struct columns *columns, const struct export_thread *thread)
{
	fputs("{\"processType\":\"default\",\"processStartupTime\":0,\"processShutdownTime\":null,"
	      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],\"name\":", columns->out);
	export_json_string(columns->out, thread->comm);
	fprintf(columns->out, ",\"isMainThread\":%s,\"pid\":\"%d\",\"tid\":%d,\n",
		thread->pid == thread->tid ? "true" : "false", thread->pid, thread->tid);
}

static int write_thread(struct columns *columns, uint32_t number, uint64_t start)
{
	const struct export *data = columns->data;
	size_t from = data->first[number], to = data->first[number + 1];
	struct export_thread thread = export_thread(data, number);
	uint32_t *rows = calloc(to - from + 1, sizeof(*rows));
	int ret = rows ? 0 : -ENOMEM;

	for (size_t i = from; i < to && ret == 0; i++)
		ret = add_stack(columns, data->list[i].stack, &rows[i - from]);
	if (ret == 0) {
		write_head(columns, &thread);
		write_samples(columns, from, to, rows, start);
		fputs("\"markers\":{\"data\":[],\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],"
		      "\"category\":[],\"length\":0},\n", columns->out);
		write_stacks(columns);
		write_functions(columns);
		write_strings(columns);
		fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[],\"length\":0}}",
		      columns->out);
	}
	free(rows);
	return ret;
}

static void write_meta(const struct export *data, FILE *out)
{
	fprintf(out, "{\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\"interval\":1,"
		"\"startTime\":0,\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,\"product\":",
		GECKO_VERSION, PROCESSED_VERSION);
	export_json_string(out, data->name);
	fputs(",\"importedFrom\":\"pmuctl\",\"markerSchema\":[],\n\"categories\":["
	      "{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	      "{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]}]},\n"
	      "\"libs\":[],\"pages\":[],\n\"threads\":[", out);
}

/**
 * export_firefox() - write a profile for the Firefox Profiler
 * @data: the samples.
 * @out: where to.
 *
 * Return: 0, -ENOMEM.
 */
int export_firefox(const struct export *data, FILE *out)
{
	uint64_t start = UINT64_MAX;
	int ret = 0;

	for (size_t i = 0; i < data->count; i++)
		if (data->list[i].time < start)
			start = data->list[i].time;
	write_meta(data, out);
	for (uint32_t i = 0; i < data->threads.count && ret == 0; i++) {
		struct columns columns = { .data = data, .out = out };

		fputs(i ? ",\n" : "\n", out);
		ret = write_thread(&columns, i, start);
		export_table_free(&columns.frames);
		export_table_free(&columns.stacks);
		export_table_free(&columns.binaries);
	}
	fputs("]}\n", out);
	return ret;
}
