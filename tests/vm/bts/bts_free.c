// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace that is found on when its buffer goes is ended before the memory is somebody else's.
 * None should be: here it is turned on past the module, through /dev/cpu/0/msr, or is given back
 * what was in a register while one was on, as KVM does. For --cpu intel-bts, which has both units.
 */
#include "aux_busy.h"
#include "bound.h"

TestSuite(bts_free, .timeout = 300);

/* SDM Vol. 4 */
#define RTIT_CTL	0x570
#define RTIT_STATUS	0x571
#define RTIT_BASE	0x560
#define DEBUGCTL	0x1d9
#define DS_AREA		0x600
#define TRACE_EN	1ULL
#define DEBUGCTL_BTS	(3ULL << 6)
#define DEBUGCTL_BTINT	(1ULL << 8)
#define DEBUGCTL_OFF	(3ULL << 9)

static int open_msrs(void)
{
	int fd;

	if (access("/dev/cpu/0/msr", F_OK))
		cr_assert_eq(system("insmod \"$(find /lib/ /usr/lib/ -name 'msr.ko' | head -n 1)\""),
			     0, "the guest lacks the msr module");
	fd = open("/dev/cpu/0/msr", O_RDWR | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%m");
	return fd;
}

static uint64_t get(int msrs, uint32_t number)
{
	uint64_t value;

	cr_assert_eq(pread(msrs, &value, sizeof(value), number), sizeof(value), "%#x: %m", number);
	return value;
}

static void set(int msrs, uint32_t number, uint64_t value)
{
	cr_assert_eq(pwrite(msrs, &value, sizeof(value), number), sizeof(value), "%#x: %m", number);
}

/* This task's user mode on CPU 0, which was traced a little and is not any more */
static void open_used(struct trace *t, uint32_t type, uint64_t config)
{
	union raw_attr a = raw_attr(type, config);

	trace_pin(0, 0);
	a.attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a.attr.sample_id_all = 1;
	trace_open(t, &a, 0, -1, 16, PROT_READ | PROT_WRITE);
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0), 0);
}

static void unmap(const struct trace *t)
{
	cr_assert_eq(munmap((void *)t->aux, t->size), 0);
}

Test(bts_free, processor_trace)
{
	int msrs = open_msrs();
	struct trace t;
	uint64_t ctl;

	open_used(&t, trace_type(), 0x2401);
	cr_assert_eq(get(msrs, RTIT_CTL) & TRACE_EN, 0);
	cr_assert_neq(get(msrs, RTIT_BASE), 0);
	/* Of user mode, to tables in memory: SDM Vol. 3C, "IA32_RTIT_CTL MSR" */
	ctl = 1 << 13 | 1 << 8 | 1 << 3 | TRACE_EN;
	set(msrs, RTIT_STATUS, 0);
	set(msrs, RTIT_CTL, ctl);
	cr_assert_eq(get(msrs, RTIT_CTL), ctl);
	unmap(&t);
	cr_assert_eq(get(msrs, RTIT_CTL) & TRACE_EN, 0);
	close(t.fd);
}

/* Whose tables are others is left alone. */
Test(bts_free, processor_trace_of_others)
{
	int msrs = open_msrs();
	struct trace t;
	uint64_t base;

	open_used(&t, trace_type(), 0x2401);
	base = get(msrs, RTIT_BASE);
	set(msrs, RTIT_BASE, 0x1000);
	set(msrs, RTIT_STATUS, 0);
	/* It traces nothing: neither kernel nor user mode. */
	set(msrs, RTIT_CTL, 1 << 8 | TRACE_EN);
	unmap(&t);
	cr_assert_eq(get(msrs, RTIT_CTL) & TRACE_EN, TRACE_EN);
	set(msrs, RTIT_CTL, 0);
	set(msrs, RTIT_BASE, base);
	close(t.fd);
}

Test(bts_free, branch_trace_store)
{
	int msrs = open_msrs();
	struct trace t;
	uint64_t ctl;

	open_used(&t, trace_type_of(1, "intel_bts"), 0);
	ctl = get(msrs, DEBUGCTL);
	cr_assert_eq(ctl & (DEBUGCTL_BTS | DEBUGCTL_BTINT), 0);
	set(msrs, DEBUGCTL, ctl | DEBUGCTL_BTS);
	cr_assert_eq(get(msrs, DEBUGCTL), ctl | DEBUGCTL_BTS);
	unmap(&t);
	cr_assert_eq(get(msrs, DEBUGCTL), ctl);
	close(t.fd);
}

/* ---- What somebody has saved while a trace was on, and writes back after its end ---- */

