// SPDX-License-Identifier: GPL-2.0-only
/*
 * NMIs: how many the kernel has counted, and what the module tells of its own.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selftest.h"

/* Text for people, which tells this of each CPU: module/front/debugfs.c */
#define MODULES_CPUS	"/sys/kernel/debug/pmuctl/cpus"

/**
 * nmi_counts_of() - what is known of a CPU's NMIs
 * @cpu: which.
 *
 * Return: the numbers.
 */
struct nmi_counts nmi_counts_of(int cpu)
{
	struct nmi_counts counts = { .all = interrupts_of_cpu(cpu, "NMI") };
	FILE *in = fopen(MODULES_CPUS, "re");
	char *line = NULL;
	size_t size = 0;
	int at = -1;

	while (in && getline(&line, &size, in) > 0) {
		if (sscanf(line, "cpu %d:", &at) == 1)
			continue;
		if (at == cpu &&
		    sscanf(line, " overflows %" SCNu64 ", NMIs seen %" SCNu64 ", claimed %" SCNu64 ", stuck %" SCNu64,
			   &counts.overflows, &counts.seen, &counts.claimed, &counts.stuck) == 4)
			break;
	}
	free(line);
	if (in)
		fclose(in);
	return counts;
}

/**
 * is_stuck_since() - have overflows been found to have no end?
 * @test: with the CPU; from now on nothing is sampled if so.
 * @before: what was known then.
 *
 * Return: true if so.
 */
bool is_stuck_since(struct selftest *test, const struct nmi_counts *before)
{
	if (nmi_counts_of(test->cpu).stuck <= before->stuck)
		return false;
	snprintf(test->broken, sizeof(test->broken),
		 "overflows have no end on this machine, and its counters were stopped");
	return true;
}

/* --------------------------------------------------------------- unknown */

/* Lines of the kernel's log about NMIs that nobody claimed: arch/x86/kernel/nmi.c */
#define UNKNOWN		"NMI received for unknown reason"

/**
 * nmi_log_open() - begin to look for unknown NMIs
 *
 * Return: a descriptor, -1 if the kernel's log cannot be read.
 */
int nmi_log_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		lseek(fd, 0, SEEK_END);
	return fd;
}

/* Lines since the log was opened; the kernel may leave out some if there are many. */
static unsigned int unknown_in_log(int fd)
{
	unsigned int n = 0;
	char line[2048];
	ssize_t got;

	while ((got = read(fd, line, sizeof(line) - 1)) >= 0 || errno == EPIPE) {
		if (got < 0)
			continue;	/* the oldest lines are gone */
		line[got] = '\0';
		n += strstr(line, UNKNOWN) != NULL;
	}
	return n;
}

/* ----------------------------------------------------------------- check */

/* For so long pmuctl samples while NMIs are counted. */
#define WINDOW_NS	200000000ull
#define ROUNDS		500000
#define PERIOD		10007

/* Returns 0 or a negative errno. */
static int sample_a_while(struct selftest *test, struct refusal *why)
{
	uint64_t end = now_ns() + WINDOW_NS;
	int ret = 0;

	while (!ret && now_ns() < end) {
		struct sampled sampled = { .period = PERIOD };

		ret = sampling_run(test, BY_PMUCTL, PERF_COUNT_HW_INSTRUCTIONS, ROUNDS, &sampled, why);
	}
	return ret;
}

/* What came on this CPU while pmuctl had the PMU, and was not pmuctl's */
static uint64_t count_foreign(struct result *result, struct selftest *test)
{
	struct nmi_counts before = nmi_counts_of(test->cpu), after;
	struct refusal why;
	uint64_t foreign;

	if (sample_a_while(test, &why) < 0) {
		result_fault(result, "instructions, by pmuctl: %s", why.text);
		return 0;
	}
	after = nmi_counts_of(test->cpu);
	foreign = after.all - before.all - (after.claimed - before.claimed);
	result_figure(result, json_pack("{s:i, s:I, s:I, s:I, s:I, s:I}", "cpu", test->cpu,
					"all", (json_int_t)(after.all - before.all),
					"seen", (json_int_t)(after.seen - before.seen),
					"claimed", (json_int_t)(after.claimed - before.claimed),
					"overflows", (json_int_t)(after.overflows - before.overflows),
					"foreign", (json_int_t)foreign));
	if (after.claimed > before.claimed && after.all == before.all)
		result_fault(result, "the kernel counted no NMI, pmuctl handled %" PRIu64,
			     after.claimed - before.claimed);
	return foreign;
}

/**
 * check_nmis() - whose NMIs were those that came?
 * @result: the check.
 * @test: with the log since before the checks.
 *
 * Foreign ones are somebody else's business, as a backtrace of all CPUs is. Those that nobody
 * claims, the kernel complains about: they may be overflows that were missed.
 */
void check_nmis(struct result *result, struct selftest *test)
{
	unsigned int unknown;
	uint64_t foreign;

	if (test->broken[0]) {
		result_skip(result, "%s", test->broken);
		return;
	}
	if (access(MODULES_CPUS, R_OK) != 0) {
		result_skip(result, "%s cannot be read: mount debugfs", MODULES_CPUS);
		return;
	}
	foreign = count_foreign(result, test);
	unknown = test->log < 0 ? 0 : unknown_in_log(test->log);
	result_find(result, "%" PRIu64 " foreign ones while pmuctl sampled; %u that nobody claimed during all checks%s",
		    foreign, unknown, test->log < 0 ? " are not known, the kernel's log cannot be read" : "");
	if (unknown)
		result_fault(result, "%u NMIs or more were claimed by nobody", unknown);
}
