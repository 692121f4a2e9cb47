// SPDX-License-Identifier: GPL-2.0-only
/*
 * Side-band records. Whatever happens is told to the events of the task to which it
 * happens, and to those of the CPU on which it does, if they want to know and are enabled.
 *
 * The scheduler's hooks tell of everything but mappings. For these there is no tracepoint
 * on all kernels, so there is a probe on the function that tells the kernel's own events,
 * while an event wants it. It runs with preemption off and mmap_lock held.
 *
 * Records are written under the lock of the context, so whoever closes, enables or disables
 * an event, or ends its context, does so before or after, and the task's EXIT is the last.
 */
#include <linux/err.h>
#include <linux/kdev_t.h>
#include <linux/kprobes.h>
#include <linux/mman.h>
#include <linux/mutex.h>
#include <linux/percpu.h>

#include "core/attr.h"
#include "core/cgroup.h"
#include "core/context.h"
#include "core/context_table.h"
#include "core/event.h"
#include "core/hook.h"
#include "core/may_tell.h"
#include "sample/build_id.h"
#include "sample/output.h"
#include "sample/sideband.h"
#include "sample/sideband_put.h"

/* Kinds that have hooks of their own or are asked for on hot paths */
#define KINDS		13
#define MMAP_KINDS	(PMUCTL_SIDE_MMAP | PMUCTL_SIDE_MMAP_DATA | PMUCTL_SIDE_CODE)
#define CONTAINER_KINDS	(PMUCTL_SIDE_NAMESPACES | PMUCTL_SIDE_CGROUP)

u16 pmuctl_side_wanted;

/* Who is told of code for the filters of traces */
static void (*code_mapped)(const struct vm_area_struct *vma) __ro_after_init;

/* Events that want each kind; the mutex is a leaf */
static DEFINE_MUTEX(users_mutex);
static unsigned int users[KINDS];

/* ---- Telling events ---- */

static bool wants(const struct pmuctl_event *event, const struct side_record *side, int cpu)
{
	const u16 kinds = side->kinds;

	return event->side & kinds && event->enabled && !event->leader->error &&
	       (event->cpu < 0 || event->cpu == cpu) &&
	       (!event->cgroup ||
		pmuctl_cgroup_has(event->cgroup, pmuctl_cgroup_of(side->whose))) &&
	       (kinds & ~CONTAINER_KINDS || event->context->task ||
		event->side & PMUCTL_SIDE_OF_CPU) &&
	       /* The new name comes before the new rights. */
	       (kinds & PMUCTL_SIDE_COMM || pmuctl_may_tell(event));
}

static void emit_to_context(struct pmuctl_context *ctx, const struct side_record *side)
{
	struct pmuctl_event *leader, *event;
	int cpu = smp_processor_id();
	enum pmuctl_class class;

	raw_spin_lock(&ctx->lock);
	for_each_group(leader, class, ctx)
		for_each_group_member(event, leader)
			if (wants(event, side, cpu))
				side->put(event, side);
	raw_spin_unlock(&ctx->lock);
}

/* Tell the events of @ctx, whose task is on this CPU, if there are any, and of this CPU. */
static void emit_to_both(struct pmuctl_context *ctx, const struct side_record *side)
{
	unsigned long flags;

	local_irq_save(flags);
	emit_to_context(pmuctl_context_of_cpu(smp_processor_id()), side);
	if (ctx)
		emit_to_context(ctx, side);
	local_irq_restore(flags);
}

void pmuctl_side_emit(struct task_struct *task, const struct side_record *side)
{
	rcu_read_lock();
	emit_to_both(pmuctl_context_find(task), side);
	rcu_read_unlock();
}

void pmuctl_side_put_named(struct pmuctl_event *event, const struct side_record *side,
			   struct perf_event_header *header, u32 fixed,
			   const char *name, u32 length)
{
	static const char zeros[8];
	u32 padded = ALIGN(length + 1, 8);
	struct pmuctl_record rec;

	if (!pmuctl_record_begin(&rec, event, header, fixed, padded))
		return;
	pmuctl_record_write(&rec, name, length);
	pmuctl_record_write(&rec, zeros, padded - length);
	pmuctl_record_end(&rec, event, side->whose);
}

