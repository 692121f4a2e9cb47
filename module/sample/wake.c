// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waking who waits for what is in a buffer, and signals. Any number of outputs may write to one
 * buffer, any number of waiters may wait for each, and all processes of a group may be sent a
 * signal: interrupts do that for a moment, in the user's share of their CPU's time, and a worker of
 * his the rest, in a share of the time, too. What one user has used up of his no other lacks, until
 * that of all of them together is used up as well.
 */
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/hashtable.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/refcount.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "core/event.h"
#include "core/quota.h"
#include "sample/buffer.h"
#include "sample/output.h"
#include "sample/wake.h"

/*
 * How long interrupts may wake in a row, in ns, for one user and for all, and how many outputs a
 * buffer has at most then
 */
#define WAKE_AT_ONCE_NS		200000
#define WAKE_AT_ONCE_ALL_NS	(4 * WAKE_AT_ONCE_NS)
#define WAKE_AT_ONCE		64

/*
 * So many times as long as it took, who has woken does not: a worker, the interrupts of each CPU
 * for one user, and those for all.
 */
#define WAKE_SHARE	10
#define WAKE_SHARE_ALL	3

/*
 * At most so long, in ns, is paid for at once: the machine may have stood still meanwhile. One user
 * may have any number of waiters woken at once, and pays for it; others do not pay for him.
 */
#define WAKE_PAID_NS		(10ull * NSEC_PER_SEC)
#define WAKE_PAID_ALL_NS	(20 * NSEC_PER_MSEC)
#define WAKE_PAID_WORKER_NS	NSEC_PER_SEC

/**
 * struct pmuctl_waker - a worker that wakes for a user: who has many buffers has no more of them
 * @uid: the user.
 * @node: in wakers.
 * @refs: his buffers and outputs, and the work while it is pending or runs.
 * @paid_until: as the variable of that name, for him.
 * @lock: of the following; taken in hard IRQs.
 * @buffers: those whose waiters are to be woken, by their to_wake.
 * @outputs: those whose owners are to be sent a signal, by their to_signal.
 * @next: not before that, in jiffies.
 * @work: does it, one buffer after the other.
 */
struct pmuctl_waker {
	kuid_t uid;
	struct hlist_node node;
	refcount_t refs;
	u64 __percpu *paid_until;

	spinlock_t lock; /* the rest */
	struct list_head buffers;
	struct list_head outputs;
	unsigned long next;
	struct delayed_work work;
};

/* Until when what interrupts have woken is paid for, in ns of local_clock() */
static DEFINE_PER_CPU(u64, paid_until);

static DEFINE_HASHTABLE(wakers, 6);
static DEFINE_MUTEX(wakers_mutex); /* a leaf */
static struct workqueue_struct *wake_queue;

/* ---- Who wakes ---- */

/* The user's, which is @spare if he has none, or NULL */
static struct pmuctl_waker *find_or_add(kuid_t uid, struct pmuctl_waker *spare)
{
	struct pmuctl_waker *waker;

	mutex_lock(&wakers_mutex);
	hash_for_each_possible(wakers, waker, node, __kuid_val(uid)) {
		if (uid_eq(waker->uid, uid)) {
			refcount_inc(&waker->refs);
			goto out;
		}
	}
	waker = spare;
	if (waker)
		hash_add(wakers, &waker->node, __kuid_val(uid));
out:
	mutex_unlock(&wakers_mutex);
	return waker;
}

static void wake_next(struct work_struct *work);

static struct pmuctl_waker *make(kuid_t uid)
{
	struct pmuctl_waker *waker = kzalloc(sizeof(*waker), GFP_KERNEL_ACCOUNT);

