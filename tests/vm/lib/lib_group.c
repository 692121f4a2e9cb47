// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library against the driver: groups as a whole, all that a thread opened, all
 * CPUs through one descriptor, and each of them.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <pmuctl.h>

#define ROUNDS 20000
#define CPUS_MAX 256

static struct pmuctl_device *dev;

static void setup(void)
{
	struct pmuctl_explanation why;
	int ret = pmuctl_device_open(NULL, &why, &dev);

	cr_assert_eq(ret, 0, "%s", ret ? why.sentence : "");
}

static void teardown(void)
{
	pmuctl_device_close(dev);
}

TestSuite(lib_group, .init = setup, .fini = teardown);

/* Two instructions a round, one of them a branch */
static __attribute__((noinline)) void loop(uint64_t rounds)
{
	__asm__ volatile("1:\tdecq %0\n\t"
			 "jnz 1b"
			 : "+r" (rounds) : : "cc");
}

static struct perf_event_attr attr_of(const char *name, uint64_t read_format)
{
	struct pmuctl_events *events;
	struct perf_event_attr attr;

	cr_assert_eq(pmuctl_events_parse(name, NULL, NULL, NULL, &events), 0);
	attr = *pmuctl_events_attr(events, 0);
	pmuctl_events_free(events);
	attr.read_format = read_format;
	return attr;
}

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* A group of this thread, the leader disabled, the others ready */
static void open_members(uint64_t read_format, const char *const *names, size_t count,
			 struct pmuctl_event **members)
{
	for (size_t i = 0; i < count; i++) {
		struct perf_event_attr attr = attr_of(names[i], read_format);
		struct pmuctl_explanation why;
		int ret;

		attr.disabled = i == 0;
		ret = pmuctl_event_open_group(dev, &attr, 0, -1, 0,
					      i ? members[0] : NULL, &members[i]);
		pmuctl_device_explain(dev, &why);
		cr_assert_eq(ret, 0, "%s: %s", names[i], why.sentence);
	}
}

static void close_members(struct pmuctl_event **members, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pmuctl_event_close(members[i]);
}

static const char *const trio[] = { "instructions:u", "branches:u", "r00c0:u" };

Test(lib_group, members_count_a_loop_to_the_instruction)
{
	struct pmuctl_reading first[3], last[3] = { { .value = 0 } };
	struct pmuctl_event *members[3];

	open_members(PERF_FORMAT_GROUP | TIMES, trio, 3, members);
	loop(ROUNDS);
	cr_assert_eq(pmuctl_group_read(members[0], first, 3), 3);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(first[i].value, 0);
	for (uint64_t rounds = 10; rounds <= ROUNDS; rounds += ROUNDS - 10) {
		memcpy(first, last, sizeof(first));
		cr_assert_eq(pmuctl_group_enable(members[0]), 0);
		loop(rounds);
		cr_assert_eq(pmuctl_group_disable(members[0]), 0);
		cr_assert_eq(pmuctl_group_read(members[0], last, 3), 3);
	}
	/* What else ran between is the same each time: it is in both. */
	cr_assert_eq(last[0].value - 2 * first[0].value, 2 * (ROUNDS - 10));
	cr_assert_eq(last[1].value - 2 * first[1].value, ROUNDS - 10);
	cr_assert_eq(last[0].value, last[2].value);
	cr_assert_gt(last[0].time_enabled, 0);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(last[i].time_enabled, last[0].time_enabled);
		cr_assert_eq(last[i].time_running, last[0].time_enabled);
	}
	close_members(members, 3);
}

Test(lib_group, equal_members_never_differ_in_one_read)
{
	static const char *const twins[] = { "r00c0:u", "instructions:u", "r00c0:u" };
	struct pmuctl_event *members[3];
	struct pmuctl_reading all[3];
	uint64_t last = 0;

	open_members(PERF_FORMAT_GROUP, twins, 3, members);
	cr_assert_eq(pmuctl_group_enable(members[0]), 0);
	for (int i = 0; i < 500; i++) {
		loop(50);
		cr_assert_eq(pmuctl_group_read(members[0], all, 3), 3);
		cr_assert_geq(all[0].value, last + 100);
		cr_assert_eq(all[1].value, all[0].value);
		cr_assert_eq(all[2].value, all[0].value);
		cr_assert_eq(all[0].time_enabled, 0);
		last = all[0].value;
	}
	close_members(members, 3);
}

