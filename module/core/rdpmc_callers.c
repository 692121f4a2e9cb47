// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading counters in user space: how often a user may have CPUs called for his processes.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/spinlock.h>

#include "core/quota.h"
#include "core/rdpmc_callers.h"

/*
 * CPUs are called when a process begins to read. So many processes of a user may do so at once, and
 * one in a jiffy from then on.
 */
#define CALLS_AT_ONCE	256

/**
 * struct caller - a user for whom CPUs are called
 * @uid: who.
 * @paid: the jiffy up to which the calls are accounted for, each by one; in the past: nobody is.
 */
struct caller {
	kuid_t uid;
	unsigned long paid;
};

/* If as many others have not been accounted for, a user may not. */
static struct caller callers[64];
static DEFINE_SPINLOCK(callers_lock); /* a leaf */

/* The user's, or one that nobody needs any more; NULL if all are needed. */
static struct caller *find_caller(kuid_t uid, unsigned long now)
{
	struct caller *free = NULL;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(callers); i++) {
		if (time_before_eq(callers[i].paid, now))
			free = &callers[i];
		else if (uid_eq(callers[i].uid, uid))
			return &callers[i];
	}
	if (free)
		*free = (struct caller){ .uid = uid, .paid = now };
	return free;
}

bool pmuctl_rdpmc_may_call(void)
{
	const unsigned long now = jiffies;
	struct caller *caller;
	bool may;

	if (pmuctl_is_unlimited(perfmon_capable()))
		return true;
	spin_lock(&callers_lock);
	caller = find_caller(pmuctl_payer(), now);
	may = caller && caller->paid - now < CALLS_AT_ONCE;
	if (may)
		caller->paid++;
	spin_unlock(&callers_lock);
	return may;
}
