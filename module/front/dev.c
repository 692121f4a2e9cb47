// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/pmuctl and its ioctls.
 */
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "aux/aux.h"
#include "core/context.h"
#include "event/create.h"
#include "front/ioctl.h"
#include "inherit/inherit.h"

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
		PMUCTL_FEATURE_TRACEPOINT | PMUCTL_FEATURE_LISTS |
		(IS_ENABLED(CONFIG_CGROUP_PERF) ? PMUCTL_FEATURE_CGROUP : 0);
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

static long ioctl_info(struct pmuctl_ioctl_call *call)
{
	struct pmuctl_info *info = &call->args.info;

	memset(info, 0, sizeof(*info));
	info->abi_version = PMUCTL_ABI_VERSION;
	info->attr_size = PMUCTL_ATTR_SIZE;
	info->paranoid = pmuctl_paranoid();
	strscpy(info->module_version, PMUCTL_VERSION, sizeof(info->module_version));
	fill_pmu_info(info);
	return 0;
}

static long ioctl_task_enable(struct pmuctl_ioctl_call *call)
{
	pmuctl_event_fd_switch_own(true);
	return 0;
}

static long ioctl_task_disable(struct pmuctl_ioctl_call *call)
{
	pmuctl_event_fd_switch_own(false);
	return 0;
}

static const struct pmuctl_ioctl ioctls[] = {
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_INFO, info, sizeof(struct pmuctl_info),
			  PMUCTL_IOCTL_NO_FLAGS | PMUCTL_IOCTL_FILLS, ioctl_info),
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_OPEN, open, PMUCTL_OPEN_SIZE_VER0,
			  0, pmuctl_ioctl_open),
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_EXPLAIN, explanation, sizeof(struct pmuctl_explanation),
			  PMUCTL_IOCTL_FILLS, pmuctl_ioctl_explain),
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_OPEN_LIST, open_list, sizeof(struct pmuctl_open_list),
			  PMUCTL_IOCTL_NO_FLAGS, pmuctl_ioctl_open_list),
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_READ_LIST, read_list, sizeof(struct pmuctl_read_list),
			  PMUCTL_IOCTL_NO_FLAGS, pmuctl_ioctl_read_list),
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_CONTROL_LIST, control_list,
			  sizeof(struct pmuctl_control_list), 0, pmuctl_ioctl_control_list),
	PMUCTL_IOCTL(PMUCTL_IOC_TASK_ENABLE, ioctl_task_enable),
	PMUCTL_IOCTL(PMUCTL_IOC_TASK_DISABLE, ioctl_task_disable),
	PMUCTL_IOCTL_ARGS(PMUCTL_IOC_DRIVER, driver, sizeof(struct pmuctl_driver),
			  PMUCTL_IOCTL_NO_FLAGS | PMUCTL_IOCTL_FILLS, pmuctl_ioctl_driver),
	{ }
};

static long dev_ioctl(struct file *file, unsigned int number, unsigned long arg)
{
	return pmuctl_ioctl(ioctls, NULL, file->private_data, number, arg);
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
