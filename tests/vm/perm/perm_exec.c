// SPDX-License-Identifier: GPL-2.0-only
/*
 * A task that gains privilege by exec while it is counted is counted no further, whoever
 * counts it: nothing of the new image is in the count, and poll() tells. The witness is
 * perf, whose event hangs up at the same execs.
 */
#include "perm.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define PROGRAM		"/pmuctl/tests/prog/perm-run"
#define ITERATIONS	"1000000"	/* of two instructions */
#define INSTRUCTIONS	2000000ULL

/* What is executed: the program with owner, mode, and a file capability or none */
struct image {
	uid_t owner;
	mode_t mode;
	bool capable;
};

struct outcome {
	int step;		/* 0: all went well */
	char who;		/* what the program said */
	bool hup, perf_hup;
	uint64_t count;
};

static char path[] = "/tmp/perm-exec-XXXXXX";

static void remove_image(void)
{
	unlink(path);
}

static void make_image(const struct image *image)
{
	/* Of version 2: CAP_NET_RAW permitted and effective */
	const struct vfs_cap_data cap = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[0].permitted = 1 << CAP_NET_RAW,
	};
	char command[100];

	close(mkstemp(path));
	snprintf(command, sizeof(command), "cp %s %s", PROGRAM, path);
	cr_assert_eq(system(command), 0);
	cr_assert_eq(chown(path, image->owner, image->owner), 0);
	cr_assert_eq(chmod(path, image->mode), 0);
	if (image->capable)
		cr_assert_eq(setxattr(path, "security.capability", &cap,
				      sizeof(cap), 0), 0);
}

/* Whom is counted: waits to be told, then executes the image. */
struct counted {
	uid_t uid;
	bool no_new_privs;
	pid_t pid;
	int go, said;		/* ends of pipes */
};

static void start_counted(struct counted *c)
{
	int go[2], said[2];
	char word;

	cr_assert_eq(pipe(go), 0);
	cr_assert_eq(pipe(said), 0);
	c->pid = fork();
	if (!c->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (c->uid && perm_become_with(c->uid, -1))
			_exit(1);
		if (c->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			_exit(2);
		dup2(said[1], STDOUT_FILENO);
		if (write(said[1], "s", 1) != 1 || read(go[0], &word, 1) != 1)
			_exit(3);
		execl(path, path, ITERATIONS, NULL);
		_exit(4);
	}
	close(said[1]);
	c->go = go[1];
	c->said = said[0];
	cr_assert_eq(read(c->said, &word, 1), 1);
}

static bool hangs_up(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP);
}

/* Without a ring perf says POLLHUP to everybody. */
static int open_perf_with_ring(pid_t pid)
{
	int fd = perm_perf_open(pid, -1, false);

	if (fd >= 0 && mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			    0) == MAP_FAILED)
		return -errno;
	return fd;
}

/* The one who counts, in a process of its own. */
static int count_it(enum perm_caller caller, const struct counted *c,
		    bool enable_on_exec, struct outcome *outcome)
{
	union raw_attr a = raw_instructions();
	int fd, perf;

	if (perm_become(caller))
		return 1;
	a.attr.disabled = enable_on_exec;
	a.attr.enable_on_exec = enable_on_exec;
	fd = raw_open(&a, c->pid, -1, 0, NULL);
	perf = open_perf_with_ring(c->pid);
	if (fd < 0)
		return 2;
	if (perf < 0)
		return 3;
	if (hangs_up(fd) || hangs_up(perf))
		return 4;
	if (write(c->go, "g", 1) != 1 || read(c->said, &outcome->who, 1) != 1)
		return 5;
	outcome->hup = hangs_up(fd);
	outcome->perf_hup = hangs_up(perf);
	outcome->count = raw_read(fd);
	/* Once gone it stays gone. */
	if (outcome->hup && (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ||
			     raw_read(fd) != outcome->count))
		return 6;
	return 0;
}

static struct outcome execute(enum perm_caller caller, struct counted c,
			      struct image image, bool enable_on_exec)
{
	struct outcome *outcome = perm_shared(sizeof(*outcome));
	pid_t pid;

	raw_device();
	make_image(&image);
	perm_set_level(2);
	start_counted(&c);
	pid = fork();
	if (!pid)
		_exit(count_it(caller, &c, enable_on_exec, outcome));
	perm_join(pid);
	raw_reap(c.pid);
	perm_default_level();
	return *outcome;
}

/* Before the exec a few thousand instructions run, and none after it. */
static void check_lost(enum perm_caller caller, struct counted c, struct image image,
		       char who)
{
	struct outcome o = execute(caller, c, image, false);

	cr_assert_eq(o.who, who, "it said '%c'", o.who);
	cr_assert_lt(o.count, INSTRUCTIONS / 2, "%lu", o.count);
	cr_assert(o.hup, "poll() does not tell");
	cr_assert_eq(o.perf_hup, o.hup, "perf's event goes on");
}

static void check_counted(enum perm_caller caller, struct counted c,
			  struct image image, char who)
{
	struct outcome o = execute(caller, c, image, false);

	cr_assert_eq(o.who, who, "it said '%c'", o.who);
	cr_assert_geq(o.count, INSTRUCTIONS, "%lu", o.count);
	cr_assert_not(o.hup, "it hangs up");
	cr_assert_eq(o.perf_hup, o.hup, "perf's event hangs up");
}

