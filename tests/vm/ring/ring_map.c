// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mapping a ring: which mappings there are, what the metadata page says, and that the
 * memory is accounted to its user, and given back in every way a process can end.
 */
#include "memory.h"

TestSuite(ring_map, .init = sampling_init, .fini = sampling_fini);

#define BLOCK	10	/* rounds */

static int ordinary_event(void)
{
	struct perf_event_attr attr = sampling_attr(50);

	return event_open(attr);
}

static int try_mmap(int fd, size_t length, int flags, off_t offset)
{
	void *map = mmap(NULL, length, PROT_READ | PROT_WRITE, flags, fd, offset);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, length);
	return 0;
}

/* ---- Which there are ---- */

Test(ring_map, every_power_of_two)
{
	for (size_t pages = 1; pages <= 4096; pages *= 2) {
		struct perf_event_attr attr = sampling_attr(50);
		AUTO_CLOSE int fd = event_open(attr);
		struct tally t = { 0 };
		struct ring r;

		ring_map(&r, fd, pages);
		cr_assert_eq(r.page->data_offset, PAGE);
		cr_assert_eq(r.page->data_size, pages * PAGE);
		cr_assert_eq(r.page->data_head, 0);
		cr_assert_eq(r.page->aux_size, 0);
		block_run(fd, BLOCK);
		tally_ring(&attr, &r, &t);
		cr_assert_eq(t.samples, 2, "%zu pages", pages);
		ring_unmap(&r);
	}
}

Test(ring_map, other_sizes_are_refused)
{
	static const size_t pages[] = { 3, 5, 6, 7, 9, 12, 15, 17, 1000, 1025 };
	int fd = ordinary_event();

	for (size_t i = 0; i < RAW_ARRAY_SIZE(pages); i++)
		cr_assert_eq(try_mmap(fd, (1 + pages[i]) * PAGE, MAP_SHARED, 0), -EINVAL,
			     "%zu pages", pages[i]);
}

Test(ring_map, private_is_refused)
{
	int fd = ordinary_event();

	cr_assert_eq(try_mmap(fd, 2 * PAGE, MAP_PRIVATE, 0), -EINVAL);
}

Test(ring_map, offset_is_refused)
{
	int fd = ordinary_event();

	for (off_t offset = PAGE; offset <= (off_t)(4 * PAGE); offset += PAGE) {
		cr_assert_eq(try_mmap(fd, 2 * PAGE, MAP_SHARED, offset), -EINVAL);
		cr_assert_eq(try_mmap(fd, PAGE, MAP_SHARED, offset), -EINVAL);
	}
}

/* What another mapping of the ring shows is the same ring. */
Test(ring_map, second_mapping_is_of_the_same_ring)
{
	struct perf_event_attr attr = sampling_attr(50);
	int fd = event_open(attr);
	struct tally t = { 0 };
	struct ring a, b;

	ring_map(&a, fd, 4);
	cr_assert_eq(try_mmap(fd, 3 * PAGE, MAP_SHARED, 0), -EINVAL);
	cr_assert_eq(try_mmap(fd, 9 * PAGE, MAP_SHARED, 0), -EINVAL);
	ring_map(&b, fd, 4);
	block_run(fd, BLOCK);
	cr_assert_eq(ring_head(&a), ring_head(&b));
	tally_ring(&attr, &a, &t);
	cr_assert_eq(t.samples, 2);
	ring_unmap(&a);
	block_run(fd, BLOCK);
	tally_ring(&attr, &b, &t);
	cr_assert_eq(t.samples, 6);
	ring_unmap(&b);
}

/* The ring lives as long as a mapping does; once all are gone there may be another. */
Test(ring_map, size_may_change_between_mappings)
{
	struct perf_event_attr attr = sampling_attr(50);
	int fd = event_open(attr);
	uint64_t n = 0;

	for (size_t pages = 1; pages <= 64; pages *= 4) {
		struct tally t = { 0 };
		struct ring r;

		ring_map(&r, fd, pages);
		block_run(fd, BLOCK); /* each adds 103 instructions */
		tally_ring(&attr, &r, &t);
		n += t.samples;
		ring_unmap(&r);
		block_run(fd, BLOCK);
	}
	cr_assert_geq(n, 8);
}

