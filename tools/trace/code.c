// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code that a trace leads through: that of programs from their files, as they were
 * mapped at that time; the kernel's, which changes itself while it runs, from the copy that
 * "pmuctl record --kcore" made, or else from the memory of the running kernel, if it is the
 * one that was recorded.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "trace.h"

#define KCORE		"/proc/kcore"
#define PAGE		4096UL
#define PAGES		512	/* that are kept, by their number */
#define SEGMENTS_MAX	4096

/**
 * struct code_page - a page of code that was read
 * @process: whose, NULL for the kernel's.
 * @address: of its first byte; 1 if nothing is here.
 * @from: the first byte that is there.
 * @to: the byte behind the last one.
 * @bytes: the code.
 */
struct code_page {
	const struct process *process;
	uint64_t address;
	size_t from;
	size_t to;
	uint8_t bytes[PAGE];
};

/**
 * struct trace_code - code, as of now
 * @samples: the recording.
 * @kcore: the memory of the kernel, or -1.
 * @segments: what it has where.
 * @segment_count: how many.
 * @pages: the last ones that were asked for.
 */
struct trace_code {
	struct samples *samples;
	int kcore;
	Elf64_Phdr *segments;
	size_t segment_count;
	struct code_page pages[PAGES];
};

/* ------------------------------------------------------------------ kernel */

static bool is_this_kernel(const struct samples *samples)
{
	const char *release = samples->file->info.osrelease;
	struct utsname system;

	return release && uname(&system) == 0 && !strcmp(system.release, release);
}

/* The copy that was recorded, or else what runs here */
static int kcore_find(const struct samples *samples)
{
	char path[PATH_MAX];
	int fd = -1;

	if ((size_t)snprintf(path, sizeof(path), "%s/kcore_dir/kcore", samples->path) <
	    sizeof(path))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && is_this_kernel(samples))
		fd = open(KCORE, O_RDONLY | O_CLOEXEC);
	return fd;
}

static void kcore_open(struct trace_code *code)
{
	Elf64_Ehdr header;
	size_t size;

	code->kcore = kcore_find(code->samples);
	if (code->kcore < 0)
		return;
	if (pread(code->kcore, &header, sizeof(header), 0) != (ssize_t)sizeof(header) ||
	    header.e_phentsize != sizeof(*code->segments) || header.e_phnum > SEGMENTS_MAX)
		return;
	size = header.e_phnum * sizeof(*code->segments);
	code->segments = malloc(size);
	if (code->segments &&
	    pread(code->kcore, code->segments, size, (off_t)header.e_phoff) == (ssize_t)size)
		code->segment_count = header.e_phnum;
}

static size_t kernel_read(const struct trace_code *code, uint64_t address, uint8_t *to,
			  size_t size)
{
	for (size_t i = 0; i < code->segment_count; i++) {
		const Elf64_Phdr *segment = &code->segments[i];
		uint64_t into = address - segment->p_vaddr;
		ssize_t got;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    into >= segment->p_memsz)
			continue;
		if (size > segment->p_memsz - into)
			size = segment->p_memsz - into;
		got = pread(code->kcore, to, size, (off_t)(segment->p_offset + into));
		return got < 0 ? 0 : (size_t)got;
	}
	return 0;
}

/* ---------------------------------------------------------------- programs */

/* The kernel's page of functions in every process: ours is the same. */
static size_t vdso_read(const struct trace_code *code, uint64_t offset, uint8_t *to,
			size_t size)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);

	/* It has at least a page. */
	if (!vdso || !is_this_kernel(code->samples) || offset >= PAGE)
		return 0;
	if (size > PAGE - offset)
		size = PAGE - offset;
	memcpy(to, vdso + offset, size);
	return size;
}

static size_t user_read(const struct trace_code *code, const struct thread *thread,
			uint64_t address, uint8_t *to, size_t size)
{
	struct place place;

	tasks_place(code->samples->tasks, thread, PERF_RECORD_MISC_USER, address, false,
		    &place);
	if (place.binary->kind == BINARY_VDSO)
		return vdso_read(code, place.address, to, size);
	return binary_code(place.binary, place.address, to, size);
}

/* ------------------------------------------------------------------- pages */

static void page_read(const struct trace_code *code, struct code_page *page,
		      const struct thread *thread, bool is_kernel, uint64_t ip)
{
	uint64_t start = ip & ~(PAGE - 1);

	page->address = start;
	page->process = is_kernel || !thread ? NULL : thread->process;
	page->from = 0;
	page->to = is_kernel ? kernel_read(code, start, page->bytes, PAGE) :
			       user_read(code, thread, start, page->bytes, PAGE);
	if (page->to > ip - start)
		return;
	/* The file may begin in the midst of the page. */
	page->from = ip - start;
	page->to = page->from + (is_kernel ?
		kernel_read(code, ip, page->bytes + page->from, PAGE - page->from) :
		user_read(code, thread, ip, page->bytes + page->from, PAGE - page->from));
}

static const struct code_page *page_of(struct trace_code *code, const struct thread *thread,
				       uint64_t ip)
{
	bool is_kernel = ip >> 63;
	const struct process *process = is_kernel || !thread ? NULL : thread->process;
	struct code_page *page = &code->pages[ip / PAGE % PAGES];

	if (page->address != (ip & ~(PAGE - 1)) || page->process != process ||
	    ip % PAGE < page->from || ip % PAGE >= page->to)
		page_read(code, page, thread, is_kernel, ip);
	return page;
}

/**
 * trace_code_read() - the code at an address
 * @code: as of now.
 * @thread: whose, or NULL.
 * @ip: the address.
 * @to: where to.
 * @size: bytes there.
 *
 * Return: how many bytes there are, up to @size; 0 if the code is not known.
 */
int trace_code_read(struct trace_code *code, const struct thread *thread, uint64_t ip,
		    uint8_t *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const struct code_page *page = page_of(code, thread, ip + done);
		size_t at = (ip + done) % PAGE, length = size - done;

		if (at < page->from || at >= page->to)
			break;
		if (length > page->to - at)
			length = page->to - at;
		memcpy(to + done, page->bytes + at, length);
		done += length;
	}
	return (int)done;
}

/**
 * trace_code_forget() - programs may have mapped something else
 * @code: to be read anew.
 */
void trace_code_forget(struct trace_code *code)
{
	for (size_t i = 0; i < PAGES; i++)
		code->pages[i].address = 1;
}

/**
 * trace_code_new() - find code
 * @samples: of this recording.
 *
 * Return: to be freed with trace_code_free(); NULL if there is no memory.
 */
struct trace_code *trace_code_new(struct samples *samples)
{
	struct trace_code *code = calloc(1, sizeof(*code));

	if (!code)
		return NULL;
	code->samples = samples;
	kcore_open(code);
	trace_code_forget(code);
	return code;
}

/**
 * trace_code_free() - and no more
 * @code: it, or NULL.
 */
void trace_code_free(struct trace_code *code)
{
	if (!code)
		return;
	if (code->kcore >= 0)
		close(code->kcore);
	free(code->segments);
	free(code);
}