static const struct image plain = { 0, 0755, false };
static const struct image set_uid = { 0, 04755, false };
static const struct image set_gid = { 0, 02755, false };
static const struct image own_set_uid = { RAW_USER, 04755, false };
static const struct image with_capability = { 0, 0755, true };
static const struct image unreadable = { 0, 0711, false };

static const struct counted users = { .uid = RAW_USER };
static const struct counted others = { .uid = RAW_OTHER_USER };
static const struct counted roots = { .uid = 0 };

/* ---- Privilege is gained, or what runs is a secret ---- */

Test(perm_exec, set_uid_ends_the_count, .fini = remove_image)
{
	check_lost(PERM_USER, users, set_uid, 'r');
}

Test(perm_exec, set_gid_ends_the_count, .fini = remove_image)
{
	check_lost(PERM_USER, users, set_gid, 'u');
}

Test(perm_exec, file_capabilities_end_the_count, .fini = remove_image)
{
	check_lost(PERM_USER, users, with_capability, 'u');
}

Test(perm_exec, a_program_that_cannot_be_read_ends_the_count, .fini = remove_image)
{
	check_lost(PERM_USER, users, unreadable, 'u');
}

Test(perm_exec, set_uid_ends_a_foreign_openers_count, .fini = remove_image)
{
	check_lost(PERM_USER_PTRACE, others, set_uid, 'r');
}

Test(perm_exec, secrets_end_a_foreign_openers_count, .fini = remove_image)
{
	check_lost(PERM_USER_PTRACE, others, unreadable, 'u');
}

Test(perm_exec, set_uid_ends_a_privileged_openers_count, .fini = remove_image)
{
	check_lost(PERM_USER_PERFMON, users, set_uid, 'r');
}

Test(perm_exec, set_uid_ends_roots_count, .fini = remove_image)
{
	check_lost(PERM_ROOT, users, set_uid, 'r');
}

/* Nothing of the new image is counted, not even its first instruction. */
Test(perm_exec, enable_on_exec_of_a_set_uid_program_counts_nothing, .fini = remove_image)
{
	struct outcome o = execute(PERM_USER, users, set_uid, true);

	cr_assert_eq(o.who, 'r');
	cr_assert_eq(o.count, 0, "%lu", o.count);
	cr_assert(o.hup);
	o = execute(PERM_USER, users, unreadable, true);
	cr_assert_eq(o.who, 'u');
	cr_assert_eq(o.count, 0, "%lu", o.count);
	cr_assert(o.hup);
}

/*
 * Open it again and again while it executes: each check is of the old image or of the new
 * one, and whatever was opened by the old one's rights has hung up when the new one runs.
 */
static int open_during_exec(const struct counted *c)
{
	union raw_attr a = raw_instructions();
	int last, fd;
	char who;

	if (perm_become(PERM_USER))
		return 1;
	last = raw_open(&a, c->pid, -1, 0, NULL);
	if (last < 0 || write(c->go, "g", 1) != 1)
		return 2;
	/* ESRCH: it was in the midst of losing its events. */
	while ((fd = raw_open(&a, c->pid, -1, 0, NULL)) >= 0 || fd == -ESRCH) {
		if (fd < 0)
			continue;
		close(last);
		last = fd;
	}
	if (fd != -EACCES)
		return -fd;
	if (read(c->said, &who, 1) != 1 || who != 'r')
		return 4;
	if (!hangs_up(last))
		return 5;
	return raw_open(&a, c->pid, -1, 0, NULL) == -EACCES ? 0 : 6;
}

Test(perm_exec, no_open_slips_through_an_exec, .fini = remove_image)
{
	raw_device();
	make_image(&set_uid);
	for (int round = 0; round < 20; round++) {
		struct counted c = users;
		pid_t pid;

		start_counted(&c);
		pid = fork();
		if (!pid)
			_exit(open_during_exec(&c));
		perm_join(pid);
		raw_reap(c.pid);
		close(c.go);
		close(c.said);
	}
}

/* ---- Nothing is gained ---- */

Test(perm_exec, an_ordinary_program_is_counted, .fini = remove_image)
{
	struct outcome o;

	check_counted(PERM_USER, users, plain, 'u');
	remove_image();
	strcpy(path, "/tmp/perm-exec-XXXXXX");
	o = execute(PERM_USER, users, plain, true);
	cr_assert_geq(o.count, INSTRUCTIONS);
	cr_assert_not(o.hup);
}

Test(perm_exec, an_ordinary_program_is_counted_by_a_foreign_opener, .fini = remove_image)
{
	check_counted(PERM_USER_PTRACE, others, plain, 'u');
}

Test(perm_exec, set_uid_to_oneself_is_counted, .fini = remove_image)
{
	check_counted(PERM_USER, users, own_set_uid, 'u');
}

Test(perm_exec, set_uid_without_new_privileges_is_counted, .fini = remove_image)
{
	struct counted c = users;

	c.no_new_privs = true;
	check_counted(PERM_USER, c, set_uid, 'u');
}

Test(perm_exec, root_gains_nothing, .fini = remove_image)
{
	check_counted(PERM_ROOT, roots, set_uid, 'r');
}

Test(perm_exec, root_can_read_what_is_unreadable_to_others, .fini = remove_image)
{
	check_counted(PERM_ROOT, roots, unreadable, 'r');
}