/* ---- Names ---- */

struct comm_side {
	struct side_record side;
	struct task_struct *task;
	const char *name;
	bool exec;
};

static void put_comm(struct pmuctl_event *event, const struct side_record *side)
{
	const struct comm_side *t = container_of(side, struct comm_side, side);
	struct {
		struct perf_event_header header;
		u32 pid, tid;
	} record = {
		.header.type = PERF_RECORD_COMM,
		.header.misc = t->exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
		.pid = pmuctl_output_pid(event->output, t->task),
		.tid = pmuctl_output_tid(event->output, t->task),
	};

	pmuctl_side_put_named(event, side, &record.header, sizeof(record), t->name,
			      strnlen(t->name, TASK_COMM_LEN - 1));
}

void pmuctl_side_comm(struct task_struct *task, const char *name, bool exec)
{
	struct comm_side t = {
		.side = { PMUCTL_SIDE_COMM, current, put_comm },
		.task = task, .name = name, .exec = exec,
	};

	pmuctl_side_emit(current, &t.side);
}

/* ---- Beginnings and ends ---- */

struct task_side {
	struct side_record side;
	struct task_struct *task;
	bool fork;
};

static void put_task(struct pmuctl_event *event, const struct side_record *side)
{
	const struct task_side *t = container_of(side, struct task_side, side);
	const struct pmuctl_output *output = event->output;
	struct task_struct *parent =
		t->fork ? current : rcu_dereference(t->task->real_parent);
	struct {
		struct perf_event_header header;
		u32 pid, ppid;
		u32 tid, ptid;
		u64 time;
	} record = {
		.header.type = t->fork ? PERF_RECORD_FORK : PERF_RECORD_EXIT,
		.pid = pmuctl_output_pid(output, t->task),
		.tid = pmuctl_output_tid(output, t->task),
		.ppid = pmuctl_output_pid(output, parent),
		.time = output->clock(),
	};

	/* Who ends leaves its parent process; which of its threads it was of is not kept. */
	record.ptid = t->fork ? pmuctl_output_tid(output, parent) : record.ppid;
	pmuctl_record_put(event, &record.header, sizeof(record), side->whose);
}

void pmuctl_side_fork(struct task_struct *task)
{
	struct task_side t = {
		.side = { PMUCTL_SIDE_TASK, current, put_task },
		.task = task, .fork = true,
	};

	pmuctl_side_emit(current, &t.side);
}

void pmuctl_side_exit(struct pmuctl_context *ctx)
{
	struct task_side t = {
		.side = { PMUCTL_SIDE_TASK, current, put_task },
		.task = current,
	};

	emit_to_both(ctx, &t.side);
}

/* ---- Switches ---- */

struct switch_side {
	struct side_record side;
	struct task_struct *other;
	u16 misc;
};

static void put_switch(struct pmuctl_event *event, const struct side_record *side)
{
	const struct switch_side *t =
		container_of(side, struct switch_side, side);
	bool of_cpu = !event->context->task;
	struct {
		struct perf_event_header header;
		u32 pid, tid; /* of the other task; an event of a task has none */
	} record = {
		.header.type = of_cpu ? PERF_RECORD_SWITCH_CPU_WIDE :
					PERF_RECORD_SWITCH,
		.header.misc = t->misc,
	};

	if (of_cpu) {
		record.pid = pmuctl_output_pid(event->output, t->other);
		record.tid = pmuctl_output_tid(event->output, t->other);
	}
	pmuctl_record_put(event, &record.header,
			  of_cpu ? sizeof(record) : sizeof(record.header),
			  side->whose);
}

static void emit_switch(struct task_struct *task, struct task_struct *other,
			u16 misc)
{
	struct switch_side t = {
		.side = { PMUCTL_SIDE_SWITCH, task, put_switch },
		.other = other, .misc = misc,
	};

	pmuctl_side_emit(task, &t.side);
}

