// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library against the driver: regions of a program, of one thread and of many, nested and
 * crossed, and what is wrong with them.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <pmuctl_region.h>

#include "module.h"

#define ROUNDS	20000ull
#define THREADS	4
/* What a thread does between two reads besides, of a call that is not its first */
#define BESIDES	2000ull

TestSuite(lib_region);

/* Two instructions a round, one of them a branch */
static __attribute__((noinline)) void loop(uint64_t rounds)
{
	__asm__ volatile("1:\tdecq %0\n\t"
			 "jnz 1b"
			 : "+r" (rounds) : : "cc");
}

static struct pmuctl_regions *open_regions(const char *events)
{
	struct pmuctl_explanation why = { 0 };
	struct pmuctl_regions *regions;
	int ret = pmuctl_regions_open(events, &why, &regions);

	cr_assert_eq(ret, 0, "%s: %s", events, why.sentence);
	return regions;
}

static void go_through(struct pmuctl_regions *regions, const char *name, uint64_t rounds)
{
	cr_assert_eq(pmuctl_region_begin(regions, name), 0);
	loop(rounds);
	cr_assert_eq(pmuctl_region_end(regions, name), 0);
}

/* The first count of a region, and what else is known of it */
static uint64_t count_of(struct pmuctl_regions *regions, const char *name,
			 struct pmuctl_region *region)
{
	uint64_t counts[8];

	for (size_t i = 0; pmuctl_regions_get(regions, i, region, counts, 8) > 0; i++)
		if (!strcmp(region->name, name))
			return counts[0];
	cr_assert(false, "there is no region %s", name);
	return 0;
}

Test(lib_region, a_region_counts_to_the_instruction)
{
	struct pmuctl_regions *regions = open_regions("instructions:u,branches:u");
	uint64_t counts[4][2];
	struct pmuctl_region region;

	for (unsigned int i = 0; i < 4; i++) {
		go_through(regions, "loop", i < 3 ? ROUNDS : 3 * ROUNDS);
		cr_assert_eq(pmuctl_regions_get(regions, 0, &region, counts[i], 2), 2);
		cr_assert_eq(region.calls, i + 1);
	}
	/* The first call binds functions of the C library. */
	for (unsigned int n = 0; n < 2; n++)
		cr_assert_eq(counts[3][n] - counts[2][n] - (counts[2][n] - counts[1][n]),
			     2 * (2 - n) * ROUNDS, "event %u", n);
	cr_assert_str_eq(region.name, "loop");
	cr_assert_eq(region.threads, 1);
	cr_assert_gt(region.time_enabled, 0);
	cr_assert_eq(region.time_running, region.time_enabled);
	pmuctl_regions_close(regions);
	cr_assert_eq(module_info().hw_events, 0);
}

Test(lib_region, regions_are_nested_and_crossed)
{
	struct pmuctl_regions *regions = open_regions("instructions:u");
	struct pmuctl_region region;
	uint64_t inner, outer, crossed;

	cr_assert_eq(pmuctl_region_begin(regions, "outer"), 0);
	go_through(regions, "inner", ROUNDS);
	go_through(regions, "inner", ROUNDS);
	cr_assert_eq(pmuctl_region_begin(regions, "crossed"), 0);
	cr_assert_eq(pmuctl_region_end(regions, "outer"), 0);
	loop(ROUNDS);
	cr_assert_eq(pmuctl_region_end(regions, "crossed"), 0);
	inner = count_of(regions, "inner", &region);
	cr_assert_eq(region.calls, 2);
	outer = count_of(regions, "outer", &region);
	crossed = count_of(regions, "crossed", &region);
	cr_assert(inner >= 4 * ROUNDS && inner < 4 * ROUNDS + 3 * BESIDES, "%lu", inner);
	cr_assert(outer > inner && outer < inner + 5 * BESIDES, "%lu", outer);
	cr_assert(crossed >= 2 * ROUNDS && crossed < 2 * ROUNDS + 3 * BESIDES, "%lu", crossed);
	pmuctl_regions_close(regions);
}

static void *thread_in_region(void *regions)
{
	for (int i = 0; i < 3; i++)
		go_through(regions, "together", ROUNDS);
	return NULL;
}

static size_t count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t n = 0;

	while (readdir(dir))
		n++;
	closedir(dir);
	return n;
}

