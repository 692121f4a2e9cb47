// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which event descriptors a thread has opened, for PMUCTL_IOC_TASK_ENABLE and _DISABLE: a list for
 * each such thread with a mutex of its own, so that nobody goes through, or waits for, what others
 * have. What is done with the events is done without it: who closes one waits for no other.
 * Process context.
 */
#include <linux/hash.h>
#include <linux/hashtable.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "event/change.h"
#include "front/event_fd.h"

/**
 * struct pmuctl_opener - a thread that has opened events
 * @pid: which; constant, referenced.
 * @node: in openers, and
 * @refs: one for each of its files, and for who looks at them; openers_mutex.
 * @mutex: protects @files. A leaf.
 * @files: by event_file.node, and how far the thread itself has come that switches them.
 */
struct pmuctl_opener {
	struct pid *pid;
	struct hlist_node node;
	unsigned int refs;
	struct mutex mutex; /* @files */
	struct list_head files;
};

static DEFINE_HASHTABLE(openers, 8);
static DEFINE_MUTEX(openers_mutex); /* a leaf */

static struct pmuctl_opener *find(const struct pid *pid)
{
	struct pmuctl_opener *opener;

	lockdep_assert_held(&openers_mutex);
	hash_for_each_possible(openers, opener, node, (unsigned long)pid)
		if (opener->pid == pid)
			return opener;
	return NULL;
}

static struct pmuctl_opener *make(struct pid *pid)
{
	struct pmuctl_opener *opener = kzalloc(sizeof(*opener), GFP_KERNEL_ACCOUNT);

	if (!opener)
		return NULL;
	opener->pid = get_pid(pid);
	mutex_init(&opener->mutex);
	INIT_LIST_HEAD(&opener->files);
	opener->refs = 1;
	return opener;
}

struct pmuctl_opener *pmuctl_opener_get(bool new)
{
	struct pid *pid = task_pid(current);
	struct pmuctl_opener *opener;

	mutex_lock(&openers_mutex);
	opener = find(pid);
	if (opener)
		opener->refs++;
	mutex_unlock(&openers_mutex);
	if (opener || !new)
		return opener;

	/* Nobody else makes it, nor waits while a cgroup lets who allocates wait. */
	opener = make(pid);
	if (!opener)
		return NULL;
	mutex_lock(&openers_mutex);
	hash_add(openers, &opener->node, (unsigned long)pid);
	mutex_unlock(&openers_mutex);
	return opener;
}

void pmuctl_opener_put(struct pmuctl_opener *opener)
{
	mutex_lock(&openers_mutex);
	if (!--opener->refs) {
		hash_del(&opener->node);
		put_pid(opener->pid);
		kfree(opener);
	}
	mutex_unlock(&openers_mutex);
}

void pmuctl_opener_add(struct event_file *ef)
{
	mutex_lock(&ef->opener->mutex);
	list_add_tail(&ef->node, &ef->opener->files);
	mutex_unlock(&ef->opener->mutex);
}

void pmuctl_opener_del(struct event_file *ef)
{
	mutex_lock(&ef->opener->mutex);
	list_del(&ef->node);
	mutex_unlock(&ef->opener->mutex);
}

/* What comes behind @cursor, which is then behind that; with a reference. NULL: nothing does. */
static struct event_file *next_file(struct pmuctl_opener *opener, struct list_head *cursor)
{
	struct event_file *ef = NULL;

	mutex_lock(&opener->mutex);
	if (!list_is_last(cursor, &opener->files)) {
		ef = list_entry(cursor->next, struct event_file, node);
		refcount_inc(&ef->refs);
		list_move(cursor, &ef->node);
	}
	mutex_unlock(&opener->mutex);
	return ef;
}

static void switch_files(struct pmuctl_opener *opener, struct list_head *cursor, bool enable)
{
	struct event_file *ef;

	while (!fatal_signal_pending(current) && (ef = next_file(opener, cursor))) {
		if (enable)
			pmuctl_event_enable(ef->event, false);
		else
			pmuctl_event_disable(ef->event, false);
		pmuctl_event_file_put(ef);
		cond_resched();
	}
}

void pmuctl_event_fd_switch_own(bool enable)
{
	struct pmuctl_opener *opener = pmuctl_opener_get(false);
	struct list_head cursor;

	if (!opener)
		return;
	/* Nobody but this thread has one in the list, as it is its own. */
	mutex_lock(&opener->mutex);
	list_add(&cursor, &opener->files);
	mutex_unlock(&opener->mutex);
	switch_files(opener, &cursor, enable);
	mutex_lock(&opener->mutex);
	list_del(&cursor);
	mutex_unlock(&opener->mutex);
	pmuctl_opener_put(opener);
}
