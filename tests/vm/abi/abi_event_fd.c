// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event file descriptors: their flags, what read() gives in every format, buffers that are
 * too small, poll and epoll, and the ioctls they have.
 */
#include "perm.h"
#include "refusal.h"

#include <poll.h>
#include <sys/epoll.h>

#define BAD_SENTENCE \
	"the memory at this address cannot be read or written: pass a pointer into your own address space"

#define ALL_FORMATS	32	/* combinations of the five bits of read_format */

Test(abi_event_fd, is_closed_on_exec_only_if_that_was_asked_for)
{
	union raw_attr a = raw_instructions();
	int kept = raw_open(&a, 0, -1, 0, NULL);
	int closed = raw_open(&a, 0, -1, PERF_FLAG_FD_CLOEXEC, NULL);

	cr_assert_eq(fcntl(kept, F_GETFD), 0);
	cr_assert_eq(fcntl(closed, F_GETFD), FD_CLOEXEC);
	cr_assert_eq(fcntl(kept, F_GETFL) & O_ACCMODE, O_RDWR);
}

/* ---- read() ---- */

struct place {
	int value, enabled, running, id, lost, nr;	/* index of u64, -1: absent */
	size_t size;					/* bytes */
};

/* perf_event_open(2), "Reading results", for a group of one event */
static struct place places_of(uint64_t format)
{
	struct place p = { -1, -1, -1, -1, -1, -1, 0 };
	int n = 0;

	if (format & PERF_FORMAT_GROUP)
		p.nr = n++;
	else
		p.value = n++;
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		p.enabled = n++;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		p.running = n++;
	if (format & PERF_FORMAT_GROUP)
		p.value = n++;
	if (format & PERF_FORMAT_ID)
		p.id = n++;
	if (format & PERF_FORMAT_LOST)
		p.lost = n++;
	p.size = n * sizeof(uint64_t);
	return p;
}

static int open_with_format(uint64_t format)
{
	union raw_attr a = raw_instructions();

	a.attr.read_format = format;
	return event_open(a);
}

Test(abi_event_fd, every_read_format_has_its_layout)
{
	for (uint64_t format = 0; format < ALL_FORMATS; format++) {
		struct place p = places_of(format);
		AUTO_CLOSE int fd = open_with_format(format);
		uint64_t out[8], id;

		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0);
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
		user_loop(100000);
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);

		memset(out, 0xa5, sizeof(out));
		cr_assert_eq(read(fd, out, sizeof(out)), (ssize_t)p.size);
		for (size_t n = p.size / sizeof(*out); n < RAW_ARRAY_SIZE(out); n++)
			cr_assert_eq(out[n], 0xa5a5a5a5a5a5a5a5);
		cr_assert_geq(out[p.value], 200000);
		cr_assert_leq(out[p.value], 201000);
		if (p.nr >= 0)
			cr_assert_eq(out[p.nr], 1);
		if (p.enabled >= 0)
			cr_assert_gt(out[p.enabled], 0);
		if (p.running >= 0)
			cr_assert_gt(out[p.running], 0);
		if (p.enabled >= 0 && p.running >= 0)
			cr_assert_eq(out[p.running], out[p.enabled]);
		if (p.id >= 0)
			cr_assert_eq(out[p.id], id);
		if (p.lost >= 0)
			cr_assert_eq(out[p.lost], 0);
	}
}

Test(abi_event_fd, buffers_that_are_too_small_are_refused_untouched)
{
	uint64_t out[8];

	for (uint64_t format = 0; format < ALL_FORMATS; format++) {
		struct place p = places_of(format);
		AUTO_CLOSE int fd = open_with_format(format);

		for (size_t size = 0; size < p.size; size++) {
			memset(out, 0xa5, sizeof(out));
			check_refused(READ(fd, out, size), ENOSPC, PMUCTL_WHY_BUFFER_TOO_SMALL, "",
				      "a read of this event gives %zu bytes, but the buffer has %zu: enlarge it",
				      p.size, size);
			cr_assert_eq(out[0], 0xa5a5a5a5a5a5a5a5);
		}
		cr_assert_eq(read(fd, raw_at_edge(p.size, 0), p.size),
			     (ssize_t)p.size);
	}
}

Test(abi_event_fd, read_into_nowhere_is_a_fault)
{
	int fd = open_with_format(0);

	check_refusals(
		{ "no address", READ(fd, NULL, 8), EFAULT, PMUCTL_WHY_BAD_POINTER, "",
		  BAD_SENTENCE },
		{ "7 bytes", READ(fd, raw_at_edge(7, 0), 8), EFAULT, PMUCTL_WHY_BAD_POINTER, "",
		  BAD_SENTENCE }
	);
}

