/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/fs.h> with what newer kernels have in it. */
#ifndef PMUCTL_SHADOW_LINUX_FS_H
#define PMUCTL_SHADOW_LINUX_FS_H

#include_next <linux/fs.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_FILE_OPEN_ROOT_MNT
/* Since 5.14. May go with 5.10. */
#include <linux/mount.h>

#define file_open_root_mnt(mnt, name, flags, mode) \
	file_open_root((mnt)->mnt_root, (mnt), (name), (flags), (mode))
#endif

#ifndef COMPAT_HAS_FILE_USER_PATH
/*
 * The file of a mapping as its user opened it. Since 6.8 a stacked file system (overlayfs)
 * puts its own file into the mapping; before, it looked like the user's. May go with 6.1.
 */
#define file_user_path(file)	(&(file)->f_path)
#define file_user_inode(file)	file_inode(file)
#endif

#endif /* PMUCTL_SHADOW_LINUX_FS_H */
