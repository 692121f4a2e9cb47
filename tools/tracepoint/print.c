// SPDX-License-Identifier: GPL-2.0-only
/*
 * The record of a tracepoint as text, as the kernel's tracing prints it or else field by field,
 * and as JSON.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"
#include "tracepoint.h"

/* Where a field is in a record; false: the record has not all of it. */
static bool find_part(const struct tracepoint_field *field, const uint8_t *raw, size_t size,
		      const uint8_t **at, size_t *length)
{
	size_t offset = field->offset;
	uint32_t word;

	*length = field->size;
	if (offset > size || *length > size - offset)
		return false;
	if (field->is_dynamic) {
		if (field->size != sizeof(word))
			return false;
		memcpy(&word, raw + offset, sizeof(word));
		*length = word >> 16;
		offset = (word & 0xffff) + (field->is_relative ? offset + sizeof(word) : 0);
	}
	*at = raw + offset;
	return offset <= size && *length <= size - offset;
}

/* The format of a record that has all its fields, or NULL */
static struct tracepoint_format *format_of(const struct tracepoints *tracepoints, uint64_t id,
					   const uint8_t *raw, size_t size)
{
	struct tracepoint_format *format;
	const uint8_t *at;
	uint16_t number;
	size_t length;

	if (!raw || size < sizeof(number) || size > TRACEPOINT_RECORD_MAX)
		return NULL;
	memcpy(&number, raw, sizeof(number));
	format = number == id ? tracepoints_find(tracepoints, id) : NULL;
	for (size_t i = 0; format && i < format->count; i++)
		if (!find_part(&format->fields[i], raw, size, &at, &length))
			return NULL;
	return format;
}

static bool is_number_size(size_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static uint64_t number_at(const uint8_t *at, size_t size, bool is_signed)
{
	uint64_t value = 0;

	memcpy(&value, at, size);
	if (is_signed && size < sizeof(value) && value >> (size * 8 - 1))
		value |= ~0ULL << size * 8;
	return value;
}

/* Bytes of each of the numbers that a field is: as many as it has if it is one */
static size_t each_of(const struct tracepoint_field *field, size_t length)
{
	if (!field->element && !field->is_dynamic && is_number_size(length))
		return length;
	return is_number_size(field->element) ? field->element : 1;
}

static bool is_array(const struct tracepoint_field *field, size_t length)
{
	return field->element || field->is_dynamic || !is_number_size(length);
}

/* A copy of a text up to its NUL, fit for terminals; NULL if there is no memory. */
static char *clean_copy(const char *text, size_t size)
{
	size_t length = strnlen(text, size);
	char *copy = strndup(text, length);

	if (copy)
		names_clean(copy, length);
	return copy;
}

/* ---- JSON */

static json_t *number_json(const struct tracepoint_field *field, const uint8_t *at, size_t size)
{
	uint64_t value = number_at(at, size, field->is_signed);
	char text[24];

	if (!field->is_pointer && (field->is_signed || value <= INT64_MAX))
		return json_integer((json_int_t)value);
	snprintf(text, sizeof(text), "%#" PRIx64, value);
	return json_string(text);
}

static json_t *field_json(const struct tracepoint_field *field, const uint8_t *at, size_t length)
{
	size_t each = each_of(field, length);
	json_t *json;

	if (field->is_text) {
		char *text = clean_copy((const char *)at, length);

		json = text ? json_string(text) : NULL;
		free(text);
		return json;
	}
	if (!is_array(field, length))
		return number_json(field, at, length);
	json = json_array();
	for (size_t i = 0; i + each <= length; i += each)
		json_array_append_new(json, number_json(field, at + i, each));
	return json;
}

/**
 * tracepoints_fields() - what a record tells, by the names of its fields
 * @tracepoints: the formats.
 * @id: of the event, its attr.config.
 * @raw: the record; NULL if there is none.
 * @size: its bytes.
 *
 * Numbers are numbers; pointers, and what has more than 63 bits, strings of hexadecimal digits.
 *
 * Return: a new object; NULL if the format is not known, or is another one.
 */
json_t *tracepoints_fields(struct tracepoints *tracepoints, uint64_t id, const uint8_t *raw,
			   size_t size)
{
	const struct tracepoint_format *format = format_of(tracepoints, id, raw, size);
	json_t *object;

	if (!format)
		return NULL;
	object = json_object();
	for (size_t i = 0; i < format->count; i++) {
		const struct tracepoint_field *field = &format->fields[i];
		char *name = clean_copy(field->name, strlen(field->name));
		const uint8_t *at;
		size_t length;

		if (name && find_part(field, raw, size, &at, &length))
			json_object_set_new(object, name, field_json(field, at, length));
		free(name);
	}
	return object;
}

/* ---- Text */

static void put_text(const char *text, size_t length, FILE *out)
{
	char *copy = clean_copy(text, length);

	fputs(copy ? copy : "?", out);
	free(copy);
}

static void put_number(const struct tracepoint_field *field, const uint8_t *at, size_t size,
		       FILE *out)
{
	uint64_t value = number_at(at, size, field->is_signed);

	if (field->is_pointer)
		fprintf(out, "%#" PRIx64, value);
	else if (field->is_signed)
		fprintf(out, "%" PRId64, (int64_t)value);
	else
		fprintf(out, "%" PRIu64, value);
}

static void put_field(const struct tracepoint_field *field, const uint8_t *at, size_t length,
		      FILE *out)
{
	size_t each = each_of(field, length);
	bool braces = is_array(field, length);

	put_text(field->name, strlen(field->name), out);
	fputc('=', out);
	if (field->is_text) {
		put_text((const char *)at, length, out);
		return;
	}
	fputs(braces ? "{" : "", out);
	for (size_t i = 0; i + each <= length; i += each) {
		fputs(i ? "," : "", out);
		put_number(field, at + i, each, out);
	}
	fputs(braces ? "}" : "", out);
}

static void put_fields(const struct tracepoint_format *format, const uint8_t *raw, size_t size,
		       FILE *out)
{
	for (size_t i = 0; i < format->count; i++) {
		const uint8_t *at;
		size_t length;

		if (i)
			fputc(' ', out);
		if (find_part(&format->fields[i], raw, size, &at, &length))
			put_field(&format->fields[i], at, length, out);
	}
}

/**
 * tracepoints_print() - print what a record tells, as the kernel does
 * @tracepoints: the formats.
 * @id: of the event, its attr.config.
 * @raw: the record; NULL if there is none.
 * @size: its bytes.
 * @out: where to.
 *
 * What cannot be printed so is printed field by field.
 *
 * Return: false if nothing was printed: the format is not known, or is another one.
 */
bool tracepoints_print(struct tracepoints *tracepoints, uint64_t id, const uint8_t *raw,
		       size_t size, FILE *out)
{
	struct tracepoint_format *format = format_of(tracepoints, id, raw, size);
	char *text;

	if (!format)
		return false;
	text = printer_print(tracepoints, format, raw, size);
	if (text)
		put_text(text, strlen(text), out);
	else
		put_fields(format, raw, size, out);
	free(text);
	return true;
}
