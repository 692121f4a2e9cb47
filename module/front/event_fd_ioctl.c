// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of event file descriptors: perf's own, with their numbers and arguments of
 * perf_event_open(2), and those of <linux/pmuctl.h>. Process context only.
 */
#include <linux/compat.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "aux/aux.h"
#include "compat/uninitialized.h"
#include "event/change.h"
#include "event/create.h"
#include "event/read.h"
#include "front/event_fd.h"
#include "front/ioctl.h"
#include "sample/buffer.h"
#include "sample/output.h"
#include "sample/sampling.h"
#include "soft/tracepoint.h"

/* Most ids of programs that perf is asked for at once (BPF_TRACE_MAX_PROGS) */
#define PMUCTL_BPF_IDS_MAX	64

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

/* Of its structure only nr goes back, and also if that tells how much room is needed. */
static long ioctl_read_cpus(struct pmuctl_ioctl_call *call)
{
	struct pmuctl_read_cpus *args = &call->args.read_cpus;
	struct pmuctl_read_cpus __user *user = (void __user *)call->arg;
	long ret;

	if (args->entry_size != sizeof(struct pmuctl_cpu_count))
		return pmuctl_refuse(&call->why, ENTRY_SIZE, "entry_size",
				     args->entry_size,
				     sizeof(struct pmuctl_cpu_count));
	if (!pmuctl_event_is_of_cpus(call->event))
		return pmuctl_refuse(&call->why, NOT_BY_CPU, "");
	ret = copy_cpus(call->event, args, &call->why);
	if ((!ret || ret == -ENOSPC) && put_user(args->nr, &user->nr))
		return pmuctl_refuse(&call->why, BAD_POINTER, "nr");
	return ret;
}

int pmuctl_event_set_output(struct pmuctl_event *event, struct pmuctl_event *to,
			    struct pmuctl_explanation *why)
{
	struct pmuctl_output *output = pmuctl_event_get_output(event);
	struct pmuctl_output *target = to ? READ_ONCE(to->output) : NULL;

	if (!output)
		return pmuctl_refuse(why, NO_MEMORY, "");
	if (to == event)
		return pmuctl_refuse(why, OUTPUT_ITSELF, "");
	if (to && !target)
		return pmuctl_refuse(why, OUTPUT_NO_BUFFER, "");
	return pmuctl_output_redirect(output, target, why);
}

static long ioctl_set_output(struct pmuctl_ioctl_call *call)
{
	const int fd = call->arg;
	struct pmuctl_event *to;
	struct file *file;
	long ret;

	if (fd == -1)
		return pmuctl_event_set_output(call->event, NULL, &call->why);
	to = pmuctl_event_fd_get(fd, &file);
	if (!to)
		return pmuctl_refuse(&call->why, OUTPUT_FD, "", fd);
	ret = pmuctl_event_set_output(call->event, to, &call->why);
	fput(file);
	return ret;
}

static long ioctl_pause_output(struct pmuctl_ioctl_call *call)
{
	struct pmuctl_output *output = READ_ONCE(call->event->output);

	if (!output)
		return pmuctl_refuse(&call->why, NO_BUFFER, "");
	return pmuctl_output_pause(output, call->arg, &call->why);
}

static long ioctl_refresh(struct pmuctl_ioctl_call *call)
{
	return pmuctl_event_refresh(call->event, call->arg, &call->why);
}

/* @text: of FILTER_TEXT_MAX characters */
static long set_filter(struct pmuctl_ioctl_call *call, char *text)
{
	struct pmuctl_event *event = call->event;
	long length;

	length = strncpy_from_user(text, (const char __user *)call->arg, FILTER_TEXT_MAX);
	if (length < 0)
		return pmuctl_refuse(&call->why, BAD_POINTER, "");
	if (length == FILTER_TEXT_MAX)
		return pmuctl_refuse(&call->why, FILTER_LONG, "filter",
				     FILTER_TEXT_MAX - 1);
	if (event->aux)
		return pmuctl_event_set_filter(event, text, &call->why);
	if (!event->sw.tp)
		return pmuctl_refuse(&call->why, FILTER_UNUSED, "");
	return pmuctl_tp_set_filter(event->sw.tp, event->quota, text, pmuctl_may_see_raw(),
				    &call->why);
}

static long ioctl_set_filter(struct pmuctl_ioctl_call *call)
{
	char *text;
	long ret;

	text = kmalloc(FILTER_TEXT_MAX, GFP_KERNEL_ACCOUNT);
	if (!text)
		return pmuctl_refuse(&call->why, NO_MEMORY, "");
	ret = set_filter(call, text);
	kfree(text);
	return ret;
}

static long ioctl_aux_status(struct pmuctl_ioctl_call *call)
{
	if (!call->event->aux)
		return pmuctl_refuse(&call->why, AUX_STATUS, "");
	pmuctl_aux_status(call->event, &call->args.aux_status);
	return 0;
}

static long refuse_modify(struct pmuctl_ioctl_call *call)
{
	const struct perf_event_attr __user *attr = (void __user *)call->arg;
	u32 __maybe_unused size;

	if (get_user(size, &attr->size))
		return pmuctl_refuse(&call->why, BAD_POINTER, "");
	return pmuctl_refuse(&call->why, NOT_MODIFIED, "");
}

