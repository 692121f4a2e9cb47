// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who tells of hits: the hooks behind page faults, context switches and migrations, each
 * registered while an event wants it, and for a while after that (soft_hits.c).
 *
 * Whether a page fault was a minor or a major one, or was in vain, is known when it has been
 * handled, so that needs a probe on the function that does so. If all are wanted, the
 * tracepoints where they begin are enough.
 */
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>

#include <asm/trace/exceptions.h>
#include <trace/events/sched.h>

#include "callchain.h"
#include "soft.h"

/* Before hooks.c's probe of sched_switch: the task that goes is still loaded. */
#define PRIORITY	(TRACEPOINT_DEFAULT_PRIO + 10)

/* Tasks that may be in a page fault at the same time, mostly waiting for a disk */
#define FAULTS_MAX	512

/* ---- Tracepoints ---- */

/* A probe, and the tracepoint that it is for; found when it is first needed */
struct hook {
	const char *name;
	void *probe;
	struct tracepoint *tp;
};

static void match(struct tracepoint *tp, void *arg)
{
	struct hook *hook = arg;

	if (!strcmp(tp->name, hook->name))
		hook->tp = tp;
}

static int hook_one(struct hook *hook, struct pmuctl_explanation *why)
{
	int err = -ENOENT;

	if (!hook->tp)
		for_each_kernel_tracepoint(match, hook);
	if (hook->tp)
		err = tracepoint_probe_register_prio(hook->tp, hook->probe,
						     NULL, PRIORITY);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	return err ? pmuctl_refuse(why, NO_SOFT_HOOK, "attr.config",
				   hook->name) : 0;
}

static void unhook_one(struct hook *hook)
{
	tracepoint_probe_unregister(hook->tp, hook->probe, NULL);
}

/* ---- All page faults ---- */

/* Those that the kernel does not even try to handle do not count. */
static bool is_tried(unsigned long address)
{
	return address < TASK_SIZE_MAX && current->mm && !pagefault_disabled();
}

static void probe_fault_user(void *data, unsigned long address,
			     struct pt_regs *regs, unsigned long code)
{
	struct pmuctl_hit hit = { .address = address };

	if (is_tried(address))
		pmuctl_soft_hit(&pmuctl_hits_faults, regs, &hit);
}

static void probe_fault_kernel(void *data, unsigned long address,
			       struct pt_regs *regs, unsigned long code)
{
	struct pmuctl_hit hit = { .address = address };

	/* Calling us is what disables preemption once. */
	if (is_tried(address) && preempt_count() <= PREEMPT_DISABLE_OFFSET)
		pmuctl_soft_hit(&pmuctl_hits_faults, regs, &hit);
}

static struct hook fault_user = { "page_fault_user", probe_fault_user };
static struct hook fault_kernel = { "page_fault_kernel", probe_fault_kernel };

static int hook_faults(struct pmuctl_hits *hits, struct pmuctl_explanation *why)
{
	int err = hook_one(&fault_user, why);

	if (err)
		return err;
	err = hook_one(&fault_kernel, why);
	if (err)
		unhook_one(&fault_user);
	return err;
}

static void unhook_faults(struct pmuctl_hits *hits)
{
	unhook_one(&fault_kernel);
	unhook_one(&fault_user);
}

struct pmuctl_hits pmuctl_hits_faults = {
	.name = "page-faults", .hook = hook_faults, .unhook = unhook_faults,
};

/* ---- Minor and major ones ---- */

/* Of a fault that is being handled */
struct fault {
	struct pt_regs *regs;
	unsigned long address;
	bool tried;
};

/* Return: not 0 if its end does not matter. */
static int fault_begins(struct kretprobe_instance *instance,
			struct pt_regs *regs)
{
	struct fault *fault = (struct fault *)instance->data;

	fault->address = regs_get_kernel_argument(regs, 1);
	fault->tried = regs_get_kernel_argument(regs, 2) & FAULT_FLAG_TRIED;
	fault->regs = (struct pt_regs *)regs_get_kernel_argument(regs, 3);
	return !fault->regs; /* it is the kernel that looks at a page, no fault */
}

