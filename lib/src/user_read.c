// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reading an event's counter without a system call: mapping its page, and what is left
 * to do where the page alone does not tell the value.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

PMUCTL_API int pmuctl_event_map(struct pmuctl_event *event,
				const struct perf_event_mmap_page **page)
{
	void *at;

	at = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
		  pmuctl_event_fd(event), 0);
	if (at == MAP_FAILED)
		return -errno;
	*page = at;
	return 0;
}

PMUCTL_API void pmuctl_event_unmap(const struct perf_event_mmap_page *page)
{
	if (page)
		munmap((void *)page, sysconf(_SC_PAGESIZE));
}

PMUCTL_API int pmuctl_event_value(struct pmuctl_event *event,
				  const struct perf_event_mmap_page *page,
				  uint64_t *value)
{
	struct pmuctl_reading reading;
	int ret;

	if (page && pmuctl_page_value(page, value))
		return 0;
	ret = pmuctl_event_read(event, &reading);
	if (ret == 0)
		*value = reading.value;
	return ret;
}
