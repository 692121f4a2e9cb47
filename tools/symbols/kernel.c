// SPDX-License-Identifier: GPL-2.0-only
/*
 * The symbols of the kernel and its modules, from /proc/kallsyms or a copy of it. The
 * running kernel's are used only if it is the kernel that was recorded: the build ids
 * must be equal, or else the releases.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "symbols.h"

#define KALLSYMS "/proc/kallsyms"

#define HIDDEN_FROM_ALL \
	"the kernel hides its addresses from everybody: as root set kernel.kptr_restrict to 1, then root sees them"
#define HIDDEN_BY_BOTH \
	"the kernel hides its addresses from you: be root, or set kernel.kptr_restrict to 0 and kernel.perf_event_paranoid to 1"
#define HIDDEN_BY_KPTR \
	"the kernel hides its addresses from you: be root, or set kernel.kptr_restrict to 0"
#define HIDDEN_BY_PARANOID \
	"the kernel hides its addresses from you: be root, or set kernel.perf_event_paranoid to 1"
#define COPY_HIDDEN \
	"the file was copied by somebody from whom the kernel hides its addresses: copy it as root"
#define OTHER_KERNEL \
	"another kernel was recorded than runs here: give a copy of its /proc/kallsyms with --kallsyms FILE"

/* A table of a large kernel has some MB. */
#define KALLSYMS_MAX (256UL << 20)

static int number_of(const char *path)
{
	FILE *file = fopen(path, "re");
	int number = 0;

	if (file && fscanf(file, "%d", &number) != 1)
		number = 0;
	if (file)
		fclose(file);
	return number;
}

/**
 * kernel_hidden() - who may see the addresses of the kernel
 * @kptr_restrict: of /proc/sys/kernel.
 * @paranoid: perf_event_paranoid there.
 *
 * Return: a sentence for somebody who may not, with what helps.
 */
const char *kernel_hidden(int kptr_restrict, int paranoid)
{
	if (kptr_restrict > 1)
		return HIDDEN_FROM_ALL;
	if (kptr_restrict == 1 && paranoid > 1)
		return HIDDEN_BY_BOTH;
	if (kptr_restrict == 1)
		return HIDDEN_BY_KPTR;
	if (paranoid > 1)
		return HIDDEN_BY_PARANOID;
	return "/proc/kallsyms shows no addresses: be root";
}

/**
 * kernel_hidden_now() - as kernel_hidden(), on this machine
 */
const char *kernel_hidden_now(void)
{
	return kernel_hidden(number_of("/proc/sys/kernel/kptr_restrict"),
			     number_of("/proc/sys/kernel/perf_event_paranoid"));
}

/* The whole file with a 0 behind it; files in /proc do not tell their size. */
static char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	size_t room = 1 << 16, used = 0;
	char *text = NULL, *new;

	while (file && room <= KALLSYMS_MAX) {
		new = realloc(text, room + 1);
		if (!new)
			break;
		text = new;
		used += fread(text + used, 1, room - used, file);
		if (used < room) {
			text[used] = '\0';
			*size = used;
			fclose(file);
			return text;
		}
		room *= 2;
	}
	if (file)
		fclose(file);
	free(text);
	return NULL;
}

static bool running_build_id(uint8_t *id, size_t *size)
{
	size_t length, at = 0, name, note;
	char *notes = read_all("/sys/kernel/notes", &length);
	Elf64_Nhdr header;
	bool found = false;

	while (notes && length - at >= sizeof(header)) {
		memcpy(&header, notes + at, sizeof(header));
		name = at + sizeof(header);
		note = name + ((header.n_namesz + 3ULL) & ~3ULL);
		at = note + ((header.n_descsz + 3ULL) & ~3ULL);
		if (at > length)
			break;
		if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
		    !memcmp(notes + name, "GNU", 4) &&
		    header.n_descsz <= PERFFILE_BUILD_ID_MAX) {
			*size = header.n_descsz;
			memcpy(id, notes + note, *size);
			found = true;
			break;
		}
	}
	free(notes);
	return found;
}

static bool is_running(const struct symbols *symbols)
{
	const struct binary *kernel = symbols->kernel;
	uint8_t id[PERFFILE_BUILD_ID_MAX];
	struct utsname name;
	size_t size;

	if (kernel->build_id_size && running_build_id(id, &size))
		return size == kernel->build_id_size &&
		       !memcmp(id, kernel->build_id, size);
	if (!symbols->info->osrelease || uname(&name) < 0)
		return true;
	return !strcmp(name.release, symbols->info->osrelease);
}

/*
 * A system call without arguments is one function with a name for each way in, and so is what compat
 * code shares with the rest; 32-bit programs are the few.
 */
static int rank_of(char type, const char *name)
{
	bool is_global = type == 'T' || type == 'W';
	bool is_32_bit = !strncmp(name, "__ia32_sys_", 11) || strstr(name, "compat_");

	return 2 * is_global - is_32_bit;
}

/* "ADDRESS TYPE NAME" and perhaps "\t[MODULE]"; cut into its words in place. */
static bool parse_line(char *line, struct symbol *symbol, char *type)
{
	char *at, *tab;

	symbol->start = strtoull(line, &at, 16);
	symbol->end = symbol->start;
	if (at == line || at[0] != ' ' || !at[1] || at[2] != ' ' || !at[3])
		return false;
	*type = at[1];
	symbol->raw = at + 3;
	symbol->owner = NULL;
	symbol->rank = rank_of(*type, symbol->raw);
	tab = strchr(at + 3, '\t');
	if (!tab)
		return true;
	*tab = '\0';
	symbol->owner = tab + 1;
	return true;
}

static bool is_code(char type)
{
	return type == 'T' || type == 't' || type == 'W' || type == 'w';
}

static void parse(struct symbols *symbols, struct binary *kernel, size_t size)
{
	const char *reference = symbols->reference ? symbols->reference : "_text";
	char *line = symbols->kernel_text, *end = line + size, *next;
	struct symbol symbol = { 0 };
	uint64_t any = 0;
	char type;

	for (; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line));
		if (!next)
			next = end;
		*next = '\0';
		if (!parse_line(line, &symbol, &type))
			continue;
		any |= symbol.start;
		if (!symbol.owner && symbols->reference_address && symbol.start &&
		    !strcmp(symbol.raw, reference))
			symbols->kernel_shift = symbols->reference_address - symbol.start;
		if (is_code(type) && symbol_table_add(&kernel->table, &symbol) < 0)
			break;
	}
	if (!any) {
		kernel->table.count = 0;
		kernel->problem = symbols->kallsyms ? COPY_HIDDEN : kernel_hidden_now();
	}
	symbol_table_finish(&kernel->table);
}

/**
 * symbols_load_kernel() - read the kernel's table of symbols
 * @symbols: @symbols->kernel gets it.
 */
void symbols_load_kernel(struct symbols *symbols)
{
	const char *path = symbols->kallsyms ? symbols->kallsyms : KALLSYMS;
	struct binary *kernel = symbols->kernel;
	size_t size = 0;

	if (symbols->vmlinux) {
		symbols_load_vmlinux(symbols);
		return;
	}
	if (!symbols->kallsyms && !is_running(symbols)) {
		kernel->problem = OTHER_KERNEL;
		return;
	}
	symbols->kernel_text = read_all(path, &size);
	if (!symbols->kernel_text) {
		kernel->problem = "the file with its symbols cannot be read";
		return;
	}
	parse(symbols, kernel, size);
}
