/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of the overflow NMI: what the module counts of it, NMIs of others, the
 * kernel log, and a thread that is sampled without a pause.
 */
#ifndef VM_NMIS_H
#define VM_NMIS_H

#include "records.h"

#include <sys/utsname.h>

/* What debugfs tells of a CPU's NMIs */
struct nmi_stats {
	uint64_t overflows, seen, claimed, stuck;
};

struct nmi_stats nmi_stats(int cpu);

/* For so long one that finds nothing is taken for ours on AMD's, by default. */
#define LATE_NMI_MS	100

void late_nmi_set(unsigned int ms);

/* ---- NMIs that nobody owns ---- */

#define FOREIGN_PARAMETERS	"/sys/module/foreign_nmi/parameters/"

/* What NMIs a CPU got, see tests/vm/kmod/foreign_nmi.c */
struct foreign {
	uint64_t all, overflown, alone, unknown;
};

/* After the product's module: its handler comes first then. It may be left of a test that
 * failed.
 */
void foreign_load(void);

void foreign_unload(void);
struct foreign foreign_read(int cpu);

/* One to @cpu; it has arrived when this returns. */
void foreign_send(int cpu);

/* The same, and its LVTPC is masked, as a counter's interrupt leaves it on Intel's. */
void foreign_send_pmi(int cpu);

/* ---- The kernel log ---- */

/* What is logged from now on can be read from the descriptor. */
int log_open(void);

/* How many lines since the last call, or log_open(), have @text in them */
unsigned int log_count(int fd, const char *text);

/* ---- A thread that is sampled ---- */

#define SAMPLED_ROUNDS	20000

/**
 * struct sampled - a thread that runs blocks, each instruction of which is counted
 * @thread: the thread.
 * @cpu: where it stays.
 * @period: of its event.
 * @blocks: how many it has executed.
 * @samples: how many there were, each at its place.
 * @stop: set it to end it.
 * @each: called after each block, if it is set.
 */
struct sampled {
	pthread_t thread;
	int cpu;
	uint64_t period;
	uint64_t blocks;
	uint64_t samples;
	bool stop;
	void (*each)(struct sampled *s);
};

/* No sample is missing, and none is in a wrong place. */
void *sampled_thread(void *arg);

void sampled_start(struct sampled *s, int cpu, uint64_t period,
		   void (*each)(struct sampled *s));

/* It samples by now, and so it does until it ends. */
void sampled_wait(const struct sampled *s);

void sampled_end(struct sampled *s);

#endif /* VM_NMIS_H */
