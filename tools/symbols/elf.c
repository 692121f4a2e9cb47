// SPDX-License-Identifier: GPL-2.0-only
/*
 * The symbols of a file, through elfutils: its own, or those of its debug file, which
 * is found by build id or debug link below /usr/lib/debug, as debuggers find it. A file
 * that is not the one that was recorded is not used; perf's cache of binaries
 * (~/.debug) may still have that. The vdso has no file: ours is the kernel's of now.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>
#include <elfutils/version.h>

#include "inline.h"

/* The vdso has its headers and sections in so many bytes. */
#define VDSO_SIZE 8192

#define VMLINUX_OTHER \
	"the file given with -k is another kernel than was recorded: their build ids differ"
#define VMLINUX_NONE \
	"the file given with -k cannot be read, or is no kernel as a program (vmlinux)"

#define DEBUG_DIRS ":.debug:/usr/lib/debug"

static char debug_dirs[PATH_MAX] = DEBUG_DIRS;
static char *debug_path = debug_dirs;

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.section_address = dwfl_offline_section_address,
	.debuginfo_path = &debug_path,
};

/**
 * symbols_open() - open a file that a recording, or what it names, tells of
 * @path: of it.
 * @flags: O_NOFOLLOW, or 0.
 * @about: filled.
 *
 * A device or a pipe in its place is not even opened, as that alone does something: it starts
 * a watchdog, or rewinds a tape. Files of the kernel that are read only once say that they are
 * empty.
 *
 * Return: the file, of which something can be read; -1 if there is none.
 */
int symbols_open(const char *path, int flags, struct stat *about)
{
	int there = open(path, O_PATH | O_CLOEXEC | flags), fd = -1;
	char itself[32];

	if (there < 0)
		return -1;
	snprintf(itself, sizeof(itself), "/proc/self/fd/%d", there);
	if (fstat(there, about) == 0 && S_ISREG(about->st_mode) && about->st_size > 0)
		fd = open(itself, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	close(there);
	return fd;
}

#if !_ELFUTILS_PREREQ(0, 188)
/* Debian 11's libdwfl takes no memory. */
static Dwfl_Module *report_copy(Dwfl *dwfl, const char *vdso)
{
	Dwfl_Module *module = NULL;
	int fd = memfd_create("vdso", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, vdso, VDSO_SIZE) == VDSO_SIZE)
		module = dwfl_report_offline(dwfl, "[vdso]", "[vdso]", fd);
	if (!module && fd >= 0)
		close(fd);
	return module;
}
#endif

static Dwfl_Module *report_vdso(Dwfl *dwfl)
{
	char *vdso = (char *)getauxval(AT_SYSINFO_EHDR);

	if (!vdso)
		return NULL;
#if _ELFUTILS_PREREQ(0, 188)
	return dwfl_report_offline_memory(dwfl, "[vdso]", "[vdso]", vdso, VDSO_SIZE);
#else
	return report_copy(dwfl, vdso);
#endif
}

static Dwfl_Module *report_file(Dwfl *dwfl, const char *path)
{
	struct stat about;
	int fd = symbols_open(path, 0, &about);
	Dwfl_Module *module;

	if (fd < 0)
		return NULL;
	module = dwfl_report_offline(dwfl, path, path, fd);
	if (!module)
		close(fd);
	return module;
}

static bool is_recorded(const struct binary *binary, Dwfl_Module *module)
{
	const unsigned char *id;
	GElf_Addr address;
	int size = dwfl_module_build_id(module, &id, &address);

	if (!binary->build_id_size || size <= 0)
		return true;
	/* What is recorded may have zeros behind it. */
	return size <= binary->build_id_size && !memcmp(id, binary->build_id, (size_t)size);
}

/* Open what is at @path, or the vdso if it is NULL; NULL if it is not the one. */
static Dwfl_Module *try_one(struct binary *binary, const char *path, bool *other)
{
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;

	if (!dwfl)
		return NULL;
	module = path ? report_file(dwfl, path) : report_vdso(dwfl);
	if (module && dwfl_report_end(dwfl, NULL, NULL) == 0) {
		if (is_recorded(binary, module)) {
			binary->dwfl = dwfl;
			return module;
		}
		*other = true;
	}
	dwfl_end(dwfl);
	return NULL;
}

