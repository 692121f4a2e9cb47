// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text in JSON that is written as it comes: what is exported may be larger than memory has
 * room for as a tree.
 */
#include "export.h"

/**
 * export_json_text() - write what is between the quotes of a string
 * @out: where to.
 * @text: printable UTF-8, as all names are.
 */
void export_json_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
}

/**
 * export_json_string() - write a string
 * @out: where to.
 * @text: as for export_json_text().
 */
void export_json_string(FILE *out, const char *text)
{
	fputc('"', out);
	export_json_text(out, text);
	fputc('"', out);
}
