// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may read counters in user space: not the children of forks, whatever else goes on; nor whom
 * the kernel's perf has left the right.
 */
#include "bound.h"
#include "hooks.h"
#include "loops.h"
#include "userpage.h"

#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/socket.h>

TestSuite(attack_rdpmc, .timeout = 300);

/* ---- Forks that outlast a hook ---- */

/* A fork of ours waits until that is told of, when it has copied the memory. Returns where. */
static int hold_up_forks(void)
{
	struct uffdio_api api = { .api = UFFD_API, .features = UFFD_FEATURE_EVENT_FORK };
	struct uffdio_register area = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	int uffd = syscall(SYS_userfaultfd, O_CLOEXEC);

	cr_assert_geq(uffd, 0, "userfaultfd: %m");
	area.range.start = (uintptr_t)mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	area.range.len = 4096;
	cr_assert_eq(ioctl(uffd, UFFDIO_API, &api), 0, "%m");
	cr_assert_eq(ioctl(uffd, UFFDIO_REGISTER, &area), 0, "%m");
	return uffd;
}

/* The child tells whether it may read counters. It has no copy of the descriptors, which would
 * keep the event.
 */
static void *fork_slowly(void *child)
{
	*(pid_t *)child = syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
	if (!*(pid_t *)child)
		_exit(!counter_faults());
	return NULL;
}

/* Who forks while he may read counters has a child that may not, however long that takes. */
Test(attack_rdpmc, a_fork_that_outlasts_all_events_gives_no_right)
{
	struct pollfd forks = { .fd = hold_up_forks(), .events = POLLIN };
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int fd = event_open(attr), status;
	user_page *page = page_map(fd);
	struct uffd_msg message;
	pthread_t thread;
	pid_t child;

	cr_assert_not(counter_faults());
	cr_assert_eq(pthread_create(&thread, NULL, fork_slowly, &child), 0);
	cr_assert_eq(poll(&forks, 1, -1), 1);
	page_unmap(page);
	close(fd);
	while (hooks_is_set("rights of forks"))
		usleep(100000);
	cr_assert_eq(read(forks.fd, &message, sizeof(message)), (ssize_t)sizeof(message));
	cr_assert_eq(message.event, UFFD_EVENT_FORK);
	pthread_join(thread, NULL);
	cr_assert_eq(waitpid(child, &status, 0), child, "%m");
	cr_expect_eq(status, 0, "%#x", status);
}

/* But not for longer than a process runs that might read */
Test(attack_rdpmc, forks_are_not_looked_at_for_ever)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	pid_t child = fork_child();

	if (!child) {
		page_map(event_open(attr));
		_exit(0);
	}
	cr_assert_eq(waitpid(child, NULL, 0), child);
	while (hooks_number_of("forks", "looked at for "))
		usleep(100000);
}

/* ---- Whom perf has left the right ---- */

/* Asked by a byte, it answers with another. One comes unasked. */
static int stranger[2];

enum question { MAY_IT_READ, HAS_IT_OPENED };

static void be_a_stranger(void)
{
	char byte = 0;

	do {
		die_if(write(stranger[1], &byte, 1) != 1, "write");
		if (read(stranger[1], &byte, 1) != 1)
			_exit(0);
		byte = byte == HAS_IT_OPENED ? event_try(instructions_u()) >= 0 : !counter_faults();
	} while (true);
}

static bool ask_stranger(enum question question)
{
	char byte = question;

	cr_assert_eq(write(stranger[0], &byte, 1), 1, "%m");
	cr_assert_eq(read(stranger[0], &byte, 1), 1, "%m");
	return byte;
}

static bool stranger_may(void)
{
	return ask_stranger(MAY_IT_READ);
}

/*
 * A child of a process that has read a counter of perf's on this CPU, which perf will clear there at
 * the next switch to one that may read. perf's event has gone.
 */
