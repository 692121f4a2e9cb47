/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file of a mapping as its user opened it. Since 6.8 a stacked file system (overlayfs)
 * puts its own file into the mapping; before, it looked like the user's. May go when no
 * older kernel is supported.
 */
#ifndef PMUCTL_COMPAT_VMA_FILE_H
#define PMUCTL_COMPAT_VMA_FILE_H

#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/version.h>

#if KERNEL_VERSION(6, 8, 0) > LINUX_VERSION_CODE
#define file_user_path(file)	(&(file)->f_path)
#define file_user_inode(file)	file_inode(file)
#endif

static inline const struct path *compat_vma_path(const struct vm_area_struct *vma)
{
	return file_user_path(vma->vm_file);
}

static inline const struct inode *
compat_vma_inode(const struct vm_area_struct *vma)
{
	return file_user_inode(vma->vm_file);
}

#endif /* PMUCTL_COMPAT_VMA_FILE_H */
