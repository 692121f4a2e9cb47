// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl report --format": what viewers of others are given has the samples of the
 * recording, each at its function and with its period.
 */
/* sources: $(READER) $(SYMBOLS) $(REPORT) */
/* libs: -ldw -lelf -lstdc++ -liberty -ljansson -lz -lcap */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <jansson.h>
#include <zlib.h>

#include "fuzz/perffile_build.h"
#include "unit/perffile_command.h"

#define TYPE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
	      PERF_SAMPLE_CALLCHAIN)

static const char kallsyms[] =
	"ffffffff81000000 T _text\nffffffff81001000 T leaf\nffffffff81002000 T work\n"
	"ffffffff81003000 T outer;\"\\<&>\nffffffff81004000 T end\n";

/* The names above, the innermost first, and what the samples below stand for in each */
static const char *const functions[] = { "leaf", "work", "outer;\"\\<&>" };
static const uint64_t own[] = { 600 + 5, 300, 100000000000 };

static void add_sample(struct build *build, uint64_t time, uint64_t period, uint32_t tid,
		       size_t innermost)
{
	static const uint64_t chain[] = {
		0xffffffff81001010, 0xffffffff81002020, 0xffffffff81003030,
	};
	struct build_sample sample = {
		.ip = chain[innermost], .time = time, .period = period,
		.pid = 70, .tid = tid, .chain = 4 - innermost,
	};
	uint64_t seed = 1;

	sample.chain_at[0] = (uint64_t)PERF_CONTEXT_KERNEL;
	memcpy(sample.chain_at + 1, chain + innermost, (3 - innermost) * sizeof(*chain));
	build_sample(build, 0, PERF_RECORD_MISC_KERNEL, &sample, &seed);
}

static void enter(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = TYPE, .sample_id_all = 1,
		.type = PERF_TYPE_RAW, .config = 0xc0,
	};
	struct build_trailer early = { .pid = 70, .tid = 70, .time = 1 };
	struct build build;

	enter_directory();
	build_begin(&build, &attr, 1);
	build_comm(&build, 70, 70, "main", 0, &early);
	build_comm(&build, 70, 71, "the \"worker", 0, &early);
	add_sample(&build, 4000000, 300, 71, 1);
	add_sample(&build, 3000001, 600, 70, 0);
	add_sample(&build, 6000000, 5, 71, 0);
	add_sample(&build, 5000000, own[2], 70, 2);
	build_features(&build, NULL, 0);
	write_file("perf.data", build.data, build.size);
	write_file("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	build_free(&build);
}

TestSuite(perffile_export, .init = enter, .fini = leave_directory);

/* Its file is "out", which nothing else may be written to. */
static int report(const char *line)
{
	char words[256], *argv[16], *rest = words;
	int argc = 0;

	snprintf(words, sizeof(words), "report --kallsyms kallsyms %s", line);
	while ((argv[argc] = strtok_r(rest, " ", &rest)))
		argc++;
	/* Forget where the line before, which is gone, had its last option. */
	optind = 0;
	getopt(1, argv, "");
	return command_report.run(argc, argv);
}

static json_t *exported(const char *format)
{
	char line[64];
	json_error_t error;
	json_t *json;

	snprintf(line, sizeof(line), "--format %s -o out", format);
	cr_assert_eq(report(line), 0);
	json = json_load_file("out", 0, &error);
	cr_assert_not_null(json, "%s, line %d", error.text, error.line);
	return json;
}

static void add_to(uint64_t *sums, const char *name, uint64_t period)
{
	for (size_t i = 0; i < 3; i++)
		if (!strcmp(name, functions[i])) {
			sums[i] += period;
			return;
		}
	cr_assert_fail("a function '%s'", name);
}

static const char *text_at(const json_t *array, size_t n)
{
	return json_string_value(json_array_get(array, n));
}

static uint64_t number_at(const json_t *array, size_t n)
{
	cr_assert(json_is_integer(json_array_get(array, n)));
	return (uint64_t)json_integer_value(json_array_get(array, n));
}

