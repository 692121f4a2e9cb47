// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * Filters by file of traces that are inherited: the file is somewhere else in each of the tasks, and
 * each call of its function is in the traces, and nothing else. For --cpu intel-pt.
 */
#include "aux_code.h"
#include "aux_family.h"
#include "aux_stub.h"
#include "refusal.h"

#include <pthread.h>

TestSuite(aux_places, .timeout = 300);

#define CALLS	200
#define FILTER	"filter 0/32@" STUB

static void set_filter(const struct trace *t, const char *filter)
{
	for (int cpu = 0; cpu < FAMILY_CPUS; cpu++)
		cr_assert_eq(ioctl(t[cpu].fd, PERF_EVENT_IOC_SET_FILTER, filter), 0);
}

/* All tasks together have called it so many times. */
static void check_calls(struct trace *t, unsigned int calls)
{
	unsigned int begins = 0;

	for (int cpu = 0; cpu < FAMILY_CPUS; cpu++) {
		trace_records(&t[cpu]);
		cr_assert_eq(t[cpu].truncated, 0);
		begins += stub_begins(&t[cpu], 0);
		trace_close(&t[cpu]);
	}
	cr_assert(begins >= calls && begins < calls + CALLS / 2, "%u of %u", begins, calls);
}

static void *call_on_cpu(void *cpu)
{
	family_go_to((intptr_t)cpu);
	stub_call(CALLS);
	return NULL;
}

static void wait_for_all(void)
{
	while (wait(NULL) > 0)
		continue;
}

/* ---- Tasks that begin after the filter was set ---- */

/* What was mapped before, after, at another place, and by a process with two threads */
static void children_that_map(void)
{
	pthread_t thread;

	stub_map();
	stub_call(CALLS);
	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		family_go_to(i % FAMILY_CPUS);
		stub_call(CALLS);
		if (i == 1)
			stub_map();
		if (i == 2 && pthread_create(&thread, NULL, call_on_cpu, (void *)1L))
			_exit(4);
		for (int k = 0; k < CALLS; k++) {
			sched_yield();
			stub_call(1);
		}
		if (i == 2)
			pthread_join(thread, NULL);
		if (i == 3 && !fork())
			stub_call(CALLS);
		wait_for_all();
		_exit(0);
	}
	wait_for_all();
}

Test(aux_places, of_all_that_a_task_starts)
{
	struct trace t[FAMILY_CPUS];
	pid_t pid;

	if (trace_files_refused())
		return;
	stub_make();
	pid = family_start(children_that_map);
	family_traces(t, pid);
	set_filter(t, FILTER);
	family_run(pid);
	check_calls(t, (1 + 4 * 2 + 1 + 1) * CALLS);
}

/* ---- Programs ---- */

static void programs(void)
{
	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		family_go_to(i % FAMILY_CPUS);
		execl(TRACED, TRACED, "1", "2", "3", NULL);
		_exit(3);
	}
	wait_for_all();
}

static struct decoded trace_programs(const char *filter)
{
	struct decoded all = { 0 };
	struct trace t[FAMILY_CPUS];
	pid_t pid = family_start(programs);

	family_traces(t, pid);
	if (filter)
		set_filter(t, filter);
	family_run(pid);
	for (int cpu = 0; cpu < FAMILY_CPUS; cpu++) {
		struct decoded d;

		trace_records(&t[cpu]);
		cr_assert_eq(t[cpu].truncated, 0);
		d = trace_decode(t[cpu].aux, t[cpu].bytes);
		cr_assert_eq(d.errors, 0, "%s", d.error);
		all.instructions += d.instructions;
		all.inside += d.inside;
		trace_close(&t[cpu]);
	}
	return all;
}

/* The program is not relocated, and its code begins with the page 0x401000. */
Test(aux_places, of_programs)
{
	struct decoded all, some;
	char filter[100];

	if (trace_files_refused())
		return;
	decode_self();
	add_program(decode_image, TRACED);
	decode_from = 0x401000;
	decode_to = 0x401fff;
	all = trace_programs(NULL);
	cr_assert_gt(all.inside, 400);
	cr_assert_gt(all.instructions, all.inside + 400);
	snprintf(filter, sizeof(filter), "filter 0x1000/0x1000@%s", TRACED);
	decode_filtered = true;
	some = trace_programs(filter);
	cr_assert_eq(some.inside, all.inside, "%lu of %lu", some.inside, all.inside);
	cr_assert_eq(some.instructions, some.inside);
}