	if (!waker)
		return NULL;
	waker->paid_until = alloc_percpu_gfp(u64, GFP_KERNEL_ACCOUNT);
	if (!waker->paid_until) {
		kfree(waker);
		return NULL;
	}
	waker->uid = uid;
	refcount_set(&waker->refs, 1);
	spin_lock_init(&waker->lock);
	INIT_LIST_HEAD(&waker->buffers);
	INIT_LIST_HEAD(&waker->outputs);
	waker->next = jiffies;
	INIT_DELAYED_WORK(&waker->work, wake_next);
	return waker;
}

static void free_waker(struct pmuctl_waker *waker)
{
	free_percpu(waker->paid_until);
	kfree(waker);
}

struct pmuctl_waker *pmuctl_waker_get(kuid_t uid)
{
	struct pmuctl_waker *waker = find_or_add(uid, NULL), *spare;

	if (waker)
		return waker;
	/* A cgroup may let who allocates wait for seconds: nobody else does. */
	spare = make(uid);
	if (!spare)
		return NULL;
	waker = find_or_add(uid, spare);
	if (waker != spare)
		free_waker(spare);
	return waker;
}

void pmuctl_waker_put(struct pmuctl_waker *waker)
{
	if (!refcount_dec_and_mutex_lock(&waker->refs, &wakers_mutex))
		return;
	hash_del(&waker->node);
	mutex_unlock(&wakers_mutex);
	free_waker(waker);
}

/* Its lock held; a buffer, or the work that runs, keeps it */
static void start(struct pmuctl_waker *waker)
{
	long delay = waker->next - jiffies;

	if (queue_delayed_work(wake_queue, &waker->work, max(delay, 0L)))
		refcount_inc(&waker->refs);
}

/* ---- Time; preemption off ---- */

/* What is left of @most in a share, all in ns */
static u64 left_of(u64 most, u64 until, u64 now, unsigned int share)
{
	u64 owed = until > now ? (until - now) / share : 0;

	return owed < most ? most - owed : 0;
}

/* How long this CPU may wake now for that user, in ns */
static u64 time_left(const struct pmuctl_waker *waker, u64 now)
{
	return min(left_of(WAKE_AT_ONCE_NS, this_cpu_read(*waker->paid_until), now, WAKE_SHARE),
		   left_of(WAKE_AT_ONCE_ALL_NS, this_cpu_read(paid_until), now, WAKE_SHARE_ALL));
}

static void pay(const struct pmuctl_waker *waker, u64 begin)
{
	const u64 took = local_clock() - begin;
	u64 *his = this_cpu_ptr(waker->paid_until), *all = this_cpu_ptr(&paid_until);

	*his = max(*his, begin) + min_t(u64, took, WAKE_PAID_NS) * WAKE_SHARE;
	*all = max(*all, begin) + min_t(u64, took, WAKE_PAID_ALL_NS) * WAKE_SHARE_ALL;
}

/* ---- Waking ---- */

/*
 * One output, which becomes the last: those that were there are woken before any that comes
 * meanwhile, or is woken a second time. Nothing is locked that others wait for while its waiters
 * are woken, however many they are. Inside of rcu_read_lock(), which keeps it. Returns false if
 * there is none.
 */
static bool wake_one(struct pmuctl_buffer *buffer)
{
	struct pmuctl_output *first;
	unsigned long flags;

	spin_lock_irqsave(&buffer->lock, flags);
	first = list_first_entry_or_null(&buffer->outputs, struct pmuctl_output, node);
	list_rotate_left(&buffer->outputs);
	spin_unlock_irqrestore(&buffer->lock, flags);
	if (first)
		wake_up_all(&first->wait);
	return first;
}

/*
 * Returns whether all have been woken. Preemption off. A buffer without outputs may have been
 * forgotten by its waker, and must not be listed there again; one that has some now, inside of
 * rcu_read_lock(), is forgotten when we are done.
 */
