// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event file descriptors: an event as a file that speaks the language of
 * perf_event_open(2)'s, so that programs written for those need not know the difference.
 */
#include <linux/anon_inodes.h>
#include <linux/compat.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "front.h"

/**
 * struct event_file - what an event file descriptor is
 * @event: the event; constant.
 * @opener: the thread that opened it; constant, referenced.
 * @node: in event_files, which files_mutex protects.
 * @last: the last refusal of an ioctl or read on it.
 */
struct event_file {
	struct pmuctl_event *event;
	struct pid *opener;
	struct list_head node;
	struct pmuctl_last last;
};

/* All of them; the mutex is outside of every lock of the core. */
static DEFINE_MUTEX(files_mutex);
static LIST_HEAD(event_files);

void pmuctl_event_fd_switch_own(bool enable)
{
	struct event_file *ef;

	mutex_lock(&files_mutex);
	list_for_each_entry(ef, &event_files, node) {
		if (ef->opener != task_pid(current))
			continue;
		if (enable)
			pmuctl_event_enable(ef->event, false);
		else
			pmuctl_event_disable(ef->event, false);
	}
	mutex_unlock(&files_mutex);
}

/* No group is larger: its events are on the PMU at once. */
#define COUNTS_MAX	HWPMU_MAX_COUNTERS

static unsigned int format_one(u64 format, const struct pmuctl_counts *counts,
			       u64 *out)
{
	unsigned int n = 0;

	out[n++] = counts->value;
	if (format & PERF_FORMAT_ID)
		out[n++] = counts->id;
	if (format & PERF_FORMAT_LOST)
		out[n++] = 0; /* nothing is sampled, so nothing is lost */
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
		pmuctl_last_set(&ef->last, &why);
	return ret;
}

static ssize_t event_read(struct file *file, char __user *buf, size_t size,
			  loff_t *pos)
{
	struct event_file *ef = file->private_data;
	struct pmuctl_counts counts;

	if (!ef->event->read_format && size >= sizeof(u64) &&
	    pmuctl_event_read(ef->event, 0, &counts, 1) &&
	    !put_user(counts.value, (u64 __user *)buf))
		return sizeof(u64);
	return read_any(ef, buf, size);
}

static __poll_t event_poll(struct file *file, poll_table *wait)
{
	struct event_file *ef = file->private_data;
	struct pmuctl_context *ctx = ef->event->context;

	if (!ctx)
		return 0; /* of all CPUs: they never end */
	poll_wait(file, &ctx->gone_wait, wait);
	return READ_ONCE(ctx->gone) ? EPOLLHUP : 0;
}

static int event_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct event_file *ef = file->private_data;
	struct pmuctl_explanation why;
	int err;

	err = pmuctl_event_fd_mmap(ef->event, vma, &why);
	if (err)
		pmuctl_last_set(&ef->last, &why);
	return err;
}

/*
 * The argument may be PERF_IOC_FLAG_GROUP. Other bits are ignored, as perf does: many
 * programs give no argument, so that anything comes.
 */
static long ioctl_switch(struct pmuctl_event *event, unsigned int number,
			 unsigned long arg)
{
	bool group = arg & PERF_IOC_FLAG_GROUP;

	if (number == PERF_EVENT_IOC_ENABLE)
		pmuctl_event_enable(event, group);
	else if (number == PERF_EVENT_IOC_DISABLE)
		pmuctl_event_disable(event, group);
	else
		pmuctl_event_reset(event, group);
	return 0;
}

/* Copy the counts of its CPUs, as many as there is room for; nr becomes their number. */
static long copy_cpus(struct pmuctl_event *event, struct pmuctl_read_cpus *args,
		      struct pmuctl_explanation *why)
{
	struct pmuctl_cpu_count __user *out = u64_to_user_ptr(args->counts);
	const u32 room = args->nr;
	struct pmuctl_counts counts;
	int cpu;

	args->nr = 0;
	for_each_possible_cpu(cpu) {
		struct pmuctl_cpu_count count = { .cpu = cpu };

		if (!event->on_cpu && cpu != event->cpu)
			continue;
		if (args->nr++ >= room)
			continue;
		if (pmuctl_event_read_cpu(event, cpu, &counts)) {
			count.value = counts.value;
			count.time_enabled = counts.time_enabled;
			count.time_running = counts.time_running;
		}
		count.online = cpu_online(cpu);
		if (copy_to_user(out++, &count, sizeof(count)))
			return pmuctl_refuse(why, BAD_POINTER, "counts");
	}
	if (args->nr > room)
		return pmuctl_refuse(why, NR_TOO_SMALL, "nr", args->nr, room);
	return 0;
}

