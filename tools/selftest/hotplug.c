// SPDX-License-Identifier: GPL-2.0-only
/*
 * A CPU goes offline and comes back while an event of pmuctl counts on it. Only if that was asked
 * for: what runs there is moved, for good if it was bound to that CPU.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>

#include "selftest.h"

#define ROUNDS		100000

static void online_file(int cpu, char *path, size_t size)
{
	snprintf(path, size, "/sys/devices/system/cpu/cpu%d/online", cpu);
}

static bool set_online(int cpu, bool online)
{
	char path[64];

	online_file(cpu, path, sizeof(path));
	return file_write(path, online ? "1" : "0");
}

/* Instructions of user space on that CPU, whoever's they are */
static int open_on(struct selftest *test, struct pmuctl_event **event)
{
	struct perf_event_attr attr = event_attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);

	return pmuctl_event_open(test->dev, &attr, -1, test->hotplug, 0, event);
}

static int value_of(struct pmuctl_event *event, uint64_t *value)
{
	struct pmuctl_reading reading;
	int ret = pmuctl_event_read(event, &reading);

	*value = reading.value;
	return ret;
}

/* While it is offline the count stays. */
static void check_offline(struct result *result, struct selftest *test, struct pmuctl_event *event)
{
	const struct timespec wait = { 0, 20000000 };
	uint64_t first = 0, second = 0;

	if (value_of(event, &first) < 0)
		result_fault(result, "the event cannot be read while CPU %d is offline", test->hotplug);
	nanosleep(&wait, NULL);
	if (value_of(event, &second) == 0 && second != first)
		result_fault(result, "the count of CPU %d went on while it was offline: %" PRIu64 ", then %" PRIu64,
			     test->hotplug, first, second);
	result_figure(result, json_pack("{s:s, s:I, s:I}", "while", "offline", "first", (json_int_t)first,
					"later", (json_int_t)second));
}

/* An event that is opened there now; returns 0 or a negative errno. */
static int count_loop(struct selftest *test, struct count *count, struct refusal *why)
{
	struct perf_event_attr attr = event_attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct opened opened;
	int ret;

	attr.disabled = 1;
	ret = event_open(test, BY_PMUCTL, &attr, NULL, &opened, why);
	if (ret < 0)
		return ret;
	snprintf(why->text, sizeof(why->text), "cannot be counted");
	ret = loop_run(opened.fd, ROUNDS);
	if (!ret)
		ret = event_count(&opened, count);
	event_close(&opened);
	return ret;
}

/* It counts there again, and so does an event that is opened now, exactly. */
static void check_back(struct result *result, struct selftest *test, struct pmuctl_event *event)
{
	uint64_t before = 0, after = 0, interrupts = interrupts_of_cpu(test->hotplug, NULL);
	struct known known = loop_known(ROUNDS);
	struct count count = { 0, 0, 0 };
	struct refusal why;

	value_of(event, &before);
	if (count_loop(test, &count, &why) < 0) {
		result_fault(result, "instructions on CPU %d: %s", test->hotplug, why.text);
		return;
	}
	value_of(event, &after);
	interrupts = interrupts_of_cpu(test->hotplug, NULL) - interrupts;
	if (count.value < known.instructions ||
	    count.value > known.instructions + PER_INTERRUPT * interrupts)
		result_fault(result, "instructions on CPU %d: %" PRIu64 " instead of %" PRIu64,
			     test->hotplug, count.value, known.instructions);
	if (after - before < known.instructions)
		result_fault(result, "the event of CPU %d counted %" PRIu64 " of %" PRIu64 " instructions after it had come back",
			     test->hotplug, after - before, known.instructions);
	result_figure(result, json_pack("{s:s, s:I, s:I}", "while", "back",
					"new_event", (json_int_t)count.value,
					"old_event", (json_int_t)(after - before)));
}

/* Returns whether it is back. */
static bool go_and_come_back(struct result *result, struct selftest *test,
			     struct pmuctl_event *event)
{
	if (!set_online(test->hotplug, false)) {
		result_fault(result, "CPU %d does not go offline", test->hotplug);
		return false;
	}
	check_offline(result, test, event);
	if (set_online(test->hotplug, true))
		return true;
	result_fault(result, "CPU %d does not come back: write 1 to /sys/devices/system/cpu/cpu%d/online",
		     test->hotplug, test->hotplug);
	return false;
}

/* Offline, and back; the thread goes there for a moment. Nobody ends or stops us between. */
static void cycle(struct result *result, struct selftest *test, struct pmuctl_event *event)
{
	int cpu = test->cpu;
	sigset_t all, before;
	bool is_back;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	is_back = go_and_come_back(result, test, event);
	sigprocmask(SIG_SETMASK, &before, NULL);
	if (!is_back)
		return;
	if (go_to_cpu(test, test->hotplug))
		check_back(result, test, event);
	else
		result_fault(result, "CPU %d has come back, and cannot be used", test->hotplug);
	go_to_cpu(test, cpu);
}

/**
 * check_hotplug() - does an event outlive that its CPU goes offline?
 * @result: the check.
 * @test: with the CPU, if there is to be one.
 */
void check_hotplug(struct result *result, struct selftest *test)
{
	struct pmuctl_event *event;
	char path[64], online[4];

	if (test->hotplug < 0) {
		result_skip(result, "only with --hotplug CPU");
		return;
	}
	if (test->broken[0]) {
		result_skip(result, "%s", test->broken);
		return;
	}
	online_file(test->hotplug, path, sizeof(path));
	if (!file_word(path, online, sizeof(online)) || online[0] != '1' || test->hotplug == test->cpu) {
		result_fault(result, "CPU %d cannot go offline: it is not online, or the kernel or this test needs it",
			     test->hotplug);
		return;
	}
	result_find(result, "CPU %d offline and back, while an event counts on it", test->hotplug);
	if (open_on(test, &event) < 0) {
		result_fault(result, "instructions of CPU %d are refused", test->hotplug);
		return;
	}
	cycle(result, test, event);
	pmuctl_event_close(event);
}
