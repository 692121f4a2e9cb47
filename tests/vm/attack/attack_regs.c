// SPDX-License-Identifier: GPL-2.0-only
/*
 * Registers in samples: each is one of those that the sample is of, or 0; never what happened
 * to lie on the kernel's stack, nor what the kernel had in a register of its own. The first
 * needs a module whose local variables are not cleared by the compiler: the debug kernel's.
 */
#include "perm.h"
#include "records.h"

#define REGS		((1ull << 24) - 1 - (0xfull << 12))	/* all but DS, ES, FS, GS */
#define BIT_OF(reg)	(1ull << (reg))
/* SP, IP, FLAGS, CS, SS: a place in the kernel has these. */
#define OF_A_PLACE	(BIT_OF(7) | BIT_OF(8) | BIT_OF(9) | BIT_OF(10) | BIT_OF(11))
#define ROUNDS		50

static void sleep_shortly(unsigned int round)
{
	(void)round;
	usleep(100);
}

static void move(unsigned int round)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(round % 2, &cpus);
	cr_assert_eq(sched_setaffinity(0, sizeof(cpus), &cpus), 0);
}

static void check_clean(uint64_t config, void (*work)(unsigned int round))
{
	struct perf_event_attr attr = event_attr(PERF_TYPE_SOFTWARE, config);
	struct perf_event_header *header;
	unsigned int samples = 0;
	struct sample s;
	struct ring r;
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = REGS;
	perm_set_level(1);
	cr_assert_eq(setresuid(-1, RAW_USER, -1), 0);
	fd = event_open(attr);
	ring_map(&r, fd, 16);
	for (unsigned int i = 0; i < ROUNDS; i++)
		work(i);
	cr_assert_eq(setresuid(-1, 0, -1), 0);
	perm_default_level();
	while ((header = ring_next(&r))) {
		unsigned int n = 0;

		if (header->type != PERF_RECORD_SAMPLE)
			continue;
		take_sample(&attr, header, &s);
		samples++;
		cr_assert_neq(s.ip, 0);
		for (unsigned int reg = 0; reg < 24; reg++) {
			if (!(REGS & BIT_OF(reg)))
				continue;
			if (!(OF_A_PLACE & BIT_OF(reg)))
				cr_assert_eq(s.intr_regs[n], 0, "register %u of sample %u: %#lx",
					     reg, samples, s.intr_regs[n]);
			n++;
		}
	}
	cr_assert_geq(samples, ROUNDS / 2, "%u samples", samples);
	close(fd);
}

Test(attack_regs, a_switch_tells_no_word_of_the_stack)
{
	check_clean(PERF_COUNT_SW_CONTEXT_SWITCHES, sleep_shortly);
}

Test(attack_regs, a_migration_tells_no_word_of_the_stack)
{
	check_clean(PERF_COUNT_SW_CPU_MIGRATIONS, move);
}
