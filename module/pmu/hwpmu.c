// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters on the PMU of a CPU: start, stop, read. What they count is in counter.c, the kind of
 * PMU is found in init.c, ownership is in owner.c, overflow in nmi.c, the registers in regs.[ch];
 * and noglobal.c has what PMUs without global control need.
 *
 * The PMU is programmed by differences. A counter that is stopped stays programmed
 * and keeps its raw value; if the same event comes back to it, one write of
 * the global control register starts it, and its count goes on from the raw value that is
 * read then. All that is needed for exact counts is that a raw value is folded into
 * the count before the hardware counter has gone round once, and the overflow NMI,
 * which comes once a round, does that.
 *
 * Order against the NMI, which may interrupt between any two instructions here:
 *
 *	start: fill in the counter, then active[], then @enabled; the register at commit
 *	stop: @enabled, then the register, then fold
 *
 * The NMI looks only at counters that are enabled and active: only while these two hold
 * are count, prev and left its to change, and hwpmu_read() notices by @seq if it did.
 * A period that ends while its counter is being stopped is told when it goes on. The NMI of
 * another counter may read one that is being folded: so its value is told first (@folding).
 *
 * A counter is handed over while it counts: its place in active[] is empty meanwhile. An
 * NMI that comes then acknowledges the overflow, and changes neither of the two; without a
 * period nobody is to be told. But the round must be folded before the next one is over, and
 * tasks may take turns for so long without anybody reading them: so the NMI leaves a note
 * (@seen), and what it has left undone is done at the end.
 */
#include <linux/module.h>

#include "pmu/assign.h"
#include "pmu/extra.h"
#include "pmu/lbr.h"
#include "pmu/private.h"

/* Below this the NMI handler would interrupt itself into a standstill. */
#define HEADROOM_MIN	200

unsigned int hwpmu_headroom;
module_param_named(counter_headroom, hwpmu_headroom, uint, 0600);
MODULE_PARM_DESC(counter_headroom,
		 "For tests: events until a hardware counter overflows; 0 (default) is as far as it goes");

void hwpmu_fold(struct hwpmu_counter *c)
{
	u64 raw = hwpmu_regs_read_counter(c->index);
	u64 delta = (raw - c->prev) & hwpmu_width_mask(c->index);

	c->count += delta;
	c->left -= delta;
	c->prev = raw;
}

/* The same where the NMI of another counter may come in between, and read this one */
static void fold_told(struct hwpmu_cpu *cpu, struct hwpmu_counter *c)
{
	WRITE_ONCE(cpu->folding, NULL); /* the one before */
	barrier();
	WRITE_ONCE(cpu->folded, hwpmu_read(c));
	barrier();
	WRITE_ONCE(cpu->folding, c);
	barrier();
	hwpmu_fold(c);
	barrier();
}

static void folded(struct hwpmu_cpu *cpu)
{
	barrier();
	WRITE_ONCE(cpu->folding, NULL);
}

static u64 half_range(unsigned int index)
{
	return BIT_ULL(hwpmu_width(index) - 1);
}

/* The most that a counter can be set to be away from its overflow, in the upper half */
static u64 distance_max(unsigned int index)
{
	if (index < HWPMU_FIXED_BASE && !hwpmu_the_caps.full_width)
		return BIT_ULL(31);
	return half_range(index);
}

/* Some processors must not be nearer to an overflow: what is late belongs to the next period. */
static u64 sample_distance(const struct hwpmu_counter *c)
{
	s64 distance = clamp_t(s64, c->left, c->config.shortest, distance_max(c->index));

	return distance & ~(u64)(c->config.multiple - 1);
}

/*
 * What is counted for user space without a period: as far from its overflow as perf's counters are,
 * so that the page's offset stays what it is, and stays positive in the width of the counter.
 * There are readers that extend both from that width (PAPI).
 */
static u64 user_distance(const struct hwpmu_counter *c)
{
	u64 max = distance_max(c->index) - 1;
	u64 done = c->count - c->user->base;

	if (unlikely(done >= max))
		done %= max;
	return max - done;
}

void hwpmu_arm(struct hwpmu_counter *c)
{
	unsigned int headroom = READ_ONCE(hwpmu_headroom);
	u64 distance, raw;

	if (c->period)
		distance = sample_distance(c);
	else if (headroom)
		distance = clamp(headroom, HEADROOM_MIN, (unsigned int)S32_MAX);
	else if (c->user)
		distance = user_distance(c);
	else
		return;
	raw = -distance & hwpmu_width_mask(c->index);
	if (raw == c->prev)
		return;
	hwpmu_regs_write_counter(&hwpmu_the_caps, c->index, raw);
	c->prev = raw;
}

