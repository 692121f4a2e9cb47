// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who tells of such events: the hooks behind page faults, context switches and migrations, each
 * registered while an event wants it, and for a while after that (hook.h).
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

#include <trace/events/exceptions.h>
#include <trace/events/sched.h>

#include "compat/tracepoint.h"
#include "core/cgroup.h"
#include "core/hook.h"
#include "sample/callchain.h"
#include "soft/soft.h"

/* Before event/task_hooks.c's probe of sched_switch: the task that goes is still loaded. */
#define PRIORITY	(TRACEPOINT_DEFAULT_PRIO + 10)

/* Tasks that may be in a page fault at the same time, mostly waiting for a disk */
#define FAULTS_MAX	512

/* ---- Tracepoints ---- */

/*
 * A probe, and the tracepoint at which it is; found when it is first needed. Its hook, if there is
 * no more to that.
 */
struct place {
	const char *name;
	void *probe;
	struct tracepoint *tp;
	struct pmuctl_hook hook;
};

static void match(struct tracepoint *tp, void *arg)
{
	struct place *place = arg;

	if (!strcmp(tp->name, place->name))
		place->tp = tp;
}

static int set_one(struct place *place, struct pmuctl_explanation *why)
{
	int err = -ENOENT;

	if (!place->tp)
		for_each_kernel_tracepoint(match, place);
	if (place->tp)
		err = tracepoint_probe_register_prio(place->tp, place->probe,
						     NULL, PRIORITY);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	return err ? pmuctl_refuse(why, NO_SOFT_HOOK, "attr.config",
				   place->name) : 0;
}

static void drop_one(struct place *place)
{
	tracepoint_probe_unregister(place->tp, place->probe, NULL);
}

static int set_place(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	return set_one(container_of(hook, struct place, hook), why);
}

static void drop_place(struct pmuctl_hook *hook)
{
	drop_one(container_of(hook, struct place, hook));
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
	struct pmuctl_sample_data sample = { .address = address };

	if (!is_tried(address))
		return;
	preempt_disable_notrace();
	pmuctl_swevent(&pmuctl_sw_faults, regs, &sample);
	preempt_enable_notrace();
}

static void probe_fault_kernel(void *data, unsigned long address,
			       struct pt_regs *regs, unsigned long code)
{
	struct pmuctl_sample_data sample = { .address = address };

	/* Calling us may be what disables preemption once. */
	if (!is_tried(address) || preempt_count() > COMPAT_TRACEPOINT_OFFSET)
		return;
	preempt_disable_notrace();
	pmuctl_swevent(&pmuctl_sw_faults, regs, &sample);
	preempt_enable_notrace();
}

static struct place fault_user = { "page_fault_user", probe_fault_user };
static struct place fault_kernel = { "page_fault_kernel", probe_fault_kernel };

static int set_faults(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int err = set_one(&fault_user, why);

	if (err)
		return err;
	err = set_one(&fault_kernel, why);
	if (err)
		drop_one(&fault_user);
	return err;
}

static void drop_faults(struct pmuctl_hook *hook)
{
	drop_one(&fault_kernel);
	drop_one(&fault_user);
}

static struct pmuctl_hook faults = {
	.name = "page-faults", .set = set_faults, .drop = drop_faults,
};

struct pmuctl_sw_source pmuctl_sw_faults = { .hook = &faults };

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
	struct pmuctl_sample_data sample = { .address = fault->address };
	vm_fault_t ret = (__force vm_fault_t)regs_return_value(regs);

	if (ret & (VM_FAULT_ERROR | VM_FAULT_RETRY))
		return 0;
	preempt_disable();
	pmuctl_swevent(fault->tried || ret & VM_FAULT_MAJOR ?
			&pmuctl_sw_major : &pmuctl_sw_minor,
			fault->regs, &sample);
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

static int set_handled(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int err;

	/* What a registration before has left there would make the next one fail. */
	fault_probe.kp.addr = NULL;
	fault_probe.kp.flags = 0;
	err = register_kretprobe(&fault_probe);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	return err ? pmuctl_refuse(why, NO_SOFT_HOOK, "attr.config",
				   fault_probe.kp.symbol_name) : 0;
}

static void drop_handled(struct pmuctl_hook *hook)
{
	unregister_kretprobe(&fault_probe);
}

/* Of the function, and of its return */
static unsigned long missed_handled(const struct pmuctl_hook *hook)
{
	return READ_ONCE(fault_probe.nmissed) + READ_ONCE(fault_probe.kp.nmissed);
}

static struct pmuctl_hook handled = {
	.name = "minor-faults and major-faults",
	.set = set_handled, .drop = drop_handled, .missed = missed_handled,
};

struct pmuctl_sw_source pmuctl_sw_minor = { .hook = &handled };
struct pmuctl_sw_source pmuctl_sw_major = { .hook = &handled };

/* ---- Context switches ---- */

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	static const struct pmuctl_sample_data sample;
	struct pt_regs regs;

	pmuctl_regs_here(&regs);
	pmuctl_swevent(&pmuctl_sw_switches, &regs, &sample);
}

static struct place switches = {
	"sched_switch", probe_switch,
	.hook = { .name = "context-switches", .set = set_place, .drop = drop_place },
};

struct pmuctl_sw_source pmuctl_sw_switches = { .hook = &switches.hook };

/* ---- Switches to a task of another cgroup ---- */

static void probe_cgroup_switch(void *data, bool preempt, struct task_struct *prev,
				struct task_struct *next, unsigned int prev_state)
{
	static const struct pmuctl_sample_data sample;
	struct pt_regs regs;

	if (pmuctl_cgroup_of(prev) == pmuctl_cgroup_of(next))
		return;
	pmuctl_regs_here(&regs);
	pmuctl_swevent(&pmuctl_sw_cgroup_switches, &regs, &sample);
}

static struct place cgroup_switches = {
	"sched_switch", probe_cgroup_switch,
	.hook = { .name = "cgroup-switches", .set = set_place, .drop = drop_place },
};

struct pmuctl_sw_source pmuctl_sw_cgroup_switches = { .hook = &cgroup_switches.hook };

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

static int set_migrations(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int cpu;

	for_each_possible_cpu(cpu)
		atomic_set(per_cpu_ptr(&arrivals, cpu), 0);
	return set_place(hook, why);
}

static struct place migrations = {
	"sched_migrate_task", probe_migrate,
	.hook = { .name = "cpu-migrations", .set = set_migrations, .drop = drop_place },
};

struct pmuctl_sw_source pmuctl_sw_migrations = { .hook = &migrations.hook };

void __init pmuctl_soft_sources_init(void)
{
	pmuctl_hook_add(&faults);
	pmuctl_hook_add(&handled);
	pmuctl_hook_add(&switches.hook);
	pmuctl_hook_add(&cgroup_switches.hook);
	pmuctl_hook_add(&migrations.hook);
}

/* The compiler checks the probes against the kernel's prototypes. */
static void __maybe_unused check_probes(void)
{
	check_trace_callback_type_page_fault_user(probe_fault_user);
	check_trace_callback_type_page_fault_kernel(probe_fault_kernel);
	check_trace_callback_type_sched_switch(probe_switch);
	check_trace_callback_type_sched_switch(probe_cgroup_switch);
	check_trace_callback_type_sched_migrate_task(probe_migrate);
}
