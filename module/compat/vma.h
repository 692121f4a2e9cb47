/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flags of a mapping. Since 6.3 they are constant but for vm_flags_set(). May go when
 * no older kernel is supported.
 */
#ifndef PMUCTL_COMPAT_VMA_H
#define PMUCTL_COMPAT_VMA_H

#include <linux/mm.h>
#include <linux/version.h>

static inline void compat_vm_flags_set(struct vm_area_struct *vma,
				       unsigned long flags)
{
#if KERNEL_VERSION(6, 3, 0) > LINUX_VERSION_CODE
	vma->vm_flags |= flags;
#else
	vm_flags_set(vma, flags);
#endif
}

#endif /* PMUCTL_COMPAT_VMA_H */
