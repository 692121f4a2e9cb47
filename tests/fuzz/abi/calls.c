// SPDX-License-Identifier: GPL-2.0-only
/*
 * The calls of event descriptors and of the device.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <linux/pmuctl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"
#include "run.h"

#define PAGE	4096UL

/* ---- Pointers ---- */

/* Where the kernel is to find, or to put, @size bytes: a copy of @data */
static void *place(struct worker *worker, enum pointer kind, const void *data, size_t size)
{
	char *at = worker->scratch;

	switch (kind) {
	case POINTER_NULL:
		return NULL;
	case POINTER_KERNEL:
		return (void *)0xffff888000001000UL;
	case POINTER_CONST:
		return at + 2 * PAGE;
	case POINTER_EDGE:
		/* The last bytes cannot be accessed. */
		at += PAGE - (size > 8 ? size - 8 : 0);
		memcpy(at, data, size > 8 ? size - 8 : 0);
		return at;
	case POINTER_GOOD:
		break;
	}
	memcpy(at, data, size);
	return at;
}

/* ---- Whom a number means ---- */

static int fd_of(const struct worker *worker, int64_t ev)
{
	if (ev >= 0 && ev < EVENTS)
		return worker->fd[ev];
	return ev == FD_DEVICE ? FD_DEVICE_OPEN : ev == FD_FOREIGN ? FD_NULL : (int)ev;
}

static pid_t pid_of(const struct worker *worker, int64_t pid)
{
	if (pid >= PID_WHO(0) && pid < PID_WHO(WHOS)) {
		pid = worker->runner->box[pid - PID_WHO(0)].pid;
		return pid ? pid : 999999;
	}
	return pid == PID_PARENT ? getppid() : pid == PID_GONE ? 999999 : (pid_t)pid;
}

static void keep_fd(struct worker *worker, int64_t ev, int fd)
{
	int old;

	if (ev < 0 || ev >= EVENTS) {
		close(fd);
		return;
	}
	old = __atomic_exchange_n(&worker->fd[ev], fd, __ATOMIC_SEQ_CST);
	if (old >= 0)
		close(old);
}

/* ---- Opening ---- */

static void fill_attr(struct perf_event_attr *attr, const int64_t *arg)
{
	attr->type = arg[OPEN_TYPE];
	attr->size = arg[OPEN_ATTR_SIZE];
	attr->config = arg[OPEN_CONFIG];
	attr->sample_period = arg[OPEN_PERIOD];
	attr->sample_type = arg[OPEN_SAMPLE];
	attr->read_format = arg[OPEN_FORMAT];
	memcpy((char *)attr + 40, &arg[OPEN_BITS], 8);
	attr->wakeup_events = arg[OPEN_WAKEUP];
	attr->config1 = arg[OPEN_CONFIG1];
	attr->config2 = arg[OPEN_CONFIG2];
	attr->branch_sample_type = arg[OPEN_BRANCH];
	attr->sample_regs_user = arg[OPEN_REGS_USER];
	attr->sample_stack_user = arg[OPEN_STACK];
	attr->clockid = arg[OPEN_CLOCK];
	attr->sample_regs_intr = arg[OPEN_REGS_INTR];
	attr->aux_watermark = arg[OPEN_AUX_MARK];
	attr->sample_max_stack = arg[OPEN_DEPTH];
	attr->aux_sample_size = arg[OPEN_AUX_SIZE];
	memcpy((char *)attr + PMUCTL_ATTR_AUX_ACTION, &arg[OPEN_ACTION], 4);
}

static int64_t call_open(struct worker *worker, const int64_t *arg)
{
	union {
		struct perf_event_attr attr;
		char room[256];
	} u;
	struct pmuctl_explanation why;
	struct pmuctl_open open = {
		.size = arg[OPEN_SIZE], .flags = arg[OPEN_FLAGS],
		.pid = pid_of(worker, arg[OPEN_PID]), .cpu = arg[OPEN_CPU],
		.group_fd = fd_of(worker, arg[OPEN_GROUP]),
		.explanation_size = sizeof(why), .explanation = (uintptr_t)&why,
	};
	int fd;

	memset(&u, 0, sizeof(u));
	fill_attr(&u.attr, arg);
	open.attr = (uintptr_t)place(worker, arg[OPEN_POINTER], &u, sizeof(u));
	if (arg[OPEN_TRACE])
		open.tracepoint = (uintptr_t)text_of(arg[OPEN_TRACE]);
	if (arg[OPEN_VIA] == VIA_PERF)
		fd = syscall(SYS_perf_event_open, &u, open.pid, open.cpu, open.group_fd,
			     open.flags & 15);
	else
		fd = ioctl(FD_DEVICE_OPEN, PMUCTL_IOC_OPEN, &open);
	if (fd < 0)
		return -errno;
	keep_fd(worker, arg[OPEN_EV], fd);
	return fd;
}

