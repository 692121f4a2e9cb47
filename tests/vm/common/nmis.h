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

static inline struct nmi_stats nmi_stats(int cpu)
{
	FILE *f = fopen("/sys/kernel/debug/pmuctl/cpus", "re");
	struct nmi_stats s;
	char line[256];
	int at = -1;

	cr_assert_not_null(f, "%m");
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "cpu %d:", &at);
		if (at == cpu &&
		    sscanf(line, " overflows %lu, NMIs seen %lu, claimed %lu, stuck %lu",
			   &s.overflows, &s.seen, &s.claimed, &s.stuck) == 4)
			break;
	}
	cr_assert(!feof(f), "no line for CPU %d", cpu);
	fclose(f);
	return s;
}

/* For so long one that finds nothing is taken for ours on AMD's, by default. */
#define LATE_NMI_MS	100

static inline void late_nmi_set(unsigned int ms)
{
	cr_assert_eq(raw_write_number("/sys/module/pmuctl/parameters/late_nmi_ms", ms), 0);
}

/* ---- NMIs that nobody owns ---- */

#define FOREIGN_PARAMETERS	"/sys/module/foreign_nmi/parameters/"

/* What NMIs a CPU got, see tests/vm/kmod/foreign_nmi.c */
struct foreign {
	uint64_t all, overflown, alone, unknown;
};

/* After the product's module: its handler comes first then. It may be left of a test that
 * failed.
 */
static inline void foreign_load(void)
{
	struct utsname name;
	char path[256];
	int fd, err;

	cr_assert_eq(uname(&name), 0);
	snprintf(path, sizeof(path), "/pmuctl/tests/kmod/%s/foreign_nmi.ko", name.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(fd >= 0, "%s: %m", path);
	err = syscall(__NR_finit_module, fd, "", 0);
	cr_assert(!err || errno == EEXIST, "%s: %m", path);
	close(fd);
}

static inline void foreign_unload(void)
{
	cr_assert_eq(syscall(__NR_delete_module, "foreign_nmi", O_NONBLOCK), 0, "%m");
}

static inline struct foreign foreign_read(int cpu)
{
	FILE *f = fopen(FOREIGN_PARAMETERS "counts", "re");
	struct foreign x;
	int n, at;

	cr_assert_not_null(f, "%m");
	do {
		n = fscanf(f, "%d %lu %lu %lu %lu", &at, &x.all, &x.overflown, &x.alone,
			   &x.unknown);
		cr_assert_eq(n, 5, "no line for CPU %d", cpu);
	} while (at != cpu);
	fclose(f);
	return x;
}

/* One to @cpu; it has arrived when this returns. */
static inline void foreign_send(int cpu)
{
	cr_assert_eq(raw_write_number(FOREIGN_PARAMETERS "send", cpu), 0, "CPU %d", cpu);
}

/* The same, and its LVTPC is masked, as a counter's interrupt leaves it on Intel's. */
static inline void foreign_send_pmi(int cpu)
{
	cr_assert_eq(raw_write_number(FOREIGN_PARAMETERS "send_pmi", cpu), 0, "CPU %d", cpu);
}

/* ---- The kernel log ---- */

/* What is logged from now on can be read from the descriptor. */
static inline int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	cr_assert(fd >= 0, "/dev/kmsg: %m");
	cr_assert_eq(lseek(fd, 0, SEEK_END), 0, "%m");
	return fd;
}

/* How many lines since the last call, or log_open(), have @text in them */
static inline unsigned int log_count(int fd, const char *text)
{
	unsigned int found = 0;
	char line[2048];
	ssize_t n;

	for (;;) {
		n = read(fd, line, sizeof(line) - 1);
		if (n < 0 && errno == EPIPE)
			continue;	/* the oldest are gone, the next is there */
		if (n <= 0)
			break;
		line[n] = '\0';
		found += strstr(line, text) != NULL;
	}
	cr_assert_eq(errno, EAGAIN, "/dev/kmsg: %m");
	return found;
}

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

static inline void sampled_check(struct sampled *s, const struct perf_event_attr *attr,
				 struct ring *r)
{
	struct perf_event_header *header;
	struct sample sample;
	uint64_t at;

	while ((header = ring_next(r))) {
		take_sample(attr, header, &sample);
		at = ++s->samples * s->period;
		cr_assert_eq(sample.read.each[0].value, at, "sample %lu: after %lu, not %lu",
			     s->samples, sample.read.each[0].value, at);
		if (at % BLOCK_LENGTH(SAMPLED_ROUNDS))
			cr_assert_eq(sample.ip, block_ip(at, SAMPLED_ROUNDS));
	}
}

/* No sample is missing, and none is in a wrong place. */
static inline void *sampled_thread(void *arg)
{
	struct sampled *s = arg;
	struct perf_event_attr attr = sampling_attr(s->period);
	struct ring r;
	uint64_t all;
	int fd;

	pin_here(s->cpu);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
	fd = sampling_open(&attr);
	ring_map(&r, fd, 64);
	do {
		block_run(fd, SAMPLED_ROUNDS);
		__atomic_store_n(&s->blocks, s->blocks + 1, __ATOMIC_RELEASE);
		sampled_check(s, &attr, &r);
		if (s->each)
			s->each(s);
	} while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE));

	all = s->blocks * BLOCK_LENGTH(SAMPLED_ROUNDS);
	cr_assert_eq(sampling_value(fd), all);
	cr_assert_eq(s->samples, all / s->period);
	ring_unmap(&r);
	close(fd);
	return NULL;
}

static inline void sampled_start(struct sampled *s, int cpu, uint64_t period,
				 void (*each)(struct sampled *s))
{
	memset(s, 0, sizeof(*s));
	s->cpu = cpu;
	s->period = period;
	s->each = each;
	cr_assert_eq(pthread_create(&s->thread, NULL, sampled_thread, s), 0);
}

/* It samples by now, and so it does until it ends. */
static inline void sampled_wait(const struct sampled *s)
{
	while (!__atomic_load_n(&s->blocks, __ATOMIC_ACQUIRE))
		usleep(1000);
}

static inline void sampled_end(struct sampled *s)
{
	__atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
	cr_assert_eq(pthread_join(s->thread, NULL), 0);
}

#endif /* VM_NMIS_H */
