// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMUCTL_IOC_OPEN: from what the caller says to an event with a descriptor. Process context. An
 * entry of a list (event_list.c) is opened in the same way.
 *
 * An open goes through steps, each of which may refuse it. What they get on the way is in
 * struct open_request; what of that nobody else has taken over is given back by finish(), and
 * nowhere else.
 */
#include <linux/anon_inodes.h>
#include <linux/capability.h>
#include <linux/cgroup.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/nospec.h>
#include <linux/pid.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/uninitialized.h"
#include "core/quota.h"
#include "core/threads.h"
#include "event/change.h"
#include "event/create.h"
#include "front/event_fd.h"
#include "front/ioctl.h"
#include "inherit/inherit.h"
#include "soft/tracepoint.h"

/**
 * struct open_request - an open that is under way
 *
 * What is asked for, and who is told:
 * @open: the call's structure, all of it; the caller's.
 * @list: the entries before it, if it is one of a list; the caller's.
 * @nr_list: how many.
 * @why: filled on refusal; the caller's.
 * @attr: copied by copy_attr().
 * @name: of the tracepoint if @open has one: copied by copy_name().
 * @for_anyone: what it tells of a task is told to everybody who may count that.
 *
 * What the caller may, who cannot change that while he is here; asked once, by count_it(), as each
 * time the security modules are asked, too:
 * @perfmon: he has CAP_PERFMON.
 * @unlimited: he may have any number of events.
 *
 * What there is of it, in the order in which it comes; NULL, and -1, until then, and again when
 * somebody else has it:
 * @quota: in which it is counted, from count_it(); NULL too if it is in none. Taken over by
 *	create().
 * @task: whom it counts, from find_target(); NULL for all of a CPU. Referenced.
 * @cgroup: the only one whose tasks it counts, likewise. Taken over by @event.
 * @tp: from find_tracepoint(). Taken over by @event.
 * @group: the file at @open->group_fd, from find_group(), so that @leader stays open. Referenced.
 * @leader: its event.
 * @event: from create(). Taken over by @ef.
 * @ef: from make_file(). Taken over by the file.
 * @fd: from make_descriptor(). Taken over by the caller.
 */
struct open_request {
	const struct pmuctl_open *open;
	const struct pmuctl_opened *list;
	unsigned int nr_list;
	struct pmuctl_explanation *why;
	union pmuctl_attr attr;
	char name[PMUCTL_TRACEPOINT_NAME_MAX];
	bool for_anyone;

	bool perfmon;
	bool unlimited;

	struct pmuctl_quota *quota;
	struct task_struct *task;
	struct cgroup_subsys_state *cgroup;
	struct pmuctl_tp *tp;
	struct file *group;
	struct pmuctl_event *leader;
	struct pmuctl_event *event;
	struct event_file *ef;
	int fd;
};

/* Give back, the last first, what nobody has taken over. */
static void finish(struct open_request *r)
{
	if (r->fd >= 0)
		put_unused_fd(r->fd);
	pmuctl_event_file_free(r->ef);
	if (r->event)
		pmuctl_event_free(r->event);
	if (r->group)
		fput(r->group);
	pmuctl_tp_free(r->tp);
	if (r->cgroup)
		css_put(r->cgroup);
	if (r->task)
		put_task_struct(r->task);
	pmuctl_quota_put(r->quota);
}

/* ---- What is asked for ---- */

static bool is_of_process(const struct open_request *r)
{
	return r->open->flags & PMUCTL_OPEN_PROCESS;
}

static bool is_of_cgroup(const struct open_request *r)
{
	return r->open->flags & PERF_FLAG_PID_CGROUP;
}

