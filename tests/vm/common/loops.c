// SPDX-License-Identifier: GPL-2.0-only
#include "loops.h"

#include <poll.h>
#include <sys/resource.h>

/* ---- Events ---- */

struct perf_event_attr event_attr(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return attr;
}

struct perf_event_attr user_attr(uint64_t config)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, config);

	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	return attr;
}

struct perf_event_attr instructions_u(void)
{
	return user_attr(PERF_COUNT_HW_INSTRUCTIONS);
}

struct perf_event_attr branches_u(void)
{
	return user_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
}

struct counts event_read(int fd)
{
	struct counts c = { 0 };

	cr_assert_eq(read(fd, &c, sizeof(c)), (ssize_t)sizeof(c), "read: %m");
	return c;
}

uint64_t event_value(int fd)
{
	return event_read(fd).value;
}

uint64_t event_id(int fd)
{
	uint64_t id = 0;

	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0, "%m");
	return id;
}

void event_read_loops(int fd, struct counts *c, unsigned int n, uint64_t rounds)
{
	for (unsigned int i = 0; i < n; i++) {
		user_loop((i + 1) * rounds);
		c[i] = event_read(fd);
	}
}

void event_ioctl(int fd, unsigned long request)
{
	cr_assert_eq(ioctl(fd, request, 0), 0, "ioctl %#lx: %m", request);
}

int perf_try_once(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = syscall(__NR_perf_event_open, attr, pid, cpu, -1,
			 PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_try(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = perf_try_once(attr, pid, cpu);

	return fd == -EBUSY && !raw_give_back() ? perf_try_once(attr, pid, cpu) : fd;
}

uint64_t count_bracket(int fd, uint64_t n)
{
	uint64_t before = event_value(fd);

	bracket(fd, n);
	return event_value(fd) - before;
}

/* ---- Tasks and CPUs ---- */

pid_t fork_child(void)
{
	pid_t parent = getpid(), child = fork();

	cr_assert(child >= 0, "fork: %m");
	if (!child) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
	}
	return child;
}

void wait_stopped(pid_t pid)
{
	int status;

	cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
	cr_assert(WIFSTOPPED(status), "status %d", status);
}

void pin_task(pid_t tid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(tid, sizeof(set), &set), 0,
		     "pin %d to CPU %d: %m", tid, cpu);
}

void pin_here(int cpu)
{
	pin_task(0, cpu);
}

void set_online(int cpu, bool online)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	err = raw_write_number(path, online);
	cr_assert_eq(err, 0, "CPU %d %s: %s", cpu, online ? "online" : "offline", strerror(-err));
}

void all_online(void)
{
	for (int cpu = 1; cpu < get_nprocs_conf(); cpu++)
		set_online(cpu, true);
}

uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000l };

	nanosleep(&t, NULL);
}

char task_state(pid_t tid)
{
	char path[64], text[512];
	const char *state = NULL;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n > 0) {
		text[n] = '\0';
		state = strrchr(text, ')');
	}
	return state ? state[2] : 0;
}

void wait_asleep(pid_t tid)
{
	char state;

	while ((state = task_state(tid)) != 'S') {
		cr_assert(state && state != 'Z' && state != 'X',
			  "task %d has ended", tid);
		usleep(1000);
	}
}

unsigned long task_switches(pid_t tid)
{
	unsigned long n, all = 0;
	char path[64], line[128];
	const char *text;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	f = fopen(path, "re");
	cr_assert_not_null(f, "%s: %m", path);
	while (fgets(line, sizeof(line), f)) {
		text = strstr(line, "voluntary_ctxt_switches:");
		if (text && sscanf(strchr(text, ':') + 1, "%lu", &n) == 1)
			all += n;
	}
	fclose(f);
	return all;
}

long own_sleeps(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

bool is_woken(int fd, unsigned int ms)
{
	struct pollfd waits = { .fd = fd, .events = POLLIN };
	uint64_t begin = clock_ns(CLOCK_MONOTONIC);

	return poll(&waits, 1, ms) == 1 && clock_ns(CLOCK_MONOTONIC) - begin < ms * 1000000ul;
}

void worker_work(int orders)
{
	uint64_t n;

	while (read(orders, &n, sizeof(n)) == sizeof(n) && n)
		user_loop(n);
}

static void *worker_thread(void *arg)
{
	struct worker *w = arg;

	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	worker_work(w->order_end);
	return NULL;
}

void worker_order(struct worker *w, uint64_t n)
{
	cr_assert_eq(write(w->orders, &n, sizeof(n)), (ssize_t)sizeof(n));
}

bool worker_is_done(struct worker *w)
{
	int left;

	cr_assert_eq(ioctl(w->orders, FIONREAD, &left), 0);
	return !left && task_state(w->tid) == 'S';
}

void worker_wait(struct worker *w)
{
	while (!worker_is_done(w)) {
		wait_asleep(w->tid);
		usleep(1000);
	}
}

void worker_run(struct worker *w, uint64_t n)
{
	worker_order(w, n);
	worker_wait(w);
}

void worker_start(struct worker *w, bool is_thread)
{
	int ends[2];

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	memset(w, 0, sizeof(*w));
	w->is_thread = is_thread;
	w->orders = ends[1];
	w->order_end = ends[0];
	if (is_thread) {
		cr_assert_eq(pthread_create(&w->thread, NULL, worker_thread, w), 0);
		while (!__atomic_load_n(&w->tid, __ATOMIC_ACQUIRE))
			usleep(1000);
	} else {
		w->tid = fork_child();
		if (!w->tid) {
			worker_work(ends[0]);
			_exit(0);
		}
		close(ends[0]);
	}
	worker_run(w, 1); /* the dynamic linker has its work behind it then */
}

void worker_end(struct worker *w)
{
	uint64_t n = 0;
	int status;

	cr_assert_eq(write(w->orders, &n, sizeof(n)), (ssize_t)sizeof(n));
	close(w->orders);
	if (w->is_thread) {
		cr_assert_eq(pthread_join(w->thread, NULL), 0);
		close(w->order_end);
		return;
	}
	cr_assert_eq(waitpid(w->tid, &status, 0), w->tid);
	cr_assert_eq(status, 0, "the worker ended with status %#x", status);
}

uint64_t worker_count(struct worker *w, int fd, uint64_t n)
{
	uint64_t before = event_value(fd);

	worker_run(w, n);
	return event_value(fd) - before;
}

uint64_t worker_count_loop(struct worker *w, int fd, uint64_t n)
{
	uint64_t around = worker_count(w, fd, 1);

	return worker_count(w, fd, n + 1) - around;
}