static int64_t call_close(struct worker *worker, int64_t ev)
{
	int fd;

	if (ev < 0 || ev >= EVENTS)
		return -EBADF;
	fd = __atomic_exchange_n(&worker->fd[ev], -1, __ATOMIC_SEQ_CST);
	return close(fd) ? -errno : 0;
}

static int64_t call_dup(struct worker *worker, const int64_t *arg)
{
	int fd = dup(fd_of(worker, arg[0]));

	if (fd < 0)
		return -errno;
	keep_fd(worker, arg[1], fd);
	return fd;
}

/* ---- ioctls ---- */

static int64_t call_ioctl(struct worker *worker, const int64_t *arg)
{
	struct pmuctl_cpu_count counts[8];
	union {
		struct pmuctl_read_cpus cpus;
		struct pmuctl_aux_status status;
		struct pmuctl_explanation why;
		struct perf_event_attr attr;
		uint64_t number;
		char text[4096];
	} u;
	unsigned long value = (unsigned long)arg[IOCTL_ARG];
	size_t size = sizeof(u.why);

	memset(&u, 0, sizeof(u.why));
	u.why.size = arg[IOCTL_ARG] ? (uint32_t)value : sizeof(u.why);
	switch (arg[IOCTL_CMD]) {
	case PERF_EVENT_IOC_PERIOD:
		u.number = value;
		break;
	case PERF_EVENT_IOC_SET_FILTER:
		size = strlen(text_of(arg[IOCTL_TEXT])) + 1;
		memcpy(u.text, text_of(arg[IOCTL_TEXT]), size);
		break;
	case PMUCTL_IOC_READ_CPUS:
		u.cpus = (struct pmuctl_read_cpus){ .size = sizeof(u.cpus), .nr = value ? value & 15 : 8,
			.entry_size = sizeof(*counts), .counts = (uintptr_t)counts };
		break;
	case PMUCTL_IOC_AUX_STATUS:
		u.status.size = sizeof(u.status);
		break;
	case PERF_EVENT_IOC_SET_OUTPUT:
		value = fd_of(worker, arg[IOCTL_TO]);
		goto by_value;
	case PERF_EVENT_IOC_MODIFY_ATTRIBUTES:
	case PERF_EVENT_IOC_ID:
	case PMUCTL_IOC_EXPLAIN:
		break;
	default:
		goto by_value;
	}
	value = (unsigned long)place(worker, arg[IOCTL_POINTER], &u, size);
by_value:
	return ioctl(fd_of(worker, arg[IOCTL_EV]), arg[IOCTL_CMD], value) < 0 ? -errno : 0;
}

static int64_t call_device(struct worker *worker, const int64_t *arg)
{
	static const struct {
		int64_t cmd;
		uint32_t size;
	} sizes[] = {
		{ PMUCTL_IOC_INFO, sizeof(struct pmuctl_info) },
		{ PMUCTL_IOC_EXPLAIN, sizeof(struct pmuctl_explanation) },
		{ PMUCTL_IOC_DRIVER, sizeof(struct pmuctl_driver) },
	};
	uint32_t words[128] = { arg[DEVICE_SIZE], 0, arg[DEVICE_ARG] };
	unsigned int i;

	for (i = 0; i < 3 && !words[0]; i++)
		if (sizes[i].cmd == arg[DEVICE_CMD])
			words[0] = sizes[i].size;
	return ioctl(FD_DEVICE_OPEN, arg[DEVICE_CMD],
		     place(worker, arg[DEVICE_POINTER], words, sizeof(words))) < 0 ? -errno : 0;
}

/* ---- Lists ---- */

#define LIST_ENTRIES	8