static int check_flags(struct open_request *r)
{
	const u32 known = PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT |
			  PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC |
			  PMUCTL_OPEN_PROCESS | (r->list ? PMUCTL_OPEN_GROUP_ENTRY : 0);
	const u32 flags = r->open->flags;

	if (flags & ~known)
		return pmuctl_refuse(r->why, FLAGS_UNKNOWN, "flags", flags, known);
	if (!is_of_cgroup(r))
		return 0;
	if (!IS_ENABLED(CONFIG_CGROUP_PERF))
		return pmuctl_refuse(r->why, FLAG_UNSUPPORTED, "flags", flags, "PID_CGROUP");
	if (is_of_process(r))
		return pmuctl_refuse(r->why, CGROUP_PROCESS, "flags", flags);
	return 0;
}

static int copy_attr(struct open_request *r)
{
	void __user *user = u64_to_user_ptr(r->open->attr);
	u32 __user *size_field = user + offsetof(struct perf_event_attr, size);
	u32 size;
	int err;

	if (get_user(size, size_field))
		return pmuctl_refuse(r->why, BAD_POINTER, "attr");
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (size < PERF_ATTR_SIZE_VER0) {
		if (put_user(PMUCTL_ATTR_SIZE, size_field))
			return pmuctl_refuse(r->why, BAD_POINTER, "attr");
		return pmuctl_refuse(r->why, ATTR_TOO_SMALL, "attr.size", size,
				     PERF_ATTR_SIZE_VER0);
	}
	/* This kernel's may be longer than what is known here. */
	memset((u8 *)&r->attr + PMUCTL_ATTR_SIZE, 0, sizeof(r->attr) - PMUCTL_ATTR_SIZE);
	err = pmuctl_copy_sized(&r->attr, PMUCTL_ATTR_SIZE, user, size);
	if (err == -E2BIG) {
		if (put_user(PMUCTL_ATTR_SIZE, size_field))
			return pmuctl_refuse(r->why, BAD_POINTER, "attr");
		return pmuctl_refuse(r->why, ATTR_TOO_BIG, "attr.size", size,
				     PMUCTL_ATTR_SIZE);
	}
	return err ? pmuctl_refuse(r->why, BAD_POINTER, "attr") : 0;
}

static int check_attr(struct open_request *r)
{
	return pmuctl_attr_check(&r->attr, r->why);
}

/* The name of the tracepoint, if it is one */
static int copy_name(struct open_request *r)
{
	const u64 user = r->open->tracepoint;
	long length;

	if (r->attr.attr.type != PERF_TYPE_TRACEPOINT)
		return user ? pmuctl_refuse(r->why, NAME_UNUSED, "tracepoint") : 0;
	if (!user)
		return pmuctl_refuse(r->why, NAME_MISSING, "tracepoint");
	length = strncpy_from_user(r->name, u64_to_user_ptr(user), sizeof(r->name));
	if (length < 0)
		return pmuctl_refuse(r->why, BAD_POINTER, "tracepoint");
	if (length == PMUCTL_TRACEPOINT_NAME_MAX)
		return pmuctl_refuse(r->why, NAME_LONG, "tracepoint",
				     PMUCTL_TRACEPOINT_NAME_MAX - 1);
	return 0;
}

/* ---- Who asks, and for whom ---- */

static int count_it(struct open_request *r)
{
	struct pmuctl_quota *quota;

	r->perfmon = perfmon_capable();
	r->unlimited = pmuctl_is_unlimited(r->perfmon);
	if (r->unlimited)
		return 0;
	quota = pmuctl_quota_get(r->why);
	if (IS_ERR(quota))
		return PTR_ERR(quota);
	r->quota = quota;
	return 0;
}

/* Of a process any thread that lives is as good as the one that was named. */
static void choose_thread(struct open_request *r)
{
	struct task_struct *alive = pmuctl_thread_get_alive(r->task);

	put_task_struct(r->task);
	r->task = alive;
}

