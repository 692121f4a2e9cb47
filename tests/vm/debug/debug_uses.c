// SPDX-License-Identifier: GPL-2.0-only
/*
 * As debug_faults.c, of what has been opened: calls whose allocations, or whose copies from and to
 * user space, fail one after the other.
 */
#include "faults.h"
#include "refusal.h"

TestSuite(debug_uses, .init = faults_set_up);

/* ---- Of what has been opened ---- */

static int call_info(void *arg)
{
	struct pmuctl_info info = { .size = sizeof(info) };

	(void)arg;
	return ioctl(raw_device(), PMUCTL_IOC_INFO, &info) ? -errno : 0;
}

static int call_explain(void *arg)
{
	return raw_explain(raw_device(), arg);
}

static int call_id(void *arg)
{
	uint64_t id;

	return ioctl(*(int *)arg, PERF_EVENT_IOC_ID, &id) ? -errno : 0;
}

static int call_read(void *arg)
{
	uint64_t value;

	return read(*(int *)arg, &value, sizeof(value)) < 0 ? -errno : 0;
}

static int call_switch(void *arg)
{
	int fd = *(int *)arg;

	return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) || ioctl(fd, PERF_EVENT_IOC_RESET, 0) ||
	       ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) ? -errno : 0;
}

static int call_device(void *arg)
{
	int fd = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);

	(void)arg;
	if (fd >= 0)
		close(fd);
	return fd < 0 ? -errno : 0;
}

/* Fail all in turn of a call; how many made it fail, and with the error they must. */
static unsigned int fail_calls(int (*call)(void *arg), void *arg, int memory_error)
{
	enum fault fault = MEMORY;
	unsigned int nth, refused = 0;

	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		int ret = with_fault(nth, call, arg, &fault);

		if (!ret)
			continue;
		refused++;
		cr_assert_eq(ret, fault == COPY ? -EFAULT : memory_error,
			     "fault %u (%d): %d", nth, fault, ret);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	return refused;
}

Test(debug_uses, of_using_the_device)
{
	struct pmuctl_explanation why;
	union raw_attr bad = raw_attr(~0U, 0);

	cr_assert_lt(raw_open(&bad, 0, -1, 0, NULL), 0);
	cr_assert_geq(fail_calls(call_device, NULL, -ENOMEM), 2);
	cr_assert_geq(fail_calls(call_info, NULL, 0), 2);
	cr_assert_geq(fail_calls(call_explain, &why, 0), 2);
}

/* Reading and switching an event takes no memory. */
Test(debug_uses, of_using_an_event)
{
	union raw_attr attr = raw_instructions();
	int fd = event_open(attr);

	cr_assert_eq(fail_calls(call_switch, &fd, 0), 0);
	cr_assert_leq(fail_calls(call_read, &fd, 0), 1);
	cr_assert_leq(fail_calls(call_id, &fd, 0), 1);
	close(fd);
}

/* ---- What an event gets later, when it is used so for the first time ---- */

/**
 * struct use - a call on an event that is new each time
 * @attr: what it is, and @tracepoint: likewise.
 * @call: gets its descriptor.
 */
struct use {
	union raw_attr attr;
	const char *tracepoint;
	int (*call)(void *fd);
};

