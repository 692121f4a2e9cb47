// SPDX-License-Identifier: GPL-2.0-only
/*
 * How many events a user may have: the parameter max_events_per_user. Each costs kernel memory,
 * and closing it costs time. What they make the kernel do at each switch is limited elsewhere
 * (admission.c), and the children of events that are inherited are not counted: memory for
 * these is charged to the cgroup of who forks, as that for events to that of who opens them.
 *
 * Whoever has CAP_PERFMON or CAP_SYS_RESOURCE is not limited, and his events do not count
 * against what others may have who are the same user. Process context.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "core/quota.h"
#include "explain/explain.h"

static unsigned int max_events_per_user = 16384;
module_param(max_events_per_user, uint, 0644);
MODULE_PARM_DESC(max_events_per_user,
		 "Events that a user may have, without CAP_PERFMON and CAP_SYS_RESOURCE (default 16384)");

/*
 * Steps that all filters of a user may take for one hit, in which IRQs are off: whatever tasks the
 * events count, no hit has more filters.
 */
#define FILTER_WORK_MAX	24576u

/**
 * struct pmuctl_quota - what a user has
 * @uid: who that is; constant.
 * @node: in users; quota_mutex.
 * @nr_events: more than 0 while it is there; quota_mutex.
 * @filter_work: steps of their filters; likewise.
 */
struct pmuctl_quota {
	kuid_t uid;
	struct hlist_node node;
	unsigned int nr_events;
	u32 filter_work;
};

static DEFINE_HASHTABLE(users, 6);
static DEFINE_MUTEX(quota_mutex); /* a leaf */

bool pmuctl_is_unlimited(bool perfmon)
{
	return perfmon || has_capability_noaudit(current, CAP_SYS_RESOURCE);
}

/*
 * Who answers for the caller: a user namespace has its maker do so for all of its users, or one
 * could have as many limits as it has ids; unless root made it, for whom there is no limit.
 */
kuid_t pmuctl_payer(void)
{
	const struct user_namespace *ns;
	kuid_t uid = current_uid();

	for (ns = current_user_ns(); ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid_eq(uid, GLOBAL_ROOT_UID) ? current_uid() : uid;
}

static struct pmuctl_quota *find(kuid_t uid)
{
	struct pmuctl_quota *quota;

	hash_for_each_possible(users, quota, node, __kuid_val(uid))
		if (uid_eq(quota->uid, uid))
			return quota;
	return NULL;
}

/* Returns the user's, which may be @spare, now used; or NULL if there is neither. */
static struct pmuctl_quota *find_or_use(kuid_t uid, struct pmuctl_quota **spare)
{
	struct pmuctl_quota *quota = find(uid);

	if (quota || !*spare)
		return quota;
	quota = *spare;
	*spare = NULL;
	quota->uid = uid;
	hash_add(users, &quota->node, __kuid_val(uid));
	return quota;
}

/* It goes with the last event. */
static void forget_if_empty(struct pmuctl_quota *quota)
{
	if (quota->nr_events)
		return;
	hash_del(&quota->node);
	kfree(quota);
}

/* NULL: this is his first, and @spare is NULL */
static struct pmuctl_quota *take_one(struct pmuctl_quota **spare, struct pmuctl_explanation *why)
{
	unsigned int max = READ_ONCE(max_events_per_user);
	struct pmuctl_quota *quota;
	int err = 0;

	mutex_lock(&quota_mutex);
	quota = find_or_use(pmuctl_payer(), spare);
	if (quota) {
		if (quota->nr_events >= max)
			err = pmuctl_refuse(why, EVENTS_USER, "", quota->nr_events, max);
		else
			quota->nr_events++;
		forget_if_empty(quota);
	}
	mutex_unlock(&quota_mutex);
	return err ? ERR_PTR(err) : quota;
}

struct pmuctl_quota *pmuctl_quota_get(struct pmuctl_explanation *why)
{
	struct pmuctl_quota *quota, *spare = NULL;

	quota = take_one(&spare, why);
	if (quota)
		return quota;
	/* A cgroup may let who allocates wait for seconds: nobody else does. */
	spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT);
	if (!spare)
		return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));
	quota = take_one(&spare, why);
	kfree(spare);
	return quota;
}

void pmuctl_quota_put(struct pmuctl_quota *quota)
{
	if (!quota)
		return;
	mutex_lock(&quota_mutex);
	quota->nr_events--;
	forget_if_empty(quota);
	mutex_unlock(&quota_mutex);
}

int pmuctl_quota_change_work(struct pmuctl_quota *quota, u32 from, u32 to,
			     struct pmuctl_explanation *why)
{
	u32 others;
	int err = 0;

	if (!quota)
		return 0;
	mutex_lock(&quota_mutex);
	others = quota->filter_work - from;
	if (to > from && to > FILTER_WORK_MAX - min(others, FILTER_WORK_MAX))
		err = pmuctl_refuse(why, FILTER_WORK, "filter", to, others, FILTER_WORK_MAX);
	else
		quota->filter_work = others + to;
	mutex_unlock(&quota_mutex);
	return err;
}