/* The reader goes on after the event's descriptor is closed. */
Test(ring_map, mapping_outlives_its_descriptor)
{
	struct perf_event_attr attr = sampling_attr(50);
	int fd = event_open(attr);
	struct tally t = { 0 };
	struct ring r;

	ring_map(&r, fd, 1);
	block_run(fd, BLOCK);
	close(fd);
	tally_ring(&attr, &r, &t);
	cr_assert_eq(t.samples, 2);
	ring_unmap(&r);
}

Test(ring_map, samples_without_a_ring_go_nowhere)
{
	int fd = ordinary_event();

	block_run(fd, 1000);
	cr_assert_eq(sampling_value(fd), BLOCK_LENGTH(1000));
}

/* A mapping is not to be found in a child. */
Test(ring_map, children_do_not_inherit_a_mapping)
{
	int fd = ordinary_event(), status;
	struct ring r;
	pid_t child;

	ring_map(&r, fd, 1);
	child = fork_child();
	if (!child) {
		ring_head(&r);
		_exit(0);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "%#x", status);
}

/* Part of a mapping may be refused to go alone; nothing is left when all is gone. */
Test(ring_map, parts_of_a_mapping)
{
	struct perf_event_attr attr = sampling_attr(50);
	int fd = event_open(attr);
	struct ring r;

	ring_map(&r, fd, 8);
	if (munmap(r.data + 4 * PAGE, 4 * PAGE))
		cr_assert_eq(errno, EINVAL, "%m");
	block_run(fd, BLOCK);
	cr_assert_gt(ring_head(&r), 0);
	ring_unmap(&r);
	cr_assert_eq(try_mmap(fd, 2 * PAGE, MAP_SHARED, 0), 0);
}

/* ---- Whose memory ---- */

TestSuite(ring_memory, .init = allow_users, .fini = forbid_users);

Test(ring_memory, free_allowance_then_the_limit)
{
	check_taken(child_takes_all(RAW_USER, 0, EXITS), free_pages(), "no limit");
	check_taken(child_takes_all(RAW_USER, 90 * PAGE, EXITS), free_pages() + 90, "90 pages");
	check_taken(child_takes_all(RAW_USER, 900 * PAGE, EXITS), free_pages() + 900, "900 pages");
}

Test(ring_memory, given_back_however_the_process_ends)
{
	static const struct {
		enum end end;
		const char *what;
	} ways[] = { { EXITS, "exit" }, { IS_KILLED, "SIGKILL" }, { EXECS, "exec" } };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(ways); i++) {
		child_takes_all(RAW_USER, 50 * PAGE, ways[i].end);
		check_given_back(50 * PAGE, free_pages() + 50, ways[i].what);
	}
}

Test(ring_memory, allowance_is_one_for_all_processes_of_a_user)
{
	struct holder h = holder_start(RAW_USER, 0, EXITS);

	check_taken(h.taken, free_pages(), "the first");
	check_taken(child_takes_all(RAW_USER, 0, EXITS), 0, "the same user again");
	check_taken(child_takes_all(RAW_OTHER_USER, 0, EXITS), free_pages(),
		    "another user");
	holder_end(&h, EXITS);
}

/* Who may lock memory as he likes has no limit but the memory. */
Test(ring_memory, cap_ipc_lock_has_no_limit)
{
	struct rlimit none = { 0, 0 };
	long pages = 0;
	struct ring r;
	int fd;

	cr_assert_eq(setrlimit(RLIMIT_MEMLOCK, &none), 0);
	for (int i = 0; i < 8; i++) {
		fd = ordinary_event();
		ring_map(&r, fd, 128);
		pages += 129;
	}
	cr_assert_gt(pages, free_pages());
}

/* Mapped pages beyond the allowance show as pinned, and are gone after. */
static long pinned_kb(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	long kb = -1;

	cr_assert_not_null(f);
	while (kb < 0 && fgets(line, sizeof(line), f))
		sscanf(line, "VmPin: %ld", &kb);
	fclose(f);
	cr_assert_geq(kb, 0);
	return kb;
}

Test(ring_memory, pinned_memory_is_shown)
{
	long before = pinned_kb();
	int fd = ordinary_event();
	struct ring r;

	ring_map(&r, fd, 1024);
	cr_assert_gt(pinned_kb(), before);
	ring_unmap(&r);
	cr_assert_eq(pinned_kb(), before);
}
