/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl selftest": what its checks share. Each check has a file of its own; report.c
 * has the results and how they are printed, selftest.c the order of the checks.
 */
#ifndef PMUCTL_TOOL_SELFTEST_H
#define PMUCTL_TOOL_SELFTEST_H

#include <stdint.h>

#include <jansson.h>

#include "command.h"

/* Counters have numbers: general ones from 0 on, fixed ones from here on. */
#define COUNTER_FIXED	32
#define COPIES_MAX	48

/*
 * How much counts may be off. Some CPUs count an instruction and a branch more when an interrupt
 * returns to the program, so those that came are allowed for, twice; whether the system call at
 * the end of the loop is a branch differs.
 */
#define PER_INTERRUPT	2

/**
 * enum rival - whose events they are
 * @BY_PMUCTL: this product's.
 * @BY_PERF: those of the kernel's perf_event_open(2).
 */
enum rival {
	BY_PMUCTL,
	BY_PERF,
	RIVALS,
};

extern const char *const rival_names[RIVALS];

/**
 * struct selftest - what the checks look at
 * @dev: the device; there is one, else nothing is checked.
 * @info: of the driver.
 * @cpu: where the loops run; the thread stays there.
 * @core: of which type that CPU is, 0 if all are alike.
 * @perf: perf is tried too; @why_not_perf says why not.
 * @hotplug: the CPU that goes offline and back, -1: none.
 * @log: the kernel's log from before the checks on, -1 if it cannot be read.
 * @registers: of all CPUs, before the checks; NULL if they cannot be read.
 * @broken: why nothing may be sampled on this machine any more; empty if it may.
 */
struct selftest {
	struct pmuctl_device *dev;
	struct pmuctl_info info;
	int cpu;
	unsigned int core;
	bool perf;
	char why_not_perf[128];
	int hotplug;
	int log;
	struct registers *registers;
	char broken[128];
};

/**
 * struct result - one check and what it found
 * @name: for programs.
 * @title: for people.
 * @skipped: it could not be made; @finding says why.
 * @finding: what was looked at, a sentence.
 * @faults: what is wrong, an array of sentences; there are none if all is well.
 * @figures: what was measured, an array of objects.
 */
struct result {
	const char *name;
	const char *title;
	bool skipped;
	char finding[320];
	json_t *faults;
	json_t *figures;
};

