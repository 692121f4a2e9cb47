// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is in a sample: each field has the right value, any combination of fields gives a
 * record of just these, and other records end with the fields that sample_id_all gives.
 */
#include "records.h"

TestSuite(sample_fields, .init = sampling_init, .fini = sampling_fini);

#define PERIOD	50
#define ROUNDS	10	/* two samples of them */

#define REGS_MASK	0xff0fffull	/* all but the segments of 32-bit code */
#define STACK_BYTES	64

/* Every field that a hardware event can have here */
static const struct {
	uint64_t bit;
	const char *name;
} fields[] = {
	{ PERF_SAMPLE_IP, "IP" }, { PERF_SAMPLE_TID, "TID" },
	{ PERF_SAMPLE_TIME, "TIME" }, { PERF_SAMPLE_ADDR, "ADDR" },
	{ PERF_SAMPLE_READ, "READ" }, { PERF_SAMPLE_CALLCHAIN, "CALLCHAIN" },
	{ PERF_SAMPLE_ID, "ID" }, { PERF_SAMPLE_CPU, "CPU" },
	{ PERF_SAMPLE_PERIOD, "PERIOD" }, { PERF_SAMPLE_STREAM_ID, "STREAM_ID" },
	{ PERF_SAMPLE_RAW, "RAW" }, { PERF_SAMPLE_REGS_USER, "REGS_USER" },
	{ PERF_SAMPLE_STACK_USER, "STACK_USER" }, { PERF_SAMPLE_REGS_INTR, "REGS_INTR" },
	{ PERF_SAMPLE_IDENTIFIER, "IDENTIFIER" }, { PERF_SAMPLE_CGROUP, "CGROUP" },
};

#define FIELDS	RAW_ARRAY_SIZE(fields)

static struct perf_event_attr attr_of(uint64_t type)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);

	attr.sample_type = type;
	if (type & PERF_SAMPLE_REGS_USER)
		attr.sample_regs_user = REGS_MASK;
	if (type & PERF_SAMPLE_REGS_INTR)
		attr.sample_regs_intr = REGS_MASK;
	if (type & PERF_SAMPLE_STACK_USER)
		attr.sample_stack_user = STACK_BYTES;
	return attr;
}

static uint64_t type_of(uint64_t combination)
{
	uint64_t type = 0;

	for (size_t i = 0; i < FIELDS; i++)
		if (combination >> i & 1)
			type |= fields[i].bit;
	return type;
}

/* ---- The values ---- */

/* Registers by their numbers in a mask that has all below 12, and 16 to 23 */
#define REG_SP	7
#define REG_IP	8

static void check_regs(const struct sample *s, uint64_t abi, const uint64_t *regs,
		       uint64_t ip)
{
	char here;

	cr_assert_eq(abi, PERF_SAMPLE_REGS_ABI_64);
	cr_assert_eq(regs[REG_IP], ip);
	cr_assert_leq(labs((long)(regs[REG_SP] - (uintptr_t)&here)), 65536,
		      "sp %#lx of sample at %#lx", regs[REG_SP], s->ip);
}

/* What must be in the n-th sample of a task's own block, n from 1 on */
static void check_values(const struct sample *s, uint64_t type, uint64_t n, uint64_t id)
{
	uint64_t ip = block_ip(n * PERIOD, ROUNDS);

	if (type & PERF_SAMPLE_IP)
		cr_assert_eq(s->ip, ip);
	if (type & PERF_SAMPLE_TID)
		cr_assert(s->pid == (uint32_t)getpid() && s->tid == (uint32_t)gettid());
	if (type & PERF_SAMPLE_TIME)
		cr_assert_gt(s->time, 0);
	cr_assert_eq(s->addr, 0);
	if (type & PERF_SAMPLE_ID)
		cr_assert_eq(s->id, id);
	if (type & PERF_SAMPLE_IDENTIFIER)
		cr_assert_eq(s->identifier, id);
	if (type & PERF_SAMPLE_STREAM_ID)
		cr_assert_eq(s->stream_id, id);
	if (type & PERF_SAMPLE_CPU)
		cr_assert(s->cpu == 1 && s->cpu_reserved == 0);
	if (type & PERF_SAMPLE_PERIOD)
		cr_assert_eq(s->period, PERIOD);
	if (type & PERF_SAMPLE_READ)
		cr_assert_eq(s->read.each[0].value, n * PERIOD);
	if (type & PERF_SAMPLE_CALLCHAIN)
		cr_assert(s->nr_chain >= 2 && s->chain[0] == (uint64_t)PERF_CONTEXT_USER &&
			  s->chain[1] == ip);
	if (type & PERF_SAMPLE_RAW)
		cr_assert_eq(s->raw_size, 4);
	if (type & PERF_SAMPLE_REGS_USER)
		check_regs(s, s->user_abi, s->user_regs, ip);
	if (type & PERF_SAMPLE_REGS_INTR)
		check_regs(s, s->intr_abi, s->intr_regs, ip);
	if (type & PERF_SAMPLE_CGROUP)
		cr_assert_gt(s->cgroup, 0); /* whose it is: sample_cgroup */
	if (type & PERF_SAMPLE_STACK_USER)
		cr_assert(s->user_stack_size == STACK_BYTES &&
			  s->user_stack_filled == STACK_BYTES);
}

