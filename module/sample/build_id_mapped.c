// SPDX-License-Identifier: GPL-2.0-only
/*
 * Build ids of mapped files. Who tells of a mapping cannot sleep, so what is read is what is in
 * the page cache already, as perf has it; the kernel's own function for that is not for modules.
 */
#include <linux/fs.h>
#include <linux/highmem.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>

#include "sample/build_id.h"

/* A file, and the page of it that was read last, if there is one; referenced */
struct cached_file {
	struct build_id_file file;
	struct address_space *mapping;
	struct page *page;
	pgoff_t index;
};

static void put_cached(struct cached_file *c)
{
	if (c->page)
		put_page(c->page);
	c->page = NULL;
}

static bool get_cached(struct cached_file *c, pgoff_t index)
{
	if (c->page && c->index == index)
		return true;
	put_cached(c);
	c->page = find_get_page(c->mapping, index);
	c->index = index;
	if (c->page && !PageUptodate(c->page))
		put_cached(c);
	return c->page;
}

static bool read_cached(struct build_id_file *file, u64 at, void *to, u32 size)
{
	struct cached_file *c = container_of(file, struct cached_file, file);
	u32 offset, part;

	if (at > MAX_LFS_FILESIZE - size)
		return false;
	for (; size; at += part, to += part, size -= part) {
		offset = offset_in_page(at);
		part = min_t(u32, size, PAGE_SIZE - offset);
		if (!get_cached(c, at >> PAGE_SHIFT))
			return false;
		memcpy_from_page(to, c->page, offset, part);
	}
	return true;
}

u32 pmuctl_build_id_mapped(const struct vm_area_struct *vma, u8 id[PMUCTL_BUILD_ID_MAX])
{
	struct cached_file c = { .file.read = read_cached };
	u32 size;

	/* The kernel itself cannot read what memfd_secret(2) makes. */
	if (!vma->vm_file || file_inode(vma->vm_file)->i_sb->s_magic == SECRETMEM_MAGIC)
		return 0;
	c.mapping = vma->vm_file->f_mapping;
	size = pmuctl_build_id_find(&c.file, id);
	put_cached(&c);
	return size;
}
