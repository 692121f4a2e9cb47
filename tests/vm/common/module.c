// SPDX-License-Identifier: GPL-2.0-only
#include "module.h"

int module_load_with(const char *parameters)
{
	int fd = open(MODULE_FILE, O_RDONLY | O_CLOEXEC), err;

	cr_assert(fd >= 0, "%s: %m", MODULE_FILE);
	err = syscall(__NR_finit_module, fd, parameters, 0) ? -errno : 0;
	close(fd);
	return err;
}

int module_load(void)
{
	return module_load_with(MODULE_PARAMETERS);
}

int module_unload(void)
{
	return syscall(__NR_delete_module, "pmuctl", O_NONBLOCK) ? -errno : 0;
}

void module_reload(void)
{
	int err = module_unload();

	cr_assert(!err || err == -ENOENT, "unload: %s", strerror(-err));
	err = module_load();
	cr_assert_eq(err, 0, "load: %s", strerror(-err));
}

void module_ensure(void)
{
	int err = module_load();

	cr_assert(!err || err == -EEXIST, "load: %s", strerror(-err));
}

struct pmuctl_info module_info(void)
{
	struct pmuctl_info info = { .size = sizeof(info) };
	int device = open(PMUCTL_DEVICE, O_RDWR | O_CLOEXEC);

	cr_assert_eq(ioctl(device, PMUCTL_IOC_INFO, &info), 0, "%m");
	close(device);
	return info;
}

struct pmuctl_info module_settled_info(void)
{
	struct pmuctl_info info = module_info();

	if (!info.hw_events && info.pmu_owner == PMUCTL_OWNER_PMUCTL) {
		cr_assert_eq(raw_give_back(), 0);
		info = module_info();
	}
	return info;
}

long meminfo(const char *key)
{
	FILE *f = fopen("/proc/meminfo", "re");
	size_t length = strlen(key);
	long kb = -1;
	char line[128];

	cr_assert_not_null(f);
	while (kb < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, length) && line[length] == ':')
			kb = atol(line + length + 1);
	fclose(f);
	cr_assert(kb >= 0, "%s", key);
	return kb;
}

long free_memory(void)
{
	FILE *f = fopen("/proc/zoneinfo", "re");
	long pages = 0, n;
	char line[128];

	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, " pages free %ld", &n) == 1 || sscanf(line, " count: %ld", &n) == 1)
			pages += n;
	fclose(f);
	cr_assert_gt(pages, 0);
	return pages * (sysconf(_SC_PAGESIZE) / 1024);
}
