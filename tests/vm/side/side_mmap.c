// SPDX-License-Identifier: GPL-2.0-only
/*
 * What events are told of mappings: a program's are those of /proc/PID/maps, and each kind
 * of memory has its name.
 */
#include "side.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

static struct perf_event_attr mmap_attr(bool data)
{
	struct perf_event_attr attr = side_attr();

	attr.mmap = !data;
	attr.mmap_data = data;
	attr.mmap2 = 1;
	return attr;
}

/* Until 5.15 perf itself tells more: of each mapping whether it could be executable. */
static bool tells_more(void)
{
	return is_witness() && raw_kernel_before(5, 15);
}

static uint32_t told_flags(int flags)
{
	return tells_more() ? flags | MAP_EXECUTABLE : flags;
}

/* ---- A program that is executed ---- */

static int run_and_stop(void *arg)
{
	execl("/bin/bash", "bash", "-c", "kill -STOP $$", NULL);
	return arg ? 126 : 127;
}

/* A line of /proc/PID/maps */
struct line {
	uint64_t start, end, offset, inode;
	unsigned int major, minor;
	char rights[5], name[512];
};

static bool read_line(FILE *maps, struct line *line)
{
	char text[1024];

	memset(line, 0, sizeof(*line));
	if (!fgets(text, sizeof(text), maps))
		return false;
	cr_assert_geq(sscanf(text, "%lx-%lx %4s %lx %x:%x %lu %511[^\n]", &line->start,
			     &line->end, line->rights, &line->offset, &line->major,
			     &line->minor, &line->inode, line->name), 7, "%s", text);
	return true;
}

static unsigned int prot_of(const char *rights)
{
	return (rights[0] == 'r' ? PROT_READ : 0) | (rights[1] == 'w' ? PROT_WRITE : 0) |
	       (rights[2] == 'x' ? PROT_EXEC : 0);
}

static bool is_told(const struct mmap2_record *m, const struct line *line)
{
	int flags = line->rights[3] == 's' ? MAP_SHARED : MAP_PRIVATE;
	/* Then it also tells that the kernel lets nobody write a program that runs. */
	uint32_t more = tells_more() ? MAP_DENYWRITE : 0;

	return m->start == line->start && m->start + m->length == line->end &&
	       m->offset == line->offset && m->major == line->major &&
	       m->minor == line->minor && m->inode == line->inode &&
	       m->prot == prot_of(line->rights) &&
	       (m->flags & ~more) == told_flags(flags) &&
	       !strcmp(m->name, line->name);
}

#define RECORDS_MAX	200

static unsigned int collect(const struct perf_event_attr *attr, struct ring *r,
			    struct mmap2_record *records[], pid_t pid)
{
	struct perf_event_header *header;
	struct sample end;
	unsigned int n = 0;

	while ((header = side_next(attr, r, &end))) {
		if (header->type != PERF_RECORD_MMAP2)
			continue;
		cr_assert_lt(n, RECORDS_MAX);
		records[n] = memcpy(malloc(header->size), header, header->size);
		cr_assert_eq(records[n]->pid, (uint32_t)pid);
		cr_assert_eq(records[n]->tid, (uint32_t)pid);
		cr_assert_eq(header->misc & PERF_RECORD_MISC_CPUMODE_MASK,
			     PERF_RECORD_MISC_USER);
		n++;
	}
	return n;
}

Test(side_mmap, program_is_told_as_its_maps_say)
{
	struct perf_event_attr attr = mmap_attr(false);
	struct mmap2_record *records[RECORDS_MAX];
	unsigned int i, n, lines = 0;
	struct side_child c;
	struct line line;
	struct ring r;
	char path[64];
	FILE *maps;
	int fd, status;

	side_start(&c, run_and_stop, NULL);
	fd = event_open(attr, c.pid);
	ring_map(&r, fd, 64);
	side_go(&c);
	wait_stopped(c.pid);
	n = collect(&attr, &r, records, c.pid);

	snprintf(path, sizeof(path), "/proc/%d/maps", c.pid);
	maps = fopen(path, "re");
	cr_assert_not_null(maps);
	while (read_line(maps, &line)) {
		/* That page is the same in all programs, and nobody maps it. */
		if (line.rights[2] != 'x' || !strcmp(line.name, "[vsyscall]"))
			continue;
		for (i = 0; i < n && !is_told(records[i], &line); i++)
			;
		cr_assert_lt(i, n, "%lx-%lx %s %s was not told", line.start, line.end,
			     line.rights, line.name);
		lines++;
	}
	/* The program, the vdso, libc and its loader */
	cr_assert_geq(lines, 4);
	fclose(maps);
	kill(c.pid, SIGKILL);
	waitpid(c.pid, &status, 0);
}

/* ---- Names ---- */

