// SPDX-License-Identifier: GPL-2.0-only
#include "hybrid.h"

bool is_hybrid(void)
{
	return raw_cpu_is_intel() && raw_cpuid(0).eax >= 0x1a && (raw_cpuid(7).edx >> 15 & 1);
}

unsigned int core_type(int cpu)
{
	pin_here(cpu);
	return raw_cpuid(0x1a).eax >> 24;
}

int cpu_of_type(unsigned int type)
{
	int cpu;

	for (cpu = 0; cpu < 2; cpu++)
		if (core_type(cpu) == type)
			return cpu;
	cr_assert_fail("no CPU of type %#x: this guest needs --cpu hybrid", type);
	return -1;
}

void pin_where_perf_counts(void)
{
	if (is_hybrid())
		pin_here(cpu_of_type(CORE_PERFORMANCE));
}

void check_perf_counts(uint64_t n)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	pin_where_perf_counts();
	attr.disabled = 1;
	fd = perf_try(&attr, 0, -1);
	cr_assert(fd >= 0, "perf: %s", strerror(-fd));
	bracket(fd, n);
	cr_expect_eq(event_value(fd), bracket_instructions(n));
	close(fd);
}

/* The number of perf's PMU for this type; 0 if there is none */
static uint64_t perf_type(unsigned int type)
{
	char path[80], text[16];
	int fd, n;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type",
		 type == CORE_EFFICIENCY ? "cpu_atom" : "cpu_core");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	cr_assert_gt(n, 0);
	text[n] = '\0';
	return strtoull(text, NULL, 10);
}

bool perf_knows_cpu(void)
{
	static const char generic[] = "generic_arch_";
	char name[sizeof(generic)] = "";
	ssize_t n;
	int fd;

	if (!raw_kernel_before(5, 13))
		return true;
	fd = open("/sys/bus/event_source/devices/cpu/caps/pmu_name", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true; /* AMD's has no name there */
	n = read(fd, name, sizeof(name) - 1);
	close(fd);
	cr_assert_gt(n, 0);
	return strcmp(name, generic);
}

bool perf_has_types(void)
{
	return is_hybrid() && !raw_kernel_before(5, 13);
}

struct perf_event_attr perf_attr(struct perf_event_attr attr, unsigned int type)
{
	uint64_t number;

	if (!perf_has_types())
		return attr;
	number = perf_type(type);
	cr_assert(number, "perf has no PMU for cores of type %#x", type);
	if (attr.type == PERF_TYPE_RAW)
		attr.type = number;
	else
		attr.config |= number << 32;
	return attr;
}
