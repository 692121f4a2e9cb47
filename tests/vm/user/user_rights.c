// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may read counters in user space, and until when; which mappings there are.
 */
#include "refusal.h"
#include "userpage.h"

#define PROGRAM	"/pmuctl/tests/prog/read-counter"

static int open_own(void)
{
	struct perf_event_attr attr = instructions_u();

	return event_open(attr);
}

static unsigned int events_open(void)
{
	struct pmuctl_info info = { .size = sizeof(info) };
	AUTO_CLOSE int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);

	cr_assert_eq(ioctl(device, PMUCTL_IOC_INFO, &info), 0);
	return info.hw_events;
}

/* ---- Until when ---- */

Test(user_rights, nobody_may_without_a_mapping)
{
	cr_expect(counter_faults());
	open_own();
	cr_expect(counter_faults(), "an event alone gives no right");
}

Test(user_rights, until_munmap)
{
	int fd = open_own();

	for (unsigned int i = 0; i < 100; i++) {
		user_page *page = page_map(fd);

		cr_assert_not(counter_faults());
		page_unmap(page);
		cr_assert(counter_faults());
	}
}

Test(user_rights, until_the_last_munmap)
{
	int a = open_own(), b = open_own();
	user_page *first = page_map(a), *second = page_map(a), *third = page_map(b);

	cr_expect_eq(first->index, second->index);
	cr_expect_eq(first->offset, second->offset, "it is the same page");
	page_unmap(first);
	cr_expect_not(counter_faults());
	page_unmap(third);
	cr_expect_not(counter_faults());
	cr_expect_gt(page_read(second).value, 0);
	page_unmap(second);
	cr_expect(counter_faults());
}

/* Also on a CPU where it has not run before, and after others ran in between */
Test(user_rights, on_every_cpu)
{
	int fd;

	pin_here(0);
	fd = open_own();
	page_map(fd);
	for (unsigned int i = 0; i < 100; i++) {
		pin_here(i % 2);
		cr_assert_not(counter_faults());
		usleep(100);
		cr_assert_not(counter_faults());
	}
}

Test(user_rights, not_after_munmap_on_any_cpu)
{
	int fd = open_own();
	user_page *page = page_map(fd);

	for (unsigned int i = 0; i < 50; i++) {
		pin_here(i % 2);
		cr_assert_not(counter_faults());
	}
	page_unmap(page);
	for (unsigned int i = 0; i < 50; i++) {
		pin_here(i % 2);
		cr_assert(counter_faults());
	}
}

Test(user_rights, mremap_takes_the_right_along)
{
	int fd = open_own();
	user_page *page = page_map(fd), *moved;
	void *place = mmap(NULL, PAGE_BYTES, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	moved = mremap(page, PAGE_BYTES, PAGE_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED,
		       place);
	cr_assert(moved == place, "mremap: %m");
	cr_expect_not(counter_faults());
	cr_expect_gt(page_read(moved).value, 0);
	page_unmap(moved);
	cr_expect(counter_faults());
}

Test(user_rights, mapping_keeps_the_event_open)
{
	unsigned int before = events_open();
	int fd = open_own();
	user_page *page = page_map(fd);
	uint64_t value;

	close(fd);
	cr_expect_eq(events_open(), before + 1);
	cr_expect_eq(syscall(SYS_delete_module, "pmuctl", O_NONBLOCK), -1,
		     "the module goes away under a mapping");
	cr_expect_eq(errno, EAGAIN);
	value = page_read(page).value;
	user_loop(100000);
	cr_expect_geq(page_read(page).value - value, 200000);
	page_unmap(page);
	cr_expect_eq(events_open(), before);
	cr_expect(counter_faults());
}

/* ---- Children ---- */

static int child_status(pid_t child)
{
	int status = -1;

	cr_assert_eq(waitpid(child, &status, 0), child);
	return status;
}

Test(user_rights, child_of_a_fork_may_not)
{
	int fd = open_own(), status;
	user_page *page = page_map(fd);

	for (unsigned int i = 0; i < 50; i++) {
		pid_t child = fork_child();

		if (!child)
			_exit(counter_faults() ? 0 : 1);
		status = child_status(child);
		cr_assert_eq(status, 0, "the child may read (%#x)", status);
		cr_assert_not(counter_faults(), "the parent may still");
	}
	cr_expect_gt(page_read(page).value, 0);
}

Test(user_rights, child_has_no_copy_of_the_page)
{
	int fd = open_own(), status;
	user_page *page = page_map(fd);
	pid_t child;

	cr_expect_eq(madvise(page, PAGE_BYTES, MADV_DOFORK), -1);
	cr_expect_eq(errno, EINVAL);
	child = fork_child();
	if (!child) {
		struct sigaction act = { .sa_handler = SIG_DFL };

		sigaction(SIGSEGV, &act, NULL);
		_exit(*(volatile uint32_t *)&page->version);
	}
	status = child_status(child);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "%#x", status);
}

