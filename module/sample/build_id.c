// SPDX-License-Identifier: GPL-2.0-only
/*
 * Finding a build id in an ELF file: elf(5), "Notes (Nhdr)". Pure logic. The file may be
 * anybody's and may change meanwhile, so each field is read once, and the work has a bound.
 */
#include <linux/elf.h>

#include "sample/build_id.h"

/* As many program headers as the kernel looks at; and notes in all */
#define HEADERS_MAX	256
#define NOTES_MAX	256

#define NOTE_BUILD_ID	3

/* What is left of the search */
struct search {
	struct build_id_file *file;
	unsigned int notes;
	u8 *id;
};

struct note {
	Elf32_Nhdr header; /* Elf64_Nhdr is the same */
	char name[4];
};

/* Where the program headers are */
struct headers {
	u64 at;
	unsigned int number;
	bool is_64;
};

static u64 align(u32 size)
{
	return ((u64)size + 3) & ~3ull;
}

static bool is_build_id(const struct note *note)
{
	return note->header.n_type == NOTE_BUILD_ID &&
	       note->header.n_namesz == sizeof(note->name) &&
	       !memcmp(note->name, "GNU", sizeof(note->name)) &&
	       note->header.n_descsz && note->header.n_descsz <= PMUCTL_BUILD_ID_MAX;
}

/* In the @size bytes of notes at @at */
static u32 search_notes(struct search *s, u64 at, u64 size)
{
	struct note note;
	u64 length;

	for (; size > sizeof(note) && s->notes; s->notes--) {
		if (!s->file->read(s->file, at, &note, sizeof(note)))
			return 0;
		length = sizeof(note.header) + align(note.header.n_namesz) +
			 align(note.header.n_descsz);
		if (length > size)
			return 0;
		if (is_build_id(&note))
			return s->file->read(s->file, at + sizeof(note), s->id,
					     note.header.n_descsz) ? note.header.n_descsz : 0;
		at += length;
		size -= length;
	}
	return 0;
}

static bool find_headers(struct build_id_file *file, struct headers *h)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr elf32;
		Elf64_Ehdr elf64;
	} e;

	/* The type is at the same place in both, and a file of 32 bits may be shorter. */
	if (!file->read(file, 0, &e, sizeof(e.elf32)) ||
	    memcmp(e.ident, ELFMAG, SELFMAG) ||
	    (e.elf32.e_type != ET_EXEC && e.elf32.e_type != ET_DYN))
		return false;
	h->is_64 = e.ident[EI_CLASS] == ELFCLASS64;
	if (h->is_64) {
		if (!file->read(file, 0, &e, sizeof(e.elf64)))
			return false;
		h->at = e.elf64.e_phoff;
		h->number = e.elf64.e_phnum;
		return true;
	}
	h->at = e.elf32.e_phoff;
	h->number = e.elf32.e_phnum;
	return e.ident[EI_CLASS] == ELFCLASS32;
}

/* Where the notes are of which program header @i tells; *@size 0: it tells of something else. */
static bool read_header(struct build_id_file *file, const struct headers *h, unsigned int i,
			u64 *at, u64 *size)
{
	union {
		Elf32_Phdr elf32;
		Elf64_Phdr elf64;
	} p;
	u32 bytes = h->is_64 ? sizeof(p.elf64) : sizeof(p.elf32);

	if (!file->read(file, h->at + (u64)i * bytes, &p, bytes))
		return false;
	*at = h->is_64 ? p.elf64.p_offset : p.elf32.p_offset;
	*size = h->is_64 ? p.elf64.p_filesz : p.elf32.p_filesz;
	if (p.elf32.p_type != PT_NOTE) /* the first of both */
		*size = 0;
	return true;
}

u32 pmuctl_build_id_find(struct build_id_file *file, u8 id[PMUCTL_BUILD_ID_MAX])
{
	struct search s = { .file = file, .notes = NOTES_MAX, .id = id };
	struct headers h;
	unsigned int i;
	u32 found = 0;
	u64 at, size;

	memset(id, 0, PMUCTL_BUILD_ID_MAX);
	if (!find_headers(file, &h))
		return 0;
	for (i = 0; i < h.number && i < HEADERS_MAX && !found; i++) {
		if (!read_header(file, &h, i, &at, &size))
			return 0;
		found = search_notes(&s, at, size);
	}
	return found;
}
