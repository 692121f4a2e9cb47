// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is not printable UTF-8 becomes '?'; names.h tells of what.
 */
#include <stdint.h>

#include "names.h"

/* Length of the printable character at @text, 0 if there is none. */
static size_t printable(const unsigned char *text, size_t length)
{
	static const uint32_t least[] = { 0, 0, 0xa0, 0x800, 0x10000 };
	size_t size = *text < 0x80 ? 1 : *text < 0xc2 ? 0 : *text < 0xe0 ? 2 :
		      *text < 0xf0 ? 3 : *text < 0xf5 ? 4 : 0;
	uint32_t value;

	if (size == 1)
		return *text >= 0x20 && *text != 0x7f;
	if (!size || size > length)
		return 0;
	value = *text & (0xffU >> (size + 1));
	for (size_t i = 1; i < size; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (text[i] & 0x3f);
	}
	if (value < least[size] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
		return 0;
	/* Marks that turn the direction of a line around */
	if ((value >= 0x202a && value <= 0x202e) || (value >= 0x2066 && value <= 0x2069) ||
	    value >= 0xfffe)
		return value >= 0x10000 ? size : 0;
	return size;
}

/**
 * names_clean() - make a text fit for a terminal
 * @text: changed in place; its length stays.
 * @length: bytes of it.
 */
void names_clean(char *text, size_t length)
{
	size_t at = 0;

	while (at < length) {
		size_t size = printable((const unsigned char *)text + at, length - at);

		if (!size)
			text[at] = '?';
		at += size ? size : 1;
	}
}
