/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/magic.h> with what newer kernels have in it. */
#ifndef PMUCTL_SHADOW_LINUX_MAGIC_H
#define PMUCTL_SHADOW_LINUX_MAGIC_H

#include_next <linux/magic.h>

#ifndef SECRETMEM_MAGIC
/* Since 5.14; before, there is no such file system. May go with 5.10. */
#define SECRETMEM_MAGIC	0x5345434d
#endif

#endif /* PMUCTL_SHADOW_LINUX_MAGIC_H */
