// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files that the recorded programs were made of, and their build ids: by those, who
 * reads the recording later and elsewhere knows the same file again. The kernel and its
 * modules tell theirs through sysfs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

/**
 * struct dsos - a set of paths
 * @root: of tsearch().
 */
struct dsos {
	void *root;
};

struct build_id {
	unsigned char bytes[PERFFILE_BUILD_ID_MAX];
	size_t size;
};

static int path_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

struct dsos *dsos_new(void)
{
	return calloc(1, sizeof(struct dsos));
}

void dsos_free(struct dsos *dsos)
{
	if (!dsos)
		return;
	tdestroy(dsos->root, free);
	free(dsos);
}

/**
 * dsos_add() - a file was mapped
 * @dsos: the set.
 * @path: the file. What is no file, such as "[vdso]" or "//anon", is left out.
 *
 * Return: 0 or -ENOMEM.
 */
int dsos_add(struct dsos *dsos, const char *path)
{
	char *copy;

	if (path[0] != '/' || path[1] == '/' || tfind(path, &dsos->root, path_compare))
		return 0;
	copy = strdup(path);
	if (!copy || !tsearch(copy, &dsos->root, path_compare)) {
		free(copy);
		return -ENOMEM;
	}
	return 0;
}

/* ---------------------------------------------------------------- build ids */

/* The GNU build id among the notes of @data */
static bool notes_find(Elf_Data *data, struct build_id *id)
{
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)data->d_buf + name, "GNU", 4) != 0)
			continue;
		id->size = note.n_descsz < sizeof(id->bytes) ? note.n_descsz :
							       sizeof(id->bytes);
		memcpy(id->bytes, (char *)data->d_buf + desc, id->size);
		return id->size != 0;
	}
	return false;
}

static bool elf_find(Elf *elf, struct build_id *id)
{
	size_t count;

	if (!elf || elf_kind(elf) != ELF_K_ELF || elf_getphdrnum(elf, &count) < 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE)
			continue;
		if (notes_find(elf_getdata_rawchunk(elf, (int64_t)header.p_offset,
						    header.p_filesz,
						    header.p_align == 8 ?
							ELF_T_NHDR8 :
							ELF_T_NHDR), id))
			return true;
	}
	return false;
}

static bool file_find(const char *path, struct build_id *id)
{
	/* Whatever is there now, it must not block. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool found = false;
	struct stat stat;
	Elf *elf;

	if (fd < 0)
		return false;
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode)) {
		elf = elf_begin(fd, ELF_C_READ, NULL);
		found = elf_find(elf, id);
		elf_end(elf);
	}
	close(fd);
	return found;
}

/* A file of sysfs that has nothing but notes */
static bool sysfs_find(const char *path, struct build_id *id)
{
	unsigned char notes[4096] __attribute__((aligned(8)));
	Elf_Data data = {
		.d_buf = notes, .d_type = ELF_T_NHDR, .d_version = EV_CURRENT,
	};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return false;
	got = read(fd, notes, sizeof(notes));
	close(fd);
	if (got <= 0)
		return false;
	data.d_size = (size_t)got;
	return notes_find(&data, id);
}

/* ------------------------------------------------------------------- output */

static void put_file(const void *node, VISIT visit, void *arg)
{
	const char *path = *(const char *const *)node;
	struct build_id id;

	if ((visit == postorder || visit == leaf) && file_find(path, &id))
		perfdata_put_build_id(arg, false, id.bytes, id.size, path);
}

static void put_module(void *arg, const char *name, const char *path,
		       uint64_t address, uint64_t size)
{
	char notes[256];
	struct build_id id;

	(void)address;
	(void)size;
	snprintf(notes, sizeof(notes),
		 "/sys/module/%s/notes/.note.gnu.build-id", name);
	if (sysfs_find(notes, &id))
		perfdata_put_build_id(arg, true, id.bytes, id.size, path);
}

/**
 * dsos_put() - write the build ids of the files, of the kernel and of its modules
 * @dsos: the files.
 * @buffer: of the feature.
 */
void dsos_put(struct dsos *dsos, struct perfdata_buffer *buffer)
{
	struct build_id id;

	elf_version(EV_CURRENT);
	if (sysfs_find("/sys/kernel/notes", &id))
		perfdata_put_build_id(buffer, true, id.bytes, id.size,
				      "[kernel.kallsyms]");
	modules_visit(put_module, buffer);
	twalk_r(dsos->root, put_file, buffer);
}
