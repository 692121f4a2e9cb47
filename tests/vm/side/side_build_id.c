// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build ids in MMAP2 records: of programs, and of files in which they are at all places, beside
 * what perf finds there. How a file is searched is tested by tests/unit/build_id.c.
 */
#include "tellers.h"

#include <elf.h>
#include <sys/syscall.h>

#define FILE_SIZE	(4 * PAGE)
#define NOTES		512	/* where they are, unless a file says something else */

/* A file with one program header, of notes: a note of another kind perhaps, and one more */
static const struct elf {
	const char *name;
	bool is_32;
	uint16_t type;
	uint32_t segment;	/* type of the header */
	uint32_t headers, notes;/* where they are; 0: the usual places */
	bool other;
	uint32_t kind, name_size, size;
	char note_name[4];
	uint32_t cut;		/* bytes that the segment ends before the note does */
	bool has_id;
	bool in_first_page;
} elves[] = {
	{ "usual", false, ET_DYN, PT_NOTE, 0, 0, false, 3, 4, 20, "GNU", 0, true, true },
	{ "a program", false, ET_EXEC, PT_NOTE, 0, 0, false, 3, 4, 20, "GNU", 0, true, true },
	{ "short", false, ET_DYN, PT_NOTE, 0, 0, false, 3, 4, 8, "GNU", 0, true, true },
	{ "odd", false, ET_DYN, PT_NOTE, 0, 0, false, 3, 4, 3, "GNU", 0, true, true },
	{ "32 bits", true, ET_DYN, PT_NOTE, 0, 0, false, 3, 4, 20, "GNU", 0, true, true },
	{ "second note", false, ET_DYN, PT_NOTE, 0, 0, true, 3, 4, 20, "GNU", 0, true, true },
	{ "no program", false, ET_REL, PT_NOTE, 0, 0, false, 3, 4, 20, "GNU", 0, false, true },
	{ "a core", false, ET_CORE, PT_NOTE, 0, 0, false, 3, 4, 20, "GNU", 0, false, true },
	{ "no notes", false, ET_DYN, PT_LOAD, 0, 0, false, 3, 4, 20, "GNU", 0, false, true },
	{ "other kind", false, ET_DYN, PT_NOTE, 0, 0, false, 1, 4, 20, "GNU", 0, false, true },
	{ "other name", false, ET_DYN, PT_NOTE, 0, 0, false, 3, 4, 20, "GNV", 0, false, true },
	{ "longer name", false, ET_DYN, PT_NOTE, 0, 0, false, 3, 5, 20, "GNU", 0, false, true },
	{ "too long", false, ET_DYN, PT_NOTE, 0, 0, false, 3, 4, 21, "GNU", 0, false, true },
	{ "empty", false, ET_DYN, PT_NOTE, 0, 0, false, 3, 4, 0, "GNU", 0, false, true },
	{ "cut off", false, ET_DYN, PT_NOTE, 0, 0, false, 3, 4, 20, "GNU", 4, false, true },
	{ "third page", false, ET_DYN, PT_NOTE, 0, 2 * PAGE, false, 3, 4, 20, "GNU", 0, true, false },
	{ "on two pages", false, ET_DYN, PT_NOTE, 0, PAGE - 24, false, 3, 4, 20, "GNU", 0, true, false },
	{ "headers on two pages", false, ET_DYN, PT_NOTE, PAGE - 28, 0, false, 3, 4, 20, "GNU", 0, true, false },
	{ "past its end", false, ET_DYN, PT_NOTE, 0, FILE_SIZE - 24, false, 3, 4, 20, "GNU", 0, false, false },
};

static size_t put_note(char *at, uint32_t kind, uint32_t name_size, const char *name,
		       uint32_t size)
{
	Elf64_Nhdr note = { .n_namesz = name_size, .n_descsz = size, .n_type = kind };

	memcpy(at, &note, sizeof(note));
	memcpy(at + sizeof(note), name, 4);
	for (uint32_t i = 0; i < size; i++)
		at[sizeof(note) + 4 + i] = 0xa0 + i;
	return sizeof(note) + (name_size + 3) / 4 * 4 + (size + 3) / 4 * 4;
}

static void put_headers(char *file, const struct elf *e, uint32_t at, uint32_t size)
{
	uint32_t notes = e->notes ?: NOTES;

	if (e->is_32) {
		Elf32_Ehdr header = { .e_ident = ELFMAG, .e_type = e->type,
				      .e_phoff = sizeof(header), .e_phnum = 1 };
		Elf32_Phdr segment = { .p_type = e->segment, .p_offset = notes, .p_filesz = size };

		header.e_ident[EI_CLASS] = ELFCLASS32;
		memcpy(file, &header, sizeof(header));
		memcpy(file + sizeof(header), &segment, sizeof(segment));
	} else {
		Elf64_Ehdr header = { .e_ident = ELFMAG, .e_type = e->type,
				      .e_phoff = at ?: sizeof(header), .e_phnum = 1 };
		Elf64_Phdr segment = { .p_type = e->segment, .p_offset = notes, .p_filesz = size };

		header.e_ident[EI_CLASS] = ELFCLASS64;
		memcpy(file, &header, sizeof(header));
		memcpy(file + header.e_phoff, &segment, sizeof(segment));
	}
}

