// SPDX-License-Identifier: GPL-2.0-only
/*
 * The binaries of a recording and their tables of symbols. A table is read when the
 * first address is looked up in it; names are made readable when they are first used.
 */
#include <stdlib.h>
#include <string.h>

#include "jit.h"

#define PAGE 4096

/* How far back a function that has others within may begin, in symbols */
#define NESTED_MAX 16

/* A symbol without a length, behind which none comes, has a page. */
#define LAST_SIZE PAGE

static size_t bucket_of(enum binary_kind kind, const char *path)
{
	size_t hash = kind;

	for (; *path; path++)
		hash = hash * 31 + (unsigned char)*path;
	return hash % SYMBOLS_BUCKETS;
}

static void set_name(struct symbols *symbols, struct binary *binary)
{
	const char *slash = strrchr(binary->path, '/');

	binary->name = binary->path;
	/* "//anon" is no path. */
	if (binary->kind == BINARY_FILE && slash && slash[1])
		binary->name = names_intern(symbols->names, slash + 1);
}

/* The build id that the file tells for this name, if its record did not. */
static void find_build_id(const struct symbols *symbols, struct binary *binary)
{
	const struct perffile_info *info = symbols->info;

	for (size_t i = 0; !binary->build_id_size && i < info->build_id_count; i++) {
		if (strcmp(info->build_ids[i].name, binary->raw))
			continue;
		binary->build_id_size = info->build_ids[i].size;
		memcpy(binary->build_id, info->build_ids[i].id, sizeof(binary->build_id));
	}
}

/* Where what the kernel made is kept: many are called alike. */
static size_t bucket_of_code(const struct perffile_ksymbol *code)
{
	return (bucket_of(BINARY_GENERATED, code->name) ^ code->start >> 4 ^ code->start >> 16) %
	       SYMBOLS_BUCKETS;
}

/* One more; NULL if there is no memory. */
static struct binary *add_binary(struct symbols *symbols, enum binary_kind kind, const char *path,
				 size_t in)
{
	struct binary **bucket = &symbols->buckets[in];
	struct binary *binary = calloc(1, sizeof(*binary));

	if (!binary)
		return NULL;
	binary->kind = kind;
	binary->raw = strdup(path);
	if (!binary->raw) {
		free(binary);
		return NULL;
	}
	binary->path = names_intern(symbols->names, path);
	set_name(symbols, binary);
	binary->next = *bucket;
	*bucket = binary;
	return binary;
}

/**
 * symbols_binary() - the binary of this name
 * @symbols: all of them.
 * @kind: of which kind.
 * @path: as recorded.
 * @build_id: as recorded with the mapping, or NULL.
 * @size: bytes of it.
 *
 * Return: valid as long as @symbols; without memory for it, the unknown one.
 */
struct binary *symbols_binary(struct symbols *symbols, enum binary_kind kind,
			      const char *path, const uint8_t *build_id, size_t size)
{
	struct binary *binary = symbols->buckets[bucket_of(kind, path)];

	for (; binary; binary = binary->next)
		if (binary->kind == kind && !strcmp(binary->raw, path) &&
		    (size ? binary->build_id_size == size &&
			    !memcmp(binary->build_id, build_id, size) :
			    !binary->is_told))
			return binary;
	binary = add_binary(symbols, kind, path, bucket_of(kind, path));
	if (!binary)
		return symbols->unknown;
	if (size <= sizeof(binary->build_id) && size) {
		memcpy(binary->build_id, build_id, size);
		binary->build_id_size = (uint8_t)size;
		binary->is_told = true;
	}
	find_build_id(symbols, binary);
	return binary;
}

/* "/lib/modules/6.1.0/kernel/net/x-y.ko.xz" is "[x_y]". */
static struct binary *module_binary(struct symbols *symbols, const struct perffile_mmap *map)
{
	const char *slash = strrchr(map->name, '/'), *name = slash ? slash + 1 : map->name;
	const char *dot = strstr(name, ".ko");
	struct binary *module;
	char text[128];

	if (*name != '[' && dot) {
		snprintf(text, sizeof(text), "[%.*s]", (int)(dot - name < 100 ? dot - name : 100),
			 name);
		for (char *at = text; *at; at++)
			if (*at == '-')
				*at = '_';
		name = text;
	}
	module = symbols_binary(symbols, BINARY_MODULE, name, map->build_id,
				map->build_id_size);
	if (!module->start)
		module->start = map->start;
	return module;
}

/**
 * symbols_kernel_mapped() - the binary of a mapping of the kernel
 * @symbols: all of them; told where the kernel is.
 * @map: as recorded.
 *
 * Return: as symbols_binary().
 */
struct binary *symbols_kernel_mapped(struct symbols *symbols, const struct perffile_mmap *map)
{
	static const char kernel[] = "[kernel.kallsyms]";
	const char *end = strchr(map->name, ']');

