// SPDX-License-Identifier: GPL-2.0-only
#include "kapi.h"

int kmod_load(const char *name, const char *parameters)
{
	struct utsname kernel;
	char path[256];
	int fd, err;

	cr_assert_eq(uname(&kernel), 0);
	snprintf(path, sizeof(path), "/pmuctl/tests/kmod/%s/%s.ko", kernel.release, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert(fd >= 0, "%s: %m", path);
	err = syscall(__NR_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return err;
}

int kmod_unload(const char *name)
{
	return syscall(__NR_delete_module, name, O_NONBLOCK) ? -errno : 0;
}

void kapi_load(void)
{
	int err = kmod_load("kapi_user", "");

	cr_assert(!err || err == -EEXIST, "kapi_user: %s", strerror(-err));
}

void kapi_unload(void)
{
	cr_assert_eq(kmod_unload("kapi_user"), 0, "%m");
}

int kapi_device(void)
{
	int fd = open(KAPI_DEVICE, O_RDWR | O_CLOEXEC);

	cr_assert(fd >= 0, "%s: %m", KAPI_DEVICE);
	return fd;
}

struct perf_event_attr kapi_attr(uint64_t config)
{
	struct perf_event_attr attr = user_attr(config);

	attr.read_format = 0;
	attr.disabled = 1;
	return attr;
}

struct kapi_create kapi_request(const struct perf_event_attr *attr, int pid,
				int cpu, unsigned int handler)
{
	struct kapi_create c = { .pid = pid, .cpu = cpu, .handler = handler };

	memcpy(c.attr, attr, sizeof(*attr) < sizeof(c.attr) ? sizeof(*attr) : sizeof(c.attr));
	return c;
}

int kapi_try(struct kapi_create *c)
{
	int fd = kapi_device();

	if (!ioctl(fd, KAPI_CREATE, c))
		return fd;
	close(fd);
	return -errno;
}

int kapi_create_with(const struct perf_event_attr *attr, int pid, int cpu,
		     unsigned int handler, unsigned int arg)
{
	struct kapi_create c = kapi_request(attr, pid, cpu, handler);
	int fd;

	c.arg = arg;
	fd = kapi_try(&c);
	cr_assert(fd >= 0, "%s: %s: %s", strerror(-fd), c.field, c.sentence);
	return fd;
}

int kapi_create(const struct perf_event_attr *attr, int pid, int cpu,
		unsigned int handler)
{
	return kapi_create_with(attr, pid, cpu, handler, 0);
}

void kapi_calls(int fd, struct kapi_calls *calls)
{
	cr_assert_eq(ioctl(fd, KAPI_CALLS, calls), 0, "%m");
}