/* The first is of @arg's task, the others follow it, or are of the caller; all but it may be siblings. */
static int64_t list_open(struct worker *worker, const int64_t *arg)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE, .size = PMUCTL_ATTR_SIZE,
		.config = 1, .read_format = arg[LIST_FORMAT] };
	struct pmuctl_open opens[LIST_ENTRIES];
	struct pmuctl_explanation why;
	struct pmuctl_open_list list = { .size = sizeof(list), .nr = arg[LIST_NR],
		.entry_size = arg[LIST_ENTRY_SIZE] ?: (int64_t)sizeof(*opens),
		.explanation_size = sizeof(why), .explanation = (uintptr_t)&why };
	char attr_room[PMUCTL_ATTR_SIZE + 8] = "";
	int fds[LIST_ENTRIES];

	memcpy((char *)&attr + 40, &arg[LIST_BITS], 8);
	memcpy(attr_room, &attr, sizeof(attr) < PMUCTL_ATTR_SIZE ? sizeof(attr) : PMUCTL_ATTR_SIZE);
	if (list.nr > LIST_ENTRIES && list.nr <= PMUCTL_LIST_MAX)
		list.nr = LIST_ENTRIES;
	for (int i = 0; i < LIST_ENTRIES; i++)
		opens[i] = (struct pmuctl_open){ .size = sizeof(*opens), .attr = (uintptr_t)attr_room,
			.flags = i ? PMUCTL_OPEN_GROUP_ENTRY : 0, .cpu = -1,
			.pid = pid_of(worker, arg[LIST_PID]),
			.group_fd = i ? (int)arg[LIST_LEADER] : -1 };
	list.opens = (uintptr_t)place(worker, arg[LIST_POINTER], opens, sizeof(opens));
	list.fds = (uintptr_t)(arg[LIST_POINTER] == POINTER_EDGE ? NULL : fds);
	if (ioctl(FD_DEVICE_OPEN, PMUCTL_IOC_OPEN_LIST, &list))
		return -errno;
	for (uint32_t i = 0; i < list.nr; i++)
		keep_fd(worker, (arg[LIST_EV] + i) % EVENTS, fds[i]);
	return 0;
}

static int64_t list_read(struct worker *worker, const int64_t *arg)
{
	struct pmuctl_read_entry entries[2];
	struct pmuctl_read_list list = { .size = sizeof(list), .nr = arg[LIST_NR] & 1 ? 2 : 1,
		.entry_size = arg[LIST_ENTRY_SIZE] ?: (int64_t)sizeof(*entries) };
	uint64_t words[64];

	for (int i = 0; i < 2; i++)
		entries[i] = (struct pmuctl_read_entry){ .length = sizeof(words),
			.fd = fd_of(worker, arg[i ? LIST_EV2 : LIST_EV]),
			.buffer = (uintptr_t)words };
	list.entries = (uintptr_t)place(worker, arg[LIST_POINTER], entries, sizeof(entries));
	return ioctl(FD_DEVICE_OPEN, PMUCTL_IOC_READ_LIST, &list) ? -errno : 0;
}

static int64_t list_control(struct worker *worker, const int64_t *arg)
{
	int fds[2] = { fd_of(worker, arg[LIST_EV]), fd_of(worker, arg[LIST_EV2]) };
	struct pmuctl_control_list list = { .size = sizeof(list), .flags = arg[LIST_FLAGS],
		.nr = arg[LIST_NR] & 1 ? 2 : 1, .request = arg[LIST_REQUEST] };

	list.fds = (uintptr_t)place(worker, arg[LIST_POINTER], fds, sizeof(fds));
	return ioctl(FD_DEVICE_OPEN, PMUCTL_IOC_CONTROL_LIST, &list) ? -errno : 0;
}

static int64_t call_list(struct worker *worker, const int64_t *arg)
{
	switch (arg[LIST_CMD]) {
	case PMUCTL_IOC_OPEN_LIST:
		return list_open(worker, arg);
	case PMUCTL_IOC_READ_LIST:
		return list_read(worker, arg);
	default:
		return list_control(worker, arg);
	}
}

/* ---- Reading, waiting ---- */

static int64_t call_read(struct worker *worker, const int64_t *arg)
{
	char data[64] = "";
	ssize_t n = read(fd_of(worker, arg[READ_EV]),
			 place(worker, arg[READ_POINTER], data, sizeof(data)),
			 arg[READ_SIZE] & 4095 ? arg[READ_SIZE] & 4095 : PAGE);

	return n < 0 ? -errno : n;
}

static int64_t call_poll(struct worker *worker, const int64_t *arg)
{
	struct pollfd p = { .fd = fd_of(worker, arg[POLL_EV]), .events = POLLIN };
	int n = poll(&p, 1, arg[POLL_TIME] & 3);

	return n < 0 ? -errno : p.revents;
}

static int64_t call_async_io(struct worker *worker, const int64_t *arg)
{
	int fd = fd_of(worker, arg[ASYNC_EV]);

	fcntl(fd, F_SETOWN, getpid());
	fcntl(fd, F_SETSIG, SIGUSR1);
	return fcntl(fd, F_SETFL, arg[ASYNC_ON] ? O_ASYNC : 0) ? -errno : 0;
}

