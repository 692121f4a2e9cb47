// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files that the recorded programs were made of, and their build ids: by those, who
 * reads the recording later and elsewhere knows the same file again. The kernel and its
 * modules tell theirs through sysfs.
 *
 * A path means one file to a task in a container and another one to us, and a file may be
 * replaced while its program runs on. So a file is looked for where its task has it, as
 * soon as it is told of, and must be the one that is mapped: device and inode tell.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <limits.h>
#include <linux/magic.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "record.h"

/**
 * struct dso - a file
 * @mapping: its path, device and inode; the rest is of the first task that mapped it.
 * @id: its build id; the size is 0 if it has none.
 * @is_other: it was not found, but another file with its path.
 * @speaks_for_path: it is the first one with this path, and the one that is meant by it
 *	where only a path is told.
 * @fd: the file, if its path does not lead to it from here; or -1.
 */
struct dso {
	struct dso_mapping mapping;
	struct dso_build_id id;
	bool is_other;
	bool speaks_for_path;
	int fd;
};

/**
 * struct dsos - a set of files
 * @files: all of them: a tree of tsearch().
 * @paths: the first one with each path: likewise.
 * @nr_open: files that are open.
 */
struct dsos {
	void *files;
	void *paths;
	unsigned int nr_open;
};

/* So many files are kept open at most. */
#define OPEN_MAX_FILES	64

static int path_compare(const void *left, const void *right)
{
	const struct dso *a = left, *b = right;

	return strcmp(a->mapping.path, b->mapping.path);
}

static int file_compare(const void *left, const void *right)
{
	const struct dso_mapping *a = &((const struct dso *)left)->mapping;
	const struct dso_mapping *b = &((const struct dso *)right)->mapping;

	if (a->inode != b->inode)
		return a->inode < b->inode ? -1 : 1;
	if (a->major != b->major)
		return a->major < b->major ? -1 : 1;
	if (a->minor != b->minor)
		return a->minor < b->minor ? -1 : 1;
	return strcmp(a->path, b->path);
}

static void dso_free(void *arg)
{
	struct dso *dso = arg;

	if (dso->fd >= 0)
		close(dso->fd);
	free((char *)dso->mapping.path);
	free(dso);
}

static void leave_alone(void *arg)
{
	(void)arg;
}

struct dsos *dsos_new(void)
{
	elf_version(EV_CURRENT);
	return calloc(1, sizeof(struct dsos));
}

void dsos_free(struct dsos *dsos)
{
	if (!dsos)
		return;
	tdestroy(dsos->paths, leave_alone);
	tdestroy(dsos->files, dso_free);
	free(dsos);
}

/* ---------------------------------------------------------------- build ids */

/* The GNU build id among the notes of @data */
static bool notes_find(Elf_Data *data, struct dso_build_id *id)
{
	size_t at = 0, name, desc;
	GElf_Nhdr note;

	while (data && (at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp((char *)data->d_buf + name, "GNU", 4) != 0)
			continue;
		id->size = note.n_descsz < sizeof(id->bytes) ? (uint8_t)note.n_descsz :
							       sizeof(id->bytes);
		memcpy(id->bytes, (char *)data->d_buf + desc, id->size);
		return id->size != 0;
	}
	return false;
}

static bool elf_find(Elf *elf, struct dso_build_id *id)
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

/* Is this file the one that is mapped? */
static bool is_mapped(const struct dso_mapping *mapping, int fd, const struct stat *stat)
{
	struct statfs system;

	if (!mapping->major && !mapping->minor && !mapping->inode)
		return true;
	if (stat->st_ino == mapping->inode && major(stat->st_dev) == mapping->major &&
	    minor(stat->st_dev) == mapping->minor)
		return true;
	if (fstatfs(fd, &system) < 0)
		return false;
	/* These tell a device of their own, and the first perhaps more bits in the inode. */
	if (system.f_type == OVERLAYFS_SUPER_MAGIC)
		return (uint32_t)stat->st_ino == (uint32_t)mapping->inode;
	return system.f_type == BTRFS_SUPER_MAGIC && stat->st_ino == mapping->inode;
}

/*
 * Whatever is there now must not be opened but if it is the file: a device would notice. Returns a
 * descriptor of it, or -1.
 */
static int open_mapped(struct dso *dso, const char *path)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd = -1;
	char self[32];
	struct stat stat;

	if (place < 0)
		return -1;
	if (fstat(place, &stat) == 0 && S_ISREG(stat.st_mode)) {
		dso->is_other = !is_mapped(&dso->mapping, place, &stat);
		snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
		if (!dso->is_other)
			fd = open(self, O_RDONLY | O_CLOEXEC);
	}
	close(place);
	return fd;
}

/* Likewise; then its build id is known, if it has one. */
static int file_find(struct dso *dso, const char *path)
{
	int fd = open_mapped(dso, path);
	Elf *elf;

	if (fd < 0)
		return -1;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	elf_find(elf, &dso->id);
	elf_end(elf);
	return fd;
}

/* Whether @path, followed from here, leads to the file @fd */
static bool leads_to(const char *path, int fd)
{
	struct stat here, there;

	return stat(path, &here) == 0 && fstat(fd, &there) == 0 && here.st_ino == there.st_ino &&
	       here.st_dev == there.st_dev;
}

