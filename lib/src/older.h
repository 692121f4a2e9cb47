/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names that the library and the command are built with and that the headers of an older system
 * lack: Debian 11 has those of Linux 5.10 and of glibc 2.31. Their numbers are part of the kernel's
 * ABI. What a kernel then makes of them, it says itself. The compiler includes this before
 * anything else, lib/build.mk and tools/build.mk; all may go with Debian 11.
 */
#ifndef PMUCTL_OLDER_H
#define PMUCTL_OLDER_H

#include <linux/perf_event.h>

#ifndef PERF_ATTR_SIZE_VER7
/* <linux/perf_event.h> */
#define PERF_COUNT_SW_CGROUP_SWITCHES		11
#define PERF_SAMPLE_DATA_PAGE_SIZE		(1U << 22)
#define PERF_SAMPLE_CODE_PAGE_SIZE		(1U << 23)
#define PERF_SAMPLE_WEIGHT_STRUCT		(1U << 24)
#define PERF_RECORD_AUX_OUTPUT_HW_ID		21
#define PERF_RECORD_MISC_MMAP_BUILD_ID		(1 << 14)
/* <linux/seccomp.h> */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV	(1UL << 5)
#define SECCOMP_ADDFD_FLAG_SEND			(1UL << 1)
/* <linux/futex.h> and <linux/prctl.h> */
#define FUTEX_LOCK_PI2				13
#define PR_SET_VMA				0x53564d41
/* <sys/mman.h> and <sys/syscall.h> */
#define MREMAP_DONTUNMAP			4
#define MADV_POPULATE_READ			22
#define MADV_POPULATE_WRITE			23
#define SYS_close_range				436
#define SYS_pidfd_getfd				438
#endif

#endif /* PMUCTL_OLDER_H */
