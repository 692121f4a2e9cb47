/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How programs are run. A process (the runner) makes their calls, with two threads and up
 * to three children that it starts if a program wants them; each of these workers has a box
 * to which calls are posted. All of it is in memory that is shared by all processes and
 * that has a descriptor, by which it is found again after an exec.
 */
#ifndef FUZZ_ABI_RUN_H
#define FUZZ_ABI_RUN_H

#include <sys/types.h>

#include "call.h"

#define RUNNERS_MAX	2
#define EDGES		(1U << 20)
#define FRESH_MAX	512
#define CORPUS_MAX	3000
#define RECENT		4

/* Descriptors at fixed places, which children and execs inherit */
enum {
	FD_SHARED = 200, FD_DEVICE_OPEN, FD_KMSG,
	FD_NULL,
	FD_ADMIN = 210,			/* and so on, one for each enum admin */
	FD_COVER = 220,			/* and so on, one for each worker */
};

#define ADMINS	(ADMIN_CLAIM + 1)	/* that have a file */

/* Where the set-uid copy of this program, and the unreadable one, are in the guest */
#define DIR		"/tmp/abi/"
#define PATH_SELF	DIR "abi"
#define PATH_SUID	DIR "suid"
#define PATH_UNREADABLE	DIR "unreadable"

/**
 * struct box - a worker
 * @posted: how many calls it has been given; a futex.
 * @done: how many it has made; a futex.
 * @pid: its thread id; 0 if there is none.
 * @stopped: by a signal.
 * @call: the last one.
 * @result: what that returned, or -errno.
 */
struct box {
	uint32_t posted, done;
	pid_t pid;
	bool stopped;
	struct call call;
	int64_t result;
};

/**
 * struct runner - a process that runs programs
 * @pid: of it.
 * @beat: grows with each call.
 * @calls: how many calls it and its predecessors have made.
 * @programs: how many programs.
 * @failed: how many calls have been refused.
 * @root: runs as root.
 * @dirty: what admin calls have changed since the last program, a bit for each.
 * @box: the workers.
 * @fd: each process' event descriptors: the runner's own, and its children's.
 * @fresh: edges, and histories of events, that the present program is the first to reach.
 * @nr_fresh: how many.
 * @track: edges whose coming again is looked for, while @nr_track; @again: how many came.
 * @recent: the last programs, the present one at @programs modulo RECENT.
 */
struct runner {
	pid_t pid;
	uint64_t beat, calls, programs, failed;
	bool root;
	uint32_t dirty;
	struct box box[WHOS];
	int fd[1 + CHILDREN][EVENTS];
	uint32_t fresh[FRESH_MAX], nr_fresh;
	uint32_t track[FRESH_MAX], nr_track;
	bool again[FRESH_MAX];
	struct program recent[RECENT];
};

/**
 * struct shared - what all processes share
 * @text: where the module's code begins; what is traced is relative to it.
 * @seen: the edges, pairs of places one after the other, that any call has reached.
 * @edges: how many.
 * @report: the kernel has told of an error.
 * @lock: of the corpus; the holder's process id.
 * @nr_corpus: programs in it.
 * @nr_seeds: how many of them were given, of which @nr_untried have not been run.
 * @normal: what the files of admin calls said in the beginning.
 */
struct shared {
	uint64_t text;
	uint8_t seen[EDGES];
	uint32_t edges;
	uint32_t report;
	int32_t lock;
	uint32_t nr_corpus, nr_seeds, nr_untried;
	char normal[ADMINS][32];
	struct runner runner[RUNNERS_MAX];
	struct program corpus[CORPUS_MAX];
};

extern struct shared *shared;

/* ---- run.c ---- */

/* Become runner @index, as @root or as an ordinary user. */
void runner_become(unsigned int index, bool root);

/* Run a program to its end, and clean up; prints each call and its result if @tell. */
void runner_run(const struct program *program, bool tell);

/* A child after an exec: it goes on with the calls that are posted. Does not return. */
void child_after_exec(unsigned int index, enum who who);

struct worker {
	struct runner *runner;
	enum who who;
	int *fd;		/* its process' descriptors */
	char *scratch;		/* a page of its own, one that cannot be accessed, one read-only */
};

/* The thread's last call is made, and there will be no other. */
void worker_leave(struct worker *worker);

/* ---- calls.c ---- */

/* Prepare what calls of this thread need. */
void worker_init(struct worker *worker, struct runner *runner, enum who who);

/* Make a call once: its result, or -errno. */
int64_t worker_call(struct worker *worker, const struct call *call);

/* Undo what the runner's calls have left in its process. */
void calls_clean(struct worker *worker);

/* ---- tasks.c: calls that make tasks or change them ---- */

int64_t task_work(struct worker *worker, enum work what, int64_t n);
void task_spin(int64_t n);
void tasks_clean(void);

/* ---- main.c ---- */

/* Open the files that admin calls write to, as far as they are there. */
void open_admin(void);

/* ---- cover.c ---- */

/* Is there a trace of the module's code? Opens it for each worker. */
bool cover_open(void);
void cover_start(enum who who);	/* in the thread, or process, itself */
void cover_reset(enum who who);
void cover_collect(struct runner *runner, enum who who);
uint64_t cover_text(void);

/* Something else than an edge was reached; told apart by its bits. */
void cover_reach(struct runner *runner, uint32_t what);

/* ---- lives.c ---- */

/* A program begins; it has made a call, which returned @ret. In the runner. */
void lives_begin(void);
void lives_note(struct runner *runner, const struct call *call, int64_t ret);

/* Is there an open event whose leader has been closed? */
bool lives_have_orphan(void);

/* ---- mutate.c ---- */

void mutate_seed(uint64_t seed);
uint64_t mutate_random(uint64_t below);
void mutate_new(struct program *program);
void mutate_change(struct program *program, const struct program *other);

#endif /* FUZZ_ABI_RUN_H */
