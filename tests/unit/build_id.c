// SPDX-License-Identifier: GPL-2.0-only
/*
 * The search for a build id: in this program, in files of which nothing is right, and in one that
 * would go on for ever.
 */
/* sources: module/sample/build_id.c */
#include <elf.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "sample/build_id.h"

#define ROUNDS	200000

/* Bytes of which each read is told whether it stays inside */
struct memory {
	struct build_id_file file;
	const char *bytes;
	size_t size;
	unsigned int reads;
};

static bool read_memory(struct build_id_file *file, u64 at, void *to, u32 size)
{
	struct memory *m = (struct memory *)file;

	cr_assert_leq(size, 64);
	m->reads++;
	if (at > m->size || size > m->size - at)
		return false;
	memcpy(to, m->bytes + at, size);
	return true;
}

static struct memory memory_of(const char *bytes, size_t size)
{
	return (struct memory) { .file.read = read_memory, .bytes = bytes, .size = size };
}

static char *read_self(size_t *size)
{
	FILE *f = fopen("/proc/self/exe", "re");
	char *bytes = NULL;

	cr_assert_not_null(f);
	*size = 0;
	for (;;) {
		bytes = realloc(bytes, *size + (1 << 20));
		cr_assert_not_null(bytes);
		size_t n = fread(bytes + *size, 1, 1 << 20, f);

		if (!n)
			break;
		*size += n;
	}
	fclose(f);
	return bytes;
}

/* Where the linker has put it, by the section */
static const char *id_of_section(const char *bytes)
{
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);

	for (unsigned int i = 0; i < header->e_shnum; i++)
		if (!strcmp(bytes + sections[header->e_shstrndx].sh_offset + sections[i].sh_name,
			    ".note.gnu.build-id"))
			return bytes + sections[i].sh_offset + sizeof(Elf64_Nhdr) + 4;
	return NULL;
}

Test(build_id, of_this_program)
{
	u8 id[PMUCTL_BUILD_ID_MAX];
	size_t size;
	char *bytes = read_self(&size);
	struct memory m = memory_of(bytes, size);

	cr_assert_eq(pmuctl_build_id_find(&m.file, id), 20);
	cr_assert_arr_eq(id, id_of_section(bytes), 20);
	/* However little of it there is, no more than that is read. */
	for (size_t n = 0; n < 4096; n++) {
		m = memory_of(bytes, n);
		pmuctl_build_id_find(&m.file, id);
	}
	free(bytes);
}

/* One header of notes at 64, notes at 120 */
struct small {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Nhdr note;
	char name[4];
	char id[24];
};

static struct small small_file(u32 size)
{
	struct small s = {
		.header = {
			.e_ident = ELFMAG, .e_type = ET_DYN, .e_phoff = sizeof(Elf64_Ehdr),
			.e_phnum = 1,
		},
		.segment = {
			.p_type = PT_NOTE, .p_offset = offsetof(struct small, note),
			.p_filesz = sizeof(Elf64_Nhdr) + 4 + (size + 3) / 4 * 4,
		},
		.note = { .n_namesz = 4, .n_descsz = size, .n_type = NT_GNU_BUILD_ID },
		.name = "GNU",
	};

	s.header.e_ident[EI_CLASS] = ELFCLASS64;
	memset(s.id, 0x5a, sizeof(s.id));
	return s;
}

static u32 find_in(const struct small *s, u8 *id)
{
	struct memory m = memory_of((const char *)s, sizeof(*s));

	return pmuctl_build_id_find(&m.file, id);
}

/* Each size that there is room for, and zeros after it */
Test(build_id, sizes)
{
	for (u32 size = 0; size <= 24; size++) {
		struct small s = small_file(size);
		u8 id[PMUCTL_BUILD_ID_MAX];

		memset(id, 1, sizeof(id));
		cr_assert_eq(find_in(&s, id), size <= 20 ? size : 0, "%u", size);
		for (u32 i = 0; i < 20; i++)
			cr_assert_eq(id[i], i < size && size <= 20 ? 0x5a : 0, "%u of %u", i, size);
	}
}

/* Any two bytes of a small file are anything. */
Test(build_id, nothing_is_believed)
{
	unsigned int found = 0;

	srandom(1);
	for (int i = 0; i < ROUNDS; i++) {
		struct small s = small_file(20);
		u8 id[PMUCTL_BUILD_ID_MAX];

		for (int k = 0; k < 2; k++)
			((u8 *)&s)[random() % sizeof(s)] = random();
		found += find_in(&s, id) > 0;
	}
	cr_assert(found && found < ROUNDS, "%u", found);
}

/* All of this file, as large as files can be, is notes of nothing, and all headers say so. */
static unsigned int reads;

static bool read_notes(struct build_id_file *file, u64 at, void *to, u32 size)
{
	struct small s = small_file(0);

	(void)file;
	reads++;
	memset(to, 0, size);
	s.header.e_phnum = 0xffff;
	s.segment.p_filesz = 1ULL << 62;
	if (!at)
		memcpy(to, &s.header, size);
	else if (size == sizeof(s.segment))
		memcpy(to, &s.segment, size);
	return true;
}

Test(build_id, work_has_a_bound)
{
	struct build_id_file file = { read_notes };
	u8 id[PMUCTL_BUILD_ID_MAX];

	cr_assert_eq(pmuctl_build_id_find(&file, id), 0);
	cr_assert(reads >= 256 && reads <= 1000, "%u", reads);
}
