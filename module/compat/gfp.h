/* SPDX-License-Identifier: GPL-2.0-only */
/* How pages are allocated that user space maps. */
#ifndef PMUCTL_COMPAT_GFP_H
#define PMUCTL_COMPAT_GFP_H

#include <linux/gfp.h>

#include "compat/probed.h"

/*
 * Before 5.11 a page that a memory cgroup is charged for has a type, and pages with one cannot be
 * mapped. May go with 5.10.
 */
#ifdef COMPAT_HAS_MEMCG_DATA_KMEM
#define COMPAT_GFP_MAPPED	GFP_KERNEL_ACCOUNT
#else
#define COMPAT_GFP_MAPPED	GFP_KERNEL
#endif

#endif /* PMUCTL_COMPAT_GFP_H */