/* An NMI may come in between, and write the same. */
static void apply_enabled(struct hwpmu_cpu *cpu)
{
	u64 counters = hwpmu_wanted(cpu);

	if (counters != READ_ONCE(cpu->written) && cpu->owned)
		hwpmu_write_enabled(cpu, counters);
}

void hwpmu_refresh(void)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	lockdep_assert_irqs_disabled();
	if (!cpu->owned)
		return;
	do {
		hwpmu_write_enabled(cpu, hwpmu_wanted(cpu));
	} while (READ_ONCE(cpu->written) != hwpmu_wanted(cpu)); /* an NMI came */
}

/* Program the event of a counter whose index is chosen and not enabled. */
static void program(struct hwpmu_cpu *cpu, const struct hwpmu_counter *c)
{
	unsigned int i = c->index;

	if (i < HWPMU_FIXED_BASE) {
		u64 evtsel = hwpmu_extra_evtsel(c);

		if (cpu->evtsel[i] != evtsel) {
			cpu->evtsel[i] = evtsel;
			/* else it is written with its enable bit */
			if (static_branch_likely(&hwpmu_has_global))
				hwpmu_regs_write_evtsel(i, evtsel);
		}
	} else {
		unsigned int shift = 4 * (i - HWPMU_FIXED_BASE);
		u64 ctrl = cpu->fixed_ctrl & ~(0xfULL << shift);

		ctrl |= (u64)c->config.fixed_ctrl << shift;
		if (cpu->fixed_ctrl != ctrl) {
			hwpmu_regs_write_fixed_ctrl(ctrl);
			cpu->fixed_ctrl = ctrl;
		}
	}
}

/* Make these counters ready, each on its index, which is free; hwpmu_commit() is next. */
static void start_assigned(struct hwpmu_cpu *cpu,
			   struct hwpmu_counter *const *counters, unsigned int n)
{
	u64 add = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct hwpmu_counter *c = counters[i];

		program(cpu, c);
		if (unlikely(c->extra))
			hwpmu_extra_write(c);
		c->prev = hwpmu_regs_read_counter(c->index);
		hwpmu_arm(c);
		c->running = true;
		if (c->stopped)
			this_cpu_or(hwpmu_cpu.stopped, BIT_ULL(c->index));
		if (unlikely(c->lbr))
			lbr_start(c);
		WRITE_ONCE(cpu->active[c->index], c);
		add |= BIT_ULL(c->index);
	}
	barrier(); /* active[] before @enabled: see the top of the file */
	cpu->used |= add;
	WRITE_ONCE(cpu->enabled, cpu->enabled | add);
}

/* Take the counters of the mask off; they are folded, and know where they were. */
static void stop_mask(struct hwpmu_cpu *cpu, u64 mask)
{
	WRITE_ONCE(cpu->enabled, cpu->enabled & ~mask);
	barrier(); /* the NMI leaves all of them alone from here on */
	if (cpu->stopped & mask)
		this_cpu_and(hwpmu_cpu.stopped, ~mask);
	apply_enabled(cpu);
	if (!static_branch_likely(&hwpmu_has_global))
		hwpmu_noglobal_settle(cpu, mask);

	for (; mask; mask &= mask - 1) {
		struct hwpmu_counter *c = cpu->active[__ffs64(mask)];

		WRITE_ONCE(cpu->active[c->index], NULL);
		if (unlikely(cpu->enabled))
			fold_told(cpu, c);
		else
			hwpmu_fold(c);
		c->running = false;
		if (unlikely(c->lbr))
			lbr_stop();
	}
	if (unlikely(cpu->folding))
		folded(cpu);
}

/*
 * Choose free counters without moving what runs: the one each was on last, else the
 * last allowed one, which keeps general counters free for those that need them.
 */
static bool assign_free(const struct hwpmu_cpu *cpu,
			struct hwpmu_counter *const *counters,
			     unsigned int n)
{
	u64 free = hwpmu_the_caps.counters & ~cpu->enabled;
	unsigned int i;

	for (i = 0; i < n; i++) {
		struct hwpmu_counter *c = counters[i];
		u64 mine = c->usable & free;

		if (!mine)
			return false;
		if (c->index < 0 || !(mine & BIT_ULL(c->index)))
			c->index = fls64(mine) - 1;
		free &= ~BIT_ULL(c->index);
	}
	return true;
}

/* Are there as many free counters as are wanted that any of them all can use at all? */
static bool may_move_apart(const struct hwpmu_cpu *cpu,
			   struct hwpmu_counter *const *counters, unsigned int n)
{
	u64 free = hwpmu_the_caps.counters & ~cpu->enabled;
	u64 usable = 0, left;
	unsigned int i;

	for (i = 0; i < n; i++)
		usable |= counters[i]->usable;
	for (left = cpu->enabled; left; left &= left - 1)
		usable |= cpu->active[__ffs64(left)]->usable;
	return hweight64(usable & free) >= n;
}

