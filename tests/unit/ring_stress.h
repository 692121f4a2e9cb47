/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sample ring under load: threads are CPUs, signals are interrupts and NMIs, the
 * calling thread reads. A CPU signals itself in the middle of records, and another thread
 * signals all of them at any instant. Nothing is measured in time: writers write a number
 * of records, and some wait, while a record is open, until the reader has looked.
 *
 * What the threads share apart from the ring is accessed relaxed, lest it orders what
 * the ring has to order.
 */
#ifndef PMUCTL_TESTS_UNIT_RING_STRESS_H
#define PMUCTL_TESTS_UNIT_RING_STRESS_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "unit/ring_space.h"

#define STRESS_CPUS	4
#define STRESS_LEVELS	3	/* task, interrupt, NMI */
#define STRESS_WORDS	30

#define relaxed(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define relaxed_set(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)

struct stress;

struct cpu {
	struct stress *stress;
	pthread_t thread;
	struct producer p[STRESS_LEVELS];
	u64 interrupted;	/* records in the middle of which another was written */
};

struct stress {
	struct space *sp;
	u64 records;		/* of each task, if it is not told to stop */
	bool signals;
	bool pauses;		/* the reader waits for writers, so they may not for it */

	struct cpu cpus[STRESS_CPUS];
	struct reader reader;
	u64 looks;		/* of the reader */
	u64 snapshots;
	u64 last_head;
	unsigned int done;	/* CPUs */
	bool stop;
};

static __thread struct cpu *this_cpu;
static const int stress_signals[STRESS_LEVELS] = { 0, SIGUSR1, SIGUSR2 };

static void stress_wait_for_looks(struct stress *st)
{
	u64 looks = relaxed(st->looks);

	while (relaxed(st->looks) < looks + 2)
		sched_yield();
}

static void stress_in_between(void *arg)
{
	struct producer *p = arg;
	struct cpu *cpu = this_cpu;
	unsigned int level = p - cpu->p;
	u64 written;

	if (cpu->stress->signals && level + 1 < STRESS_LEVELS && p->produced % 8 == 0) {
		written = p[1].written;
		pthread_kill(pthread_self(), stress_signals[level + 1]);
		relaxed_set(cpu->interrupted, cpu->interrupted + (p[1].written != written));
	}
	if (!level && !cpu->stress->pauses && p->produced % 64 == 0)
		stress_wait_for_looks(cpu->stress);
}

static bool stress_produce(unsigned int level)
{
	struct producer *p = &this_cpu->p[level];

	return produce(&this_cpu->stress->sp->ring, p, stress_in_between, p);
}

static void stress_interrupt(int sig)
{
	if (this_cpu)
		stress_produce(sig == SIGUSR1 ? 1 : 2);
}

static void *stress_cpu(void *arg)
{
	struct stress *st;

	this_cpu = arg;
	st = this_cpu->stress;
	while (!relaxed(st->stop) && this_cpu->p[0].produced < relaxed(st->records))
		if (!stress_produce(0))
			stress_wait_for_looks(st);
	__atomic_fetch_add(&st->done, 1, __ATOMIC_RELAXED);
	/* Threads that signals may be sent to must be there. */
	while (!relaxed(st->stop))
		sched_yield();
	return NULL;
}

/* Interrupts of the other kind: at any instant */
static void *stress_signaller(void *arg)
{
	struct stress *st = arg;
	unsigned int i = 0;

	while (relaxed(st->done) < STRESS_CPUS) {
		pthread_kill(st->cpus[i % STRESS_CPUS].thread, i % 3 ? SIGUSR1 : SIGUSR2);
		i++;
		sched_yield();
	}
	return NULL;
}

static void stress_handle_signals(void)
{
	struct sigaction action = { .sa_handler = stress_interrupt, .sa_flags = SA_RESTART };

	sigaction(SIGUSR1, &action, NULL);
	sigaddset(&action.sa_mask, SIGUSR1); /* no interrupt within an NMI */
	sigaction(SIGUSR2, &action, NULL);
}

/* The reader: called again and again until all is done. False: it has a finding. */
typedef bool (*stress_read)(struct stress *st);