/* Sample with exactly these fields, and look at each. */
static void check_type(uint64_t type)
{
	struct perf_event_attr attr = attr_of(type);
	struct perf_event_header *header;
	AUTO_CLOSE int fd = event_open(attr);
	struct sample s;
	struct ring r;
	uint64_t id;

	ring_map(&r, fd, 1);
	id = event_id(fd);
	block_run(fd, ROUNDS);
	for (uint64_t n = 1; n <= 2; n++) {
		header = ring_next(&r);
		cr_assert_not_null(header, "sample_type %#lx", type);
		take_sample(&attr, header, &s);
		cr_assert_eq(s.misc, PERF_RECORD_MISC_USER);
		check_values(&s, type, n, id);
	}
	cr_assert_null(ring_next(&r));
	ring_unmap(&r);
}

Test(sample_fields, each_alone)
{
	pin_here(1);
	for (size_t i = 0; i < FIELDS; i++)
		check_type(fields[i].bit);
	check_type(0);
}

/* All of the fields with a fixed size; the others are in the next test. */
Test(sample_fields, every_combination_of_fixed_size)
{
	static const uint64_t fixed = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
		PERF_SAMPLE_TIME | PERF_SAMPLE_READ | PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
		PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_IDENTIFIER;

	pin_here(1);
	for (uint64_t c = 0; c < 1ull << FIELDS; c++)
		if (!(type_of(c) & ~fixed))
			check_type(type_of(c));
}

/* In short, every 13th: which no field's place divides, so all pairs are among them. */
Test(sample_fields, every_combination, .timeout = 600)
{
	pin_here(1);
	for (uint64_t c = 0; c < 1ull << FIELDS; c += is_stress() ? 1 : 13)
		check_type(type_of(c));
}

/* ---- READ ---- */

static void check_read(const struct sample_read *read, uint64_t format, uint64_t nr,
		       const uint64_t *ids, const uint64_t *values)
{
	cr_assert_eq(read->nr, nr);
	for (uint64_t i = 0; i < nr; i++) {
		cr_assert_eq(read->each[i].value, values[i], "format %#lx, event %lu: %lu",
			     format, i, read->each[i].value);
		if (format & PERF_FORMAT_ID)
			cr_assert_eq(read->each[i].id, ids[i]);
		cr_assert_eq(read->each[i].lost, 0);
	}
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		cr_assert_gt(read->enabled, 0);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		cr_assert_gt(read->running, 0);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED &&
	    format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		cr_assert_eq(read->enabled, read->running);
}

/* A leader that samples, and two siblings that count: instructions, and branches, of
 * which there is one in each round.
 */
