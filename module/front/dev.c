// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/pmuctl: its ioctls, the copying of their versioned structures, and the way of
 * explanations to user space.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "aux/aux.h"
#include "compat/uninitialized.h"
#include "front/front.h"

int pmuctl_copy_sized(void *dst, size_t known, const void __user *src, u32 size)
{
	return size > PAGE_SIZE ? -E2BIG : copy_struct_from_user(dst, known, src, size);
}

int pmuctl_copy_versioned(void *dst, size_t known, size_t least,
			  const void __user *src, u32 *size,
			  struct pmuctl_explanation *why)
{
	int err;

	if (get_user(*size, (const u32 __user *)src))
		return pmuctl_refuse(why, BAD_POINTER, "");
	if (*size < least)
		return pmuctl_refuse(why, SIZE_TOO_SMALL, "size", *size, least);
	err = pmuctl_copy_sized(dst, known, src, *size);
	if (err == -E2BIG)
		return pmuctl_refuse(why, SIZE_TOO_BIG, "size", *size, known);
	if (err)
		return pmuctl_refuse(why, BAD_POINTER, "");
	return 0;
}

int pmuctl_copy_question(void *dst, size_t known, const void __user *src, u32 *size,
			 struct pmuctl_explanation *why)
{
	const struct {
		u32 size;
		u32 flags;
	} *head = dst;
	int err = pmuctl_copy_versioned(dst, known, known, src, size, why);

	if (!err && head->flags)
		err = pmuctl_refuse(why, FLAGS_UNKNOWN, "flags", head->flags, 0);
	return err;
}

/* The reverse: as much as the user knows; what is beyond is already zero. */
int pmuctl_copy_back(void __user *dst, u32 size, const void *src, size_t known,
		     struct pmuctl_explanation *why)
{
	if (copy_to_user(dst, src, min_t(size_t, size, known)))
		return pmuctl_refuse(why, BAD_POINTER, "");
	return 0;
}

void pmuctl_last_set(struct pmuctl_last *last, int error,
		     struct pmuctl_explanation *why)
{
	if (why->error != error) /* nobody has filled it */
		memset(why, 0, sizeof(*why));
	spin_lock(&last->lock);
	last->explanation = *why;
	spin_unlock(&last->lock);
}

int pmuctl_last_fetch(struct pmuctl_last *last, void __user *arg,
		      struct pmuctl_explanation *why)
{
	struct pmuctl_explanation explanation;
	u32 size;
	int err;

	err = pmuctl_copy_versioned(&explanation, sizeof(explanation),
				    sizeof(explanation), arg, &size, why);
	if (err)
		return err;
	spin_lock(&last->lock);
	explanation = last->explanation;
	spin_unlock(&last->lock);
	explanation.size = sizeof(explanation);
	return pmuctl_copy_back(arg, size, &explanation, sizeof(explanation), why);
}

static void fill_pmu_info(struct pmuctl_info *info)
{
	struct hwpmu_caps caps;

	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	info->pmu_owner = hwpmu_owner(perfmon_capable());
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);

	info->hw_events = pmuctl_event_number();
	info->not_inherited = min_t(u64, pmuctl_inherit_missing(), U32_MAX);
	info->features = PMUCTL_FEATURE_TASK |
		PMUCTL_FEATURE_CPU | PMUCTL_FEATURE_ENABLE_ON_EXEC |
		PMUCTL_FEATURE_GROUPS | PMUCTL_FEATURE_ALL_CPUS |
		PMUCTL_FEATURE_SAMPLING | PMUCTL_FEATURE_SOFTWARE |
		PMUCTL_FEATURE_TRACEPOINT;
	if (hwpmu_reason()) {
		strscpy(info->pmu_reason, hwpmu_reason(),
			sizeof(info->pmu_reason));
		return;
	}
	if (pmuctl_aux_is_there())
		info->features |= PMUCTL_FEATURE_AUX;
	info->features |= PMUCTL_FEATURE_COUNTING |
		PMUCTL_FEATURE_MULTIPLEXING | PMUCTL_FEATURE_USER_READ;
	info->generic_events = hwpmu_caps_common(&caps);
	info->pmu_kind = caps.vendor == HWPMU_VENDOR_AMD ?
		PMUCTL_PMU_AMD : PMUCTL_PMU_INTEL;
	info->pmu_version = caps.version;
	info->nr_counters = caps.nr_general;
	info->nr_fixed = caps.nr_fixed;
	info->counter_width = caps.general_width;
	info->fixed_width = caps.fixed_width;
	strscpy(info->pmu_name, caps.name, sizeof(info->pmu_name));
}

