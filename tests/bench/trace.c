// SPDX-License-Identifier: GPL-2.0-only
/*
 * What it costs to pause a trace and to let it go on. perf has neither before Linux 6.13, so
 * only ours is measured, on a CPU with Processor Trace.
 *
 * A page fault, sampled at period 1, acts on the trace of its group's leader. A system call,
 * which is not measured, brings the trace back to where it was.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "bench.h"

#define PAGE	4096ul
#define TIMES	301
#define RING	8
#define AUX	256

static volatile uint8_t *memory;

static void set_action(struct perf_event_attr *attr, uint32_t action)
{
	memcpy((uint8_t *)attr + PMUCTL_ATTR_AUX_ACTION, &action, sizeof(action));
}

static uint32_t trace_type(void)
{
	struct pmuctl_driver driver = { .size = sizeof(driver) };
	int fd = bench_device();

	if (bench_syscall(SYS_ioctl, fd, PMUCTL_IOC_DRIVER, (long)&driver, 0, 0))
		bench_fail("asking for the driver", 0);
	if (driver.reason[0])
		bench_fail(driver.reason, 0);
	return driver.type;
}

struct traced {
	int leader, fault, call;
	struct perf_event_mmap_page *page;
	void *aux;
};

/* @fault: what a page fault does to the trace, if anything; @call: what getppid() does. */
static struct traced trace_open(uint32_t at_start, uint32_t fault, uint32_t call)
{
	struct perf_event_attr attr = {
		.type = trace_type(), .size = 136, .config = 0x2401, .disabled = 1,
	};
	union {
		struct perf_event_attr attr;
		uint8_t bytes[136];
	} a = { .attr = attr };
	struct traced t;

	set_action(&a.attr, at_start);
	t.leader = bench_open(&a.attr, 0, -1, -1);
	t.page = mmap(NULL, (1 + RING) * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, t.leader, 0);
	if (t.page == MAP_FAILED)
		bench_fail("mapping a ring", 0);
	t.page->aux_offset = (1 + RING) * PAGE;
	t.page->aux_size = AUX * PAGE;
	/* Read-only: overwritten for ever */
	t.aux = mmap(NULL, AUX * PAGE, PROT_READ, MAP_SHARED, t.leader, (1 + RING) * PAGE);
	if (t.aux == MAP_FAILED)
		bench_fail("mapping an AUX buffer", 0);
	a.attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE, .size = 136,
		.config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1,
	};
	set_action(&a.attr, fault);
	t.fault = bench_open(&a.attr, 0, -1, t.leader);
	a.attr.type = PERF_TYPE_TRACEPOINT;
	a.attr.config = 0;
	set_action(&a.attr, call);
	t.call = bench_open_tracepoint("raw_syscalls:sys_enter", &a.attr, 0, -1, t.leader);
	bench_enable(t.leader);
	return t;
}

static void trace_close(struct traced *t)
{
	bench_close(t->call);
	bench_close(t->fault);
	munmap(t->aux, AUX * PAGE);
	munmap(t->page, (1 + RING) * PAGE);
	bench_close(t->leader);
}

static int64_t time_fault(uint32_t at_start, uint32_t fault, uint32_t call)
{
	struct traced t = trace_open(at_start, fault, call);
	uint64_t cost[TIMES];

	for (unsigned int i = 0; i < TIMES; i++) {
		if (madvise((void *)memory, PAGE, MADV_DONTNEED))
			bench_fail("giving memory back", 0);
		bench_syscall(SYS_getppid, 0, 0, 0, 0, 0);
		cost[i] = bench_now();
		*memory = 1;
		cost[i] = bench_now() - cost[i];
	}
	trace_close(&t);
	return bench_median(cost, TIMES);
}

void bench_trace(void)
{
	const uint32_t start = PMUCTL_AUX_START_PAUSED;
	int64_t without;

	memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		bench_fail("getting memory", 0);
	time_fault(0, 0, 0); /* warm */
	without = time_fault(0, 0, PMUCTL_AUX_RESUME);
	bench_row("trace_pause", time_fault(0, PMUCTL_AUX_PAUSE, PMUCTL_AUX_RESUME) - without);
	without = time_fault(start, 0, PMUCTL_AUX_PAUSE);
	bench_row("trace_resume",
		  time_fault(start, PMUCTL_AUX_RESUME, PMUCTL_AUX_PAUSE) - without);
	bench_row("trace_idle", time_fault(start, PMUCTL_AUX_PAUSE, 0) -
		  time_fault(start, 0, 0));
}
