// SPDX-License-Identifier: GPL-2.0-only
/*
 * What excludes guests, or the host, or user space and the kernel: of hardware, software and
 * tracepoint events, the same as of the kernel's own perf. There is no guest of KVM here.
 */
#include "pmu.h"
#include "tracepoint.h"

#include <sys/mount.h>
#include <sys/stat.h>

#define N	1000ull

enum excluded { NOTHING, GUEST, HOST, BOTH, WAYS };

static const char *const words[WAYS] = { "nothing", "the guest", "the host", "both" };

static struct perf_event_attr excluding(struct perf_event_attr attr, enum excluded way)
{
	attr.disabled = 1;
	attr.exclude_guest = way == GUEST || way == BOTH;
	attr.exclude_host = way == HOST || way == BOTH;
	return attr;
}

/* Ours, and perf's */
static void count_both(struct perf_event_attr attr, const char *tracepoint,
		       uint64_t (*count)(int fd), uint64_t *both)
{
	int fd = event_open(attr, .tracepoint = tracepoint);

	both[0] = count(fd);
	close(fd);
	fd = perf_try(&attr, 0, -1);
	cr_assert(fd >= 0, "perf_event_open: %s", strerror(-fd));
	both[1] = count(fd);
	close(fd);
}

static uint64_t count_loop(int fd)
{
	bracket(fd, N);
	return event_value(fd);
}

Test(count_guest, hardware_that_excludes_the_host_counts_nothing)
{
	uint64_t counts[2];

	/* For AMD's perf relies on a bit by which the processor knows guests; ours has none. */
	for (enum excluded way = NOTHING; way < WAYS; way++) {
		count_both(excluding(instructions_u(), way), NULL, count_loop, counts);
		cr_expect_eq(counts[0], way < HOST ? bracket_instructions(N) : 0, "without %s: %lu",
			     words[way], counts[0]);
		if (!pmu_is_amd())
			cr_expect_eq(counts[1], counts[0], "without %s perf has %lu", words[way],
				     counts[1]);
	}
}

static uint64_t count_faults(int fd)
{
	char *pages = mmap(NULL, 64 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(pages != MAP_FAILED);
	madvise(pages, 64 * 4096, MADV_NOHUGEPAGE);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (unsigned int i = 0; i < 64; i++)
		*(volatile char *)(pages + i * 4096) = 1;
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	munmap(pages, 64 * 4096);
	return event_value(fd);
}

Test(count_guest, software_events_count_all)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	uint64_t counts[2];

	count_faults(event_open(attr)); /* what is run for the first time has faults of its own */
	for (enum excluded way = NOTHING; way < WAYS; way++) {
		count_both(excluding(attr, way), NULL, count_faults, counts);
		cr_expect_eq(counts[0], 64, "without %s: %lu", words[way], counts[0]);
		cr_expect_eq(counts[1], 64, "without %s perf has %lu", words[way], counts[1]);
	}
}

static uint64_t count_calls(int fd)
{
	return tracepoint_count_getppid(fd, N);
}

Test(count_guest, tracepoints_count_all)
{
	struct perf_event_attr attr = tracepoint_attr();
	uint64_t counts[2];

	mkdir("/sys/kernel/tracing", 0755);
	mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
	/* the call that disables it is counted as well */
	attr.config = raw_read_number("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id");
	for (enum excluded way = NOTHING; way < WAYS; way++) {
		count_both(excluding(attr, way), "raw_syscalls:sys_enter", count_calls, counts);
		cr_expect_eq(counts[0], N + 1, "without %s: %lu", words[way], counts[0]);
		cr_expect_eq(counts[1], counts[0], "without %s perf has %lu", words[way], counts[1]);
	}
}

/* ---- User space and the kernel both ---- */

static struct perf_event_attr of_no_level(struct perf_event_attr attr)
{
	attr.disabled = 1;
	attr.exclude_user = 1;
	attr.exclude_kernel = 1;
	return attr;
}

/* Programs ask so whether events can be opened at all: gprofng does. */
Test(count_guest, without_user_space_and_the_kernel)
{
	const struct {
		struct perf_event_attr attr;
		uint64_t (*count)(int fd);
	} events[] = {
		{ instructions_u(), count_loop },
		{ event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), count_loop },
		{ event_attr(PERF_TYPE_RAW, 0xc0), count_loop },
		{ event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS), count_faults },
		{ event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES), count_loop },
	};
	uint64_t counts[2];

	for (size_t i = 0; i < 2 * RAW_ARRAY_SIZE(events); i++) {
		struct perf_event_attr attr = of_no_level(events[i / 2].attr);

		attr.sample_period = i % 2;
		count_both(attr, NULL, events[i / 2].count, counts);
		cr_expect_eq(counts[0], 0, "event %zu: %lu", i, counts[0]);
		cr_expect_eq(counts[1], 0, "event %zu: perf has %lu", i, counts[1]);
	}
}

/* Calls come from user space, but are no event of a level. */
Test(count_guest, calls_without_user_space_and_the_kernel)
{
	struct perf_event_attr attr = of_no_level(tracepoint_attr());
	uint64_t counts[2];

	tracepoint_mount();
	attr.config = tracepoint_id("syscalls:sys_enter_getppid");
	count_both(attr, "syscalls:sys_enter_getppid", count_calls, counts);
	cr_expect_eq(counts[0], counts[1], "%lu, perf has %lu", counts[0], counts[1]);
}
