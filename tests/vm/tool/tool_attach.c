// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl stat -p" counts all threads of a process, "-t" one of them. The threads wait
 * until the tool counts, do work of known length, and the tool counts until they have
 * done it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#define THREADS 3
#define ROUNDS 20000000 /* beside which what the threads do while they wait is little */

/* Each starts one more of its kind when it has done its work. */
static bool starts_another;

static char dir[] = "/tmp/tool-attach-XXXXXX";
static pid_t tids[THREADS];

/* Two instructions a round */
static void loop(uint64_t rounds)
{
	__asm__ volatile("1:\tdecq %0\n\t"
			 "jnz 1b"
			 : "+r" (rounds) : : "cc");
}

static void path_of(char *path, size_t size, const char *name, int number)
{
	snprintf(path, size, "%s/%s%d", dir, name, number);
}

static bool exists(const char *name, int number)
{
	char path[64];

	path_of(path, sizeof(path), name, number);
	return access(path, F_OK) == 0;
}

static void create(const char *name, int number)
{
	char path[64];

	path_of(path, sizeof(path), name, number);
	fclose(fopen(path, "w"));
}

static void *another(void *arg)
{
	(void)arg;
	loop(ROUNDS);
	return NULL;
}

/* Works when "go" is there, tells when it has, and lives on until "end". */
static void *worker(void *arg)
{
	int number = (int)(intptr_t)arg;

	tids[number] = gettid();
	create("ready", number);
	while (!exists("go", 0))
		usleep(10000);
	loop(ROUNDS);
	if (starts_another) {
		pthread_t thread;

		cr_assert_eq(pthread_create(&thread, NULL, another, NULL), 0);
		pthread_join(thread, NULL);
	}
	create("done", number);
	while (!exists("end", 0))
		usleep(10000);
	return NULL;
}

/* Counts with the tool while all threads do their work; returns the count. */
static unsigned long long count_with(const char *options, int id)
{
	char command[512];
	unsigned long long value = 0;
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "pmuctl stat -x , -e instructions:u %s %d sh -c 'touch %s/go0; "
		 "until [ -e %s/done0 -a -e %s/done1 -a -e %s/done2 ]; do usleep 10000; done' 2>&1",
		 options, id, dir, dir, dir, dir);
	pipe = popen(command, "r");
	cr_assert_not_null(pipe);
	cr_assert_eq(fscanf(pipe, "%llu,", &value), 1);
	while (fgetc(pipe) != EOF)	/* or the tool cannot write the rest */
		;
	cr_assert_eq(pclose(pipe), 0);
	return value;
}

static void with_threads(void (*test)(void))
{
	pthread_t threads[THREADS];

	cr_assert_not_null(mkdtemp(dir));
	for (int i = 0; i < THREADS; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, worker,
					    (void *)(intptr_t)i), 0);
	for (int i = 0; i < THREADS; i++)
		while (!exists("ready", i))
			usleep(10000);
	test();
	create("end", 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void whole_process(void)
{
	unsigned long long value = count_with("-p", getpid());

	cr_expect_geq(value, 2ULL * ROUNDS * THREADS);
	cr_expect_lt(value, 2ULL * ROUNDS * (THREADS + 1));
}

Test(tool_attach, process_is_all_its_threads)
{
	with_threads(whole_process);
}

static void process_that_grows(void)
{
	unsigned long long value = count_with("-p", getpid());

	cr_expect_geq(value, 2ULL * ROUNDS * 2 * THREADS);
	cr_expect_lt(value, 2ULL * ROUNDS * (2 * THREADS + 1));
}

Test(tool_attach, threads_that_come_are_of_the_process_too)
{
	starts_another = true;
	with_threads(process_that_grows);
}

static void process_as_it_is(void)
{
	unsigned long long value = count_with("-i -p", getpid());

	cr_expect_geq(value, 2ULL * ROUNDS * THREADS);
	cr_expect_lt(value, 2ULL * ROUNDS * (THREADS + 1));
}

Test(tool_attach, threads_that_come_can_be_left_out)
{
	starts_another = true;
	with_threads(process_as_it_is);
}

static void one_thread(void)
{
	unsigned long long value = count_with("-t", tids[1]);

	cr_expect_geq(value, 2ULL * ROUNDS);
	cr_expect_lt(value, 2ULL * ROUNDS * 2);
}

Test(tool_attach, thread_is_only_itself)
{
	with_threads(one_thread);
}