Test(user_rights, child_may_by_itself)
{
	int fd = open_own(), status;
	pid_t child;

	page_map(fd);
	child = fork_child();
	if (!child) {
		int own = open_own();
		user_page *page = page_map(own);

		if (counter_faults() || !page_read(page).index)
			_exit(1);
		page_unmap(page);
		_exit(counter_faults() ? 0 : 2);
	}
	status = child_status(child);
	cr_expect_eq(status, 0, "%#x", status);
	cr_expect_not(counter_faults());
}

/* What the parent counts, mapped by the child: nothing for it to read. */
Test(user_rights, inherited_descriptor_gives_no_right)
{
	int fd = open_own(), status;
	pid_t child;

	page_map(fd);
	child = fork_child();
	if (!child) {
		user_page *page = page_map(fd);

		_exit(page->cap_user_rdpmc || page->index || !counter_faults());
	}
	status = child_status(child);
	cr_expect_eq(status, 0, "%#x", status);
}

Test(user_rights, not_after_exec)
{
	int fd = open_own(), status;
	pid_t child;

	page_map(fd);
	child = vfork();
	if (!child) {
		execl(PROGRAM, PROGRAM, NULL);
		_exit(126);
	}
	status = child_status(child);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
		  "after vfork and exec: %#x", status);
	cr_expect_not(counter_faults());

	child = fork_child();
	if (!child) {
		page_map(open_own());
		if (counter_faults())
			_exit(125);
		execl(PROGRAM, PROGRAM, NULL);
		_exit(126);
	}
	status = child_status(child);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV,
		  "after mapping and exec: %#x", status);
}

Test(user_rights, another_process_may_not_meanwhile)
{
	int ends[2], status, fd;
	user_page *page;
	pid_t child;
	char c = 0;

	pin_here(0);
	cr_assert_eq(pipe(ends), 0);
	child = fork_child();
	if (!child) {
		bool always = true;

		for (unsigned int i = 0; i < 100; i++) {
			always &= read(ends[0], &c, 1) == 1;
			always &= counter_faults();
		}
		_exit(!always);
	}
	fd = open_own();
	page = page_map(fd);
	for (unsigned int i = 0; i < 100; i++) {
		cr_assert_eq(write(ends[1], &c, 1), 1);
		sched_yield();
		cr_assert_not(counter_faults());
	}
	status = child_status(child);
	cr_expect_eq(status, 0, "%#x", status);
	cr_expect_gt(page_read(page).value, 0);
}

/* ---- What can be read ---- */

/*
 * Counters that nobody uses now hold nothing of those that used them before. Our own event
 * has one of these four where there are no fixed ones.
 */
Test(user_rights, what_others_left_is_cleared)
{
	struct perf_event_attr attr = branches_u();
	unsigned int i, round;
	struct worker w;
	user_page *page;
	int fd[4];

	pin_here(0);
	worker_start(&w, false);
	for (i = 0; i < 4; i++)
		fd[i] = event_open(attr, w.tid);
	page = page_map(open_own());
	for (round = 0; round < 5; round++) {
		worker_run(&w, 100000);
		for (i = 0; i < 4; i++)
			if (i + 1 != page->index)
				cr_expect_eq(counter_read(i), 0, "counter %u", i);
	}
	for (i = 0; i < 4; i++)
		cr_expect_gt(event_value(fd[i]), 500000);
	cr_expect_gt(page_read(page).value, 0);
	worker_end(&w);
}

/* ---- Whose events ---- */

static void has_nothing_to_read(int fd)
{
	user_page *page = page_map(fd);

	cr_expect_eq(page->cap_bit0_is_deprecated, 1);
	cr_expect_eq(page->cap_user_rdpmc, 0);
	cr_expect_eq(page->cap_user_time, 0);
	cr_expect_eq(page->index, 0);
	cr_expect(counter_faults());
	page_unmap(page);
}