static long ioctl_read_cpus(struct pmuctl_event *event, void __user *arg,
			    struct pmuctl_explanation *why)
{
	struct pmuctl_read_cpus args;
	u32 __user *nr = arg + offsetof(struct pmuctl_read_cpus, nr);
	u32 size;
	long ret;

	ret = pmuctl_copy_versioned(&args, sizeof(args), sizeof(args), arg,
				    &size, why);
	if (ret)
		return ret;
	if (args.flags)
		return pmuctl_refuse(why, FLAGS_UNKNOWN, "flags", args.flags, 0);
	if (args.entry_size != sizeof(struct pmuctl_cpu_count))
		return pmuctl_refuse(why, ENTRY_SIZE, "entry_size",
				     args.entry_size,
				     sizeof(struct pmuctl_cpu_count));
	if (!pmuctl_event_is_of_cpus(event))
		return pmuctl_refuse(why, NOT_BY_CPU, "");
	ret = copy_cpus(event, &args, why);
	if ((!ret || ret == -ENOSPC) && put_user(args.nr, nr))
		return pmuctl_refuse(why, BAD_POINTER, "nr");
	return ret;
}

static long unsupported(unsigned int number, struct pmuctl_explanation *why)
{
	static const struct {
		unsigned int number;
		const char *name;
	} known[] = {
		{ PERF_EVENT_IOC_REFRESH, "PERF_EVENT_IOC_REFRESH" },
		{ PERF_EVENT_IOC_PERIOD, "PERF_EVENT_IOC_PERIOD" },
		{ PERF_EVENT_IOC_SET_OUTPUT, "PERF_EVENT_IOC_SET_OUTPUT" },
		{ PERF_EVENT_IOC_SET_FILTER, "PERF_EVENT_IOC_SET_FILTER" },
		{ PERF_EVENT_IOC_SET_BPF, "PERF_EVENT_IOC_SET_BPF" },
		{ PERF_EVENT_IOC_PAUSE_OUTPUT, "PERF_EVENT_IOC_PAUSE_OUTPUT" },
		{ PERF_EVENT_IOC_QUERY_BPF, "PERF_EVENT_IOC_QUERY_BPF" },
		{ PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
		  "PERF_EVENT_IOC_MODIFY_ATTRIBUTES" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].number == number)
			return pmuctl_refuse(why, IOCTL_UNSUPPORTED, "",
					     known[i].name);
	return pmuctl_refuse(why, IOCTL_UNKNOWN, "", number);
}

static long do_ioctl(struct event_file *ef, unsigned int number,
		     unsigned long arg, struct pmuctl_explanation *why)
{
	switch (number) {
	case PERF_EVENT_IOC_ENABLE:
	case PERF_EVENT_IOC_DISABLE:
	case PERF_EVENT_IOC_RESET:
		return ioctl_switch(ef->event, number, arg);
	case PERF_EVENT_IOC_ID:
		if (put_user(ef->event->id, (u64 __user *)arg))
			return pmuctl_refuse(why, BAD_POINTER, "");
		return 0;
	case PMUCTL_IOC_READ_CPUS:
		return ioctl_read_cpus(ef->event, (void __user *)arg, why);
	case PMUCTL_IOC_EXPLAIN:
		return pmuctl_last_fetch(&ef->last, (void __user *)arg, why);
	default:
		return unsupported(number, why);
	}
}

static long event_ioctl(struct file *file, unsigned int number,
			unsigned long arg)
{
	struct event_file *ef = file->private_data;
	struct pmuctl_explanation why;
	long ret;

	ret = do_ioctl(ef, number, arg, &why);
	if (ret < 0)
		pmuctl_last_set(&ef->last, &why);
	return ret;
}

#ifdef CONFIG_COMPAT
/* Numbers that contain the size of a pointer differ between 32 and 64 bits. */
static long event_compat_ioctl(struct file *file, unsigned int number,
			       unsigned long arg)
{
	static const unsigned int with_pointer[] = {
		PERF_EVENT_IOC_SET_FILTER,
		PERF_EVENT_IOC_ID,
		PERF_EVENT_IOC_QUERY_BPF,
		PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
	};
	const unsigned int longer = sizeof(void *) - sizeof(compat_uptr_t);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(with_pointer); i++)
		if (number + (longer << _IOC_SIZESHIFT) == with_pointer[i])
			number = with_pointer[i];
	return event_ioctl(file, number, (unsigned long)compat_ptr(arg));
}
#else
#define event_compat_ioctl	NULL
#endif

