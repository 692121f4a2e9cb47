// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples of the kernel in the midst of a switch: the events of a task are there a moment before
 * the task is. What they tell is the task's, and nothing of the one before, which may be anybody's.
 */
#include "loops.h"
#include "records.h"

TestSuite(sample_switch, .init = sampling_init, .fini = sampling_fini);

#define R12_BIT		20	/* PERF_REG_X86_R12 */
#define SECRET		0x5ec4e75ec4e7ull
#define NAPS		500

/* What the other task has in a register all the time */
asm(".pushsection .text\n"
    "keep_secret:\n"
    "	mov	%rdi, %r12\n"
    "1:	jmp	1b\n"
    "keep_secret_end:\n"
    ".popsection\n");

void keep_secret(uint64_t secret) __attribute__((noreturn));
extern const char keep_secret_end[];

static pid_t start_other(void)
{
	pid_t pid = fork_child();

	if (pid)
		return pid;
	pin_here(0);
	keep_secret(SECRET);
}

static pid_t start_napping(const int *start)
{
	pid_t pid = fork_child();
	char none;

	if (pid)
		return pid;
	pin_here(0);
	close(start[1]);
	if (read(start[0], &none, 1))
		_exit(1);
	for (int i = 0; i < NAPS; i++)
		usleep(100);
	_exit(0);
}

static void check_sample(const struct perf_event_attr *attr, const struct perf_event_header *header,
			 pid_t task)
{
	struct sample s;

	take_sample(attr, header, &s);
	cr_assert_eq(s.pid, (uint32_t)task, "%u, not %d", s.pid, task);
	cr_assert_eq(s.tid, (uint32_t)task, "%u, not %d", s.tid, task);
	if (s.user_abi)
		cr_assert_neq(s.user_regs[0], SECRET);
	for (uint64_t i = 0; i < s.nr_chain; i++)
		cr_assert(s.chain[i] < (uintptr_t)keep_secret ||
			  s.chain[i] >= (uintptr_t)keep_secret_end, "%#lx", s.chain[i]);
}

Test(sample_switch, tells_nothing_of_who_was_there_before)
{
	struct perf_event_attr attr = sampling_attr(kernel_period(300));
	struct perf_event_header *header;
	int start[2], fd, status;
	unsigned int samples = 0;
	pid_t other, task;
	struct ring r;

	other = start_other();
	cr_assert_eq(pipe(start), 0);
	task = start_napping(start);
	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 1 << R12_BIT;
	fd = event_open(attr, task);
	ring_map(&r, fd, 1024);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	close(start[1]);
	cr_assert_eq(waitpid(task, &status, 0), task);
	cr_assert_eq(status, 0);
	raw_reap(other);
	for (; (header = ring_next(&r)); samples++)
		if (header->type == PERF_RECORD_SAMPLE)
			check_sample(&attr, header, task);
	printf("%u samples\n", samples);
	cr_assert_geq(samples, NAPS);
}

/* ---- Other records ---- */

/* For so many bytes there may be no room any more. */
#define FULL	64

/* Those of @attr, about a task that naps, in a small ring that is read when it is full */
static unsigned int check_records(struct perf_event_attr attr)
{
	struct perf_event_header *header;
	int start[2], fd, status;
	unsigned int lost = 0;
	pid_t other, task, ended;
	uint32_t *ids;
	struct ring r;

	other = start_other();
	cr_assert_eq(pipe(start), 0);
	task = start_napping(start);
	attr.sample_type = PERF_SAMPLE_TID;
	attr.sample_id_all = 1;
	fd = event_open(attr, task);
	ring_map(&r, fd, 1);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	close(start[1]);
	pin_here(1);
	do {
		ended = waitpid(task, &status, WNOHANG);
		if (!ended && ring_head(&r) - r.tail < r.size - FULL) {
			usleep(1000);
			continue;
		}
		usleep(20000); /* and some are lost */
		while ((header = ring_next(&r))) {
			lost += header->type == PERF_RECORD_LOST;
			ids = (uint32_t *)((char *)header + header->size - sizeof(uint64_t));
			if (header->type == PERF_RECORD_SAMPLE)
				ids = (uint32_t *)(header + 1);
			cr_assert_eq(ids[0], (uint32_t)task, "type %u: %u", header->type, ids[0]);
			cr_assert_eq(ids[1], (uint32_t)task, "type %u: %u", header->type, ids[1]);
		}
	} while (!ended);
	cr_assert_eq(status, 0);
	raw_reap(other);
	ring_unmap(&r);
	close(fd);
	return lost;
}

/* What is lost is told before the next record, which may be that of the switch. */
Test(sample_switch, tells_nothing_of_who_was_there_before_what_was_lost)
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	unsigned int lost = 0;

	attr.context_switch = 1;
	attr.disabled = 1;
	for (int i = 0; i < 100 && lost < 10; i++)
		lost += check_records(attr);
	cr_assert_geq(lost, 10);
}

/* Throttled all the time, and let go on with the next switch to the task */
Test(sample_switch, tells_nothing_of_who_was_there_when_it_was_throttled)
{
	struct perf_event_attr attr = sampling_attr(kernel_period(300));

	attr.exclude_kernel = 0;
	attr.exclude_user = 1;
	for (int i = 0; i < 3; i++)
		check_records(attr);
	set_max_rate(RATE_USUAL);
	for (int i = 0; i < 3; i++)
		check_records(attr);
}