Test(lib_group, every_read_format_is_understood)
{
	for (uint64_t format = 0; format < 32; format++) {
		struct pmuctl_event *members[3];
		struct pmuctl_reading all[4];
		uint64_t id;

		open_members(format | PERF_FORMAT_GROUP, trio, 3, members);
		cr_assert_eq(pmuctl_group_enable(members[0]), 0);
		loop(ROUNDS);
		cr_assert_eq(pmuctl_group_disable(members[0]), 0);
		memset(all, 0xff, sizeof(all));
		cr_assert_eq(pmuctl_group_read(members[0], all, 4), 3);
		for (int i = 0; i < 3; i++) {
			cr_assert_eq(pmuctl_event_id(members[i], &id), 0);
			cr_assert_geq(all[i].value, (i == 1 ? 1 : 2) * ROUNDS);
			cr_assert_lt(all[i].value, 3 * ROUNDS);
			cr_assert_eq(!!all[i].time_enabled,
				     !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED));
			cr_assert_eq(!!all[i].time_running,
				     !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING));
			cr_assert_eq(all[i].id, format & PERF_FORMAT_ID ? id : 0);
			cr_assert_eq(all[i].lost, 0);
		}
		cr_assert_eq(all[3].value, 0);
		close_members(members, 3);
	}
}

Test(lib_group, room_that_is_too_small_is_told)
{
	struct pmuctl_explanation why;
	struct pmuctl_event *members[3];
	struct pmuctl_reading all[3];

	open_members(PERF_FORMAT_GROUP | TIMES, trio, 3, members);
	cr_assert_eq(pmuctl_group_read(members[0], all, 2), -ENOSPC);
	cr_assert_eq(pmuctl_event_explain(members[0], &why), 0);
	cr_assert_eq(why.code, PMUCTL_WHY_BUFFER_TOO_SMALL);
	cr_assert_eq(pmuctl_group_read(members[0], all, 0), -EINVAL);
	cr_assert_eq(pmuctl_group_read(members[0], NULL, 3), -EINVAL);
	cr_assert_eq(pmuctl_group_read(members[0], all, 3), 3);
	/* A single reading is the leader's. */
	cr_assert_eq(pmuctl_group_enable(members[0]), 0);
	loop(ROUNDS);
	cr_assert_eq(pmuctl_group_disable(members[0]), 0);
	cr_assert_eq(pmuctl_group_read(members[0], all, 3), 3);
	cr_assert_eq(pmuctl_event_read(members[0], &all[1]), 0);
	cr_assert_eq(all[1].value, all[0].value);
	cr_assert_eq(all[1].time_enabled, all[0].time_enabled);
	close_members(members, 3);
}

Test(lib_group, without_the_group_format_there_is_no_group_read)
{
	struct pmuctl_event *members[3];
	struct pmuctl_reading all[3];

	open_members(TIMES, trio, 3, members);
	cr_assert_eq(pmuctl_group_read(members[0], all, 3), -EINVAL);
	cr_assert_eq(pmuctl_group_enable(members[0]), 0);
	loop(ROUNDS);
	for (int i = 0; i < 3; i++) {
		cr_assert_eq(pmuctl_event_read(members[i], &all[i]), 0);
		cr_assert_geq(all[i].value, (i == 1 ? 1 : 2) * ROUNDS);
	}
	close_members(members, 3);
}

Test(lib_group, reset_is_for_all_members)
{
	struct pmuctl_event *members[3];
	struct pmuctl_reading before[3], after[3];

	open_members(PERF_FORMAT_GROUP | TIMES, trio, 3, members);
	cr_assert_eq(pmuctl_group_enable(members[0]), 0);
	loop(ROUNDS);
	cr_assert_eq(pmuctl_group_disable(members[0]), 0);
	cr_assert_eq(pmuctl_group_read(members[0], before, 3), 3);
	cr_assert_eq(pmuctl_group_reset(members[0]), 0);
	cr_assert_eq(pmuctl_group_read(members[0], after, 3), 3);
	for (int i = 0; i < 3; i++) {
		cr_assert_gt(before[i].value, 0);
		cr_assert_eq(after[i].value, 0);
		cr_assert_eq(after[i].time_enabled, before[i].time_enabled);
	}
	close_members(members, 3);
}

Test(lib_group, any_member_stands_for_the_group)
{
	struct pmuctl_event *members[3];
	struct pmuctl_reading by_leader[3], by_last[3];

	open_members(PERF_FORMAT_GROUP, trio, 3, members);
	cr_assert_eq(pmuctl_group_enable(members[2]), 0);
	loop(ROUNDS);
	cr_assert_eq(pmuctl_group_disable(members[1]), 0);
	cr_assert_eq(pmuctl_group_read(members[0], by_leader, 3), 3);
	cr_assert_eq(pmuctl_group_read(members[2], by_last, 3), 3);
	cr_assert_geq(by_leader[0].value, 2 * ROUNDS);
	cr_assert_arr_eq(by_leader, by_last, sizeof(by_last));
	cr_assert_eq(pmuctl_group_reset(members[1]), 0);
	cr_assert_eq(pmuctl_group_read(members[0], by_leader, 3), 3);
	cr_assert_eq(by_leader[0].value, 0);
	close_members(members, 3);
}

