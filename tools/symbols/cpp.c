// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of C++ for people: as profilers show them, without the types of parameters and of
 * what is returned, and without what the compiler did to a copy. The library that
 * demangles them can give only all of that. Those of Rust have no such types, and another
 * library leaves out of them what the compiler put there: hashes, and suffixes.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "symbols.h"

/* Of the library that libstdc++ brings with it. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

#ifdef HAVE_LIBIBERTY

#include <libiberty/demangle.h>

/* A name may refer to its own parts: 200 bytes stand for 25 MB, others for more than there is. */
#define LONGEST		65536

/**
 * struct demangled - the name of a function of Rust
 * @size: bytes that have come.
 * @text: they.
 * @is_full: where to go on when there are too many.
 */
struct demangled {
	size_t size;
	char text[LONGEST];
	jmp_buf is_full;
};

/* A demangle_callbackref; the library has no other way to be told that it is enough. */
static void demangled_add(const char *bytes, size_t size, void *arg)
{
	struct demangled *name = arg;

	if (size > sizeof(name->text) - name->size)
		longjmp(name->is_full, 1);
	memcpy(name->text + name->size, bytes, size);
	name->size += size;
}

/* To be freed; NULL if it is no name of Rust, or too long. */
static char *demangle_rust(const char *mangled)
{
	struct demangled *name = malloc(sizeof(*name));
	char *text = NULL;

	if (!name)
		return NULL;
	name->size = 0;
	if (!setjmp(name->is_full) && rust_demangle_callback(mangled, 0, demangled_add, name))
		text = strndup(name->text, name->size);
	free(name);
	return text;
}

#else

static char *demangle_rust(const char *mangled)
{
	(void)mangled;
	return NULL;
}

#endif

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
 * symbol_demangle() - the short name of a function of C++ or Rust
 * @raw: any name, perhaps that of a stub.
 *
 * Return: to be freed; NULL if it is no such name, or there is no memory.
 */
char *symbol_demangle(const char *raw)
{
	bool is_itanium = !strncmp(raw, "_Z", 2), is_special, is_stub;
	char *mangled, *whole, *name, *text = NULL;

	if (!is_itanium && strncmp(raw, "_R", 2) != 0)
		return NULL;
	/* "vtable for", "virtual thunk to", "guard variable for" stay as they are. */
	is_special = is_itanium && (raw[2] == 'T' || raw[2] == 'G');
	mangled = strdup(raw);
	is_stub = mangled && cut_suffix(mangled, SYMBOLS_PLT);
	/* Older names of Rust are ones of C++ that end with a hash. */
	whole = mangled ? demangle_rust(mangled) : NULL;
	name = whole;
	if (!whole && mangled && is_itanium) {
		whole = __cxa_demangle(mangled, NULL, NULL, NULL);
		name = whole && !is_special ? shorten(whole) : whole;
	}
	if (name && asprintf(&text, "%s%s", name, is_stub ? SYMBOLS_PLT : "") < 0)
		text = NULL;
	free(whole);
	free(mangled);
	return text;
}
