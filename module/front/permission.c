// SPDX-License-Identifier: GPL-2.0-only
/*
 * Permissions: who may count what. The levels are those of the kernel's sysctl
 * perf_event_paranoid; what that says now modules cannot look at all the time, so there is a
 * parameter of our own:
 *
 *	 3	no event at all
 *	 2	no event that counts in the kernel, or tells its addresses
 *	 1	no event that counts all tasks of a CPU, or of the other threads of a core
 *	 0	no raw tracepoint data
 *	-1	everything is allowed
 *
 * each without CAP_PERFMON (or CAP_SYS_ADMIN), and each forbids what the lower ones do. Unless
 * somebody sets it, it is 2, or what the sysctl was when the module was loaded if that is
 * stricter: loading the module does not allow what was forbidden.
 *
 * Somebody else's task also needs the ptrace read check of ptrace(2), unless the caller
 * has CAP_PERFMON.
 *
 * That check is not exported to modules, but opening /proc/PID/environ makes it, the
 * security modules' part included. We open it in a mount of procfs of our own, which
 * nobody can mount things over.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mount.h>
#include <linux/pid.h>
#include <linux/proc_fs.h>
#include <linux/sched/task.h>
#include <linux/security.h>

#include "aux/aux.h"
#include "front/front.h"
#include "sample/sideband.h"

#define LEVEL_DEFAULT	2
#define LEVEL_MAX	3
#define LEVEL_NOT_SET	INT_MAX

static int paranoid = LEVEL_NOT_SET;

static int set_paranoid(const char *value, const struct kernel_param *kp)
{
	int level, err;

	err = kstrtoint(value, 0, &level);
	if (err)
		return err;
	if (level < -1 || level > LEVEL_MAX)
		return -ERANGE;
	WRITE_ONCE(paranoid, level);
	return 0;
}

static const struct kernel_param_ops paranoid_ops = {
	.set = set_paranoid,
	.get = param_get_int,
};
module_param_cb(paranoid, &paranoid_ops, &paranoid, 0644);
MODULE_PARM_DESC(paranoid,
		 "What needs CAP_PERFMON: 3 everything, 2 (default, unless the sysctl kernel.perf_event_paranoid is above) counting in the kernel, 1 counting CPUs, 0 raw tracepoint data, -1 nothing");

static struct vfsmount *proc_mount;

static struct file *open_proc(const char *path)
{
	return file_open_root_mnt(proc_mount, path, O_RDONLY, 0);
}

int pmuctl_paranoid(void)
{
	return READ_ONCE(paranoid);
}

/*
 * Credentials for the ptrace check by real ids, as perf_event_open(2) has it; files in
 * /proc make it by file-system ids. Who has CAP_SYS_PTRACE passes that check whatever the
 * ids, but not that of the file's mode, for which there is another capability.
 */
static struct cred *ptrace_cred(void)
{
	struct cred *cred = prepare_creds();

	if (!cred)
		return NULL;
	cred->fsuid = cred->uid;
	cred->fsgid = cred->gid;
	if (has_capability_noaudit(current, CAP_SYS_PTRACE))
		cap_raise(cred->cap_effective, CAP_DAC_READ_SEARCH);
	return cred;
}

/* 0; -EACCES; or what kept us from asking: -ENOMEM, -ENFILE */
static int ptrace_read_check(struct task_struct *task)
{
	char path[32];
	const struct cred *old;
	struct cred *cred;
	struct file *file;

	if (same_thread_group(task, current))
		return 0;
	cred = ptrace_cred();
	if (!cred)
		return -ENOMEM;

	snprintf(path, sizeof(path), "%d/environ",
		 task_pid_nr_ns(task, proc_pid_ns(proc_mount->mnt_sb)));
	old = override_creds(cred);
	file = open_proc(path);
	revert_creds(old);
	put_cred(cred);
	if (PTR_ERR_OR_ZERO(file) == -ENOMEM || PTR_ERR_OR_ZERO(file) == -ENFILE)
		return PTR_ERR(file);
	if (IS_ERR(file))
		return -EACCES;
	filp_close(file, NULL);

	/* The number was that of this task as long as the task still has one. */
	return pid_alive(task) ? 0 : -EACCES;
}

/* Does it count what runs on the other threads of a core? Then it is as an event of a CPU. */
static bool counts_other_threads(const struct perf_event_attr *attr)
{
	return pmuctl_attr_is_raw(attr) &&
	       attr->config & hwpmu_caps()->raw_mask & HWPMU_EVTSEL_ANY;
}

static bool is_exiting(const struct task_struct *task)
{
	return READ_ONCE(task->flags) & PF_EXITING;
}

bool pmuctl_may_see_raw(void)
{
	return pmuctl_paranoid() < 0 || perfmon_capable();
}

bool pmuctl_may_see_kernel(void)
{
	return pmuctl_paranoid() < 2 || perfmon_capable();
}

