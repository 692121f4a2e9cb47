/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Build ids: the number by which a linker marks a binary, in a note of the ELF file.
 */
#ifndef PMUCTL_BUILD_ID_H
#define PMUCTL_BUILD_ID_H

#include "compat/pure.h"

#define PMUCTL_BUILD_ID_MAX	20	/* bytes, of those that MMAP2 has room for */

struct vm_area_struct;

/**
 * struct build_id_file - the file in which one is looked for
 * @read: copies @size bytes at @at, at most 64; false if they are not there. May not sleep.
 */
struct build_id_file {
	bool (*read)(struct build_id_file *file, u64 at, void *to, u32 size);
};

/**
 * pmuctl_build_id_find() - look for the build id of a program or a shared object
 * @file: of which nothing is believed; no more than some hundred reads of it are made.
 * @id: is filled, with zeros after it.
 *
 * Context: Any that @read can be called in.
 * Return: bytes of it; 0 if there is none.
 */
u32 pmuctl_build_id_find(struct build_id_file *file, u8 id[PMUCTL_BUILD_ID_MAX]);

/**
 * pmuctl_build_id_mapped() - the build id of the file of a mapping, as far as that is in memory
 * @vma: which does not change meanwhile.
 * @id: as pmuctl_build_id_find().
 *
 * Context: Any but NMIs and IRQs; does not sleep.
 * Return: bytes of it; 0 if there is none, or its place in the file is not in the page cache.
 */
u32 pmuctl_build_id_mapped(const struct vm_area_struct *vma, u8 id[PMUCTL_BUILD_ID_MAX]);

#endif /* PMUCTL_BUILD_ID_H */
