// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/ringbuf/ring.c */
/* libs: -lpthread */
/*
 * The sample ring with threads as CPUs and signals as interrupts and NMIs, see
 * ring_stress.h. Every byte of every record is looked at, and every record accounted for.
 * The same under ThreadSanitizer, without signals, is prog/ring_race.c; it is started here.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <libgen.h>
#include <sys/personality.h>
#include <sys/wait.h>

#include "unit/ring_stress.h"

#define SIZE	4096

static struct stress stress;

static void start(struct space *sp, u64 size, unsigned int flags, u64 records)
{
	space_make(sp, size, flags, 0);
	stress.sp = sp;
	stress.signals = true;
	stress.records = records;
}

Test(ring_threads, every_byte_arrives)
{
	struct space sp;

	start(&sp, 16 * SIZE, 0, 4000);
	cr_assert(stress_run(&stress, stress_look), "%s", stress.reader.finding);
	cr_assert(stress_account(&stress), "%s", stress.reader.finding);
	cr_assert_gt(stress_interrupted(&stress), 500);
	space_free(&sp);
}

Test(ring_threads, backward_every_record_is_accounted_for)
{
	struct space sp;
	struct stress *st = &stress;
	u64 written = 0;
	unsigned int i;

	/* Nobody reads, as records follow from new to old: it fills up, and has all it took. */
	start(&sp, 64 * SIZE, RING_BACKWARD, 1000);
	cr_assert(stress_run(st, stress_look_never), "%s", st->reader.finding);
	for (i = 0; i < STRESS_CPUS * STRESS_LEVELS; i++)
		written += st->cpus[i / STRESS_LEVELS].p[i % STRESS_LEVELS].written;
	cr_assert(read_newest(&st->reader, &sp), "%s", st->reader.finding);
	cr_assert_eq(st->reader.read, written, "%llu written, %llu read", written, st->reader.read);
	space_free(&sp);
}

Test(ring_threads, what_is_lost_is_counted_exactly)
{
	struct space sp;

	start(&sp, SIZE, 0, 3000);
	cr_assert(stress_run(&stress, stress_look_late), "%s", stress.reader.finding);
	cr_assert(stress_account(&stress), "%s", stress.reader.finding);
	cr_assert_gt(stress.reader.lost, 0);
	cr_assert_gt(stress.reader.read, 1000);
	space_free(&sp);
}

/* A snapshot while all others go on: pause, read from the newest on, go on. */
Test(ring_threads, snapshots_are_whole)
{
	struct space sp;

	start(&sp, 2 * SIZE, RING_OVERWRITE | RING_BACKWARD, ~0ULL);
	stress.pauses = true;
	cr_assert(stress_run(&stress, stress_look_paused), "%s", stress.reader.finding);
	cr_assert_eq(space_open(&sp), 0);
	space_free(&sp);
}

/* Writers do what they do while a reader scribbles into all that it can write. */
Test(ring_threads, a_mad_reader_harms_only_itself)
{
	struct ring_handle h;
	struct space sp;

	start(&sp, SIZE, 0, 3000);
	cr_assert(stress_run(&stress, stress_look_mad), "%s", stress.reader.finding);
	cr_assert_eq(space_open(&sp), 0);
	/* It comes to its senses. */
	sp.user->data_tail = sp.ring.head;
	cr_assert(ring_reserve(&h, &sp.ring, 16));
	ring_commit(&h);
	cr_assert_eq(sp.user->data_head, (u64)sp.ring.state.counter >> RING_SHIFT);
	cr_assert_eq(sp.user->data_head, sp.ring.head);
	space_free(&sp);
}

/* ThreadSanitizer needs a program of its own, and memory where it expects it. */
static int run_race_program(void)
{
	char self[4096] = "", path[4200];
	int status;
	pid_t pid;

	cr_assert_gt(readlink("/proc/self/exe", self, sizeof(self) - 1), 0);
	snprintf(path, sizeof(path), "%s/prog/ring_race", dirname(self));
	pid = fork();
	if (!pid) {
		personality(ADDR_NO_RANDOMIZE); /* or not: where that is forbidden */
		unsetenv("LD_PRELOAD");
		execl(path, path, NULL);
		perror(path);
		_exit(127);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status;
}

Test(ring_threads, thread_sanitizer_finds_no_race)
{
	int status = run_race_program();

	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status),
		  "tests/unit/prog/ring_race ended with %x; its output is above", status);
}
