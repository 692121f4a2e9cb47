// SPDX-License-Identifier: GPL-2.0-only
/*
 * Switches between a task that counts itself and one that reads counters in user space.
 */
#include "groups.h"
#include "userpage.h"

#define N	100000ull

/**
 * struct neighbour - a task that counts itself, on CPU 1
 * @rounds: how often it has found that it counts exactly.
 * @leave: it may end.
 */
struct neighbour {
	volatile uint64_t rounds;
	volatile bool leave;
};

static void neighbour_run(struct neighbour *n)
{
	struct perf_event_attr attr = disabled(instructions_u());
	int fd;

	pin_here(1);
	fd = event_open(attr);
	while (!n->leave) {
		bracket(fd, N);
		n->rounds++;
		if (event_value(fd) != n->rounds * bracket_instructions(N))
			_exit(1);
	}
	_exit(0);
}

/*
 * The kernel clears all counters as it first gives a CPU the right to read them. That comes in the
 * midst of a switch from a task that counts: neither loses anything.
 */
Test(user_switch, first_on_a_cpu_where_somebody_else_counts)
{
	struct perf_event_attr attr = instructions_u();
	struct perf_event_attr migrations = event_attr(PERF_TYPE_SOFTWARE,
						       PERF_COUNT_SW_CPU_MIGRATIONS);
	struct neighbour *n = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t once, rounds, value;
	int fd, soft, status;
	user_page *page;
	pid_t pid;

	cr_assert(n != MAP_FAILED);
	cr_assert_eq(raw_give_back(), 0);
	pin_here(0);
	pid = fork();
	if (!pid)
		neighbour_run(n);
	while (n->rounds < 3)
		usleep(1000);
	fd = event_open(attr);
	soft = event_open(migrations);
	page = page_map(fd);
	around_loop(page, 1); /* warm */
	once = around_loop(page, N);
	value = event_value(soft);
	pin_here(1);
	cr_expect_eq(event_value(soft), value + 1);
	cr_expect_eq(around_loop(page, N), once);
	cr_expect_eq(around_loop(page, 2 * N), once + N * LOOP_INSTRUCTIONS);
	rounds = n->rounds;
	while (n->rounds < rounds + 3)
		usleep(1000);
	n->leave = true;
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_expect_eq(status, 0, "%#x", status);
	page_unmap(page);
}
