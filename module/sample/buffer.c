// SPDX-License-Identifier: GPL-2.0-only
/*
 * Buffers: rings that user space has mapped. Which outputs write to which buffer, and whose
 * locked memory it is. Waking who waits for what is in them: wake.c.
 *
 * A buffer is taken away from its outputs with its last mapping, by munmap() or by the end
 * of the process however that comes; its memory goes when no writer can know it any more.
 */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "core/event.h"
#include "core/quota.h"
#include "core/rdpmc.h"
#include "sample/buffer.h"
#include "sample/output.h"
#include "sample/wake.h"

/* Of a buffer, and more than perf gives one; what lists them is 8 MiB then. */
#define PAGES_MAX	BIT(19)

/* Inside of mmap_lock, and outside of all locks of the core but pmuctl_mutex */
static DEFINE_MUTEX(buffer_mutex);
static struct workqueue_struct *free_queue;

static unsigned int mlock_kb = 516;
module_param(mlock_kb, uint, 0644);
MODULE_PARM_DESC(mlock_kb,
		 "KiB of buffers per online CPU that a user may have beyond RLIMIT_MEMLOCK (default 516)");

/* ---- Locked memory; all in pages ---- */

static unsigned long allowance(void)
{
	return ((unsigned long)READ_ONCE(mlock_kb) << 10 >> PAGE_SHIFT) *
		num_online_cpus();
}

/* Two who ask at once may not both get what is left; inside of all mutexes of buffers. */
static DEFINE_MUTEX(charge_mutex);

/* What the user's allowance does not cover is the process's. */
static int charge_locked(struct pmuctl_charge *charge, unsigned long pages,
			 struct pmuctl_explanation *why)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	unsigned long free = allowance(), used, pinned;

	used = atomic_long_read(&current_user()->locked_vm);
	free = used < free ? free - used : 0;
	charge->locked = min(pages, free);
	charge->pinned = pages - charge->locked;
	pinned = atomic64_read(&current->mm->pinned_vm) + charge->pinned;
	if (charge->pinned && pinned > limit && !capable(CAP_IPC_LOCK))
		return pmuctl_refuse(why, MEMLOCK, "", pages << PAGE_SHIFT >> 10,
				     free << PAGE_SHIFT >> 10,
				     limit << PAGE_SHIFT >> 10);
	if (pages > PAGES_MAX + 1)
		return pmuctl_refuse(why, MMAP_TOO_LARGE, "", pages << PAGE_SHIFT >> 20,
				     PAGES_MAX << PAGE_SHIFT >> 20);

	/* They hold the user. Not all kernels export what drops that alone. */
	charge->cred = get_current_cred();
	charge->mm = current->mm;
	mmgrab(charge->mm);
	atomic_long_add(charge->locked, &charge->cred->user->locked_vm);
	atomic64_add(charge->pinned, &charge->mm->pinned_vm);
	return 0;
}

int pmuctl_charge(struct pmuctl_charge *charge, unsigned long pages,
		  struct pmuctl_explanation *why)
{
	int err;

	mutex_lock(&charge_mutex);
	err = charge_locked(charge, pages, why);
	mutex_unlock(&charge_mutex);
	return err;
}

void pmuctl_uncharge(struct pmuctl_charge *charge)
{
	atomic_long_sub(charge->locked, &charge->cred->user->locked_vm);
	atomic64_sub(charge->pinned, &charge->mm->pinned_vm);
	mmdrop(charge->mm);
	put_cred(charge->cred);
}

/* ---- Their making and end ---- */

void pmuctl_buffer_put(struct pmuctl_buffer *buffer)
{
	if (!refcount_dec_and_test(&buffer->refs))
		return;
	ring_free(buffer->ring);
	pmuctl_waker_put(buffer->waker);
	kfree(buffer);
}

/* Who is woken now has a reference: who frees waits for nobody. */
static void free_work(struct work_struct *work)
{
	struct pmuctl_buffer *buffer = container_of(to_rcu_work(work), struct pmuctl_buffer, free);

	pmuctl_waker_forget(buffer);
	pmuctl_buffer_put(buffer);
}

static struct pmuctl_buffer *make_buffer(const struct pmuctl_output *output,
					 unsigned long nr_pages,
					 unsigned int flags,
					 struct pmuctl_explanation *why)
{
	struct pmuctl_buffer *buffer;
	int err;

