// SPDX-License-Identifier: GPL-2.0-only
/*
 * The errno of each refusal is the kernel's own perf's, so that programs made for perf fall back
 * as they do there. Both are asked in turn: each bit and each field of the attr alone, and any
 * two of them together, on events of several kinds; and targets. Where the two
 * differ, the table has the reason.
 */
#include "loops.h"
#include "pmu.h"
#include "tracepoint.h"
#include "differences.h"

#include <fnmatch.h>
#include <sys/utsname.h>

/* The tracepoint that all of them are: ours by its name, perf's by its number */
#define TRACEPOINT	"sched:sched_switch"

/* In which state an event is when something is requested of it */
enum state { ALONE, WITH_RING, LEADER, SIBLING, ORPHAN, GONE, STATES };

static const char *const states[] = {
	[ALONE] = "", [WITH_RING] = " with a ring", [LEADER] = " of a leader",
	[SIBLING] = " of a sibling", [ORPHAN] = " of a sibling whose leader is closed",
	[GONE] = " of a task that has ended",
};

/* What is asked: one of the bases, changed in one place or two; and a request of it, if not 0. */
struct question {
	const char *base;
	enum state state;
	char change[96];
	union raw_attr attr;
	int pid, cpu, group_fd;
	unsigned long flags;
	unsigned long request, arg;
};

/* An argument: the descriptor of the other event of the group, or -1 */
#define OTHER	(~0ul - 99)

/* What the tests have found, each in a process of its own: a file of the process that starts them */
static struct findings {
	unsigned int ended;
	bool met[RAW_ARRAY_SIZE(differences)];
} *findings;

static bool is_known(const struct question *q, int perfs, int ours)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(differences); i++) {
		const struct difference *d = &differences[i];

		if ((d->base && strcmp(d->base, q->base)) || d->perfs != perfs || d->ours != ours ||
		    fnmatch(d->change, q->change, 0))
			continue;
		findings->met[i] = true;
		return true;
	}
	return false;
}

static const char *name_of(int error)
{
	return error ? strerrorname_np(error) : "opens";
}

/* The event that is asked for, or another one for its group: a descriptor, or -1 and errno */
typedef int (*opener)(const struct question *q, int group_fd, struct pmuctl_explanation *why);

static int open_perf(const struct question *q, int group_fd, struct pmuctl_explanation *why)
{
	union raw_attr a = q->attr;

	(void)why;
	return syscall(__NR_perf_event_open, &a.attr, q->pid, q->cpu, group_fd, q->flags);
}

static int open_pmuctl(const struct question *q, int group_fd, struct pmuctl_explanation *why)
{
	union raw_attr a = q->attr;
	struct pmuctl_open request = raw_request(&a, q->pid, q->cpu, q->flags, why);

	request.group_fd = group_fd;
	if (a.attr.type == PERF_TYPE_TRACEPOINT)
		request.tracepoint = (uintptr_t)TRACEPOINT;
	return ioctl(raw_device(), PMUCTL_IOC_OPEN, &request);
}

/* What a request of @fd comes to; the one of @other if it says so. */
static int request_of(int fd, int other, const struct question *q)
{
	return ioctl(fd, q->request, q->arg == OTHER ? (unsigned long)other : q->arg) < 0 ? errno : 0;
}

