/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/perf_event.h> with names of the ABI that newer kernels have in it. What the module
 * knows of the ABI is not taken from it: core/attr.c says that. All may go with 5.10.
 */
#ifndef PMUCTL_SHADOW_LINUX_PERF_EVENT_H
#define PMUCTL_SHADOW_LINUX_PERF_EVENT_H

#include_next <linux/perf_event.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_PERF_COUNT_SW_CGROUP_SWITCHES
#define PERF_COUNT_SW_CGROUP_SWITCHES	11
#endif

#ifndef COMPAT_HAS_PERF_SAMPLE_PAGE_SIZES
#define PERF_SAMPLE_DATA_PAGE_SIZE	BIT(22)
#define PERF_SAMPLE_CODE_PAGE_SIZE	BIT(23)
#endif

#ifndef COMPAT_HAS_PERF_SAMPLE_WEIGHT_STRUCT
#define PERF_SAMPLE_WEIGHT_STRUCT	BIT(24)
#endif

#ifndef PERF_RECORD_MISC_MMAP_BUILD_ID
#define PERF_RECORD_MISC_MMAP_BUILD_ID	BIT(14)
#endif

#endif /* PMUCTL_SHADOW_LINUX_PERF_EVENT_H */
