// SPDX-License-Identifier: GPL-2.0-only
#include "raw.h"

#include <sys/utsname.h>

bool is_debug_kernel(void)
{
	return !access("/sys/kernel/debug/kmemleak", F_OK);
}

bool is_slow_kernel(void)
{
	return is_debug_kernel() || !access("/sys/kernel/debug/kcsan", F_OK);
}

int raw_device(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror(PMUCTL_DEVICE);
		exit(125);
	}
	return fd;
}

union raw_attr raw_instructions(void)
{
	return raw_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
}

struct pmuctl_open raw_request(const void *attr, int pid, int cpu,
			       uint32_t flags,
			       struct pmuctl_explanation *why)
{
	struct pmuctl_open request = {
		.size = sizeof(request), .flags = flags,
		.attr = (uintptr_t)attr, .pid = pid, .cpu = cpu, .group_fd = -1,
		.explanation_size = why ? sizeof(*why) : 0,
		.explanation = (uintptr_t)why,
	};

	return request;
}

int raw_open(const union raw_attr *attr, int pid, int cpu,
	     uint32_t flags, struct pmuctl_explanation *why)
{
	struct pmuctl_open request = raw_request(attr, pid, cpu, flags, why);
	int fd = ioctl(raw_device(), PMUCTL_IOC_OPEN, &request);

	return fd < 0 ? -errno : fd;
}

int raw_explain(int fd, struct pmuctl_explanation *why)
{
	memset(why, 0, sizeof(*why));
	why->size = sizeof(*why);
	return ioctl(fd, PMUCTL_IOC_EXPLAIN, why) ? -errno : 0;
}

struct pmuctl_info raw_info(void)
{
	struct pmuctl_info info = { .size = sizeof(info) };

	if (ioctl(raw_device(), PMUCTL_IOC_INFO, &info)) {
		perror("PMUCTL_IOC_INFO");
		exit(125);
	}
	return info;
}

uint64_t raw_read(int fd)
{
	uint64_t value;

	if (read(fd, &value, sizeof(value)) != sizeof(value)) {
		perror("read of an event");
		exit(125);
	}
	return value;
}

int raw_write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

int raw_write_number(const char *path, long number)
{
	char text[24];

	snprintf(text, sizeof(text), "%ld", number);
	return raw_write_file(path, text);
}

long raw_read_number(const char *path)
{
	char text[64] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	char *last;

	if (n <= 0) {
		perror(path);
		exit(125);
	}
	close(fd);
	last = strrchr(text, '-');
	return strtol(last && last != text ? last + 1 : text, NULL, 10);
}

bool raw_kernel_before(int major, int minor)
{
	struct utsname kernel;
	int is_major, is_minor;

	if (uname(&kernel) || sscanf(kernel.release, "%d.%d", &is_major, &is_minor) != 2) {
		perror("uname");
		exit(125);
	}
	return is_major < major || (is_major == major && is_minor < minor);
}

int raw_give_back(void)
{
	char claim[32];
	int fd = open(RAW_CLAIM, O_RDWR | O_CLOEXEC), err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, claim, sizeof(claim));
	if (n <= 0 || pwrite(fd, claim, n, 0) != n)
		err = -errno;
	close(fd);
	return err;
}

struct pmuctl_info raw_settled_info(void)
{
	struct pmuctl_info info = raw_info();

	while (!info.hw_events && info.pmu_owner == PMUCTL_OWNER_PMUCTL) {
		if (raw_give_back())
			usleep(10000); /* it is not ours to ask for */
		info = raw_info();
	}
	return info;
}

struct raw_cpuid raw_cpuid(uint32_t leaf)
{
	return raw_cpuid_part(leaf, 0);
}

bool raw_cpu_is_intel(void)
{
	return raw_cpuid(0).ebx == 0x756e6547; /* "Genu" */
}

unsigned int raw_cpu_family(void)
{
	unsigned int eax = raw_cpuid(1).eax, family = eax >> 8 & 0xf;

	return family == 0xf ? family + (eax >> 20 & 0xff) : family;
}

unsigned int raw_cpu_model(void)
{
	unsigned int eax = raw_cpuid(1).eax;

	return (eax >> 4 & 0xf) | (eax >> 12 & 0xf0);
}

int raw_become(uid_t uid)
{
	if (setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
		return -errno;
	return 0;
}

int raw_count_fds(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

pid_t raw_task(void (*code)(void))
{
	pid_t parent = getpid(), pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1); /* that has ended before it could be asked for */
	for (;;)
		code();
}

void raw_wait(void)
{
	pause();
}

pid_t raw_sleeper(void)
{
	return raw_task(raw_wait);
}

void raw_reap(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void *raw_at_edge(size_t size, int fill)
{
	size_t page = 4096, room = (size + page - 1) / page * page + page;
	uint8_t *map = mmap(NULL, room + page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED || mprotect(map + room, page, PROT_NONE)) {
		perror("mmap");
		exit(125);
	}
	memset(map + room - size, fill, size);
	return map + room - size;
}
