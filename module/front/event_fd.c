// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event file descriptors: an event as a file that speaks the language of
 * perf_event_open(2)'s, so that programs written for those need not know the difference.
 */
#include <linux/anon_inodes.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/uninitialized.h"
#include "core/threads.h"
#include "front/event_fd.h"
#include "sample/buffer.h"
#include "sample/output.h"
#include "soft/tracepoint.h"

#define COUNTS_MAX	PMUCTL_GROUP_MAX

static unsigned int format_one(u64 format, const struct pmuctl_counts *counts,
			       u64 *out)
{
	unsigned int n = 0;

	out[n++] = counts->value;
	if (format & PERF_FORMAT_ID)
		out[n++] = counts->id;
	if (format & PERF_FORMAT_LOST)
		out[n++] = counts->lost;
	return n;
}

/* Lay out what read() gives; perf_event_open(2), "Reading results". */
static unsigned int format_counts(u64 format, const struct pmuctl_counts *counts,
				  unsigned int nr, u64 *out)
{
	unsigned int n = 0, i;

	if (format & PERF_FORMAT_GROUP)
		out[n++] = nr;
	else
		out[n++] = counts->value;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		out[n++] = counts->time_enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		out[n++] = counts->time_running;
	if (!(format & PERF_FORMAT_GROUP)) {
		u64 one[3];
		unsigned int m = format_one(format, counts, one);

		memcpy(out + n, one + 1, (m - 1) * sizeof(*one));
		return n + m - 1;
	}
	for (i = 0; i < nr; i++)
		n += format_one(format, &counts[i], out + n);
	return n;
}

/* Most groups are this small; larger ones get memory for their largest size. */
#define COUNTS_FEW	8
#define WORDS(n)	(3 + 3 * (n))

/* As event_read(); -E2BIG, without explanation, if the group has more than @max. */
static ssize_t read_into(struct event_file *ef, struct pmuctl_counts *counts,
			 unsigned int max, u64 *out, char __user *buf,
			 size_t size, struct pmuctl_explanation *why)
{
	u64 format = ef->event->read_format;
	unsigned int nr;
	size_t need;

	nr = pmuctl_event_read(ef->event, format, counts, max);
	if (!nr)
		return 0; /* in error, which is said by the end of the file */
	if (nr > max)
		return -E2BIG;
	need = format_counts(format, counts, nr, out) * sizeof(*out);
	if (size < need)
		return pmuctl_refuse(why, BUFFER_TOO_SMALL, "", need, size);
	if (copy_to_user(buf, out, need))
		return pmuctl_refuse(why, BAD_POINTER, "");
	return need;
}

static ssize_t read_large(struct event_file *ef, char __user *buf, size_t size,
			  struct pmuctl_explanation *why)
{
	struct large {
		struct pmuctl_counts counts[COUNTS_MAX];
		u64 out[WORDS(COUNTS_MAX)];
	} *large;
	ssize_t ret;

	large = kmalloc(sizeof(*large), GFP_KERNEL);
	if (!large)
		return pmuctl_refuse(why, NO_MEMORY, "");
	ret = read_into(ef, large->counts, COUNTS_MAX, large->out, buf, size, why);
	kfree(large);
	return ret;
}

/* Apart from event_read(): kernels are built to clear a function's variables first. */
static noinline ssize_t read_any(struct event_file *ef, char __user *buf,
				 size_t size)
{
	struct pmuctl_counts few[COUNTS_FEW];
	struct pmuctl_explanation why;
	u64 out[WORDS(COUNTS_FEW)];
	ssize_t ret;

	ret = read_into(ef, few, COUNTS_FEW, out, buf, size, &why);
	if (ret == -E2BIG)
		ret = read_large(ef, buf, size, &why);
	if (ret < 0)
		pmuctl_last_set(&ef->last, -ret, &why);
	return ret;
}

/* Returns true if the user has all of them. */
static bool put_words(u64 __user *to, const u64 *words, unsigned int n)
{
	unsigned int i;

	if (!user_write_access_begin(to, n * sizeof(*words)))
		return false;
	for (i = 0; i < n; i++)
		unsafe_put_user(words[i], to + i, fault);
	user_write_access_end();
	return true;

fault:
	user_write_access_end();
	return false;
}

