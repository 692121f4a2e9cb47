/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/mm.h> with what newer kernels have in it. */
#ifndef PMUCTL_SHADOW_LINUX_MM_H
#define PMUCTL_SHADOW_LINUX_MM_H

#include_next <linux/mm.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_VM_FLAGS_SET
/* Since 6.3 the flags are constant but for this. May go with 6.1. */
static inline void vm_flags_set(struct vm_area_struct *vma, unsigned long flags)
{
	vma->vm_flags |= flags;
}
#endif

#endif /* PMUCTL_SHADOW_LINUX_MM_H */
