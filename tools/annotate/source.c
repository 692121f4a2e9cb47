// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text of the source that code comes from, if the file is there. A recording says which
 * programs to open, and these which sources: only regular files of a bearable size are read.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>

#include "annotate.h"

#define SOURCE_MAX (16UL << 20)

/* Functions have lines of few files: headers, and their own. */
#define FILES_MAX 16

/**
 * struct source_file - a file of source
 * @name: as the debug information has it; NULL: nothing is here.
 * @text: its lines, each with a 0 behind it; NULL if it is not there.
 * @lines: where they begin.
 * @count: how many.
 */
struct source_file {
	char *name;
	char *text;
	char **lines;
	size_t count;
};

/**
 * struct source - files that were looked at last
 * @root: directory that stands for the root of the file system, or "".
 * @files: them.
 * @next: which is given up next.
 */
struct source {
	const char *root;
	struct source_file files[FILES_MAX];
	size_t next;
};

static Dwfl_Module *module_of(const struct binary *binary, uint64_t address)
{
	return binary->dwfl ? dwfl_addrmodule(binary->dwfl, address + binary->bias) : NULL;
}

/**
 * source_is_64_bit() - is it a program of 64 bits?
 * @binary: the program.
 * @address: in it.
 *
 * Return: false for one of 32 bits.
 */
bool source_is_64_bit(const struct binary *binary, uint64_t address)
{
	Dwfl_Module *module = module_of(binary, address);
	GElf_Addr bias;
	Elf *elf = module ? dwfl_module_getelf(module, &bias) : NULL;

	return !elf || gelf_getclass(elf) == ELFCLASS64;
}

/**
 * source_new() - no files yet
 * @root: directory that stands for the root of the file system, or "".
 *
 * Return: to be freed with source_free(); NULL if there is no memory.
 */
struct source *source_new(const char *root)
{
	struct source *source = calloc(1, sizeof(*source));

	if (source)
		source->root = root;
	return source;
}

static void forget(struct source_file *file)
{
	free(file->name);
	free(file->text);
	free(file->lines);
	*file = (struct source_file){ 0 };
}

/**
 * source_free() - forget all files
 * @source: them, or NULL.
 */
void source_free(struct source *source)
{
	for (size_t i = 0; source && i < FILES_MAX; i++)
		forget(&source->files[i]);
	free(source);
}

static char *read_text(const char *path, size_t *size)
{
	struct stat about;
	int fd = symbols_open(path, 0, &about);
	char *text = NULL;
	ssize_t got = -1;

	if (fd < 0)
		return NULL;
	if ((unsigned long)about.st_size <= SOURCE_MAX)
		text = malloc((size_t)about.st_size + 1);
	if (text)
		got = read(fd, text, (size_t)about.st_size);
	close(fd);
	if (got < 0) {
		free(text);
		return NULL;
	}
	text[got] = '\0';
	*size = (size_t)got;
	return text;
}

/* Lines go to a terminal: what is no text there becomes '?'. */
static void cut(struct source_file *file, size_t size)
{
	size_t count = 1, n = 0;

	for (size_t i = 0; i < size; i++)
		count += file->text[i] == '\n';
	file->lines = calloc(count, sizeof(*file->lines));
	if (!file->lines)
		return;
	for (char *at = file->text, *end = at + size; at < end; n++) {
		char *stop = memchr(at, '\n', (size_t)(end - at));

		stop = stop ? stop : end;
		*stop = '\0';
		for (char *tab = at; (tab = memchr(tab, '\t', (size_t)(stop - tab))); )
			*tab = ' ';
		names_clean(at, (size_t)(stop - at));
		file->lines[n] = at;
		at = stop + 1;
	}
	file->count = n;
}

static const struct source_file *find(struct source *source, const char *name)
{
	struct source_file *file;
	char path[PATH_MAX];
	size_t size = 0;

	for (size_t i = 0; i < FILES_MAX; i++)
		if (source->files[i].name && !strcmp(source->files[i].name, name))
			return &source->files[i];
	file = &source->files[source->next++ % FILES_MAX];
	forget(file);
	file->name = strdup(name);
	if (snprintf(path, sizeof(path), "%s%s", source->root, name) < (int)sizeof(path))
		file->text = read_text(path, &size);
	if (file->text)
		cut(file, size);
	return file;
}

/**
 * source_line() - the text of a line
 * @source: the files.
 * @file: its path.
 * @line: its number.
 *
 * Return: valid until the next call; NULL if it is not there.
 */
const char *source_line(struct source *source, const char *file, int line)
{
	const struct source_file *found = find(source, file);

	if (line < 1 || (size_t)line > found->count)
		return NULL;
	return found->lines[line - 1];
}