/* What maps a page, in this process, of which the next record tells */
static void expect_mapping(const struct perf_event_attr *attr, struct ring *r,
			   const void *at, size_t length, int prot, int flags,
			   const char *name)
{
	struct sample end;
	struct mmap2_record *m = side_expect(attr, r, PERF_RECORD_MMAP2, &end);

	cr_assert_str_eq(m->name, name);
	cr_assert_eq(m->start, (uintptr_t)at);
	cr_assert_eq(m->length, length);
	cr_assert_eq(m->prot, (uint32_t)prot, "%s: prot %#x", name, m->prot);
	cr_assert_eq(m->flags, told_flags(flags), "%s: flags %#x", name, m->flags);
	cr_assert_eq(!!(m->header.misc & MISC_MMAP_DATA), !(prot & PROT_EXEC));
	cr_assert_eq(m->pid, (uint32_t)getpid());
	cr_assert_eq(end.pid, (uint32_t)getpid());
	side_expect_none(attr, r);
}

static void *map(size_t length, int prot, int flags, int fd)
{
	void *at = mmap(NULL, length, prot, flags, fd, 0);

	cr_assert_neq(at, MAP_FAILED, "%m");
	return at;
}

/*
 * A mapping that has equal ones beside it becomes one with them, and the record is of the
 * whole: these have none.
 */