/* Where perf keeps copies of the binaries that it has seen. */
static bool cached_path(const struct binary *binary, char *path, size_t size)
{
	const char *home = getenv("HOME");
	int length;

	if (!home || binary->build_id_size < 2)
		return false;
	length = snprintf(path, size, "%s/.debug/.build-id/%02x/", home,
			  binary->build_id[0]);
	for (int i = 1; i < binary->build_id_size && length + 8 < (int)size; i++)
		length += snprintf(path + length, size - (size_t)length, "%02x",
				   binary->build_id[i]);
	return snprintf(path + length, size - (size_t)length, "/elf") == 4;
}

static Dwfl_Module *find_file(struct symbols *symbols, struct binary *binary)
{
	Dwfl_Module *module = NULL;
	char path[PATH_MAX];
	bool other = false;

	if (binary->kind == BINARY_VDSO) {
		module = *symbols->root ? NULL : try_one(binary, NULL, &other);
	} else {
		if (*symbols->root)
			snprintf(debug_dirs, sizeof(debug_dirs), ":.debug:%s/usr/lib/debug",
				 symbols->root);
		if (snprintf(path, sizeof(path), "%s%s", symbols->root,
			     binary->raw) < (int)sizeof(path))
			module = try_one(binary, path, &other);
		if (!module && cached_path(binary, path, sizeof(path)))
			module = try_one(binary, path, &other);
	}
	if (!module)
		binary->problem = other ? "it is another one than was recorded: their build ids differ" :
					  "there is no such file, or it cannot be read, or it is no program";
	return module;
}

static void add_segments(struct binary *binary, Dwfl_Module *module)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	size_t count;
	GElf_Phdr header;

	if (!elf || elf_getphdrnum(elf, &count) < 0)
		return;
	binary->bias = bias;
	binary->segments = calloc(count ? count : 1, sizeof(*binary->segments));
	for (size_t i = 0; binary->segments && i < count && i < INT_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		binary->segments[binary->segment_count++] = (struct binary_segment){
			header.p_offset, header.p_filesz, header.p_vaddr,
		};
	}
}

/* How far it is from a symbol to the end of its section; 0 if it is in none */
static uint64_t rest_of_section(const GElf_Sym *symbol, Elf *elf, GElf_Word section)
{
	Elf_Scn *scn = elf ? elf_getscn(elf, section) : NULL;
	uint64_t into;
	GElf_Shdr header;

	if (!scn || !gelf_getshdr(scn, &header))
		return 0;
	into = symbol->st_value - header.sh_addr;
	return into < header.sh_size ? header.sh_size - into : 0;
}

static bool is_code(Elf *elf, GElf_Word section)
{
	Elf_Scn *scn = elf ? elf_getscn(elf, section) : NULL;
	GElf_Shdr header;

	return scn && gelf_getshdr(scn, &header) && header.sh_flags & SHF_EXECINSTR;
}

/* Assembler code often has labels only. */
static bool is_function(const GElf_Sym *symbol, const char *name, Elf *elf,
			GElf_Word section)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	if (!*name || section == SHN_UNDEF)
		return false;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		return true;
	return type == STT_NOTYPE && name[0] != '$' && strncmp(name, ".L", 2) &&
	       is_code(elf, section);
}

static void add_symbols(struct binary *binary, Dwfl_Module *module)
{
	int count = dwfl_module_getsymtab(module);

	for (int i = 1; i < count; i++) {
		struct symbol symbol = { 0 };
		GElf_Word section = SHN_UNDEF;
		GElf_Addr address;
		GElf_Sym elf_symbol;
		Elf *elf = NULL;
		const char *name = dwfl_module_getsym_info(module, i, &elf_symbol, &address,
							   &section, &elf, NULL);
		unsigned int bind;

		if (!name || !is_function(&elf_symbol, name, elf, section))
			continue;
		bind = GELF_ST_BIND(elf_symbol.st_info);
		symbol.start = address - binary->bias;
		symbol.end = symbol.start + elf_symbol.st_size;
		if (!elf_symbol.st_size)
			symbol.limit = symbol.start +
				       rest_of_section(&elf_symbol, elf, section);
		symbol.raw = name;
		symbol.rank = bind == STB_GLOBAL ? 2 : bind == STB_WEAK ? 1 : 0;
		/* A label is only a name where there is no function. */
		if (GELF_ST_TYPE(elf_symbol.st_info) == STT_NOTYPE)
			symbol.rank -= 3;
		if (symbol_table_add(&binary->table, &symbol) < 0)
			return;
	}
}

/**
 * symbols_load_file() - read the symbols of a file
 * @symbols: all binaries.
 * @binary: gets them; if there are none, the reason.
 */
