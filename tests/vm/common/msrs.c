// SPDX-License-Identifier: GPL-2.0-only
#include "msrs.h"

static void msrs_add(struct msrs *m, uint32_t first, unsigned int n, uint32_t stride)
{
	cr_assert_leq(m->n + n, MSRS_MAX);
	while (n--) {
		m->addr[m->n++] = first;
		first += stride;
	}
}

/* Leaf 23H, sub-leaf 1, has bitmaps of the counters where leaf 0AH has what all CPUs have. */
static void msrs_counters(unsigned int *general, unsigned int *fixed)
{
	struct raw_cpuid leaf = raw_cpuid(0xa), own = { .eax = 0 };

	if (raw_cpuid(0).eax >= 0x23 && (raw_cpuid(7).edx >> 15 & 1))
		own = raw_cpuid_part(0x23, 1);
	*general = own.eax ? __builtin_popcount(own.eax) : leaf.eax >> 8 & 0xff;
	*fixed = own.eax ? __builtin_popcount(own.ebx) : leaf.edx & 0x1f;
}

static void msrs_find_intel(struct msrs *m)
{
	struct raw_cpuid leaf = raw_cpuid(0xa);
	unsigned int n, fixed;

	msrs_counters(&n, &fixed);
	m->n_evtsel = n;
	msrs_add(m, 0x186, n, 1);	/* IA32_PERFEVTSEL0.. */
	msrs_add(m, 0x0c1, n, 1);	/* IA32_PMC0.. */
	if ((leaf.eax & 0xff) < 2)
		return;
	msrs_add(m, 0x309, fixed, 1);	/* IA32_FIXED_CTR0.. */
	msrs_add(m, 0x38d, 1, 1);	/* IA32_FIXED_CTR_CTRL */
	msrs_add(m, 0x38e, 2, 1);	/* IA32_PERF_GLOBAL_STATUS, _CTRL */
}

static void msrs_find_amd(struct msrs *m)
{
	bool core = raw_cpuid(0x80000001).ecx >> 23 & 1;

	m->n_evtsel = core ? 6 : 4;
	msrs_add(m, core ? 0xc0010200 : 0xc0010000, m->n_evtsel, core ? 2 : 1);
	msrs_add(m, core ? 0xc0010201 : 0xc0010004, m->n_evtsel, core ? 2 : 1);
	if (raw_cpuid(0x80000000).eax >= 0x80000022 && (raw_cpuid(0x80000022).eax & 1))
		msrs_add(m, 0xc0000300, 2, 1);	/* PerfCntrGlobalStatus, Ctl */
}

void msrs_load_driver(void)
{
	/* The guest has it somewhere below its modules. */
	if (access("/dev/cpu/0/msr", F_OK))
		cr_assert_eq(system("insmod \"$(find /lib/ /usr/lib/ -name 'msr.ko' | head -n 1)\" allow_writes=on"),
			     0, "the guest lacks the msr module");
}

struct msrs msrs_find(void)
{
	struct msrs m = { .n = 0 };

	msrs_load_driver();
	if (raw_cpu_is_intel())
		msrs_find_intel(&m);
	else
		msrs_find_amd(&m);
	return m;
}

void msrs_read(const struct msrs *m, unsigned int cpu, uint64_t *value)
{
	char path[32];
	unsigned int i;
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(fd >= 0, "%s: %m", path);
	memset(value, 0, MSRS_MAX * sizeof(*value));
	for (i = 0; i < m->n; i++)
		cr_assert_eq(pread(fd, &value[i], 8, m->addr[i]), 8, "MSR %#x: %m",
			     m->addr[i]);
	close(fd);
}

void msr_write(unsigned int cpu, uint32_t msr, uint64_t value)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	cr_assert(fd >= 0, "%s: %m", path);
	cr_assert_eq(pwrite(fd, &value, 8, msr), 8, "MSR %#x: %m", msr);
	close(fd);
}

uint64_t msr_read(unsigned int cpu, uint32_t msr)
{
	uint64_t value;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(fd >= 0, "%s: %m", path);
	cr_assert_eq(pread(fd, &value, 8, msr), 8, "MSR %#x: %m", msr);
	close(fd);
	return value;
}
