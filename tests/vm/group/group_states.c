// SPDX-License-Identifier: GPL-2.0-only
/*
 * What debugfs says of events, tasks and CPUs in each of their states.
 */
#include "groups.h"
#include "module.h"

#define DIR	"/sys/kernel/debug/pmuctl/"

/* Has the file a line with all of this in it? */
static bool says(const char *file, const char *format, ...)
{
	char path[64], text[128], line[1024];
	bool found = false;
	va_list args;
	FILE *f;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	snprintf(path, sizeof(path), DIR "%s", file);
	f = fopen(path, "re");
	cr_assert_not_null(f, "%s: %m", path);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, text) != NULL;
	fclose(f);
	return found;
}

TestSuite(group_states, .init = module_ensure);

Test(group_states, of_an_event)
{
	struct perf_event_attr attr = disabled(branches_u());
	int fd = event_open(attr);
	uint64_t id = event_id(fd);

	cr_expect(says("contexts", " %lu(off)\n", id));
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	cr_expect(says("contexts", " %lu@", id));
	cr_expect_not(says("contexts", " %lu(off)", id));
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect(says("contexts", " %lu(off)\n", id));
	close(fd);
	cr_expect_not(says("contexts", " %lu(off)", id));
}

Test(group_states, of_an_event_without_a_counter)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE,
						 PERF_COUNT_SW_CONTEXT_SWITCHES);
	int fd = event_open(disabled(attr));
	uint64_t id = event_id(fd);

	cr_expect(says("contexts", " %lu\n", id));
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	cr_expect(says("contexts", " %lu@software\n", id));
}

Test(group_states, of_a_task)
{
	pid_t pid = raw_sleeper();
	char name[16];
	int other;

	event_open(branches_u());
	other = event_try(branches_u(), pid);
	cr_assert_geq(other, 0);
	cr_assert_eq(prctl(PR_GET_NAME, name), 0);
	cr_expect(says("contexts", "task %d (%s): on cpu ", getpid(), name));
	/* It may not have come to its pause yet. */
	while (!says("contexts", "task %d (%s): off\n", pid, name))
		usleep(1000);
	close(other);
	raw_reap(pid);
	cr_expect_not(says("contexts", "task %d (", pid));
}

Test(group_states, of_a_cpu)
{
	cr_expect_not(says("cpus", "cpu 1: offline\n"));
	set_online(1, false);
	cr_expect(says("cpus", "cpu 1: offline\n"));
	cr_expect_not(says("cpus", "cpu 0: offline\n"));
	set_online(1, true);
	cr_expect_not(says("cpus", "cpu 1: offline\n"));
}
