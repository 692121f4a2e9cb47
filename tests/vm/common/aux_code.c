// SPDX-License-Identifier: GPL-2.0-only
#include "aux_code.h"

#define KCORE_PAGES	512

/* The kernel's memory as it is now, with the pages that were read last */
struct kcore {
	int fd;
	unsigned int nr_segments;
	Elf64_Phdr segments[64];
	struct {
		uint64_t at;
		uint8_t bytes[TRACE_PAGE];
	} pages[KCORE_PAGES];
};

static struct kcore kcore;

/* ---- This process ---- */

/* Code of this process at an address, and so of all that it forks */
static void add_mapping(const char *line)
{
	unsigned long from, to, at;
	char rights[5], path[300] = "";

	if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %299s", &from, &to, rights, &at, path) < 4 ||
	    rights[2] != 'x' || from >> 63)
		return;
	if (path[0] == '/') {
		cr_assert_eq(pt_image_add_file(decode_image, path, at, to - from, NULL, from), 0);
	} else if (!strcmp(path, "[vdso]")) {
		int dump = open("/tmp/vdso", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

		cr_assert_eq(write(dump, (void *)from, to - from), (ssize_t)(to - from));
		close(dump);
		cr_assert_eq(pt_image_add_file(decode_image, "/tmp/vdso", 0, to - from, NULL,
					       from), 0);
	}
}

void decode_self(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[500];

	decode_image = pt_image_alloc(NULL);
	while (fgets(line, sizeof(line), maps))
		add_mapping(line);
	fclose(maps);
}

/* ---- The kernel ---- */

uint64_t kernel_symbol(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[300], text[200];
	unsigned long at, found = 0;

	while (!found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %*c %199s", &at, text) == 2 && !strcmp(text, name))
			found = at;
	fclose(file);
	cr_assert_neq(found, 0, "no %s", name);
	return found;
}

static bool kcore_read(uint64_t at, uint8_t *to)
{
	for (unsigned int i = 0; i < kcore.nr_segments; i++) {
		const Elf64_Phdr *s = &kcore.segments[i];

		if (s->p_type == PT_LOAD && at >= s->p_vaddr && at - s->p_vaddr < s->p_memsz)
			return pread(kcore.fd, to, TRACE_PAGE,
				     s->p_offset + at - s->p_vaddr) == (ssize_t)TRACE_PAGE;
	}
	return false;
}

/* A read_memory_callback_t of libipt */
static int kernel_read(uint8_t *to, size_t size, const struct pt_asid *asid,
		       uint64_t ip, void *arg)
{
	size_t n, at = ip % TRACE_PAGE, page = ip / TRACE_PAGE % KCORE_PAGES;

	(void)asid;
	(void)arg;
	if (kcore.pages[page].at != ip - at) {
		kcore.pages[page].at = 1;
		if (!kcore_read(ip - at, kcore.pages[page].bytes))
			return -pte_nomap;
		kcore.pages[page].at = ip - at;
	}
	n = TRACE_PAGE - at < size ? TRACE_PAGE - at : size;
	memcpy(to, kcore.pages[page].bytes + at, n);
	if (n < size) {
		int rest = kernel_read(to + n, size - n, asid, ip + n, arg);

		n += rest < 0 ? 0 : rest;
	}
	return n;
}

void decode_kernel(void)
{
	Elf64_Ehdr elf;

	memset(&kcore, 0, sizeof(kcore));
	kcore.fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	cr_assert_eq(pread(kcore.fd, &elf, sizeof(elf), 0), (ssize_t)sizeof(elf));
	cr_assert_leq(elf.e_phnum, RAW_ARRAY_SIZE(kcore.segments));
	kcore.nr_segments = elf.e_phnum;
	cr_assert_gt(pread(kcore.fd, kcore.segments, elf.e_phnum * sizeof(Elf64_Phdr),
			   elf.e_phoff), 0);
	for (unsigned int i = 0; i < KCORE_PAGES; i++)
		kcore.pages[i].at = 1;
	decode_image = pt_image_alloc(NULL);
	pt_image_set_callback(decode_image, kernel_read, NULL);
}

void decode_kernel_end(void)
{
	close(kcore.fd);
	pt_image_free(decode_image);
	decode_image = NULL;
}