static int fault_ends(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	const struct fault *fault = (struct fault *)instance->data;
	struct pmuctl_hit hit = { .address = fault->address };
	vm_fault_t ret = (__force vm_fault_t)regs_return_value(regs);

	if (ret & (VM_FAULT_ERROR | VM_FAULT_RETRY))
		return 0;
	preempt_disable();
	pmuctl_soft_hit(fault->tried || ret & VM_FAULT_MAJOR ?
			&pmuctl_hits_major : &pmuctl_hits_minor,
			fault->regs, &hit);
	preempt_enable();
	return 0;
}

static struct kretprobe fault_probe = {
	.kp.symbol_name = "handle_mm_fault",
	.entry_handler = fault_begins,
	.handler = fault_ends,
	.data_size = sizeof(struct fault),
	.maxactive = FAULTS_MAX,
};

/* Those of registrations before, and of this one: of the probe's function and of its return */
static unsigned long missed;

static unsigned long missed_now(void)
{
	return READ_ONCE(fault_probe.nmissed) + READ_ONCE(fault_probe.kp.nmissed);
}

static int hook_handled(struct pmuctl_hits *hits, struct pmuctl_explanation *why)
{
	if (pmuctl_hits_minor.hooked || pmuctl_hits_major.hooked)
		return 0;
	/* What a registration before has left there would make the next one fail. */
	fault_probe.kp.addr = NULL;
	fault_probe.kp.flags = 0;
	if (register_kretprobe(&fault_probe))
		return pmuctl_refuse(why, NO_SOFT_HOOK, "attr.config",
				     fault_probe.kp.symbol_name);
	return 0;
}

static void unhook_handled(struct pmuctl_hits *hits)
{
	if (pmuctl_hits_minor.hooked || pmuctl_hits_major.hooked)
		return;
	unregister_kretprobe(&fault_probe);
	missed += missed_now();
}

unsigned long pmuctl_hits_missed(void)
{
	bool hooked = pmuctl_hits_minor.hooked || pmuctl_hits_major.hooked;

	return missed + (hooked ? missed_now() : 0);
}

struct pmuctl_hits pmuctl_hits_minor = {
	.name = "minor-faults", .hook = hook_handled, .unhook = unhook_handled,
};

struct pmuctl_hits pmuctl_hits_major = {
	.name = "major-faults", .hook = hook_handled, .unhook = unhook_handled,
};

/* ---- Context switches ---- */

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	static const struct pmuctl_hit hit;
	struct pt_regs regs;

	pmuctl_regs_here(&regs);
	pmuctl_soft_hit(&pmuctl_hits_switches, &regs, &hit);
}

static struct hook switches = { "sched_switch", probe_switch };

static int hook_switches(struct pmuctl_hits *hits, struct pmuctl_explanation *why)
{
	return hook_one(&switches, why);
}

static void unhook_switches(struct pmuctl_hits *hits)
{
	unhook_one(&switches);
}

struct pmuctl_hits pmuctl_hits_switches = {
	.name = "context-switches",
	.hook = hook_switches, .unhook = unhook_switches,
};

/* ---- Migrations ---- */

/* How many tasks have been moved to each CPU */
static DEFINE_PER_CPU(atomic_t, arrivals);

unsigned int pmuctl_soft_arrivals(void)
{
	atomic_t *n = this_cpu_ptr(&arrivals);

	return atomic_read(n) ? atomic_xchg(n, 0) : 0;
}

static void probe_migrate(void *data, struct task_struct *task, int cpu)
{
	/* It also tells of those that stay. */
	if (task_cpu(task) != cpu)
		atomic_inc(per_cpu_ptr(&arrivals, cpu));
}

static struct hook migrate = { "sched_migrate_task", probe_migrate };

static int hook_migrations(struct pmuctl_hits *hits,
			   struct pmuctl_explanation *why)
{
	int cpu;

	for_each_possible_cpu(cpu)
		atomic_set(per_cpu_ptr(&arrivals, cpu), 0);
	return hook_one(&migrate, why);
}

static void unhook_migrations(struct pmuctl_hits *hits)
{
	unhook_one(&migrate);
}

struct pmuctl_hits pmuctl_hits_migrations = {
	.name = "cpu-migrations",
	.hook = hook_migrations, .unhook = unhook_migrations,
};

/* The compiler checks the probes against the kernel's prototypes. */
static void __maybe_unused check_probes(void)
{
	check_trace_callback_type_page_fault_user(probe_fault_user);
	check_trace_callback_type_page_fault_kernel(probe_fault_kernel);
	check_trace_callback_type_sched_switch(probe_switch);
	check_trace_callback_type_sched_migrate_task(probe_migrate);
}