static bool wake_at_once(struct pmuctl_buffer *buffer)
{
	unsigned int n = READ_ONCE(buffer->nr_outputs);
	u64 begin, left;

	if (!n)
		return true;
	begin = local_clock();
	left = time_left(buffer->waker, begin);
	if (n > WAKE_AT_ONCE || !left)
		return false;
	while (n && wake_one(buffer))
		if (--n && local_clock() - begin > left)
			break;
	pay(buffer->waker, begin);
	return !n;
}

/* Returns how long it took, in ns, others who ran meanwhile apart. */
static u64 wake_all(struct pmuctl_buffer *buffer)
{
	unsigned int n = READ_ONCE(buffer->nr_outputs);
	bool any = true;
	u64 took = 0;

	for (; n && any; n--) {
		u64 begin;

		rcu_read_lock();
		preempt_disable(); /* who is woken may want this CPU */
		begin = ktime_get_ns();
		any = wake_one(buffer);
		took += ktime_get_ns() - begin;
		preempt_enable();
		rcu_read_unlock();
		cond_resched();
	}
	return took;
}

static void queue_wake(struct pmuctl_buffer *buffer)
{
	struct pmuctl_waker *waker = buffer->waker;
	unsigned long flags;

	spin_lock_irqsave(&waker->lock, flags);
	if (list_empty(&buffer->to_wake)) {
		list_add_tail(&buffer->to_wake, &waker->buffers);
		start(waker);
	}
	spin_unlock_irqrestore(&waker->lock, flags);
}

/* With a reference. Who wants to be woken again meanwhile is listed again. */
static struct pmuctl_buffer *next_to_wake(struct pmuctl_waker *waker)
{
	struct pmuctl_buffer *buffer;

	spin_lock_irq(&waker->lock);
	buffer = list_first_entry_or_null(&waker->buffers, struct pmuctl_buffer, to_wake);
	if (buffer) {
		list_del_init(&buffer->to_wake);
		refcount_inc(&buffer->refs);
	}
	spin_unlock_irq(&waker->lock);
	return buffer;
}

/* ---- Signals ---- */

/* Who waits, and who gets signals. Inside of rcu_read_lock() */
static void tell_now(struct pmuctl_output *output, bool wake)
{
	bool hang_up = xchg(&output->hang_up, false);

	if (wake)
		wake_up_all(&output->wait);
	kill_fasync(&output->fasync, SIGIO, hang_up ? POLL_HUP : POLL_IN);
}

static void queue_signal(struct pmuctl_waker *waker, struct pmuctl_output *output)
{
	unsigned long flags;

	spin_lock_irqsave(&waker->lock, flags);
	if (list_empty(&output->to_signal)) {
		list_add_tail(&output->to_signal, &waker->outputs);
		start(waker);
	}
	spin_unlock_irqrestore(&waker->lock, flags);
}

/* Returns how long it took, in ns; 0: there was none. */
static u64 signal_next(struct pmuctl_waker *waker)
{
	struct pmuctl_output *output;
	u64 begin, took = 0;

	rcu_read_lock();
	spin_lock_irq(&waker->lock);
	output = list_first_entry_or_null(&waker->outputs, struct pmuctl_output, to_signal);
	if (output)
		list_del_init(&output->to_signal);
	spin_unlock_irq(&waker->lock);
	if (output) {
		preempt_disable();
		begin = ktime_get_ns();
		tell_now(output, true);
		took = ktime_get_ns() - begin + 1;
		preempt_enable();
	}
	rcu_read_unlock();
	return took;
}

int pmuctl_output_may_signal(struct pmuctl_output *output)
{
	struct pmuctl_waker *waker;

	if (READ_ONCE(output->waker))
		return 0;
	waker = pmuctl_waker_get(pmuctl_payer());
	if (!waker)
		return -ENOMEM;
	if (cmpxchg(&output->waker, NULL, waker))
		pmuctl_waker_put(waker);
	return 0;
}

/* ---- The worker ---- */

