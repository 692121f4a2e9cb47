// SPDX-License-Identifier: GPL-2.0-only
/*
 * What debug information tells of an address: the line of the source, and the functions that
 * the compiler has put into others there, and where they were called from. What was found for
 * an address is kept, and so is where a unit's functions are, since finding that means reading
 * all of the unit's debug information: they may be within namespaces and types, which have no
 * addresses.
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

/* A piece of a function's code */
struct function_range {
	Dwarf_Addr start;
	Dwarf_Addr end;
	Dwarf_Die die;
};

/**
 * struct unit_functions - the functions of a unit that have code
 * @next: another unit's.
 * @unit: where its debug information is.
 * @list: they, by address; of those that begin at one address only the first.
 */
struct unit_functions {
	struct unit_functions *next;
	const void *unit;
	struct function_range *list;
	size_t count;
	size_t room;
};

/**
 * struct inlined - what is known of a binary
 * @units: whose functions are known.
 * @sites: by address.
 * @functions: by name.
 */
struct inlined {
	struct unit_functions *units;
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

/* ------------------------------------------------------------------- units */

/*
 * Some compilers write no table of addresses: then each unit is asked. What is behind the last
 * address in the table of another unit passes for that one's.
 */
static Dwarf_Die *unit_of(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, bias);

	if (unit && dwarf_haspc(unit, address - *bias) > 0)
		return unit;
	unit = NULL;
	while ((unit = dwfl_module_nextcu(module, unit, bias)))
		if (dwarf_haspc(unit, address - *bias) > 0)
			return unit;
	return NULL;
}

/**
 * symbols_line() - which line of the source an address comes from
 * @binary: a program whose symbols were read.
 * @address: in its own terms.
 * @number: set to the line's.
 *
 * Return: the file's name; NULL if that is unknown.
 */
const char *symbols_line(const struct binary *binary, uint64_t address, int *number)
{
	Dwfl_Module *module;
	Dwarf_Line *line;
	Dwarf_Die *unit;
	Dwarf_Addr bias;

	address += binary->bias;
	module = binary->dwfl ? dwfl_addrmodule(binary->dwfl, address) : NULL;
	unit = module ? unit_of(module, address, &bias) : NULL;
	line = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
	if (!line || dwarf_lineno(line, number))
		return NULL;
	return dwarf_linesrc(line, NULL, NULL);
}

/* --------------------------------------------------------------- functions */

static void add_ranges(struct unit_functions *functions, Dwarf_Die *die)
{
	struct function_range range = { .die = *die };
	Dwarf_Addr base = 0;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &range.start, &range.end)) > 0) {
		if (functions->count == functions->room) {
			size_t room = functions->room ? functions->room * 2 : 64;
			struct function_range *list = reallocarray(functions->list, room,
								   sizeof(*list));

			if (!list)
				return;
			functions->list = list;
			functions->room = room;
		}
		functions->list[functions->count++] = range;
	}
}

/* What a function can be in; what was put into others has none of its own. */
static bool may_have_functions(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_enumeration_type:
	case DW_TAG_subprogram:
	case DW_TAG_lexical_block:
		return true;
	default:
		return false;
	}
}

static void add_functions(struct unit_functions *functions, Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;
	int more;

	for (more = dwarf_child(parent, &die); !more; more = dwarf_siblingof(&die, &die)) {
		int tag = dwarf_tag(&die);

		if (tag == DW_TAG_subprogram)
			add_ranges(functions, &die);
		if (depth < DEPTH_MAX && may_have_functions(tag))
			add_functions(functions, &die, depth + 1);
	}
}

/* Of those that begin at one address, that which is told of first */
static int by_start(const void *left, const void *right)
{
	const struct function_range *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->die.addr < b->die.addr ? -1 : a->die.addr > b->die.addr;
}

static struct unit_functions *functions_of(struct inlined *inlined, Dwarf_Die *unit)
{
	struct unit_functions *functions;
	size_t kept = 0;

	for (functions = inlined->units; functions; functions = functions->next)
		if (functions->unit == unit->addr)
			return functions;
	functions = calloc(1, sizeof(*functions));
	if (!functions)
		return NULL;
	functions->unit = unit->addr;
	add_functions(functions, unit, 0);
	if (functions->count)
		qsort(functions->list, functions->count, sizeof(*functions->list), by_start);
	for (size_t i = 0; i < functions->count; i++)
		if (!kept || functions->list[kept - 1].start != functions->list[i].start)
			functions->list[kept++] = functions->list[i];
	functions->count = kept;
	functions->next = inlined->units;
	inlined->units = functions;
	return functions;
}

/* The function of a unit that has the code at an address */
static bool find_function(struct inlined *inlined, Dwarf_Die *unit, Dwarf_Addr address,
			  Dwarf_Die *die)
{
	const struct unit_functions *functions = functions_of(inlined, unit);
	size_t low = 0, high = functions ? functions->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (functions->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || functions->list[low - 1].end <= address)
		return false;
	*die = functions->list[low - 1].die;
	return true;
}

/* The scope within another one that has the code at an address */
static bool find_scope(Dwarf_Die *scope, Dwarf_Addr address, Dwarf_Die *within)
{
	int more;

	for (more = dwarf_child(scope, within); !more; more = dwarf_siblingof(within, within))
		if (dwarf_tag(within) != DW_TAG_subprogram && dwarf_haspc(within, address) > 0)
			return true;
	return false;
}

/* ------------------------------------------------------------------- sites */

/* Fills @calls, the innermost first; returns how many there are. */
static size_t find_calls(struct symbols *symbols, const struct binary *binary,
			 uint64_t address, struct inlined_call *calls)
{
	Dwarf_Die *unit, scope, within;
	Dwfl_Module *module;
	Dwarf_Addr bias;
	size_t found = 0;

	address += binary->bias;
	module = dwfl_addrmodule(binary->dwfl, address);
	unit = module ? unit_of(module, address, &bias) : NULL;
	if (!unit || !find_function(binary->inlined, unit, address - bias, &scope))
		return 0;
	for (; found < DEPTH_MAX && find_scope(&scope, address - bias, &within); scope = within) {
		struct inlined_call call = { 0 };

		if (dwarf_tag(&within) != DW_TAG_inlined_subroutine)
			continue;
		call.function = function_of(symbols, binary->inlined, &within);
		call.line = line_of(symbols, unit, &within);
		if (!call.function)
			continue;
		memmove(&calls[1], &calls[0], found++ * sizeof(calls[0]));
		calls[0] = call;
	}
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
	for (struct unit_functions *functions = inlined->units, *next; functions; functions = next) {
		next = functions->next;
		free(functions->list);
		free(functions);
	}
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