/* What an open, or the ioctl after it, comes to; all is closed. */
static int outcome(opener open, const struct question *given, struct pmuctl_explanation *why)
{
	struct question q = *given;
	void *ring = MAP_FAILED;
	int fd, other = -1, error;

	if (q.state == GONE)
		q.pid = raw_sleeper();
	fd = open(&q, q.group_fd, why);
	if (q.state == GONE)
		raw_reap(q.pid);
	if (fd < 0 || !q.request) {
		error = fd < 0 ? errno : 0;
		close(fd);
		return error;
	}
	if (q.state == WITH_RING)
		ring = mmap(NULL, 2 * getpagesize(), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (q.state == LEADER || q.state == SIBLING || q.state == ORPHAN)
		other = open(&q, fd, why);
	if (q.state == SIBLING || q.state == ORPHAN) {
		int leader = fd;

		fd = other;
		other = leader;
	}
	if (q.state == ORPHAN) {
		close(other);
		other = -1;
	}
	error = request_of(fd, other, &q);
	if (error && why)
		raw_explain(fd, why);
	if (ring != MAP_FAILED)
		munmap(ring, 2 * getpagesize());
	close(other);
	close(fd);
	return error;
}

#define QUESTIONS	192
#define TESTS		6	/* that ask */

/*
 * Each question to us, and then each to perf: giving the PMU back in between is what takes time.
 * @answers: what both say, or -1 if that is not the same.
 */
static void ask_all(const struct question *questions, size_t n, int *answers)
{
	struct pmuctl_explanation why[QUESTIONS] = { 0 };
	int ours[QUESTIONS];

	cr_assert_leq(n, QUESTIONS);
	for (size_t i = 0; i < n; i++)
		ours[i] = outcome(open_pmuctl, &questions[i], &why[i]);
	cr_assert_eq(raw_give_back(), 0);
	for (size_t i = 0; i < n; i++) {
		const struct question *q = &questions[i];
		int perfs = outcome(open_perf, q, NULL);

		cr_expect(ours[i] == perfs || is_known(q, perfs, ours[i]),
			  "%s, %s: perf %s, here %s: %s", q->base, q->change, name_of(perfs),
			  name_of(ours[i]), why[i].sentence);
		answers[i] = ours[i] == perfs ? perfs : -1;
	}
}

static int ask(const struct question *q)
{
	int answer;

	ask_all(q, 1, &answer);
	return answer;
}

static const struct {
	const char *name;
	uint32_t type;
	uint64_t config, period, sample_type;
} bases[] = {
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 0, 0 },
	{ "sampling", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1000000, PERF_SAMPLE_IP },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 0, 0 },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, 0 },
	{ "tracepoint", PERF_TYPE_TRACEPOINT, 0, 0, 0 },
};

/* Not ftrace:function, which has the number of instructions: it patches each function. */
static void choose_tracepoint(struct question *q)
{
	if (q->attr.attr.type == PERF_TYPE_TRACEPOINT)
		q->attr.attr.config = tracepoint_id(TRACEPOINT);
}

static struct question begin(size_t base)
{
	struct question q = { .base = bases[base].name, .cpu = -1, .group_fd = -1,
			      .flags = PERF_FLAG_FD_CLOEXEC };

	q.attr = raw_attr(bases[base].type, bases[base].config);
	q.attr.attr.sample_period = bases[base].period;
	q.attr.attr.sample_type = bases[base].sample_type;
	/* They happen in the kernel. */
	q.attr.attr.exclude_kernel = bases[base].type != PERF_TYPE_TRACEPOINT;
	choose_tracepoint(&q);
	return q;
}

/* To take a probe off takes longer than all else of an open: those of the tracepoint stay on. */
static void keep_probes(void)
{
	struct question q = begin(RAW_ARRAY_SIZE(bases) - 1);

	cr_assert_geq(open_perf(&q, -1, NULL), 0, "%m");
	cr_assert_geq(open_pmuctl(&q, -1, NULL), 0, "%m");
}

static void open_findings(void)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/refuse_perf.%d", getppid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	cr_assert_geq(fd, 0, "%s: %m", path);
	cr_assert_eq(ftruncate(fd, sizeof(*findings)), 0);
	findings = mmap(NULL, sizeof(*findings), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(findings, MAP_FAILED);
	close(fd);
	tracepoint_mount();
	keep_probes();
}

static void end_test(void)
{
	findings->ended++;
}

TestSuite(refuse_perf, .init = open_findings, .fini = end_test);

