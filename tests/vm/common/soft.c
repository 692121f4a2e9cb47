// SPDX-License-Identifier: GPL-2.0-only
#include "soft.h"

struct perf_event_attr soft_attr(uint64_t config)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, config);

	attr.read_format = 0;
	attr.disabled = 1;
	return attr;
}

/*
 * All pages of the program itself, now: a fault maps those around it, too, but for what somebody
 * else has locked at the moment, and code that runs for the first time could fault among the
 * faults that are counted.
 */
static void map_program(void)
{
	static bool mapped;

	/* Once: what is fresh stays so. An ordinary user may not lock as much. */
	if (!mapped && !mlockall(MCL_CURRENT))
		cr_assert_eq(munlockall(), 0, "%m");
	mapped = true;
}

uint8_t *fresh_pages(size_t pages)
{
	uint8_t *map;

	map_program();
	map = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(map, MAP_FAILED);
	/* A kernel without huge pages does not know the word. */
	cr_assert(!madvise(map, pages * PAGE, MADV_NOHUGEPAGE) || errno == EINVAL, "%m");
	return map;
}

void touch_pages(uint8_t *map, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		*(volatile uint8_t *)(map + i * PAGE) = 1;
}

void touch_by_kernel(uint8_t *map, size_t pages)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	for (size_t i = 0; i < pages; i++)
		cr_assert_eq(read(zero, map + i * PAGE, 1), 1);
	close(zero);
}

uint64_t count_touches(int fd, size_t pages, bool by_kernel)
{
	uint8_t *map = fresh_pages(pages);
	uint64_t before;

	touch_by_kernel(fresh_pages(1), 1); /* what is done the first time only */
	before = sampling_value(fd);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	if (by_kernel)
		touch_by_kernel(map, pages);
	else
		touch_pages(map, pages);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	cr_assert_eq(munmap(map, pages * PAGE), 0);
	return sampling_value(fd) - before;
}

/* ---- Samples ---- */

bool next_sample(const struct perf_event_attr *attr, struct ring *r,
	  struct sample *s)
{
	struct perf_event_header *header;

	while ((header = ring_next(r))) {
		cr_assert_neq(header->type, PERF_RECORD_LOST);
		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(attr, header, s);
		return true;
	}
	return false;
}

/* ---- What the kernel itself has counted ---- */

uint64_t task_migrations(pid_t tid)
{
	char path[64], line[128];
	unsigned long n = 0;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/sched", tid);
	f = fopen(path, "re");
	cr_assert_not_null(f, "%s: %m", path);
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "se.nr_migrations : %lu", &n) == 1;
	fclose(f);
	cr_assert(found);
	return n;
}
