// SPDX-License-Identifier: GPL-2.0-only
/*
 * Functions that the compiler has put into others: debug information tells at each address
 * which ones they are, and where they were called from. What was found for an address is
 * kept, since finding it means reading all of a unit's debug information.
 */
#define _GNU_SOURCE
#include <dwarf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwfl.h>

#include "inline.h"

#define BUCKETS		1024
/* Nobody has been seen to nest them deeper. */
#define DEPTH_MAX	64

/* A function that is called at a line */
struct inlined_call {
	struct symbol *function;
	const char *line;
};

/**
 * struct inlined_site - an address
 * @next: in its bucket.
 * @address: in the binary's own terms.
 * @count: functions that were put there, one within the other.
 * @calls: they, the innermost first, and from where each was called.
 */
struct inlined_site {
	struct inlined_site *next;
	uint64_t address;
	size_t count;
	struct inlined_call calls[];
};

struct inlined_function {
	struct inlined_function *next;
	struct symbol symbol;
};

/**
 * struct inlined - what is known of a binary
 * @sites: by address.
 * @functions: by name.
 */
struct inlined {
	struct inlined_site *sites[BUCKETS];
	struct inlined_function *functions[BUCKETS];
};

/* ------------------------------------------------------------------- names */

static const char *name_of(struct symbols *symbols, Dwarf_Die *die)
{
	const char *raw = NULL, *name, *result = NULL;
	char *readable = NULL, *marked;
	Dwarf_Attribute attribute;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		raw = dwarf_formstring(&attribute);
	if (raw)
		readable = symbol_demangle(raw);
	name = readable ? readable : raw ? raw : dwarf_diename(die);
	if (name && asprintf(&marked, "%s (inlined)", name) >= 0) {
		result = names_intern(symbols->names, marked);
		free(marked);
	}
	free(readable);
	return result;
}

/* Equal names are one function. */
static struct symbol *function_of(struct symbols *symbols, struct inlined *inlined,
				  Dwarf_Die *die)
{
	const char *name = name_of(symbols, die);
	struct inlined_function **bucket, *function;

	if (!name)
		return NULL;
	bucket = &inlined->functions[(uintptr_t)name / 16 % BUCKETS];
	for (function = *bucket; function; function = function->next)
		if (function->symbol.name == name)
			return &function->symbol;
	function = calloc(1, sizeof(*function));
	if (!function)
		return NULL;
	function->symbol.raw = name;
	function->symbol.name = name;
	function->symbol.is_inlined = true;
	function->next = *bucket;
	*bucket = function;
	return &function->symbol;
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number = 0;

	if (!dwarf_attr(die, name, &attribute) || dwarf_formudata(&attribute, &number))
		return 0;
	return number;
}

/* Where an inlined function was called */
static const char *line_of(struct symbols *symbols, Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Word file = number_of(die, DW_AT_call_file);
	Dwarf_Word line = number_of(die, DW_AT_call_line);
	const char *path = NULL;
	Dwarf_Files *files;
	char text[PATH_MAX];
	size_t count;

	if (line && dwarf_getsrcfiles(unit, &files, &count) == 0 && file < count)
		path = dwarf_filesrc(files, file, NULL, NULL);
	if (!path)
		return NULL;
	snprintf(text, sizeof(text), "%s:%llu", path, (unsigned long long)line);
	return names_intern(symbols->names, text);
}

/* ------------------------------------------------------------------- sites */

/* Some compilers write no table of addresses: then each unit is asked. */
static Dwarf_Die *unit_of(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) > 0)
			return unit;
	return NULL;
}

/* Fills @calls; returns how many there are. */
static size_t find_calls(struct symbols *symbols, const struct binary *binary,
			 uint64_t address, struct inlined_call *calls)
{
	Dwarf_Die *unit, *scopes = NULL, *outer = NULL;
	Dwfl_Module *module;
	Dwarf_Addr bias;
	size_t found = 0;
	int count = 0;

	address += binary->bias;
	module = dwfl_addrmodule(binary->dwfl, address);
	unit = module ? unit_of(module, address, &bias) : NULL;
	/* The innermost, then what is around it in this function, and not where it was written */
	if (unit && dwarf_getscopes(unit, address - bias, &scopes) > 0)
		count = dwarf_getscopes_die(&scopes[0], &outer);
	for (int i = 0; i < count && found < DEPTH_MAX; i++) {
		int tag = dwarf_tag(&outer[i]);

		if (tag == DW_TAG_subprogram)
			break;
		if (tag != DW_TAG_inlined_subroutine)
			continue;
		calls[found].function = function_of(symbols, binary->inlined, &outer[i]);
		calls[found].line = line_of(symbols, unit, &outer[i]);
		found += !!calls[found].function;
	}
	free(scopes);
	free(outer);
	return found;
}

static const struct inlined_site *site_of(struct symbols *symbols, struct binary *binary,
					  uint64_t address)
{
	struct inlined_site **bucket = &binary->inlined->sites[address % BUCKETS], *site;
	struct inlined_call calls[DEPTH_MAX];
	size_t count;

	for (site = *bucket; site; site = site->next)
		if (site->address == address)
			return site;
	count = find_calls(symbols, binary, address, calls);
	site = malloc(sizeof(*site) + count * sizeof(calls[0]));
	if (!site)
		return NULL;
	site->address = address;
	site->count = count;
	memcpy(site->calls, calls, count * sizeof(calls[0]));
	site->next = *bucket;
	*bucket = site;
	return site;
}

/**
 * inlined_add() - put the functions that were inlined at a place before it
 * @symbols: all binaries.
 * @places: the first one is the place; it is moved behind the others, and its line is where
 *	the outermost of them was called.
 * @max: places that there is room for.
 * @is_return: the address is behind the call that is meant.
 *
 * Return: how many there are, the innermost first.
 */
size_t inlined_add(struct symbols *symbols, struct place *places, size_t max, bool is_return)
{
	struct place place = places[0];
	struct binary *binary = place.binary;
	const struct inlined_site *site;
	size_t count;

	if (!binary->dwfl || !place.symbol)
		return 0;
	if (!binary->inlined)
		binary->inlined = calloc(1, sizeof(*binary->inlined));
	site = binary->inlined ? site_of(symbols, binary, place.address - is_return) : NULL;
	if (!site || !site->count)
		return 0;
	count = site->count < max ? site->count : max - 1;
	for (size_t i = 0; i < count; i++) {
		places[i] = place;
		places[i].symbol = site->calls[i].function;
		places[i].line = i ? site->calls[i - 1].line : NULL;
	}
	place.line = count ? site->calls[count - 1].line : NULL;
	places[count] = place;
	return count;
}

/**
 * inlined_free() - forget what was inlined into a binary
 * @inlined: it, or NULL.
 */
void inlined_free(struct inlined *inlined)
{
	if (!inlined)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct inlined_site *site = inlined->sites[i], *next; site; site = next) {
			next = site->next;
			free(site);
		}
		for (struct inlined_function *function = inlined->functions[i], *next; function;
		     function = next) {
			next = function->next;
			free(function);
		}
	}
	free(inlined);
}