#define FIELD(f)	{ #f, offsetof(struct perf_event_attr, f), \
			  sizeof(((struct perf_event_attr *)NULL)->f) }

static const struct {
	const char *name;
	size_t at, size;
} fields[] = {
	FIELD(type), FIELD(size), FIELD(config), FIELD(sample_period), FIELD(sample_type),
	FIELD(read_format), FIELD(wakeup_events), FIELD(bp_type), FIELD(config1), FIELD(config2),
	FIELD(branch_sample_type), FIELD(sample_regs_user), FIELD(sample_stack_user), FIELD(clockid),
	FIELD(sample_regs_intr), FIELD(aux_watermark), FIELD(sample_max_stack), FIELD(__reserved_2),
	FIELD(aux_sample_size), { "__reserved_3", 116, 4 }, FIELD(sig_data), { "config3", 128, 8 },
};

static const uint64_t values[] = {
	1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 24, 63, 64, 71, 72, 79, 80, 87, 88, 95, 96, 111, 112,
	119, 120, 127, 128, 129, 255, 256, 0xfff, 0x1000, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff,
	0x80000000, 0xffffffff, 1ull << 32, 1ull << 62, 1ull << 63, ~0ull,
};

static void set_field(struct question *q, size_t field, uint64_t value)
{
	size_t length = strlen(q->change);

	memcpy(q->attr.bytes + fields[field].at, &value, fields[field].size);
	snprintf(q->change + length, sizeof(q->change) - length, "%s%s = %#lx",
		 length ? " and " : "", fields[field].name, value);
}

/* Where the word of single bits is, and their names */
#define FLAGS	(offsetof(struct perf_event_attr, read_format) + 8)

static const char *const bits[] = {
	"disabled", "inherit", "pinned", "exclusive", "exclude_user", "exclude_kernel", "exclude_hv",
	"exclude_idle", "mmap", "comm", "freq", "inherit_stat", "enable_on_exec", "task", "watermark",
	"precise_ip 1", "precise_ip 2", "mmap_data", "sample_id_all", "exclude_host", "exclude_guest",
	"exclude_callchain_kernel", "exclude_callchain_user", "mmap2", "comm_exec", "use_clockid",
	"context_switch", "write_backward", "namespaces", "ksymbol", "bpf_event", "aux_output",
	"cgroup", "text_poke", "build_id", "inherit_thread", "remove_on_exec", "sigtrap",
};

static void turn_bit(struct question *q, unsigned int bit)
{
	const char *name = bit < RAW_ARRAY_SIZE(bits) ? bits[bit] : "an unknown bit";
	size_t length = strlen(q->change);

	q->attr.bytes[FLAGS + bit / 8] ^= 1 << bit % 8;
	snprintf(q->change + length, sizeof(q->change) - length, "%s%s", length ? " and " : "",
		 name);
}

Test(refuse_perf, each_bit_of_the_attr, .timeout = 900)
{
	for (size_t b = 0; b < RAW_ARRAY_SIZE(bases); b++)
		for (unsigned int bit = 0; bit < 64; bit++) {
			struct question q = begin(b);

			turn_bit(&q, bit);
			ask(&q);
		}
}

/* Of which bits alone both say the same: what differs with another one is known. */
static uint64_t same_bits(size_t base)
{
	uint64_t same = 0;

	for (unsigned int bit = 0; bit < RAW_ARRAY_SIZE(bits); bit++) {
		struct question q = begin(base);

		turn_bit(&q, bit);
		if (ask(&q) >= 0)
			same |= 1ull << bit;
	}
	return same;
}

static void ask_with_each(const struct question *question, uint64_t which)
{
	struct question q[QUESTIONS];
	int answers[QUESTIONS];
	size_t n = 0;

	for (unsigned int bit = 0; bit < RAW_ARRAY_SIZE(bits); bit++) {
		if (!(which >> bit & 1))
			continue;
		q[n] = *question;
		turn_bit(&q[n++], bit);
	}
	ask_all(q, n, answers);
}

