// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fuzzer of the ABI, in a guest with the module loaded, as root:
 *
 *   abi --replay FILE [TIMES]	run the programs of a file, telling what each call returned
 *   abi --fuzz SECONDS CALLS SEED OUT FILE...
 *				run programs made from those of the files, until so many
 *				seconds have passed or calls been made; the corpus goes to OUT
 *
 * While it fuzzes, the program that is run is written to standard output before it is: what
 * was last written is what the kernel died of.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "run.h"

#define BATCH		200	/* programs that a process runs */
#define PATIENCE	60	/* seconds without a call after which it is ended */

struct shared *shared;

static bool traced;

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

static void die(const char *what)
{
	fprintf(stderr, "abi: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* ---- What is there before anything runs ---- */

static void copy_self(const char *path, mode_t mode)
{
	char data[65536];
	int from = open("/proc/self/exe", O_RDONLY), to;
	ssize_t n;

	mkdir(DIR, 0755);
	unlink(path);
	to = open(path, O_WRONLY | O_CREAT, 0755);
	while ((n = read(from, data, sizeof(data))) > 0)
		if (write(to, data, n) != n)
			die(path);
	close(from);
	close(to);
	if (n || chmod(path, mode))
		die(path);
}

static void open_at(const char *path, int flags, int fd)
{
	int from = open(path, flags);

	if (from < 0)
		die(path);
	if (dup2(from, fd) != fd)
		die(path);
	close(from);
}

static void map_shared(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, FD_SHARED, 0);
	if (shared == MAP_FAILED)
		die("mmap");
}

#define PARAMETER	"/sys/module/pmuctl/parameters/"

void open_admin(void)
{
	static const char *const files[ADMINS] = {
		[ADMIN_OFFLINE] = "/sys/devices/system/cpu/cpu1/online",
		[ADMIN_ONLINE] = "/sys/devices/system/cpu/cpu1/online",
		[ADMIN_PARANOID] = PARAMETER "paranoid",
		[ADMIN_OVERCOMMIT] = PARAMETER "overcommit",
		[ADMIN_ROTATION] = PARAMETER "rotation_us",
		[ADMIN_RATE] = PARAMETER "max_sample_rate",
		[ADMIN_CLAIM] = PARAMETER "claim",
	};
	int i, fd;

	for (i = 0; i < ADMINS; i++) {
		fd = open(files[i], O_RDWR);
		dup2(fd >= 0 ? fd : FD_NULL, FD_ADMIN + i);
		close(fd);
	}
}

/* What a program has changed is set to this when it has ended. */
static void keep_normal(void)
{
	int i;

	for (i = 0; i < ADMINS; i++)
		if (pread(FD_ADMIN + i, shared->normal[i], sizeof(shared->normal[i]) - 1, 0) < 0)
			die("parameter");
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, text, strlen(text)) < 0)
		fprintf(stderr, "abi: %s: %s\n", path, strerror(errno));
	close(fd);
}

/* Whatever may fail does when fail-nth says so, without a word. */
static void prepare_faults(void)
{
#define FAULTS	"/sys/kernel/debug/"
	write_file(FAULTS "failslab/ignore-gfp-wait", "N");
	write_file(FAULTS "failslab/verbose", "0");
	write_file(FAULTS "fail_page_alloc/ignore-gfp-wait", "N");
	write_file(FAULTS "fail_page_alloc/min-order", "0");
	write_file(FAULTS "fail_page_alloc/verbose", "0");
	write_file(FAULTS "fail_usercopy/verbose", "0");
}

