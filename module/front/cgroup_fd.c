// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cgroup whose directory a descriptor is of. Process context.
 *
 * What the kernel does for perf is not exported: the directory's inode has its node of kernfs, and
 * that has the cgroup, for as long as the cgroup is there.
 */
#include <linux/cgroup.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kernfs.h>
#include <linux/magic.h>

#include "front/front.h"

#ifdef CONFIG_CGROUP_PERF

static bool is_of_cgroups(const struct inode *inode)
{
	const unsigned long magic = inode->i_sb->s_magic;

	return magic == CGROUP2_SUPER_MAGIC || magic == CGROUP_SUPER_MAGIC;
}

/* With a reference; NULL if there is none, or not any more */
static struct cgroup_subsys_state *get_state(const struct kernfs_node *node)
{
	struct cgroup_subsys_state *css = NULL;
	struct cgroup *cgroup;

	rcu_read_lock();
	cgroup = rcu_dereference(*(struct cgroup __rcu __force **)&node->priv);
	if (cgroup)
		css = rcu_dereference(cgroup->subsys[perf_event_cgrp_id]);
	if (css && !css_tryget_online(css))
		css = NULL;
	rcu_read_unlock();
	return css;
}

struct cgroup_subsys_state *pmuctl_cgroup_get(int fd, struct pmuctl_explanation *why)
{
	struct cgroup_subsys_state *css;
	struct kernfs_node *node = NULL;
	struct file *file = fget(fd);

	if (file && is_of_cgroups(file_inode(file)))
		node = file_inode(file)->i_private;
	if (node && kernfs_type(node) == KERNFS_DIR)
		css = get_state(node) ? : ERR_PTR(pmuctl_refuse(why, CGROUP_NONE, "pid"));
	else
		css = ERR_PTR(pmuctl_refuse(why, CGROUP_FD, "pid", fd));
	if (file)
		fput(file);
	return css;
}

#endif /* CONFIG_CGROUP_PERF */