/* As perf has it: who is meant comes before where. */
static int find_task(struct open_request *r)
{
	const int pid = r->open->pid;
	struct pid *id;

	if (pid < -1)
		return pmuctl_refuse(r->why, PID_INVALID, "pid", pid);
	if (pid == -1)
		return is_of_process(r) ? pmuctl_refuse(r->why, PROCESS_PID, "pid", pid) : 0;
	if (pid) {
		id = find_get_pid(pid);
		r->task = id ? get_pid_task(id, PIDTYPE_PID) : NULL;
		put_pid(id);
	} else {
		r->task = get_task_struct(current);
	}
	if (!r->task)
		return pmuctl_refuse(r->why, NO_SUCH_TASK, "pid", pid);
	if (is_of_process(r))
		choose_thread(r);
	return 0;
}

static int find_cgroup(struct open_request *r)
{
	struct cgroup_subsys_state *cgroup;

	if (r->open->pid == -1)
		return pmuctl_refuse(r->why, CGROUP_PID, "pid");
	cgroup = pmuctl_cgroup_get(r->open->pid, r->why);
	if (IS_ERR(cgroup))
		return PTR_ERR(cgroup);
	r->cgroup = cgroup;
	return 0;
}

static int find_target(struct open_request *r)
{
	const int cpu = r->open->cpu;
	int err;

	if (is_of_process(r) && !r->attr.attr.inherit)
		return pmuctl_refuse(r->why, PROCESS_INHERIT, "attr.inherit");
	err = is_of_cgroup(r) ? find_cgroup(r) : find_task(r);
	if (err)
		return err;
	if (cpu < -1 || cpu >= (int)nr_cpu_ids ||
	    (cpu >= 0 && !cpu_possible(cpu)))
		return pmuctl_refuse(r->why, CPU_INVALID, "cpu", cpu, nr_cpu_ids - 1);
	return 0;
}

static int find_tracepoint(struct open_request *r)
{
	struct pmuctl_tp *tp;

	if (!r->open->tracepoint)
		return 0;
	tp = pmuctl_tp_alloc(r->name, r->attr.attr.sample_type & PERF_SAMPLE_RAW,
			     pmuctl_may_see_raw(), r->why);
	if (IS_ERR(tp))
		return PTR_ERR(tp);
	r->tp = tp;
	if (r->attr.attr.exclude_kernel && pmuctl_tp_is_in_kernel(tp))
		return pmuctl_refuse(r->why, TRACEPOINT_KERNEL, "attr.exclude_kernel");
	r->for_anyone = pmuctl_tp_is_for_anyone(tp);
	return 0;
}

/* A leader that is an entry of the same list */
static int find_entry(struct open_request *r)
{
	const int entry = r->open->group_fd;
	struct event_file *ef;

	if (entry < 0 || entry >= (int)r->nr_list)
		return pmuctl_refuse(r->why, LIST_LEADER, "group_fd", entry);
	r->group = get_file(r->list[array_index_nospec(entry, r->nr_list)].file);
	ef = r->group->private_data;
	r->leader = ef->event;
	return 0;
}

/* FD_NO_GROUP with FD_OUTPUT wants the buffer at group_fd, not the group. */
static int find_group(struct open_request *r)
{
	const u32 flags = r->open->flags;

	if (flags & PMUCTL_OPEN_GROUP_ENTRY)
		return find_entry(r);
	if (r->open->group_fd == -1 ||
	    (flags & PERF_FLAG_FD_NO_GROUP && !(flags & PERF_FLAG_FD_OUTPUT)))
		return 0;
	r->leader = pmuctl_event_fd_get(r->open->group_fd, &r->group);
	if (!r->leader)
		return pmuctl_refuse(r->why, GROUP_FD, "group_fd", r->open->group_fd);
	return 0;
}

/* May the caller open it for @task? */
static int may_open(struct open_request *r, struct task_struct *task)
{
	return pmuctl_may_open(&r->attr.attr, task, r->open->pid, r->for_anyone, r->perfmon,
			       r->why);
}