	if (strncmp(map->name, "[kernel", 7) && strncmp(map->name, "[guest.kernel", 13))
		return module_binary(symbols, map);
	if (!strncmp(map->name, kernel, sizeof(kernel) - 1) && end && end[1]) {
		symbols->reference = names_intern(symbols->names, end + 1);
		symbols->reference_address = map->offset;
	}
	return symbols->kernel;
}

/**
 * symbols_generated() - the binary that is a function of the kernel's making
 * @symbols: all of them.
 * @code: as recorded: a BPF program, for one.
 *
 * Return: as symbols_binary(). It has that one symbol.
 */
struct binary *symbols_generated(struct symbols *symbols, const struct perffile_ksymbol *code)
{
	size_t bucket = bucket_of_code(code);
	struct binary *binary = symbols->buckets[bucket];
	struct symbol symbol = { .start = code->start, .end = code->start + code->length };

	for (; binary; binary = binary->next)
		if (binary->kind == BINARY_GENERATED && !strcmp(binary->raw, code->name) &&
		    binary->start == symbol.start && binary->table.count &&
		    binary->table.list->end == symbol.end)
			return binary;
	binary = add_binary(symbols, BINARY_GENERATED, code->name, bucket);
	if (!binary)
		return symbols->unknown;
	binary->start = code->start;
	binary->loaded = true;
	symbol.raw = binary->raw;
	symbol_table_add(&binary->table, &symbol);
	return binary;
}

/**
 * symbols_user_mapped() - the binary of a mapping of a process
 * @symbols: all of them.
 * @map: as recorded.
 *
 * Return: as symbols_binary().
 */
struct binary *symbols_user_mapped(struct symbols *symbols, const struct perffile_mmap *map)
{
	enum binary_kind kind = BINARY_FILE;

	if (!strcmp(map->name, "[vdso]"))
		kind = BINARY_VDSO;
	else if (map->name[0] != '/' || !strncmp(map->name, "//", 2) ||
		 !strncmp(map->name, "/memfd:", 7) || !strncmp(map->name, "/dev/zero", 9) ||
		 !strncmp(map->name, "/SYSV", 5) || !strncmp(map->name, "/anon_hugepage", 14))
		kind = BINARY_NONE;
	return symbols_binary(symbols, kind, map->name, map->build_id,
			      map->build_id_size);
}

/**
 * symbols_new() - no binaries yet
 * @info: of the recording; must stay.
 * @root: directory that stands for the root of the file system, or "".
 * @kallsyms: file with the kernel's symbols; NULL: those of the running kernel, if it
 *	is the one that was recorded.
 *
 * Return: to be freed with symbols_free(); NULL if there is no memory.
 */
struct symbols *symbols_new(const struct perffile_info *info, const char *root,
			    const char *kallsyms)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->info = info;
	symbols->root = root;
	symbols->kallsyms = kallsyms;
	symbols->names = names_new();
	symbols->buckets = calloc(SYMBOLS_BUCKETS, sizeof(*symbols->buckets));
	if (symbols->names && symbols->buckets) {
		symbols->unknown = symbols_binary(symbols, BINARY_NONE, "[unknown]",
						  NULL, 0);
		symbols->kernel = symbols_binary(symbols, BINARY_KERNEL,
						 "[kernel.kallsyms]", NULL, 0);
	}
	if (symbols->unknown && symbols->kernel)
		return symbols;
	symbols_free(symbols);
	return NULL;
}

/**
 * symbols_free() - forget all binaries, and all names that were handed out
 * @symbols: all of them, or NULL.
 */
void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; symbols->buckets && i < SYMBOLS_BUCKETS; i++) {
		for (struct binary *binary = symbols->buckets[i], *next; binary;
		     binary = next) {
			next = binary->next;
			binary_close(binary);
			free(binary->table.list);
			free(binary->text);
			jit_free(binary->jit);
			free(binary->segments);
			free((char *)binary->raw);
			free(binary);
		}
	}
	free(symbols->buckets);
	free(symbols->kernel_text);
	names_free(symbols->names);
	free(symbols);
}

/**
 * symbol_table_add() - one more symbol
 * @table: unsorted.
 * @symbol: copied. Its end may be its start: then it ends where the next one begins.
 *
 * Return: 0, -1 if there is no memory.
 */
int symbol_table_add(struct symbol_table *table, const struct symbol *symbol)
{
	if (table->count == table->room) {
		size_t room = table->room ? table->room * 2 : 1024;
		struct symbol *list = reallocarray(table->list, room, sizeof(*list));

		if (!list)
			return -1;
		table->list = list;
		table->room = room;
	}
	table->list[table->count] = *symbol;
	table->list[table->count].order = (unsigned int)table->count;
	table->count++;
	return 0;
}