void pmuctl_side_switch_out(struct task_struct *prev, struct task_struct *next,
			    bool preempted)
{
	u16 misc = PERF_RECORD_MISC_SWITCH_OUT;

	if (preempted)
		misc |= PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	emit_switch(prev, next, misc);
}

void pmuctl_side_switch_in(struct task_struct *next, struct task_struct *prev)
{
	emit_switch(next, prev, 0);
}

/* ---- Mappings ---- */

struct mmap_side {
	struct side_record side;
	const struct vm_area_struct *vma;
	const struct inode *inode;
	const char *name;
	u32 length;
	u32 prot, flags;
	u8 build_id[PMUCTL_BUILD_ID_MAX];
	u8 build_id_size;
};

/* MMAP; the rest is MMAP2's. */
struct mmap_record {
	struct perf_event_header header;
	u32 pid, tid;
	u64 start;
	u64 length;
	u64 offset;
};

struct mmap2_record {
	struct mmap_record mmap;
	union {
		struct {
			u32 major, minor;
			u64 inode;
			u64 generation;
		};
		struct {
			u8 build_id_size;
			u8 reserved[3];
			u8 build_id[PMUCTL_BUILD_ID_MAX];
		};
	};
	u32 prot, flags;
};

static void write_origin(struct mmap2_record *record, const struct mmap_side *t, bool build_id)
{
	if (build_id && t->build_id_size) {
		record->mmap.header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
		record->build_id_size = t->build_id_size;
		memcpy(record->build_id, t->build_id, sizeof(record->build_id));
	} else if (t->inode) {
		record->major = MAJOR(t->inode->i_sb->s_dev);
		record->minor = MINOR(t->inode->i_sb->s_dev);
		record->inode = t->inode->i_ino;
		record->generation = t->inode->i_generation;
	}
}

static void put_mmap(struct pmuctl_event *event, const struct side_record *side)
{
	const struct mmap_side *t = container_of(side, struct mmap_side, side);
	const struct vm_area_struct *vma = t->vma;
	bool longer = event->side & PMUCTL_SIDE_MMAP2;
	struct mmap2_record record = {
		.mmap = {
			.header.type = longer ? PERF_RECORD_MMAP2 :
						PERF_RECORD_MMAP,
			.header.misc = PERF_RECORD_MISC_USER,
			.pid = pmuctl_output_pid(event->output, current),
			.tid = pmuctl_output_tid(event->output, current),
			.start = vma->vm_start,
			.length = vma->vm_end - vma->vm_start,
			.offset = (u64)vma->vm_pgoff << PAGE_SHIFT,
		},
		.prot = t->prot,
		.flags = t->flags,
	};

	if (!(vma->vm_flags & VM_EXEC))
		record.mmap.header.misc |= PERF_RECORD_MISC_MMAP_DATA;
	write_origin(&record, t, event->side & PMUCTL_SIDE_BUILD_ID);
	pmuctl_side_put_named(event, side, &record.mmap.header,
			      longer ? sizeof(record) : sizeof(record.mmap), t->name,
			      t->length);
}

/* Where d_path() writes: one for each CPU; PATH_MAX bytes each */
static char __percpu *paths;

static const char *name_of(const struct vm_area_struct *vma)
{
	const struct mm_struct *mm = vma->vm_mm;
	const char *name = NULL;

	if (vma->vm_file) {
		name = d_path(file_user_path(vma->vm_file), this_cpu_ptr(paths),
			      PATH_MAX);
		return IS_ERR(name) ? "//toolong" : name;
	}
	if (vma->vm_ops && vma->vm_ops->name)
		name = vma->vm_ops->name((struct vm_area_struct *)vma);
	if (name)
		return name;
	if (vma->vm_start <= mm->brk && vma->vm_end >= mm->start_brk)
		return "[heap]";
	if (vma->vm_start <= mm->start_stack && vma->vm_end >= mm->start_stack)
		return "[stack]";
	return "//anon";
}

