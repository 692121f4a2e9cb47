// SPDX-License-Identifier: GPL-2.0-only
/*
 * The feature of a recording that tells of tracepoints, in the layout of trace-cmd.dat(5), and
 * the fields of an event by its format:
 *
 *	field:unsigned long args[6];	offset:16;	size:48;	signed:0;
 *
 * A recording may come from anybody: nothing in it is believed.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "perffile/perffile.h"
#include "tracepoint.h"

/* Three bytes and a word; the version follows, a text. */
#define MAGIC "\027\010\104tracing"

/* More are no kernel's. */
#define FORMAT_MAX	65536
#define FIELDS_MAX	128

/* A piece of a text */
struct piece {
	const char *at;
	size_t length;
};

/* ---- Fields */

static bool has_word(struct piece type, const char *word)
{
	return memmem(type.at, type.length, word, strlen(word));
}

/* What is behind @key in a line, up to a semicolon; false if it is not there. */
static bool value_of(struct piece line, const char *key, struct piece *value)
{
	const char *at = memmem(line.at, line.length, key, strlen(key));
	const char *end;

	if (!at)
		return false;
	at += strlen(key);
	end = memchr(at, ';', (size_t)(line.at + line.length - at));
	if (!end)
		return false;
	*value = (struct piece){ at, (size_t)(end - at) };
	return true;
}

static bool number_of(struct piece line, const char *key, uint32_t *number)
{
	struct piece value;
	char text[12] = "";
	char *end;
	unsigned long n;

	if (!value_of(line, key, &value) || !value.length || value.length >= sizeof(text))
		return false;
	memcpy(text, value.at, value.length);
	n = strtoul(text, &end, 10);
	*number = (uint32_t)n;
	return *text >= '0' && *text <= '9' && !*end && n <= TRACEPOINT_RECORD_MAX;
}