/* The file, open */
static int make_elf(const struct elf *e)
{
	static char file[FILE_SIZE + PAGE];
	uint32_t notes = e->notes ?: NOTES, size = 0;
	int fd = memfd_create(e->name, MFD_CLOEXEC);

	memset(file, 0, sizeof(file));
	if (e->other)
		size += put_note(file + notes, 1, 4, "abc", 10);
	size += put_note(file + notes + size, e->kind, e->name_size, e->note_name, e->size);
	put_headers(file, e, e->headers, size - e->cut);
	return fd >= 0 && write(fd, file, FILE_SIZE) == FILE_SIZE ? fd : -1;
}

static bool compared;

static int run_elves(void *arg)
{
	int prots[] = { PROT_READ | PROT_EXEC, PROT_READ };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(elves); i++) {
		int fd = make_elf(&elves[i]);

		if (fd < 0)
			return 1;
		/* There the kernel looks at a file's first page only. */
		if (compared && !elves[i].in_first_page && raw_kernel_before(6, 12))
			continue;
		for (size_t k = 0; k < RAW_ARRAY_SIZE(prots); k++)
			if (mmap(NULL, FILE_SIZE, prots[k], MAP_PRIVATE, fd, 0) == MAP_FAILED)
				return 2;
	}
	return arg != NULL;
}

static int run_shell(void *script)
{
	execl("/bin/bash", "bash", "-c", (const char *)script, NULL);
	return 127;
}

static struct perf_event_attr mapping_attr(void)
{
	struct perf_event_attr attr = side_attr();

	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.build_id = 1;
	return attr;
}

/* What both can tell: before Linux 5.12, perf's records are the same but for the build id. */
static struct perf_event_attr compared_attr(void)
{
	struct perf_event_attr attr = mapping_attr(), dummy = attr;
	int fd;

	dummy.type = PERF_TYPE_SOFTWARE;
	dummy.config = PERF_COUNT_SW_DUMMY;
	fd = perf_try(&dummy, 0, -1);
	attr.build_id = fd >= 0;
	if (fd >= 0)
		close(fd);
	else
		cr_assert_eq(fd, -EINVAL);
	return attr;
}

Test(side_build_id, program_that_is_executed)
{
	struct perf_event_attr attr = compared_attr();

	attr.comm = 1;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_shell, "exit 0"), 6);
	attr.mmap_data = 1;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_shell, "exit 0"), 6);
	/* The shorter form has no room for it. */
	attr.mmap2 = 0;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_shell, "exit 0"), 6);
}

Test(side_build_id, of_a_cpu)
{
	struct perf_event_attr attr = compared_attr();

	pin_here(1);
	cr_assert_geq(tellers_run(&attr, -1, 0, run_shell, "/bin/true; exit 0"), 6);
}

Test(side_build_id, files_of_every_kind)
{
	struct perf_event_attr attr = compared_attr();

	compared = true;
	attr.mmap_data = 1;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_elves, NULL), 2 * 15);
}

/* Of each file whether there is one, and which */
Test(side_build_id, is_found_or_there_is_an_inode)
{
	struct perf_event_attr attr = mapping_attr();
	struct mmap2_record *record;
	struct sample end;
	struct ring ring;
	int fd;

	fd = event_open(attr);
	ring_map(&ring, fd, 16);
	cr_assert_eq(run_elves(NULL), 0);
	for (size_t i = 0; i < RAW_ARRAY_SIZE(elves); i++) {
		const uint8_t *bytes;
		bool has_id;

		record = side_expect(&attr, &ring, PERF_RECORD_MMAP2, &end);
		has_id = record->header.misc & MISC_MMAP_BUILD_ID;
		cr_assert_eq(has_id, elves[i].has_id, "%s", elves[i].name);
		if (!has_id) {
			cr_assert_neq(record->inode, 0, "%s", elves[i].name);
			continue;
		}
		/* Its size, 3 bytes of nothing, and 20 of it */
		bytes = (const uint8_t *)&record->major;
		cr_assert_eq(bytes[0], elves[i].size, "%s: %u", elves[i].name, bytes[0]);
		cr_assert(!bytes[1] && !bytes[2] && !bytes[3]);
		for (unsigned int k = 0; k < 20; k++)
			cr_assert_eq(bytes[4 + k], k < elves[i].size ? 0xa0 + k : 0, "%s: byte %u",
				     elves[i].name, k);
	}
}

/* Memory that the kernel itself cannot read */
Test(side_build_id, secret_memory_is_left_alone)
{
	struct perf_event_attr attr = mapping_attr();
	struct mmap2_record *record;
	struct sample end;
	struct ring ring;
	char *memory;
	int fd = syscall(SYS_memfd_secret, 0);

	if (fd < 0) {
		cr_assert_eq(errno, ENOSYS, "%m");
		return;
	}
	cr_assert_eq(ftruncate(fd, PAGE), 0);
	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(memory, MAP_FAILED);
	memcpy(memory, ELFMAG, SELFMAG); /* and so the page is there */
	attr.mmap_data = 1;
	ring_map(&ring, event_open(attr), 16);
	cr_assert_neq(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0), MAP_FAILED);
	do
		record = side_expect(&attr, &ring, PERF_RECORD_MMAP2, &end);
	while (!strstr(record->name, "secretmem"));
	cr_assert(!(record->header.misc & MISC_MMAP_BUILD_ID));
}
