// SPDX-License-Identifier: GPL-2.0-only
/*
 * An ordinary user makes the kernel call no other CPUs again and again: how often a CPU has been
 * called is what the kernel says itself.
 */
#include "bound.h"
#include "userpage.h"

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
	int link;
	pid_t user;

	pin_here(OWN_CPU);
	user = attack_start(&a, &link);
	hear(link);
	before = calls_of_cpu(OTHER_CPU);
	let_go(link);
	hear(link);
	calls = calls_of_cpu(OTHER_CPU) - before;
	attack_end(user, link);
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
	int link;
	pid_t user;

	user = attack_start(&a, &link);
	hear(link);
	let_go(link);
	hear(link);
	attack_end(user, link);
}

/* ---- More processes than may begin to read at once ---- */

#define PROCESSES	400
#define AT_ONCE		256

/* What became of them; in memory that they share. First each maps a page that anybody may. */
static struct {
	long sleeps[2];
	unsigned int ready, done[2], own;
} *mapped;

/* When nobody has the other end of one, they begin to map. */
static int starters[2][2];

static unsigned int count_up(unsigned int *number)
{
	return __atomic_add_fetch(number, 1, __ATOMIC_SEQ_CST);
}

static user_page *map_with_all(int fd, int phase)
{
	user_page *page;
	long sleeps;
	char none;

	die_if(read(starters[phase][0], &none, 1), "the start");
	sleeps = own_sleeps();
	page = mmap(NULL, PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	die_if(page == MAP_FAILED, "mmap");
	__atomic_add_fetch(&mapped->sleeps[phase], own_sleeps() - sleeps, __ATOMIC_SEQ_CST);
	return page;
}

/* Who may not read the counter is told so by the page, and can read() it. */
static void one_of_all(void)
{
	struct perf_event_attr attr = instructions_u();
	int anybodys = event_try(dummy()), own = event_try(attr);
	uint64_t counts[8] = { 0 };
	user_page *page;

	die_if(anybodys < 0 || own < 0, "open");
	count_up(&mapped->ready);
	map_with_all(anybodys, 0);
	count_up(&mapped->done[0]);
	page = map_with_all(own, 1);
	if (page->cap_user_rdpmc) {
		die_if(!page_read(page).value, "the counter");
		count_up(&mapped->own);
	} else {
		die_if(page->index, "a counter that is another's");
	}
	die_if(read(own, counts, sizeof(counts)) < 8 || !counts[0], "read");
	count_up(&mapped->done[1]);
	pause();
}

static void wait_for_all(const unsigned int *number)
{
	while (__atomic_load_n(number, __ATOMIC_SEQ_CST) < PROCESSES)
		usleep(10000);
}

/* Of a first mapping: in some kernels a worker tells each CPU. */
static long sleeps_of_one(void)
{
	int fd = event_open(instructions_u());
	long sleeps = own_sleeps();

	page_map(fd);
	return own_sleeps() - sleeps;
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
	for (int i = 0; i < 2; i++)
		cr_assert_eq(pipe(starters[i]), 0);
	user = fork_child();
	if (!user) {
		close(starters[0][1]);
		close(starters[1][1]);
		setpgid(0, 0);
		become_ordinary();
		for (int i = 0; i < PROCESSES; i++)
			if (!fork_child())
				one_of_all();
		pause();
	}
	wait_for_all(&mapped->ready);
	for (int i = 0; i < 2; i++) {
		close(starters[i][1]);
		wait_for_all(&mapped->done[i]);
	}
	kill(-user, SIGKILL);
	raw_reap(user);
	sleeps = mapped->sleeps[1] - each * mapped->own;
	printf("%u of %u may read, %ld sleeps, %ld for pages that anybody may have\n", mapped->own,
	       PROCESSES, sleeps, mapped->sleeps[0]);
	cr_expect_geq(mapped->own, AT_ONCE);
	/* The kernel itself may wait for what all mappings of such files are listed in. */
	cr_expect_lt(sleeps, PROCESSES / 4 + 2 * mapped->sleeps[0]);
}