static u32 prot_of(const struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_READ ? PROT_READ : 0) |
	       (vma->vm_flags & VM_WRITE ? PROT_WRITE : 0) |
	       (vma->vm_flags & VM_EXEC ? PROT_EXEC : 0);
}

static u32 flags_of(struct vm_area_struct *vma)
{
	return (vma->vm_flags & VM_MAYSHARE ? MAP_SHARED : MAP_PRIVATE) |
	       (vma->vm_flags & VM_LOCKED ? MAP_LOCKED : 0) |
	       (vma->vm_flags & VM_HUGETLB ? MAP_HUGETLB : 0);
}

static int mmap_probe(struct kprobe *probe, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 0);
	struct mmap_side t = {
		.side = { PMUCTL_SIDE_MMAP_DATA, current, put_mmap },
		.vma = vma,
	};

	/* Before an exec is sure to happen, its stack grows in memory that is not ours. */
	if (vma->vm_mm != current->mm)
		return 0;
	if (vma->vm_flags & VM_EXEC) {
		t.side.kinds = PMUCTL_SIDE_MMAP;
		if (pmuctl_side_is_wanted(PMUCTL_SIDE_CODE))
			code_mapped(vma);
	}
	if (!pmuctl_side_is_wanted(t.side.kinds))
		return 0;
	t.name = name_of(vma);
	t.length = strlen(t.name);
	t.prot = prot_of(vma);
	t.flags = flags_of(vma);
	if (vma->vm_file)
		t.inode = file_user_inode(vma->vm_file);
	if (pmuctl_side_is_wanted(PMUCTL_SIDE_BUILD_ID))
		t.build_id_size = pmuctl_build_id_mapped(vma, t.build_id);
	pmuctl_side_emit(current, &t.side);
	return 0;
}

/* ---- Who wants what ---- */

static struct kprobe mmap_kprobe = {
	.symbol_name = "perf_event_mmap",
	.pre_handler = mmap_probe,
};

static int set_probe(struct pmuctl_hook *hook, struct pmuctl_explanation *why)
{
	int err;

	paths = __alloc_percpu(PATH_MAX, sizeof(u64));
	if (!paths)
		return pmuctl_refuse(why, NO_MEMORY, "");
	/* What a registration before has left there would make the next one fail. */
	mmap_kprobe.addr = NULL;
	mmap_kprobe.flags = 0;
	err = register_kprobe(&mmap_kprobe);
	if (!err)
		return 0;
	free_percpu(paths);
	if (err == -ENOMEM)
		return pmuctl_refuse(why, NO_MEMORY, "");
	return pmuctl_refuse(why, NO_MMAP_HOOK, "attr.mmap", mmap_kprobe.symbol_name);
}

static void drop_probe(struct pmuctl_hook *hook)
{
	unregister_kprobe(&mmap_kprobe); /* waits for probes that run */
	free_percpu(paths);
}

static unsigned long missed_by_probe(const struct pmuctl_hook *hook)
{
	return READ_ONCE(mmap_kprobe.nmissed);
}

static struct pmuctl_hook mappings = {
	.name = "mappings",
	.set = set_probe, .drop = drop_probe, .missed = missed_by_probe,
};

/* Which hooks tell of which kinds */
static const struct {
	u16 kinds;
	struct pmuctl_hook *hook;
} hooks[] = {
	{ MMAP_KINDS, &mappings },
	{ PMUCTL_SIDE_NAMESPACES, &pmuctl_namespaces_probe.hook },
	{ PMUCTL_SIDE_CGROUP, &pmuctl_cgroups_hook },
	{ PMUCTL_SIDE_KSYMBOL, &pmuctl_ksymbols.hook },
	{ PMUCTL_SIDE_KSYMBOL | PMUCTL_SIDE_BPF, &pmuctl_bpf_programs.hook },
	{ PMUCTL_SIDE_TEXT_POKE, &pmuctl_text_pokes.hook },
};