/* The file itself, which only the privileged may open so; then by its path. */
static void dso_identify(struct dsos *dsos, struct dso *dso)
{
	const struct dso_mapping *mapping = &dso->mapping;
	char path[PATH_MAX + 64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64,
		 (int)mapping->pid, mapping->start, mapping->start + mapping->size);
	fd = file_find(dso, path);
	if (fd < 0) {
		snprintf(path, sizeof(path), "/proc/%d/root%s", (int)mapping->pid, mapping->path);
		fd = file_find(dso, path);
	}
	if (fd < 0)
		fd = file_find(dso, mapping->path);
	if (fd >= 0 && dso->id.size && dsos->nr_open < OPEN_MAX_FILES &&
	    !leads_to(mapping->path, fd)) {
		dso->fd = fd;
		dsos->nr_open++;
	} else if (fd >= 0) {
		close(fd);
	}
}

static struct dso *dso_new(struct dsos *dsos, const struct dso_mapping *mapping)
{
	struct dso *dso = calloc(1, sizeof(*dso)), **first;

	if (!dso)
		return NULL;
	dso->fd = -1;
	dso->mapping = *mapping;
	dso->mapping.path = strdup(mapping->path);
	if (!dso->mapping.path || !tsearch(dso, &dsos->files, file_compare)) {
		dso_free(dso);
		return NULL;
	}
	first = tsearch(dso, &dsos->paths, path_compare);
	if (!first)
		return NULL;
	dso->speaks_for_path = *first == dso;
	dso_identify(dsos, dso);
	return dso;
}

/* Shared memory has a path, too. */
static bool is_file(const char *path)
{
	static const char *const others[] = {
		"//", "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage",
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (!strncmp(path, others[i], strlen(others[i])))
			return false;
	return path[0] == '/';
}

/**
 * dsos_add() - a file was mapped
 * @dsos: the set.
 * @mapping: the file, and where. What is no file, such as "[vdso]" or "//anon", is left
 *	out.
 * @own: filled if the result is 1. All zero bytes are that of no file.
 *
 * Return: 0; 1 if another file is meant by its path, so that the record of the mapping must
 * have the build id @own; -ENOMEM.
 */
int dsos_add(struct dsos *dsos, const struct dso_mapping *mapping,
	     struct dso_build_id *own)
{
	const struct dso key = { .mapping = *mapping };
	const struct dso *const *found;
	const struct dso *dso;

	if (!is_file(mapping->path))
		return 0;
	found = tfind(&key, &dsos->files, file_compare);
	dso = found ? *found : dso_new(dsos, mapping);
	if (!dso)
		return -ENOMEM;
	if (dso->speaks_for_path && !dso->is_other)
		return 0;
	*own = dso->id;
	own->size = dso->id.size ? dso->id.size : sizeof(own->bytes);
	return 1;
}

/* A file of sysfs that has nothing but notes */
static bool sysfs_find(const char *path, struct dso_build_id *id)
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
	const struct dso *dso = *(const struct dso *const *)node;

	if ((visit == postorder || visit == leaf) && dso->id.size && !dso->is_other)
		perfdata_put_build_id(arg, false, dso->id.bytes, dso->id.size,
				      dso->mapping.path);
}

static void put_module(void *arg, const char *name, const char *path,
		       uint64_t address, uint64_t size)
{
	char notes[256];
	struct dso_build_id id;

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
	struct dso_build_id id;

	if (sysfs_find("/sys/kernel/notes", &id))
		perfdata_put_build_id(buffer, true, id.bytes, id.size,
				      "[kernel.kallsyms]");
	modules_visit(put_module, buffer);
	twalk_r(dsos->paths, put_file, buffer);
}

/**
 * struct keeping - programs are copied
 * @copies: the folder of copies.
 * @all: those, too, to which their paths lead.
 * @ended: no others are.
 * @error: of the first that could not be, 0 or a negative errno.
 * @path: its path.
 */
struct keeping {
	int copies;
	bool all;
	bool ended;
	int error;
	const char *path;
};

static void keep_file(const void *node, VISIT visit, void *arg)
{
	const struct dso *dso = *(const struct dso *const *)node;
	struct keeping *keeping = arg;
	struct dso here = *dso; /* by now its path may lead to another one */
	int fd = dso->fd, ret;

	if ((visit != postorder && visit != leaf) || !dso->id.size || keeping->ended)
		return;
	if (fd < 0 && keeping->all && !dso->is_other)
		fd = open_mapped(&here, dso->mapping.path);
	if (fd < 0)
		return;
	ret = keep_copy(keeping->copies, fd, dso->mapping.path, &dso->id);
	keeping->ended = ret == -ENOSPC || ret == -EINTR;
	if (fd != dso->fd)
		close(fd);
	if (ret < 0 && keeping->error == 0) {
		keeping->error = ret;
		keeping->path = dso->mapping.path;
	}
}

/**
 * dsos_keep() - copy the programs, so that reports find them when they have gone
 * @dsos: the files.
 * @all: all of them; otherwise those that are not to be found by their paths, as of a container.
 * @path: gets one that could not be copied, if one could not.
 *
 * Return: 0, also where nobody's copies are kept; or a negative errno: some could not be copied.
 */
int dsos_keep(const struct dsos *dsos, bool all, const char **path)
{
	struct keeping keeping = { .all = all };

	*path = "any";
	keeping.copies = keep_open();
	if (keeping.copies < 0)
		return keeping.copies == -ENOENT ? 0 : keeping.copies;
	twalk_r(dsos->files, keep_file, &keeping);
	close(keeping.copies);
	if (keeping.error)
		*path = keeping.path;
	return keeping.error;
}