static ssize_t event_read(struct file *file, char __user *buf, size_t size,
			  loff_t *pos)
{
	u64 words[WORDS(COUNTS_FEW)] pmuctl_uninitialized;
	struct event_file *ef = file->private_data;
	unsigned int n;

	n = pmuctl_event_read_here(ef->event, words, ARRAY_SIZE(words));
	if (n && n * sizeof(*words) <= size &&
	    put_words((u64 __user *)buf, words, n))
		return n * sizeof(*words);
	return read_any(ef, buf, size);
}

static __poll_t event_poll(struct file *file, poll_table *wait)
{
	struct event_file *ef = file->private_data;
	struct pmuctl_context *ctx = ef->event->context;
	struct pmuctl_output *output = READ_ONCE(ef->event->output);
	__poll_t ready = 0;

	if (ef->process) {
		poll_wait(file, &ef->process->wait, wait);
		if (pmuctl_process_has_ended(ef->process))
			ready |= EPOLLHUP;
	} else if (ctx) { /* else of all CPUs: they never end */
		poll_wait(file, &ctx->gone_wait, wait);
		/* event_poll:A, as who wakes looks if anybody waits: wq_has_sleeper(). */
		smp_mb();
		if (READ_ONCE(ctx->gone) || READ_ONCE(ef->event->ended))
			ready |= EPOLLHUP;
	}
	if (output) {
		poll_wait(file, &output->wait, wait);
		if (pmuctl_output_poll(output))
			ready |= EPOLLIN;
	}
	return ready;
}

/* SIGIO, or what F_SETSIG asks for, when there is something to read or a limit reached */
static int event_fasync(int fd, struct file *file, int on)
{
	struct event_file *ef = file->private_data;
	struct pmuctl_output *output = pmuctl_event_get_output(ef->event);

	return output ? fasync_helper(fd, file, on, &output->fasync) : -ENOMEM;
}

static int event_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct event_file *ef = file->private_data;
	struct pmuctl_explanation why;
	int err;

	err = pmuctl_event_fd_mmap(ef->event, vma, &why);
	if (err)
		pmuctl_last_set(&ef->last, -err, &why);
	return err;
}

static int event_release(struct inode *inode, struct file *file)
{
	struct event_file *ef = file->private_data;

	pmuctl_opener_del(ef);
	pmuctl_event_free(ef->event);
	pmuctl_opener_put(ef->opener);
	pmuctl_process_put(ef->process);
	pmuctl_quota_put(ef->quota);
	kfree(ef);
	return 0;
}

static const struct file_operations event_fops;

struct pmuctl_event *pmuctl_event_fd_get(int fd, struct file **file)
{
	struct event_file *ef;

	*file = fget(fd);
	if (!*file)
		return NULL;
	if ((*file)->f_op != &event_fops) {
		fput(*file);
		return NULL;
	}
	ef = (*file)->private_data;
	return ef->event;
}

static const struct file_operations event_fops = {
	.owner = THIS_MODULE,
	.release = event_release,
	.read = event_read,
	.poll = event_poll,
	.mmap = event_mmap,
	.fasync = event_fasync,
	.unlocked_ioctl = pmuctl_event_fd_ioctl,
	.compat_ioctl = pmuctl_event_fd_compat_ioctl,
};

static bool is_of_process(const struct pmuctl_open *open)
{
	return open->flags & PMUCTL_OPEN_PROCESS;
}

/* Find out whom an event counts: a task with a reference, or NULL for all of its CPU. */
static int find_target(const struct pmuctl_open *open, struct task_struct **task,
		       struct pmuctl_explanation *why)
{
	int pid = open->pid, cpu = open->cpu;
	struct pid *id;

	*task = NULL;
	if (cpu < -1 || cpu >= (int)nr_cpu_ids ||
	    (cpu >= 0 && !cpu_possible(cpu)))
		return pmuctl_refuse(why, CPU_INVALID, "cpu", cpu,
				     nr_cpu_ids - 1);
	if (pid < -1)
		return pmuctl_refuse(why, PID_INVALID, "pid", pid);
	if (pid == -1 && is_of_process(open))
		return pmuctl_refuse(why, PROCESS_PID, "pid", pid);
	if (pid == -1)
		return 0;
	if (!pid) {
		*task = get_task_struct(current);
		return 0;
	}
	id = find_get_pid(pid);
	*task = id ? get_pid_task(id, PIDTYPE_PID) : NULL;
	put_pid(id);
	if (!*task)
		return pmuctl_refuse(why, NO_SUCH_TASK, "pid", pid);
	return 0;
}

