// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of ioctls, the copying of their versioned structures, and the way of explanations to
 * user space. Process context.
 */
#include <linux/mm.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat/uninitialized.h"
#include "front/ioctl.h"

int pmuctl_copy_sized(void *dst, size_t known, const void __user *src, u32 size)
{
	return size > PAGE_SIZE ? -E2BIG : copy_struct_from_user(dst, known, src, size);
}

/* @size: is set to what the caller says. */
static int copy_args(const struct pmuctl_ioctl *ioctl, struct pmuctl_ioctl_call *call, u32 *size)
{
	const void __user *user = (const void __user *)call->arg;
	int err;

	if (get_user(*size, (const u32 __user *)user))
		return pmuctl_refuse(&call->why, BAD_POINTER, "");
	if (*size < ioctl->least)
		return pmuctl_refuse(&call->why, SIZE_TOO_SMALL, "size", *size,
				     ioctl->least);
	err = pmuctl_copy_sized(&call->args, ioctl->size, user, *size);
	if (err == -E2BIG)
		return pmuctl_refuse(&call->why, SIZE_TOO_BIG, "size", *size,
				     ioctl->size);
	if (err)
		return pmuctl_refuse(&call->why, BAD_POINTER, "");
	if (ioctl->flags & PMUCTL_IOCTL_NO_FLAGS && call->args.head.flags)
		return pmuctl_refuse(&call->why, FLAGS_UNKNOWN, "flags",
				     call->args.head.flags, 0);
	return 0;
}

static long call_ioctl(const struct pmuctl_ioctl *ioctl, struct pmuctl_ioctl_call *call)
{
	u32 size;
	long ret;

	if (!ioctl->size)
		return ioctl->func(call);
	ret = copy_args(ioctl, call, &size);
	if (ret)
		return ret;
	ret = ioctl->func(call);
	if (ret < 0 || !(ioctl->flags & PMUCTL_IOCTL_FILLS))
		return ret;
	/* Of a longer one the rest is zero already. */
	call->args.head.size = ioctl->size;
	if (copy_to_user((void __user *)call->arg, &call->args,
			 min_t(size_t, size, ioctl->size)))
		return pmuctl_refuse(&call->why, BAD_POINTER, "");
	return ret;
}

long pmuctl_ioctl(const struct pmuctl_ioctl *table, struct pmuctl_event *event,
		  struct pmuctl_last *last, unsigned int number, unsigned long arg)
{
	struct pmuctl_ioctl_call call pmuctl_uninitialized;
	const struct pmuctl_ioctl *ioctl;
	long ret;

	call.event = event;
	call.last = last;
	call.arg = arg;
	call.why.error = 0;
	for (ioctl = table; ioctl->func && ioctl->number != number; ioctl++)
		;
	ret = ioctl->func ? call_ioctl(ioctl, &call) :
		pmuctl_refuse(&call.why, IOCTL_UNKNOWN, "", number);
	if (ret < 0)
		pmuctl_last_set(last, -ret, &call.why);
	return ret;
}

/* ---- Explanations ---- */

void pmuctl_last_set(struct pmuctl_last *last, int error,
		     struct pmuctl_explanation *why)
{
	if (why->error != error) /* nobody has filled it */
		memset(why, 0, sizeof(*why));
	spin_lock(&last->lock);
	last->explanation = *why;
	spin_unlock(&last->lock);
}

long pmuctl_ioctl_explain(struct pmuctl_ioctl_call *call)
{
	spin_lock(&call->last->lock);
	call->args.explanation = call->last->explanation;
	spin_unlock(&call->last->lock);
	return 0;
}