/* report.c */
int result_init(struct result *result, const char *name, const char *title);
void result_free(struct result *result);
void result_find(struct result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void result_skip(struct result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void result_fault(struct result *result, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void result_figure(struct result *result, json_t *figure);
bool result_failed(const struct result *result);
void report_text(json_t *machine, const struct result *results, size_t n);
int report_json(json_t *machine, const struct result *results, size_t n);

/* machine.c */

/* Types of CPUs of a hybrid processor: SDM Vol. 2, CPUID leaf 1AH */
#define CORE_EFFICIENCY		0x20
#define CORE_PERFORMANCE	0x40

/**
 * struct announced - the counters that CPUID announces on this CPU
 * @general: general ones; 0: not known, or CPUs differ.
 * @fixed: fixed ones.
 */
struct announced {
	unsigned int general, fixed;
};

json_t *machine_facts(const struct selftest *test);
struct announced machine_counters(void);
bool machine_has_flag(const char *flag);
bool machine_is_amd(void);
bool machine_is_hybrid(void);
unsigned int machine_core_type(void);

/* files.c */
bool file_word(const char *path, char *text, size_t size);
bool file_write(const char *path, const char *text);
uint64_t interrupts_of_cpu(int cpu, const char *label);

/* events.c */

/**
 * struct opened - an event, by whichever system
 * @event: ours, NULL if it is perf's.
 * @fd: its descriptor; both understand the same ioctls and reads.
 * @page: its page, which tells its counter; NULL if it could not be mapped.
 */
struct opened {
	struct pmuctl_event *event;
	int fd;
	const struct perf_event_mmap_page *page;
};

/**
 * struct count - what a descriptor reads as
 * @value: the count.
 * @enabled: ns for which it was enabled.
 * @running: ns of these for which it had a counter.
 */
struct count {
	uint64_t value, enabled, running;
};

/**
 * struct refusal - why an event could not be opened
 * @code: of our explanation, 0 from perf.
 * @text: a sentence.
 */
struct refusal {
	uint32_t code;
	char text[256];
};

struct perf_event_attr event_attr_of(uint32_t type, uint64_t config);
int event_open(struct selftest *test, enum rival rival, const struct perf_event_attr *attr,
	       const struct opened *leader, struct opened *opened, struct refusal *why);
void event_close(struct opened *opened);
int event_count(const struct opened *opened, struct count *count);
int event_counter(const struct opened *opened);
void counter_name(int counter, char *name, size_t size);
bool perf_may_have_it(char *why, size_t size);

/* cpus.c, copies.c */

/**
 * struct copies - the same event on as many counters at once as can count it
 * @n: how many.
 * @event: each; the first one is the leader of the group.
 * @counter: the counter of each, for counter_name(); -1: not told.
 * @count: what each has counted.
 * @interrupts: how many came meanwhile, at most.
 * @elapsed: ns that it took, at most.
 */
struct copies {
	unsigned int n;
	struct opened event[COPIES_MAX];
	int counter[COPIES_MAX];
	struct count count[COPIES_MAX];
	uint64_t interrupts, elapsed;
};

bool go_to_cpu(struct selftest *test, int cpu);
size_t cpus_online(int *cpus, size_t max);
int copies_open(struct selftest *test, enum rival rival, struct perf_event_attr attr,
		struct copies *copies, struct refusal *why);
int copies_run(struct selftest *test, struct copies *copies, uint64_t rounds);
void copies_close(struct copies *copies);

/* loops.c */

/**
 * struct known - what a run of the known loop is made of, in user space
 * @rounds: of the loop: as many loads and stores, and as many branches but one.
 * @instructions: exactly.
 * @branches: exactly; the system call that ends it is one where such are counted as branches.
 */
struct known {
	uint64_t rounds, instructions, branches;
};

struct known loop_known(uint64_t rounds);
int loop_run(int fd, uint64_t rounds);
bool loop_has(uint64_t ip);
uint64_t loop_rounds_of_ns(uint64_t ns);
uint64_t now_ns(void);

/* ring.c */

/**
 * struct ring - the mapped ring of an event
 * @page: its page of data about itself.
 * @tail: how far it has been read.
 */
struct ring {
	struct perf_event_mmap_page *page;
	uint64_t tail;
};

int ring_open(struct ring *ring, int fd);
void ring_close(struct ring *ring);
const struct perf_event_header *ring_record(struct ring *ring, void *room, size_t size);

/* sampling.c */

/**
 * struct sampled - what came of an event that sampled
 * @period: of the event.
 * @samples: how many were read.
 * @lost: how many found no room.
 * @throttled: how often the event was stopped because it took too much time.
 * @outside: samples that are not in the loop.
 * @early: samples before their period was over.
 * @counted: the count in the end.
 * @skid_min: fewest events that came after the period was over and before its sample.
 * @skid_max: most.
 * @skid_sum: of all samples.
 */
struct sampled {
	uint64_t period;
	uint64_t samples, lost, throttled, outside, early;
	uint64_t counted;
	uint64_t skid_min, skid_max, skid_sum;
};

struct perf_event_attr sampling_attr(uint64_t config, uint64_t period);
void sampling_read(struct ring *ring, struct sampled *sampled);
int sampling_run(struct selftest *test, enum rival rival, uint64_t config, uint64_t rounds,
		 struct sampled *sampled, struct refusal *why);
void sampling_judge(struct result *result, enum rival rival, const char *event,
		    const struct sampled *sampled);
json_t *sampling_figure(enum rival rival, const char *event, const struct sampled *sampled);

/* registers.c */
struct registers *registers_take(const struct selftest *test);

/* nmis.c */

/**
 * struct nmi_counts - NMIs of a CPU
 * @all: that the kernel has counted.
 * @seen: by pmuctl's handler; 0, as all that follow, if the module does not tell.
 * @claimed: that this one took for its own.
 * @overflows: that it found.
 * @stuck: how often it found no end of them.
 */
struct nmi_counts {
	uint64_t all, seen, claimed, overflows, stuck;
};

struct nmi_counts nmi_counts_of(int cpu);
int nmi_log_open(void);
bool is_stuck_since(struct selftest *test, const struct nmi_counts *before);

/* The checks */
void check_counters(struct result *result, struct selftest *test);
void check_events(struct result *result, struct selftest *test);
void check_overflow(struct result *result, struct selftest *test);
void check_periods(struct result *result, struct selftest *test);
void check_together(struct result *result, struct selftest *test);
void check_nmis(struct result *result, struct selftest *test);
void check_registers(struct result *result, struct selftest *test);
void check_idle(struct result *result, struct selftest *test);
void check_trace(struct result *result, struct selftest *test);
void check_hotplug(struct result *result, struct selftest *test);

#endif /* PMUCTL_TOOL_SELFTEST_H */