/* Those that have ended leave no descriptor, and are not forgotten. */
Test(lib_region, threads_are_added_up)
{
	struct pmuctl_regions *regions = open_regions("instructions:u");
	size_t fds = count_fds();
	struct pmuctl_region region;
	pthread_t thread[THREADS];
	uint64_t count;

	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < THREADS; i++)
			cr_assert_eq(pthread_create(&thread[i], NULL, thread_in_region, regions), 0);
		for (int i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
	}
	count = count_of(regions, "together", &region);
	cr_assert_eq(region.threads, 50 * THREADS);
	cr_assert_eq(region.calls, 3 * 50 * THREADS);
	cr_assert(count >= region.calls * 2 * ROUNDS && count < region.calls * (2 * ROUNDS + BESIDES),
		  "%lu in %lu calls", count, region.calls);
	cr_assert_eq(count_fds(), fds);
	thread_in_region(regions);
	cr_assert_gt(count_of(regions, "together", &region), count);
	cr_assert_eq(region.threads, 50 * THREADS + 1);
	pmuctl_regions_close(regions);
}

static void *thread_until_stopped(void *arg)
{
	struct pmuctl_regions *regions = arg;

	while (pmuctl_region_begin(regions, "stop") == 0) {
		go_through(regions, "busy", 10);
		if (pmuctl_region_end(regions, "stop") != 0)
			break;
		pthread_testcancel();
	}
	return NULL;
}

/* Whoever asks meanwhile gets whole calls, and never fewer than before. */
Test(lib_region, results_while_threads_go_on)
{
	struct pmuctl_regions *regions = open_regions("branches:u");
	struct pmuctl_region region;
	pthread_t thread[2];
	uint64_t calls = 0;
	char *text;

	for (int i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, thread_until_stopped, regions), 0);
	while (calls < 2000) {
		uint64_t counts[1];

		if (pmuctl_regions_get(regions, 1, &region, counts, 1) < 0)
			continue;
		cr_assert_geq(region.calls, calls);
		cr_assert_geq(counts[0], region.calls * 10);
		calls = region.calls;
		cr_assert_eq(pmuctl_regions_text(regions, &text), 0);
		cr_assert_eq(strncmp(text, "region stop: ", 13), 0);
		free(text);
	}
	for (int i = 0; i < 2; i++) {
		pthread_cancel(thread[i]);
		pthread_join(thread[i], NULL);
	}
	pmuctl_regions_close(regions);
}

Test(lib_region, what_makes_no_sense_is_refused)
{
	struct pmuctl_regions *regions = open_regions("instructions:u");
	struct pmuctl_region region;
	uint64_t counts[1];

	cr_assert_eq(pmuctl_region_end(regions, "never"), -EINVAL);
	cr_assert_eq(pmuctl_region_begin(regions, NULL), -EINVAL);
	cr_assert_eq(pmuctl_region_begin(regions, "a"), 0);
	cr_assert_eq(pmuctl_region_begin(regions, "a"), -EBUSY);
	cr_assert_eq(pmuctl_region_end(regions, "b"), -EINVAL);
	cr_assert_eq(pmuctl_region_end(regions, NULL), -EINVAL);
	cr_assert_eq(pmuctl_region_end(regions, "a"), 0);
	cr_assert_eq(pmuctl_region_end(regions, "a"), -EINVAL);
	cr_assert_eq(pmuctl_regions_get(regions, 0, &region, NULL, 0), 1);
	cr_assert_eq(region.calls, 1);
	cr_assert_eq(pmuctl_regions_get(regions, 1, &region, counts, 1), -ENOENT);
	pmuctl_regions_close(regions);
	regions = open_regions("instructions:u,branches:u");
	cr_assert_eq(pmuctl_regions_get(regions, 0, &region, counts, 1), -ENOSPC);
	pmuctl_regions_close(regions);
}

Test(lib_region, refusals_are_explained)
{
	struct pmuctl_explanation why = { 0 };
	struct pmuctl_regions *regions;

	cr_assert_eq(pmuctl_regions_open("instructions:u,nonsense", &why, &regions), -EINVAL);
	cr_assert_eq(why.code, PMUCTL_WHY_EVENTS);
	cr_assert(strstr(why.sentence, "at character 16"), "%s", why.sentence);
	cr_assert_null(regions);
	/* More than any PMU counts at a time */
	cr_assert_eq(pmuctl_regions_open("r1c4,r2c4,r3c4,r4c4,r5c4,r6c4,r7c4,r8c4,r9c4,rac4", &why,
					 &regions), -EINVAL);
	cr_assert_str_neq(why.sentence, "");
	cr_assert_eq(module_info().hw_events, 0);
}

