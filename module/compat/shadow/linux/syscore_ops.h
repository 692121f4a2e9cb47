/* SPDX-License-Identifier: GPL-2.0-only */
/* <linux/syscore_ops.h> as newer kernels have it. */
#ifndef PMUCTL_SHADOW_LINUX_SYSCORE_OPS_H
#define PMUCTL_SHADOW_LINUX_SYSCORE_OPS_H

#include_next <linux/syscore_ops.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_SYSCORE_DATA
/*
 * Since 6.19 each function is given what was registered with it. One that takes it and does not
 * look at it is right for both. May go with 6.12.
 */
struct compat_syscore_ops {
	int (*suspend)(void *data);
	void (*resume)(void *data);
	void (*shutdown)(void *data);
};

struct syscore {
	struct syscore_ops here;
	const struct compat_syscore_ops *ops;
};

static inline void register_syscore(struct syscore *syscore)
{
	syscore->here.suspend = (void *)syscore->ops->suspend;
	syscore->here.resume = (void *)syscore->ops->resume;
	syscore->here.shutdown = (void *)syscore->ops->shutdown;
	register_syscore_ops(&syscore->here);
}

static inline void unregister_syscore(struct syscore *syscore)
{
	unregister_syscore_ops(&syscore->here);
}

#define syscore_ops	compat_syscore_ops
#endif

#endif /* PMUCTL_SHADOW_LINUX_SYSCORE_OPS_H */
