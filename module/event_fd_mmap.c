// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping an event file descriptor: one page, with which a thread reads its own counter
 * without a system call. The mapping keeps the event open. Process context only.
 */
#include <linux/mm.h>

#include "compat/vma.h"
#include "front.h"

/* mremap() moves a mapping by a second one. A fork copies none, nor does it split. */
static void own_open(struct vm_area_struct *vma)
{
	/* Cannot fail: there is one already. */
	pmuctl_user_mm_get(vma->vm_mm);
}

static void own_close(struct vm_area_struct *vma)
{
	pmuctl_user_mm_put(vma->vm_mm);
}

static const struct vm_operations_struct own_ops = {
	.open = own_open,
	.close = own_close,
};

static int map_page(struct pmuctl_event *event, struct vm_area_struct *vma,
		    bool own)
{
	struct page *page = pmuctl_userpage_get(event, own);

	return page ? vm_insert_page(vma, vma->vm_start, page) : -ENOMEM;
}

int pmuctl_event_fd_mmap(struct pmuctl_event *event, struct vm_area_struct *vma,
			 struct pmuctl_explanation *why)
{
	bool own = pmuctl_userpage_is_own(event);

	if (!(vma->vm_flags & VM_SHARED))
		return pmuctl_refuse(why, MMAP_PRIVATE, "");
	if (vma->vm_pgoff)
		return pmuctl_refuse(why, MMAP_OFFSET, "",
				     (u64)vma->vm_pgoff << PAGE_SHIFT);
	if (vma->vm_end - vma->vm_start != PAGE_SIZE)
		return pmuctl_refuse(why, MMAP_SIZE, "",
				     vma->vm_end - vma->vm_start, PAGE_SIZE);

	/* VM_IO: madvise() cannot undo the first. */
	compat_vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP | VM_IO);
	if (own && !pmuctl_user_mm_get(vma->vm_mm))
		return pmuctl_refuse(why, NO_MEMORY, "");
	if (map_page(event, vma, own)) {
		if (own)
			pmuctl_user_mm_put(vma->vm_mm);
		return pmuctl_refuse(why, NO_MEMORY, "");
	}
	if (own)
		vma->vm_ops = &own_ops;
	return 0;
}