Test(perffile_export, speedscope_has_all_samples)
{
	json_t *all = exported("speedscope"), *profile, *frames;
	uint64_t sums[3] = { 0 };
	size_t i, n;

	frames = json_object_get(json_object_get(all, "shared"), "frames");
	cr_assert_eq(json_array_size(json_object_get(all, "profiles")), 2);
	json_array_foreach(json_object_get(all, "profiles"), i, profile) {
		json_t *weights = json_object_get(profile, "weights"), *stack;

		/* Their threads come in the order of their first samples. */
		cr_assert_str_eq(json_string_value(json_object_get(profile, "name")),
				 i ? "the \"worker 70/71" : "main 70/70");
		cr_assert_eq(json_array_size(weights), 2);
		json_array_foreach(json_object_get(profile, "samples"), n, stack) {
			size_t depth = json_array_size(stack);
			json_t *frame = json_array_get(frames, number_at(stack, depth - 1));

			add_to(sums, json_string_value(json_object_get(frame, "name")),
			       number_at(weights, n));
			frame = json_array_get(frames, number_at(stack, 0));
			cr_assert_str_eq(json_string_value(json_object_get(frame, "name")),
					 functions[2]);
		}
		cr_assert_eq(n, 2);
	}
	cr_assert_arr_eq(sums, own, sizeof(own));
	json_decref(all);
}

/* One thread's samples by the names of its own tables; the outermost caller is checked. */
static void add_firefox(const json_t *thread, uint64_t *sums)
{
	const json_t *samples = json_object_get(thread, "samples");
	const json_t *stacks = json_object_get(thread, "stackTable");
	const json_t *strings = json_object_get(thread, "stringArray");
	const json_t *functions_of = json_object_get(thread, "funcTable");
	const json_t *resources = json_object_get(thread, "resourceTable");

	cr_assert_eq(json_integer_value(json_object_get(samples, "length")), 2);
	for (size_t i = 0; i < 2; i++) {
		uint64_t stack = number_at(json_object_get(samples, "stack"), i);
		uint64_t frame = number_at(json_object_get(stacks, "frame"), stack), resource;
		const json_t *prefixes = json_object_get(stacks, "prefix");

		add_to(sums, text_at(strings, number_at(json_object_get(functions_of, "name"), frame)),
		       number_at(json_object_get(samples, "weight"), i));
		cr_assert_eq(number_at(json_object_get(stacks, "category"), stack), 1);
		resource = number_at(json_object_get(functions_of, "resource"), frame);
		cr_assert_str_eq(text_at(strings, number_at(json_object_get(resources, "name"), resource)),
				 "[kernel.kallsyms]");
		while (!json_is_null(json_array_get(prefixes, stack))) {
			cr_assert_lt(number_at(prefixes, stack), stack, "callers come before");
			stack = number_at(prefixes, stack);
		}
		frame = number_at(json_object_get(stacks, "frame"), stack);
		cr_assert_str_eq(text_at(strings, frame), functions[2]);
	}
}

Test(perffile_export, firefox_has_all_samples)
{
	json_t *all = exported("firefox"), *threads = json_object_get(all, "threads"), *times;
	uint64_t sums[3] = { 0 };

	cr_assert_eq(json_array_size(threads), 2);
	add_firefox(json_array_get(threads, 0), sums);
	add_firefox(json_array_get(threads, 1), sums);
	cr_assert_arr_eq(sums, own, sizeof(own));
	/* Milliseconds since the first one */
	times = json_object_get(json_object_get(json_array_get(threads, 1), "samples"), "time");
	cr_assert_float_eq(json_real_value(json_array_get(times, 0)), 0.999999, 1e-9);
	cr_assert_float_eq(json_real_value(json_array_get(times, 1)), 2.999999, 1e-9);
	json_decref(all);
}

/* ------------------------------------------------------------------------- pprof */

struct proto {
	const uint8_t *at;
	const uint8_t *end;
};

static uint64_t varint(struct proto *proto)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 70; shift += 7) {
		cr_assert_lt(proto->at, proto->end);
		value |= (uint64_t)(*proto->at & 0x7f) << shift;
		if (!(*proto->at++ & 0x80))
			return value;
	}
	cr_assert_fail("a number without an end");
	return 0;
}

/* The next field: its number; its value, or what is in it. */
static unsigned int next(struct proto *proto, uint64_t *value, struct proto *inner)
{
	uint64_t tag;

	if (proto->at == proto->end)
		return 0;
	tag = varint(proto);
	cr_assert((tag & 7) == 0 || (tag & 7) == 2, "wire type %d", (int)(tag & 7));
	*value = varint(proto);
	if ((tag & 7) == 2) {
		cr_assert_leq(*value, (uint64_t)(proto->end - proto->at));
		*inner = (struct proto){ proto->at, proto->at + *value };
		proto->at += *value;
	}
	return (unsigned int)(tag >> 3);
}

