// SPDX-License-Identifier: GPL-2.0-only
/*
 * Probes on the functions by which the kernel tells its own events of something, where no
 * tracepoint does on all kernels. They run with preemption off.
 */
#include "explain/explain.h"
#include "sample/sideband_put.h"

static struct side_probe *probe_of(struct pmuctl_hook *hook)
{
	return container_of(hook, struct side_probe, hook);
}

int pmuctl_side_probe_set(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	struct side_probe *probe = probe_of(hook);
	int err;

	/* What a registration before has left there would make the next one fail. */
	probe->kprobe.addr = NULL;
	probe->kprobe.flags = 0;
	err = register_kprobe(&probe->kprobe);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	if (err)
		return pmuctl_refuse(why, NO_SIDE_HOOK, probe->field,
				     probe->kprobe.symbol_name);
	return 0;
}

void pmuctl_side_probe_drop(struct pmuctl_hook *hook)
{
	unregister_kprobe(&probe_of(hook)->kprobe); /* waits for probes that run */
}

unsigned long pmuctl_side_probe_missed(const struct pmuctl_hook *hook)
{
	return READ_ONCE(container_of(hook, struct side_probe, hook)->kprobe.nmissed);
}
