// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is told of an exec that gains rights, or of a program that nobody may read: nothing
 * of the new image, neither its mappings nor its memory nor its registers. The records
 * of a set-uid program's address space would undo its randomization.
 */
#include "perm.h"
#include "side.h"

#include <sys/stat.h>
#include <sys/xattr.h>

#define PROGRAM		"/pmuctl/tests/prog/perm-run"

/* What is executed: the program, root's, with its mode, and a file capability or none */
struct image {
	mode_t mode;
	bool capable;
};

static const struct image plain = { 0755, false };
static const struct image set_uid = { 04755, false };
static const struct image set_gid = { 02755, false };
static const struct image with_capability = { 0755, true };
static const struct image unreadable = { 0711, false };

/* In a directory of the user's, who removes it in the end */
static char directory[] = "/tmp/attack-exec-XXXXXX";
static char path[sizeof(directory) + 8];

static void make_image(const struct image *image)
{
	/* Of version 2: CAP_NET_RAW permitted and effective */
	const struct vfs_cap_data cap = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[0].permitted = 1 << CAP_NET_RAW,
	};
	char command[100];

	cr_assert_not_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/image", directory);
	snprintf(command, sizeof(command), "cp %s %s", PROGRAM, path);
	cr_assert_eq(system(command), 0);
	cr_assert_eq(chmod(path, image->mode), 0);
	if (image->capable)
		cr_assert_eq(setxattr(path, "security.capability", &cap,
				      sizeof(cap), 0), 0);
	cr_assert_eq(chown(directory, RAW_USER, RAW_USER), 0);
	cr_assert_eq(chmod(directory, 0755), 0);
}

static void remove_image(void)
{
	unlink(path);
	rmdir(directory);
	perm_default_level();
}

TestSuite(attack_exec, .fini = remove_image);

/* Who executes it: an ordinary user, or a root who has given up all capabilities */
struct runner {
	uid_t uid;
	pid_t pid;
	int go, said;
};

static void start(struct runner *runner)
{
	int go[2], said[2];
	char word;

	cr_assert_eq(pipe(go), 0);
	cr_assert_eq(pipe(said), 0);
	runner->pid = fork();
	if (!runner->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (perm_become_with(runner->uid, -1))
			_exit(1);
		dup2(said[1], STDOUT_FILENO);
		if (write(said[1], "s", 1) != 1 || read(go[0], &word, 1) != 1)
			_exit(2);
		execl(path, path, "1", NULL);
		_exit(3);
	}
	close(said[1]);
	runner->go = go[1];
	runner->said = said[0];
	cr_assert_eq(read(runner->said, &word, 1), 1);
}

/* Let it execute, and wait until the new image has run. */
static void execute(struct runner *runner, char who)
{
	char word = 0;

	cr_assert_eq(write(runner->go, "g", 1), 1);
	cr_assert_eq(read(runner->said, &word, 1), 1);
	cr_assert_eq(word, who, "it said '%c'", word);
}

/* Everything that can be told: no event can be more curious. */
static struct perf_event_attr curious(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE,
						 PERF_COUNT_SW_DUMMY);

	attr.exclude_kernel = 1;
	attr.mmap = 1;
	attr.mmap2 = 1;
	attr.mmap_data = 1;
	attr.comm = 1;
	attr.comm_exec = 1;
	attr.task = 1;
	attr.context_switch = 1;
	attr.sample_type = SIDE_TYPE;
	attr.sample_id_all = 1;
	return attr;
}

/* The page faults of the kernel on the program's behalf too, each with where it was */
static struct perf_event_attr curious_of_faults(void)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE,
						 PERF_COUNT_SW_PAGE_FAULTS);

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 1 << 7 | 1 << 8; /* SP and IP */
	attr.comm = 1;
	attr.comm_exec = 1;
	return attr;
}

static bool is_exec(const struct perf_event_header *header)
{
	return header->type == PERF_RECORD_COMM && header->misc & MISC_COMM_EXEC;
}

