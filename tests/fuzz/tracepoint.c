// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing what is made of a tracepoint's record and its format (libFuzzer): an input has the
 * length of the record, a byte, the record, and the format. Whatever they are, what is printed
 * is of the record.
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/tracepoint/tracepoint.h"
#include "tracing_build.h"

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

/* Each with its own copy: not a byte behind it may be read. */
static void print(struct tracepoints *tracepoints, const uint8_t *record, size_t size)
{
	static FILE *out;
	uint8_t *copy = malloc(size ? size : 1);
	uint16_t number = 0;
	json_t *json;

	if (!out)
		out = fopen("/dev/null", "w");
	if (!out || !copy)
		abort();
	memcpy(copy, record, size);
	memcpy(&number, copy, size < sizeof(number) ? size : sizeof(number));
	tracepoints_print(tracepoints, number, copy, size, out);
	json = tracepoints_fields(tracepoints, number, copy, size);
	if (json && !json_is_object(json))
		abort();
	json_decref(json);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracepoints *tracepoints;
	struct build build = { NULL };
	size_t length;

	if (!size)
		return 0;
	length = data[0];
	data++;
	size--;
	if (length > size)
		length = size;
	tracing_begin(&build, 1);
	tracing_text(&build, (const char *)data + length, size - length);
	tracing_end(&build);
	tracepoints = tracepoints_new(build.data, build.size);
	if (tracepoints)
		print(tracepoints, data, length);
	tracepoints_free(tracepoints);
	build_free(&build);
	return 0;
}
