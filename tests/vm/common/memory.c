// SPDX-License-Identifier: GPL-2.0-only
#include "memory.h"
#include "module.h"

#include <limits.h>

void set_paranoid(long level)
{
	const char *path = is_witness() ? "/proc/sys/kernel/perf_event_paranoid" :
					  RAW_PARANOID;

	cr_assert_eq(raw_write_number(path, level), 0, "%s", path);
}

pid_t user_stays(void)
{
	pid_t child = fork_child();

	if (!child) {
		if (raw_become(RAW_USER))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* becoming has cleared it */
		for (;;)
			pause();
	}
	return child;
}

static pid_t keeper;

void allow_users(void)
{
	sampling_init();
	set_paranoid(1);
	keeper = user_stays();
}

void forbid_users(void)
{
	raw_reap(keeper);
	set_paranoid(2);
	sampling_fini();
}

long take_all(uid_t uid, rlim_t locked_bytes)
{
	struct rlimit locked = { locked_bytes, locked_bytes }, files = { 8192, 8192 };
	struct perf_event_attr attr = sampling_attr(50);
	long rings = 0;
	struct ring r;
	int fd, err;

	if (setrlimit(RLIMIT_MEMLOCK, &locked) || setrlimit(RLIMIT_NOFILE, &files) ||
	    raw_become(uid))
		return -1;
	while (rings < RINGS_MAX) {
		fd = event_try(attr);
		if (fd < 0)
			return -2;
		err = ring_try_map(&r, fd, TAKE_PAGES - 1, PROT_READ | PROT_WRITE);
		if (err)
			return err == -EPERM ? rings * TAKE_PAGES : -3;
		rings++;
	}
	return -4;
}

void hold(uid_t uid, rlim_t locked_bytes, enum end end, const int *up,
	  const int *down)
{
	long taken = take_all(uid, locked_bytes);
	char word;

	if (write(up[1], &taken, sizeof(taken)) < 0)
		_exit(1);
	if (end == EXECS) {
		dup2(down[0], 0);
		execl("/bin/sh", "sh", "-c", "read line", NULL);
	}
	close(down[1]);
	if (read(down[0], &word, 1) < 0)
		_exit(1);
	_exit(0);
}

struct holder holder_start(uid_t uid, rlim_t locked_bytes, enum end end)
{
	struct holder h = { 0 };
	int up[2], down[2];

	cr_assert(!pipe2(up, O_CLOEXEC) && !pipe2(down, O_CLOEXEC));
	h.pid = fork_child();
	if (!h.pid)
		hold(uid, locked_bytes, end, up, down);
	cr_assert_eq(read(up[0], &h.taken, sizeof(h.taken)), (ssize_t)sizeof(h.taken));
	close(up[0]);
	close(up[1]);
	close(down[0]);
	h.tell = down[1];
	return h;
}

long holder_end(struct holder *h, enum end end)
{
	if (end == IS_KILLED)
		kill(h->pid, SIGKILL);
	close(h->tell);
	waitpid(h->pid, NULL, 0);
	return h->taken;
}

long child_takes_all(uid_t uid, rlim_t locked_bytes, enum end end)
{
	struct holder h = holder_start(uid, locked_bytes, end);

	return holder_end(&h, end);
}

long free_pages(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) * 516 / 4;
}

void check_taken(long taken, long allowed, const char *what)
{
	cr_assert_eq(taken, allowed / TAKE_PAGES * TAKE_PAGES, "%s: %ld pages of %ld", what,
		     taken, allowed);
}

void check_given_back(rlim_t locked_bytes, long allowed, const char *what)
{
	long taken = 0;

	for (int i = 0; i < 100 && taken != allowed / TAKE_PAGES * TAKE_PAGES; i++) {
		sleep_ms(i ? 50 : 0);
		taken = child_takes_all(RAW_USER, locked_bytes, EXITS);
	}
	check_taken(taken, allowed, what);
}

long free_kib(void)
{
	raw_write_file("/proc/sys/vm/drop_caches", "3");
	return free_memory();
}

long kept_in_pipes(void (*give)(int to, pid_t pid), pid_t pid)
{
	const long some = 8000;
	int pipes[PIPES][2];
	long before, kept = LONG_MAX;

	for (int tries = 0; tries < 5 && kept > some; tries++) {
		before = free_kib();
		for (int i = 0; i < PIPES; i++) {
			cr_assert_eq(pipe(pipes[i]), 0);
			give(pipes[i][1], pid);
		}
		kept = before - free_kib();
		for (int i = 0; i < 50 && kept > some; i++) {
			usleep(10000);
			kept = before - free_kib();
		}
		for (int i = 0; i < PIPES; i++) {
			close(pipes[i][0]);
			close(pipes[i][1]);
		}
	}
	return kept;
}
