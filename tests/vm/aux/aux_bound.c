// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a user's traces cost others who map code, as each of the traces could be about it: counted
 * in the kernel's instructions. For --cpu intel-pt.
 */
#include "aux.h"
#include "bound.h"

#include <fcntl.h>
#include <pthread.h>

#define FEW		1
#define MANY		2000
#define MANY_SLOW	100
#define MAPPINGS	100
#define RATIO_MAX	1.5
#define FILTER		"filter 0/4096@" TRACED

TestSuite(aux_bound, .timeout = 300);

/* ---- The user ---- */

static void *trace_self(void *ready)
{
	union raw_attr a = trace_attr();
	int fd = event_try(a);

	die_if(fd < 0, "open");
	die_if(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, FILTER), "filter");
	pthread_barrier_wait(ready);
	for (;;)
		pause();
	return NULL;
}

static pid_t prepare_traces(unsigned int n)
{
	static pthread_barrier_t ready;
	pthread_attr_t small;
	pthread_t thread;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	pthread_barrier_init(&ready, NULL, n + 1);
	while (n--) {
		errno = pthread_create(&thread, &small, trace_self, &ready);
		die_if(errno, "thread");
	}
	pthread_barrier_wait(&ready);
	return getpid();
}

static void work_nothing(void)
{
}

/* ---- Others ---- */

static uint64_t cost_of_mappings(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int code = open(TRACED, O_RDONLY | O_CLOEXEC), fd;
	uint64_t cost;

	cr_assert_geq(code, 0, "%m");
	attr.exclude_user = 1;
	fd = event_open(attr);
	for (int i = 0; i < MAPPINGS; i++) {
		void *map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, code, 0);

		cr_assert_neq(map, MAP_FAILED, "%m");
		cr_assert_eq(munmap(map, 4096), 0);
	}
	cost = event_value(fd) / MAPPINGS;
	close(fd);
	close(code);
	return cost;
}

/* What a mapping costs while a user traces so many threads */
static uint64_t cost_beside(unsigned int n)
{
	struct attack a = { prepare_traces, work_nothing, n };
	uint64_t cost;
	int link;
	pid_t user;

	user = attack_start(&a, &link);
	hear(link);
	cost = cost_of_mappings();
	let_go(link);
	hear(link);
	attack_end(user, link);
	return cost;
}

Test(aux_bound, others_map_code)
{
	unsigned int n = is_slow_kernel() ? MANY_SLOW : MANY;
	uint64_t few, many;

	if (trace_files_refused())
		return;
	few = cost_beside(FEW);
	many = cost_beside(n);
	printf("a mapping beside %u traces: %lu instructions, beside %u: %lu\n", FEW, few, n, many);
	/* What a kernel that checks itself does meanwhile costs more than that. */
	if (!is_slow_kernel())
		cr_assert_lt(many, RATIO_MAX * few, "%lu instructions beside %u traces, %lu beside %u",
			     few, FEW, many, n);
}

/* ---- Many mappings of a file ---- */

#define FILE_MAPPINGS	1000
/* Instructions; what it costs to look at one is some 500. */
#define LOOK_MAX	1500

static void *run_on(void *tid)
{
	pin_here(1);
	__atomic_store_n((pid_t *)tid, gettid(), __ATOMIC_RELEASE);
	for (;;)
		;
	return NULL;
}

static uint64_t cost_of_filter(int trace)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t cost;
	int fd;

	attr.exclude_user = 1;
	attr.disabled = 1;
	fd = event_open(attr);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	cr_assert_eq(ioctl(trace, PERF_EVENT_IOC_SET_FILTER, FILTER), 0, "%m");
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cost = event_value(fd);
	close(fd);
	return cost;
}

/*
 * The CPU of a thread that is traced is not interrupted for each of them, nor is it waited for: it
 * is told where the file is once.
 */
static void check_filter(bool inherit)
{
	union raw_attr a = trace_attr();
	int code = open(TRACED, O_RDONLY | O_CLOEXEC), trace;
	uint64_t few, many;
	pthread_t thread;
	pid_t tid = 0;

	pin_here(0);
	cr_assert_geq(code, 0, "%m");
	cr_assert_eq(pthread_create(&thread, NULL, run_on, &tid), 0);
	while (!__atomic_load_n(&tid, __ATOMIC_ACQUIRE))
		;
	a.attr.inherit = inherit;
	trace = event_try(a, .pid = tid, .cpu = inherit ? 1 : -1);
	cr_assert_geq(trace, 0, "%s", event_why.sentence);
	few = cost_of_filter(trace);
	for (int i = 0; i < FILE_MAPPINGS; i++)
		cr_assert_neq(mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, code, 0), MAP_FAILED);
	many = cost_of_filter(trace);
	printf("to set a filter: %lu instructions, with %u mappings of the file: %lu\n", few,
	       FILE_MAPPINGS, many);
	if (!is_slow_kernel())
		cr_assert_lt(many, few + FILE_MAPPINGS * LOOK_MAX);
}

Test(aux_bound, a_file_that_is_mapped_often)
{
	if (trace_files_refused())
		return;
	check_filter(false);
}

Test(aux_bound, likewise_of_a_trace_that_is_inherited)
{
	if (trace_files_refused())
		return;
	check_filter(true);
}
