// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user makes the kernel call no other CPUs again and again: how often a CPU has been
 * called is what the kernel says itself.
 */
#include "bound.h"
#include "userpage.h"

#include <sys/resource.h>

#define ROUNDS		200
#define OWN_CPU		0
#define OTHER_CPU	1

static int own;

static pid_t prepare_page(unsigned int n)
{
	struct perf_event_attr attr = instructions_u();

	(void)n;
	own = event_try(attr);
	die_if(own < 0, "open");
	return getpid();
}

static void work_page(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		void *page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, own, 0);

		die_if(page == MAP_FAILED, "mmap");
		die_if(munmap(page, PAGE_BYTES), "munmap");
	}
}

/* The memory of a new process is on no other CPU, which would have to be called for that. */
Test(attack_calls, a_page_that_is_mapped_in_a_loop)
{
	struct attack a = { prepare_page, work_page, 1 };
	uint64_t before, calls;
	int link[2];
	pid_t user;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	pin_here(OWN_CPU);
	user = fork_child();
	if (!user)
		attack(&a, link[1]);
	close(link[1]);
	hear(link[0]);
	before = calls_of_cpu(OTHER_CPU);
	let_go(link[0]);
	hear(link[0]);
	calls = calls_of_cpu(OTHER_CPU) - before;
	let_go(link[0]);
	raw_reap(user);
	close(link[0]);
	expect_calls_of_others("a mapping", calls, ROUNDS);
}

static void work_processes(void)
{
	struct perf_event_attr attr = instructions_u();
	int status;
	pid_t pid;

	for (int i = 0; i < 10; i++) {
		pid = fork_child();
		if (!pid) {
			own = event_try(attr);
			die_if(own < 0, "open");
			work_page();
			_exit(0);
		}
		die_if(waitpid(pid, &status, 0) != pid || status, "the child");
	}
}

static pid_t prepare_nothing(unsigned int n)
{
	(void)n;
	return getpid();
}

/* Each of several has its page, and may use it. */
Test(attack_calls, several_processes_get_their_pages)
{
	struct attack a = { prepare_nothing, work_processes, 1 };
	int link[2];
	pid_t user;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
	user = fork_child();
	if (!user)
		attack(&a, link[1]);
	close(link[1]);
	hear(link[0]);
	let_go(link[0]);
	hear(link[0]);
	let_go(link[0]);
	raw_reap(user);
	close(link[0]);
}

/* ---- More processes than may begin to read at once ---- */

#define PROCESSES	600
#define AT_ONCE		256

/* What became of them; in memory that they share */
static struct {
	long sleeps;
	unsigned int ready, own, others;
} *mapped;

/* When nobody has its other end they begin. */
static int starter[2];

static long sleeps_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nvcsw;
}

/* Who may not read the counter is told so by the page, and can read() it. */
static void map_with_all(void)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_try(attr);
	uint64_t counts[8] = { 0 };
	long sleeps;
	user_page *page;

	die_if(fd < 0, "open");
	__atomic_add_fetch(&mapped->ready, 1, __ATOMIC_SEQ_CST);
	die_if(read(starter[0], counts, 1), "the start");
	sleeps = sleeps_now();
	page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	die_if(page == MAP_FAILED, "mmap");
	__atomic_add_fetch(&mapped->sleeps, sleeps_now() - sleeps, __ATOMIC_SEQ_CST);
	if (page->cap_user_rdpmc)
		die_if(!page_read(page).value, "the counter");
	else
		die_if(page->index, "a counter that is another's");
	__atomic_add_fetch(page->cap_user_rdpmc ? &mapped->own : &mapped->others, 1, __ATOMIC_SEQ_CST);
	die_if(read(fd, counts, sizeof(counts)) < 8 || !counts[0], "read");
	pause();
}

/* Of a first mapping: in some kernels a worker tells each CPU. */
static long sleeps_of_one(void)
{
	int fd = event_open(instructions_u());
	long sleeps = sleeps_now();

	page_map(fd);
	return sleeps_now() - sleeps;
}

/* Mapping sleeps with mmap_lock held, for which root may wait: it does so for nobody else. */
Test(attack_calls, nobody_waits_for_the_pages_of_many)
{
	long sleeps, each = sleeps_of_one();
	pid_t user;

	/* The other tests have had their share of this user's. */
	sleep(3);
	mapped = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert(mapped != MAP_FAILED);
	cr_assert_eq(pipe(starter), 0);
	user = fork_child();
	if (!user) {
		close(starter[1]);
		setpgid(0, 0);
		become_ordinary();
		for (int i = 0; i < PROCESSES; i++)
			if (!fork_child())
				map_with_all();
		pause();
	}
	while (__atomic_load_n(&mapped->ready, __ATOMIC_SEQ_CST) < PROCESSES)
		usleep(10000);
	close(starter[1]);
	while (__atomic_load_n(&mapped->own, __ATOMIC_SEQ_CST) +
	       __atomic_load_n(&mapped->others, __ATOMIC_SEQ_CST) < PROCESSES)
		usleep(10000);
	kill(-user, SIGKILL);
	raw_reap(user);
	sleeps = mapped->sleeps - each * mapped->own;
	printf("%u of %u may read, %ld sleeps\n", mapped->own, PROCESSES, sleeps);
	cr_expect_geq(mapped->own, AT_ONCE);
	cr_expect_lt(sleeps, PROCESSES / 4);
}
