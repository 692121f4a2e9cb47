// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of a mapping are mapped when somebody looks at them, with some around them: by whomever,
 * in whatever part of it, and as often as they are thrown away. All of them show the one ring.
 */
#include "loops.h"
#include "memory.h"
#include "module.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>

TestSuite(ring_look, .init = sampling_init, .fini = sampling_fini, .timeout = 300);

#define AROUND	64	/* pages of data that are mapped together; the metadata page with the first */
#define PAGES	(4 * AROUND)
#define BLOCK	10	/* rounds, of which 50 instructions make 2 samples */

static int ring_event(void)
{
	struct perf_event_attr attr = sampling_attr(50);

	return event_open(attr);
}

/* How many pages of the mapping that begins there are mapped? */
static long mapped(const void *where)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	unsigned long begin, end;
	bool found = false;
	char line[256];
	long kb = -1;

	cr_assert_not_null(f);
	while (kb < 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			found = begin == (unsigned long)where;
		if (found)
			sscanf(line, "Rss: %ld kB", &kb);
	}
	fclose(f);
	cr_assert_geq(kb, 0);
	return kb * 1024 / (long)PAGE;
}

static void look(const void *where)
{
	(void)*(const volatile uint8_t *)where;
}

/* Each page of data has its number at its end. */
static void put_numbers(struct ring *r)
{
	for (uint64_t i = 0; i < r->size / PAGE; i++)
		*(uint64_t *)(r->data + (i + 1) * PAGE - 8) = i + 1;
}

static bool has_number(const uint8_t *page, uint64_t i)
{
	return *(const volatile uint64_t *)(page + PAGE - 8) == i + 1;
}

static bool all_have_numbers(const uint8_t *data, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (!has_number(data + i * PAGE, first + i))
			return false;
	return true;
}

/* ---- What a look maps ---- */

Test(ring_look, nothing_is_mapped_before)
{
	struct ring r;

	ring_map(&r, ring_event(), PAGES);
	cr_assert_eq(mapped(r.page), 0);
	look(r.page);
	cr_assert_eq(mapped(r.page), 1 + AROUND);
	look(r.data + (AROUND - 1) * PAGE);
	cr_assert_eq(mapped(r.page), 1 + AROUND);
	look(r.data + (3 * AROUND - 1) * PAGE);
	cr_assert_eq(mapped(r.page), 1 + 2 * AROUND);
	r.data[AROUND * PAGE] = 1;
	cr_assert_eq(mapped(r.page), 1 + 3 * AROUND);
	look(r.data + 3 * AROUND * PAGE);
	cr_assert_eq(mapped(r.page), 1 + PAGES);
	ring_unmap(&r);
}

Test(ring_look, small_rings)
{
	for (size_t pages = 1; pages <= AROUND; pages *= 2) {
		AUTO_CLOSE int fd = ring_event();
		struct ring r;

		ring_map(&r, fd, pages);
		cr_assert_eq(mapped(r.page), 0);
		look(r.data + (pages - 1) * PAGE);
		cr_assert_eq(mapped(r.page), 1 + pages);
		ring_unmap(&r);
	}
}

Test(ring_look, read_only_ones)
{
	struct ring r;

	cr_assert_eq(ring_try_map(&r, ring_event(), PAGES, PROT_READ), 0);
	cr_assert_eq(mapped(r.page), 0);
	for (int i = 0; i < PAGES; i++)
		look(r.data + i * PAGE);
	cr_assert_eq(mapped(r.page), 1 + PAGES);
	cr_assert_eq(r.page->data_size, PAGES * PAGE);
	ring_unmap(&r);
}

/* Of the thread's own event, and of one that it does not count itself */
Test(ring_look, pages_of_counters)
{
	struct perf_event_attr attr = sampling_attr(50);
	int fds[] = { event_open(attr), event_open(attr, getppid()) };

	for (int i = 0; i < 2; i++) {
		struct perf_event_mmap_page *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fds[i], 0);

		cr_assert_neq(page, MAP_FAILED);
		cr_assert_eq(mapped(page), 0);
		for (int times = 0; times < 3; times++) {
			cr_assert_eq(page->cap_bit0_is_deprecated, 1);
			cr_assert_eq(page->cap_user_rdpmc, !i);
			cr_assert_eq(mapped(page), 1);
			cr_assert_eq(madvise(page, PAGE, MADV_DONTNEED), 0);
			cr_assert_eq(mapped(page), 0);
		}
		munmap(page, PAGE);
	}
}

