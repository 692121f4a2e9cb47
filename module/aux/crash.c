// SPDX-License-Identifier: GPL-2.0-only
/*
 * What traces is quiet when the kernel has crashed.
 */
#include <linux/kprobes.h>

#include "aux/aux.h"
#include "core/hook.h"

/*
 * The system has crashed, and starts the kernel that it keeps for that, on whichever CPU, while
 * the others wait in an NMI for ever. No notifier is called before. But on each CPU this function
 * is, which stops a trace of the kernel's own driver, and there we stop ours: what was kept in
 * memory may be wrong by now, so that only registers are written.
 */
static int crashes(struct kprobe *probe, struct pt_regs *regs)
{
	hwpmu_crash();
	return 0;
}

static struct kprobe crash_probe = {
	.symbol_name = "cpu_emergency_stop_pt",
	.pre_handler = crashes,
};

/* Where it cannot be set one traces all the same. */
static bool crash_probe_is_set;

static int set_crash_probe(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	/* What a registration before has left there would make the next one fail. */
	crash_probe.addr = NULL;
	crash_probe.flags = 0;
	crash_probe_is_set = !register_kprobe(&crash_probe);
	return 0;
}

static void drop_crash_probe(struct pmuctl_hook *hook)
{
	if (crash_probe_is_set)
		unregister_kprobe(&crash_probe);
}

struct pmuctl_hook pmuctl_crash_hook = {
	.name = "crash", .set = set_crash_probe, .drop = drop_crash_probe,
};
