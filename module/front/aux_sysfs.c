// SPDX-License-Identifier: GPL-2.0-only
/*
 * How user space finds the drivers of AUX area tracing: an ioctl of the device, and
 * /sys/class/misc/pmuctl/NAME/ with "type" and "format/", as perf has them in
 * /sys/bus/event_source/devices/.
 */
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>

#include "aux/aux.h"
#include "front/ioctl.h"

long pmuctl_ioctl_driver(struct pmuctl_ioctl_call *call)
{
	struct pmuctl_driver *out = &call->args.driver;
	const struct pmuctl_aux_driver *driver = pmuctl_aux_driver_at(out->index);
	const char *reason;

	if (!driver)
		return pmuctl_refuse(&call->why, AUX_NO_DRIVER, "index", out->index);
	out->type = driver->type;
	reason = driver->unit->reason();
	out->config = reason ? 0 : driver->unit->config();
	strscpy_pad(out->name, driver->name, sizeof(out->name));
	strscpy_pad(out->reason, reason ? : "", sizeof(out->reason));
	return 0;
}

/* ---- sysfs ---- */

/* As perf's format directory; a line is there if this CPU has all of its bits. */
struct format {
	struct kobj_attribute attr;
	const char *bits;
	u64 mask;
};

static ssize_t show_format(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%s\n", container_of(attr, struct format, attr)->bits);
}

#define FORMAT(name_, bits_, mask_)						\
	static struct format format_##name_ = {					\
		.attr = __ATTR(name_, 0444, show_format, NULL),			\
		.bits = bits_,							\
		.mask = mask_,							\
	}

FORMAT(pt, "config:0", PT_CONFIG_PT);
FORMAT(cyc, "config:1", PT_CTL_CYC);
FORMAT(pwr_evt, "config:4", PT_CTL_POWER);
FORMAT(fup_on_ptw, "config:5", PT_CTL_FUP_ON_PTW);
FORMAT(mtc, "config:9", PT_CTL_MTC);
FORMAT(tsc, "config:10", PT_CTL_TSC);
FORMAT(noretcomp, "config:11", PT_CTL_NO_RETC);
FORMAT(ptw, "config:12", PT_CTL_PTW);
FORMAT(branch, "config:13", PT_CTL_BRANCH);
FORMAT(mtc_period, "config:14-17", PT_CTL_MTC_PERIOD);
FORMAT(cyc_thresh, "config:19-22", PT_CTL_CYC_THRESH);
FORMAT(psb_period, "config:24-27", PT_CTL_PSB_PERIOD);

static struct attribute *formats[] = {
	&format_pt.attr.attr, &format_cyc.attr.attr, &format_pwr_evt.attr.attr,
	&format_fup_on_ptw.attr.attr, &format_mtc.attr.attr, &format_tsc.attr.attr,
	&format_noretcomp.attr.attr, &format_ptw.attr.attr, &format_branch.attr.attr,
	&format_mtc_period.attr.attr, &format_cyc_thresh.attr.attr,
	&format_psb_period.attr.attr, NULL
};

static umode_t format_is_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	const struct format *format = container_of(attr, struct format, attr.attr);

	return format->mask & ~pt_caps()->allowed ? 0 : attr->mode;
}

static const struct attribute_group format_group = {
	.name = "format",
	.attrs = formats,
	.is_visible = format_is_visible,
};

static const struct attribute_group *pt_groups[] = { &format_group, NULL };

/**
 * struct driver_dir - of a driver that this CPU can use
 * @kobj: the directory; NULL if there is none.
 * @type: the file in it.
 * @driver: what it tells of.
 * @groups: what else is in it; NULL for nothing.
 */
struct driver_dir {
	struct kobject *kobj;
	struct kobj_attribute type;
	const struct pmuctl_aux_driver *driver;
	const struct attribute_group **groups;
};

static ssize_t show_type(struct kobject *kobj, struct kobj_attribute *attr, char *page)
{
	return sysfs_emit(page, "%u\n",
			  container_of(attr, struct driver_dir, type)->driver->type);
}

#define DRIVER_DIR(groups_)						\
	{ .type = __ATTR(type, 0444, show_type, NULL), .groups = groups_ }

/* In the order of the drivers */
static struct driver_dir dirs[] = { DRIVER_DIR(pt_groups), DRIVER_DIR(NULL) };

static void remove_dir(struct driver_dir *dir)
{
	if (!dir->kobj)
		return;
	if (dir->groups)
		sysfs_remove_groups(dir->kobj, dir->groups);
	sysfs_remove_file(dir->kobj, &dir->type.attr);
	kobject_put(dir->kobj);
	dir->kobj = NULL;
}

static int make_dir(struct driver_dir *dir, struct device *device)
{
	int err;

	dir->kobj = kobject_create_and_add(dir->driver->name, &device->kobj);
	if (!dir->kobj)
		return -ENOMEM;
	err = sysfs_create_file(dir->kobj, &dir->type.attr);
	if (!err && dir->groups)
		err = sysfs_create_groups(dir->kobj, dir->groups);
	if (err) {
		kobject_put(dir->kobj);
		dir->kobj = NULL;
	}
	return err;
}

int __init pmuctl_dev_aux_init(struct device *device)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		dirs[i].driver = pmuctl_aux_driver_at(i);
		if (dirs[i].driver->unit->reason())
			continue;
		err = make_dir(&dirs[i], device);
		if (err) {
			pmuctl_dev_aux_exit();
			return err;
		}
	}
	return 0;
}

void pmuctl_dev_aux_exit(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		remove_dir(&dirs[i]);
}
