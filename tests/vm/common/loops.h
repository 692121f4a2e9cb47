/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of counting: loops of known length, what events count of them, and
 * tasks that run such a loop when they are told to. All that fails here fails the
 * test that called.
 */
#ifndef VM_LOOPS_H
#define VM_LOOPS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <criterion/criterion.h>

#include <pthread.h>
#include <sched.h>
#include <sys/sysinfo.h>
#include <time.h>

#include "event.h"

#define LOOP_INSTRUCTIONS	2	/* of one round of user_loop() */
#define LOOP_BRANCHES		1

/* ---- Work of known length ---- */

/* ENABLE, user_loop(), DISABLE, with nothing of a compiler's or a library's between:
 * what is counted in user mode is what bracket_instructions() says.
 */
static inline void bracket(int fd, uint64_t n)
{
	register long number asm("rax") = __NR_ioctl;
	register long arg asm("rdx") = 0;
	register long request asm("rsi") = PERF_EVENT_IOC_ENABLE;

	asm volatile("syscall\n"
		     "1:	dec %[n]\n"
		     "	jnz 1b\n"
		     "	mov %[disable], %%esi\n"
		     "	mov %[ioctl], %%eax\n"
		     "	syscall\n"
		     : "+r" (number), "+r" (request), [n] "+r" (n)
		     : "D" ((long)fd), "r" (arg),
		       [disable] "i" (PERF_EVENT_IOC_DISABLE),
		       [ioctl] "i" (__NR_ioctl)
		     : "rcx", "r11", "cc", "memory");
	cr_assert_eq(number, 0);
}

/* The loop, the two moves, and the system call that disables */
static inline uint64_t bracket_instructions(uint64_t n)
{
	return LOOP_INSTRUCTIONS * n + 3;
}

/* @n system calls, 3 instructions in user mode each */
static inline void syscall_loop(uint64_t n)
{
	long ret;

	for (; n; n--)
		asm volatile("syscall" : "=a" (ret) : "a" (__NR_getppid)
			     : "rcx", "r11", "memory");
}

/* ---- Events ---- */

struct counts {
	uint64_t value;
	uint64_t enabled;	/* ns */
	uint64_t running;	/* ns */
};

struct perf_event_attr event_attr(uint32_t type, uint64_t config);

/* A generic event in user mode only */
struct perf_event_attr user_attr(uint64_t config);

struct perf_event_attr instructions_u(void);
struct perf_event_attr branches_u(void);

struct counts event_read(int fd);
uint64_t event_value(int fd);
uint64_t event_id(int fd);
/* What an event that is off counts of a bracket of @n rounds */
uint64_t count_bracket(int fd, uint64_t n);

/* @n reads, before each of which there is a loop: of @rounds, twice @rounds, ... The code is the
 * same each time.
 */
void event_read_loops(int fd, struct counts *c, unsigned int n, uint64_t rounds);

void event_ioctl(int fd, unsigned long request);
int perf_try_once(const struct perf_event_attr *attr, pid_t pid, int cpu);

/*
 * An event of the kernel's own perf; the witness. Returns a descriptor, or -errno. The PMU
 * may still be ours although nobody uses it.
 */
int perf_try(const struct perf_event_attr *attr, pid_t pid, int cpu);

/* ---- Tasks and CPUs ---- */

/* fork(), but a child does not live longer than the test, however that ends. */
pid_t fork_child(void);
/* A child that stops itself; it may not have left its CPU yet. */
void wait_stopped(pid_t pid);

void pin_task(pid_t tid, int cpu);
void pin_here(int cpu);

/* A CPU goes or comes; all that are away come, as a .fini. */
void set_online(int cpu, bool online);
void all_online(void);
uint64_t clock_ns(clockid_t clock);
void sleep_ms(unsigned int ms);

/* The state letter of a task, 0 if there is no such task */
char task_state(pid_t tid);

/*
 * Wait until a task sleeps: it executes nothing more in user mode until it is woken. How
 * long that takes is the host's to say.
 */
void wait_asleep(pid_t tid);

/* How often a task has been switched out */
unsigned long task_switches(pid_t tid);
/* How often this process has gone to sleep by itself */
long own_sleeps(void);

/* Whether somebody wakes who waits for @fd: at its end poll() looks by itself, so the clock tells. */
bool is_woken(int fd, unsigned int ms);

/**
 * struct worker - a task that runs loops on demand
 * @tid: its id.
 * @thread: if it is a thread of this process.
 * @is_thread: whether it is.
 * @orders: numbers of rounds are written here; 0 ends it.
 * @order_end: the end that it reads from.
 *
 * Between two orders it executes the same instructions every time, but for the loop.
 */
struct worker {
	pid_t tid;
	pthread_t thread;
	bool is_thread;
	int orders;
	int order_end;
};

void worker_work(int orders);

/* Let it loop. */
void worker_order(struct worker *w, uint64_t n);

/* It takes the order when it begins, and sleeps when it is done. */
bool worker_is_done(struct worker *w);

/* Wait until it has done what it was told, and is asleep. */
void worker_wait(struct worker *w);

void worker_run(struct worker *w, uint64_t n);
void worker_start(struct worker *w, bool is_thread);
void worker_end(struct worker *w);

/* What an event counts while the worker loops @n times; with what is around it */
uint64_t worker_count(struct worker *w, int fd, uint64_t n);

/* The same without what is around: rounds 2 to @n + 1 of a loop */
uint64_t worker_count_loop(struct worker *w, int fd, uint64_t n);

#endif /* VM_LOOPS_H */
