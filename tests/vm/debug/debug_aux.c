// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes of opening a trace, of mapping its buffers and of setting its filter when one
 * allocation or copy after the other fails: ENOMEM or EFAULT, with its explanation if it is
 * ours; nothing is left behind, and the same call works afterwards. Needs a kernel with
 * fault injection (the laboratory's debug kernel), and a CPU that traces.
 */
#include "aux.h"
#include "faults.h"

#define NO_MEMORY	"the kernel has no memory left for the event: close other events or free memory"
#define RING_SIZE	((1 + RING_PAGES) * TRACE_PAGE)
#define AUX_SIZE	(16 * TRACE_PAGE)

TestSuite(debug_aux, .init = faults_set_up);

static struct pmuctl_explanation why;

static int call_open(void *attr)
{
	return raw_open(attr, 0, -1, PERF_FLAG_FD_CLOEXEC, &why);
}

static void check_refusal(int ret, enum fault fault, unsigned int nth)
{
	cr_assert_neq(fault, NONE, "%d without a fault: %s", ret, why.sentence);
	cr_assert_eq(ret, fault == COPY ? -EFAULT : -ENOMEM, "fault %u (%d): %d: %s", nth,
		     fault, ret, why.sentence);
	/* Of what the kernel itself refuses there is no explanation. */
	if (fault == MEMORY && why.error)
		raw_check_why(&why, ENOMEM, PMUCTL_WHY_NO_MEMORY, "", NO_MEMORY);
}

Test(debug_aux, of_opening_a_trace)
{
	union raw_attr attr = trace_attr();
	unsigned int nth, refused = 0;
	enum fault fault = MEMORY;
	int nr_fds, fd;

	close(raw_check_opened(&attr, 0, -1, 0));
	nr_fds = raw_count_fds();
	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		memset(&why, 0, sizeof(why));
		fd = with_fault(nth, call_open, &attr, &fault);
		if (fd < 0) {
			check_refusal(fd, fault, nth);
			refused += fault == MEMORY;
		} else {
			close(fd);
		}
		cr_assert_eq(raw_count_fds(), nr_fds, "fault %u", nth);
		cr_assert_eq(raw_info().hw_events, 0, "fault %u", nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	cr_assert_geq(refused, 4, "only %u were refused", refused);
}

static int call_map(void *fd)
{
	void *map = mmap(NULL, AUX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, *(int *)fd, RING_SIZE);

	if (map == MAP_FAILED)
		return -errno;
	if (munmap(map, AUX_SIZE))
		return munmap(map, AUX_SIZE) ? -EIO : -ENOMEM;
	return 0;
}

/* Where nothing is mapped nearby, so that the kernel needs page tables as well */
static int call_map_far(void *fd)
{
	void *place = (void *)0x100000000000, *map;

	map = mmap(place, AUX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE,
		   *(int *)fd, RING_SIZE);
	if (map == MAP_FAILED)
		return -errno;
	if (munmap(map, AUX_SIZE))
		return munmap(map, AUX_SIZE) ? -EIO : -ENOMEM;
	return 0;
}

static int call_filter(void *fd)
{
	return ioctl(*(int *)fd, PERF_EVENT_IOC_SET_FILTER, "filter 0x1000/16@" TRACED) ?
		-errno : 0;
}

/* Fail all in turn of a call on a trace that has its ring; it works in the end. */
static void fail_uses(int (*call)(void *fd), useconds_t pause_us, unsigned int least)
{
	unsigned int nth, refused = 0;
	union raw_attr attr = trace_attr();
	enum fault fault = MEMORY;

	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		struct perf_event_mmap_page *page;
		int fd, ret;

		usleep(pause_us);
		fd = raw_check_opened(&attr, 0, -1, 0);
		page = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		cr_assert_neq(page, MAP_FAILED);
		page->aux_offset = RING_SIZE;
		page->aux_size = AUX_SIZE;
		ret = with_fault(nth, call, &fd, &fault);
		if (ret) {
			cr_assert_eq(raw_explain(fd, &why), 0);
			check_refusal(ret, fault, nth);
			refused += fault == MEMORY && why.error;
			cr_assert_eq(call(&fd), 0, "after fault %u", nth);
		}
		munmap(page, RING_SIZE);
		close(fd);
		cr_assert_eq(raw_info().hw_events, 0, "fault %u", nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	cr_assert_geq(refused, least, "only %u were refused", refused);
	printf("%u refused for memory\n", refused);
}

/* Its pages, its tables, and where they are mapped */
Test(debug_aux, of_mapping_the_buffer)
{
	fail_uses(call_map, 0, 5);
}

/* The same, and three levels of page tables */
Test(debug_aux, of_mapping_the_buffer_far_from_all)
{
	fail_uses(call_map_far, 0, 8);
}

/* Its text, the name of the file, and the hook that tells of mappings */
Test(debug_aux, of_setting_a_filter_of_a_file)
{
	fail_uses(call_filter, 1500000, 2);
}