/*
 * Place all anew, moving what runs where it must be. Nothing changes if they do not
 * fit. Rare: only when the simple way fails.
 */
static noinline bool assign_all(struct hwpmu_cpu *cpu,
				struct hwpmu_counter *const *counters,
			       unsigned int n)
{
	struct hwpmu_counter *all[HWPMU_MAX_COUNTERS];
	u64 allowed[HWPMU_MAX_COUNTERS];
	s8 index[HWPMU_MAX_COUNTERS];
	unsigned int running = 0, i;
	u64 left;

	if (!may_move_apart(cpu, counters, n))
		return false;
	for (left = cpu->enabled; left; left &= left - 1)
		all[running++] = cpu->active[__ffs64(left)];
	if (running + n > HWPMU_MAX_COUNTERS)
		return false;
	memcpy(all + running, counters, n * sizeof(*all));
	for (i = 0; i < running + n; i++) {
		allowed[i] = all[i]->usable;
		index[i] = all[i]->index;
	}
	if (!hwpmu_assign(allowed, running + n, index))
		return false;

	stop_mask(cpu, cpu->enabled);
	for (i = 0; i < running + n; i++)
		all[i]->index = index[i];
	start_assigned(cpu, all, running);
	return true;
}

bool hwpmu_start(struct hwpmu_counter *const *counters, unsigned int n)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	lockdep_assert_irqs_disabled();
	if (!n)
		return true;
	if (!cpu->owned || READ_ONCE(cpu->closed))
		return false;
	if (unlikely(hwpmu_extra_is_wanted(counters, n)) && !hwpmu_extra_get(cpu, counters, n))
		return false;
	if (!assign_free(cpu, counters, n) && !assign_all(cpu, counters, n)) {
		if (unlikely(cpu->nr_extra))
			hwpmu_extra_put(cpu, counters, n);
		return false;
	}
	start_assigned(cpu, counters, n);
	return true;
}

void hwpmu_commit(void)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	lockdep_assert_irqs_disabled();
	if (unlikely(cpu->lbr_stale))
		lbr_commit();
	apply_enabled(cpu);
}

void hwpmu_stop(struct hwpmu_counter *const *counters, unsigned int n)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);
	u64 mask = 0;
	unsigned int i;

	lockdep_assert_irqs_disabled();
	for (i = 0; i < n; i++)
		if (counters[i]->running)
			mask |= BIT_ULL(counters[i]->index);
	if (!mask)
		return;
	stop_mask(cpu, mask);
	if (unlikely(cpu->nr_extra))
		hwpmu_extra_put(cpu, counters, n);
}

/* Keep the NMI away from a counter, and let it see it again as it is then. */
static void change_begin(struct hwpmu_cpu *cpu, struct hwpmu_counter *c)
{
	hwpmu_freeze();
	if (!static_branch_likely(&hwpmu_has_global))
		hwpmu_noglobal_settle(cpu, BIT_ULL(c->index));
	WRITE_ONCE(cpu->active[c->index], NULL);
	barrier(); /* the NMI leaves it alone from here on */
	fold_told(cpu, c);
}

/* Until it is armed, what it holds is not what its value was told from. */
static void change_end(struct hwpmu_cpu *cpu, struct hwpmu_counter *c)
{
	hwpmu_arm(c);
	folded(cpu);
	if (c->user)
		hwpmu_rdpmc_overflow(c);
	barrier();
	WRITE_ONCE(cpu->active[c->index], c);
	hwpmu_thaw();
}

/* Fold what an NMI found nobody at. Notes of counters that were being stopped are old. */
static noinline void fold_seen(struct hwpmu_cpu *cpu)
{
	u64 left = READ_ONCE(cpu->seen);

	this_cpu_and(hwpmu_cpu.seen, ~left);
	for (left &= cpu->enabled; left; left &= left - 1) {
		struct hwpmu_counter *c = cpu->active[__ffs64(left)];

		change_begin(cpu, c);
		change_end(cpu, c);
	}
}

/* Without a status the NMI must find the overflow where it is: let none happen. */
static noinline void noglobal_hand_over_begin(struct hwpmu_cpu *cpu,
					      struct hwpmu_counter *const *from, unsigned int n)
{
	u64 mask = 0;

	hwpmu_freeze();
	while (n--)
		mask |= BIT_ULL(from[n]->index);
	hwpmu_noglobal_settle(cpu, mask);
}

