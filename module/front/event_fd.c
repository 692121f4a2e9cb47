// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event file descriptors: an event as a file that speaks the language of
 * perf_event_open(2)'s, so that programs written for those need not know the difference.
 * They are made in event_open.c.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat/uninitialized.h"
#include "core/threads.h"
#include "event/create.h"
#include "event/read.h"
#include "front/event_fd.h"
#include "sample/buffer.h"
#include "sample/output.h"
#include "sample/wake.h"

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

/* Most groups are this small; larger ones get memory for as many as they have. */
#define COUNTS_FEW	8
#define WORDS(n)	(3 + 3 * (n))

/* As event_read(); -E2BIG, without explanation, if the group has more: @max becomes that. */
static ssize_t read_into(struct event_file *ef, struct pmuctl_counts *counts,
			 unsigned int *max, u64 *out, char __user *buf,
			 size_t size, struct pmuctl_explanation *why)
{
	u64 format = ef->event->read_format;
	unsigned int nr;
	size_t need;

	nr = pmuctl_event_read(ef->event, format, counts, *max);
	if (!nr)
		return 0; /* in error, which is said by the end of the file */
	if (nr > *max) {
		*max = nr;
		return -E2BIG;
	}
	need = format_counts(format, counts, nr, out) * sizeof(*out);
	if (size < need)
		return pmuctl_refuse(why, BUFFER_TOO_SMALL, "", need, size);
	if (copy_to_user(buf, out, need))
		return pmuctl_refuse(why, BAD_POINTER, "");
	return need;
}

/* As read_into(), with memory for @max. A user may make each of many reads last. */
static ssize_t read_large(struct event_file *ef, unsigned int *max, char __user *buf, size_t size,
			  struct pmuctl_explanation *why)
{
	struct pmuctl_counts *counts = kvmalloc_array(*max, sizeof(*counts), GFP_KERNEL_ACCOUNT);
	u64 *out = kvmalloc_array(WORDS(*max), sizeof(*out), GFP_KERNEL_ACCOUNT);
	ssize_t ret;

	if (counts && out)
		ret = read_into(ef, counts, max, out, buf, size, why);
	else
		ret = pmuctl_refuse(why, NO_MEMORY, "");
	kvfree(out);
	kvfree(counts);
	return ret;
}

static noinline ssize_t read_any(struct event_file *ef, char __user *buf, size_t size,
				 struct pmuctl_explanation *why)
{
	struct pmuctl_counts few[COUNTS_FEW];
	u64 out[WORDS(COUNTS_FEW)];
	unsigned int max = COUNTS_FEW;
	ssize_t ret;

	ret = read_into(ef, few, &max, out, buf, size, why);
	/* It may have got more meanwhile. */
	while (ret == -E2BIG)
		ret = read_large(ef, &max, buf, size, why);
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

/* What can be read without a lock: its bytes; 0: read_any() is to be asked. */
static __always_inline ssize_t read_here(struct event_file *ef, char __user *buf, size_t size)
{
	u64 words[WORDS(COUNTS_FEW)] pmuctl_uninitialized;
	unsigned int n;

	n = pmuctl_event_read_here(ef->event, words, ARRAY_SIZE(words));
	if (n && n * sizeof(*words) <= size &&
	    put_words((u64 __user *)buf, words, n))
		return n * sizeof(*words);
	return 0;
}

ssize_t pmuctl_event_file_read(struct event_file *ef, char __user *buf, size_t size,
			       struct pmuctl_explanation *why)
{
	return read_here(ef, buf, size) ?: read_any(ef, buf, size, why);
}

/* Apart from event_read(): kernels are built to clear a function's variables first. */
static noinline ssize_t read_explained(struct event_file *ef, char __user *buf, size_t size)
{
	struct pmuctl_explanation why pmuctl_uninitialized;
	ssize_t ret;

	why.error = 0;
	ret = read_any(ef, buf, size, &why);
	if (ret < 0)
		pmuctl_last_set(&ef->last, -ret, &why);
	return ret;
}

static ssize_t event_read(struct file *file, char __user *buf, size_t size,
			  loff_t *pos)
{
	struct event_file *ef = file->private_data;

	return read_here(ef, buf, size) ?: read_explained(ef, buf, size);
}

/* Will there be nothing more of what it is attached to? All CPUs never end. */
static bool has_ended(const struct event_file *ef)
{
	const struct pmuctl_context *ctx = ef->event->context;

	if (ef->process)
		return pmuctl_process_has_ended(ef->process);
	return ctx && (READ_ONCE(ctx->gone) || READ_ONCE(ef->event->ended));
}

static __poll_t event_poll(struct file *file, poll_table *wait)
{
	struct event_file *ef = file->private_data;
	struct pmuctl_context *ctx = ef->event->context;
	/* There may be a buffer later, and epoll(7) asks here once. */
	struct pmuctl_output *output = pmuctl_event_get_output(ef->event);
	__poll_t ready = 0;

	if (ef->process)
		poll_wait(file, &ef->process->wait, wait);
	else if (ctx)
		poll_wait(file, &ctx->gone_wait, wait);
	/* event_poll:A, as who wakes looks if anybody waits: wq_has_sleeper(). */
	smp_mb();
	if (has_ended(ef))
		ready |= EPOLLHUP;
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

	if (!output || (on && pmuctl_output_may_signal(output)))
		return -ENOMEM;
	return fasync_helper(fd, file, on, &output->fasync);
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

void pmuctl_event_file_free(struct event_file *ef)
{
	if (!ef)
		return;
	pmuctl_process_put(ef->process);
	if (ef->opener)
		pmuctl_opener_put(ef->opener);
	pmuctl_event_free(ef->event);
	kfree(ef);
}

void pmuctl_event_file_put(struct event_file *ef)
{
	if (refcount_dec_and_test(&ef->refs))
		pmuctl_event_file_free(ef);
}

static int event_release(struct inode *inode, struct file *file)
{
	struct event_file *ef = file->private_data;

	pmuctl_opener_del(ef);
	pmuctl_event_file_put(ef);
	return 0;
}

struct pmuctl_event *pmuctl_event_fd_get(int fd, struct file **file)
{
	struct file *found = fget(fd);
	struct event_file *ef;

	if (!found)
		return NULL;
	if (found->f_op != &pmuctl_event_fops) {
		fput(found);
		return NULL;
	}
	*file = found;
	ef = found->private_data;
	return ef->event;
}

const struct file_operations pmuctl_event_fops = {
	.owner = THIS_MODULE,
	.release = event_release,
	.read = event_read,
	.poll = event_poll,
	.mmap = event_mmap,
	.fasync = event_fasync,
	.unlocked_ioctl = pmuctl_event_fd_ioctl,
	.compat_ioctl = pmuctl_event_fd_compat_ioctl,
};