	buffer = kzalloc(sizeof(*buffer), GFP_KERNEL_ACCOUNT);
	if (!buffer)
		return ERR_PTR(pmuctl_refuse(why, NO_MEMORY, ""));
	err = pmuctl_charge(&buffer->charge, nr_pages + 1, why);
	if (err)
		goto err_free;
	buffer->waker = pmuctl_waker_get(pmuctl_payer());
	if (!buffer->waker) {
		err = pmuctl_refuse(why, NO_MEMORY, "");
		goto err_uncharge;
	}
	buffer->ring = ring_alloc(nr_pages, flags, output->watermark);
	if (!buffer->ring) {
		err = pmuctl_refuse(why, NO_MEMORY, "");
		goto err_put_waker;
	}
	refcount_set(&buffer->refs, 1);
	if (output->clockid < 0)
		pmuctl_userpage_tell_clock(buffer->ring->user);
	buffer->nr_pages = nr_pages;
	buffer->flags = flags;
	spin_lock_init(&buffer->lock);
	INIT_LIST_HEAD(&buffer->outputs);
	INIT_LIST_HEAD(&buffer->to_wake);
	INIT_RCU_WORK(&buffer->free, free_work);
	return buffer;

err_put_waker:
	pmuctl_waker_put(buffer->waker);
err_uncharge:
	pmuctl_uncharge(&buffer->charge);
err_free:
	kfree(buffer);
	return ERR_PTR(err);
}

/* Where it is listed */
static struct pmuctl_buffer *listed_in(struct pmuctl_output *output)
{
	return rcu_dereference_protected(output->buffer,
					 lockdep_is_held(&buffer_mutex));
}

/* What can be used: one that nobody has mapped any more is on its way out. */
static struct pmuctl_buffer *buffer_of(struct pmuctl_output *output)
{
	struct pmuctl_buffer *buffer = listed_in(output);

	return buffer && buffer->mappings ? buffer : NULL;
}

/* Returns whether it had another one, or none. */
static bool set_buffer(struct pmuctl_output *output, struct pmuctl_buffer *buffer)
{
	struct pmuctl_buffer *old = listed_in(output);

	if (old == buffer)
		return false;
	if (old) {
		spin_lock_irq(&old->lock);
		list_del(&output->node);
		WRITE_ONCE(old->nr_outputs, old->nr_outputs - 1);
		spin_unlock_irq(&old->lock);
	}
	if (buffer) {
		spin_lock_irq(&buffer->lock);
		list_add_tail(&output->node, &buffer->outputs);
		WRITE_ONCE(buffer->nr_outputs, buffer->nr_outputs + 1);
		spin_unlock_irq(&buffer->lock);
	}
	rcu_assign_pointer(output->buffer, buffer);
	return true;
}

/* Map what the output writes to, or @new if that is nothing; NULL if there is neither. */
static struct pmuctl_buffer *map_one_of(struct pmuctl_output *output,
					struct pmuctl_buffer *new, unsigned long nr_pages,
					struct pmuctl_explanation *why)
{
	struct pmuctl_buffer *buffer;

	mutex_lock(&buffer_mutex);
	buffer = buffer_of(output);
	if (!buffer && new) {
		buffer = new;
		set_buffer(output, new);
	}
	if (buffer && buffer->nr_pages != nr_pages)
		buffer = ERR_PTR(pmuctl_refuse(why, MMAP_OTHER_SIZE, "",
					       nr_pages, buffer->nr_pages));
	if (!IS_ERR_OR_NULL(buffer)) {
		buffer->mappings++;
		output->mappings++;
	}
	mutex_unlock(&buffer_mutex);
	return buffer;
}

/* A cgroup may let who allocates wait for seconds: nobody else is to wait for that. */
struct pmuctl_buffer *pmuctl_buffer_map(struct pmuctl_output *output,
					unsigned long nr_pages,
					unsigned int flags,
					struct pmuctl_explanation *why)
{
	struct pmuctl_buffer *buffer, *new;

	buffer = map_one_of(output, NULL, nr_pages, why);
	if (buffer)
		return buffer;
	new = make_buffer(output, nr_pages, flags, why);
	if (IS_ERR(new))
		return new;
	buffer = map_one_of(output, new, nr_pages, why);
	if (buffer != new) {
		/* Another process was faster. */
		pmuctl_uncharge(&new->charge);
		pmuctl_buffer_put(new);
	}
	return buffer;
}

void pmuctl_buffer_map_again(struct pmuctl_output *output,
			     struct pmuctl_buffer *buffer)
{
	mutex_lock(&buffer_mutex);
	buffer->mappings++;
	output->mappings++;
	mutex_unlock(&buffer_mutex);
}

struct pmuctl_buffer *pmuctl_buffer_map_own(struct pmuctl_output *output)
{
	struct pmuctl_buffer *buffer;

	mutex_lock(&buffer_mutex);
	buffer = output->mappings ? buffer_of(output) : NULL;
	if (buffer) {
		buffer->mappings++;
		output->mappings++;
	}
	mutex_unlock(&buffer_mutex);
	return buffer;
}