/* Nothing samples in their contexts, so that no NMI reads them meanwhile. */
void hwpmu_hand_over(struct hwpmu_counter *const *from,
		     struct hwpmu_counter *const *to, unsigned int n)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	lockdep_assert_irqs_disabled();
	if (!static_branch_likely(&hwpmu_has_global))
		noglobal_hand_over_begin(cpu, from, n);
	while (n--) {
		struct hwpmu_counter *a = from[n], *b = to[n];
		unsigned int index = a->index;

		WRITE_ONCE(cpu->active[index], NULL);
		barrier(); /* the NMI leaves both alone from here on */
		b->prev = hwpmu_regs_read_counter(index);
		a->count += (b->prev - a->prev) & hwpmu_width_mask(index);
		a->running = false;
		if (static_branch_unlikely(&hwpmu_is_hybrid))
			b->config = a->config;
		b->usable = a->usable;
		b->extra = a->extra;
		a->extra = HWPMU_EXTRA_NONE;
		b->index = index;
		b->running = true;
		barrier();
		WRITE_ONCE(cpu->active[index], b);
	}
	if (!static_branch_likely(&hwpmu_has_global))
		hwpmu_thaw();
	if (unlikely(READ_ONCE(cpu->seen)))
		fold_seen(cpu);
}

bool hwpmu_counts_kernel(const struct hwpmu_counter *c)
{
	return c->config.evtsel & HWPMU_EVTSEL_OS;
}

/* @value, and what was counted since it was right, of one instant */
static __always_inline u64 read_since(const struct hwpmu_counter *c,
				      const u64 *value, u64 *delta)
{
	u64 start;
	u32 seq;

	lockdep_assert_irqs_disabled();
	do {
		seq = READ_ONCE(c->seq);
		barrier(); /* pairs with the NMI's on this CPU: seq first and last */
		start = data_race(*value); /* what an NMI changed in between is read again */
		*delta = hwpmu_regs_read_counter(c->index) - data_race(c->prev);
		barrier();
	} while (seq != READ_ONCE(c->seq));
	*delta &= hwpmu_width_mask(c->index);
	return start;
}

u64 hwpmu_read(const struct hwpmu_counter *c)
{
	u64 count, delta;

	if (!c->running)
		return c->count;
	count = read_since(c, &c->count, &delta);
	return count + delta;
}

u64 hwpmu_read_in_nmi(const struct hwpmu_counter *c)
{
	const struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	if (unlikely(READ_ONCE(cpu->folding) == c))
		return cpu->folded;
	return hwpmu_read(c);
}

s64 hwpmu_left(const struct hwpmu_counter *c)
{
	u64 left, delta;

	if (!c->running)
		return c->left;
	left = read_since(c, (const u64 *)&c->left, &delta);
	return left - delta;
}

void hwpmu_rdpmc_attach(struct hwpmu_counter *c, struct hwpmu_rdpmc *user)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	lockdep_assert_irqs_disabled();
	if (c->running)
		change_begin(cpu, c);
	c->user = user;
	if (c->running)
		change_end(cpu, c);
}

void hwpmu_set_period(struct hwpmu_counter *c, u64 period)
{
	if (c->running)
		change_begin(this_cpu_ptr(&hwpmu_cpu), c);
	c->period = period;
	c->left = period;
	if (c->running)
		change_end(this_cpu_ptr(&hwpmu_cpu), c);
}

void hwpmu_resume(struct hwpmu_counter *c)
{
	c->stopped = false;
	if (c->running)
		this_cpu_and(hwpmu_cpu.stopped, ~BIT_ULL(c->index));
}

void hwpmu_freeze(void)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	lockdep_assert_irqs_disabled();
	WRITE_ONCE(cpu->frozen, true);
	barrier(); /* an NMI from here on leaves them frozen */
	apply_enabled(cpu);
}

void hwpmu_thaw(void)
{
	struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);

	WRITE_ONCE(cpu->frozen, false);
	barrier();
	apply_enabled(cpu);
}

void hwpmu_snapshot(struct hwpmu_snapshot *s)
{
	const struct hwpmu_cpu *cpu = this_cpu_ptr(&hwpmu_cpu);
	u64 left;

	lockdep_assert_irqs_disabled();
	s->stats = cpu->stats;
	s->owned = cpu->owned;
	if (!s->owned)
		return;
	s->global_ctrl = hwpmu_regs_read_enabled(&hwpmu_the_caps);
	if (hwpmu_the_caps.global)
		s->global_status = hwpmu_regs_read_status();
	else
		s->global_status = hwpmu_noglobal_overflowed(this_cpu_ptr(&hwpmu_cpu));
	s->fixed_ctrl = cpu->fixed_ctrl;
	memcpy(s->evtsel, cpu->evtsel, sizeof(s->evtsel));
	memcpy(s->active, cpu->active, sizeof(s->active));
	for (left = hwpmu_caps_here()->counters; left; left &= left - 1)
		s->counter[__ffs64(left)] = hwpmu_regs_read_counter(__ffs64(left));
}
