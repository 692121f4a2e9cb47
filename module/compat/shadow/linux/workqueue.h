/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/workqueue.h> with names that newer kernels have in it. */
#ifndef PMUCTL_SHADOW_LINUX_WORKQUEUE_H
#define PMUCTL_SHADOW_LINUX_WORKQUEUE_H

#include_next <linux/workqueue.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_SYSTEM_PERCPU_WQ
/* The name since 6.17, and in 6.12.95. May go with 6.1. */
#define system_percpu_wq	system_wq
#endif

#endif /* PMUCTL_SHADOW_LINUX_WORKQUEUE_H */
