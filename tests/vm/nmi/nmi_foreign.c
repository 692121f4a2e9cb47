// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs that are not ours, while nothing counts, while something does, and among our own:
 * they reach who they are for, or nobody; ours reach us; and no count is wrong for it.
 *
 * A module sends some that nobody owns, and takes what would be an unknown NMI for the kernel.
 * The processor makes one NMI of two that are pending at once. It cannot come to that
 * if an NMI is sent by the kernel on the CPU it is for while only user mode is counted:
 * then not one may be missing. What another CPU sends may hit an overflow; it is exact all
 * the same that what is unknown are those NMIs that had no overflow with them.
 */
#include "nmis.h"

#define CPUS		2
/* Not far above the handler's own length */
#define PERIOD_SHORT	211

/* A PMU that we have kept sees NMIs, and has counters that are close to their overflow. */
static void begin(void)
{
	cr_assert_eq(raw_give_back(), 0);
	late_nmi_set(0);
	foreign_load();
	sampling_init();
}

static void end(void)
{
	sampling_fini();
	foreign_unload();
	late_nmi_set(LATE_NMI_MS);
}

TestSuite(nmi_foreign, .init = begin, .fini = end);

/* What all have counted since some time, of each CPU */
struct state {
	struct foreign foreign[CPUS];
	struct nmi_stats ours[CPUS];
};

static struct state state_now(void)
{
	struct state s;
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		s.foreign[cpu] = foreign_read(cpu);
		s.ours[cpu] = nmi_stats(cpu);
	}
	return s;
}

static struct state state_since(const struct state *before)
{
	struct state now = state_now();
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		now.foreign[cpu].all -= before->foreign[cpu].all;
		now.foreign[cpu].overflown -= before->foreign[cpu].overflown;
		now.foreign[cpu].alone -= before->foreign[cpu].alone;
		now.foreign[cpu].unknown -= before->foreign[cpu].unknown;
		now.ours[cpu].claimed -= before->ours[cpu].claimed;
		now.ours[cpu].seen -= before->ours[cpu].seen;
	}
	return now;
}

/* @n to each CPU, from itself and from the other one */
static void send_all(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		pin_here(i % CPUS);
		foreign_send(i / 2 % CPUS);
	}
}

/* Nothing overflowed: all that came are those that were sent, and all were unknown. */
static void check_none_is_ours(const struct state *since, unsigned int sent)
{
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		cr_expect_eq(since->foreign[cpu].all, sent);
		cr_expect_eq(since->foreign[cpu].unknown, sent, "CPU %d: %lu unknown", cpu,
			     since->foreign[cpu].unknown);
		cr_expect_eq(since->ours[cpu].claimed, 0);
	}
}

Test(nmi_foreign, unknown_while_no_event_is_open)
{
	struct state before = state_now(), since;

	send_all(CPUS * 100);
	since = state_since(&before);
	check_none_is_ours(&since, 100);
	cr_expect_eq(since.ours[0].seen + since.ours[1].seen, 0);
}

Test(nmi_foreign, unknown_while_events_count)
{
	struct perf_event_attr attr = instructions_u();
	struct state before, since;
	int fd[CPUS], own, cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		fd[cpu] = event_open(attr, -1, cpu);
	attr.disabled = 1;
	own = event_open(attr);
	before = state_now();
	bracket(own, 100000);
	send_all(CPUS * 100);
	bracket(own, 100000);
	since = state_since(&before);
	check_none_is_ours(&since, 100);
	cr_expect_eq(since.ours[0].seen, 100);
	cr_expect_eq(event_value(own), 2 * bracket_instructions(100000));
	for (cpu = 0; cpu < CPUS; cpu++)
		close(fd[cpu]);
	close(own);
}

/* What had an overflow with it was claimed, what had none was not: on each CPU. */
static void check_each_to_its_own(const struct state *since)
{
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++) {
		const struct foreign *f = &since->foreign[cpu];

		cr_expect_eq(since->ours[cpu].claimed, f->overflown, "CPU %d: %lu of %lu",
			     cpu, since->ours[cpu].claimed, f->overflown);
		cr_expect_eq(f->unknown, f->alone, "CPU %d: %lu of %lu", cpu, f->unknown,
			     f->alone);
		cr_expect_eq(f->all, f->overflown + f->alone);
	}
}

static void send_here(struct sampled *s)
{
	foreign_send(s->cpu);
}

/* Both CPUs sample their own thread, which sends itself one after each block. */
Test(nmi_foreign, each_is_unknown_while_both_cpus_sample)
{
	struct state before = state_now(), since;
	struct sampled s[CPUS];
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_start(&s[cpu], cpu, PERIOD_SHORT, send_here);
	for (cpu = 0; cpu < CPUS; cpu++)
		while (__atomic_load_n(&s[cpu].blocks, __ATOMIC_ACQUIRE) < 50)
			usleep(1000);
	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_end(&s[cpu]);
	since = state_since(&before);
	check_each_to_its_own(&since);
	for (cpu = 0; cpu < CPUS; cpu++) {
		cr_expect_eq(since.foreign[cpu].unknown, s[cpu].blocks, "%lu of %lu",
			     since.foreign[cpu].unknown, s[cpu].blocks);
		cr_expect_eq(since.ours[cpu].claimed, s[cpu].samples);
	}
}

static void *restore_fpu_thread(void *arg)
{
	bool *stop = arg;
	uint8_t state[512] __attribute__((aligned(16)));
	unsigned int i;

	pin_here(1);
	asm volatile("fxsave %0" : "=m" (state));
	while (!__atomic_load_n(stop, __ATOMIC_ACQUIRE))
		for (i = 0; i < 1000; i++)
			asm volatile("fxrstor %0" : : "m" (state));
	return NULL;
}

