// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping an event file descriptor: one page, with which a thread reads its own counter
 * without a system call; or that and 2^n more, the buffer for its records. The mapping
 * keeps the event open. Process context only.
 */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/mm.h>

#include "aux/aux.h"
#include "core/rdpmc.h"
#include "core/rdpmc_mm.h"
#include "event/create.h"
#include "front/event_fd.h"
#include "sample/buffer.h"
#include "sample/output.h"

/* mremap() moves a mapping by a second one. A fork copies none, nor does it split. */
static void own_open(struct vm_area_struct *vma)
{
	/* Cannot fail: there is one already. */
	pmuctl_rdpmc_mm_get(vma->vm_mm);
}

static void own_close(struct vm_area_struct *vma)
{
	pmuctl_rdpmc_mm_put(vma->vm_mm);
}

/*
 * The kernel maps it, if nobody else has meanwhile; also where userfaultfd has left a mark in its
 * place. An insertion of ours would take that for a page, and be tried for ever.
 */
static vm_fault_t map_this(struct vm_fault *vmf, struct page *page)
{
	get_page(page);
	vmf->page = page;
	return 0;
}

static vm_fault_t page_fault(struct vm_fault *vmf)
{
	return map_this(vmf, vmf->vma->vm_private_data);
}

static const struct vm_operations_struct own_ops = {
	.open = own_open,
	.close = own_close,
	.fault = page_fault,
};

static const struct vm_operations_struct other_ops = {
	.fault = page_fault,
};

/* The page is mapped when it is looked at, and stays as long as the event. */
static bool map_page(struct pmuctl_event *event, struct vm_area_struct *vma, bool own)
{
	const struct pmuctl_output *output = READ_ONCE(event->output);
	struct page *page = pmuctl_userpage_get(event, own, !output || output->clockid < 0);

	if (!page)
		return false;
	vma->vm_private_data = page;
	vma->vm_ops = own ? &own_ops : &other_ops;
	return true;
}

/* ---- Buffers ---- */

static struct pmuctl_output *output_of(struct vm_area_struct *vma)
{
	const struct event_file *ef = vma->vm_file->private_data;

	return ef->event->output;
}

static void buffer_open(struct vm_area_struct *vma)
{
	pmuctl_buffer_map_again(output_of(vma), vma->vm_private_data);
}

static void buffer_close(struct vm_area_struct *vma)
{
	pmuctl_buffer_unmap(output_of(vma), vma->vm_private_data);
}

/* The mapping counts, whatever has become of the output: the buffer stays. */
static vm_fault_t buffer_fault(struct vm_fault *vmf)
{
	const struct pmuctl_buffer *buffer = vmf->vma->vm_private_data;
	struct page *page = ring_page(buffer->ring, vmf->pgoff);

	if (!page)
		return VM_FAULT_SIGBUS;
	if (ring_map_around(buffer->ring, vmf))
		return VM_FAULT_NOPAGE;
	return map_this(vmf, page);
}

static const struct vm_operations_struct buffer_ops = {
	.open = buffer_open,
	.close = buffer_close,
	.fault = buffer_fault,
};

static int map_buffer(struct pmuctl_event *event, struct vm_area_struct *vma,
		      struct pmuctl_explanation *why)
{
	struct pmuctl_output *output = pmuctl_event_get_output(event);
	unsigned long nr_pages = vma_pages(vma) - 1;
	struct pmuctl_buffer *buffer;
	unsigned int flags = 0;

	if (!output)
		return pmuctl_refuse(why, NO_MEMORY, "");
	if (!is_power_of_2(nr_pages))
		return pmuctl_refuse(why, MMAP_SIZE, "",
				     vma->vm_end - vma->vm_start);
	if (!(vma->vm_flags & VM_WRITE))
		flags |= RING_OVERWRITE;
	if (output->backward)
		flags |= RING_BACKWARD;
	buffer = pmuctl_buffer_map(output, nr_pages, flags, why);
	if (IS_ERR(buffer))
		return PTR_ERR(buffer);
	vma->vm_private_data = buffer;
	vma->vm_ops = &buffer_ops;
	return 0;
}

/* ---- AUX buffers ---- */

static struct pmuctl_event *event_of(struct vm_area_struct *vma)
{
	const struct event_file *ef = vma->vm_file->private_data;

	return ef->event;
}

static void aux_open(struct vm_area_struct *vma)
{
	pmuctl_aux_map_again(event_of(vma));
}

static void aux_close(struct vm_area_struct *vma)
{
	pmuctl_aux_unmap(event_of(vma));
}

/* All of it was mapped once, and madvise() has dropped that. */
static vm_fault_t aux_fault(struct vm_fault *vmf)
{
	const unsigned long first = (unsigned long)vmf->vma->vm_private_data;

	return map_this(vmf, pmuctl_aux_page(event_of(vmf->vma), vmf->pgoff - first));
}

/* Their private data is where in the file the area begins; a part of it begins elsewhere. */
static const struct vm_operations_struct aux_vm_ops = {
	.open = aux_open,
	.close = aux_close,
	.fault = aux_fault,
};

static int map_aux(struct pmuctl_event *event, struct vm_area_struct *vma,
		   struct pmuctl_explanation *why)
{
	unsigned int flags = vma->vm_flags & VM_WRITE ? 0 : AUXBUF_OVERWRITE;
	struct auxbuf *buf;

	buf = pmuctl_aux_map(event, (u64)vma->vm_pgoff << PAGE_SHIFT,
			     vma_pages(vma), flags, why);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	if (auxbuf_insert_pages(buf, vma)) {
		pmuctl_aux_unmap(event);
		return pmuctl_refuse(why, NO_MEMORY, "");
	}
	vma->vm_private_data = (void *)vma->vm_pgoff;
	vma->vm_ops = &aux_vm_ops;
	return 0;
}

int pmuctl_event_fd_mmap(struct pmuctl_event *event, struct vm_area_struct *vma,
			 struct pmuctl_explanation *why)
{
	bool own = pmuctl_userpage_is_own(event);
	int err = 0;

	if (!(vma->vm_flags & VM_SHARED))
		return pmuctl_refuse(why, MMAP_PRIVATE, "");
	if (vma->vm_pgoff && event->aux) {
		vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
		return map_aux(event, vma, why);
	}
	if (vma->vm_pgoff)
		return pmuctl_refuse(why, MMAP_OFFSET, "",
				     (u64)vma->vm_pgoff << PAGE_SHIFT);
	vm_flags_set(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP | VM_MIXEDMAP);
	if (vma_pages(vma) > 1)
		return map_buffer(event, vma, why);
	/* madvise() cannot undo the first of these then. */
	vm_flags_set(vma, VM_IO);
	if (own)
		err = pmuctl_rdpmc_mm_get(vma->vm_mm);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	/* Not now: the page tells that there is nothing to read, and read() does as well. */
	own = own && !err;
	if (map_page(event, vma, own))
		return 0;
	if (own)
		pmuctl_rdpmc_mm_put(vma->vm_mm);
	return pmuctl_refuse(why, NO_MEMORY, "");
}