/*
 * What was told of an exec after the record with its name. The task may be switched out and in
 * between that record and the exchange of its credentials, as with the kernel's perf; what
 * comes after the new image has said something, and is then killed, comes too late.
 */
struct told {
	unsigned int records; /* but for switches */
	unsigned int mappings;
	unsigned int late;
};

static struct told told(const struct perf_event_attr *attr, struct runner runner,
			const struct image *image, char who)
{
	const struct perf_event_header *header;
	struct told told = {};
	bool executed = false;
	struct ring r;
	int fd;

	make_image(image);
	start(&runner);
	cr_assert_eq(perm_become_with(runner.uid, -1), 0);
	fd = event_open(attr, runner.pid);
	ring_map(&r, fd, 16);
	execute(&runner, who);
	while ((header = ring_next(&r))) {
		told.records += executed && header->type != RECORD_SWITCH;
		executed |= is_exec(header);
		told.mappings += header->type == PERF_RECORD_MMAP ||
				 header->type == PERF_RECORD_MMAP2;
	}
	cr_assert(executed, "no record of an exec");
	/* It would outlive us: to become somebody takes back that we are waited for. */
	raw_reap(runner.pid);
	while (ring_next(&r))
		told.late++;
	return told;
}

static const struct runner user = { .uid = RAW_USER };
static const struct runner bare_root = { .uid = 0 };

static void check_secret(struct runner runner, const struct image *image, char who)
{
	const struct perf_event_attr attr = curious();
	struct told n = told(&attr, runner, image, who);

	cr_assert_eq(n.mappings, 0, "%u mappings of the image were told", n.mappings);
	cr_assert_eq(n.records, 0, "%u records of the image", n.records);
	cr_assert_eq(n.late, 0, "%u records of the image at work", n.late);
}

/* ---- Mappings ---- */

/* The image, ld.so or the vdso, the stack and the heap: what the others must not show */
Test(attack_exec, an_ordinary_program_is_told)
{
	const struct perf_event_attr attr = curious();
	struct told n = told(&attr, user, &plain, 'u');

	cr_assert_geq(n.mappings, 4, "%u", n.mappings);
	cr_assert_geq(n.records, n.mappings);
	cr_assert_geq(n.late, 2, "%u: a switch and its end", n.late);
}

Test(attack_exec, nothing_is_told_of_a_set_uid_program)
{
	check_secret(user, &set_uid, 'r');
}

Test(attack_exec, nothing_is_told_of_a_set_gid_program)
{
	check_secret(user, &set_gid, 'u');
}

Test(attack_exec, nothing_is_told_of_a_program_with_capabilities)
{
	check_secret(user, &with_capability, 'u');
}

Test(attack_exec, nothing_is_told_of_a_program_that_cannot_be_read)
{
	check_secret(user, &unreadable, 'u');
}

/* A root that has given up all capabilities gets them back by any exec. */
Test(attack_exec, nothing_is_told_of_what_gets_capabilities_back)
{
	check_secret(bare_root, &plain, 'r');
}

/* ---- Samples, where the level lets the user see the kernel's work for his tasks ---- */

static unsigned int samples_of(const struct image *image, char who)
{
	const struct perf_event_attr attr = curious_of_faults();

	perm_set_level(1);
	return told(&attr, user, image, who).records;
}

Test(attack_exec, an_ordinary_program_is_sampled_while_it_is_loaded)
{
	cr_assert_geq(samples_of(&plain, 'u'), 2);
}

Test(attack_exec, a_set_uid_program_is_not_sampled_while_it_is_loaded)
{
	unsigned int n = samples_of(&set_uid, 'r');

	cr_assert_eq(n, 0, "%u samples", n);
}

Test(attack_exec, what_cannot_be_read_is_not_sampled_while_it_is_loaded)
{
	unsigned int n = samples_of(&unreadable, 'u');

	cr_assert_eq(n, 0, "%u samples", n);
}
