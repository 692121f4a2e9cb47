// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ioctls of event file descriptors: perf's own, with their numbers and arguments of
 * perf_event_open(2), and those of <linux/pmuctl.h>. Process context only.
 */
#include <linux/compat.h>
#include <linux/cpumask.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/uaccess.h>

#include "aux/aux.h"
#include "compat/uninitialized.h"
#include "front/event_fd.h"
#include "sample/buffer.h"
#include "sample/output.h"
#include "sample/sampling.h"
#include "soft/tracepoint.h"

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

	ret = pmuctl_copy_question(&args, sizeof(args), arg, &size, why);
	if (ret)
		return ret;
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

static long ioctl_set_output(struct pmuctl_event *event, int fd,
			     struct pmuctl_explanation *why)
{
	struct pmuctl_event *to;
	struct file *file;
	long ret;

	if (fd == -1)
		return pmuctl_event_set_output(event, NULL, why);
	to = pmuctl_event_fd_get(fd, &file);
	if (!to)
		return pmuctl_refuse(why, OUTPUT_FD, "", fd);
	ret = pmuctl_event_set_output(event, to, why);
	fput(file);
	return ret;
}

static long ioctl_pause_output(struct pmuctl_event *event, bool pause,
			       struct pmuctl_explanation *why)
{
	struct pmuctl_output *output = READ_ONCE(event->output);

	if (!output)
		return pmuctl_refuse(why, NO_BUFFER, "");
	return pmuctl_output_pause(output, pause, why);
}

static long ioctl_period(struct pmuctl_event *event, u64 __user *arg,
			 struct pmuctl_explanation *why)
{
	u64 value;

	if (get_user(value, arg))
		return pmuctl_refuse(why, BAD_POINTER, "");
	return pmuctl_event_set_period(event, value, why);
}

static long ioctl_set_filter(struct pmuctl_event *event, const char __user *arg,
			     struct pmuctl_explanation *why)
{
	struct pmuctl_tp *tp = event->sw.tp;
	char text[FILTER_TEXT_MAX];
	long length;

	if (!tp && !event->aux)
		return pmuctl_refuse(why, FILTER_UNUSED, "");
	length = strncpy_from_user(text, arg, sizeof(text));
	if (length < 0)
		return pmuctl_refuse(why, BAD_POINTER, "");
	if (length == sizeof(text))
		return pmuctl_refuse(why, FILTER_LONG, "filter",
				     FILTER_TEXT_MAX - 1);
	if (event->aux)
		return pmuctl_aux_set_filter(event, text, why);
	return pmuctl_tp_set_filter(tp, text, pmuctl_may_see_raw(), why);
}

static long ioctl_aux_status(struct pmuctl_event *event, void __user *arg,
			     struct pmuctl_explanation *why)
{
	struct pmuctl_aux_status status;
	u32 size;
	int err;

	err = pmuctl_copy_question(&status, sizeof(status), arg, &size, why);
	if (err)
		return err;
	if (!event->aux)
		return pmuctl_refuse(why, AUX_STATUS, "");
	pmuctl_aux_status(event, &status);
	return pmuctl_copy_back(arg, size, &status, sizeof(status), why);
}

static long unsupported(unsigned int number, struct pmuctl_explanation *why)
{
	static const struct {
		unsigned int number;
		const char *name;
	} known[] = {
		{ PERF_EVENT_IOC_SET_BPF, "PERF_EVENT_IOC_SET_BPF" },
		{ PERF_EVENT_IOC_QUERY_BPF, "PERF_EVENT_IOC_QUERY_BPF" },
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
	case PERF_EVENT_IOC_REFRESH:
		return pmuctl_event_refresh(ef->event, arg, why);
	case PERF_EVENT_IOC_PERIOD:
		return ioctl_period(ef->event, (u64 __user *)arg, why);
	case PERF_EVENT_IOC_SET_FILTER:
		return ioctl_set_filter(ef->event, (const char __user *)arg, why);
	case PERF_EVENT_IOC_SET_OUTPUT:
		return ioctl_set_output(ef->event, arg, why);
	case PERF_EVENT_IOC_PAUSE_OUTPUT:
		return ioctl_pause_output(ef->event, arg, why);
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
		return pmuctl_refuse(why, NOT_MODIFIED, "");
	case PMUCTL_IOC_READ_CPUS:
		return ioctl_read_cpus(ef->event, (void __user *)arg, why);
	case PMUCTL_IOC_AUX_STATUS:
		return ioctl_aux_status(ef->event, (void __user *)arg, why);
	case PMUCTL_IOC_EXPLAIN:
		return pmuctl_last_fetch(&ef->last, (void __user *)arg, why);
	default:
		return unsupported(number, why);
	}
}

long pmuctl_event_fd_ioctl(struct file *file, unsigned int number,
			   unsigned long arg)
{
	struct event_file *ef = file->private_data;
	struct pmuctl_explanation why pmuctl_uninitialized;
	long ret;

	why.error = 0;
	ret = do_ioctl(ef, number, arg, &why);
	if (ret < 0)
		pmuctl_last_set(&ef->last, -ret, &why);
	return ret;
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