int pmuctl_may_open(const struct perf_event_attr *attr,
		    struct task_struct *task, int pid, bool for_anyone, bool perfmon,
		    struct pmuctl_explanation *why)
{
	const struct pmuctl_aux_driver *driver = pmuctl_aux_driver_of(attr->type);
	int level = pmuctl_paranoid();

	if (attr->sample_type & PERF_SAMPLE_REGS_INTR &&
	    security_locked_down(LOCKDOWN_PERF))
		return pmuctl_refuse(why, LOCKED_DOWN, "attr.sample_type");
	if (perfmon)
		return 0;
	if (level > 2)
		return pmuctl_refuse(why, PERM_ANY, "", level);
	if (level > 1 && !attr->exclude_kernel)
		return pmuctl_refuse(why, PERM_KERNEL, "attr.exclude_kernel",
				     level);
	if (level > 1 && attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	    pmuctl_attr_branches(attr) & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV))
		return pmuctl_refuse(why, PERM_BRANCHES, "attr.branch_sample_type", level);
	if (level > 1 && attr->text_poke)
		return pmuctl_refuse(why, PERM_TEXT_POKE, "attr.text_poke", level);
	if (attr->namespaces)
		return pmuctl_refuse(why, PERM_NAMESPACES, "attr.namespaces");
	if (level > 1 && driver && driver->tells_kernel)
		return pmuctl_refuse(why, PERM_ADDRESSES, "attr.type",
				     driver->name, level);
	if (attr->type == PERF_TYPE_TRACEPOINT &&
	    attr->sample_type & PERF_SAMPLE_RAW && level >= 0 && !(task && for_anyone))
		return pmuctl_refuse(why, PERM_RAW, "attr.sample_type");
	if (level > 0 && counts_other_threads(attr))
		return pmuctl_refuse(why, PERM_THREADS, "attr.config", level);
	if (!task) {
		if (level > 0)
			return pmuctl_refuse(why, PERM_CPU, "pid", level);
		return 0;
	}
	if (task == current)
		return 0;
	if (task->flags & PF_KTHREAD)
		return pmuctl_refuse(why, PERM_KTHREAD, "pid", pid);
	/* Without its memory there is nothing that the ptrace check could look at. */
	if (is_exiting(task))
		return pmuctl_refuse(why, TASK_EXITING, "pid", pid);
	switch (ptrace_read_check(task)) {
	case 0:
		return 0;
	case -ENOMEM:
		return pmuctl_refuse(why, NO_MEMORY, "");
	case -ENFILE:
		return pmuctl_refuse(why, NO_FILE, "");
	default:
		/* Nor was there, if it began to exit before the check came to that. */
		if (is_exiting(task))
			return pmuctl_refuse(why, TASK_EXITING, "pid", pid);
		return pmuctl_refuse(why, PERM_TASK, "pid", pid);
	}
}

/* The kernel's own level; the strictest if it does not tell. */
static int __init kernels_level(void)
{
	int level = LEVEL_MAX;
	char text[16] = "";
	struct file *file;
	loff_t pos = 0;

	file = open_proc("sys/kernel/perf_event_paranoid");
	if (IS_ERR(file))
		return LEVEL_MAX;
	if (kernel_read(file, text, sizeof(text) - 1, &pos) <= 0 ||
	    kstrtoint(strim(text), 10, &level))
		level = LEVEL_MAX;
	filp_close(file, NULL);
	return level;
}

int __init pmuctl_permission_init(void)
{
	struct file_system_type *proc = get_fs_type("proc");

	if (!proc)
		return -ENODEV;
	proc_mount = kern_mount(proc);
	module_put(proc->owner); /* the mount has one of its own */
	if (IS_ERR(proc_mount))
		return PTR_ERR(proc_mount);
	/* Somebody may set it meanwhile: then it stays as it is. */
	cmpxchg(&paranoid, LEVEL_NOT_SET,
		clamp(kernels_level(), LEVEL_DEFAULT, LEVEL_MAX));
	return 0;
}

void __init pmuctl_permission_namespaces(void)
{
	static const char *const paths[NR_NAMESPACES] __initconst = {
		[NET_NS_INDEX] = "self/ns/net", [UTS_NS_INDEX] = "self/ns/uts",
		[IPC_NS_INDEX] = "self/ns/ipc", [PID_NS_INDEX] = "self/ns/pid",
		[USER_NS_INDEX] = "self/ns/user", [MNT_NS_INDEX] = "self/ns/mnt",
		[CGROUP_NS_INDEX] = "self/ns/cgroup",
	};
	struct file *file;
	unsigned int i;

	for (i = 0; i < NR_NAMESPACES; i++) {
		file = open_proc(paths[i]);
		/* A kernel without that kind has no such file. */
		if (IS_ERR(file))
			continue;
		pmuctl_namespaces_init(i, file_inode(file));
		filp_close(file, NULL);
	}
}

void pmuctl_permission_exit(void)
{
	kern_unmount(proc_mount);
}
