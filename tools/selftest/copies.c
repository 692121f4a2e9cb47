// SPDX-License-Identifier: GPL-2.0-only
/*
 * The same event many times in a group: its members count at the same time, each on a counter of
 * its own. So one run of the loop has every counter count it that can, and they can be compared.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/ioctl.h>

#include "selftest.h"

/**
 * copies_open() - open as many as fit
 * @test: with the device.
 * @rival: by whom.
 * @attr: the event.
 * @copies: the group, for copies_close().
 * @why: filled if there is no place for a single one.
 *
 * Return: 0 or a negative errno.
 */
int copies_open(struct selftest *test, enum rival rival, struct perf_event_attr attr,
		struct copies *copies, struct refusal *why)
{
	struct refusal full;
	int ret;

	copies->n = 0;
	attr.disabled = 1;
	ret = event_open(test, rival, &attr, NULL, &copies->event[0], why);
	if (ret < 0)
		return ret;
	attr.disabled = 0;
	do {
		copies->n++;
	} while (copies->n < COPIES_MAX &&
		 event_open(test, rival, &attr, &copies->event[0],
			    &copies->event[copies->n], &full) == 0);
	return 0;
}

/**
 * copies_close() - close them
 * @copies: the group.
 */
void copies_close(struct copies *copies)
{
	while (copies->n)
		event_close(&copies->event[--copies->n]);
}

/* While they are enabled their pages tell where they are; they are there again the next time. */
static int find_counters(struct copies *copies)
{
	int leader = copies->event[0].fd;

	if (ioctl(leader, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return -errno;
	for (unsigned int i = 0; i < copies->n; i++)
		copies->counter[i] = event_counter(&copies->event[i]);
	if (ioctl(leader, PERF_EVENT_IOC_DISABLE, 0) < 0 ||
	    ioctl(leader, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP) < 0)
		return -errno;
	return 0;
}

/**
 * copies_run() - have them count the known loop
 * @test: with the CPU.
 * @copies: the group.
 * @rounds: of the loop.
 *
 * Return: 0 or a negative errno.
 */
int copies_run(struct selftest *test, struct copies *copies, uint64_t rounds)
{
	int ret = find_counters(copies);

	copies->interrupts = interrupts_of_cpu(test->cpu, NULL);
	copies->elapsed = now_ns();
	if (!ret)
		ret = loop_run(copies->event[0].fd, rounds);
	copies->elapsed = now_ns() - copies->elapsed;
	copies->interrupts = interrupts_of_cpu(test->cpu, NULL) - copies->interrupts;
	for (unsigned int i = 0; i < copies->n && !ret; i++)
		ret = event_count(&copies->event[i], &copies->count[i]);
	return ret;
}
