// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes of mapping the buffer of a Branch Trace Store when one allocation after the other
 * fails: ENOMEM, and the same call works afterwards. Needs a kernel with fault injection (the
 * laboratory's debug kernel). For --cpu intel-bts.
 */
#include "bts.h"
#include "faults.h"

#define NO_MEMORY	"the kernel has no memory left for the event: close other events or free memory"
#define RING_SIZE	((1 + RING_PAGES) * TRACE_PAGE)
#define AUX_SIZE	(16 * TRACE_PAGE)

TestSuite(debug_bts, .init = faults_set_up);

static int call_map(void *fd)
{
	void *map = mmap(NULL, AUX_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, *(int *)fd, RING_SIZE);

	if (map == MAP_FAILED)
		return -errno;
	if (munmap(map, AUX_SIZE))
		return munmap(map, AUX_SIZE) ? -EIO : -ENOMEM;
	return 0;
}

/* Its pages, the list of them, and where they are mapped for the CPU to write */
Test(debug_bts, of_mapping_the_buffer)
{
	union raw_attr attr = bts_attr();
	unsigned int nth, refused = 0;
	enum fault fault = MEMORY;

	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		struct perf_event_mmap_page *page;
		struct pmuctl_explanation why;
		int fd, ret;

		fd = raw_check_opened(&attr, 0, -1, 0);
		page = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		cr_assert_neq(page, MAP_FAILED);
		page->aux_offset = RING_SIZE;
		page->aux_size = AUX_SIZE;
		ret = with_fault(nth, call_map, &fd, &fault);
		if (ret) {
			cr_assert_eq(ret, -ENOMEM, "fault %u: %d", nth, ret);
			cr_assert_eq(raw_explain(fd, &why), 0);
			/* Of what the kernel itself refuses there is no explanation. */
			if (why.error)
				raw_check_why(&why, ENOMEM, PMUCTL_WHY_NO_MEMORY, "", NO_MEMORY);
			refused += why.error != 0;
			cr_assert_eq(call_map(&fd), 0, "after fault %u", nth);
		}
		munmap(page, RING_SIZE);
		close(fd);
		cr_assert_eq(raw_info().hw_events, 0, "fault %u", nth);
	}
	cr_assert_lt(nth, FAULTS_MAX);
	cr_assert_geq(refused, 5, "only %u were refused", refused);
	printf("%u refused for memory\n", refused);
}