Test(user_rights, events_of_others_have_nothing_to_read)
{
	struct perf_event_attr attr = instructions_u();
	struct worker process, thread;
	int fd[4];

	worker_start(&process, false);
	worker_start(&thread, true);
	fd[0] = event_open(attr, process.tid);
	fd[1] = event_open(attr, thread.tid);
	fd[2] = event_open(attr, -1, 0);
	fd[3] = event_open(attr, -1);
	for (unsigned int i = 0; i < 4; i++) {
		has_nothing_to_read(fd[i]);
		close(fd[i]);
	}
	worker_end(&process);
	worker_end(&thread);
}

static void *reads_by_itself(void *unused)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int fd = event_open(attr);
	user_page *page = page_map(fd);

	(void)unused;
	for (unsigned int i = 0; i < 1000; i++)
		cr_assert_gt(page_read(page).index, 0);
	page_unmap(page);
	return NULL;
}

/* Threads map and unmap at once: the right is the process', and ends with the last. */
Test(user_rights, threads_of_a_process)
{
	pthread_t threads[8];
	unsigned int i, round;

	for (round = 0; round < 10; round++) {
		for (i = 0; i < 8; i++)
			cr_assert_eq(pthread_create(&threads[i], NULL,
						    reads_by_itself, NULL), 0);
		for (i = 0; i < 8; i++)
			cr_assert_eq(pthread_join(threads[i], NULL), 0);
		cr_assert(counter_faults());
	}
}

/* A fork copies the right in the middle of mapping and unmapping. */
static void *maps_all_the_time(void *arg)
{
	struct perf_event_attr attr = instructions_u();
	AUTO_CLOSE int fd = event_open(attr);
	volatile bool *stop = arg;

	while (!*stop)
		page_unmap(page_map(fd));
	return NULL;
}

Test(user_rights, fork_while_another_thread_maps)
{
	volatile bool stop = false;
	pthread_t thread;
	int status;

	cr_assert_eq(pthread_create(&thread, NULL, maps_all_the_time, (void *)&stop),
		     0);
	for (unsigned int i = 0; i < 300; i++) {
		pid_t child = fork_child();

		if (!child)
			_exit(counter_faults() ? 0 : 1);
		status = child_status(child);
		cr_assert_eq(status, 0, "child %u may read (%#x)", i, status);
	}
	stop = true;
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_assert(counter_faults());
}

/* ---- Refusals ---- */

/* Sizes of buffers are in refuse_mmap.c. */
Test(user_rights, other_mappings_are_refused)
{
	int fd = open_own();
	const struct refusal cases[] = {
		{ "three pages of data", MMAP(fd, 4 * PAGE_BYTES, 0, .prot = PROT_READ), EINVAL,
		  PMUCTL_WHY_MMAP_SIZE, "",
		  "16384 bytes cannot be mapped: map one page to read a counter, or one and a power of two more for a buffer" },
		{ "the second page", MMAP(fd, PAGE_BYTES, PAGE_BYTES, .prot = PROT_READ), EINVAL,
		  PMUCTL_WHY_MMAP_OFFSET, "",
		  "an event is mapped from its beginning: the offset is 4096 and must be 0" },
		{ "a copy", MMAP(fd, PAGE_BYTES, 0, .prot = PROT_READ, .private = true), EINVAL,
		  PMUCTL_WHY_MMAP_PRIVATE, "",
		  "a private copy of an event's pages would never change: map them with MAP_SHARED" },
	};

	for (size_t i = 0; i < RAW_ARRAY_SIZE(cases); i++) {
		check_refusals(cases[i]);
		cr_expect(counter_faults());
	}
}

/* Who wants to read a counter maps one page. */
Test(user_rights, a_buffer_gives_no_right)
{
	int fd = open_own();
	user_page *page = mmap(NULL, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			       fd, 0);

	cr_assert(page != MAP_FAILED, "mmap: %m");
	cr_expect_eq(page->cap_user_rdpmc, 0);
	cr_expect_eq(page->index, 0);
	cr_expect(counter_faults());
	cr_assert_eq(munmap(page, 2 * PAGE_BYTES), 0);
}
