// SPDX-License-Identifier: GPL-2.0-only
/*
 * Doing without capabilities: a pmuctl that was given one (cap_perfmon, by make install
 * SETCAP=1) does not hand it on.
 */
#include <errno.h>
#include <linux/securebits.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "command.h"

/*
 * Root gets all of them back by the exec, whatever is dropped before: that would be an exec
 * that gains rights, which ends what measures it.
 */
static bool exec_gives_all(void)
{
	int bits = prctl(PR_GET_SECUREBITS);

	return (!getuid() || !geteuid()) && !(bits > 0 && bits & SECBIT_NOROOT);
}

/**
 * capabilities_drop() - have no capability any more, unless each exec gives root all of them
 *
 * Return: 0 or a negative errno.
 */
int capabilities_drop(void)
{
	cap_t none;
	int ret = 0;

	if (exec_gives_all())
		return 0;
	none = cap_init();
	if (!none)
		return -ENOMEM;
	/* Kernels without ambient capabilities have none to drop. */
	if (cap_reset_ambient() < 0 && errno != EINVAL)
		ret = -errno;
	if (cap_set_proc(none) < 0)
		ret = -errno;
	cap_free(none);
	return ret;
}
