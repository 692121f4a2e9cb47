// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one kernel leaves to the next, for tests/run-kexec.
 *
 *	next-kernel trace TYPE KERNEL INITRD ARGUMENTS
 *		count, and trace with the driver of that name on all CPUs, and when the
 *		registers say so, start KERNEL. Does not return but with 1.
 *	next-kernel crash TYPE KERNEL INITRD ARGUMENTS
 *		the same, but this kernel crashes on CPU 0, and KERNEL is what it has for that
 *	next-kernel check
 *		1 if something counts or traces in this kernel, which has not been asked to
 */
#include "raw.h"

#include <sched.h>
#include <stdarg.h>

#include <linux/kexec.h>
#include <linux/reboot.h>

/* SDM Vol. 4 */
#define RTIT_CTL	0x570
#define DEBUGCTL	0x1d9
#define GLOBAL_CTRL	0x38f
#define EVTSEL0		0x186

#define TRACE_EN	1ULL
#define DEBUGCTL_TR_BTS	(3ULL << 6)
#define EVTSEL_EN	(1ULL << 22)

#define PAGE		4096UL
#define CPUS		2

__attribute__((format(printf, 1, 2), noreturn))
static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(": %m\n");
	fflush(stdout);
	_exit(1);
}

static uint64_t msr(int cpu, uint32_t number)
{
	uint64_t value;
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || pread(fd, &value, sizeof(value), number) != sizeof(value))
		fail("%s, register %#x", path, number);
	close(fd);
	return value;
}

/* Is anything on there? */
struct activity {
	bool pt, bts, counter;
};

static bool counts(int cpu)
{
	unsigned int n = raw_cpuid(0xa).eax >> 8 & 0xff;
	uint64_t on = msr(cpu, GLOBAL_CTRL);

	for (unsigned int i = 0; i < n; i++)
		if ((msr(cpu, EVTSEL0 + i) & EVTSEL_EN) && (on >> i & 1))
			return true;
	return false;
}

static struct activity activity_of(int cpu)
{
	return (struct activity){
		.pt = msr(cpu, RTIT_CTL) & TRACE_EN,
		.bts = msr(cpu, DEBUGCTL) & DEBUGCTL_TR_BTS,
		.counter = counts(cpu),
	};
}

static int check(void)
{
	bool any = false;

	for (int cpu = 0; cpu < CPUS; cpu++) {
		struct activity a = activity_of(cpu);

		printf("CPU %d: intel_pt %d, intel_bts %d, counter %d\n", cpu, a.pt, a.bts,
		       a.counter);
		any |= a.pt || a.bts || a.counter;
	}
	return any;
}

static int open_on(union raw_attr attr, int cpu)
{
	struct pmuctl_explanation why;
	int fd;

	attr.attr.exclude_kernel = 0;
	attr.attr.disabled = 0;
	fd = raw_open(&attr, -1, cpu, 0, &why);
	if (fd < 0)
		fail("%s", why.sentence);
	return fd;
}

static uint32_t type_of(const char *name)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/class/misc/pmuctl/%s/type", name);
	return raw_read_number(path);
}

/* Into a buffer that is written again and again */
static void trace_on(const char *name, int cpu)
{
	size_t ring = 9 * PAGE, size = 16 * PAGE;
	struct perf_event_mmap_page *page;
	int fd;

	fd = open_on(raw_attr(type_of(name), strcmp(name, "intel_pt") ? 0 : 0x2401), cpu);
	page = mmap(NULL, ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		fail("ring");
	page->aux_offset = ring;
	page->aux_size = size;
	if (mmap(NULL, size, PROT_READ, MAP_SHARED, fd, ring) == MAP_FAILED)
		fail("trace");
}

static bool all_on(bool pt)
{
	for (int cpu = 0; cpu < CPUS; cpu++) {
		struct activity a = activity_of(cpu);

		if (!a.counter || !(pt ? a.pt : a.bts))
			return false;
	}
	return true;
}

/* Not on the other one: its INIT, when the next kernel wants it, would be that of the machine. */
static void crash(void)
{
	int fd = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (!sched_setaffinity(0, sizeof(first), &first) && write(fd, "c", 1) == 1)
		errno = 0;
	fail("crash");
}

static void start(bool by_crash, const char *kernel, const char *initrd, const char *arguments)
{
	unsigned long flags = by_crash ? KEXEC_FILE_ON_CRASH : 0;
	int kernel_fd = open(kernel, O_RDONLY | O_CLOEXEC);
	int initrd_fd = open(initrd, O_RDONLY | O_CLOEXEC);

	if (kernel_fd < 0 || initrd_fd < 0)
		fail("%s, %s", kernel, initrd);
	if (syscall(SYS_kexec_file_load, kernel_fd, initrd_fd, strlen(arguments) + 1, arguments,
		    flags))
		fail("kexec_file_load");
	if (by_crash)
		crash();
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	fail("kexec");
}

int main(int argc, char **argv)
{
	bool by_crash = argc == 6 && !strcmp(argv[1], "crash");

	if (system("insmod \"$(find /lib/ /usr/lib/ -name 'msr.ko' | head -n 1)\""))
		fail("the msr module");
	if (argc == 2 && !strcmp(argv[1], "check"))
		return check();
	if (argc != 6 || (!by_crash && strcmp(argv[1], "trace")))
		return 2;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		open_on(raw_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS), cpu);
		trace_on(argv[2], cpu);
	}
	if (!all_on(!strcmp(argv[2], "intel_pt"))) {
		check();
		return 3;
	}
	start(by_crash, argv[3], argv[4], argv[5]);
}