static void prepare(void)
{
	int fd = memfd_create("abi", 0);

	if (fd < 0 || ftruncate(fd, sizeof(*shared)) || dup2(fd, FD_SHARED) < 0)
		die("memfd");
	close(fd);
	fchmod(FD_SHARED, 0666);
	map_shared();
	copy_self(PATH_SELF, 0755);
	copy_self(PATH_SUID, 04755);
	copy_self(PATH_UNREADABLE, 0711);
	open_at("/dev/kmsg", O_RDONLY | O_NONBLOCK, FD_KMSG);
	lseek(FD_KMSG, 0, SEEK_END);
	open_at("/dev/null", O_RDWR, FD_NULL);
	/* Else an ordinary user could do little. */
	write_file(PARAMETER "paranoid", "2");
	write_file(PARAMETER "claim", "anyone");
	open_admin();
	keep_normal();
	prepare_faults();
	shared->text = cover_text();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_NAME, "abi");
}

/* ---- Reports ---- */

static bool is_report(const char *line)
{
	static const char *const reports[] = {
		"WARNING: ", "BUG: ", "kernel BUG", "Oops", "general protection fault",
		"unable to handle", "unchecked MSR", "possible circular", "possible recursive",
		"possible irq lock", "inconsistent lock", "suspicious RCU", "held lock freed",
		"lock held when", "bad unlock", "sleeping function", "scheduling while",
		"detected stall", "self-detected", "detected expedited", "soft lockup",
		"hard LOCKUP", "blocked for more", "KASAN", "KCSAN", "UBSAN", "list_add corr",
		"list_del corr", "ODEBUG", "Bad page", "refcount_t: ", "Dazed", "Uhhuh",
		"irq loop stuck",
	};
	unsigned int i;

	for (i = 0; i < sizeof(reports) / sizeof(*reports); i++)
		if (strstr(line, reports[i]))
			return true;
	/* "PRIORITY,...;text" */
	return (atoi(line) & 7) <= 4 && strstr(line, ";pmuctl: ") &&
	       !strstr(line, "taints kernel") && !strstr(line, "verification failed");
}