Test(lib_region, a_child_is_told_that_it_has_none)
{
	struct pmuctl_regions *regions = open_regions("instructions:u");
	struct pmuctl_region region;
	int status;
	pid_t child;
	char *text;

	go_through(regions, "parent", ROUNDS);
	cr_assert_eq(pmuctl_region_begin(regions, "parent"), 0);
	child = fork();
	if (!child) {
		size_t fds = count_fds();
		bool told = pmuctl_region_begin(regions, "child") == -ECHILD &&
			    pmuctl_region_end(regions, "parent") == -ECHILD &&
			    pmuctl_regions_get(regions, 0, &region, NULL, 0) == -ECHILD &&
			    pmuctl_regions_text(regions, &text) == -ECHILD && !text;

		pmuctl_regions_close(regions);
		told = told && count_fds() < fds;
		regions = open_regions("instructions:u");
		go_through(regions, "child", ROUNDS);
		_exit(told ? 0 : 1);
	}
	cr_assert_eq(waitpid(child, &status, 0), child);
	cr_assert_eq(status, 0);
	cr_assert_eq(pmuctl_region_end(regions, "parent"), 0);
	pmuctl_regions_close(regions);
}

static void *detached_in_region(void *arg)
{
	void **args = arg;

	go_through(args[0], "short", 10);
	__atomic_store_n(&args[1], NULL, __ATOMIC_RELEASE);
	return NULL;
}

/* Of a thread that has left its region nobody knows when it ends: while the handle is closed, too. */
Test(lib_region, closed_while_threads_end)
{
	size_t fds = count_fds();

	for (int i = 0; i < 300; i++) {
		struct pmuctl_regions *regions = open_regions("instructions:u");
		void *args[2] = { regions, &args };
		pthread_attr_t attr;
		pthread_t thread;

		pthread_attr_init(&attr);
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
		cr_assert_eq(pthread_create(&thread, &attr, detached_in_region, args), 0);
		while (__atomic_load_n(&args[1], __ATOMIC_ACQUIRE))
			sched_yield();
		pmuctl_regions_close(regions);
	}
	cr_assert_eq(count_fds(), fds);
	cr_assert_eq(module_info().hw_events, 0);
}

static void *thread_that_lives_on(void *arg)
{
	void **args = arg;

	go_through(args[0], "long", 10);
	pthread_barrier_wait(args[1]);
	pthread_barrier_wait(args[1]);
	return NULL;
}

Test(lib_region, closed_while_threads_live_on)
{
	struct pmuctl_regions *regions = open_regions("instructions:u");
	size_t fds = count_fds();
	pthread_barrier_t barrier;
	void *args[2] = { regions, &barrier };
	pthread_t thread;

	pthread_barrier_init(&barrier, NULL, 2);
	cr_assert_eq(pthread_create(&thread, NULL, thread_that_lives_on, args), 0);
	pthread_barrier_wait(&barrier);
	cr_assert_gt(count_fds(), fds);
	go_through(regions, "long", 10);
	pmuctl_regions_close(regions);
	cr_assert_lt(count_fds(), fds);
	cr_assert_eq(module_info().hw_events, 0);
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
}

static void *cancelled_in_region(void *regions)
{
	go_through(regions, "cancelled", 10);
	pthread_cancel(pthread_self());
	return NULL; /* with that still to come */
}

Test(lib_region, cancelled_threads_leave_nothing_open)
{
	struct pmuctl_regions *regions = open_regions("instructions:u,branches:u");
	size_t fds = count_fds();
	struct pmuctl_region region;
	pthread_t thread;

	for (int i = 0; i < 20; i++) {
		cr_assert_eq(pthread_create(&thread, NULL, cancelled_in_region, regions), 0);
		pthread_join(thread, NULL);
	}
	cr_assert_eq(count_fds(), fds);
	cr_assert_gt(count_of(regions, "cancelled", &region), 0);
	cr_assert_eq(region.threads, 20);
	pmuctl_regions_close(regions);
}

Test(lib_region, the_environment_decides)
{
	struct pmuctl_regions *regions;
	struct pmuctl_region region;
	char *text;

	unsetenv("PMUCTL_REGIONS");
	cr_assert_null(open_regions(NULL));
	setenv("PMUCTL_REGIONS", "", 1);
	cr_assert_null(open_regions(NULL));
	go_through(NULL, "nothing", 1);
	cr_assert_eq(pmuctl_regions_get(NULL, 0, &region, NULL, 0), -ENOENT);
	cr_assert_eq(pmuctl_regions_text(NULL, &text), 0);
	cr_assert_null(text);
	pmuctl_regions_close(NULL);

	setenv("PMUCTL_REGIONS", "branches:u,page-faults", 1);
	regions = open_regions(NULL);
	go_through(regions, "part one", ROUNDS);
	cr_assert_eq(pmuctl_regions_text(regions, &text), 0);
	cr_assert_eq(strncmp(text, "region part one: calls 1, threads 1, 0.", 39), 0, "%s", text);
	cr_assert(strstr(text, "  branches:u\n") && strstr(text, " 0  page-faults\n"), "%s", text);
	free(text);
	pmuctl_regions_close(regions);
}
