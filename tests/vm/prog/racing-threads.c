// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that race: they add to a number without a lock, and tell the time to each other. What
 * it prints is another number in each run, but in the replay of a run the same.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define THREADS	4
#define ROUNDS	20000

static volatile uint64_t number;

static void *race(void *arg)
{
	const uint64_t own = (uintptr_t)arg;

	for (uint64_t i = 0; i < ROUNDS; i++)
		number = number * 3 + own;
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	number = now.tv_nsec;
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, race, (void *)(i + 1)))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu\n", number);
	return 0;
}
