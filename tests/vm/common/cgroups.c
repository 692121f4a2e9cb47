// SPDX-License-Identifier: GPL-2.0-only
#include "cgroups.h"

#include <sys/mount.h>
#include <sys/stat.h>

static const char *path_of(char *text, size_t size, const char *path, const char *file)
{
	snprintf(text, size, "%s/%s/%s", CGROUP_ROOT, path, file);
	return text;
}

void cgroups_begin(void)
{
	mkdir(CGROUP_ROOT, 0755);
	cr_assert_eq(mount("none", CGROUP_ROOT, "cgroup2", 0, NULL), 0, "%m");
	cr_assert_eq(raw_write_file(CGROUP_ROOT "/cgroup.subtree_control", "+cpu"), 0);
}

/* Those below first; a task that was killed, as what a failed test left is, may still be there
 * for a moment.
 */
static void remove_below(const char *path)
{
	char text[256], kill[300];
	FILE *list;

	snprintf(text, sizeof(text), "find %s -mindepth 1 -depth -type d", path);
	list = popen(text, "r");
	while (list && fgets(text, sizeof(text), list)) {
		text[strcspn(text, "\n")] = '\0';
		snprintf(kill, sizeof(kill), "%s/cgroup.kill", text);
		raw_write_file(kill, "1");
		while (rmdir(text) && errno == EBUSY)
			usleep(10000);
	}
	if (list)
		pclose(list);
}

void cgroups_end(void)
{
	raw_write_file(CGROUP_ROOT "/cgroup.procs", "0");
	remove_below(CGROUP_ROOT);
	raw_write_file(CGROUP_ROOT "/cgroup.subtree_control", "-cpu");
	umount2(CGROUP_ROOT, MNT_DETACH);
	rmdir(CGROUP_ROOT);
}

void cgroup_add(const char *path)
{
	char text[256];

	cr_assert_eq(mkdir(path_of(text, sizeof(text), path, ""), 0755), 0, "%s: %m", path);
}

void cgroup_del(const char *path)
{
	char text[256];

	cr_assert_eq(rmdir(path_of(text, sizeof(text), path, "")), 0, "%s: %m", path);
}

int cgroup_fd(const char *path)
{
	char text[256];
	int fd = open(path_of(text, sizeof(text), path, ""), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	cr_assert(fd >= 0, "%s: %m", path);
	return fd;
}

void cgroup_put(const char *path, pid_t pid)
{
	char text[256];

	cr_assert_eq(raw_write_number(path_of(text, sizeof(text), path, "cgroup.procs"), pid), 0,
		     "%s: %m", path);
}

/* ---- Who counts ---- */

static int try_ours(const struct perf_event_attr *attr, int cgroup, int cpu, int group)
{
	return event_try(attr, cgroup, cpu, .flags = PERF_FLAG_PID_CGROUP, .group = group);
}

static int try_perfs(const struct perf_event_attr *attr, int cgroup, int cpu, int group)
{
	int fd;

	for (int i = 0; i < 2; i++) {
		fd = syscall(__NR_perf_event_open, attr, cgroup, cpu, group,
			     PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC);
		if (fd >= 0 || errno != EBUSY)
			break;
		raw_give_back();
	}
	return fd < 0 ? -errno : fd;
}

const struct counting counting_ours = { "pmuctl", try_ours };
const struct counting counting_perfs = { "perf", try_perfs };

int cgroup_event(const struct counting *by, const struct perf_event_attr *attr,
		 const char *path, int cpu)
{
	AUTO_CLOSE int directory = cgroup_fd(path);
	int fd = by->try(attr, directory, cpu, -1);

	cr_assert(fd >= 0, "%s, cgroup %s, CPU %d: %s: %s", by->name, path, cpu, strerror(-fd),
		  by == &counting_ours ? event_why.sentence : "");
	return fd;
}