/* May he, for each thread if it is of a process? These can differ. */
static int check_permission(struct open_request *r)
{
	struct pmuctl_threads *threads;
	unsigned int i;
	int err;

	err = may_open(r, r->task);
	if (err || !is_of_process(r) || r->perfmon)
		return err;
	threads = pmuctl_threads_get(r->task, r->why);
	if (IS_ERR(threads))
		return PTR_ERR(threads);
	for (i = 0; i < threads->n && !err; i++) {
		err = may_open(r, threads->task[i]);
		if (err == -ESRCH)
			err = 0; /* it has ended meanwhile */
	}
	pmuctl_threads_put(threads);
	return err;
}

/* May the caller count one more task, that has the events of the group? As an open for that */
static int may_count_too(struct task_struct *task, void *arg)
{
	return may_open(arg, task);
}

/* ---- The event ---- */

static bool is_foreign(const struct open_request *r)
{
	return r->task && !same_thread_group(r->task, current);
}

/* One that has been reaped since it was found has no number any more, but the caller's. */
static int name_task_again(struct open_request *r, int err)
{
	if (r->why->code == PMUCTL_WHY_TASK_EXITING && r->open->pid > 0)
		return pmuctl_refuse(r->why, TASK_EXITING, "pid", r->open->pid);
	return err;
}

/* An event that counts all that it is to. One of somebody else's task does not count yet. */
static int create(struct open_request *r)
{
	struct perf_event_attr *attr = &r->attr.attr;
	struct pmuctl_event *leader = r->open->flags & PERF_FLAG_FD_NO_GROUP ?
				      NULL : r->leader;
	const struct pmuctl_target target = {
		.task = r->task, .cpu = r->open->cpu, .cgroup = r->cgroup,
		.quota = r->quota,
	};
	struct pmuctl_event *event;
	unsigned int flags = 0;

	/* Anybody may ask, as perf's tools do by default; not everybody is told. */
	if (attr->ksymbol && !pmuctl_may_see_kernel())
		attr->ksymbol = 0;
	if (!attr->disabled && !is_foreign(r))
		flags |= PMUCTL_EVENT_ENABLED;
	if (r->perfmon)
		flags |= PMUCTL_EVENT_CLAIMS;
	if (r->unlimited)
		flags |= PMUCTL_EVENT_UNLIMITED;
	r->quota = NULL;
	event = pmuctl_event_create(&target, attr, r->tp, flags, leader, r->why);
	if (IS_ERR(event))
		return name_task_again(r, PTR_ERR(event));
	r->event = event;
	r->tp = NULL;
	r->cgroup = NULL;
	if (!event->inherit.root)
		return 0;
	return pmuctl_inherit_attach(event, is_of_process(r), may_count_too, r, r->why);
}

/* An exec may have come between; from now on it would end the event. */
static int check_again(struct open_request *r)
{
	int err;

	if (!is_foreign(r))
		return 0;
	err = check_permission(r);
	if (err)
		return err;
	if (!r->attr.attr.disabled)
		pmuctl_event_enable(r->event, false);
	return 0;
}

static int set_output(struct open_request *r)
{
	if (!r->leader || !(r->open->flags & PERF_FLAG_FD_OUTPUT))
		return 0;
	return pmuctl_event_set_output(r->event, r->leader, r->why);
}

/* ---- Its descriptor ---- */

static int refuse_file(struct open_request *r, int err)
{
	switch (err) {
	case -EMFILE:
		return pmuctl_refuse(r->why, NO_FD, "");
	case -ENFILE:
		return pmuctl_refuse(r->why, NO_FILE, "");
	default:
		return pmuctl_refuse(r->why, NO_MEMORY, "");
	}
}