/*
 * An emulator may keep the first CPU's "an NMI is being handled" where other CPUs write, to
 * clear IGNNE# there when they restore the state of their FPU: docs/laboratory.md.
 */
Test(nmi_foreign, none_is_lost_while_the_other_cpu_restores_its_fpu)
{
	struct state before = state_now(), since;
	struct sampled s;
	pthread_t other;
	bool stop = false;

	cr_assert_eq(pthread_create(&other, NULL, restore_fpu_thread, &stop), 0);
	sampled_start(&s, 0, PERIOD_SHORT, send_here);
	while (__atomic_load_n(&s.blocks, __ATOMIC_ACQUIRE) < 50)
		usleep(1000);
	sampled_end(&s);
	__atomic_store_n(&stop, true, __ATOMIC_RELEASE);
	cr_assert_eq(pthread_join(other, NULL), 0);
	since = state_since(&before);
	check_each_to_its_own(&since);
	cr_expect_eq(since.foreign[0].unknown, s.blocks);
	cr_expect_eq(since.ours[0].claimed, s.samples);
}

/* They come at any instant: amid our handler too, then they are pending when it ends. */
Test(nmi_foreign, unknown_at_any_instant_of_another_cpu)
{
	struct state before = state_now(), since;
	struct sampled s[CPUS];
	uint64_t sent = 0;
	int cpu;

	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_start(&s[cpu], cpu, PERIOD_SHORT, NULL);
	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_wait(&s[cpu]);
	pin_here(0);
	do {
		foreign_send(1);
		sent++;
	} while (foreign_read(1).unknown - before.foreign[1].unknown < 200);
	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_end(&s[cpu]);
	since = state_since(&before);
	check_each_to_its_own(&since);
	cr_expect_eq(since.foreign[0].unknown, 0);
	cr_expect_leq(since.foreign[1].unknown, sent);
	for (cpu = 0; cpu < CPUS; cpu++)
		cr_expect_eq(since.ours[cpu].claimed, s[cpu].samples);
}

/*
 * With the kernel counted, overflows come amid NMI handlers too, of foreign NMIs as well:
 * such a one is claimed, but then that of the overflow is still to come and unknown in
 * its place. In the sum each NMI is claimed or unknown, and no more of these than sent.
 */
Test(nmi_foreign, none_is_added_while_the_kernel_is_sampled)
{
	struct perf_event_attr attr =
		event_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct state before = state_now(), since;
	struct sampled s[CPUS];
	uint64_t sent[CPUS] = { 0, 0 };
	int fd[CPUS], cpu, i;

	attr.sample_period = 5003;
	attr.sample_type = PERF_SAMPLE_IP;
	for (cpu = 0; cpu < CPUS; cpu++)
		fd[cpu] = event_open(attr, -1, cpu);
	for (i = 0; foreign_read(1).unknown - before.foreign[1].unknown < 100; i++) {
		cpu = i % 3 != 0;
		pin_here(i % 2);
		foreign_send(cpu);
		sent[cpu]++;
		user_loop(1000);
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		close(fd[cpu]);
	since = state_since(&before);
	for (cpu = 0; cpu < CPUS; cpu++) {
		const struct foreign *f = &since.foreign[cpu];

		cr_expect_eq(since.ours[cpu].claimed + f->unknown, f->all,
			     "CPU %d: %lu + %lu, not %lu", cpu, since.ours[cpu].claimed,
			     f->unknown, f->all);
		cr_expect_leq(f->unknown, sent[cpu], "CPU %d: %lu of %lu", cpu, f->unknown,
			      sent[cpu]);
		cr_expect_gt(since.ours[cpu].claimed, 0);
	}
	/* And nothing has come to stay. */
	before = state_now();
	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_start(&s[cpu], cpu, 1009, NULL);
	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_wait(&s[cpu]);
	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_end(&s[cpu]);
	since = state_since(&before);
	cr_expect_eq(since.foreign[0].unknown + since.foreign[1].unknown, 0);
}

/*
 * The kernel asks other CPUs for backtraces with NMIs, and has a handler for them. That one
 * answers as soon as it has been asked, which is before the NMI is sent: an overflow's NMI
 * may come first and bring the answer, and the other one is nobody's then.
 */
#define BACKTRACES	20

Test(nmi_foreign, those_with_an_owner_reach_it_while_both_cpus_sample)
{
	struct state before = state_now(), since;
	unsigned int i, answers = 0;
	struct sampled s[CPUS];
	int cpu, log;

	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_start(&s[cpu], cpu, PERIOD_SHORT, NULL);
	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_wait(&s[cpu]);
	pin_here(0);
	log = log_open();
	for (i = 0; i < BACKTRACES; i++) {
		cr_assert_eq(raw_write_file("/proc/sysrq-trigger", "l"), 0);
		answers += log_count(log, "NMI backtrace for cpu 1");
	}
	for (cpu = 0; cpu < CPUS; cpu++)
		sampled_end(&s[cpu]);
	since = state_since(&before);
	answers += log_count(log, "NMI backtrace for cpu 1");
	cr_expect_eq(answers, BACKTRACES, "%u", answers);
	cr_expect_eq(since.foreign[0].unknown, 0, "nobody asks CPU 0");
	cr_expect_leq(since.foreign[1].unknown, BACKTRACES);
	for (cpu = 0; cpu < CPUS; cpu++) {
		cr_expect_eq(since.ours[cpu].claimed, since.foreign[cpu].overflown);
		cr_expect_eq(since.ours[cpu].claimed, s[cpu].samples);
	}
	close(log);
}