static long refuse_set_bpf(struct pmuctl_ioctl_call *call)
{
	struct file *file = fget(call->arg);

	if (!file)
		return pmuctl_refuse(&call->why, BPF_FD, "", (int)call->arg);
	fput(file);
	return pmuctl_refuse(&call->why, IOCTL_UNSUPPORTED, "", "PERF_EVENT_IOC_SET_BPF");
}

/* As perf answers for a tracepoint that has no programs: of ours none ever has. */
static long ioctl_query_bpf(struct pmuctl_ioctl_call *call)
{
	struct perf_event_query_bpf __user *query = (void __user *)call->arg;
	u32 room;

	if (!perfmon_capable())
		return pmuctl_refuse(&call->why, PERM_BPF, "");
	if (!call->event->sw.tp)
		return pmuctl_refuse(&call->why, IOCTL_UNSUPPORTED, "",
				     "PERF_EVENT_IOC_QUERY_BPF of events other than tracepoints");
	if (get_user(room, &query->ids_len))
		return pmuctl_refuse(&call->why, BAD_POINTER, "");
	if (room > PMUCTL_BPF_IDS_MAX)
		return pmuctl_refuse(&call->why, BPF_IDS, "ids_len", room, PMUCTL_BPF_IDS_MAX);
	if (put_user(0, &query->prog_cnt) || clear_user(query->ids, room * sizeof(query->ids[0])))
		return pmuctl_refuse(&call->why, BAD_POINTER, "");
	return 0;
}

/* All but those of pmuctl_event_fd_ioctl() */
static const struct pmuctl_ioctl ioctls[] = {
	PMUCTL_IOCTL(PERF_EVENT_IOC_REFRESH, ioctl_refresh),
	PMUCTL_IOCTL(PERF_EVENT_IOC_SET_OUTPUT, ioctl_set_output),
	PMUCTL_IOCTL(PERF_EVENT_IOC_PAUSE_OUTPUT, ioctl_pause_output),
	PMUCTL_IOCTL(PERF_EVENT_IOC_SET_FILTER, ioctl_set_filter),
	PMUCTL_IOCTL(PERF_EVENT_IOC_MODIFY_ATTRIBUTES, refuse_modify),
	PMUCTL_IOCTL(PERF_EVENT_IOC_SET_BPF, refuse_set_bpf),
	PMUCTL_IOCTL(PERF_EVENT_IOC_QUERY_BPF, ioctl_query_bpf),
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_READ_CPUS, read_cpus, sizeof(struct pmuctl_read_cpus),
			  PMUCTL_IOCTL_NO_FLAGS, ioctl_read_cpus),
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_AUX_STATUS, aux_status, sizeof(struct pmuctl_aux_status),
			  PMUCTL_IOCTL_NO_FLAGS | PMUCTL_IOCTL_FILLS, ioctl_aux_status),
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_EXPLAIN, explanation, sizeof(struct pmuctl_explanation),
			  PMUCTL_IOCTL_FILLS, pmuctl_ioctl_explain),
	{ }
};

static noinline long set_period(struct event_file *ef, u64 __user *arg)
{
	struct pmuctl_explanation why pmuctl_uninitialized;
	u64 value;
	int err;

	why.error = 0;
	err = get_user(value, arg) ? pmuctl_refuse(&why, BAD_POINTER, "") :
		pmuctl_event_set_period(ef->event, value, &why);
	if (err)
		pmuctl_last_set(&ef->last, -err, &why);
	return err;
}

static noinline long refuse_pointer(struct event_file *ef)
{
	struct pmuctl_explanation why;
	int err = pmuctl_refuse(&why, BAD_POINTER, "");

	pmuctl_last_set(&ef->last, -err, &why);
	return err;
}

/*
 * Those that programs call all the time, around what they measure, come before the table: a
 * search and an indirect call, which is dear where branches are guarded (retpolines), would be a
 * good part of what ENABLE takes. Of their arguments, which may be PERF_IOC_FLAG_GROUP, other bits
 * are ignored, as perf does: many programs give no argument, so that anything comes.
 */
long pmuctl_event_fd_ioctl(struct file *file, unsigned int number,
			   unsigned long arg)
{
	struct event_file *ef = file->private_data;

	switch (number) {
	case PERF_EVENT_IOC_ENABLE:
		pmuctl_event_enable(ef->event, arg & PERF_IOC_FLAG_GROUP);
		return 0;
	case PERF_EVENT_IOC_DISABLE:
		pmuctl_event_disable(ef->event, arg & PERF_IOC_FLAG_GROUP);
		return 0;
	case PERF_EVENT_IOC_RESET:
		pmuctl_event_reset(ef->event, arg & PERF_IOC_FLAG_GROUP);
		return 0;
	case PERF_EVENT_IOC_ID:
		return put_user(ef->event->id, (u64 __user *)arg) ? refuse_pointer(ef) : 0;
	case PERF_EVENT_IOC_PERIOD:
		return set_period(ef, (u64 __user *)arg);
	default:
		return pmuctl_ioctl(ioctls, ef->event, &ef->last, number, arg);
	}
}

#ifdef CONFIG_COMPAT
/* Numbers that contain the size of a pointer differ between 32 and 64 bits. */
long pmuctl_event_fd_compat_ioctl(struct file *file, unsigned int number,
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
	return pmuctl_event_fd_ioctl(file, number, (unsigned long)compat_ptr(arg));
}
#endif