/* What the descriptor has of its own */
static int make_file(struct open_request *r)
{
	struct pmuctl_event *event = r->event;
	struct pmuctl_process *process;
	struct event_file *ef;

	ef = kzalloc(sizeof(*ef), GFP_KERNEL_ACCOUNT);
	if (!ef)
		return pmuctl_refuse(r->why, NO_MEMORY, "");
	refcount_set(&ef->refs, 1);
	pmuctl_last_init(&ef->last);
	ef->event = event;
	r->ef = ef;
	r->event = NULL;

	ef->opener = pmuctl_opener_get(true);
	if (!ef->opener)
		return pmuctl_refuse(r->why, NO_MEMORY, "");
	if (!event->inherit.process)
		return 0;
	process = pmuctl_process_get(event->context->task);
	if (IS_ERR(process))
		return pmuctl_refuse(r->why, NO_MEMORY, "");
	ef->process = process;
	return 0;
}

static int make_descriptor(struct open_request *r, struct pmuctl_opened *opened)
{
	const int flags = O_RDWR | (r->open->flags & PERF_FLAG_FD_CLOEXEC ? O_CLOEXEC : 0);
	struct file *file;
	int fd;

	fd = get_unused_fd_flags(flags);
	if (fd < 0)
		return refuse_file(r, fd);
	r->fd = fd;
	file = anon_inode_getfile("[pmuctl_event]", &pmuctl_event_fops, r->ef, flags);
	if (IS_ERR(file))
		return refuse_file(r, PTR_ERR(file));

	/* Nothing can fail any more. */
	pmuctl_opener_add(r->ef);
	r->ef = NULL;
	r->fd = -1;
	opened->file = file;
	opened->fd = fd;
	return 0;
}

/* ---- All of it ---- */

/* In the order of docs/architecture.md */
static int open_event(struct open_request *r, struct pmuctl_opened *opened)
{
	return check_flags(r) ?: copy_attr(r) ?: check_attr(r) ?: copy_name(r) ?:
	       count_it(r) ?: find_target(r) ?: find_tracepoint(r) ?: find_group(r) ?:
	       check_permission(r) ?: create(r) ?: check_again(r) ?: set_output(r) ?:
	       make_file(r) ?: make_descriptor(r, opened);
}

int pmuctl_event_open(const struct pmuctl_open *open, const struct pmuctl_opened *list,
		      unsigned int nr, struct pmuctl_opened *opened,
		      struct pmuctl_explanation *why)
{
	struct open_request r pmuctl_uninitialized;
	int err;

	r.open = open;
	r.list = list;
	r.nr_list = nr;
	r.why = why;
	r.quota = NULL;
	r.task = NULL;
	r.cgroup = NULL;
	r.tp = NULL;
	r.for_anyone = false;
	r.group = NULL;
	r.leader = NULL;
	r.event = NULL;
	r.ef = NULL;
	r.fd = -1;
	err = open_event(&r, opened);
	finish(&r);
	return err;
}

/* The file ends, and with it the event, on the way back to user space. */
void pmuctl_opened_undo(const struct pmuctl_opened *opened)
{
	put_unused_fd(opened->fd);
	fput(opened->file);
}

int pmuctl_open_explain(u64 address, u32 size, const struct pmuctl_explanation *why)
{
	struct pmuctl_explanation out = *why;
	char *bytes = (char *)&out;

	size = min_t(u32, size, sizeof(out));

	if (!size)
		return 0;
	if (size > offsetof(struct pmuctl_explanation, field))
		bytes[size - 1] = '\0';
	return copy_to_user(u64_to_user_ptr(address), bytes, size) ? -EFAULT : 0;
}

long pmuctl_ioctl_open(struct pmuctl_ioctl_call *call)
{
	const struct pmuctl_open *open = &call->args.open;
	struct pmuctl_opened opened;
	int err;

	err = pmuctl_event_open(open, NULL, 0, &opened, &call->why);
	if (!err) {
		fd_install(opened.fd, opened.file);
		return opened.fd;
	}
	if (pmuctl_open_explain(open->explanation, open->explanation_size, &call->why))
		return pmuctl_refuse(&call->why, BAD_POINTER, "explanation");
	return err;
}