/* What perf wants to be asked for before it tells an event of a CPU of containers, too */
static bool asks_of_cpu(const struct perf_event_attr *attr)
{
	return attr->mmap || attr->mmap_data || attr->mmap2 || attr->comm || attr->comm_exec ||
	       attr->task || attr->context_switch || attr->ksymbol || attr->bpf_event ||
	       attr->text_poke;
}

u16 pmuctl_side_of(const struct perf_event_attr *attr)
{
	u16 side = 0;

	if (attr->comm)
		side |= PMUCTL_SIDE_COMM;
	if (attr->mmap || attr->mmap2)
		side |= PMUCTL_SIDE_MMAP;
	if (attr->mmap_data)
		side |= PMUCTL_SIDE_MMAP_DATA;
	if (side || attr->task)
		side |= PMUCTL_SIDE_TASK;
	if (attr->context_switch)
		side |= PMUCTL_SIDE_SWITCH;
	if (attr->mmap2)
		side |= PMUCTL_SIDE_MMAP2;
	if (attr->namespaces)
		side |= PMUCTL_SIDE_NAMESPACES;
	if (attr->cgroup)
		side |= PMUCTL_SIDE_CGROUP;
	if (attr->ksymbol)
		side |= PMUCTL_SIDE_KSYMBOL;
	if (attr->bpf_event)
		side |= PMUCTL_SIDE_BPF;
	if (attr->text_poke)
		side |= PMUCTL_SIDE_TEXT_POKE;
	if (pmuctl_attr_flags(attr) & PMUCTL_ATTR_BUILD_ID && attr->mmap2)
		side |= PMUCTL_SIDE_BUILD_ID;
	if (side && asks_of_cpu(attr))
		side |= PMUCTL_SIDE_OF_CPU;
	return side;
}

static void count_users(u16 side, int n)
{
	unsigned int kind;
	u16 wanted = 0;

	mutex_lock(&users_mutex);
	for (kind = 0; kind < KINDS; kind++) {
		if (side & BIT(kind))
			users[kind] += n;
		if (users[kind])
			wanted |= BIT(kind);
	}
	WRITE_ONCE(pmuctl_side_wanted, wanted);
	mutex_unlock(&users_mutex);
}

/* The first @n of the table, as far as they are behind @side */
static void put_first(unsigned int n, u16 side)
{
	while (n--)
		if (side & hooks[n].kinds)
			pmuctl_hook_put(hooks[n].hook);
}

int pmuctl_side_get(u16 side, struct pmuctl_explanation *why)
{
	unsigned int i;
	int err;

	if (!side)
		return 0;
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = side & hooks[i].kinds ? pmuctl_hook_get(hooks[i].hook, why) : 0;
		if (err)
			goto err_put;
	}
	/* A trap's handler has IRQs off: see aux/filter.c. */
	if (side & PMUCTL_SIDE_CODE && !kprobe_ftrace(&mmap_kprobe)) {
		err = pmuctl_refuse(why, NO_MMAP_HOOK, "filter", mmap_kprobe.symbol_name);
		goto err_put;
	}
	count_users(side, 1);
	return 0;

err_put:
	put_first(i, side);
	return err;
}

void pmuctl_side_put(u16 side)
{
	if (!side)
		return;
	count_users(side, -1);
	put_first(ARRAY_SIZE(hooks), side);
}

unsigned long pmuctl_side_missed(u16 side)
{
	unsigned long missed = 0;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (side & hooks[i].kinds)
			missed += pmuctl_hook_missed(hooks[i].hook);
	return missed;
}

u64 pmuctl_hooks_missed(const struct pmuctl_event *event)
{
	return (event->hook ? pmuctl_hook_missed(event->hook) : 0) +
	       (event->side ? pmuctl_side_missed(event->side) : 0);
}

void __init pmuctl_sideband_init(void (*mapped)(const struct vm_area_struct *vma))
{
	unsigned int i;

	code_mapped = mapped;
	pmuctl_cgroups_init();
	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		pmuctl_hook_add(hooks[i].hook);
}