static bool stress_run(struct stress *st, stress_read look)
{
	pthread_t signaller;
	unsigned int i, level;
	bool good = true;

	st->reader.max_words = STRESS_WORDS;
	if (st->signals)
		stress_handle_signals();
	for (i = 0; i < STRESS_CPUS; i++) {
		st->cpus[i].stress = st;
		for (level = 0; level < STRESS_LEVELS; level++) {
			st->cpus[i].p[level].id = i * STRESS_LEVELS + level;
			st->cpus[i].p[level].max_words = STRESS_WORDS;
		}
		space_check(!pthread_create(&st->cpus[i].thread, NULL, stress_cpu, &st->cpus[i]),
			    "a thread");
	}
	if (st->signals)
		space_check(!pthread_create(&signaller, NULL, stress_signaller, st), "a thread");
	/* It goes on after a finding, since writers wait for its looks. */
	while (relaxed(st->done) < STRESS_CPUS) {
		good = good && look(st);
		if (!good)
			relaxed_set(st->sp->user->data_tail, relaxed(st->sp->user->data_head));
		relaxed_set(st->looks, st->looks + 1);
		if (!good)
			relaxed_set(st->records, 0);
	}
	if (st->signals)
		pthread_join(signaller, NULL);
	relaxed_set(st->stop, true);
	for (i = 0; i < STRESS_CPUS; i++)
		pthread_join(st->cpus[i].thread, NULL);
	return good;
}

static inline bool stress_look(struct stress *st)
{
	return read_and_free(&st->reader, st->sp);
}

/* A reader that sleeps until something is lost */
static inline bool stress_look_late(struct stress *st)
{
	return !relaxed(st->sp->ring.lost.counter) || read_and_free(&st->reader, st->sp);
}

static inline bool stress_look_never(struct stress *st)
{
	(void)st;
	return true;
}

/* Read a backward ring from its head to what is too old: all of it is whole. */
static inline bool read_newest(struct reader *r, struct space *sp)
{
	u64 head = smp_load_acquire(&sp->user->data_head); /* (D) */
	u64 left = -head < sp->ring.size ? -head : sp->ring.size;
	const struct perf_event_header *header;
	u32 size;

	r->from_the_newest = true;
	for (; left; left -= size, head += size) {
		header = (void *)(sp->data + (head & (sp->ring.size - 1)));
		if (left < sizeof(*header) || header->size > left)
			return true; /* its end has been overwritten */
		size = read_record(r, (void *)header, left);
		if (!size)
			return false;
	}
	return true;
}

/* In the middle of how many records was another one written? */
static inline u64 stress_interrupted(struct stress *st)
{
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < STRESS_CPUS; i++)
		sum += relaxed(st->cpus[i].interrupted);
	return sum;
}

#define STRESS_SNAPSHOTS	200

/* Something new is in each snapshot. The last one ends the test. */
static inline bool stress_look_paused(struct stress *st)
{
	struct space *sp = st->sp;
	u64 head = relaxed(sp->user->data_head);
	bool good;

	if (head == st->last_head)
		return true;
	ring_pause(&sp->ring, true);
	st->last_head = sp->user->data_head;
	good = read_newest(&st->reader, sp);
	if (st->last_head != relaxed(sp->user->data_head))
		good = found(&st->reader, "the head changed while the ring was paused");
	ring_pause(&sp->ring, false);
	if (++st->snapshots >= STRESS_SNAPSHOTS &&
	    (!st->signals || stress_interrupted(st) >= 100))
		relaxed_set(st->records, 0);
	return good;
}

static inline bool stress_look_mad(struct stress *st)
{
	struct perf_event_mmap_page *user = st->sp->user;
	u64 value = record_word(0, st->looks, 0);

	relaxed_set(user->data_tail, st->looks % 3 ? value : relaxed(user->data_head) - value % 8192);
	relaxed_set(user->data_head, value);
	relaxed_set(user->data_size, value);
	relaxed_set(user->data_offset, value);
	return true;
}

static inline bool stress_account(struct stress *st)
{
	struct producer p[STRESS_CPUS * STRESS_LEVELS];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(p); i++)
		p[i] = st->cpus[i / STRESS_LEVELS].p[i % STRESS_LEVELS];
	return read_and_free(&st->reader, st->sp) &&
	       account(&st->reader, st->sp, p, ARRAY_SIZE(p));
}

#endif /* PMUCTL_TESTS_UNIT_RING_STRESS_H */