/* ---- Set while the task runs ---- */

static struct shared {
	uint32_t there, go;
} *shared;

static void wait_for(uint32_t go)
{
	__atomic_add_fetch(&shared->there, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&shared->go, __ATOMIC_SEQ_CST) < go)
		sched_yield();
}

static void until_there(uint32_t n)
{
	while (__atomic_load_n(&shared->there, __ATOMIC_SEQ_CST) < n)
		sched_yield();
}

static void let_go(uint32_t go)
{
	__atomic_store_n(&shared->go, go, __ATOMIC_SEQ_CST);
}

static void share(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
}

static void *wait_and_call_there(void *cpu)
{
	family_go_to((intptr_t)cpu);
	wait_for(2);
	stub_call(CALLS);
	return NULL;
}

/* It has mapped the file when the filter is set, and then starts a thread and others. */
static void three_generations(void)
{
	pthread_t thread;

	stub_map();
	wait_for(1);
	if (!fork()) {
		stub_map();
		if (!fork()) {
			wait_and_call_there((void *)1L);
			_exit(0);
		}
		wait_and_call_there((void *)0L);
		wait_for_all();
		_exit(0);
	}
	if (pthread_create(&thread, NULL, wait_and_call_there, (void *)1L))
		_exit(4);
	wait_for(2);
	stub_call(CALLS);
	pthread_join(thread, NULL);
	wait_for_all();
}

static struct call filter(int fd, const char *text)
{
	return IOCTL(fd, PERF_EVENT_IOC_SET_FILTER, text);
}

Test(aux_places, of_what_was_mapped_before)
{
	struct trace t[FAMILY_CPUS];
	pid_t pid;

	if (trace_files_refused())
		return;
	stub_make();
	share();
	pid = family_start(three_generations);
	family_traces(t, pid);
	set_filter(t, "filter 0x1000/16");
	cr_assert_eq(kill(pid, SIGCONT), 0);
	until_there(1);
	/* The second takes the place of the first, of which nothing is left. */
	set_filter(t, "filter 0x800/16@" STUB);
	set_filter(t, FILTER);
	let_go(1);
	until_there(5);
	/* The filter that there is stays. */
	check_refusals(
		{ "late", filter(t[0].fd, "filter 0x900/16@" STUB), EOPNOTSUPP,
		  PMUCTL_WHY_PT_RANGE_LATE, "filter",
		  "what inherits this trace has begun, and may have the file somewhere else: set the filter before, or give addresses" }
	);
	let_go(2);
	family_run(pid);
	check_calls(t, 4 * CALLS);
}

/* Filters are set while the task maps the file here and there: the last one holds. */
static void map_often(void)
{
	for (int i = 0; i < 200; i++) {
		stub_map();
		family_go_to(i % FAMILY_CPUS);
	}
	wait_for(1);
	if (!fork()) {
		stub_call(CALLS);
		_exit(0);
	}
	stub_call(CALLS);
	wait_for_all();
}

Test(aux_places, set_while_the_task_maps)
{
	static const char *const filters[] = { FILTER, "filter 0x1000/16" };
	struct trace t[FAMILY_CPUS];
	unsigned int i;
	pid_t pid;

	if (trace_files_refused())
		return;
	stub_make();
	share();
	pid = family_start(map_often);
	family_traces(t, pid);
	set_filter(t, filters[1]);
	cr_assert_eq(kill(pid, SIGCONT), 0);
	for (i = 0; !__atomic_load_n(&shared->there, __ATOMIC_SEQ_CST); i++)
		set_filter(t, filters[i % 2]);
	set_filter(t, FILTER);
	let_go(1);
	family_run(pid);
	check_calls(t, 2 * CALLS);
}