static void leave_some_stranger(void)
{
	struct perf_event_attr attr = instructions_u();
	char byte;
	pid_t reader, child;
	int status;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stranger), 0, "%m");
	reader = fork();
	if (!reader) {
		int fd = perf_try(&attr, 0, -1);

		die_if(fd < 0, "perf's event");
		die_if(mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED, "mmap");
		child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
		if (!child) {
			close(fd);
			close(stranger[0]);
			be_a_stranger();
		}
		die_if(read(stranger[0], &byte, 1) != 1, "the child");
		wait_asleep(child);
		user_loop(1000000);
		_exit(0); /* and nobody has taken the right out of the child */
	}
	cr_assert_eq(waitpid(reader, &status, 0), reader);
	cr_assert_eq(status, 0, "%#x", status);
	close(stranger[1]);
}

/* Its fork is not looked at. */
static void leave_a_stranger(void)
{
	while (hooks_number_of("forks", "looked at for "))
		usleep(100000);
	leave_some_stranger();
}

Test(attack_rdpmc, a_child_of_a_reader_of_perf_may_not)
{
	leave_a_stranger();
	cr_expect(stranger_may(), "perf has not left it the right");
	event_open(instructions_u());
	cr_expect_not(stranger_may());
}

/* Not even once: with the right, perf would clear what counts now. */
Test(attack_rdpmc, nor_does_it_clear_what_counts)
{
	struct perf_event_attr attr = instructions_u();
	uint64_t before;
	int fd;

	pin_here(0);
	leave_a_stranger();
	fd = event_open(attr, -1, 0);
	for (int i = 0; i < 4; i++) {
		user_loop(1000000);
		before = event_value(fd);
		cr_expect_not(stranger_may());
		cr_assert_geq(event_value(fd), before);
	}
}

static void let_claim(const char *who)
{
	cr_assert_eq(raw_write_file(RAW_CLAIM, who), 0);
}

static void let_anyone(void)
{
	let_claim("anyone");
}

/* The PMU goes from under an event whose opener may not claim it, and comes back by the parameter. */
Test(attack_rdpmc, nor_may_one_while_an_event_waits, .fini = let_anyone)
{
	int claimant, waiting;

	let_claim("privileged");
	claimant = event_open(instructions_u());
	cr_assert_eq(setresuid(-1, RAW_USER, -1), 0);
	waiting = event_open(instructions_u());
	cr_assert_eq(setresuid(-1, 0, -1), 0);
	close(claimant);
	leave_some_stranger();
	let_claim("anyone");
	user_loop(1000000);
	cr_expect_gt(event_value(waiting), 0);
	cr_expect_not(stranger_may());
}

static void let_read(const char *who)
{
	cr_assert_eq(raw_write_file("/sys/devices/cpu/rdpmc", who), 0);
}

static void let_readers(void)
{
	let_read("1");
}

static pid_t read_on_another_cpu(void)
{
	pid_t reader = fork_child();

	if (!reader) {
		pin_here(1);
		for (;;)
			counter_read(0);
	}
	sleep_ms(500);
	return reader;
}

static void expect_alive(pid_t reader)
{
	int status;

	sleep_ms(500);
	cr_expect_eq(waitpid(reader, &status, WNOHANG), 0, "%#x", status);
}

/* Where the administrator lets everybody read, nobody else loses that for a stranger's sake. */
Test(attack_rdpmc, others_may_still_if_everybody_may, .fini = let_readers)
{
	pid_t other;

	let_read("2");
	leave_a_stranger();
	other = read_on_another_cpu();
	event_open(instructions_u());
	expect_alive(other);
}

/* Nor if the stranger itself is the first who counts */
Test(attack_rdpmc, others_may_still_if_a_stranger_counts, .fini = let_readers)
{
	pid_t other;

	let_read("2");
	leave_a_stranger();
	other = read_on_another_cpu();
	cr_assert(ask_stranger(HAS_IT_OPENED));
	expect_alive(other);
}