/* Who does not want to wait later */
Test(ring_look, all_at_once_if_asked_for)
{
	AUTO_CLOSE int fd = ring_event();
	void *map = mmap(NULL, (1 + PAGES) * PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, fd, 0);
	struct ring r;

	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(mapped(map), 1 + PAGES);
	munmap(map, (1 + PAGES) * PAGE);
	ring_map(&r, fd, PAGES);
	cr_assert_eq(mlock(r.page, r.length), 0);
	cr_assert_eq(mapped(r.page), 1 + PAGES);
	ring_unmap(&r);
	cr_assert_eq(mlockall(MCL_FUTURE), 0);
	ring_map(&r, fd, PAGES);
	cr_assert_eq(mapped(r.page), 1 + PAGES);
	cr_assert_eq(munlockall(), 0);
}

/* What was thrown away comes again, alone or with those around it. */
Test(ring_look, again_after_they_were_thrown_away)
{
	struct ring r;

	ring_map(&r, ring_event(), PAGES);
	put_numbers(&r);
	for (uint64_t i = 0; i < PAGES; i += 3)
		cr_assert_eq(madvise(r.data + i * PAGE, PAGE, MADV_DONTNEED), 0);
	cr_assert_eq(mapped(r.page), 1 + PAGES - (PAGES + 2) / 3);
	cr_assert(all_have_numbers(r.data, 0, PAGES));
	cr_assert_eq(madvise(r.page, r.length, MADV_DONTNEED), 0);
	cr_assert_eq(mapped(r.page), 0);
	cr_assert(all_have_numbers(r.data, 0, PAGES));
	cr_assert_eq(mapped(r.page), 1 + PAGES);
	ring_unmap(&r);
}

/* ---- Parts ---- */

/* Look first at a part: nothing outside of it is mapped, and what is shown is in its place. */
static void check_part(const struct ring *of, int fd, uint64_t first, uint64_t n, uint64_t looked)
{
	uint8_t *part;
	struct ring r;

	ring_map(&r, fd, of->size / PAGE);
	part = r.data + first * PAGE;
	cr_assert_eq(munmap(r.page, part - (uint8_t *)r.page), 0);
	if (first + n < r.size / PAGE)
		cr_assert_eq(munmap(part + n * PAGE, r.size - (first + n) * PAGE), 0);
	cr_assert(has_number(part + looked * PAGE, first + looked));
	cr_assert_leq(mapped(part), n);
	cr_assert(all_have_numbers(part, first, n), "%lu pages from %lu on", n, first);
	cr_assert_eq(mapped(part), n);
	munmap(part, n * PAGE);
}

Test(ring_look, parts_of_a_mapping)
{
	int fd = ring_event();
	struct ring r;

	ring_map(&r, fd, PAGES);
	put_numbers(&r);
	check_part(&r, fd, 0, 1, 0);
	check_part(&r, fd, 10, 20, 19);
	check_part(&r, fd, AROUND - 1, 2, 1);
	check_part(&r, fd, AROUND + 5, 2 * AROUND, AROUND);
	check_part(&r, fd, PAGES - 3, 3, 2);
	ring_unmap(&r);
}