/* Has the kernel reported an error since this was last asked? */
static bool look_at_log(char *report, size_t size)
{
	char line[2048];
	ssize_t n;

	while ((n = read(FD_KMSG, line, sizeof(line) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		line[n > 0 ? n : 0] = '\0';
		if (n > 0 && is_report(line)) {
			snprintf(report, size, "%s", line);
			return true;
		}
	}
	return false;
}

static void tell_programs(void)
{
	static char text[TEXT_MAX];
	struct runner *runner;
	unsigned int i;

	for (runner = shared->runner; runner < shared->runner + RUNNERS_MAX; runner++)
		for (i = RECENT; i--;) {
			if (i > runner->programs)
				continue;
			program_print(&runner->recent[(runner->programs - i) % RECENT], text,
				      sizeof(text));
			printf("#found: runner %d, %u before\n%s", (int)(runner - shared->runner),
			       i, text);
		}
	fflush(stdout);
}

/* ---- The corpus ---- */

static void lock(void)
{
	int32_t nobody = 0;

	while (!__atomic_compare_exchange_n(&shared->lock, &nobody, getpid(), false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		nobody = 0;
		sched_yield();
	}
}

static void unlock(void)
{
	__atomic_store_n(&shared->lock, 0, __ATOMIC_SEQ_CST);
}

static void add(const struct program *program)
{
	lock();
	if (shared->nr_corpus < CORPUS_MAX)
		shared->corpus[shared->nr_corpus++] = *program;
	unlock();
}

/* Later ones more often: there is most that is new beside them. */
static void pick(struct program *program)
{
	uint64_t n = shared->nr_corpus, at = mutate_random(n);

	if (mutate_random(3) == 0)
		at = n - 1 - mutate_random(n / 4 + 1);
	*program = shared->corpus[at];
}

static void run_told(struct runner *runner, const struct program *program)
{
	static char text[TEXT_MAX];
	int n;

	runner->programs++;
	runner->recent[runner->programs % RECENT] = *program;
	n = snprintf(text, sizeof(text), "#run %d\n", (int)(runner - shared->runner));
	n += program_print(program, text + n, sizeof(text) - n);
	if (write(1, text, n) < 0)
		exit(3);
	runner_run(program, false);
}

static unsigned int came_again(const struct runner *runner)
{
	unsigned int i, n = 0;

	for (i = 0; i < runner->nr_track; i++)
		n += runner->again[i];
	return n;
}

/* Keep of what was reached what is reached again. */
static void keep_again(struct runner *runner)
{
	unsigned int i, n = 0;

	for (i = 0; i < runner->nr_track; i++)
		if (runner->again[i])
			runner->track[n++] = runner->track[i];
	runner->nr_track = n;
}

/* It reached something new: as short as it still does, it belongs to the corpus. */
static void consider(struct runner *runner, struct program *program)
{
	static struct program shorter;
	unsigned int i;

	runner->nr_track = runner->nr_fresh < FRESH_MAX ? runner->nr_fresh : FRESH_MAX;
	memcpy(runner->track, runner->fresh, sizeof(runner->track));
	run_told(runner, program);
	keep_again(runner);
	for (i = program->n; runner->nr_track && i--;) {
		shorter = *program;
		shorter.n--;
		memmove(&shorter.call[i], &shorter.call[i + 1],
			(shorter.n - i) * sizeof(*shorter.call));
		run_told(runner, &shorter);
		if (came_again(runner) == runner->nr_track)
			*program = shorter;
	}
	if (runner->nr_track && program->n)
		add(program);
	runner->nr_track = 0;
}

/* ---- Runners ---- */

static void run_batch(unsigned int index, bool root, uint64_t seed)
{
	static struct program program, other;
	struct runner *runner = &shared->runner[index];
	unsigned int i;

	open_admin();
	runner_become(index, root);
	mutate_seed(seed);
	for (i = 0; i < BATCH && !shared->report; i++) {
		if (shared->nr_untried) {
			/* What is given is run as it is. */
			lock();
			if (shared->nr_untried)
				program = shared->corpus[--shared->nr_untried];
			unlock();
		} else if (mutate_random(10)) {
			pick(&program);
			pick(&other);
			program.root = root;
			mutate_change(&program, &other);
		} else {
			program.root = root;
			mutate_new(&program);
		}
		run_told(runner, &program);
		if (runner->nr_fresh && traced)
			consider(runner, &program);
	}
	exit(0);
}

static pid_t start(unsigned int index, uint64_t *seed)
{
	/* Each batch of one in two is root's; of the other one in eight. */
	bool root = *seed % 8 == index;
	pid_t pid;

	fflush(stdout);
	++*seed;
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		run_batch(index, root, *seed * 7919 + index);
	}
	if (pid < 0)
		die("fork");
	setpgid(pid, pid);
	shared->runner[index].pid = pid;
	return pid;
}

/*
 * End one that does not get on, and what it has started: a program that was executed with other
 * rights does not end with its parent. What holds them up is the kernel's to tell.
 */
static void end(unsigned int index)
{
	pid_t pid = shared->runner[index].pid;

	if (pid > 0)
		kill(-pid, SIGKILL);
	if (__atomic_load_n(&shared->lock, __ATOMIC_SEQ_CST) == pid)
		unlock();
}

static uint64_t all_calls(void)
{
	return shared->runner[0].calls + shared->runner[1].calls;
}

static void tell(time_t since)
{
	const struct runner *r = shared->runner;

	fprintf(stderr, "abi: %lld s: %llu calls (%llu refused) in %llu programs, %u edges, %u programs in the corpus\n",
		(long long)(now() - since), (unsigned long long)all_calls(),
		(unsigned long long)(r[0].failed + r[1].failed),
		(unsigned long long)(r[0].programs + r[1].programs), shared->edges,
		shared->nr_corpus);
}

static void reap(uint64_t *seed, unsigned int runners, bool again)
{
	unsigned int i;
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < runners; i++) {
			if (shared->runner[i].pid != pid)
				continue;
			end(i);
			shared->runner[i].pid = 0;
			if (again)
				start(i, seed);
		}
	}
}