static int event_release(struct inode *inode, struct file *file)
{
	struct event_file *ef = file->private_data;

	mutex_lock(&files_mutex);
	list_del(&ef->node);
	mutex_unlock(&files_mutex);
	pmuctl_event_free(ef->event);
	put_pid(ef->opener);
	kfree(ef);
	return 0;
}

static const struct file_operations event_fops = {
	.owner = THIS_MODULE,
	.release = event_release,
	.read = event_read,
	.poll = event_poll,
	.mmap = event_mmap,
	.unlocked_ioctl = event_ioctl,
	.compat_ioctl = event_compat_ioctl,
};

/* Find out whom an event counts: a task with a reference, or NULL for all of @cpu. */
static int find_target(int pid, int cpu, struct task_struct **task,
		       struct pmuctl_explanation *why)
{
	struct pid *id;

	*task = NULL;
	if (cpu < -1 || cpu >= (int)nr_cpu_ids ||
	    (cpu >= 0 && !cpu_possible(cpu)))
		return pmuctl_refuse(why, CPU_INVALID, "cpu", cpu,
				     nr_cpu_ids - 1);
	if (pid < -1)
		return pmuctl_refuse(why, PID_INVALID, "pid", pid);
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

/* An open event that is allowed, or an error pointer */
static struct pmuctl_event *
create_allowed(const struct perf_event_attr *attr, struct task_struct *task,
	       const struct pmuctl_open *open, struct pmuctl_event *leader,
	       struct pmuctl_explanation *why)
{
	bool foreign = task && !same_thread_group(task, current);
	struct pmuctl_event *event;
	int err;

	err = pmuctl_may_open(attr, task, open->pid, why);
	if (err)
		return ERR_PTR(err);
	event = pmuctl_event_create(task, open->cpu, attr,
				    !attr->disabled && !foreign, leader, why);
	if (IS_ERR(event) || !foreign)
		return event;

	/* An exec may have come between; from now on it would end the event. */
	err = pmuctl_may_open(attr, task, open->pid, why);
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
create_in_group(const struct perf_event_attr *attr, struct task_struct *task,
		const struct pmuctl_open *open, struct pmuctl_explanation *why)
{
	struct pmuctl_event *event;
	struct event_file *leader;
	struct file *file;

	if (open->group_fd == -1 || (open->flags & PERF_FLAG_FD_NO_GROUP))
		return create_allowed(attr, task, open, NULL, why);

	file = fget(open->group_fd);
	if (!file || file->f_op != &event_fops) {
		event = ERR_PTR(pmuctl_refuse(why, GROUP_FD, "group_fd",
					      open->group_fd));
	} else {
		leader = file->private_data;
		event = create_allowed(attr, task, open, leader->event, why);
	}
	if (file)
		fput(file);
	return event;
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
static int install(struct pmuctl_event *event, bool cloexec,
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

	fd = get_unused_fd_flags(flags);
	if (fd < 0) {
		err = fd;
		goto err_free_file;
	}
	file = anon_inode_getfile("[pmuctl_event]", &event_fops, ef, flags);
	if (IS_ERR(file)) {
		err = PTR_ERR(file);
		goto err_put_fd;
	}

	/* Nothing can fail any more. */
	ef->opener = get_pid(task_pid(current));
	mutex_lock(&files_mutex);
	list_add_tail(&ef->node, &event_files);
	mutex_unlock(&files_mutex);
	fd_install(fd, file);
	return fd;

err_put_fd:
	put_unused_fd(fd);
err_free_file:
	kfree(ef);
err_free_event:
	pmuctl_event_free(event);
	return refuse_file(err, why);
}

int pmuctl_event_fd_open(const struct perf_event_attr *attr,
			 const struct pmuctl_open *open,
			 struct pmuctl_explanation *why)
{
	struct pmuctl_event *event;
	struct task_struct *task;
	int err;

	err = find_target(open->pid, open->cpu, &task, why);
	if (err)
		return err;
	event = create_in_group(attr, task, open, why);
	if (task)
		put_task_struct(task);
	if (IS_ERR(event))
		return PTR_ERR(event);
	return install(event, open->flags & PERF_FLAG_FD_CLOEXEC, why);
}
