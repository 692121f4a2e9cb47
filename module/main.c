// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading: the table of contents of the module. What is initialized
 * last is what the world sees: the device.
 */
#include <linux/module.h>

#include "aux/aux.h"
#include "compat/preempt_rt.h"
#include "compat/tai.h"
#include "core/context.h"
#include "core/core_ops.h"
#include "core/hook.h"
#include "core/rdpmc_mm.h"
#include "core/rivals.h"
#include "core/sched.h"
#include "event/cgroup_moves.h"
#include "event/claim.h"
#include "event/hotplug.h"
#include "event/task_hooks.h"
#include "front/front.h"
#include "pmu/lbr.h"
#include "sample/buffer.h"
#include "sample/sample.h"
#include "sample/sampling.h"
#include "sample/sideband.h"
#include "soft/soft.h"
#include "soft/tracepoint.h"
#include "soft/tracepoint_record.h"

static const struct hwpmu_ops hwpmu_calls = {
	.overflow = pmuctl_overflow,
	.stopped = pmuctl_sched_stopped,
	.trace = pmuctl_aux_interrupt,
};

static const struct pmuctl_core_ops core_calls = {
	.switched = pmuctl_soft_switch,
	.arrived = pmuctl_soft_arrive,
	.tick = pmuctl_tick,
	.tick_aux = pmuctl_aux_tick,
	.go_on = pmuctl_sampling_go_on,
	.hooks_dropped = pmuctl_tracepoint_free_unused,
};

static int __init pmuctl_init(void)
{
	int err;

	pmuctl_core_ops = &core_calls;
	err = hwpmu_init(&hwpmu_calls);
	if (err)
		return err;
	pt_init();
	bts_init();
	lbr_init();
	err = pmuctl_event_init();
	if (err)
		goto err_hwpmu;
	err = pmuctl_buffer_init();
	if (err)
		goto err_event;
	err = pmuctl_soft_module_init();
	if (err)
		goto err_buffer;
	err = pmuctl_records_init();
	if (err)
		goto err_soft;
	pmuctl_hooks_init();
	pmuctl_cgroup_moves_init();
	pmuctl_sideband_init(pmuctl_aux_mapped);
	err = pmuctl_context_init();
	if (err)
		goto err_records;
	pmuctl_hook_add(&pmuctl_crash_hook);
	err = pmuctl_hotplug_init();
	if (err)
		goto err_context;
	pmuctl_claim_init();
	err = pmuctl_permission_init();
	if (err)
		goto err_claim;
	pmuctl_permission_namespaces();
	err = pmuctl_dev_init();
	if (err)
		goto err_permission;
	pmuctl_debugfs_init();
	return 0;

err_permission:
	pmuctl_permission_exit();
err_claim:
	pmuctl_claim_exit();
	pmuctl_hotplug_exit();
err_context:
	pmuctl_context_exit();
err_records:
	pmuctl_records_exit();
err_soft:
	pmuctl_soft_module_exit();
err_buffer:
	pmuctl_buffer_exit();
err_event:
	pmuctl_event_exit();
err_hwpmu:
	hwpmu_exit();
	return err;
}

static void __exit pmuctl_exit(void)
{
	pmuctl_debugfs_exit();
	pmuctl_dev_exit();
	pmuctl_permission_exit();
	pmuctl_rdpmc_mm_exit();
	pmuctl_hooks_drop_all();
	pmuctl_cgroup_moves_exit();
	pmuctl_claim_exit();
	pmuctl_rivals_exit();
	pmuctl_hotplug_exit();
	pmuctl_context_exit();
	pmuctl_tracepoint_exit();
	pmuctl_records_exit();
	pmuctl_soft_module_exit();
	pmuctl_buffer_exit();
	pmuctl_sample_exit();
	pmuctl_event_exit();
	hwpmu_exit();
	compat_tai_exit();
}

module_init(pmuctl_init);
module_exit(pmuctl_exit);

MODULE_DESCRIPTION("Performance counters beside perf_events");
MODULE_AUTHOR("The pmuctl authors");
MODULE_VERSION(PMUCTL_VERSION);
MODULE_LICENSE("GPL");