/* Bytes of what an array of variable length is made of */
static uint32_t element_of(struct piece type)
{
	static const struct {
		const char *word;
		uint32_t size;
	} types[] = {
		{ "64", 8 }, { "long", 8 }, { "cpumask", 8 }, { "size_t", 8 }, { "16", 2 },
		{ "short", 2 }, { "8", 1 }, { "char", 1 }, { "bool", 1 }, { "32", 4 }, { "int", 4 },
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (has_word(type, types[i].word))
			return types[i].size;
	return 1;
}

/* The name is the last word of a declaration, before the brackets of an array. */
static struct piece name_of(struct piece declaration)
{
	const char *at = declaration.at;
	size_t end = declaration.length, start;

	if (end && at[end - 1] == ']')
		while (end && at[end - 1] != '[')
			end--;
	end -= end && at[end - 1] == '[';
	start = end;
	while (start && !strchr(" \t*", at[start - 1]))
		start--;
	return (struct piece){ at + start, end - start };
}

static bool parse_field(struct piece line, struct tracepoint_field *field)
{
	struct piece declaration, name, type;
	uint32_t is_signed, count = 0;
	const char *bracket;

	if (!value_of(line, "field:", &declaration) ||
	    !number_of(line, "\toffset:", &field->offset) ||
	    !number_of(line, "\tsize:", &field->size))
		return false;
	field->is_signed = number_of(line, "\tsigned:", &is_signed) && is_signed;
	name = name_of(declaration);
	type = (struct piece){ declaration.at, (size_t)(name.at - declaration.at) };
	field->is_relative = has_word(type, "__rel_loc");
	field->is_dynamic = field->is_relative || has_word(type, "__data_loc");
	field->is_pointer = memchr(type.at, '*', type.length);
	bracket = memchr(declaration.at, '[', declaration.length);
	if (bracket) {
		count = (uint32_t)strtoul(bracket + 1, NULL, 10);
		field->element = !field->is_dynamic && count && field->size % count == 0 ?
				 field->size / count : element_of(type);
		field->is_text = has_word(type, "char") && !has_word(type, "unsigned") &&
				 !field->is_pointer;
	}
	field->name = strndup(name.at, name.length);
	return field->name && *field->name;
}

/* Twice as much room whenever it is used up */
static bool make_room(struct tracepoint_format *format)
{
	struct tracepoint_field *fields;

	if (format->count & (format->count - 1))
		return true;
	fields = reallocarray(format->fields, format->count ? format->count * 2 : 1,
			      sizeof(*fields));
	if (fields)
		format->fields = fields;
	return fields;
}

/* Those that all events have come first. */
static bool is_common(const struct tracepoint_field *field)
{
	return !strncmp(field->name, "common_", 7);
}

static void read_fields(struct tracepoint_format *format)
{
	struct piece rest = { format->text, format->size };

	while (rest.length && format->count < FIELDS_MAX) {
		const char *end = memchr(rest.at, '\n', rest.length);
		struct piece line = { rest.at, end ? (size_t)(end - rest.at) : rest.length };
		struct tracepoint_field field = { NULL };

		if (line.length > 7 && !memcmp(line.at, "\tfield:", 7)) {
			if (parse_field(line, &field) && !is_common(&field) && make_room(format))
				format->fields[format->count++] = field;
			else
				free(field.name);
		}
		rest.at += line.length + !!end;
		rest.length -= line.length + !!end;
	}
}

/* ---- The section */

static void skip_text(struct perffile_bytes *bytes)
{
	const char *text = perffile_string(bytes);

	perffile_take(bytes, text ? strlen(text) + 1 : UINT64_MAX);
}

/* A file: how long it is, then what it was */
static void skip_file(struct perffile_bytes *bytes)
{
	perffile_take(bytes, perffile_take64(bytes));
}

/* The number of an event; 0 if it has none. Blanks could lead behind the end of the text. */
static uint64_t id_of(struct piece text)
{
	const char *at = memmem(text.at, text.length, "\nID: ", 5);
	uint64_t id;

	if (!at || !memchr(at + 1, '\n', (size_t)(text.at + text.length - at - 1)) ||
	    at[5] < '0' || at[5] > '9')
		return 0;
	id = strtoul(at + 5, NULL, 10);
	return id <= UINT16_MAX ? id : 0;
}

static bool read_format(struct tracepoints *tracepoints, struct perffile_bytes *bytes,
			const char *system)
{
	struct tracepoint_format format = { .system = system }, *grown = tracepoints->formats;
	size_t count = tracepoints->count;

	format.size = perffile_take64(bytes);
	format.text = (const char *)perffile_take(bytes, format.size);
	if (!format.text || format.size > FORMAT_MAX)
		return format.text;
	format.id = id_of((struct piece){ format.text, format.size });
	if (!format.id || tracepoints->numbers[format.id])
		return true;
	if (!(count & (count - 1)))
		grown = reallocarray(grown, count ? count * 2 : 1, sizeof(*grown));
	if (!grown)
		return false;
	read_fields(&format);
	tracepoints->formats = grown;
	grown[tracepoints->count++] = format;
	tracepoints->numbers[format.id] = (uint16_t)tracepoints->count;
	return true;
}

static void read_events(struct tracepoints *tracepoints, struct perffile_bytes *bytes)
{
	uint32_t systems = perffile_take32(bytes);

	for (uint32_t i = 0; i < systems && !bytes->failed; i++) {
		const char *system = perffile_string(bytes);
		uint32_t count;

		skip_text(bytes);
		count = perffile_take32(bytes);
		for (uint32_t n = 0; n < count && !bytes->failed; n++)
			if (!read_format(tracepoints, bytes, system))
				return;
	}
}

static bool read_section(struct tracepoints *tracepoints, struct perffile_bytes bytes)
{
	const uint8_t *magic = perffile_take(&bytes, strlen(MAGIC)), *machine;
	uint32_t count;

	if (!magic || memcmp(magic, MAGIC, strlen(MAGIC)))
		return false;
	skip_text(&bytes);
	machine = perffile_take(&bytes, 2);
	perffile_take32(&bytes);	/* size of a page */
	if (!machine || machine[0] || (machine[1] != 4 && machine[1] != 8))
		return false;
	tracepoints->long_size = machine[1];
	for (int i = 0; i < 2; i++) {	/* what pages and events begin with */
		skip_text(&bytes);
		skip_file(&bytes);
	}
	count = perffile_take32(&bytes);
	for (uint32_t i = 0; i < count && !bytes.failed; i++)
		skip_file(&bytes);	/* formats of the function tracer */
	read_events(tracepoints, &bytes);
	perffile_take(&bytes, perffile_take32(&bytes));		/* symbols */
	tracepoints->texts_size = perffile_take32(&bytes);
	tracepoints->texts = (const char *)perffile_take(&bytes, tracepoints->texts_size);
	return true;
}

/**
 * tracepoints_new() - read the formats of a recording
 * @section: PERFFILE_TRACING_DATA of the file; must stay.
 * @size: its bytes.
 *
 * Return: to be freed with tracepoints_free(); NULL if it cannot be read.
 */
struct tracepoints *tracepoints_new(const uint8_t *section, size_t size)
{
	struct tracepoints *new = calloc(1, sizeof(*new));

	if (!new)
		return NULL;
	if (read_section(new, (struct perffile_bytes){ section, section + size, false }))
		return new;
	tracepoints_free(new);
	return NULL;
}

/**
 * tracepoints_set_resolver() - names for the functions that records tell of
 * @tracepoints: the formats.
 * @resolve: asked for them, by a process of its own.
 * @arg: for @resolve.
 */
void tracepoints_set_resolver(struct tracepoints *tracepoints, tracepoint_resolve resolve,
			      void *arg)
{
	tracepoints->resolve = resolve;
	tracepoints->arg = arg;
}

/**
 * tracepoints_find() - the format of an event
 * @tracepoints: all of them.
 * @id: number of the event.
 *
 * Return: the format, or NULL.
 */
struct tracepoint_format *tracepoints_find(const struct tracepoints *tracepoints, uint64_t id)
{
	uint16_t number = id <= UINT16_MAX ? tracepoints->numbers[id] : 0;

	return number ? &tracepoints->formats[number - 1] : NULL;
}

void tracepoints_free(struct tracepoints *tracepoints)
{
	if (!tracepoints)
		return;
	printer_end(tracepoints);
	for (size_t i = 0; i < tracepoints->count; i++) {
		for (size_t n = 0; n < tracepoints->formats[i].count; n++)
			free(tracepoints->formats[i].fields[n].name);
		free(tracepoints->formats[i].fields);
	}
	free(tracepoints->formats);
	free(tracepoints);
}