/* Fail all in turn of the call; how often it was refused for memory. */
static unsigned int fail_each_use(const struct use *use)
{
	int nr_fds, fd, ret;
	unsigned int nth, refused = 0;
	enum fault fault = MEMORY;

	raw_device(); /* it stays open */
	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		struct pmuctl_explanation why;

		fd = event_open(use->attr, .tracepoint = use->tracepoint);
		nr_fds = raw_count_fds() - 1;
		ret = with_fault(nth, use->call, &fd, &fault);
		if (ret) {
			cr_assert_eq(ret, fault == COPY ? -EFAULT : -ENOMEM,
				     "fault %u (%d): %d", nth, fault, ret);
			/* The kernel itself may have had no memory, which nobody explains. */
			cr_assert_eq(raw_explain(fd, &why), 0);
			if (fault == MEMORY && why.error)
				check_why(&why, ENOMEM, PMUCTL_WHY_NO_MEMORY, "", FAULTS_NO_MEMORY);
			refused += fault == MEMORY && why.error;
			/* It is as good as before: the same again is done. */
			cr_assert_eq(use->call(&fd), 0, "after fault %u", nth);
		}
		close(fd);
		faults_left_nothing(nr_fds, nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	return refused;
}

/* At least @least times; see fail_opens(). */
static void fail_uses(const struct use *use, unsigned int least)
{
	unsigned int refused = 0;

	for (int tries = 0; tries < 3 && refused < least; tries++)
		refused = fail_each_use(use);
	cr_assert_geq(refused, least, "only %u were refused for memory", refused);
	printf("%u refused for memory\n", refused);
}

#define RING	(9 * 4096ul)

static int map_and_unmap(int fd, size_t size)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		return -errno;
	if (munmap(map, size))
		return munmap(map, size) ? -EIO : -ENOMEM;
	return 0;
}

static int call_map_ring(void *fd)
{
	return map_and_unmap(*(int *)fd, RING);
}

/* Where nothing is mapped nearby, so that the kernel needs page tables as well */
static int call_map_far(void *fd)
{
	void *place = (void *)0x100000000000, *map;

	map = mmap(place, RING, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		   *(int *)fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	if (munmap(map, RING))
		return munmap(map, RING) ? -EIO : -ENOMEM;
	return 0;
}

static int call_map_page(void *fd)
{
	return map_and_unmap(*(int *)fd, 4096);
}

/* The output, the ring, its pages, and where they are mapped */
Test(debug_uses, of_mapping_a_ring)
{
	struct use use = { .attr = raw_instructions(), .call = call_map_ring };

	fail_uses(&use, 8);
}

/* The same, and three levels of page tables */
Test(debug_uses, of_mapping_a_ring_far_from_all)
{
	struct use use = { .attr = raw_instructions(), .call = call_map_far };

	fail_uses(&use, 11);
}

Test(debug_uses, of_mapping_the_page_of_an_event)
{
	struct use use = { .attr = raw_instructions(), .call = call_map_page };

	fail_uses(&use, 1);
}

static int call_no_output(void *fd)
{
	return ioctl(*(int *)fd, PERF_EVENT_IOC_SET_OUTPUT, -1) ? -errno : 0;
}

Test(debug_uses, of_setting_the_output)
{
	struct use use = { .attr = raw_instructions(), .call = call_no_output };

	fail_uses(&use, 1);
}

static int call_filter(void *fd)
{
	return ioctl(*(int *)fd, PERF_EVENT_IOC_SET_FILTER, "parent_pid > 1") ? -errno : 0;
}

Test(debug_uses, of_setting_a_filter)
{
	struct use use = { .tracepoint = "sched:sched_process_fork", .call = call_filter };

	use.attr = raw_attr(PERF_TYPE_TRACEPOINT, 0);
	use.attr.attr.exclude_kernel = 0;
	fail_uses(&use, 1);
}

/* ---- A group of which a read needs more memory than the stack has ---- */

#define MEMBERS	12

static int call_read_group(void *arg)
{
	uint64_t words[1 + MEMBERS];
	ssize_t n = read(*(int *)arg, words, sizeof(words));

	if (n < 0)
		return -errno;
	return n == sizeof(words) && words[0] == MEMBERS ? 0 : -EIO;
}

Test(debug_uses, of_reading_a_large_group)
{
	union raw_attr attr = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	int fds[MEMBERS];

	attr.attr.read_format = PERF_FORMAT_GROUP;
	for (int i = 0; i < MEMBERS; i++) {
		struct pmuctl_open request = raw_request(&attr, 0, -1, 0, NULL);

		request.group_fd = i ? fds[0] : -1;
		fds[i] = ioctl(raw_device(), PMUCTL_IOC_OPEN, &request);
		cr_assert_geq(fds[i], 0, "%m");
	}
	cr_assert_eq(call_read_group(&fds[0]), 0);
	cr_assert_geq(fail_calls(call_read_group, &fds[0], -ENOMEM), 1);
	for (int i = MEMBERS; i--;)
		close(fds[i]);
}
