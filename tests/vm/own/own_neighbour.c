// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * Perf's Processor Trace beside our counters. While an event of it is open anywhere, perf's
 * handler does its work with each NMI, on each CPU: it stops all counters, acknowledges the status
 * and starts its own, or none. Ours count exactly all the same, and its trace decodes; and what the
 * status has of it is left to it. For --cpu intel-pt-v4.
 */
#include "aux_decode.h"
#include "msrs.h"
#include "nmis.h"

#define CPUS		2
#define PERIOD		1000
#define N		100000ull

/* SDM Vol. 4, IA32_PERF_GLOBAL_STATUS, _CTRL, _STATUS_RESET and _STATUS_SET */
#define GLOBAL_STATUS	0x38e
#define GLOBAL_CTRL	0x38f
#define STATUS_RESET	0x390
#define STATUS_SET	0x391
#define TRACE_TOPA	(1ull << 55)
#define LBR_FRZ		(1ull << 58)
#define OVF_BUFFER	(1ull << 62)

static void begin(void)
{
	cr_assert_eq(raw_give_back(), 0);
	msrs_load_driver();
	sampling_init();
}

TestSuite(own_neighbour, .init = begin, .fini = sampling_fini, .timeout = 300);

static union raw_attr their_attr(void)
{
	union raw_attr a = trace_attr();

	a.attr.type = raw_read_number("/sys/bus/event_source/devices/intel_pt/type");
	return a;
}

static int their_open(const union raw_attr *a, pid_t pid, int cpu)
{
	int fd;

	/* A moment after our last trace theirs may be there. */
	do {
		fd = perf_try(&a->attr, pid, cpu);
	} while (fd == -EBUSY);
	cr_assert_geq(fd, 0, "perf: %s", strerror(-fd));
	return fd;
}

/* Is what is tested here still so? Written by hand, the register does not survive an NMI. */
static void check_their_handler(void)
{
	cr_assert_eq(raw_give_back(), 0);
	foreign_load();
	msr_write(1, GLOBAL_CTRL, 2);
	foreign_send(1);
	cr_expect_neq(msr_read(1, GLOBAL_CTRL), 2, "perf's handler has written nothing");
	foreign_unload();
}

/* An event of theirs that does not trace: enough for its handler to look at each NMI */
static int their_idle(void)
{
	union raw_attr a = their_attr();

	a.attr.enable_on_exec = 0;
	return their_open(&a, -1, 0);
}

static void start_sampling(struct sampled *s)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		sampled_start(&s[cpu], cpu, PERIOD + cpu, NULL);
}

static void end_sampling(struct sampled *s, unsigned int blocks)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		while (__atomic_load_n(&s[cpu].blocks, __ATOMIC_ACQUIRE) < blocks)
			usleep(1000);
	for (int cpu = 0; cpu < CPUS; cpu++)
		sampled_end(&s[cpu]);
}

static void check_samples(void)
{
	struct sampled s[CPUS];

	start_sampling(s);
	end_sampling(s, 20);
}

/* No overflow is needed: any NMI does it. */
static void check_nmis_of_others(void)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before;
	int fd;

	pin_here(1);
	attr.disabled = 1;
	fd = event_open(attr);
	foreign_load();
	for (int i = 0; i < 20; i++) {
		before = event_value(fd);
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		foreign_send(1);
		user_loop(N);
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		cr_expect_geq(event_value(fd) - before, LOOP_INSTRUCTIONS * N, "%d: %lu", i,
			      event_value(fd) - before);
	}
	foreign_unload();
	close(fd);
}