Test(refuse_perf, each_pair_of_bits, .timeout = 1800)
{
	for (size_t b = 0; b < RAW_ARRAY_SIZE(bases); b++) {
		uint64_t same = same_bits(b);

		for (unsigned int bit = 0; bit < RAW_ARRAY_SIZE(bits); bit++) {
			struct question q = begin(b);

			if (!(same >> bit & 1))
				continue;
			turn_bit(&q, bit);
			ask_with_each(&q, same & ~0ull << 1 << bit);
		}
	}
}

/* A value of a field, of an event that is otherwise @question */
struct value {
	size_t field;
	uint64_t value;
	struct question question;
};

/*
 * Ask for each value of a field; of the values with the same answer, if both give that, the first
 * is one of @first. Returns how many there are.
 */
static size_t ask_values(size_t base, size_t field, struct value *first)
{
	struct value all[RAW_ARRAY_SIZE(values)];
	struct question q[RAW_ARRAY_SIZE(values)];
	int answers[RAW_ARRAY_SIZE(values)];
	bool had[256] = { false };
	size_t n = 0, kept = 0;

	for (size_t v = 0; v < RAW_ARRAY_SIZE(values); v++) {
		if (fields[field].size < 8 && values[v] >> 8 * fields[field].size)
			continue;
		q[n] = begin(base);
		set_field(&q[n], field, values[v]);
		choose_tracepoint(&q[n]);
		all[n] = (struct value){ field, values[v], q[n] };
		n++;
	}
	ask_all(q, n, answers);
	for (size_t i = 0; i < n; i++) {
		if (answers[i] < 0 || had[answers[i]])
			continue;
		had[answers[i]] = true;
		first[kept++] = all[i];
	}
	return kept;
}

/* Each of @first with each of another field behind it */
static void ask_pairs(const struct value *first, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct question q[QUESTIONS];
		int answers[QUESTIONS];
		size_t pairs = 0;

		for (size_t k = i + 1; k < n; k++) {
			if (first[k].field == first[i].field)
				continue;
			q[pairs] = first[i].question;
			set_field(&q[pairs], first[k].field, first[k].value);
			choose_tracepoint(&q[pairs++]);
		}
		if (pairs)
			ask_all(q, pairs, answers);
	}
}

/*
 * Each field with each value; and of each field the first value with each answer, if both give
 * that, with each bit beside it, and with each such value of each other field.
 */
Test(refuse_perf, each_field_of_the_attr, .timeout = 1800)
{
	for (size_t b = 0; b < RAW_ARRAY_SIZE(bases); b++) {
		struct value first[QUESTIONS];
		uint64_t same = same_bits(b);
		size_t n = 0;

		for (size_t f = 0; f < RAW_ARRAY_SIZE(fields); f++) {
			cr_assert_leq(n + RAW_ARRAY_SIZE(values), RAW_ARRAY_SIZE(first));
			n += ask_values(b, f, first + n);
		}
		for (size_t i = 0; i < n; i++)
			ask_with_each(&first[i].question, same);
		ask_pairs(first, n);
	}
}

/* Bits of the masks alone, which the values above have few of */
Test(refuse_perf, each_bit_of_each_mask, .timeout = 1800)
{
	static const char *const masks[] = {
		"sample_type", "read_format", "branch_sample_type", "sample_regs_user",
		"sample_regs_intr",
	};

	for (size_t b = 0; b < RAW_ARRAY_SIZE(bases); b++)
		for (size_t f = 0; f < RAW_ARRAY_SIZE(fields); f++)
			for (size_t m = 0; m < RAW_ARRAY_SIZE(masks); m++)
				for (unsigned int bit = 0;
				     !strcmp(fields[f].name, masks[m]) && bit < 64; bit++) {
					struct question q = begin(b);

					set_field(&q, f, 1ull << bit);
					if (!strcmp(masks[m], "branch_sample_type"))
						q.attr.attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
					if (!strcmp(masks[m], "sample_regs_user"))
						q.attr.attr.sample_type |= PERF_SAMPLE_REGS_USER;
					if (!strcmp(masks[m], "sample_regs_intr"))
						q.attr.attr.sample_type |= PERF_SAMPLE_REGS_INTR;
					ask(&q);
				}
}

