// SPDX-License-Identifier: GPL-2.0-only
/*
 * CLOCK_TAI in NMIs, for kernels without ktime_get_tai_fast_ns(). It is as far from the
 * monotonic clock as the kernel says, whenever it sets its clocks, to who asks to be told: that
 * is, since somebody wanted this clock.
 */
#include "compat/tai.h"

#ifndef COMPAT_HAS_KTIME_GET_TAI_FAST_NS

#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/pvclock_gtod.h>
#include <linux/timekeeper_internal.h>
#include <linux/timekeeping.h>

static ktime_t offset;
static DEFINE_MUTEX(mutex);
static bool following;	/* under mutex */

/* Interrupts off, the clocks' lock held */
static int clocks_set(struct notifier_block *block, unsigned long was_set, void *timekeeper)
{
	const struct timekeeper *tk = timekeeper;

	WRITE_ONCE(offset, tk->offs_tai);
	return 0;
}

static struct notifier_block notifier = {
	.notifier_call = clocks_set,
};

/**
 * compat_tai_fast_ns() - CLOCK_TAI
 *
 * Context: NMI-safe.
 * Return: ns. While the clocks are being set, the time before or after.
 */
u64 compat_tai_fast_ns(void)
{
	return ktime_get_mono_fast_ns() + ktime_to_ns(READ_ONCE(offset));
}

/**
 * compat_tai_follow() - be told how far it is, from now on, until compat_tai_exit()
 *
 * Context: Process, may sleep.
 */
void compat_tai_follow(void)
{
	mutex_lock(&mutex);
	if (!following)
		following = !pvclock_gtod_register_notifier(&notifier);
	mutex_unlock(&mutex);
}

/**
 * compat_tai_exit() - the module goes
 *
 * Context: Process, may sleep.
 */
void compat_tai_exit(void)
{
	if (following)
		pvclock_gtod_unregister_notifier(&notifier);
}

#endif