/* Of several names of an address the best comes first. */
static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	size_t a_length, b_length;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	a_length = a->end > a->start;
	b_length = b->end > b->start;
	if (a_length != b_length)
		return a_length ? -1 : 1;
	if (a->rank != b->rank)
		return a->rank > b->rank ? -1 : 1;
	a_length = strspn(a->raw, "_");
	b_length = strspn(b->raw, "_");
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	a_length = strlen(a->raw);
	b_length = strlen(b->raw);
	if (a_length != b_length)
		return a_length > b_length ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/**
 * symbol_table_finish() - sort, one name for each address, ends for all
 * @table: then ready for symbol_table_find().
 */
void symbol_table_finish(struct symbol_table *table)
{
	size_t kept = 0;

	if (!table->count)
		return;
	qsort(table->list, table->count, sizeof(*table->list), by_address);
	for (size_t i = 0; i < table->count; i++)
		if (!kept || table->list[kept - 1].start != table->list[i].start)
			table->list[kept++] = table->list[i];
	table->count = kept;
	for (size_t i = 0; i < kept; i++) {
		struct symbol *symbol = &table->list[i];

		if (symbol->end > symbol->start)
			continue;
		symbol->end = i + 1 < kept ? symbol[1].start : symbol->start + LAST_SIZE;
		if (symbol->limit > symbol->start && symbol->end > symbol->limit)
			symbol->end = symbol->limit;
	}
}

/**
 * symbol_table_find() - which symbol has this address?
 * @table: sorted.
 * @address: in the terms of the table.
 *
 * Return: the symbol, or NULL.
 */
struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address)
{
	size_t low = 0, high = table->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->list[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t n = 0; n < NESTED_MAX && low > n; n++)
		if (table->list[low - 1 - n].end > address)
			return &table->list[low - 1 - n];
	return NULL;
}

/* It may have been loaded again since, to another place: code begins a page there. */
static void find_module(const struct symbols *symbols, struct binary *module)
{
	const struct symbol_table *table = &symbols->kernel->table;
	uint64_t page = ~(uint64_t)(PAGE - 1);

	for (size_t i = 0; i < table->count; i++) {
		const struct symbol *symbol = &table->list[i];

		if (!symbol->owner || strcmp(symbol->owner, module->name))
			continue;
		module->bias = (symbol->start & page) - (module->start & page);
		return;
	}
}

static void load(struct symbols *symbols, struct binary *binary)
{
	binary->loaded = true;
	switch (binary->kind) {
	case BINARY_FILE:
	case BINARY_VDSO:
		symbols_load_file(symbols, binary);
		break;
	case BINARY_KERNEL:
		symbols_load_kernel(symbols);
		break;
	case BINARY_MODULE:
		if (!symbols->kernel->loaded)
			load(symbols, symbols->kernel);
		find_module(symbols, binary);
		break;
	case BINARY_JIT:
		jit_load_map(symbols, binary);
		break;
	case BINARY_GENERATED:
	case BINARY_NONE:
		break;
	}
}

/* A module's symbols are in the kernel's table; they must be that module's. */
static struct symbol *find_in_kernel(struct symbols *symbols, const struct binary *binary,
				     uint64_t address)
{
	bool is_kernel = binary->kind == BINARY_KERNEL;
	uint64_t shift = is_kernel ? -symbols->kernel_shift : binary->bias;
	struct symbol *symbol = symbol_table_find(&symbols->kernel->table, address + shift);

	if (!symbol || is_kernel)
		return symbol;
	return symbol->owner && !strcmp(symbol->owner, binary->name) ? symbol : NULL;
}

/**
 * symbols_find() - which symbol has this address?
 * @symbols: all binaries.
 * @binary: the one that it is in; its symbols are read if they were not.
 * @address: of a file in the file's own terms, of the kernel as recorded.
 *
 * Return: the symbol, or NULL.
 */
struct symbol *symbols_find(struct symbols *symbols, struct binary *binary,
			    uint64_t address)
{
	bool in_kernel = binary->kind == BINARY_KERNEL || binary->kind == BINARY_MODULE;

	binary->hit = true;
	if (!binary->loaded)
		load(symbols, binary);
	if (!in_kernel)
		return symbol_table_find(&binary->table, address);
	symbols->kernel->hit = true;
	if (!symbols->kernel->loaded)
		load(symbols, symbols->kernel);
	return find_in_kernel(symbols, binary, address);
}

/**
 * symbol_name() - the name of a symbol for people
 * @symbols: all of them.
 * @symbol: the symbol.
 *
 * Return: names of C++ and Rust demangled and short; equal names have equal pointers.
 */
const char *symbol_name(struct symbols *symbols, struct symbol *symbol)
{
	char *readable;

	if (symbol->name)
		return symbol->name;
	readable = symbol_demangle(symbol->raw);
	symbol->name = names_intern(symbols->names, readable ? readable : symbol->raw);
	free(readable);
	return symbol->name;
}
