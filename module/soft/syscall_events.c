// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of one system call, "syscalls:sys_enter_read". The kernel's tracing makes them of the
 * tracepoints at which all system calls begin and end, raw_syscalls:sys_enter and sys_exit; so do
 * we, with a table by the call's number behind one probe. Which number a name has, and what the
 * arguments are called, the kernel's event knows.
 *
 * Calls of 32-bit and x32 programs have other numbers: they are none of these, as the kernel has it
 * (ARCH_TRACE_IGNORE_COMPAT_SYSCALLS). Nor is the end of rt_sigreturn(2), which has no number left.
 */
#include <linux/compat.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/nospec.h>
#include <linux/slab.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#include <asm/syscall.h>
#include <trace/syscall.h>

#include "soft/tracepoint_private.h"

#define SYSTEM		"syscalls:"
#define ENTER		SYSTEM "sys_enter_"
#define EXIT		SYSTEM "sys_exit_"

#define ARGS_MAX	6
/* What the kernel's event calls it */
#define NUMBER		"__syscall_nr"

/**
 * struct pmuctl_syscall - of one system call
 * @meta: what the kernel's tracing knows of it; is there for ever.
 * @exits: its end is meant.
 * @prototype: its arguments, or what it returns, and then its number.
 * @fields: of @prototype.
 */
struct pmuctl_syscall {
	const struct syscall_metadata *meta;
	bool exits;
	struct pmuctl_prototype prototype;
	struct filter_field fields[ARGS_MAX + 2];
};

/* ---- The probes ---- */

/**
 * struct dispatcher - a probe, and whom it tells
 * @users: how many of @of are set; under dispatchers_mutex.
 * @of: by number; changed under dispatchers_mutex, read with preemption off.
 */
struct dispatcher {
	unsigned int users;
	struct pmuctl_tracepoint __rcu *of[NR_syscalls];
};

/* Where calls begin and where they end; without the kernel's records and with them */
static struct dispatcher dispatchers[2][2];

/* Innermost but for the kernel's own of tracepoints */
static DEFINE_MUTEX(dispatchers_mutex);

/* Preemption off */
static __always_inline struct pmuctl_tracepoint *find_wanted(const struct dispatcher *d,
							     const struct pt_regs *regs)
{
	const unsigned int nr = (int)regs->orig_ax;
	struct pmuctl_tracepoint *t;

	if (nr >= ARRAY_SIZE(d->of) || in_compat_syscall())
		return NULL;
	t = rcu_dereference_sched(d->of[array_index_nospec(nr, ARRAY_SIZE(d->of))]);
	return t && pmuctl_tracepoint_is_wanted(t) ? t : NULL;
}

static noinline void tell_enter(struct pmuctl_tracepoint *t, struct pt_regs *regs)
{
	u64 args[ARGS_MAX + 2] = { regs->di, regs->si, regs->dx, regs->r10, regs->r8, regs->r9 };

	args[t->prototype->nr_args - 1] = (int)regs->orig_ax;
	pmuctl_tracepoint_hit(t, args, regs);
}

static noinline void tell_exit(struct pmuctl_tracepoint *t, struct pt_regs *regs)
{
	u64 args[] = { regs->ax, (int)regs->orig_ax, 0 };

	pmuctl_tracepoint_hit(t, args, regs);
}

static void probe_enter(void *data, struct pt_regs *regs, long id)
{
	struct pmuctl_tracepoint *t;

	preempt_disable_notrace();
	t = find_wanted(data, regs);
	if (t)
		tell_enter(t, regs);
	preempt_enable_notrace();
}

static void probe_exit(void *data, struct pt_regs *regs, long ret)
{
	struct pmuctl_tracepoint *t;

	preempt_disable_notrace();
	t = find_wanted(data, regs);
	if (t)
		tell_exit(t, regs);
	preempt_enable_notrace();
}

static void *probe_of(const struct pmuctl_tracepoint *t)
{
	return t->syscall->exits ? (void *)probe_exit : (void *)probe_enter;
}

static struct dispatcher *dispatcher_of(const struct pmuctl_tracepoint *t)
{
	return &dispatchers[t->syscall->exits][!!t->source.record];
}