Test(ring_look, a_part_that_was_moved)
{
	int fd = ring_event();
	struct ring r, moved;
	uint8_t *part;

	ring_map(&r, fd, PAGES);
	put_numbers(&r);
	ring_map(&moved, fd, PAGES);
	look(moved.data + AROUND * PAGE);
	part = mmap(NULL, PAGES * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(part, MAP_FAILED);
	part = mremap(moved.data + 70 * PAGE, 100 * PAGE, 100 * PAGE,
		      MREMAP_MAYMOVE | MREMAP_FIXED, part);
	cr_assert_neq(part, MAP_FAILED, "%m");
	cr_assert(all_have_numbers(part, 70, 100));
	cr_assert(all_have_numbers(moved.data, 0, 70));
	cr_assert(all_have_numbers(moved.data + 170 * PAGE, 170, PAGES - 170));
}

/* ---- Others who look ---- */

/* Let children have the ring, where the kernel does: 7.3 refuses it for whatever cannot grow. */
static void give_to_children(const struct ring *r)
{
	int err = madvise(r->page, r->length, MADV_DOFORK) ? errno : 0;

	cr_assert_eq(err, raw_kernel_before(7, 3) ? 0 : EINVAL, "%s", strerror(err));
}

/* A child has it now; or it has nothing there, and maps the same at the same place. */
static void have_in_child(const struct ring *r, int fd)
{
	if (raw_kernel_before(7, 3))
		return;
	if (mmap(r->page, r->length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, fd,
		 0) != r->page)
		_exit(99);
}

Test(ring_look, a_child_that_may)
{
	struct perf_event_attr attr = sampling_attr(50);
	int fd = event_open(attr), status;
	struct tally t = { 0 };
	struct ring r;
	pid_t child;

	ring_map(&r, fd, PAGES);
	give_to_children(&r);
	block_run(fd, BLOCK);
	child = fork_child();
	if (!child) {
		have_in_child(&r, fd);
		tally_ring(&attr, &r, &t);
		put_numbers(&r);
		_exit(t.samples != 2);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0, "%#x", status);
	cr_assert_eq(mapped(r.page), 0);
	cr_assert(all_have_numbers(r.data, 0, PAGES));
	cr_assert_eq(r.page->data_tail, r.page->data_head);
}

/* Whatever they are doing: what they had mapped goes with them. */
Test(ring_look, children_that_are_killed)
{
	int fd = ring_event(), status;
	struct ring r;

	ring_map(&r, fd, PAGES);
	give_to_children(&r);
	for (int i = 0; i < 30; i++) {
		pid_t child = fork_child();

		if (!child)
			have_in_child(&r, fd);
		while (!child) {
			for (int k = 0; k < PAGES; k += AROUND)
				look(r.data + k * PAGE);
			madvise(r.page, r.length, MADV_DONTNEED);
		}
		usleep(i * 100);
		cr_assert_eq(kill(child, SIGKILL), 0);
		cr_assert_eq(waitpid(child, &status, 0), child);
		cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "%#x", status);
	}
	put_numbers(&r);
	cr_assert(all_have_numbers(r.data, 0, PAGES));
	ring_unmap(&r);
	/* No mapping is left: there may be a ring of another size. */
	ring_map(&r, fd, 1);
	ring_unmap(&r);
}

/* A debugger, and who reads the memory of another process */
Test(ring_look, another_process)
{
	int fd = ring_event(), status, memory;
	struct perf_event_mmap_page page;
	char path[64], byte;
	int ready[2];
	struct ring r;
	pid_t child;

	cr_assert_eq(pipe(ready), 0);
	ring_map(&r, fd, PAGES);
	put_numbers(&r);
	cr_assert_eq(madvise(r.page, r.length, MADV_DONTNEED), 0);
	give_to_children(&r);
	child = fork_child();
	if (!child) {
		have_in_child(&r, fd);
		byte = 0;
		if (write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	cr_assert_eq(read(ready[0], &byte, 1), 1);
	snprintf(path, sizeof(path), "/proc/%d/mem", child);
	memory = open(path, O_RDWR | O_CLOEXEC);
	cr_assert_geq(memory, 0);
	cr_assert_eq(pread(memory, &page, sizeof(page), (off_t)r.page), (ssize_t)sizeof(page), "%m");
	cr_assert_eq(page.data_size, PAGES * PAGE);
	for (uint64_t i = 0; i < PAGES; i++) {
		struct iovec here = { &byte, 1 }, there = { r.data + (i + 1) * PAGE - 8, 1 };

		cr_assert_eq(process_vm_readv(child, &here, 1, &there, 1, 0), 1, "%m");
		cr_assert_eq((uint8_t)byte, (uint8_t)(i + 1));
	}
	byte = 77;
	cr_assert_eq(pwrite(memory, &byte, 1, (off_t)r.data), 1, "%m");
	cr_assert_eq(mapped(r.page), 0);
	cr_assert_eq(r.data[0], 77);
	kill(child, SIGKILL);
	cr_assert_eq(waitpid(child, &status, 0), child);
}

/* ---- Many at once ---- */

#define THREADS	4

struct crowd {
	struct ring r;
	bool stop;
};

static void *look_around(void *arg)
{
	struct crowd *c = arg;
	uint64_t wrong = 0;

	for (uint64_t i = 0; !__atomic_load_n(&c->stop, __ATOMIC_RELAXED); i = (i * 5 + 1) % PAGES)
		wrong += !has_number(c->r.data + i * PAGE, i);
	return (void *)wrong;
}

/* Pages go, and other mappings of the ring and parts of them, while all look at them. */
Test(ring_look, many_while_they_are_taken_away)
{
	int rounds = is_slow_kernel() ? 30 : 300, fd = ring_event();
	pthread_t threads[THREADS];
	struct crowd c = { 0 };
	void *wrong;

	ring_map(&c.r, fd, PAGES);
	put_numbers(&c.r);
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, look_around, &c), 0);
	for (int i = 0; i < rounds; i++) {
		struct ring other;

		cr_assert_eq(madvise(c.r.page, c.r.length, MADV_DONTNEED), 0);
		ring_map(&other, fd, PAGES);
		cr_assert(has_number(other.data + (i % PAGES) * PAGE, i % PAGES));
		cr_assert_eq(munmap(other.data + 100 * PAGE, 50 * PAGE), 0);
		cr_assert(has_number(other.data + 99 * PAGE, 99));
		ring_unmap(&other);
		cr_assert_eq(madvise(c.r.data + (i % PAGES) * PAGE, PAGE, MADV_DONTNEED), 0);
	}
	__atomic_store_n(&c.stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &wrong);
		cr_assert_null(wrong);
	}
}