Test(refuse_perf, targets_and_flags, .timeout = 900)
{
	static const int pids[] = { -100, -21, -2, -1, 0, 1, 2, 99999, 1 << 30 };
	static const int cpus[] = { -100, -2, -1, 0, 1, 2, 7, 64, 100000 };
	static const int groups[] = { -100, -2, -1, 0, 1, 1000 };

	for (size_t b = 0; b < RAW_ARRAY_SIZE(bases); b++) {
		for (size_t p = 0; p < RAW_ARRAY_SIZE(pids); p++)
			for (size_t c = 0; c < RAW_ARRAY_SIZE(cpus); c++) {
				struct question q = begin(b);

				q.pid = pids[p];
				q.cpu = cpus[c];
				snprintf(q.change, sizeof(q.change), "pid %d cpu %d", q.pid, q.cpu);
				ask(&q);
			}
		for (size_t g = 0; g < RAW_ARRAY_SIZE(groups); g++) {
			struct question q = begin(b);

			q.group_fd = groups[g];
			snprintf(q.change, sizeof(q.change), "group_fd %d", q.group_fd);
			ask(&q);
		}
		for (unsigned int bit = 0; bit < 32; bit++) {
			struct question q = begin(b);

			q.flags = 1ull << bit;
			snprintf(q.change, sizeof(q.change), "flags %#lx", q.flags);
			ask(&q);
		}
	}
}