/* The value of field @which of a message, the first number of a list; 0 without it */
static uint64_t field_of(struct proto message, unsigned int which)
{
	struct proto inner = { NULL, NULL };
	uint64_t value;
	unsigned int field;

	while ((field = next(&message, &value, &inner)))
		if (field == which)
			return inner.at ? varint(&inner) : value;
	return 0;
}

static struct proto list_of(struct proto message, unsigned int which)
{
	struct proto inner = { NULL, NULL };
	uint64_t value;
	unsigned int field;

	while ((field = next(&message, &value, &inner)))
		if (field == which)
			return inner;
	return (struct proto){ NULL, NULL };
}

struct pprof {
	char *strings[64];
	size_t string_count;
	uint64_t names[64];	/* of functions, by their numbers */
	uint64_t functions[64];	/* of locations */
	struct proto samples[16];
	size_t sample_count;
	struct proto types[4];
	size_t type_count;
};

static void take_field(struct pprof *pprof, unsigned int field, struct proto inner)
{
	switch (field) {
	case 1:
		pprof->types[pprof->type_count++] = inner;
		break;
	case 2:
		pprof->samples[pprof->sample_count++] = inner;
		break;
	case 4:
		pprof->functions[field_of(inner, 1)] = field_of(list_of(inner, 4), 1);
		cr_assert_eq(field_of(inner, 2), 1, "all are in the kernel");
		break;
	case 5:
		pprof->names[field_of(inner, 1)] = field_of(inner, 2);
		break;
	case 6:
		pprof->strings[pprof->string_count++] =
			strndup((const char *)inner.at, (size_t)(inner.end - inner.at));
		break;
	}
}

static void check_pprof(const struct pprof *pprof)
{
	uint64_t sums[3] = { 0 }, samples = 0;

	cr_assert_str_eq(pprof->strings[0], "");
	cr_assert_eq(pprof->type_count, 2);
	cr_assert_str_eq(pprof->strings[field_of(pprof->types[0], 1)], "samples");
	cr_assert_str_eq(pprof->strings[field_of(pprof->types[1], 1)], "rc0");
	cr_assert_str_eq(pprof->strings[field_of(pprof->types[1], 2)], "count");
	for (size_t i = 0; i < pprof->sample_count; i++) {
		struct proto values = list_of(pprof->samples[i], 2);
		struct proto stack = list_of(pprof->samples[i], 1);
		uint64_t location = varint(&stack);

		samples += varint(&values);
		add_to(sums, pprof->strings[pprof->names[pprof->functions[location]]],
		       varint(&values));
		while (stack.at < stack.end)
			location = varint(&stack);
		cr_assert_str_eq(pprof->strings[pprof->names[pprof->functions[location]]],
				 functions[2]);
	}
	cr_assert_eq(samples, 4);
	cr_assert_arr_eq(sums, own, sizeof(own));
}

Test(perffile_export, pprof_has_all_samples)
{
	static uint8_t bytes[65536];
	struct pprof pprof = { .string_count = 0 };
	struct proto profile, inner = { NULL, NULL };
	unsigned int field;
	uint64_t value;
	gzFile in;
	int size;

	cr_assert_eq(report("--format pprof -o out"), 0);
	in = gzopen("out", "rb");
	cr_assert_not(gzdirect(in), "it is compressed");
	size = gzread(in, bytes, sizeof(bytes));
	cr_assert_gt(size, 0);
	gzclose(in);
	profile = (struct proto){ bytes, bytes + size };
	while ((field = next(&profile, &value, &inner)))
		take_field(&pprof, field, inner);
	check_pprof(&pprof);
	for (size_t i = 0; i < pprof.string_count; i++)
		free(pprof.strings[i]);
}

Test(perffile_export, what_is_wrong_is_refused)
{
	cr_assert_eq(report("--format xls -o out"), STATUS_USAGE);
	cr_assert_eq(report("--format pprof"), STATUS_USAGE);
	cr_assert_eq(report("-o out"), STATUS_USAGE);
	cr_assert_eq(report("--json --format pprof -o out"), STATUS_USAGE);
	cr_assert_eq(access("out", F_OK), -1);
	cr_assert_eq(report("--format pprof -o nowhere/out"), STATUS_FAILED);
	cr_assert_eq(report("--format pprof -o /dev/full"), STATUS_FAILED);
	cr_assert_eq(report("--format firefox -o /dev/full"), STATUS_FAILED);
	cr_assert_eq(report("--format speedscope -o /dev/full"), STATUS_FAILED);
}
