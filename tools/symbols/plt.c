// SPDX-License-Identifier: GPL-2.0-only
/*
 * The stubs through which a program calls the functions of libraries. They have no symbols;
 * what they are of tells the relocation of the word that a stub jumps through. x86 only.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <elfutils/libdwfl.h>

#include "symbols.h"

/* Names that are longer are cut: templates have names of some kB. */
#define NAME_MAX_SIZE 4096

/* What a stub begins with may be endbr64 or push; "jmp *DISPLACEMENT(%rip)" is so long. */
#define JUMP_SIZE 6

/* A word of the table of addresses, and the function whose address goes there */
struct slot {
	uint64_t address;
	const char *name;
};

struct slots {
	struct slot *list;
	size_t count;
};

static int by_address(const void *left, const void *right)
{
	const struct slot *a = left, *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* The words that a section of relocations names */
static void add_slots(struct slots *slots, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	size_t count = header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
	Elf_Scn *symtab = elf_getscn(elf, header->sh_link);
	Elf_Data *data = elf_getdata(section, NULL);
	Elf_Data *symbols = symtab ? elf_getdata(symtab, NULL) : NULL;
	struct slot *list;
	GElf_Shdr strings;

	if (!data || !symbols || !gelf_getshdr(symtab, &strings) || count > INT_MAX)
		return;
	list = reallocarray(slots->list, slots->count + count, sizeof(*list));
	if (!list)
		return;
	slots->list = list;
	for (size_t i = 0; i < count; i++) {
		const char *name;
		GElf_Rela rela;
		GElf_Sym sym;

		if (!gelf_getrela(data, (int)i, &rela) ||
		    (GELF_R_TYPE(rela.r_info) != R_X86_64_JUMP_SLOT &&
		     GELF_R_TYPE(rela.r_info) != R_X86_64_GLOB_DAT) ||
		    !gelf_getsym(symbols, (int)GELF_R_SYM(rela.r_info), &sym))
			continue;
		name = elf_strptr(elf, strings.sh_link, sym.st_name);
		if (name && *name)
			slots->list[slots->count++] = (struct slot){ rela.r_offset, name };
	}
}

/* The word that a stub of @size bytes at @address jumps through, 0 if it does not */
static uint64_t slot_of(const uint8_t *code, size_t size, uint64_t address)
{
	for (size_t i = 0; i + JUMP_SIZE <= size; i++) {
		int32_t displacement;

		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&displacement, code + i + 2, sizeof(displacement));
		return address + i + JUMP_SIZE + (uint64_t)(int64_t)displacement;
	}
	return 0;
}

/* .plt.got has stubs of 8 bytes, if they do not begin with endbr64; all others have 16. */
static size_t stub_size(const uint8_t *code, const GElf_Shdr *header, const char *name)
{
	if (strcmp(name, ".plt.got"))
		return 16;
	return header->sh_size >= 2 && code[0] == 0xff && code[1] == 0x25 ? 8 : 16;
}

static void add_stubs(struct symbols *symbols, struct binary *binary,
		      const struct slots *slots, Elf_Scn *section, const GElf_Shdr *header,
		      const char *name)
{
	Elf_Data *data = elf_getdata(section, NULL);
	char text[NAME_MAX_SIZE];
	size_t size;

	if (!data || !data->d_buf || data->d_size < header->sh_size)
		return;
	size = stub_size(data->d_buf, header, name);
	for (size_t at = 0; at + size <= header->sh_size; at += size) {
		struct symbol symbol = {
			.start = header->sh_addr + at, .end = header->sh_addr + at + size,
		};
		const struct slot key = {
			.address = slot_of((uint8_t *)data->d_buf + at, size, symbol.start),
		};
		const struct slot *slot = bsearch(&key, slots->list, slots->count,
						  sizeof(key), by_address);

		if (!slot)
			continue;
		snprintf(text, sizeof(text), "%.*s" SYMBOLS_PLT,
			 (int)(sizeof(text) - sizeof(SYMBOLS_PLT)), slot->name);
		symbol.raw = names_intern(symbols->names, text);
		if (symbol_table_add(&binary->table, &symbol) < 0)
			return;
	}
}

/**
 * symbols_add_plt() - add the stubs of a file as symbols
 * @symbols: all binaries.
 * @binary: whose table gets them: "NAME@plt".
 * @module: the file of the binary.
 */
void symbols_add_plt(struct symbols *symbols, struct binary *binary, Dwfl_Module *module)
{
	GElf_Addr bias;
	Elf *elf = dwfl_module_getelf(module, &bias);
	struct slots slots = { 0 };
	Elf_Scn *section = NULL;
	GElf_Ehdr file;
	GElf_Shdr header;
	size_t names;

	if (!elf || !gelf_getehdr(elf, &file) || file.e_machine != EM_X86_64 ||
	    elf_getshdrstrndx(elf, &names) < 0)
		return;
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA)
			add_slots(&slots, elf, section, &header);
	if (slots.count)
		qsort(slots.list, slots.count, sizeof(*slots.list), by_address);
	while (slots.count && (section = elf_nextscn(elf, section))) {
		const char *name;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_PROGBITS)
			continue;
		name = elf_strptr(elf, names, header.sh_name);
		if (name && !strncmp(name, ".plt", 4))
			add_stubs(symbols, binary, &slots, section, &header, name);
	}
	free(slots.list);
}