static uint64_t saved_while_on(const struct trace *t, int msrs)
{
	uint64_t ctl;

	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	ctl = get(msrs, DEBUGCTL);
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	cr_assert_eq(ctl & (DEBUGCTL_BTS | DEBUGCTL_BTINT), DEBUGCTL_BTS | DEBUGCTL_BTINT);
	return ctl;
}

static void turn_off(int msrs)
{
	set(msrs, DEBUGCTL, get(msrs, DEBUGCTL) & ~(DEBUGCTL_BTS | DEBUGCTL_BTINT | DEBUGCTL_OFF));
}

static void branch_on(void)
{
	for (volatile int i = 0; i < 1000; i++)
		;
}

/* Without BTINT nothing tells of it, and it goes round and round. */
static uint64_t saved_in_round(unsigned int round, const struct trace *t, int msrs)
{
	uint64_t ctl = saved_while_on(t, msrs);

	return round % 2 ? ctl & ~DEBUGCTL_BTINT : ctl;
}

Test(bts_free, what_was_saved_writes_to_no_buffer)
{
	int msrs = open_msrs();
	uint8_t *before;
	struct trace t;

	open_used(&t, trace_type_of(1, "intel_bts"), 0);
	before = malloc(t.size);
	for (unsigned int round = 0; round < 4; round++) {
		uint64_t ctl = saved_in_round(round, &t, msrs);

		memcpy(before, (const void *)t.aux, t.size);
		set(msrs, DEBUGCTL, ctl);
		branch_on();
		cr_assert_eq(memcmp(before, (const void *)t.aux, t.size), 0, "round %u", round);
		turn_off(msrs);
	}
	free(before);
	trace_close(&t);
}

/* Its first record sends an interrupt. */
Test(bts_free, what_was_saved_with_an_interrupt_ends_by_itself)
{
	int msrs = open_msrs();
	struct trace t;

	open_used(&t, trace_type_of(1, "intel_bts"), 0);
	set(msrs, DEBUGCTL, saved_while_on(&t, msrs));
	branch_on();
	cr_assert_eq(get(msrs, DEBUGCTL) & DEBUGCTL_BTS, 0);
	trace_close(&t);
}

Test(bts_free, what_was_saved_stops_no_other_trace)
{
	int msrs = open_msrs();
	struct trace t;

	open_used(&t, trace_type_of(1, "intel_bts"), 0);
	for (unsigned int round = 0; round < 4; round++) {
		uint64_t ctl = saved_in_round(round, &t, msrs), head = head_of(&t);

		set(msrs, DEBUGCTL, ctl);
		cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
		cr_assert_eq(trace_status(t.fd).state & PMUCTL_AUX_IS_STALLED, 0);
		branch_on();
		cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
		cr_assert_geq(head_of(&t) - head, 1000 * 24);
		__atomic_store_n(&t.page->aux_tail, head_of(&t), __ATOMIC_RELEASE);
		cr_assert_eq(get(msrs, DEBUGCTL) & DEBUGCTL_BTS, 0);
	}
	trace_close(&t);
}

/* The processor must not write by what others have in the register. */
Test(bts_free, what_was_saved_is_off_when_the_area_is_given_back)
{
	int msrs = open_msrs();
	uint64_t found, ctl;
	struct trace t;

	cr_assert_eq(raw_give_back(), 0);
	found = get(msrs, DS_AREA);
	open_used(&t, trace_type_of(1, "intel_bts"), 0);
	ctl = saved_while_on(&t, msrs) & ~DEBUGCTL_BTINT;
	trace_close(&t);
	cr_assert_neq(get(msrs, DS_AREA), found);
	set(msrs, DEBUGCTL, ctl);
	cr_assert_eq(raw_give_back(), 0);
	cr_assert_eq(get(msrs, DS_AREA), found);
	ctl = get(msrs, DEBUGCTL);
	turn_off(msrs);
	cr_assert_eq(ctl & DEBUGCTL_BTS, 0, "%#lx", ctl);
}

#define LOOPS	200

/* Only where it has run: that is this CPU. */
Test(bts_free, no_other_cpu_is_called)
{
	uint64_t before, calls;
	struct trace t;

	open_used(&t, trace_type_of(1, "intel_bts"), 0);
	before = calls_of_cpu(1);
	for (int i = 0; i < LOOPS; i++) {
		unmap(&t);
		if (i % 2)
			cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
		t.aux = mmap(NULL, t.size, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd,
			     t.page->aux_offset);
		cr_assert_neq(t.aux, MAP_FAILED, "%m");
		if (i % 2)
			cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	}
	calls = calls_of_cpu(1) - before;
	expect_calls_of_others("a mapping", calls, LOOPS);
	trace_close(&t);
}
