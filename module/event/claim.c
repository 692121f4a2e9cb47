// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may take the PMU, and for how long it stays ours. Whoever has it keeps it from perf,
 * from the NMI watchdog and from KVM's guests, so that is not for every user to decide.
 * The parameter claim:
 *
 *	privileged	it is ours while an event is open whose opener has CAP_PERFMON; then
 *			others may count too, as their level allows. It goes from under their
 *			events when the last such event is closed.
 *	anyone		it is ours while any event is open that needs it.
 *	always		it is ours from now on until the module goes.
 *
 * It is given back a moment after it is not kept any more: taking it means writing all its
 * registers on all CPUs, and programs open events one after another.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include "core/context.h"
#include "core/rdpmc_mm.h"
#include "core/rivals.h"
#include "event/claim.h"

#define GIVE_BACK_DELAY	(1 * HZ)

enum claim {
	CLAIM_PRIVILEGED,
	CLAIM_ANYONE,
	CLAIM_ALWAYS,
};

static const char *const claim_names[] = {
	[CLAIM_PRIVILEGED] = "privileged",
	[CLAIM_ANYONE] = "anyone",
	[CLAIM_ALWAYS] = "always",
};

/* All protected by pmuctl_mutex */
static enum claim claim;
static bool ready;		/* between init and exit */
static bool ours;
static unsigned int users;	/* events that need the PMU */
static unsigned int claimants;	/* those of them that were opened with CAP_PERFMON */
static unsigned long times_taken;

static bool is_kept(void)
{
	return claim == CLAIM_ALWAYS || claimants || (claim == CLAIM_ANYONE && users);
}

static int take(struct pmuctl_explanation *why)
{
	int err;

	if (ours)
		return 0;
	pmuctl_rivals_pmu_comes();
	err = hwpmu_get(why);
	if (err)
		pmuctl_rivals_pmu_has_gone();
	ours = !err;
	times_taken += ours;
	pmuctl_strangers_come();
	return err;
}

/* The units of traces first: each looks for what others have turned on again, while it is ours. */
static void give_back(void)
{
	hwpmu_leave();
	pmuctl_rivals_pmu_has_gone();
	hwpmu_put();
	ours = false;
}

static void give_back_unless_kept(void)
{
	if (ours && !is_kept())
		give_back();
}

static void give_back_later(struct work_struct *work)
{
	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	give_back_unless_kept();
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
}

static DECLARE_DELAYED_WORK(give_back_work, give_back_later);

/**
 * pmuctl_claim_get() - the PMU for one more event
 * @event: needs it.
 * @why: filled on refusal.
 *
 * Context: Process, may sleep; pmuctl_mutex and cpus_read_lock held.
 * Return: 0; -EACCES if the caller may not take it, and nobody has who may; or as
 * hwpmu_get().
 */
int pmuctl_claim_get(const struct pmuctl_event *event, struct pmuctl_explanation *why)
{
	int err;

	lockdep_assert_held(&pmuctl_mutex);
	if (!event->claims && claim == CLAIM_PRIVILEGED && !claimants)
		return pmuctl_refuse(why, PERM_CLAIM, "attr.type");
	err = take(why);
	if (err)
		return err;
	pmuctl_strangers_go();
	claimants += event->claims;
	users++;
	return 0;
}

/**
 * pmuctl_claim_put() - not for this one any more
 * @event: as in pmuctl_claim_get().
 *
 * If counters were given up somewhere it is taken anew after the last one, which mends them.
 *
 * Context: as pmuctl_claim_get()
 */
void pmuctl_claim_put(const struct pmuctl_event *event)
{
	bool kept = is_kept();

	lockdep_assert_held(&pmuctl_mutex);
	claimants -= event->claims;
	users--;
	if (!users && hwpmu_is_stuck()) {
		give_back();
		if (is_kept())
			take(NULL);
	} else if (kept && !is_kept()) {
		mod_delayed_work(system_percpu_wq, &give_back_work, GIVE_BACK_DELAY);
	}
}

/**
 * pmuctl_claim_show() - tell maintainers who has the PMU
 * @m: where to.
 *
 * Context: Process; pmuctl_mutex held.
 */
void pmuctl_claim_show(struct seq_file *m)
{
	seq_printf(m, "PMU taken %lu times, %s; claim %s, events that need it %u, of them with CAP_PERFMON %u\n",
		   times_taken, ours ? "ours" : "not ours", claim_names[claim], users,
		   claimants);
}

/* ---- The parameter ---- */

/* Whoever sets it wants it so at once. */
static int change_claim(enum claim new)
{
	enum claim old = claim;
	int err = 0;

	claim = new;
	if (ready && is_kept())
		err = take(NULL);
	if (err)
		claim = old;
	give_back_unless_kept();
	return err;
}

static int set_claim(const char *value, const struct kernel_param *kp)
{
	int new = sysfs_match_string(claim_names, value);
	int err;

	if (new < 0)
		return new;
	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	err = change_claim(new);
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
	return err;
}

static int get_claim(char *buffer, const struct kernel_param *kp)
{
	return sysfs_emit(buffer, "%s\n", claim_names[READ_ONCE(claim)]);
}

static const struct kernel_param_ops claim_ops = {
	.set = set_claim,
	.get = get_claim,
};
module_param_cb(claim, &claim_ops, NULL, 0644);
MODULE_PARM_DESC(claim,
		 "Who may take the PMU from perf: privileged (default), anyone, or always: it is taken at once and kept");

/**
 * pmuctl_claim_init() - begin, and take the PMU if it is to be ours always
 *
 * If somebody else has it the module is of use all the same: the first event tries again.
 *
 * Context: Process, may sleep.
 */
void __init pmuctl_claim_init(void)
{
	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	ready = true;
	if (is_kept() && !hwpmu_reason() && take(NULL))
		pr_warn("claim=always: somebody else has the PMU; it is taken with the first event, or when %s is written to /sys/module/pmuctl/parameters/claim\n",
			claim_names[CLAIM_ALWAYS]);
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
}

/**
 * pmuctl_claim_exit() - give it back; there are no events any more
 *
 * Context: Process, may sleep.
 */
void pmuctl_claim_exit(void)
{
	mutex_lock(&pmuctl_mutex);
	cpus_read_lock();
	change_claim(CLAIM_PRIVILEGED);
	ready = false; /* the parameter goes later than we do */
	cpus_read_unlock();
	mutex_unlock(&pmuctl_mutex);
	cancel_delayed_work_sync(&give_back_work);
}