/* May the caller open it, for each thread if it is of a process? These can differ. */
static int may_open(const struct perf_event_attr *attr, struct task_struct *task,
		    const struct pmuctl_open *open,
		    struct pmuctl_explanation *why)
{
	struct pmuctl_threads *threads;
	unsigned int i;
	int err;

	err = pmuctl_may_open(attr, task, open->pid, why);
	if (err || !is_of_process(open) || perfmon_capable())
		return err;
	threads = pmuctl_threads_get(task);
	if (!threads)
		return pmuctl_refuse(why, NO_MEMORY, "");
	for (i = 0; i < threads->n && !err; i++) {
		err = pmuctl_may_open(attr, threads->task[i], open->pid, why);
		if (err == -ESRCH)
			err = 0; /* it has ended meanwhile */
	}
	pmuctl_threads_put(threads);
	return err;
}

/* An event that counts all that it is to, or an error pointer */
static struct pmuctl_event *
create_whole(const struct perf_event_attr *attr, struct pmuctl_tp *tp,
	     struct task_struct *task, const struct pmuctl_open *open, bool enable,
	     struct pmuctl_event *leader, struct pmuctl_explanation *why)
{
	unsigned int flags = enable ? PMUCTL_EVENT_ENABLED : 0;
	struct pmuctl_event *event;
	int err;

	if (perfmon_capable())
		flags |= PMUCTL_EVENT_CLAIMS;
	if (pmuctl_is_unlimited())
		flags |= PMUCTL_EVENT_UNLIMITED;
	event = pmuctl_event_create(task, open->cpu, attr, tp, flags, leader,
				    why);
	if (IS_ERR(event) || !event->inherit.root)
		return event;
	err = pmuctl_inherit_attach(event, is_of_process(open), why);
	if (err) {
		pmuctl_event_free(event);
		return ERR_PTR(err);
	}
	return event;
}

/* An open event that is allowed, or an error pointer */
static struct pmuctl_event *
create_allowed(const struct perf_event_attr *attr, struct pmuctl_tp *tp,
	       struct task_struct *task,
	       const struct pmuctl_open *open, struct pmuctl_event *leader,
	       struct pmuctl_explanation *why)
{
	bool foreign = task && !same_thread_group(task, current);
	struct pmuctl_event *event;
	int err;

	err = may_open(attr, task, open, why);
	if (err) {
		pmuctl_tp_free(tp);
		return ERR_PTR(err);
	}
	event = create_whole(attr, tp, task, open, !attr->disabled && !foreign,
			     leader, why);
	if (IS_ERR(event) || !foreign)
		return event;

	/* An exec may have come between; from now on it would end the event. */
	err = may_open(attr, task, open, why);
	if (err) {
		pmuctl_event_free(event);
		return ERR_PTR(err);
	}
	if (!attr->disabled)
		pmuctl_event_enable(event, false);
	return event;
}

/* Create it in the group that the caller asked for; the leader stays open meanwhile. */
static struct pmuctl_event *
create_in_group(const struct perf_event_attr *attr, struct pmuctl_tp *tp,
		struct task_struct *task, const struct pmuctl_open *open,
		struct pmuctl_explanation *why)
{
	struct pmuctl_event *event, *leader;
	struct file *file;
	int err;

	if (open->group_fd == -1 ||
	    (open->flags & (PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT)) ==
	    PERF_FLAG_FD_NO_GROUP)
		return create_allowed(attr, tp, task, open, NULL, why);

