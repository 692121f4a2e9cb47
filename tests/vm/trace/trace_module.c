// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints of a module (kmod/traced.c): found while it is loaded, told with their arguments,
 * and gone with it, whoever listens.
 */
#include "tracepoint.h"

#include <sys/utsname.h>

#define NAME	"pmuctl_traced"
#define HIT	"/sys/module/traced/parameters/hit"

static void load(void)
{
	struct utsname name;
	char path[200];
	int fd;

	cr_assert_eq(uname(&name), 0);
	snprintf(path, sizeof(path), "/pmuctl/tests/kmod/%s/traced.ko", name.release);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0, "%s: %m", path);
	cr_assert_eq(syscall(__NR_finit_module, fd, "", 0), 0, "%m");
	close(fd);
}

static void unload(void)
{
	cr_assert_eq(syscall(__NR_delete_module, "traced", O_NONBLOCK), 0, "%m");
}

static void hit(long n)
{
	cr_assert_eq(raw_write_number(HIT, n), 0);
}

/* What a test that failed has left */
static void forget(void)
{
	syscall(__NR_delete_module, "traced", O_NONBLOCK);
	sampling_fini();
}

TestSuite(trace_module, .init = sampling_init, .fini = forget);

Test(trace_module, its_tracepoint_is_there_while_it_is_loaded)
{
	struct perf_event_attr attr = tracepoint_attr();
	int fd;

	attr.disabled = 0;
	cr_expect_eq(event_try(attr, .tracepoint = NAME), -ENOENT);
	load();
	fd = event_open(attr, .tracepoint = NAME);
	hit(17);
	cr_expect_eq(sampling_value(fd), 17);
	cr_assert_eq(tracepoint_filter(fd, "arg0 > 10 && arg1 <= 30"), 0);
	hit(17);
	cr_expect_eq(sampling_value(fd), 17 + 5);
	close(fd);
	unload();
	cr_expect_eq(event_try(attr, .tracepoint = NAME), -ENOENT);
}

Test(trace_module, it_goes_while_somebody_listens)
{
	struct perf_event_attr attr = tracepoint_attr();
	int first, second, all;

	attr.disabled = 0;
	load();
	first = event_open(attr, .tracepoint = NAME);
	all = event_open(attr, -1, .tracepoint = NAME);
	hit(5);
	unload();
	cr_expect_eq(sampling_value(first), 5);
	load();
	hit(7);
	cr_expect_eq(sampling_value(first), 5, "it does not come back");
	second = event_open(attr, .tracepoint = NAME);
	hit(9);
	cr_expect_eq(sampling_value(first), 5);
	cr_expect_eq(sampling_value(all), 5);
	cr_expect_eq(sampling_value(second), 9);
	close(first);
	close(all);
	unload();
	cr_expect_eq(sampling_value(second), 9);
	close(second);
}

Test(trace_module, samples_tell_its_arguments)
{
	struct perf_event_attr attr = tracepoint_attr();
	struct perf_event_header *header;
	uint64_t n = 0;
	struct ring r;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	attr.disabled = 0;
	load();
	fd = event_open(attr, .tracepoint = NAME);
	ring_map(&r, fd, 16);
	hit(20);
	while ((header = ring_next(&r))) {
		uint64_t args[2];

		memcpy(args, (const uint8_t *)(header + 1) + 4, sizeof(args));
		n++;
		cr_expect_eq(args[0], n);
		cr_expect_eq(args[1], 2 * n);
	}
	cr_expect_eq(n, 20);
	close(fd);
	unload();
}

/* Two CPUs: one opens and closes, the module comes and goes on the other. */
Test(trace_module, it_comes_and_goes_while_somebody_opens)
{
	struct perf_event_attr attr = tracepoint_attr();
	unsigned int found = 0;
	pid_t child;

	attr.disabled = 0;
	raw_device();
	child = fork_child();
	if (!child) {
		for (;;) {
			load();
			hit(3);
			while (syscall(__NR_delete_module, "traced", O_NONBLOCK))
				;
		}
	}
	while (found < 10) {
		int fd = event_try(attr, -1, .tracepoint = NAME);

		found += fd >= 0;
		if (fd >= 0)
			close(fd);
		else
			cr_assert_eq(fd, -ENOENT, "%s", event_why.sentence);
	}
	raw_reap(child);
}
