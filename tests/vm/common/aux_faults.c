// SPDX-License-Identifier: GPL-2.0-only
#include "aux_faults.h"

void aux_check_refusal(int ret, enum fault fault, unsigned int nth,
		       const struct pmuctl_explanation *why)
{
	cr_assert_neq(fault, NONE, "%d without a fault: %s", ret, why->sentence);
	cr_assert_eq(ret, fault == COPY ? -EFAULT : -ENOMEM, "fault %u (%d): %d: %s", nth,
		     fault, ret, why->sentence);
	/* Of what the kernel itself refuses there is no explanation. */
	if (fault == MEMORY && why->error)
		check_why(why, ENOMEM, PMUCTL_WHY_NO_MEMORY, "", NO_MEMORY);
}

int aux_map_at(int fd, void *place)
{
	void *map = mmap(place, AUX_SIZE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | (place ? MAP_FIXED_NOREPLACE : 0), fd, RING_SIZE);

	if (map == MAP_FAILED)
		return -errno;
	if (munmap(map, AUX_SIZE))
		return munmap(map, AUX_SIZE) ? -EIO : -ENOMEM;
	return 0;
}

int aux_call_map(void *fd)
{
	return aux_map_at(*(int *)fd, NULL);
}

void aux_fail_uses(union raw_attr attr, int (*call)(void *fd), useconds_t pause_us,
		   unsigned int least)
{
	unsigned int nth, refused = 0;
	enum fault fault = MEMORY;

	for (nth = 1; !faults_over(fault) && nth < FAULTS_MAX; nth++) {
		struct perf_event_mmap_page *page;
		struct pmuctl_explanation why;
		int fd, ret;

		usleep(pause_us);
		fd = event_open(attr);
		page = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		cr_assert_neq(page, MAP_FAILED);
		page->aux_offset = RING_SIZE;
		page->aux_size = AUX_SIZE;
		ret = with_fault(nth, call, &fd, &fault);
		if (ret) {
			cr_assert_eq(raw_explain(fd, &why), 0);
			aux_check_refusal(ret, fault, nth, &why);
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
