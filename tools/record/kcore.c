// SPDX-License-Identifier: GPL-2.0-only
/*
 * A copy of the kernel's code beside a recording, as "--kcore" asks for and perf reads it:
 * the kernel changes its code while it runs, above all where tracepoints are, so that a
 * trace can be followed only through the code as it was then. The recording is a directory
 * with the file "data", and "kcore_dir" with the code, the symbols and the modules.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record.h"

#define KCORE		"/proc/kcore"
#define PAGE		4096UL
#define CHUNK		(1UL << 20)
#define SEGMENTS_MAX	4096

/* From where to where there is code */
struct range {
	uint64_t from;
	uint64_t to;
};

/* A module_visit */
static void add_module(void *arg, const char *name, const char *path, uint64_t address,
		       uint64_t size)
{
	struct range *range = arg;

	(void)name;
	(void)path;
	if (!address)
		return;
	if (!range->to || address < range->from)
		range->from = address & ~(PAGE - 1);
	if (address + size > range->to)
		range->to = (address + size + PAGE - 1) & ~(PAGE - 1);
}

/* The kernel itself, by its symbols; false if they are hidden */
static bool find_kernel(struct range *range)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	uint64_t address;

	while (file && fgets(line, sizeof(line), file) && !range->to) {
		if (sscanf(line, "%" SCNx64 " %*c %255s", &address, name) != 2)
			continue;
		if (!strcmp(name, "_stext"))
			range->from = address & ~(PAGE - 1);
		else if (!strcmp(name, "_etext"))
			range->to = (address + PAGE - 1) & ~(PAGE - 1);
	}
	if (file)
		fclose(file);
	return range->from && range->to > range->from;
}

static int write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t written = write(fd, at, size);

		if (written < 0 && errno != EINTR)
			return -errno;
		if (written < 0)
			continue;
		at += written;
		size -= (size_t)written;
	}
	return 0;
}

/* The segment of kcore that has @address */
static const Elf64_Phdr *segment_of(const Elf64_Phdr *segments, size_t count,
				    uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (segments[i].p_type == PT_LOAD && address >= segments[i].p_vaddr &&
		    address - segments[i].p_vaddr < segments[i].p_memsz)
			return &segments[i];
	return NULL;
}

static int copy_range(int to, int kcore, const Elf64_Phdr *segment,
		      const struct range *range)
{
	char *chunk = malloc(CHUNK);
	uint64_t at = range->from;
	int ret = chunk ? 0 : -ENOMEM;

	while (!ret && at < range->to) {
		size_t size = range->to - at < CHUNK ? range->to - at : CHUNK;
		ssize_t got = pread(kcore, chunk, size,
				    (off_t)(segment->p_offset + (at - segment->p_vaddr)));

		/* What cannot be read is no code. */
		if (got <= 0) {
			got = (ssize_t)size;
			memset(chunk, 0, size);
		}
		ret = write_all(to, chunk, (size_t)got);
		at += (uint64_t)got;
	}
	free(chunk);
	return ret;
}

static int write_headers(int to, const struct range *ranges, size_t count)
{
	Elf64_Phdr headers[2] = { 0 };
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(header),
		.e_ehsize = sizeof(header),
		.e_phentsize = sizeof(headers[0]),
		.e_phnum = (Elf64_Half)count,
	};
	char page[PAGE] = { 0 };
	uint64_t offset = PAGE;

	for (size_t i = 0; i < count; i++) {
		uint64_t size = ranges[i].to - ranges[i].from;

		headers[i] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X,
					   .p_offset = offset, .p_vaddr = ranges[i].from,
					   .p_filesz = size, .p_memsz = size,
					   .p_align = PAGE };
		offset += size;
	}
	memcpy(page, &header, sizeof(header));
	memcpy(page + sizeof(header), headers, count * sizeof(headers[0]));
	return write_all(to, page, sizeof(page));
}

/* Copies these ranges of the memory of the kernel. */
static int copy_code(int to, int kcore, const struct range *ranges, size_t count)
{
	Elf64_Phdr *segments = NULL;
	Elf64_Ehdr header;
	int ret = -EIO;
	size_t size;

	if (pread(kcore, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    header.e_phentsize != sizeof(*segments) || header.e_phnum > SEGMENTS_MAX)
		return -EIO;
	size = header.e_phnum * sizeof(*segments);
	segments = malloc(size);
	if (segments && pread(kcore, segments, size, (off_t)header.e_phoff) == (ssize_t)size)
		ret = write_headers(to, ranges, count);
	for (size_t i = 0; i < count && ret == 0; i++) {
		const Elf64_Phdr *segment = segment_of(segments, header.e_phnum,
						       ranges[i].from);

		ret = segment ? copy_range(to, kcore, segment, &ranges[i]) : -ENXIO;
	}
	free(segments);
	return ret;
}

/**
 * kcore_create() - make the directory of a recording
 * @dir: its name. What is there of an earlier one is written over.
 *
 * Return: a descriptor to write the recording itself to, or a negative errno.
 */
int kcore_create(const char *dir)
{
	char path[4096];
	int fd;

	if ((size_t)snprintf(path, sizeof(path), "%s/kcore_dir", dir) >= sizeof(path))
		return -ENAMETOOLONG;
	if (mkdir(dir, 0700) < 0 && errno != EEXIST)
		return -errno;
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/data", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : fd;
}

static int create_in(const char *dir, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/kcore_dir/%s", dir, name);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0400);
	return fd < 0 ? -errno : fd;
}

static int copy_text(const char *dir, const char *name, const char *from)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = create_in(dir, name), ret = 0;
	char chunk[65536];
	ssize_t got = 0;

	if (in < 0 || out < 0)
		ret = out < 0 ? out : -errno;
	while (!ret && (got = read(in, chunk, sizeof(chunk))) > 0)
		ret = write_all(out, chunk, (size_t)got);
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	return ret;
}

/**
 * kcore_copy() - copy the kernel's code
 * @dir: of the recording.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int kcore_copy(const char *dir)
{
	struct range ranges[2] = { { 0, 0 }, { 0, 0 } };
	int kcore = open(KCORE, O_RDONLY | O_CLOEXEC), to, ret;

	if (kcore < 0 || !find_kernel(&ranges[0])) {
		ret = kcore < 0 ? -errno : -EACCES;
		say_error("cannot copy the kernel's code from %s: root may, if /proc/kallsyms shows addresses (kernel.kptr_restrict)",
			  KCORE);
		if (kcore >= 0)
			close(kcore);
		return ret;
	}
	modules_visit(add_module, &ranges[1]);
	to = create_in(dir, "kcore");
	ret = to < 0 ? to : copy_code(to, kcore, ranges, ranges[1].to ? 2 : 1);
	if (to >= 0)
		close(to);
	close(kcore);
	if (!ret)
		ret = copy_text(dir, "kallsyms", "/proc/kallsyms");
	if (!ret)
		ret = copy_text(dir, "modules", "/proc/modules");
	if (ret < 0)
		say_error("cannot copy the kernel's code to '%s/kcore_dir': %s", dir,
			  strerror(-ret));
	return ret;
}