static long ioctl_info(struct pmuctl_last *last, void __user *arg,
		       struct pmuctl_explanation *why)
{
	struct pmuctl_info info;
	u32 size;
	int err;

	err = pmuctl_copy_question(&info, sizeof(info), arg, &size, why);
	if (err)
		return err;

	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	info.abi_version = PMUCTL_ABI_VERSION;
	info.attr_size = PMUCTL_ATTR_SIZE;
	info.paranoid = pmuctl_paranoid();
	strscpy(info.module_version, PMUCTL_VERSION,
		sizeof(info.module_version));
	fill_pmu_info(&info);
	return pmuctl_copy_back(arg, size, &info, sizeof(info), why);
}

static long ioctl_open(struct pmuctl_last *last, void __user *arg,
		       struct pmuctl_explanation *why)
{
	struct pmuctl_open open pmuctl_uninitialized;
	u32 size;
	int err;

	err = pmuctl_copy_versioned(&open, sizeof(open), PMUCTL_OPEN_SIZE_VER0,
				    arg, &size, why);
	if (err)
		return err;
	return pmuctl_event_open(&open, why);
}

static long ioctl_explain(struct pmuctl_last *last, void __user *arg,
			  struct pmuctl_explanation *why)
{
	return pmuctl_last_fetch(last, arg, why);
}

static long ioctl_task_enable(struct pmuctl_last *last, void __user *arg,
			      struct pmuctl_explanation *why)
{
	pmuctl_event_fd_switch_own(true);
	return 0;
}

static long ioctl_task_disable(struct pmuctl_last *last, void __user *arg,
			       struct pmuctl_explanation *why)
{
	pmuctl_event_fd_switch_own(false);
	return 0;
}

static const struct {
	unsigned int number;
	long (*func)(struct pmuctl_last *last, void __user *arg,
		     struct pmuctl_explanation *why);
} ioctls[] = {
	{ PMUCTL_IOC_INFO, ioctl_info },
	{ PMUCTL_IOC_OPEN, ioctl_open },
	{ PMUCTL_IOC_EXPLAIN, ioctl_explain },
	{ PMUCTL_IOC_TASK_ENABLE, ioctl_task_enable },
	{ PMUCTL_IOC_TASK_DISABLE, ioctl_task_disable },
	{ PMUCTL_IOC_DRIVER, pmuctl_ioctl_driver },
};

static long do_ioctl(struct pmuctl_last *last, unsigned int number,
		     unsigned long arg, struct pmuctl_explanation *why)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(ioctls); i++)
		if (ioctls[i].number == number)
			return ioctls[i].func(last, (void __user *)arg, why);
	return pmuctl_refuse(why, IOCTL_UNKNOWN, "", number);
}

static long dev_ioctl(struct file *file, unsigned int number,
		      unsigned long arg)
{
	struct pmuctl_last *last = file->private_data;
	struct pmuctl_explanation why pmuctl_uninitialized;
	long ret;

	why.error = 0;
	ret = do_ioctl(last, number, arg, &why);
	if (ret < 0)
		pmuctl_last_set(last, -ret, &why);
	return ret;
}

static int dev_open(struct inode *inode, struct file *file)
{
	struct pmuctl_last *last;

	last = kzalloc(sizeof(*last), GFP_KERNEL_ACCOUNT);
	if (!last)
		return -ENOMEM;
	pmuctl_last_init(last);
	file->private_data = last;
	return nonseekable_open(inode, file);
}

static int dev_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

static const struct file_operations dev_fops = {
	.owner = THIS_MODULE,
	.open = dev_open,
	.release = dev_release,
	.unlocked_ioctl = dev_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* Anybody may ask; what is allowed is decided for each event. */
static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "pmuctl",
	.mode = 0666,
	.fops = &dev_fops,
};

int __init pmuctl_dev_init(void)
{
	int err;

	err = misc_register(&device);
	if (err)
		return err;
	err = pmuctl_dev_aux_init(device.this_device);
	if (err)
		misc_deregister(&device);
	return err;
}

void pmuctl_dev_exit(void)
{
	pmuctl_dev_aux_exit();
	misc_deregister(&device);
}