int pmuctl_syscall_set(struct pmuctl_tracepoint *t)
{
	struct dispatcher *d = dispatcher_of(t);
	int err = 0;

	mutex_lock(&dispatchers_mutex);
	if (!d->users)
		err = tracepoint_probe_register_prio(t->tp, probe_of(t), d,
						     t->source.record ? TRACEPOINT_PRIORITY_RECORD :
								 TRACEPOINT_PRIORITY);
	if (!err) {
		d->users++;
		rcu_assign_pointer(d->of[t->syscall->meta->syscall_nr], t);
	}
	mutex_unlock(&dispatchers_mutex);
	return err;
}

void pmuctl_syscall_drop(struct pmuctl_tracepoint *t)
{
	struct dispatcher *d = dispatcher_of(t);

	mutex_lock(&dispatchers_mutex);
	RCU_INIT_POINTER(d->of[t->syscall->meta->syscall_nr], NULL);
	if (!--d->users)
		tracepoint_probe_unregister(t->tp, probe_of(t), d);
	mutex_unlock(&dispatchers_mutex);
}

/* ---- Which call ---- */

#ifdef CONFIG_EVENT_TRACING
/* Somebody may have made a probe of this name, which is none of the kernel's events. */
bool tracepoint_is_syscall(const struct trace_event_call *call)
{
	const u32 others = TRACE_EVENT_FL_TRACEPOINT | TRACE_EVENT_FL_KPROBE |
			   TRACE_EVENT_FL_UPROBE;
	const struct syscall_metadata *meta = call->data;

	return call->flags & TRACE_EVENT_FL_CAP_ANY && !(call->flags & others) && meta &&
	       (meta->enter_event == call || meta->exit_event == call) &&
	       meta->syscall_nr >= 0 && meta->syscall_nr < NR_syscalls &&
	       meta->nb_args <= ARGS_MAX;
}

const struct syscall_metadata *tracepoint_find_syscall(const char *full_name, const char **place)
{
	const struct syscall_metadata *meta = NULL;
	struct trace_event_file *file;

	if (!strncmp(full_name, ENTER, strlen(ENTER)))
		*place = "sys_enter";
	else if (!strncmp(full_name, EXIT, strlen(EXIT)))
		*place = "sys_exit";
	else
		return NULL;
	file = tracepoint_get_file(full_name);
	if (!file)
		return NULL;
	if (tracepoint_is_syscall(file->event_call))
		meta = file->event_call->data;
	trace_put_event_file(file);
	return meta;
}
#else
const struct syscall_metadata *tracepoint_find_syscall(const char *full_name, const char **place)
{
	return NULL;
}
#endif

static void set_field(struct pmuctl_syscall *syscall, const char *name, enum filter_type type)
{
	const unsigned int i = syscall->prototype.nr_args++;

	syscall->fields[i] = (struct filter_field){ .name = name, .arg = i, .type = type };
}

struct pmuctl_syscall *pmuctl_syscall_alloc(const struct syscall_metadata *meta, bool exits)
{
	struct pmuctl_syscall *syscall = kzalloc(sizeof(*syscall), GFP_KERNEL_ACCOUNT);
	int i;

	if (!syscall)
		return NULL;
	syscall->meta = meta;
	syscall->exits = exits;
	syscall->prototype.name = meta->name;
	syscall->prototype.fields = syscall->fields;
	/* The kernel's filters take arguments as words without a sign, whatever they are. */
	for (i = 0; !exits && i < meta->nb_args; i++)
		set_field(syscall, meta->args[i], FILTER_U64);
	if (exits)
		set_field(syscall, "ret", FILTER_S64);
	set_field(syscall, NUMBER, FILTER_S32);
	return syscall;
}

bool pmuctl_syscall_is(const struct pmuctl_syscall *syscall, const struct syscall_metadata *meta)
{
	return syscall ? syscall->meta == meta : !meta;
}

const struct pmuctl_prototype *pmuctl_syscall_prototype(const struct pmuctl_syscall *syscall)
{
	return &syscall->prototype;
}
