// SPDX-License-Identifier: GPL-2.0-only
#include "groups.h"

struct perf_event_attr disabled(struct perf_event_attr attr)
{
	attr.disabled = 1;
	return attr;
}

struct perf_event_attr pinned(struct perf_event_attr attr)
{
	attr.pinned = 1;
	return attr;
}

struct perf_event_attr raw_u(uint64_t config)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_RAW, config);

	attr.exclude_kernel = 1;
	return attr;
}

int group_try(struct perf_event_attr attr, pid_t pid, int cpu,
	      int group_fd, unsigned int flags)
{
	return event_try_in_group(&attr, pid, cpu, group_fd, flags);
}

int group_open(struct perf_event_attr attr, int group_fd)
{
	int fd = group_try(attr, 0, -1, group_fd, 0);

	cr_assert_geq(fd, 0, "%s: %s", strerror(-fd), event_why.sentence);
	return fd;
}

void assert_refused(struct perf_event_attr attr, pid_t pid, int cpu,
		    int group_fd, int error, unsigned int code,
		    const char *field, const char *sentence)
{
	cr_assert_eq(group_try(attr, pid, cpu, group_fd, 0), -error,
		     "wanted: %s", sentence);
	cr_assert_eq(event_why.error, (unsigned int)error);
	cr_assert_eq(event_why.code, code);
	cr_assert_str_eq(event_why.field, field);
	cr_assert_str_eq(event_why.sentence, sentence);
}

void assert_why(int fd, unsigned int code, const char *field,
		const char *sentence)
{
	struct pmuctl_explanation why = { .size = sizeof(why) };

	cr_assert_eq(ioctl(fd, PMUCTL_IOC_EXPLAIN, &why), 0);
	cr_assert_eq(why.code, code);
	cr_assert_str_eq(why.field, field);
	cr_assert_str_eq(why.sentence, sentence);
}

uint64_t event_id(int fd)
{
	uint64_t id = 0;

	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0);
	return id;
}