Test(abi_event_fd, is_neither_written_nor_sought)
{
	int fd = open_with_format(0);

	cr_assert_eq(write(fd, "x", 1), -1);
	cr_assert_eq(errno, EINVAL);
	cr_assert_eq(lseek(fd, 8, SEEK_SET), -1);
}

Test(abi_event_fd, ids_are_never_given_twice)
{
	uint64_t last = 0, id;

	for (int i = 0; i < 50; i++) {
		AUTO_CLOSE int fd = open_with_format(0);

		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0);
		cr_assert_gt(id, last);
		last = id;
	}
}

/* ---- ioctls ---- */

Test(abi_event_fd, id_into_nowhere_is_a_fault)
{
	int fd = open_with_format(0);

	check_refusals(
		{ "no address", IOCTL(fd, PERF_EVENT_IOC_ID, NULL), EFAULT, PMUCTL_WHY_BAD_POINTER,
		  "", BAD_SENTENCE },
		{ "7 bytes", IOCTL(fd, PERF_EVENT_IOC_ID, raw_at_edge(7, 0)), EFAULT,
		  PMUCTL_WHY_BAD_POINTER, "", BAD_SENTENCE }
	);
}

/* As perf does: programs that give no argument pass whatever is in the register. */
Test(abi_event_fd, switches_take_any_argument)
{
	static const unsigned long arguments[] = { 0, PERF_IOC_FLAG_GROUP, 2,
		0x7fffffff, -1 };
	int fd = open_with_format(0);

	for (size_t i = 0; i < RAW_ARRAY_SIZE(arguments); i++) {
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_RESET, arguments[i]), 0);
		cr_assert_eq(raw_read(fd), 0);
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, arguments[i]), 0);
		user_loop(1000);
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_DISABLE, arguments[i]), 0);
		cr_assert_geq(raw_read(fd), 2000);
		cr_assert_leq(raw_read(fd), 3000);
	}
}

/* A descriptor that there is not is refused as such, as by perf. */
Test(abi_event_fd, bpf_programs_are_refused_by_name)
{
	int fd = open_with_format(0);

	check_refused(IOCTL(fd, PERF_EVENT_IOC_SET_BPF, 0), EINVAL, PMUCTL_WHY_IOCTL_UNSUPPORTED, "",
		      "%s is not supported by this version of pmuctl", "PERF_EVENT_IOC_SET_BPF");
	check_refused(IOCTL(fd, PERF_EVENT_IOC_SET_BPF, 1000), EBADF, PMUCTL_WHY_BPF_FD, "",
		      "%d is no open descriptor: pass that of a BPF program, to an event of the kernel's perf, as pmuctl runs none",
		      1000);
	check_refused(IOCTL(fd, PERF_EVENT_IOC_QUERY_BPF, 0), EINVAL, PMUCTL_WHY_IOCTL_UNSUPPORTED, "",
		      "%s is not supported by this version of pmuctl",
		      "PERF_EVENT_IOC_QUERY_BPF of events other than tracepoints");
}

/* What perf says of a tracepoint of its own without any */
Test(abi_event_fd, a_tracepoint_has_no_bpf_programs)
{
	const struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .disabled = 1,
	};
	struct {
		uint32_t ids_len, prog_cnt, ids[65];
	} query = { .ids_len = 3, .prog_cnt = 7, .ids = { 1, 1, 1, 1 } };
	int fd = event_open(attr, .tracepoint = "sched_switch");

	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_QUERY_BPF, &query), 0);
	cr_expect_eq(query.prog_cnt, 0);
	cr_expect(!query.ids[0] && !query.ids[2] && query.ids[3] == 1);
	query.ids_len = 65;
	check_refused(IOCTL(fd, PERF_EVENT_IOC_QUERY_BPF, &query), E2BIG, PMUCTL_WHY_BPF_IDS, "ids_len",
		      "%u ids are too many: pass room for %u at most", 65, 64);
	check_refused(IOCTL(fd, PERF_EVENT_IOC_QUERY_BPF, 0), EFAULT, PMUCTL_WHY_BAD_POINTER, "",
		      BAD_SENTENCE);
	cr_assert_eq(perm_become(PERM_USER), 0);
	check_refused(IOCTL(fd, PERF_EVENT_IOC_QUERY_BPF, &query), EPERM, PMUCTL_WHY_PERM_BPF, "",
		      "asking for the BPF programs of an event needs CAP_PERFMON: gain it");
}

