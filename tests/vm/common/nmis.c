// SPDX-License-Identifier: GPL-2.0-only
#include "nmis.h"

struct nmi_stats nmi_stats(int cpu)
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

void late_nmi_set(unsigned int ms)
{
	cr_assert_eq(raw_write_number("/sys/module/pmuctl/parameters/late_nmi_ms", ms), 0);
}

/* ---- NMIs that nobody owns ---- */

void foreign_load(void)
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

void foreign_unload(void)
{
	cr_assert_eq(syscall(__NR_delete_module, "foreign_nmi", O_NONBLOCK), 0, "%m");
}

struct foreign foreign_read(int cpu)
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

void foreign_send(int cpu)
{
	cr_assert_eq(raw_write_number(FOREIGN_PARAMETERS "send", cpu), 0, "CPU %d", cpu);
}

void foreign_send_pmi(int cpu)
{
	cr_assert_eq(raw_write_number(FOREIGN_PARAMETERS "send_pmi", cpu), 0, "CPU %d", cpu);
}

/* ---- The kernel log ---- */

int log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	cr_assert(fd >= 0, "/dev/kmsg: %m");
	cr_assert_eq(lseek(fd, 0, SEEK_END), 0, "%m");
	return fd;
}

unsigned int log_count(int fd, const char *text)
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

static void sampled_check(struct sampled *s, const struct perf_event_attr *attr,
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

void *sampled_thread(void *arg)
{
	struct sampled *s = arg;
	struct perf_event_attr attr = sampling_attr(s->period);
	struct ring r;
	uint64_t all;
	int fd;

	pin_here(s->cpu);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_READ;
	fd = event_open(attr);
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

void sampled_start(struct sampled *s, int cpu, uint64_t period,
		   void (*each)(struct sampled *s))
{
	memset(s, 0, sizeof(*s));
	s->cpu = cpu;
	s->period = period;
	s->each = each;
	cr_assert_eq(pthread_create(&s->thread, NULL, sampled_thread, s), 0);
}

void sampled_wait(const struct sampled *s)
{
	while (!__atomic_load_n(&s->blocks, __ATOMIC_ACQUIRE))
		usleep(1000);
}

void sampled_end(struct sampled *s)
{
	__atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
	cr_assert_eq(pthread_join(s->thread, NULL), 0);
}