Test(refuse_perf, each_ioctl, .timeout = 900)
{
	static uint64_t zero, one = 1, large = 1ull << 63, most = ~0ull;
	static struct perf_event_attr attr;
	static char nonsense[] = "nonsense", empty[] = "";
	static struct {
		uint32_t ids_len, prog_cnt, ids[65];
	} programs[] = { { .ids_len = 0 }, { .ids_len = 64 }, { .ids_len = 65 } };
	const struct {
		const char *name;
		unsigned long request, arg;
	} calls[] = {
		{ "ENABLE", PERF_EVENT_IOC_ENABLE, 0 },
		{ "ENABLE of a group", PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP },
		{ "ENABLE with another flag", PERF_EVENT_IOC_ENABLE, 2 },
		{ "DISABLE", PERF_EVENT_IOC_DISABLE, 0 },
		{ "RESET", PERF_EVENT_IOC_RESET, 0 },
		{ "RESET with another flag", PERF_EVENT_IOC_RESET, ~0ul },
		{ "REFRESH 0", PERF_EVENT_IOC_REFRESH, 0 },
		{ "REFRESH 1", PERF_EVENT_IOC_REFRESH, 1 },
		{ "PERIOD 0", PERF_EVENT_IOC_PERIOD, (unsigned long)&zero },
		{ "PERIOD 1", PERF_EVENT_IOC_PERIOD, (unsigned long)&one },
		{ "PERIOD 2^63", PERF_EVENT_IOC_PERIOD, (unsigned long)&large },
		{ "PERIOD 2^64 - 1", PERF_EVENT_IOC_PERIOD, (unsigned long)&most },
		{ "PERIOD nowhere", PERF_EVENT_IOC_PERIOD, 0 },
		{ "SET_OUTPUT none", PERF_EVENT_IOC_SET_OUTPUT, -1ul },
		{ "SET_OUTPUT no event", PERF_EVENT_IOC_SET_OUTPUT, 0 },
		{ "SET_OUTPUT nothing", PERF_EVENT_IOC_SET_OUTPUT, 1000 },
		{ "SET_OUTPUT its group", PERF_EVENT_IOC_SET_OUTPUT, OTHER },
		{ "SET_FILTER nowhere", PERF_EVENT_IOC_SET_FILTER, 0 },
		{ "SET_FILTER nonsense", PERF_EVENT_IOC_SET_FILTER, (unsigned long)nonsense },
		{ "SET_FILTER empty", PERF_EVENT_IOC_SET_FILTER, (unsigned long)empty },
		{ "ID", PERF_EVENT_IOC_ID, (unsigned long)&zero },
		{ "ID nowhere", PERF_EVENT_IOC_ID, 0 },
		{ "SET_BPF 0", PERF_EVENT_IOC_SET_BPF, 0 },
		{ "SET_BPF nothing", PERF_EVENT_IOC_SET_BPF, 1000 },
		{ "PAUSE_OUTPUT 0", PERF_EVENT_IOC_PAUSE_OUTPUT, 0 },
		{ "PAUSE_OUTPUT 1", PERF_EVENT_IOC_PAUSE_OUTPUT, 1 },
		{ "QUERY_BPF nowhere", PERF_EVENT_IOC_QUERY_BPF, 0 },
		{ "QUERY_BPF for their number", PERF_EVENT_IOC_QUERY_BPF, (unsigned long)&programs[0] },
		{ "QUERY_BPF for 64", PERF_EVENT_IOC_QUERY_BPF, (unsigned long)&programs[1] },
		{ "QUERY_BPF for 65", PERF_EVENT_IOC_QUERY_BPF, (unsigned long)&programs[2] },
		{ "MODIFY_ATTRIBUTES nowhere", PERF_EVENT_IOC_MODIFY_ATTRIBUTES, 0 },
		{ "MODIFY_ATTRIBUTES zeroes", PERF_EVENT_IOC_MODIFY_ATTRIBUTES, (unsigned long)&attr },
		{ "12", _IO('$', 12), 0 },
		{ "3 of another size", _IOR('$', 4, uint32_t), 0 },
		{ "somebody else's", _IO('T', 1), 0 },
	};

	for (size_t b = 0; b < RAW_ARRAY_SIZE(bases); b++)
		for (size_t c = 0; c < RAW_ARRAY_SIZE(calls); c++)
			for (unsigned int state = 0; state < STATES; state++) {
				struct question q = begin(b);

				q.state = state;
				q.request = calls[c].request;
				q.arg = calls[c].arg;
				zero = 0;
				snprintf(q.change, sizeof(q.change), "ioctl %s%s", calls[c].name,
					 states[state]);
				ask(&q);
			}
}

static bool is_where(enum where where, const struct utsname *kernel)
{
	switch (where) {
	case LINUX_5_10:
		return !fnmatch("5.10.*", kernel->release, 0);
	case SINCE_6_1:
		return !is_where(LINUX_5_10, kernel);
	case LINUX_6_1:
		return !fnmatch("6.1.*", kernel->release, 0);
	case LINUX_6_12:
		return !fnmatch("6.12.*", kernel->release, 0);
	case LATER:
		return !is_where(LINUX_5_10, kernel) && !is_where(LINUX_6_1, kernel) &&
		       !is_where(LINUX_6_12, kernel);
	case INTEL:
		return !pmu_is_amd();
	default:
		return true;
	}
}

/* The last by its name, and so by the order in which they run */
Test(refuse_perf, the_table_has_nothing_that_is_not_met)
{
	struct utsname kernel;

	uname(&kernel);
	if (findings->ended < TESTS)
		cr_skip_test("not all of the others have run");
	for (size_t i = 0; i < RAW_ARRAY_SIZE(differences); i++) {
		const struct difference *d = &differences[i];

		cr_expect(findings->met[i] || !is_where(d->where, &kernel),
			  "%s, %s: perf %s, here %s: %s: met nowhere",
			  d->base ? d->base : "all", d->change, name_of(d->perfs),
			  name_of(d->ours), d->reason);
	}
}
