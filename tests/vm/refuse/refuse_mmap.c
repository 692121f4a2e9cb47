// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals of mmap() on event file descriptors: sizes, and more memory than a user may lock.
 */
#include "refusal.h"

#include <sys/resource.h>

#define PAGE		4096ul
#define PAGE_KB		4ul
#define MLOCK_KB	"/sys/module/pmuctl/parameters/mlock_kb"
#define USUAL_KB	516

static union raw_attr sampled(void)
{
	union raw_attr a = raw_instructions();

	a.attr.sample_period = 1000000;
	a.attr.sample_type = PERF_SAMPLE_IP;
	return a;
}

static int open_sampled(void)
{
	union raw_attr a = sampled();

	return event_open(a);
}

/* The mapping, or NULL with errno */
static void *map(int fd, size_t pages, int prot)
{
	void *at;

	errno = 0;
	at = mmap(NULL, pages * PAGE, prot, MAP_SHARED, fd, 0);
	return at == MAP_FAILED ? NULL : at;
}

/* ---- Sizes ---- */

Test(refuse_mmap, sizes_that_are_no_buffers)
{
	int fd = open_sampled();

	for (size_t pages = 1; pages <= 300; pages++) {
		void *at;

		if (pages > 1 && ((pages - 1) & (pages - 2))) {
			check_refused(MMAP(fd, pages * PAGE, 0), EINVAL, PMUCTL_WHY_MMAP_SIZE, "",
				      "%lu bytes cannot be mapped: map one page to read a counter, or one and a power of two more for a buffer",
				      pages * PAGE);
			continue;
		}
		at = map(fd, pages, PROT_READ | PROT_WRITE);
		cr_assert_not_null(at, "%zu pages: %m", pages);
		cr_assert_eq(munmap(at, pages * PAGE), 0);
	}
}

static void check_other_size(int fd, size_t wanted, size_t there)
{
	check_refused(MMAP(fd, (1 + wanted) * PAGE, 0, .prot = PROT_READ), EINVAL,
		      PMUCTL_WHY_MMAP_OTHER_SIZE, "",
		      "a buffer of %zu pages is wanted, but this event already has one of %zu: map as many, or unmap that first",
		      wanted, there);
}

Test(refuse_mmap, another_size_than_the_first)
{
	int fd = open_sampled(), other = open_sampled();
	void *first = map(fd, 1 + 4, PROT_READ | PROT_WRITE), *second;

	cr_assert_not_null(first);
	check_other_size(fd, 2, 4);
	check_other_size(fd, 8, 4);
	second = map(fd, 1 + 4, PROT_READ);
	cr_assert_not_null(second);
	munmap(first, 5 * PAGE);
	check_other_size(fd, 8, 4);

	/* An event that writes there has that buffer. */
	cr_assert_eq(ioctl(other, PERF_EVENT_IOC_SET_OUTPUT, (long)fd), 0);
	check_other_size(other, 1, 4);

	/* What the sentence says helps. */
	munmap(second, 5 * PAGE);
	cr_assert_not_null(map(fd, 1 + 8, PROT_READ));
}

Test(refuse_mmap, offsets_and_private_mappings)
{
	int fd = open_sampled();

	check_refusals(
		{ "from the fourth page on", MMAP(fd, 2 * PAGE, 3 * PAGE, .prot = PROT_READ),
		  EINVAL, PMUCTL_WHY_MMAP_OFFSET, "",
		  "an event is mapped from its beginning: the offset is 12288 and must be 0" },
		{ "a copy", MMAP(fd, 2 * PAGE, 0, .prot = PROT_READ, .private = true),
		  EINVAL, PMUCTL_WHY_MMAP_PRIVATE, "",
		  "a private copy of an event's pages would never change: map them with MAP_SHARED" }
	);
}

/* ---- Locked memory ---- */

/**
 * struct attempt - what a user has tried
 * @mapped: it went well.
 * @error: errno if not.
 * @why: and its explanation.
 */
struct attempt {
	bool mapped;
	int error;
	struct pmuctl_explanation why;
};