Test(lib_group, leader_that_is_closed_leaves_single_events)
{
	struct pmuctl_event *members[3];
	struct pmuctl_reading one[2];

	open_members(PERF_FORMAT_GROUP, trio, 3, members);
	cr_assert_eq(pmuctl_group_enable(members[0]), 0);
	pmuctl_event_close(members[0]);
	loop(ROUNDS);
	cr_assert_eq(pmuctl_group_read(members[1], one, 2), 1);
	cr_assert_geq(one[0].value, ROUNDS);
	cr_assert_eq(pmuctl_group_read(members[2], one, 2), 1);
	cr_assert_geq(one[0].value, 2 * ROUNDS);
	close_members(members + 1, 2);
}

Test(lib_group, refusals_name_the_group)
{
	struct perf_event_attr attr = attr_of("r00c0:u", 0);
	struct pmuctl_event *members[3], *other = (void *)1;
	struct pmuctl_explanation why;

	open_members(0, trio, 3, members);
	cr_assert_eq(pmuctl_event_open_group(dev, &attr, 0, -1, 0, members[1],
					     &other), -EINVAL);
	cr_assert_null(other);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(why.code, PMUCTL_WHY_GROUP_NOT_LEADER);
	cr_assert_str_eq(why.field, "group_fd");
	cr_assert_eq(pmuctl_event_open_group(dev, &attr, -1, 0, 0, members[0],
					     &other), -EINVAL);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(why.code, PMUCTL_WHY_GROUP_OTHER_TARGET);
	close_members(members, 3);
}

/* ------------------------------------------------- all that a thread opened */

static void *open_one_and_wait(void *arg)
{
	struct perf_event_attr attr = attr_of("instructions:u", 0);
	struct pmuctl_event **event = arg;

	attr.disabled = 1;
	cr_assert_eq(pmuctl_event_open(dev, &attr, getpid(), -1, 0, event), 0);
	return NULL;
}

Test(lib_group, task_enable_is_for_all_that_the_thread_opened)
{
	struct pmuctl_device *second;
	struct pmuctl_event *members[3], *alone, *not_ours;
	struct perf_event_attr attr = attr_of("instructions:u", 0);
	struct pmuctl_reading reading;
	pthread_t thread;
	uint64_t stopped;

	attr.disabled = 1;
	open_members(0, trio, 3, members);
	cr_assert_eq(pmuctl_device_open(NULL, NULL, &second), 0);
	cr_assert_eq(pmuctl_event_open(second, &attr, 0, -1, 0, &alone), 0);
	cr_assert_eq(pthread_create(&thread, NULL, open_one_and_wait, &not_ours), 0);
	cr_assert_eq(pthread_join(thread, NULL), 0);

	cr_assert_eq(pmuctl_device_task_enable(dev), 0);
	loop(ROUNDS);
	cr_assert_eq(pmuctl_device_task_disable(second), 0);
	loop(ROUNDS);
	cr_assert_eq(pmuctl_event_read(members[0], &reading), 0);
	cr_assert_geq(reading.value, 2 * ROUNDS);
	cr_assert_lt(reading.value, 3 * ROUNDS);
	stopped = reading.value;
	cr_assert_eq(pmuctl_event_read(alone, &reading), 0);
	cr_assert_geq(reading.value, 2 * ROUNDS);
	cr_assert_lt(reading.value, 3 * ROUNDS);
	cr_assert_eq(pmuctl_event_read(not_ours, &reading), 0);
	cr_assert_eq(reading.value, 0);
	cr_assert_eq(pmuctl_event_read(members[0], &reading), 0);
	cr_assert_eq(reading.value, stopped);
	close_members(members, 3);
	pmuctl_event_close(alone);
	pmuctl_event_close(not_ours);
	pmuctl_device_close(second);
}

/* -------------------------------------------------------------------- all CPUs */

/* Runs the loop on @cpu */
static void loop_there(int cpu, uint64_t rounds)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	loop(rounds);
}

static struct pmuctl_event *open_all_cpus(const char *name, uint64_t read_format,
					  struct pmuctl_event *leader)
{
	struct perf_event_attr attr = attr_of(name, read_format);
	struct pmuctl_explanation why;
	struct pmuctl_event *event;
	int ret;

	attr.disabled = !leader;
	ret = pmuctl_event_open_all_cpus(dev, &attr, 0, leader, &event);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(ret, 0, "%s", why.sentence);
	return event;
}