/* ---- Whose memory ---- */

#define KEPT_RING	1024

/* Give one page of each AROUND to a pipe, if there is one, and close the ring. */
static void keep_pages(int to, pid_t pid __attribute__((unused)))
{
	AUTO_CLOSE int fd = ring_event();
	struct ring r;

	ring_map(&r, fd, KEPT_RING);
	for (size_t i = 0; i < PIPE_PAGES; i++) {
		struct iovec page = { r.data + i * (r.size / PIPE_PAGES), PAGE };

		cr_assert_eq(vmsplice(to, &page, 1, SPLICE_F_NONBLOCK), (ssize_t)PAGE);
	}
	ring_unmap(&r);
}

/* Who holds 512 KiB in pipes keeps no more: with the rings it would be 32 MiB. */
Test(ring_look, a_page_in_a_pipe_keeps_no_others)
{
	long kept = kept_in_pipes(keep_pages, 0);

	cr_assert_leq(kept, 8000, "%ld KiB are kept", kept);
}

/* Rings of which nobody has seen anything, some part, or all */
static void map_some(void)
{
	for (int i = 0; i < 32; i++) {
		AUTO_CLOSE int fd = ring_event();
		struct ring r;

		ring_map(&r, fd, KEPT_RING);
		for (int k = 0; k < KEPT_RING && i % 4; k += i % 4 == 3 ? 1 : 200 * (i % 4))
			look(r.data + k * PAGE);
		ring_unmap(&r);
	}
}

/* All of it would be 128 MiB. */
Test(ring_look, all_is_given_back)
{
	long before, lost = LONG_MAX;

	map_some();
	/* The kernel keeps pages for itself now and then; a leak shows each time. */
	for (int tries = 0; tries < 5 && lost > 2000; tries++) {
		before = free_kib();
		map_some();
		lost = before - free_kib();
		for (int i = 0; i < 50 && lost > 2000; i++) {
			usleep(10000);
			lost = before - free_kib();
		}
	}
	cr_assert_leq(lost, 2000, "%ld KiB were not given back", lost);
}

/* ---- Marks of userfaultfd ---- */

/* Of Linux 6.7, which linux/userfaultfd.h may not have yet */
#define API_WP_ASYNC	(1 << 15)

/* Have a page protected that is not mapped, which leaves a mark there: not everywhere possible. */
static bool mark(void *page)
{
	struct uffdio_api api = { .api = UFFD_API, .features = API_WP_ASYNC };
	struct uffdio_register reg = {
		.range = { (uintptr_t)page, PAGE }, .mode = UFFDIO_REGISTER_MODE_WP,
	};
	struct uffdio_writeprotect wp = {
		.range = { (uintptr_t)page, PAGE }, .mode = UFFDIO_WRITEPROTECT_MODE_WP,
	};
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC);

	cr_assert_geq(fd, 0, "%m");
	return !ioctl(fd, UFFDIO_API, &api) && !ioctl(fd, UFFDIO_REGISTER, &reg) &&
	       !ioctl(fd, UFFDIO_WRITEPROTECT, &wp);
}

/* The kernel looks at it for a process: that ends. */
static void check_marked(void *page)
{
	int link[2];

	if (!mark(page))
		return;
	cr_assert_eq(pipe(link), 0);
	cr_assert_eq(write(link[1], page, 1), 1, "%m");
	look(page);
	*(volatile uint8_t *)page = 0;
	close(link[0]);
	close(link[1]);
}

Test(ring_look, where_userfaultfd_has_left_a_mark)
{
	struct ring r, control;

	ring_map(&r, ring_event(), PAGES);
	check_marked(r.data + PAGE);
	look(r.data + AROUND * PAGE);
	check_marked(r.data + 2 * AROUND * PAGE);
	ring_unmap(&r);
	ring_map(&control, ring_event(), 1);
	look(control.page);
	cr_assert_eq(madvise(control.page, PAGE, MADV_DONTNEED), 0);
	check_marked(control.page);
	ring_unmap(&control);
}
