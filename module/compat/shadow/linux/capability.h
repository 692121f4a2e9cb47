/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/capability.h> with what not all kernels export of it. */
#ifndef PMUCTL_SHADOW_LINUX_CAPABILITY_H
#define PMUCTL_SHADOW_LINUX_CAPABILITY_H

#include_next <linux/capability.h>

#include "compat/probed.h"

#ifndef COMPAT_EXPORTS_HAS_CAPABILITY_NOAUDIT
/*
 * Exported since 5.12, and no more in 7.3. The module asks for the current task only; this one also
 * notes that it used privilege, for its accounting.
 */
#define has_capability_noaudit(task, cap)	ns_capable_noaudit(&init_user_ns, (cap))
#endif

#endif /* PMUCTL_SHADOW_LINUX_CAPABILITY_H */