/* As with perf: breakpoints are the only ones that can. */
Test(abi_event_fd, an_open_event_is_not_modified)
{
	union raw_attr a = raw_instructions();

	check_refused(IOCTL(open_with_format(0), PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &a), EOPNOTSUPP,
		      PMUCTL_WHY_NOT_MODIFIED, "",
		      "only a breakpoint can be modified while it is open: change a period with PERF_EVENT_IOC_PERIOD, or open another event");
	check_refused(IOCTL(open_with_format(0), PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 0), EFAULT,
		      PMUCTL_WHY_BAD_POINTER, "", BAD_SENTENCE);
}

/* ---- poll ---- */

static short polled(int fd, int timeout)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLPRI };

	return poll(&p, 1, timeout) < 0 ? -1 : p.revents;
}

Test(abi_event_fd, polls_nothing_while_its_task_lives)
{
	union raw_attr a = raw_instructions();
	pid_t pid = raw_sleeper();
	int fd = event_open(a, pid);

	cr_assert_eq(polled(fd, 50), 0);
	cr_assert_eq(polled(open_with_format(0), 50), 0);
	raw_reap(pid);
}

Test(abi_event_fd, polls_hangup_when_its_task_has_ended)
{
	union raw_attr a = raw_instructions();
	pid_t pid = raw_sleeper();
	int fd = event_open(a, pid);
	siginfo_t info;

	kill(pid, SIGKILL);
	/* The end is told before the parent can know, and before it has waited. */
	cr_assert_eq(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	cr_assert_eq(polled(fd, 0), POLLHUP);
	waitpid(pid, NULL, 0);
	cr_assert_eq(polled(fd, 0), POLLHUP);
	cr_assert_eq(read(fd, &info, 8), 8, "a count outlives its task");
}

/* Another process ends that task in a moment, when its parent waits already. */
static void end_soon(pid_t pid)
{
	if (fork())
		return;
	usleep(200 * 1000);
	kill(pid, SIGKILL);
	_exit(0);
}

Test(abi_event_fd, hangup_wakes_who_waits)
{
	union raw_attr a = raw_instructions();
	pid_t pid = raw_sleeper();
	int fd = event_open(a, pid);

	cr_assert_eq(polled(fd, 0), 0);
	end_soon(pid);
	cr_assert_eq(polled(fd, -1), POLLHUP);
	raw_reap(pid);
}

Test(abi_event_fd, hangup_wakes_epoll)
{
	union raw_attr a = raw_instructions();
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int ep = epoll_create1(0);
	pid_t pid = raw_sleeper();
	int fd = event_open(a, pid);

	cr_assert_eq(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event), 0);
	cr_assert_eq(epoll_wait(ep, &event, 1, 0), 0);
	end_soon(pid);
	cr_assert_eq(epoll_wait(ep, &event, 1, -1), 1);
	cr_assert_eq(event.events, EPOLLHUP);
	raw_reap(pid);
}

Test(abi_event_fd, every_event_of_a_task_is_told)
{
	union raw_attr a = raw_instructions();
	pid_t pid = raw_sleeper();
	int fds[3];

	for (int i = 0; i < 3; i++)
		fds[i] = event_open(a, pid, i == 2 ? 0 : -1);
	raw_reap(pid);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(polled(fds[i], -1), POLLHUP);
}

Test(abi_event_fd, events_of_a_cpu_never_hang_up)
{
	union raw_attr a = raw_instructions();
	int fd = event_open(a, -1, 0);
	pid_t pid = raw_sleeper();

	raw_reap(pid);
	cr_assert_eq(polled(fd, 50), 0);
}

/* Whoever waits on an event may close it: nothing is left behind that wakes up. */
Test(abi_event_fd, closing_while_polled_leaves_nothing_behind)
{
	union raw_attr a = raw_instructions();
	struct epoll_event event = { .events = EPOLLIN };
	int ep = epoll_create1(0);

	for (int i = 0; i < 20; i++) {
		pid_t pid = raw_sleeper();
		int fd = event_open(a, pid);

		cr_assert_eq(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &event), 0);
		close(fd);
		raw_reap(pid);
	}
	cr_assert_eq(epoll_wait(ep, &event, 1, 0), 0);
	cr_assert_eq(raw_info().hw_events, 0);
}