	leader = pmuctl_event_fd_get(open->group_fd, &file);
	if (!leader) {
		pmuctl_tp_free(tp);
		return ERR_PTR(pmuctl_refuse(why, GROUP_FD, "group_fd",
					     open->group_fd));
	}
	event = create_allowed(attr, tp, task, open,
			       open->flags & PERF_FLAG_FD_NO_GROUP ? NULL : leader,
			       why);
	if (!IS_ERR(event) && (open->flags & PERF_FLAG_FD_OUTPUT)) {
		err = pmuctl_event_set_output(event, leader, why);
		if (err) {
			pmuctl_event_free(event);
			event = ERR_PTR(err);
		}
	}
	fput(file);
	return event;
}

/* Of a process any thread that lives is as good as the one that was named. */
static struct task_struct *choose_thread(struct task_struct *task)
{
	struct task_struct *alive = pmuctl_thread_get_alive(task);

	put_task_struct(task);
	return alive;
}

static int refuse_file(int err, struct pmuctl_explanation *why)
{
	switch (err) {
	case -EMFILE:
		return pmuctl_refuse(why, NO_FD, "");
	case -ENFILE:
		return pmuctl_refuse(why, NO_FILE, "");
	default:
		return pmuctl_refuse(why, NO_MEMORY, "");
	}
}

/* Give an event its descriptor; the event is the descriptor's then, or freed. */
static int install(struct pmuctl_event *event, struct pmuctl_quota *quota, bool cloexec,
		   struct pmuctl_explanation *why)
{
	int flags = O_RDWR | (cloexec ? O_CLOEXEC : 0);
	struct event_file *ef;
	struct file *file;
	int fd, err;

	ef = kzalloc(sizeof(*ef), GFP_KERNEL_ACCOUNT);
	if (!ef) {
		err = -ENOMEM;
		goto err_free_event;
	}
	ef->event = event;
	pmuctl_last_init(&ef->last);
	ef->opener = pmuctl_opener_get(true);
	if (!ef->opener) {
		err = -ENOMEM;
		goto err_free_file;
	}
	if (event->inherit.process)
		ef->process = pmuctl_process_get(event->context->task);
	if (IS_ERR(ef->process)) {
		err = PTR_ERR(ef->process);
		goto err_put_opener;
	}

	fd = get_unused_fd_flags(flags);
	if (fd < 0) {
		err = fd;
		goto err_put_process;
	}
	file = anon_inode_getfile("[pmuctl_event]", &event_fops, ef, flags);
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		goto err_put_fd;
	}

	/* Nothing can fail any more. */
	ef->quota = quota;
	pmuctl_opener_add(ef);
	fd_install(fd, file);
	return fd;

err_put_fd:
	put_unused_fd(fd);
err_put_process:
	pmuctl_process_put(ef->process);
err_put_opener:
	pmuctl_opener_put(ef->opener);
err_free_file:
	kfree(ef);
err_free_event:
	pmuctl_event_free(event);
	return refuse_file(err, why);
}

/* @quota: the descriptor's, if there comes one of it */
static int open_counted(const struct perf_event_attr *attr, const char *name,
			const struct pmuctl_open *open, struct pmuctl_quota *quota,
			struct pmuctl_explanation *why)
{
	struct pmuctl_tp *tp = NULL;
	struct pmuctl_event *event;
	struct task_struct *task;
	int err;

	if (is_of_process(open) && !attr->inherit)
		return pmuctl_refuse(why, PROCESS_INHERIT, "attr.inherit");
	err = find_target(open, &task, why);
	if (err)
		return err;
	if (is_of_process(open))
		task = choose_thread(task);
	if (name)
		tp = pmuctl_tp_alloc(name, why);
	event = IS_ERR(tp) ? ERR_CAST(tp) :
		create_in_group(attr, tp, task, open, why);
	if (task)
		put_task_struct(task);
	if (IS_ERR(event))
		return PTR_ERR(event);
	return install(event, quota, open->flags & PERF_FLAG_FD_CLOEXEC, why);
}

int pmuctl_event_fd_open(const struct perf_event_attr *attr, const char *name,
			 const struct pmuctl_open *open,
			 struct pmuctl_explanation *why)
{
	struct pmuctl_quota *quota = pmuctl_quota_get(why);
	int fd;

	if (IS_ERR(quota))
		return PTR_ERR(quota);
	fd = open_counted(attr, name, open, quota, why);
	if (fd < 0)
		pmuctl_quota_put(quota);
	return fd;
}