Test(lib_group, one_descriptor_counts_all_cpus_and_each)
{
	struct pmuctl_event *event = open_all_cpus("instructions:u", TIMES, NULL);
	int nr = pmuctl_event_read_cpus(event, NULL, 0);
	struct pmuctl_cpu_count cpus[CPUS_MAX];
	struct pmuctl_reading sum = { .value = 0 }, all;

	cr_assert_geq(nr, sysconf(_SC_NPROCESSORS_ONLN));
	cr_assert_leq(nr, CPUS_MAX);
	cr_assert_eq(pmuctl_event_enable(event), 0);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		loop_there(cpu, 100000 * (uint64_t)(cpu + 1));
	cr_assert_eq(pmuctl_event_disable(event), 0);
	memset(cpus, 0xff, sizeof(cpus));
	cr_assert_eq(pmuctl_event_read_cpus(event, cpus, CPUS_MAX), nr);
	for (int i = 0; i < nr; i++) {
		cr_assert_eq(cpus[i].cpu, (uint32_t)i);
		if (cpus[i].online)
			cr_assert_geq(cpus[i].value, 200000 * (uint64_t)(i + 1));
		sum.value += cpus[i].value;
		sum.time_enabled += cpus[i].time_enabled;
		sum.time_running += cpus[i].time_running;
	}
	cr_assert_eq(cpus[nr].value, UINT64_MAX);
	cr_assert_eq(pmuctl_event_read(event, &all), 0);
	cr_assert_eq(all.value, sum.value);
	cr_assert_eq(all.time_enabled, sum.time_enabled);
	cr_assert_eq(all.time_running, sum.time_running);
	pmuctl_event_close(event);
}

Test(lib_group, room_for_too_few_cpus_is_told)
{
	struct pmuctl_event *event = open_all_cpus("instructions:u", 0, NULL);
	int nr = pmuctl_event_read_cpus(event, NULL, 0);
	struct pmuctl_cpu_count cpus[CPUS_MAX];
	struct pmuctl_explanation why;

	cr_assert_gt(nr, 1);
	cr_assert_eq(pmuctl_event_read_cpus(event, cpus, (size_t)nr - 1), -ENOSPC);
	cr_assert_eq(pmuctl_event_explain(event, &why), 0);
	cr_assert_eq(why.code, PMUCTL_WHY_NR_TOO_SMALL);
	cr_assert_eq(pmuctl_event_read_cpus(event, cpus, (size_t)nr), nr);
	pmuctl_event_close(event);
}

Test(lib_group, a_group_of_all_cpus_is_read_at_once)
{
	struct pmuctl_event *leader = open_all_cpus("instructions:u",
						    PERF_FORMAT_GROUP | TIMES, NULL);
	struct pmuctl_event *twin = open_all_cpus("r00c0:u", PERF_FORMAT_GROUP,
						  leader);
	struct pmuctl_cpu_count cpus[2][CPUS_MAX];
	struct pmuctl_reading all[2];
	int nr;

	cr_assert_eq(pmuctl_group_enable(leader), 0);
	loop_there(0, ROUNDS);
	loop_there(sysconf(_SC_NPROCESSORS_ONLN) - 1, ROUNDS);
	cr_assert_eq(pmuctl_group_disable(leader), 0);
	cr_assert_eq(pmuctl_group_read(leader, all, 2), 2);
	cr_assert_geq(all[0].value, 4 * ROUNDS);
	cr_assert_eq(all[1].value, all[0].value);
	nr = pmuctl_event_read_cpus(leader, cpus[0], CPUS_MAX);
	cr_assert_gt(nr, 0);
	cr_assert_eq(pmuctl_event_read_cpus(twin, cpus[1], CPUS_MAX), nr);
	for (int i = 0; i < nr; i++)
		cr_assert_eq(cpus[0][i].value, cpus[1][i].value, "CPU %d", i);
	pmuctl_event_close(leader);
	pmuctl_event_close(twin);
}

Test(lib_group, one_cpu_is_told_as_such_and_a_task_is_not)
{
	struct perf_event_attr attr = attr_of("instructions:u", 0);
	struct pmuctl_cpu_count cpu;
	struct pmuctl_explanation why;
	struct pmuctl_event *event;

	cr_assert_eq(pmuctl_event_open(dev, &attr, -1, 1, 0, &event), 0);
	cr_assert_eq(pmuctl_event_read_cpus(event, &cpu, 1), 1);
	cr_assert_eq(cpu.cpu, 1);
	cr_assert_eq(cpu.online, 1);
	pmuctl_event_close(event);
	cr_assert_eq(pmuctl_event_open(dev, &attr, 0, -1, 0, &event), 0);
	cr_assert_eq(pmuctl_event_read_cpus(event, &cpu, 1), -EINVAL);
	cr_assert_eq(pmuctl_event_explain(event, &why), 0);
	cr_assert_eq(why.code, PMUCTL_WHY_NOT_BY_CPU);
	pmuctl_event_close(event);
}