void symbols_load_file(struct symbols *symbols, struct binary *binary)
{
	Dwfl_Module *module = find_file(symbols, binary);

	if (!module)
		return;
	add_segments(binary, module);
	add_symbols(binary, module);
	if (!binary->table.count)
		binary->problem = "it has no symbols: install its debug symbols, or build it without stripping it";
	symbols_add_plt(symbols, binary, module);
	symbol_table_finish(&binary->table);
}

/**
 * symbols_load_vmlinux() - read the symbols of the kernel from a file that is it
 * @symbols: @symbols->vmlinux is its path; @symbols->kernel gets them.
 */
void symbols_load_vmlinux(struct symbols *symbols)
{
	const char *reference = symbols->reference ? symbols->reference : "_text";
	struct binary *kernel = symbols->kernel;
	bool other = false;
	Dwfl_Module *module = try_one(kernel, symbols->vmlinux, &other);

	if (!module) {
		kernel->problem = other ? VMLINUX_OTHER : VMLINUX_NONE;
		return;
	}
	add_segments(kernel, module);
	add_symbols(kernel, module);
	/* It ran elsewhere than it was linked to. */
	for (size_t i = 0; symbols->reference_address && i < kernel->table.count; i++)
		if (!strcmp(kernel->table.list[i].raw, reference))
			symbols->kernel_shift = symbols->reference_address -
						kernel->table.list[i].start;
	if (!kernel->table.count)
		kernel->problem = "the file given with -k has no symbols";
	symbol_table_finish(&kernel->table);
}

/**
 * binary_elf() - the file itself
 * @binary: the binary, whose symbols were read.
 *
 * Return: valid as long as @binary; NULL if it is not there, or is another one.
 */
Elf *binary_elf(const struct binary *binary)
{
	Dwfl_Module *module = NULL;
	GElf_Addr bias;

	if (binary->dwfl && binary->segment_count)
		module = dwfl_addrmodule(binary->dwfl,
					 binary->segments[0].address + binary->bias);
	return module ? dwfl_module_getelf(module, &bias) : NULL;
}

/**
 * binary_address() - where in a binary's own terms a byte of its file is
 * @binary: the binary, whose symbols were read.
 * @offset: in the file.
 *
 * Return: the address; without the file, the offset.
 */
uint64_t binary_address(const struct binary *binary, uint64_t offset)
{
	for (size_t i = 0; i < binary->segment_count; i++) {
		const struct binary_segment *segment = &binary->segments[i];

		if (offset >= segment->offset && offset - segment->offset < segment->size)
			return offset - segment->offset + segment->address;
	}
	return offset;
}

/**
 * binary_code() - bytes of a binary
 * @binary: the binary, whose symbols were read.
 * @address: in its own terms.
 * @to: where to.
 * @size: how many.
 *
 * Return: how many there are; 0 if the file is not there, or is another one.
 */
size_t binary_code(const struct binary *binary, uint64_t address, uint8_t *to, size_t size)
{
	Dwfl_Module *module;
	GElf_Addr bias;
	size_t length;
	char *bytes;

	module = binary->dwfl ? dwfl_addrmodule(binary->dwfl, address + binary->bias) : NULL;
	bytes = module ? elf_rawfile(dwfl_module_getelf(module, &bias), &length) : NULL;
	for (size_t i = 0; bytes && i < binary->segment_count; i++) {
		const struct binary_segment *segment = &binary->segments[i];
		uint64_t into = address - segment->address;

		if (address < segment->address || into >= segment->size ||
		    segment->offset > length || segment->size > length - segment->offset)
			continue;
		if (size > segment->size - into)
			size = segment->size - into;
		memcpy(to, bytes + segment->offset + into, size);
		return size;
	}
	return 0;
}

/**
 * symbols_source_line() - the line of the source that a place comes from
 * @symbols: all binaries.
 * @place: the place.
 *
 * Return: "FILE:LINE", or NULL if that is unknown.
 */
const char *symbols_source_line(struct symbols *symbols, const struct place *place)
{
	const char *file;
	char text[PATH_MAX];
	int number;

	if (place->line)
		return place->line;
	file = symbols_line(place->binary, place->address, &number);
	if (!file)
		return NULL;
	snprintf(text, sizeof(text), "%s:%d", file, number);
	return names_intern(symbols->names, text);
}

/**
 * binary_close() - close the file; its raw names are gone then
 * @binary: the binary.
 */
void binary_close(struct binary *binary)
{
	inlined_free(binary->inlined);
	binary->inlined = NULL;
	if (binary->dwfl)
		dwfl_end(binary->dwfl);
	binary->dwfl = NULL;
}
