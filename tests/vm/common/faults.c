// SPDX-License-Identifier: GPL-2.0-only
#include "faults.h"

#include <ctype.h>
#include <dirent.h>

static int faults_kmsg = -1, faults_nth = -1;

void faults_configure(const char *path, const char *text)
{
	int err = raw_write_file(path, text);

	cr_assert_eq(err, 0, "%s: %s: boot the debug kernel", path, strerror(-err));
}

/*
 * The kernel writes to a task's rseq area when it goes on after it was preempted. If that page is
 * still shared with a child, and the allocation of its copy is the one that fails, the task gets
 * SIGSEGV (rseq(2)).
 */
static void faults_without_rseq(void)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	if (__rseq_size)
		cr_assert_eq(syscall(SYS_rseq, area, sizeof(struct rseq), RSEQ_FLAG_UNREGISTER,
				     RSEQ_SIG), 0, "%s", strerror(errno));
}

void faults_set_up(void)
{
	faults_without_rseq();
	faults_configure(FAULTS_DIR "failslab/ignore-gfp-wait", "N");
	faults_configure(FAULTS_DIR "failslab/verbose", "1");
	faults_configure(FAULTS_DIR "fail_page_alloc/ignore-gfp-wait", "N");
	faults_configure(FAULTS_DIR "fail_page_alloc/ignore-gfp-highmem", "N");
	faults_configure(FAULTS_DIR "fail_page_alloc/min-order", "0");
	faults_configure(FAULTS_DIR "fail_page_alloc/verbose", "1");
	faults_configure(FAULTS_DIR "fail_usercopy/verbose", "1");
	faults_kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	cr_assert_geq(faults_kmsg, 0);
	faults_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	cr_assert_geq(faults_nth, 0);
}

/*
 * Which of both a fault was, by what the kernel log has said since it was last looked at:
 * nothing if it was an allocation that asked for no warning.
 */
static enum fault faults_told(void)
{
	enum fault fault = MEMORY;
	char line[2048];
	ssize_t n;

	while ((n = read(faults_kmsg, line, sizeof(line) - 1)) > 0 || errno == EPIPE) {
		line[n > 0 ? n : 0] = '\0';
		if (strstr(line, "FAULT_INJECTION: forcing a failure") &&
		    strstr(line, "name fail_usercopy,"))
			fault = COPY;
	}
	return fault;
}

/* Was there a fault since fail-nth was written? It counts down to 0. */
static bool faults_hit(void)
{
	char text[16];

	/* If the copy of the answer is what fails, nothing else has before. */
	return pread(faults_nth, text, sizeof(text), 0) > 0 && text[0] == '0';
}

int with_fault(unsigned int nth, int (*call)(void *arg), void *arg,
	       enum fault *fault)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);
	int ret;

	lseek(faults_kmsg, 0, SEEK_END);
	if (pwrite(faults_nth, text, len, 0) != len)
		cr_assert_fail("fail-nth cannot be written");
	ret = call(arg);
	if (faults_hit()) {
		*fault = faults_told();
		return ret;
	}
	*fault = NONE;
	/* This may be what fails, instead; then fail-nth is 0 all the same. */
	if (pwrite(faults_nth, "0", 1, 0) != 1 && pwrite(faults_nth, "0", 1, 0) != 1)
		cr_assert_fail("fail-nth cannot be written");
	return ret;
}

/* ---- Of workers ---- */

#define WORKERS_MAX	200

static int worker_faults[WORKERS_MAX];
static unsigned int nr_workers;

static bool is_worker(const char *pid)
{
	char path[300], name[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && read(fd, name, sizeof(name) - 1) < 0)
		name[0] = '\0';
	close(fd);
	return !strncmp(name, "kworker/", strlen("kworker/"));
}

static void workers_find(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	char path[300];

	cr_assert(proc);
	nr_workers = 0;
	while ((entry = readdir(proc)) && nr_workers < WORKERS_MAX) {
		if (!isdigit((unsigned char)entry->d_name[0]) || !is_worker(entry->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/fail-nth", entry->d_name);
		worker_faults[nr_workers] = open(path, O_RDWR | O_CLOEXEC);
		nr_workers += worker_faults[nr_workers] >= 0;
	}
	closedir(proc);
}

int with_worker_fault(unsigned int nth, int (*call)(void *arg), void *arg,
		      enum fault *fault)
{
	char text[16];
	int len = snprintf(text, sizeof(text), "%u", nth);
	int ret;

	workers_find();
	for (unsigned int i = 0; i < nr_workers; i++)
		(void)!pwrite(worker_faults[i], text, len, 0); /* it may have ended */
	ret = call(arg);
	*fault = NONE;
	for (unsigned int i = 0; i < nr_workers; i++) {
		if (pread(worker_faults[i], text, sizeof(text), 0) > 0 && text[0] == '0')
			*fault = MEMORY;
		(void)!pwrite(worker_faults[i], "0", 1, 0);
		close(worker_faults[i]);
	}
	return ret;
}

bool faults_over(enum fault fault)
{
	static unsigned int none;

	none = fault == NONE ? none + 1 : 0;
	if (none < FAULTS_NONE)
		return false;
	none = 0;
	return true;
}

void faults_left_nothing(int nr_fds, unsigned int nth)
{
	struct pmuctl_info info = raw_settled_info();

	cr_assert_eq(info.hw_events, 0, "fault %u left %u events", nth, info.hw_events);
	/* Those who may not ask who has the PMU are told if it is not us. */
	cr_assert(info.pmu_owner == PMUCTL_OWNER_NOBODY ||
		  info.pmu_owner == PMUCTL_OWNER_UNKNOWN, "fault %u: owner %u", nth,
		  info.pmu_owner);
	cr_assert_eq(raw_count_fds(), nr_fds, "fault %u", nth);
}