/* An event that is throttled stands still: no period is over, and none has no sample. */
static void check_throttled(void)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	uint64_t samples = 0, unthrottled = 0, meanwhile = 0;
	bool is_throttled = false;
	struct perf_event_header *header;
	struct ring r;
	int fd;

	set_max_rate(1);
	pin_here(1);
	fd = event_open(attr);
	ring_map(&r, fd, 8);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	while (unthrottled < 5) {
		user_loop(10 * PERIOD);
		while ((header = ring_next(&r))) {
			samples += header->type == PERF_RECORD_SAMPLE;
			meanwhile += header->type == PERF_RECORD_SAMPLE && is_throttled;
			unthrottled += header->type == PERF_RECORD_UNTHROTTLE;
			if (header->type != PERF_RECORD_SAMPLE)
				is_throttled = header->type == PERF_RECORD_THROTTLE;
		}
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	samples += ring_drain(&r, PERF_RECORD_SAMPLE);
	cr_expect_eq(sampling_value(fd) / PERIOD, samples, "%lu events, %lu samples",
		     sampling_value(fd), samples);
	cr_expect_eq(meanwhile, 0, "%lu samples while it was throttled", meanwhile);
	ring_unmap(&r);
	close(fd);
	sampling_init();
}

static void check_all(void)
{
	int fd = their_idle();

	check_their_handler();
	check_samples();
	check_nmis_of_others();
	check_throttled();
	close(fd);
}

static void perf_counts(void)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		pin_here(cpu);
		fd = perf_try(&attr, -1, cpu);
		cr_assert_geq(fd, 0);
		close(fd);
	}
}

/* Perf's handler starts no counter on a CPU where perf has never counted, and all where it has. */
Test(own_neighbour, counters_before_and_after_perf_has_counted)
{
	check_all();
	perf_counts();
	check_all();
}

Test(own_neighbour, their_trace_decodes)
{
	static const char *const often[] = { TRACED, "1", "2", "3", "4", "5", "6", "7", "8", "9",
		"10", "11", "12", NULL };
	struct traced child = traced_start(often);
	union raw_attr a = their_attr();
	struct sampled s[CPUS];
	struct decoded d;
	struct trace t = { 0 };
	int count;

	a.attr.aux_watermark = 2 * TRACE_PAGE;
	t.fd = their_open(&a, child.pid, -1);
	cr_assert_eq(trace_try_map(&t, 1024, PROT_READ | PROT_WRITE), 0);
	count = trace_count(child.pid, PERF_COUNT_HW_INSTRUCTIONS);
	start_sampling(s);
	sampled_wait(&s[0]);
	sampled_wait(&s[1]);
	traced_go(&child);
	traced_wait(&child);
	end_sampling(s, 0);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	cr_assert_eq(t.bytes, t.page->aux_head);
	d = trace_decode(t.aux, t.bytes);
	cr_assert_eq(d.errors, 0, "%s", d.error);
	cr_assert_eq(d.instructions, raw_read(count), "%lu instructions decoded, %lu counted",
		     d.instructions, raw_read(count));
	trace_close(&t);
	close(count);
}

/* ---- The status ---- */

static uint64_t others_status(void)
{
	return msr_read(1, GLOBAL_STATUS) & (TRACE_TOPA | LBR_FRZ | OVF_BUFFER);
}

/* Of a trace that is not ours nothing is acknowledged; of units that nobody has, all. */
Test(own_neighbour, the_status_of_their_trace_is_left_to_them)
{
	struct perf_event_attr attr = instructions_u();
	struct sampled s;
	int fd;

	cr_assert_geq(raw_cpuid(0xa).eax & 0xff, 4, "this guest needs --cpu intel-pt-v4");
	msr_write(1, STATUS_SET, TRACE_TOPA | LBR_FRZ | OVF_BUFFER);
	fd = event_open(attr, -1, 1);
	cr_expect_eq(others_status(), TRACE_TOPA, "taken: %#lx", others_status());
	msr_write(1, STATUS_SET, LBR_FRZ | OVF_BUFFER);
	sampled_start(&s, 1, PERIOD, NULL);
	sampled_wait(&s);
	sampled_end(&s);
	cr_expect_eq(others_status(), TRACE_TOPA, "after overflows: %#lx", others_status());
	msr_write(1, STATUS_SET, OVF_BUFFER);
	close(fd);
	cr_assert_eq(raw_give_back(), 0);
	cr_expect_eq(others_status(), TRACE_TOPA, "given back: %#lx", others_status());
	msr_write(1, STATUS_RESET, TRACE_TOPA);
}