static struct pmuctl_output *first_output(struct pmuctl_buffer *buffer)
{
	struct pmuctl_output *first;

	spin_lock_irq(&buffer->lock);
	first = list_first_entry_or_null(&buffer->outputs, struct pmuctl_output, node);
	spin_unlock_irq(&buffer->lock);
	return first;
}

/* Any number may write to one buffer: from so many it is taken while others wait. */
#define TAKE_AT_ONCE	64

/* From some of its outputs, to which no more come. Returns whether there may be others. */
static bool take_from_some(struct pmuctl_buffer *buffer)
{
	unsigned int n = TAKE_AT_ONCE;
	struct pmuctl_output *each;

	mutex_lock(&buffer_mutex);
	while (n && (each = first_output(buffer))) {
		set_buffer(each, NULL);
		n--;
	}
	mutex_unlock(&buffer_mutex);
	return !n;
}

void pmuctl_buffer_unmap(struct pmuctl_output *output,
			 struct pmuctl_buffer *buffer)
{
	bool last;

	mutex_lock(&buffer_mutex);
	output->mappings--;
	last = !--buffer->mappings;
	mutex_unlock(&buffer_mutex);
	if (!last)
		return;
	while (take_from_some(buffer))
		cond_resched();
	pmuctl_uncharge(&buffer->charge);
	queue_rcu_work(free_queue, &buffer->free);
}

/* ---- What else users do with them ---- */

static int check_redirect(struct pmuctl_output *output, struct pmuctl_output *to,
			  struct pmuctl_explanation *why)
{
	if (output->mappings)
		return pmuctl_refuse(why, OUTPUT_MAPPED, "");
	if (!to)
		return 0;
	if (!buffer_of(to))
		return pmuctl_refuse(why, OUTPUT_NO_BUFFER, "");
	if (to->clockid != output->clockid)
		return pmuctl_refuse(why, OUTPUT_OTHER, "", "clockid");
	if (to->backward != output->backward)
		return pmuctl_refuse(why, OUTPUT_OTHER, "", "write_backward");
	return 0;
}

/*
 * A record may be on its way into a buffer that the output has just left. Its interrupt, then,
 * wakes those who wait for the new one.
 */
static void tell_those_left(struct pmuctl_buffer *buffer)
{
	synchronize_rcu();
	if (ring_has_any(buffer->ring))
		pmuctl_buffer_wake(buffer);
	pmuctl_buffer_put(buffer);
}

int pmuctl_output_redirect(struct pmuctl_output *output,
			   struct pmuctl_output *to,
			   struct pmuctl_explanation *why)
{
	struct pmuctl_buffer *left = NULL;
	bool moved = false;
	int err;

	mutex_lock(&buffer_mutex);
	err = check_redirect(output, to, why);
	if (!err) {
		left = listed_in(output);
		moved = set_buffer(output, to ? buffer_of(to) : NULL);
	}
	if (moved && left)
		refcount_inc(&left->refs);
	mutex_unlock(&buffer_mutex);
	if (!moved)
		return err;
	/* There may be records, of which others were told when they came. */
	wake_up_all(&output->wait);
	if (left)
		tell_those_left(left);
	return 0;
}

void pmuctl_output_leave(struct pmuctl_output *output)
{
	mutex_lock(&buffer_mutex);
	set_buffer(output, NULL);
	mutex_unlock(&buffer_mutex);
}

int pmuctl_output_pause(struct pmuctl_output *output, bool pause,
			struct pmuctl_explanation *why)
{
	struct pmuctl_buffer *buffer;
	int err = 0;

	mutex_lock(&buffer_mutex);
	buffer = buffer_of(output);
	if (buffer)
		ring_pause(buffer->ring, pause);
	else
		err = pmuctl_refuse(why, NO_BUFFER, "");
	mutex_unlock(&buffer_mutex);
	return err;
}

bool pmuctl_output_poll(struct pmuctl_output *output)
{
	struct pmuctl_buffer *buffer;
	bool any;

	rcu_read_lock();
	buffer = rcu_dereference(output->buffer);
	any = buffer && atomic_xchg(&buffer->poll, 0);
	rcu_read_unlock();
	return any;
}

int __init pmuctl_buffer_init(void)
{
	int err = pmuctl_waker_init();

	if (err)
		return err;
	free_queue = alloc_workqueue("pmuctl", WQ_UNBOUND, 0);
	if (free_queue)
		return 0;
	pmuctl_waker_exit();
	return -ENOMEM;
}

void pmuctl_buffer_exit(void)
{
	rcu_barrier(); /* until all that is to be freed is in the queue */
	destroy_workqueue(free_queue);
	pmuctl_waker_exit();
}
