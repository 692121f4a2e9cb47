// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of C++ for people: as profilers show them, without the types of parameters and of
 * what is returned, and without what the compiler did to a copy. The library that
 * demangles them can give only all of that.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "symbols.h"

/* Of the library that libstdc++ brings with it. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* Cut what has these words at its end. */
static bool cut_suffix(char *text, const char *suffix)
{
	size_t length = strlen(text), less = strlen(suffix);

	if (length <= less || strcmp(text + length - less, suffix) != 0)
		return false;
	text[length - less] = '\0';
	return true;
}

/* Where the parenthesis begins that ends the text, NULL if none does */
static char *last_parenthesis(char *text)
{
	size_t depth = 0;

	for (char *at = text + strlen(text); at > text; at--) {
		depth += at[-1] == ')';
		depth -= at[-1] == '(';
		if (!depth)
			return at[-1] == '(' ? at - 1 : NULL;
	}
	return NULL;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* "operator" as a word of its own */
static bool is_operator(const char *text, const char *at)
{
	return !strncmp(at, "operator", 8) && !is_word(at[8]) &&
	       (at == text || !is_word(at[-1]));
}

/* The name behind the type of what a template returns: the last space outside brackets */
static char *skip_type(char *text)
{
	char *name = text;
	int depth = 0;

	for (char *at = text; *at; at++) {
		if (is_operator(text, at)) {
			/* Of conversions, and of new and delete, the rest is name, too. */
			if (!depth)
				return name;
			at += 8;
			at += strspn(at, "<>-=");
			at--;
		} else if (strchr("<({[", *at)) {
			depth++;
		} else if (strchr(">)}]", *at)) {
			depth -= depth > 0;
		} else if (*at == ' ' && !depth) {
			name = at + 1;
		}
	}
	return name;
}

/* Makes the demangled @text short, in place; returns where it begins then. */
static char *shorten(char *text)
{
	static const char *const qualifiers[] = { " const", " volatile", " &", " &&" };
	char *clone = strstr(text, " [clone "), *open;

	if (clone)
		*clone = '\0';
	for (size_t i = 0; i < ARRAY_LEN(qualifiers);)
		i = cut_suffix(text, qualifiers[i]) ? 0 : i + 1;
	open = last_parenthesis(text);
	if (!open || open == text)
		return text;
	*open = '\0';
	/* "int (*name(long))(char)" returns the address of a function. */
	open = last_parenthesis(text);
	if (open && open > text && open[-1] == ' ' && strchr("*&", open[1])) {
		text[strlen(text) - 1] = '\0';
		return shorten(open + 2);
	}
	return skip_type(text);
}

/**
 * symbol_demangle() - the short name of a function of C++
 * @raw: a name that begins with _Z, perhaps that of a stub.
 *
 * Return: to be freed; NULL if it is no such name, or there is no memory.
 */
char *symbol_demangle(const char *raw)
{
	/* "vtable for", "virtual thunk to", "guard variable for" stay as they are. */
	bool is_special = raw[2] == 'T' || raw[2] == 'G';
	char *mangled = strdup(raw), *whole, *text = NULL;
	bool is_stub = mangled && cut_suffix(mangled, SYMBOLS_PLT);

	whole = mangled ? __cxa_demangle(mangled, NULL, NULL, NULL) : NULL;
	if (whole && asprintf(&text, "%s%s", is_special ? whole : shorten(whole),
			      is_stub ? SYMBOLS_PLT : "") < 0)
		text = NULL;
	free(whole);
	free(mangled);
	return text;
}