/* In a process of its own, an ordinary user's: take @first pages, then try @then */
static void attempt_here(size_t first, size_t then, rlim_t limit, struct attempt *a)
{
	struct rlimit locked = { limit, limit };
	union raw_attr attr = sampled();
	int fd, other;

	raw_device();
	if (setrlimit(RLIMIT_MEMLOCK, &locked) || raw_become(RAW_USER))
		return;
	other = raw_open(&attr, 0, -1, 0, &a->why);
	fd = raw_open(&attr, 0, -1, 0, &a->why);
	if (fd < 0 || other < 0 || (first && !map(other, first, PROT_READ)))
		return;
	a->mapped = map(fd, then, PROT_READ | PROT_WRITE);
	a->error = errno;
	if (!a->mapped)
		raw_explain(fd, &a->why);
}

static struct attempt attempt(size_t first, size_t then, rlim_t limit)
{
	struct attempt a = { .error = -1 };
	int report[2], status;
	pid_t pid;

	cr_assert_eq(pipe(report), 0);
	pid = fork();
	if (!pid) {
		attempt_here(first, then, limit, &a);
		_exit(write(report[1], &a, sizeof(a)) != sizeof(a));
	}
	waitpid(pid, &status, 0);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status));
	cr_assert_eq(read(report[0], &a, sizeof(a)), (ssize_t)sizeof(a));
	close(report[0]);
	close(report[1]);
	cr_assert_geq(a.error, 0, "%s", a.why.sentence);
	return a;
}

/* Of @then pages, @left are free, and the limit allows @limit bytes more. */
static void check_locked(size_t first, size_t then, size_t left, rlim_t limit)
{
	bool good = then <= left + limit / PAGE;
	struct attempt a = attempt(first, then, limit);

	cr_assert_eq(a.mapped, good, "%zu after %zu, %zu left, %lu bytes: %s", then, first,
		     left, (unsigned long)limit, a.why.sentence);
	if (good)
		return;
	cr_assert_eq(a.error, EPERM);
	check_why(&a.why, EPERM, PMUCTL_WHY_MEMLOCK, "",
		  "%lu KiB of buffer exceed the %lu KiB left of your allowance (parameter mlock_kb) and ulimit -l, %lu KiB: map less, raise one, or gain CAP_IPC_LOCK",
		  then * PAGE_KB, left * PAGE_KB, limit / PAGE * PAGE_KB);
}

static void usual_allowance(void)
{
	raw_write_number(MLOCK_KB, USUAL_KB);
}

/* Pages that a user has with a parameter of @kb */
static size_t allow(unsigned int kb)
{
	cr_assert_eq(raw_write_number(MLOCK_KB, kb), 0);
	return kb / PAGE_KB * sysconf(_SC_NPROCESSORS_ONLN);
}

Test(refuse_mmap, beyond_the_allowance, .fini = usual_allowance)
{
	size_t left = allow(0);

	check_locked(0, 2, left, 0);
	check_locked(0, 2, left, 2 * PAGE - 1);
	check_locked(0, 2, left, 2 * PAGE);
	check_locked(0, 3, left, 2 * PAGE);

	left = allow(64);
	check_locked(0, 17, left, 0);
	check_locked(0, 129, left, 0);
	check_locked(17, 17, left - 17, (17 - (left - 17)) * PAGE - 1);
	check_locked(17, 17, left - 17, (17 - (left - 17)) * PAGE);
}

/* The page to read a counter by is the event's own. */
Test(refuse_mmap, a_single_page_is_free, .fini = usual_allowance)
{
	allow(0);
	cr_assert(attempt(0, 1, 0).mapped);
}

Test(refuse_mmap, who_may_lock_memory_has_no_limit, .fini = usual_allowance)
{
	struct rlimit none = { 0, 0 };

	allow(0);
	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	cr_assert_not_null(map(open_sampled(), 129, PROT_READ));
}

/* Whoever may lock all memory: what lists the pages would be too large. */
Test(refuse_mmap, what_no_buffer_can_be)
{
	static const size_t pages[] = { 1ul << 20, 1ul << 27, 1ul << 28, 1ul << 32 };
	int fd = open_sampled();

	for (size_t i = 0; i < RAW_ARRAY_SIZE(pages); i++)
		check_refused(MMAP(fd, (1 + pages[i]) * PAGE, 0), ENOMEM,
			      PMUCTL_WHY_MMAP_TOO_LARGE, "",
			      "%lu MiB are more than a buffer can have, which is 2048 MiB: map less",
			      pages[i] * PAGE >> 20);
	cr_assert_not_null(map(fd, 2, PROT_READ | PROT_WRITE));
}
