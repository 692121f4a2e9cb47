// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own drivers of the tracing units; rivals.h explains it.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/jiffies.h>
#include <linux/workqueue.h>

#include "core/context.h"
#include "core/rivals.h"
#include "pmu/bts.h"
#include "pmu/lbr.h"
#include "pmu/pt.h"

#define RELEASE_DELAY	(1 * HZ)
#define RETRY_DELAY	(HZ / 10)

/**
 * struct rival - of a unit
 * @unit: constant.
 * @users: attached events that need it.
 * @reserved: or that was tried, since it was released.
 * @kept_away: from it, with success. These three: pmuctl_mutex.
 */
struct rival {
	const struct hwtrace_unit *unit;
	unsigned int users;
	bool reserved;
	bool kept_away;
};

static struct rival rivals[] = {
	{ &pt_unit },
	{ &bts_unit },
};

/* Ours, or about to be; pmuctl_mutex. */
static bool pmu_is_ours;

static struct rival *rival_of(const struct hwtrace_unit *unit)
{
	return unit == rivals[0].unit ? &rivals[0] : &rivals[1];
}

/* Once until they are let: it calls all CPUs. In vain it calls the one that is why. */
static int keep_away(struct rival *r)
{
	int err;

	lockdep_assert_held(&pmuctl_mutex);
	if (r->kept_away || r->unit->reason())
		return 0;
	r->reserved = true;
	err = r->unit->reserve();
	if (!err) {
		r->kept_away = !hwtrace_is_taken_by_others(r->unit);
		err = r->kept_away ? 0 : -EBUSY;
	}
	if (r->unit == &pt_unit)
		lbr_bar(cpu_possible_mask, err);
	return err;
}

static void let_come(struct rival *r)
{
	r->unit->release();
	r->reserved = false;
	r->kept_away = false;
}

int pmuctl_rivals_keep_away(const struct hwtrace_unit *unit)
{
	return keep_away(rival_of(unit));
}

void pmuctl_rivals_get(const struct hwtrace_unit *unit)
{
	lockdep_assert_held(&pmuctl_mutex);
	rival_of(unit)->users++;
}

static void release_later(struct work_struct *work)
{
	unsigned int i;

	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	for (i = 0; i < ARRAY_SIZE(rivals); i++)
		if (rivals[i].reserved && !rivals[i].users)
			let_come(&rivals[i]);
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
}

static DECLARE_DELAYED_WORK(release_work, release_later);

void pmuctl_rivals_unused(void)
{
	unsigned int i;

	lockdep_assert_held(&pmuctl_mutex);
	for (i = 0; i < ARRAY_SIZE(rivals); i++)
		if (rivals[i].reserved && !rivals[i].users)
			mod_delayed_work(system_percpu_wq, &release_work, RELEASE_DELAY);
}

void pmuctl_rivals_put(const struct hwtrace_unit *unit)
{
	lockdep_assert_held(&pmuctl_mutex);
	rival_of(unit)->users--;
	pmuctl_rivals_unused();
}

/* Returns false if one that has users is not kept away. */
static bool keep_all_away(void)
{
	bool kept = true;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(rivals); i++)
		if (rivals[i].users && keep_away(&rivals[i]))
			kept = false;
	return kept;
}

static void retry(struct work_struct *work)
{
	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	if (pmu_is_ours && !keep_all_away())
		schedule_delayed_work(to_delayed_work(work), RETRY_DELAY);
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
}

static DECLARE_DELAYED_WORK(retry_work, retry);

void pmuctl_rivals_pmu_comes(void)
{
	pmu_is_ours = true;
	if (!keep_all_away())
		mod_delayed_work(system_percpu_wq, &retry_work, RETRY_DELAY);
}

void pmuctl_rivals_pmu_has_gone(void)
{
	unsigned int i;

	lockdep_assert_held(&pmuctl_mutex);
	pmu_is_ours = false;
	for (i = 0; i < ARRAY_SIZE(rivals); i++)
		let_come(&rivals[i]);
}

void pmuctl_rivals_cpu_comes(int cpu)
{
	if (!pt_unit.reason())
		lbr_bar(cpumask_of(cpu), true);
}

static bool cpu_came(const struct rival *r, int cpu)
{
	bool kept = r->unit->cpu_came(cpu);

	if (r->unit == &pt_unit)
		lbr_bar(cpumask_of(cpu), !kept);
	return kept;
}

bool pmuctl_rivals_cpu_came(int cpu)
{
	bool kept = true;
	unsigned int i;

	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	for (i = 0; i < ARRAY_SIZE(rivals); i++)
		if (rivals[i].kept_away && cpu_online(cpu) && rivals[i].unit->cpu_came)
			kept &= cpu_came(&rivals[i], cpu);
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
	return kept;
}

void pmuctl_rivals_exit(void)
{
	cancel_delayed_work_sync(&release_work);
	cancel_delayed_work_sync(&retry_work);
}