static void check_group_format(uint64_t format)
{
	struct perf_event_attr attr = sampling_attr(PERIOD), siblings[2];
	uint64_t ids[3], values[3] = { PERIOD, PERIOD, PERIOD / BLOCK_ROUND };
	struct perf_event_header *header;
	struct sample s;
	struct ring r;
	int fds[3];

	attr.sample_type = PERF_SAMPLE_READ | PERF_SAMPLE_IP;
	attr.read_format = format;
	siblings[0] = instructions_u();
	siblings[1] = branches_u();
	fds[0] = event_open(attr);
	for (int i = 0; i < 2; i++) {
		siblings[i].read_format = 0;
		fds[i + 1] = event_open(siblings[i], .group = fds[0]);
	}
	for (int i = 0; i < 3; i++)
		ids[i] = event_id(fds[i]);
	ring_map(&r, fds[0], 1);
	block_run(fds[0], ROUNDS);
	header = ring_next(&r);
	cr_assert_not_null(header);
	take_sample(&attr, header, &s);
	check_read(&s.read, format, format & PERF_FORMAT_GROUP ? 3 : 1, ids, values);
	ring_unmap(&r);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

Test(sample_fields, read_in_every_format)
{
	for (uint64_t format = 0; format < 32; format++)
		check_group_format(format);
}

/* ---- Who, where, when ---- */

struct sampled_thread {
	struct perf_event_attr attr;
	struct ring r;
	pid_t tid;
};

static void *sampled_thread(void *arg)
{
	struct sampled_thread *t = arg;
	AUTO_CLOSE int fd = event_open(t->attr);

	t->tid = gettid();
	ring_map(&t->r, fd, 1);
	block_run(fd, ROUNDS);
	return NULL;
}

Test(sample_fields, thread_has_its_own_tid)
{
	struct sampled_thread t = { .attr = sampling_attr(PERIOD) };
	struct perf_event_header *header;
	pthread_t thread;
	struct sample s;
	int n = 0;

	cr_assert_eq(pthread_create(&thread, NULL, sampled_thread, &t), 0);
	pthread_join(thread, NULL);
	while ((header = ring_next(&t.r))) {
		take_sample(&t.attr, header, &s);
		cr_assert(s.pid == (uint32_t)getpid() && s.tid == (uint32_t)t.tid);
		n++;
	}
	cr_assert_eq(n, 2);
	cr_assert_neq(t.tid, getpid());
}

/* An event of a CPU sees everybody there. The samples between which there are no others
 * of the worker's are 2 * period instructions of its loop apart.
 */
Test(sample_fields, event_of_a_cpu_tells_who_ran)
{
	struct perf_event_attr attr = sampling_attr(10000);
	struct perf_event_header *header;
	uint64_t mine = 0, n = 1000000;
	struct worker w;
	struct sample s;
	struct ring r;
	int fd;

	pin_here(0);
	worker_start(&w, false);
	pin_task(w.tid, 1);
	fd = event_open(attr, -1, 1);
	ring_map(&r, fd, 64);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	worker_run(&w, n);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	while ((header = ring_next(&r))) {
		cr_assert_eq(header->type, PERF_RECORD_SAMPLE);
		take_sample(&attr, header, &s);
		cr_assert_eq(s.cpu, 1);
		mine += s.pid == (uint32_t)w.tid && s.tid == (uint32_t)w.tid;
	}
	/* Its loop, and some thousand instructions around it */
	cr_assert(mine >= 2 * n / 10000 - 1 && mine <= 2 * n / 10000 + 10, "%lu", mine);
	worker_end(&w);
}

Test(sample_fields, time_goes_on)
{
	struct perf_event_attr attr = sampling_attr(100);
	struct perf_event_header *header;
	int fd = event_open(attr);
	uint64_t last = 0, n = 0;
	struct sample s;
	struct ring r;

	pin_here(0);
	ring_map(&r, fd, 64);
	block_run(fd, 10000);
	while ((header = ring_next(&r))) {
		take_sample(&attr, header, &s);
		cr_assert_gt(s.time, last);
		last = s.time;
		n++;
	}
	cr_assert_eq(n, BLOCK_LENGTH(10000) / 100);
}

/* By the clock that was asked for: between what that clock said before and after. Not
 * every clock can be read at any time.
 */
static void check_clock(clockid_t clock, bool may_be_refused)
{
	struct perf_event_attr attr = sampling_attr(PERIOD);
	struct perf_event_header *header;
	uint64_t before, after;
	struct sample s;
	struct ring r;
	int fd;

	attr.use_clockid = 1;
	attr.clockid = clock;
	fd = event_try(attr);
	if (may_be_refused && fd == -EINVAL)
		return;
	cr_assert_geq(fd, 0, "clock %d: %s", clock, event_why.sentence);
	ring_map(&r, fd, 1);
	before = clock_ns(clock);
	block_run(fd, ROUNDS);
	after = clock_ns(clock);
	header = ring_next(&r);
	cr_assert_not_null(header);
	take_sample(&attr, header, &s);
	cr_assert(s.time >= before && s.time <= after, "clock %d: %lu, not %lu to %lu",
		  clock, s.time, before, after);
	ring_unmap(&r);
	close(fd);
}

Test(sample_fields, time_by_any_clock)
{
	check_clock(CLOCK_MONOTONIC, false);
	check_clock(CLOCK_MONOTONIC_RAW, false);
	check_clock(CLOCK_REALTIME, true);
	check_clock(CLOCK_BOOTTIME, true);
	check_clock(CLOCK_TAI, true);
}

/* ---- sample_id_all, and sizes ---- */

/* A ring that is too small makes a LOST record. */
static void check_id_all(uint64_t type)
{
	struct perf_event_attr attr = attr_of(type | PERF_SAMPLE_IP);
	struct perf_event_header *header = NULL;
	struct tally t = { 0 };
	struct sample s;
	struct ring r;
	uint64_t id;
	int fd;

	attr.sample_id_all = 1;
	fd = event_open(attr);
	id = event_id(fd);
	ring_map(&r, fd, 1);
	block_run(fd, 2600); /* 520 samples of at least 16 bytes */
	tally_ring(&attr, &r, &t);
	block_run(fd, ROUNDS);
	header = ring_next(&r);
	cr_assert_not_null(header);
	cr_assert_eq(header->type, PERF_RECORD_LOST);
	take_sample_id(&attr, header, sizeof(struct lost_record), &s);
	cr_assert_eq(((struct lost_record *)header)->id, id);
	if (type & PERF_SAMPLE_TID)
		cr_assert(s.pid == (uint32_t)getpid() && s.tid == (uint32_t)gettid());
	if (type & PERF_SAMPLE_TIME)
		cr_assert_gt(s.time, 0);
	if (type & PERF_SAMPLE_ID)
		cr_assert_eq(s.id, id);
	if (type & PERF_SAMPLE_STREAM_ID)
		cr_assert_eq(s.stream_id, id);
	if (type & PERF_SAMPLE_CPU)
		cr_assert_eq(s.cpu, 1);
	if (type & PERF_SAMPLE_IDENTIFIER)
		cr_assert_eq(s.identifier, id);
	ring_unmap(&r);
	close(fd);
}

Test(sample_fields, other_records_end_with_sample_id)
{
	static const uint64_t bits[] = { PERF_SAMPLE_TID, PERF_SAMPLE_TIME,
		PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID, PERF_SAMPLE_CPU,
		PERF_SAMPLE_IDENTIFIER };

	pin_here(1);
	for (unsigned int c = 0; c < 1 << RAW_ARRAY_SIZE(bits); c++) {
		uint64_t type = 0;

		for (size_t i = 0; i < RAW_ARRAY_SIZE(bits); i++)
			if (c >> i & 1)
				type |= bits[i];
		check_id_all(type);
	}
}

/* A stack larger than what a record can hold is cut; the record stays as it must be. */
Test(sample_fields, stack_larger_than_a_record)
{
	static const uint32_t sizes[] = { 8, 1024, 16384, 32768, 65528 - 8 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(sizes); i++) {
		struct perf_event_attr attr = attr_of(PERF_SAMPLE_STACK_USER |
						      PERF_SAMPLE_REGS_USER |
						      PERF_SAMPLE_IP);
		struct perf_event_header *header;
		struct sample s;
		uint64_t first;
		struct ring r;
		int fd;

		attr.sample_stack_user = sizes[i];
		fd = event_open(attr);
		ring_map(&r, fd, 64);
		block_run(fd, ROUNDS);
		header = ring_next(&r);
		cr_assert_not_null(header, "%u", sizes[i]);
		take_sample(&attr, header, &s);
		cr_assert_leq(s.user_stack_size, sizes[i]);
		cr_assert_gt(s.user_stack_filled, 0);
		/* The address to which the block returns, near to it */
		memcpy(&first, s.user_stack, sizeof(first));
		cr_assert_lt(labs((long)(first - (uintptr_t)sampled_first)), 1 << 20);
		ring_unmap(&r);
		close(fd);
	}
}

/* Who samples in a pid namespace of its own is told the numbers there: it is the first task. */
static int sample_inside(void)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_TID);
	int fd = event_try(attr);
	struct perf_event_header *header;
	unsigned int n = 0;
	struct ring r;

	if (fd < 0 || ring_try_map(&r, fd, 8, PROT_READ | PROT_WRITE))
		return 1;
	if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return 2;
	user_loop(ROUNDS * PERIOD);
	if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0))
		return 3;
	for (; (header = ring_next(&r)); n++)
		if (header->type != PERF_RECORD_SAMPLE ||
		    *(uint64_t *)(header + 1) != (1ull << 32 | 1))
			return 4;
	return n >= ROUNDS ? 0 : 5;
}

Test(sample_fields, ids_of_a_pid_namespace)
{
	int status;
	pid_t pid;

	cr_assert_eq(unshare(CLONE_NEWPID), 0, "%m");
	pid = fork();
	cr_assert_geq(pid, 0);
	if (!pid)
		_exit(sample_inside());
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0, "%#x", status);
}
