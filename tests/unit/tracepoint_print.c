// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a tracepoint's record tells, by its format: text field by field, JSON with the types of
 * the fields; and nothing but that, whatever a format or a record wants.
 */
/* sources: tools/tracepoint/formats.c tools/tracepoint/print.c */
/* sources: tools/symbols/names.c tools/symbols/clean.c */
/* libs: -ljansson */
#include <sys/mman.h>

#include <criterion/criterion.h>

#include "../../tools/tracepoint/tracepoint.h"
#include "fuzz/tracing_build.h"

/* libtraceevent has a process of its own: tool_tracepoints.sh looks at what that prints. */
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

#define RECORD_MAX 256

/**
 * struct record - of event 1
 * @bytes: the record; first what all have.
 * @size: of it.
 */
struct record {
	uint8_t bytes[RECORD_MAX];
	size_t size;
};

static struct record record_begin(void)
{
	return (struct record){ .bytes = { 1 }, .size = 8 };
}

static void put(struct record *record, const void *bytes, size_t size)
{
	memcpy(record->bytes + record->size, bytes, size);
	record->size += size;
}

static void put32(struct record *record, uint32_t value)
{
	put(record, &value, sizeof(value));
}

static void put64(struct record *record, uint64_t value)
{
	put(record, &value, sizeof(value));
}

/* The formats stay where they are read from. */
static struct build read_from;

static struct tracepoints *read_format(const char *format)
{
	struct tracepoints *tracepoints;

	build_free(&read_from);
	read_from = (struct build){ NULL };
	tracing_begin(&read_from, 1);
	tracing_text(&read_from, format, strlen(format));
	tracing_end(&read_from);
	tracepoints = tracepoints_new(read_from.data, read_from.size);
	return tracepoints;
}

/* From a copy of the exact size: sanitizers see every byte too many. */
static bool print_copy(struct tracepoints *tracepoints, const struct record *record, FILE *out)
{
	uint8_t *copy = malloc(record->size);
	bool printed;

	memcpy(copy, record->bytes, record->size);
	printed = tracepoints_print(tracepoints, 1, copy, record->size, out);
	free(copy);
	return printed;
}

/* What is printed; NULL: nothing is. */
static const char *printed(const char *format, const struct record *record)
{
	static char text[4096];
	struct tracepoints *tracepoints = read_format(format);
	FILE *out = fmemopen(text, sizeof(text), "w");
	bool any;

	memset(text, 0, sizeof(text));
	cr_assert_not_null(tracepoints);
	any = print_copy(tracepoints, record, out);
	fclose(out);
	tracepoints_free(tracepoints);
	return any ? text : NULL;
}

static void expect(const char *text, const char *expected)
{
	cr_expect(text && !strcmp(text, expected), "'%s' is not '%s'", text ? text : "", expected);
}

static char *json_of(const char *format, const struct record *record)
{
	struct tracepoints *tracepoints = read_format(format);
	json_t *json = tracepoints_fields(tracepoints, 1, record->bytes, record->size);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	tracepoints_free(tracepoints);
	return text;
}

#define SWITCH_FIELDS \
	TRACING_FIELD("char", "comm[8]", 8, 8, 0) TRACING_FIELD("pid_t", "pid", 16, 4, 1) \
	TRACING_FIELD("unsigned int", "state", 20, 4, 0) \
	TRACING_FIELD("void *", "at", 24, 8, 0) TRACING_FIELD("unsigned long", "args[2]", 32, 16, 0) \
	TRACING_FIELD("__data_loc char[]", "name", 48, 4, 0) \
	TRACING_FIELD("__rel_loc u16[]", "list", 52, 4, 0) TRACING_FIELD("u64", "big", 56, 8, 0)

static struct record switch_record(void)
{
	struct record record = record_begin();

	put(&record, "shell\0xx", 8);
	put32(&record, (uint32_t)-7);
	put32(&record, 5);
	put64(&record, 0xffffffff81000018);
	put64(&record, 11);
	put64(&record, 12);
	put32(&record, 5 << 16 | 64);		/* "name", from the beginning */
	put32(&record, 4 << 16 | 14);		/* behind this word */
	put64(&record, ~0ULL);
	put(&record, "na\033e\0\0", 6);		/* a character that terminals obey */
	put(&record, "\1\0\2\0", 4);
	return record;
}

Test(tracepoint_print, text_has_all_fields)
{
	const struct record record = switch_record();

	expect(printed(TRACING_FORMAT(SWITCH_FIELDS, "\"x\""), &record),
	       "comm=shell pid=-7 state=5 at=0xffffffff81000018 args={11,12} name=na?e "
	       "list={1,2} big=18446744073709551615");
}