static int64_t call_affinity(int64_t cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (cpu < 0 || cpu > 7)
		CPU_OR(&set, &set, &(cpu_set_t){ { 255 } });
	else
		CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* ---- What only root may do ---- */

static int64_t reload(struct worker *worker)
{
	int fd, err;

	if (!worker->runner->root)
		return -EPERM;
	close(FD_DEVICE_OPEN);
	worker->runner->dirty |= 1 << ADMIN_RELOAD;
	err = syscall(SYS_delete_module, "pmuctl", O_NONBLOCK) ? errno : 0;
	fd = open("/pmuctl/pmuctl.ko", O_RDONLY | O_CLOEXEC);
	syscall(SYS_finit_module, fd, "paranoid=2 claim=anyone", 0);
	close(fd);
	open_admin();
	fd = open(PMUCTL_DEVICE, O_RDWR);
	dup2(fd, FD_DEVICE_OPEN);
	close(fd);
	shared->text = cover_text();
	return -err;
}

/* The files have been opened by root, so an ordinary user's programs have this as well. */
static int64_t call_admin(struct worker *worker, const int64_t *arg)
{
	static const char *const claims[] = { "privileged\n", "anyone\n", "always\n" };
	int64_t n = arg[ADMIN_N];
	char text[32];

	snprintf(text, sizeof(text), "%lld\n", (long long)n);
	switch (arg[ADMIN_WHAT]) {
	case ADMIN_OFFLINE:
	case ADMIN_ONLINE:
		strcpy(text, arg[ADMIN_WHAT] == ADMIN_ONLINE ? "1\n" : "0\n");
		break;
	case ADMIN_PARANOID:
		snprintf(text, sizeof(text), "%d\n", (int)(n & 3) - 1);
		break;
	case ADMIN_CLAIM:
		strcpy(text, claims[(uint64_t)n % 3]);
		break;
	case ADMIN_RELOAD:
		return reload(worker);
	case ADMIN_OVERCOMMIT:
	case ADMIN_ROTATION:
	case ADMIN_RATE:
		break;
	default:
		return -EINVAL;
	}
	worker->runner->dirty |= 1 << arg[ADMIN_WHAT];
	return pwrite(FD_ADMIN + arg[ADMIN_WHAT], text, strlen(text), 0) < 0 ? -errno : 0;
}

static void clean_admin(struct runner *runner)
{
	int i;

	for (i = 0; i < ADMINS; i++)
		if (runner->dirty & 1 << i &&
		    pwrite(FD_ADMIN + i, shared->normal[i], strlen(shared->normal[i]), 0) < 0)
			continue;	/* somebody else is at it */
	runner->dirty = 0;
}

/* ---- All of them ---- */

int64_t worker_call(struct worker *worker, const struct call *call)
{
	const int64_t *arg = call->arg;

	switch (call->op) {
	case OP_OPEN:
		return call_open(worker, arg);
	case OP_CLOSE:
		return call_close(worker, arg[0]);
	case OP_DUP:
		return call_dup(worker, arg);
	case OP_IOCTL:
		return call_ioctl(worker, arg);
	case OP_DEVICE:
		return call_device(worker, arg);
	case OP_LIST:
		return call_list(worker, arg);
	case OP_READ:
		return call_read(worker, arg);
	case OP_POLL:
		return call_poll(worker, arg);
	case OP_ASYNC_IO:
		return call_async_io(worker, arg);
	case OP_MMAP:
		return memory_map(arg, fd_of(worker, arg[MMAP_EV]), worker->runner->root);
	case OP_MUNMAP:
		return memory_unmap(arg);
	case OP_MREMAP:
		return memory_move(arg);
	case OP_RING:
		return memory_ring(arg);
	case OP_WORK:
		return task_work(worker, arg[WORK_WHAT], arg[WORK_N]);
	case OP_AFFINITY:
		return call_affinity(arg[0]);
	case OP_ADMIN:
		return call_admin(worker, arg);
	}
	return -ENOSYS;
}

void worker_init(struct worker *worker, struct runner *runner, enum who who)
{
	worker->runner = runner;
	worker->who = who;
	worker->fd = runner->fd[who < C0 ? 0 : 1 + who - C0];
	worker->scratch = memory_scratch();
}

/*
 * What has been closed is freed when the kernel's readers are through. Whoever still knows it
 * then shows that only if he looks.
 */
static void look_at_the_rest(const struct worker *worker)
{
	uint64_t words[64];
	int i;

	for (i = 0; i < 2; i++)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	for (i = 0; i < EVENTS; i++) {
		if (worker->fd[i] < 0)
			continue;
		ioctl(worker->fd[i], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
		if (read(worker->fd[i], words, sizeof(words)) < 0)
			continue;
		ioctl(worker->fd[i], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	}
}

void calls_clean(struct worker *worker)
{
	static unsigned int nth;
	bool looks = !(nth++ % (lives_have_orphan() ? 4 : 32));
	int i;

	memory_clean();
	if (looks)
		look_at_the_rest(worker);
	for (i = 0; i < EVENTS; i++) {
		if (worker->fd[i] < 0)
			continue;
		call_close(worker, i);
		if (looks)
			look_at_the_rest(worker);
		looks = false; /* it waits for long */
	}
	if (worker->runner->dirty)
		clean_admin(worker->runner);
	tasks_clean();
}