/* Follow the runners until the end; true if there was a report. */
static bool follow(time_t seconds, uint64_t calls, uint64_t seed, unsigned int runners)
{
	uint64_t beat[RUNNERS_MAX] = { 0 };
	time_t begin = now(), told = begin, moved[RUNNERS_MAX];
	char report[2048];
	unsigned int i;

	for (i = 0; i < runners; i++) {
		moved[i] = begin;
		start(i, &seed);
	}
	while (now() - begin < seconds && all_calls() < calls) {
		usleep(200000);
		if (look_at_log(report, sizeof(report))) {
			shared->report = 1;
			printf("#report: %s", report);
			tell_programs();
			tell(begin);
			return true;
		}
		reap(&seed, runners, true);
		for (i = 0; i < runners; i++) {
			if (beat[i] != shared->runner[i].beat)
				moved[i] = now();
			beat[i] = shared->runner[i].beat;
			if (now() - moved[i] > PATIENCE)
				end(i);
		}
		if (now() - told >= 30) {
			told = now();
			tell(begin);
		}
	}
	tell(begin);
	return false;
}

static void save(const char *path)
{
	static char text[TEXT_MAX];
	FILE *f = fopen(path, "we");
	unsigned int i;

	if (!f)
		die(path);
	for (i = shared->nr_seeds; i < shared->nr_corpus; i++) {
		program_print(&shared->corpus[i], text, sizeof(text));
		fputs(text, f);
	}
	fclose(f);
}

static void load(const char *path)
{
	FILE *f = fopen(path, "re");
	int ret = 0;

	if (!f)
		die(path);
	while (shared->nr_corpus < CORPUS_MAX &&
	       (ret = program_read(f, path, &shared->corpus[shared->nr_corpus])) > 0)
		shared->nr_corpus++;
	fclose(f);
	if (ret < 0)
		exit(2);
}

static int fuzz(char **args, int n)
{
	time_t seconds = atol(args[0]);
	uint64_t calls = strtoull(args[1], NULL, 0), seed = strtoull(args[2], NULL, 0);
	const char *out = args[3];
	unsigned int i;
	bool report;

	prepare();
	traced = cover_open();
	for (i = 4; i < (unsigned int)n; i++)
		load(args[i]);
	shared->nr_seeds = shared->nr_untried = shared->nr_corpus;
	if (!shared->nr_corpus)
		die("no programs to begin with");
	fprintf(stderr, "abi: %u programs to begin with%s, seed %llu\n", shared->nr_corpus,
		traced ? "" : ", without coverage", (unsigned long long)seed);
	report = follow(seconds, calls, seed * 1000003, RUNNERS_MAX);
	for (i = 0; i < RUNNERS_MAX; i++)
		end(i);
	while (waitpid(-1, NULL, 0) > 0)
		;
	save(out);
	fprintf(stderr, "abi: %s\n", report ? "the kernel has reported an error" : "no report");
	return report;
}

/* ---- Replaying ---- */

static int replay(const char *path, unsigned int times)
{
	char report[2048];
	unsigned int i;
	pid_t pid;
	int n, status;

	prepare();
	load(path);
	for (n = 0; n < (int)shared->nr_corpus * (int)times; n++) {
		i = n % shared->nr_corpus;
		pid = fork();
		if (!pid) {
			runner_become(0, shared->corpus[i].root);
			runner_run(&shared->corpus[i], times == 1);
			exit(0);
		}
		while (waitpid(pid, &status, 0) < 0)
			;
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		if (look_at_log(report, sizeof(report))) {
			printf("#report in program %u, time %u: %s", i + 1,
			       n / shared->nr_corpus + 1, report);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--child")) {
		map_shared();
		child_after_exec(argv[2][0] - '0', argv[3][0] - '0');
	}
	if (argc >= 7 && !strcmp(argv[1], "--fuzz"))
		return fuzz(argv + 2, argc - 2);
	if ((argc == 3 || argc == 4) && !strcmp(argv[1], "--replay"))
		return replay(argv[2], argc == 4 ? atoi(argv[3]) : 1);
	return argc == 2 && !strcmp(argv[1], "--nothing") ? 0 : 2;
}