Test(tracepoint_print, json_has_the_types_of_fields)
{
	const struct record record = switch_record();
	char *text = json_of(TRACING_FORMAT(SWITCH_FIELDS, "\"x\""), &record);

	cr_assert_str_eq(text, "{\"comm\":\"shell\",\"pid\":-7,\"state\":5,"
			 "\"at\":\"0xffffffff81000018\",\"args\":[11,12],\"name\":\"na?e\","
			 "\"list\":[1,2],\"big\":\"0xffffffffffffffff\"}");
	free(text);
}

Test(tracepoint_print, records_of_other_formats_are_not_printed)
{
	static const char format[] = TRACING_FORMAT(SWITCH_FIELDS, "\"%s\", __get_str(name)");
	struct record record = switch_record();

	for (size_t size = record.size - 1; size > 0; size--) {
		struct record shorter = record;

		shorter.size = size;
		cr_expect_null(printed(format, &shorter), "%zu bytes are printed", size);
	}
	/* The text is not in it, nor is it this event. */
	record.bytes[50] = 200;
	cr_expect_null(printed(format, &record));
	record = switch_record();
	record.bytes[0] = 2;
	cr_expect_null(printed(format, &record));
}

/* A field that is nowhere is none, and one that ends behind the record makes it another's. */
Test(tracepoint_print, fields_outside_are_found_out)
{
	static const char *const fields[] = {
		TRACING_FIELD("int", "a", -4, 4, 0), TRACING_FIELD("int", "a", 4294967292, 4, 0),
		TRACING_FIELD("int", "a", 8, -1, 0), TRACING_FIELD("int", "a", 8, 2147483647, 0),
		TRACING_FIELD("int", "a", , 4, 0), TRACING_FIELD("int", "", 8, 4, 0),
	};
	struct record record = switch_record();
	char format[1024], *json;

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		snprintf(format, sizeof(format), TRACING_FORMAT("%s", "\"%%d\", 1"), fields[i]);
		json = json_of(format, &record);
		cr_expect_str_eq(json, "{}", "%s", fields[i]);
		free(json);
	}
	snprintf(format, sizeof(format), TRACING_FORMAT("%s", "\"x\""),
		 TRACING_FIELD("int", "a", 65000, 4, 0));
	cr_expect_null(printed(format, &record));
}

/* A number is read within its text, also where there is nothing but blanks to the end of the file. */
Test(tracepoint_print, numbers_of_events_end_with_their_text)
{
	static const char *const formats[] = { "\nID: \n", "\nID: \n\n \n", "\nID: 7", "\nID: -7\n" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct build build = { NULL };
		struct tracepoints *tracepoints;
		uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		cr_assert(pages != MAP_FAILED);
		cr_assert_eq(mprotect(pages + 4096, 4096, PROT_NONE), 0);
		tracing_begin(&build, 1);
		tracing_text(&build, formats[i], strlen(formats[i]));
		memcpy(pages + 4096 - build.size, build.data, build.size);
		tracepoints = tracepoints_new(pages + 4096 - build.size, build.size);
		cr_assert_not_null(tracepoints);
		cr_expect_eq(tracepoints->count, 0, "%zu", i);
		tracepoints_free(tracepoints);
		munmap(pages, 8192);
		build_free(&build);
	}
}

/* Memory grows with the file, and not with what formats could have in them. */
Test(tracepoint_print, formats_without_fields_take_no_memory)
{
	struct build build = { NULL };
	struct tracepoints *tracepoints;
	char text[64];

	tracing_begin(&build, 1000);
	for (unsigned int id = 1; id <= 1000; id++)
		tracing_text(&build, text, (size_t)snprintf(text, sizeof(text), "\nID: %u\n", id));
	tracing_end(&build);
	tracepoints = tracepoints_new(build.data, build.size);
	cr_assert_not_null(tracepoints);
	cr_assert_eq(tracepoints->count, 1000);
	cr_assert_eq(tracepoints_find(tracepoints, 1000)->id, 1000);
	cr_assert_null(tracepoints->formats[0].fields);
	tracepoints_free(tracepoints);
	build_free(&build);
}

/* Wherever it is cut off, it is read up to there or refused. */
Test(tracepoint_print, sections_that_are_cut_off_do_no_harm)
{
	static const char format[] = TRACING_FORMAT(SWITCH_FIELDS, "\"%s\", __get_str(name)");
	struct build build = { NULL };
	size_t taken = 0;

	tracing_begin(&build, 2);
	tracing_text(&build, format, sizeof(format) - 1);
	tracing_end(&build);
	for (size_t size = 0; size < build.size; size++) {
		uint8_t *copy = malloc(size ? size : 1);
		struct tracepoints *tracepoints;

		memcpy(copy, build.data, size);
		tracepoints = tracepoints_new(copy, size);
		taken += tracepoints != NULL;
		tracepoints_free(tracepoints);
		free(copy);
	}
	build_free(&build);
	cr_assert(taken > 0);
	cr_assert_null(tracepoints_new((const uint8_t *)"nonsense of some length", 23));
}