static void *reserve(void)
{
	char *at = map(5 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	return at + 2 * PAGE;
}

Test(side_mmap, memory_without_a_file)
{
	static const int prots[] = {
		PROT_READ, PROT_READ | PROT_WRITE, PROT_READ | PROT_WRITE | PROT_EXEC,
	};
	struct perf_event_attr attr = mmap_attr(true);
	void *at = reserve(), *got;
	struct ring r;
	int fd;

	attr.mmap = 1;
	fd = event_open(attr);
	ring_map(&r, fd, 4);
	ring_drain(&r, PERF_RECORD_MMAP2);
	for (unsigned int i = 0; i < RAW_ARRAY_SIZE(prots); i++) {
		got = mmap(at, PAGE, prots[i], MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			   -1, 0);
		cr_assert_eq(got, at);
		expect_mapping(&attr, &r, at, PAGE, prots[i], MAP_PRIVATE, "//anon");
		got = mmap(at, PAGE, prots[i], MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED,
			   -1, 0);
		cr_assert_eq(got, at);
		expect_mapping(&attr, &r, at, PAGE, prots[i], MAP_SHARED,
			       "/dev/zero (deleted)");
	}
	got = mmap(at, PAGE, PROT_READ,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_LOCKED, -1, 0);
	cr_assert_eq(got, at);
	expect_mapping(&attr, &r, at, PAGE, PROT_READ, MAP_PRIVATE | MAP_LOCKED, "//anon");
	cr_assert_eq(mprotect(at, PAGE, PROT_READ | PROT_EXEC), 0);
	expect_mapping(&attr, &r, at, PAGE, PROT_READ | PROT_EXEC,
		       MAP_PRIVATE | MAP_LOCKED, "//anon");
}

Test(side_mmap, heap)
{
	struct perf_event_attr attr = mmap_attr(true);
	char *first = sbrk(PAGE), *before = sbrk(0);
	struct mmap2_record *m;
	struct sample end;
	struct ring r;
	int fd;

	cr_assert_neq(first, (void *)-1);
	fd = event_open(attr);
	ring_map(&r, fd, 4);
	ring_drain(&r, PERF_RECORD_MMAP2);
	cr_assert_eq(sbrk(3 * PAGE), before);
	m = side_expect(&attr, &r, PERF_RECORD_MMAP2, &end);
	cr_assert_str_eq(m->name, "[heap]");
	cr_assert_eq(m->start + m->length, ((uintptr_t)before + 4 * PAGE - 1) & -PAGE);
}

/* A file, and the same when it has another name, and when it has none any more */
Test(side_mmap, files)
{
	char path[] = "/tmp/side_mmap.XXXXXX", name[64];
	struct perf_event_attr attr = mmap_attr(false);
	int file = mkstemp(path), fd, memory;
	const int prot = PROT_READ | PROT_EXEC;
	struct mmap2_record *m;
	struct sample end;
	struct stat stat;
	struct ring r;
	void *at;

	cr_assert_geq(file, 0);
	cr_assert_eq(ftruncate(file, 8 * PAGE), 0);
	cr_assert_eq(fstat(file, &stat), 0);
	fd = event_open(attr);
	ring_map(&r, fd, 4);

	at = mmap(NULL, 2 * PAGE, prot, MAP_PRIVATE, file, 3 * PAGE);
	cr_assert_neq(at, MAP_FAILED);
	m = side_expect(&attr, &r, PERF_RECORD_MMAP2, &end);
	cr_assert_str_eq(m->name, path);
	cr_assert_eq(m->offset, 3 * PAGE);
	cr_assert_eq(m->inode, stat.st_ino);
	cr_assert_eq(m->major, major(stat.st_dev));
	cr_assert_eq(m->minor, minor(stat.st_dev));

	snprintf(name, sizeof(name), "%s.renamed", path);
	cr_assert_eq(rename(path, name), 0);
	at = map(PAGE, prot, MAP_SHARED, file);
	expect_mapping(&attr, &r, at, PAGE, prot, MAP_SHARED, name);
	cr_assert_eq(unlink(name), 0);
	strcat(name, " (deleted)");
	at = map(PAGE, prot, MAP_PRIVATE, file);
	expect_mapping(&attr, &r, at, PAGE, prot, MAP_PRIVATE, name);

	memory = memfd_create("a name", MFD_CLOEXEC);
	cr_assert_geq(memory, 0);
	cr_assert_eq(ftruncate(memory, PAGE), 0);
	at = map(PAGE, prot, MAP_PRIVATE, memory);
	expect_mapping(&attr, &r, at, PAGE, prot, MAP_PRIVATE, "/memfd:a name (deleted)");
}

/* Deep below, where a path is longer than any can be given */
static int make_deep_file(unsigned int depth)
{
	char name[201];
	int dir, next;

	memset(name, 'd', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	dir = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned int i = 0; i < depth; i++) {
		cr_assert(!mkdirat(dir, name, 0700) || errno == EEXIST, "%m");
		next = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		cr_assert_geq(next, 0, "%m");
		close(dir);
		dir = next;
	}
	next = openat(dir, "file", O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	cr_assert_geq(next, 0, "%m");
	cr_assert_eq(ftruncate(next, PAGE), 0);
	close(dir);
	return next;
}

Test(side_mmap, names_that_are_long_and_too_long)
{
	struct perf_event_attr attr = mmap_attr(false);
	const int prot = PROT_READ | PROT_EXEC;
	struct mmap2_record *m;
	struct sample end;
	struct ring r;
	int fd;

	fd = event_open(attr);
	ring_map(&r, fd, 16);
	map(PAGE, prot, MAP_PRIVATE, make_deep_file(20));
	m = side_expect(&attr, &r, PERF_RECORD_MMAP2, &end);
	cr_assert_eq(strlen(m->name), strlen("/tmp") + 20 * 201 + strlen("/file"));
	cr_assert_eq(m->name[4 + 201], '/');
	map(PAGE, prot, MAP_PRIVATE, make_deep_file(21));
	m = side_expect(&attr, &r, PERF_RECORD_MMAP2, &end);
	cr_assert_str_eq(m->name, "//toolong");
}

/* ---- Which event is told ---- */

Test(side_mmap, code_and_data_apart)
{
	struct perf_event_attr code = mmap_attr(false), data = mmap_attr(true);
	int fds[2] = { event_open(code), -1 };
	struct mmap_record *old;
	struct ring rings[2];
	struct sample end;
	void *at;

	data.mmap2 = 0;
	fds[1] = event_open(data);
	for (int i = 0; i < 2; i++)
		ring_map(&rings[i], fds[i], 4);
	while (side_next(&data, &rings[1], &end))
		;
	at = map(7 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	side_expect(&code, &rings[0], PERF_RECORD_MMAP2, &end);
	side_expect_none(&data, &rings[1]);
	cr_assert_eq(munmap(at, 7 * PAGE), 0);
	at = map(7 * PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1);
	side_expect_none(&code, &rings[0]);
	old = side_expect(&data, &rings[1], PERF_RECORD_MMAP, &end);
	cr_assert_eq(old->start, (uintptr_t)at);
	cr_assert_eq(old->length, 7 * PAGE);
	cr_assert_eq(old->header.misc, PERF_RECORD_MISC_USER | MISC_MMAP_DATA);
	cr_assert_str_eq(old->name, "/dev/zero (deleted)");
}

/* ---- The probe, through which we hear of mappings ---- */

static bool is_probed(void)
{
	char line[256];
	bool found = false;
	FILE *list = fopen("/sys/kernel/debug/kprobes/list", "re");

	cr_assert_not_null(list, "debugfs: %m");
	while (fgets(line, sizeof(line), list))
		found |= strstr(line, "perf_event_mmap") != NULL;
	fclose(list);
	return found;
}

/* It costs every mmap() of the machine something, so it is there only while it is needed. */
Test(side_mmap, probe_is_there_while_it_is_needed)
{
	struct perf_event_attr none = side_attr(), attr = mmap_attr(false);
	int fd;

	if (is_witness())
		return;
	while (is_probed())
		usleep(10000);
	none.comm = 1;
	none.context_switch = 1;
	close(event_open(none));
	cr_assert(!is_probed());
	fd = event_open(attr);
	cr_assert(is_probed());
	close(fd);
	while (is_probed())
		usleep(10000);
}