/* Returns how long it took, in ns; 0: there was nobody to wake or to signal. */
static u64 wake_some(struct pmuctl_waker *waker)
{
	struct pmuctl_buffer *buffer = next_to_wake(waker);
	u64 took = signal_next(waker);

	cond_resched();
	if (!buffer)
		return took;
	took += wake_all(buffer) + 1;
	pmuctl_buffer_put(buffer);
	return took;
}

static void wake_next(struct work_struct *work)
{
	struct pmuctl_waker *waker = container_of(to_delayed_work(work), struct pmuctl_waker, work);
	u64 took = 0, more = 1;

	/* It may have been queued while it ran. */
	if (time_before_eq(READ_ONCE(waker->next), jiffies))
		for (; more && took < WAKE_AT_ONCE_NS; took += more)
			more = wake_some(waker);
	spin_lock_irq(&waker->lock);
	if (took)
		WRITE_ONCE(waker->next, jiffies + 1 +
			   nsecs_to_jiffies(min_t(u64, took, WAKE_PAID_WORKER_NS) * WAKE_SHARE));
	if (!list_empty(&waker->buffers) || !list_empty(&waker->outputs))
		start(waker);
	spin_unlock_irq(&waker->lock);
	pmuctl_waker_put(waker);
}

void pmuctl_waker_forget(struct pmuctl_buffer *buffer)
{
	struct pmuctl_waker *waker = buffer->waker;

	spin_lock_irq(&waker->lock);
	list_del_init(&buffer->to_wake);
	spin_unlock_irq(&waker->lock);
}

void pmuctl_waker_forget_output(struct pmuctl_output *output)
{
	struct pmuctl_waker *waker = output->waker;

	if (!waker)
		return;
	spin_lock_irq(&waker->lock);
	list_del_init(&output->to_signal);
	spin_unlock_irq(&waker->lock);
	pmuctl_waker_put(waker);
}

void pmuctl_buffer_wake(struct pmuctl_buffer *buffer)
{
	rcu_read_lock();
	atomic_set(&buffer->poll, 1);
	/* An output that comes sees that, or is seen here. */
	smp_mb();
	preempt_disable();
	if (!wake_at_once(buffer))
		queue_wake(buffer);
	preempt_enable();
	rcu_read_unlock();
}

void pmuctl_output_told(struct pmuctl_output *output)
{
	struct pmuctl_waker *waker = READ_ONCE(output->waker);
	struct pmuctl_buffer *buffer;
	u64 begin;

	rcu_read_lock();
	buffer = rcu_dereference(output->buffer);
	if (buffer)
		pmuctl_buffer_wake(buffer);
	/* Who gets no signals and has no limit is told by his buffer. */
	if (!waker)
		goto out;
	begin = local_clock();
	if (!time_left(waker, begin)) {
		queue_signal(waker, output);
	} else {
		tell_now(output, !buffer);
		pay(waker, begin);
	}
out:
	rcu_read_unlock();
}

/* ---- Beginning and end ---- */

int __init pmuctl_waker_init(void)
{
	wake_queue = alloc_workqueue("pmuctl_wake", WQ_UNBOUND, 0);
	return wake_queue ? 0 : -ENOMEM;
}

/* With a reference */
static struct pmuctl_waker *any_waker(void)
{
	struct pmuctl_waker *waker;
	int bucket;

	mutex_lock(&wakers_mutex);
	hash_for_each(wakers, bucket, waker, node) {
		refcount_inc(&waker->refs);
		goto out;
	}
	waker = NULL;
out:
	mutex_unlock(&wakers_mutex);
	return waker;
}

/* What is still queued has nothing to do. */
void pmuctl_waker_exit(void)
{
	struct pmuctl_waker *waker;

	while ((waker = any_waker())) {
		if (cancel_delayed_work_sync(&waker->work))
			pmuctl_waker_put(waker);
		pmuctl_waker_put(waker);
	}
	destroy_workqueue(wake_queue);
}
