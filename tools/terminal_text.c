// SPDX-License-Identifier: GPL-2.0-only
/*
 * How wide texts are on a terminal.
 */
#define _GNU_SOURCE
#include <string.h>
#include <wchar.h>

#include "terminal.h"

/* Of the first character, of which @size bytes are. What is no character takes one column. */
static size_t columns_of(const char *text, size_t length, size_t *size)
{
	mbstate_t state = { 0 };
	wchar_t character;
	int columns;

	/* Nearly all are ASCII, which needs no locale. */
	if (*text >= ' ' && *text <= '~') {
		*size = 1;
		return 1;
	}
	*size = mbrtowc(&character, text, length, &state);
	if (*size && *size <= length) {
		columns = wcwidth(character);
		return columns < 0 ? 1 : (size_t)columns;
	}
	*size = 1;
	while (*size < length && ((unsigned char)text[*size] & 0xc0) == 0x80)
		++*size;
	return 1;
}

/* Bytes of the first character of a text that has one */
size_t terminal_character(const char *text, size_t length)
{
	size_t size;

	columns_of(text, length, &size);
	return size;
}

/**
 * terminal_columns() - how wide a text is
 * @text: UTF-8.
 * @length: bytes of it.
 *
 * Return: columns, as far as the locale knows: in that of C each character has one.
 */
size_t terminal_columns(const char *text, size_t length)
{
	size_t columns = 0, size;

	for (; length; text += size, length -= size)
		columns += columns_of(text, length, &size);
	return columns;
}

/**
 * terminal_fit() - how much of a line there is room for
 * @line: its text, UTF-8.
 * @length: bytes of it.
 * @width: columns that there are.
 *
 * Return: bytes. No character is cut in two. Some take two columns, which the locale must know:
 * in that of C each takes one.
 */
size_t terminal_fit(const char *line, size_t length, size_t width)
{
	size_t bytes = 0, used = 0;

	while (bytes < length) {
		size_t size, columns = columns_of(line + bytes, length - bytes, &size);

		if (used + columns > width)
			break;
		used += columns;
		bytes += size;
	}
	return bytes;
}
