// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters that a thread reads in user space: the value is that of read(), exact to
 * the instruction, whatever happens to the counter meanwhile.
 */
#include "hybrid.h"
#include "pmu.h"
#include "userpage.h"
#include "busy.h"

#define N		100000ull
#define HEADROOM	"/sys/module/pmuctl/parameters/counter_headroom"

static void set_headroom(unsigned int headroom)
{
	FILE *f = fopen(HEADROOM, "we");

	cr_assert_not_null(f);
	fprintf(f, "%u", headroom);
	cr_assert_eq(fclose(f), 0);
}

static void reset_headroom(void)
{
	set_headroom(0);
}

TestSuite(user_count, .init = reset_headroom, .fini = reset_headroom);

static void loops_are_exact(uint64_t config, unsigned int each)
{
	struct perf_event_attr attr = user_attr(config);
	AUTO_CLOSE int fd = event_open(attr);
	user_page *page = page_map(fd);
	uint64_t once, twice;

	around_loop(page, 1); /* warm */
	once = around_loop(page, N);
	twice = around_loop(page, 2 * N);
	cr_expect_eq(twice - once, each * N, "event %lu: %lu", config,
		     twice - once);
	page_unmap(page);
}

Test(user_count, loops_are_exact_on_a_fixed_counter)
{
	loops_are_exact(PERF_COUNT_HW_INSTRUCTIONS, LOOP_INSTRUCTIONS);
}

Test(user_count, loops_are_exact_on_a_general_counter)
{
	loops_are_exact(PERF_COUNT_HW_BRANCH_INSTRUCTIONS, LOOP_BRANCHES);
}

Test(user_count, page_says_what_it_is)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_open(attr);
	user_page *page = page_map(fd);

	cr_expect_eq(page->version, 0);
	cr_expect_eq(page->compat_version, 0);
	cr_expect_eq(page->cap_bit0, 0);
	cr_expect_eq(page->cap_bit0_is_deprecated, 1);
	cr_expect_eq(page->cap_user_rdpmc, 1);
	cr_expect_eq(page->cap_user_time_zero, page->time_mult != 0);
	cr_expect_eq(page->size, offsetof(user_page, __reserved));
	cr_expect_gt(page->index, 0);
	cr_expect_geq(page->pmc_width, 32);
	cr_expect_eq(page->lock & 1, 0);
	cr_expect_eq(page->data_size, 0);
}

/* perf's pages, too, tell no time of records that have another clock. */
Test(user_count, page_says_nothing_of_another_clock)
{
	struct perf_event_attr attr = instructions_u();
	user_page *page = page_map(event_open(attr)), *other;

	attr.use_clockid = 1;
	attr.clockid = CLOCK_MONOTONIC;
	other = page_map(event_open(attr));
	cr_expect_eq(other->time_mult, page->time_mult);
	cr_expect_eq(other->cap_user_time, page->cap_user_time);
	cr_expect_eq(other->cap_user_time_zero, 0);
	cr_expect_eq(other->time_zero, 0);
}

Test(user_count, index_names_the_counter)
{
	struct perf_event_attr fixed = disabled(instructions_u());
	struct perf_event_attr general = disabled(branches_u());
	int fd = event_open(fixed), other = event_open(general, .group = fd);
	user_page *a = page_map(fd), *b = page_map(other);

	cr_expect_eq(a->index, 0);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	event_ioctl(other, PERF_EVENT_IOC_ENABLE);
	if (pmu_fixed())
		cr_expect_eq(a->index, (1u << 30) + 1);
	else
		cr_expect(a->index >= 1 && a->index <= pmu_general() &&
			  a->index != b->index, "%u and %u", a->index, b->index);
	cr_expect_geq(b->index, 1);
	cr_expect_leq(b->index, 8);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(a->index, 0);
	cr_expect_eq(b->index, 0);
}

/* Else the sum of the page and the counter would jump in the middle of its range. */
Test(user_count, counters_stay_in_the_upper_half)
{
	static const unsigned int headrooms[] = { 0, 1000, 0 };
	struct perf_event_attr attr[2] = { instructions_u(), branches_u() };

	for (unsigned int i = 0; i < 6; i++) {
		AUTO_CLOSE int fd = event_open(attr[i % 2]);
		const volatile user_page *page = page_map(fd);

		set_headroom(headrooms[i / 2]);
		for (unsigned int k = 0; k < 50; k++) {
			uint32_t index = page->index;

			cr_assert_gt(index, 0);
			cr_assert_eq(counter_read(index - 1) >> (page->pmc_width - 1), 1);
			user_loop(N);
			usleep(100);
		}
		page_unmap((user_page *)page);
	}
}

Test(user_count, page_of_a_disabled_event_is_what_read_says)
{
	struct perf_event_attr attr = disabled(instructions_u());
	int fd = event_open(attr);
	user_page *page = page_map(fd);
	struct user_read r;
	struct counts c;

	for (unsigned int i = 0; i < 20; i++) {
		bracket(fd, N + i);
		r = page_read(page);
		c = event_read(fd);
		cr_expect_eq(r.index, 0);
		cr_expect_eq(r.value, c.value);
		cr_expect_eq(page->time_enabled, c.enabled);
		cr_expect_eq(page->time_running, c.running);
		cr_expect_eq(page->cap_user_time, 0, "its clock stands still");
	}
	cr_expect_eq(c.value, 20 * bracket_instructions(N) + 19 * 20);
}

/* read() is a system call, so what lies between is a few instructions. */
Test(user_count, read_and_the_counter_agree)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_open(attr);
	user_page *page = page_map(fd);
	uint64_t before, now, after;

	for (unsigned int i = 0; i < 1000; i++) {
		before = page_read(page).value;
		now = event_value(fd);
		after = page_read(page).value;
		cr_assert_leq(before, now);
		cr_assert_leq(now, after);
		cr_assert_lt(after - before, 3000);
	}
}

Test(user_count, reset_starts_from_0)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_open(attr);
	user_page *page = page_map(fd);

	user_loop(N);
	cr_expect_gt(page_read(page).value, 2 * N);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	cr_expect_lt(page_read(page).value, 3000);
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	event_ioctl(fd, PERF_EVENT_IOC_RESET);
	cr_expect_eq(page_read(page).value, 0);
}

/* As PAPI reads a page: the offset, too, is extended from the counter's width. */
static int64_t page_read_narrow(const volatile user_page *page)
{
	const unsigned int unused = 64 - page->pmc_width;
	uint64_t offset, pmc;
	uint32_t lock, index;

	do {
		lock = page->lock;
		asm volatile("" : : : "memory");
		index = page->index;
		offset = page->offset;
		pmc = index ? counter_read(index - 1) : 0;
		asm volatile("" : : : "memory");
	} while (page->lock != lock || lock & 1);
	return ((int64_t)(offset << unused) >> unused) + ((int64_t)(pmc << unused) >> unused);
}

Test(user_count, readers_that_extend_the_offset)
{
	struct perf_event_attr attrs[2] = { disabled(instructions_u()), branches_u() };
	int fd = event_open(attrs[0]);
	int fds[] = { fd, event_open(attrs[1], .group = fd) };
	user_page *pages[] = { page_map(fds[0]), page_map(fds[1]) };

	cr_expect_geq(pages[0]->pmc_width, 32, "before it has a counter");
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	for (unsigned int i = 0; i < 100; i++) {
		const unsigned int k = i & 1;
		int64_t before, now, after;

		user_loop(N);
		if (i % 10 == 9)
			usleep(100);
		if (i == 50)
			event_ioctl(fd, PERF_EVENT_IOC_RESET);
		before = page_read_narrow(pages[k]);
		now = event_value(fds[k]);
		after = page_read_narrow(pages[k]);
		cr_assert(before > 0 || i == 50, "%u: %ld", i, before);
		cr_assert(before <= now && now <= after, "%u: %ld, %ld, %ld", i, before, now, after);
	}
}

/* Mapping a counter that runs moves it to the upper half of its range. */
Test(user_count, mapping_loses_nothing)
{
	struct perf_event_attr attr = disabled(instructions_u());
	int mapped = event_open(attr), other;

	attr.disabled = 0;
	other = event_open(attr, .group = mapped);
	event_ioctl(mapped, PERF_EVENT_IOC_ENABLE);
	for (unsigned int i = 0; i < 50; i++)
		page_unmap(page_map(mapped));
	page_map(mapped);
	user_loop(N);
	event_ioctl(mapped, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(event_value(mapped), event_value(other));
	cr_expect_gt(event_value(mapped), 2 * N);
}

/* The counter overflows between reads and in the middle of them. */
Test(user_count, a_million_reads_while_it_overflows)
{
	struct perf_event_attr attr = disabled(instructions_u());
	uint64_t last = 0, start, end;
	user_page *page;
	unsigned int retries = 0, i;
	struct user_read r;
	int fd, other;

	set_headroom(1000);
	fd = event_open(attr);
	attr.disabled = 0;
	other = event_open(attr, .group = fd);
	page = page_map(fd);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	start = page_read(page).value;
	for (i = 0; i < 1000000; i++) {
		r = page_read(page);
		cr_assert(r.value > last && r.value - last < 100000,
			  "read %u: %lu after %lu", i, r.value, last);
		last = r.value;
		retries += r.retries;
	}
	end = page_read(page).value;
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(event_value(fd), event_value(other), "%ld too many",
		     (long)(event_value(fd) - event_value(other)));
	cr_expect_eq(page_read(page).value, event_value(fd));
	cr_expect_gt(end - start, 10000000);
	cr_expect_gt(retries, 100, "%u reads were interrupted", retries);
	cr_expect_lt(event_value(fd) - end, 3000);
}

/* ---- Switches and migrations ---- */

/**
 * struct reader - a thread that counts itself twice and reads one of both all the time
 * @thread: the thread.
 * @tid: its id.
 * @reads: of the page.
 * @off: of these found no counter.
 * @stop: it is to end.
 */
struct reader {
	pthread_t thread;
	pid_t tid;
	unsigned int reads;
	unsigned int off;
	volatile bool stop;
};

static void *reader_thread(void *arg)
{
	struct perf_event_attr attr = disabled(instructions_u());
	AUTO_CLOSE int fd = event_open(attr), other;
	struct reader *reader = arg;
	user_page *page;
	uint64_t last = 0;
	struct user_read r;

	attr.disabled = 0;
	other = event_open(attr, .group = fd);
	page = page_map(fd);
	event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
	__atomic_store_n(&reader->tid, gettid(), __ATOMIC_RELEASE);
	while (!reader->stop) {
		r = page_read(page);
		cr_assert(r.value >= last && r.value - last < 1ull << 32,
			  "%lu after %lu", r.value, last);
		last = r.value;
		reader->reads++;
		reader->off += !r.index;
	}
	event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
	cr_expect_eq(event_value(fd), event_value(other));
	cr_expect_eq(page_read(page).value, event_value(fd));
	cr_expect_lt(event_value(fd) - last, 3000);
	page_unmap(page);
	close(other);
	return NULL;
}

/* Often enough to have met what happens meanwhile, however slow they are */
static bool all_have_read(const struct reader *readers, unsigned int nr)
{
	while (nr--)
		if (__atomic_load_n(&readers[nr].reads, __ATOMIC_RELAXED) <= 1000)
			return false;
	return true;
}

static void readers_on_the_move(unsigned int headroom)
{
	struct reader readers[3] = { 0 };
	unsigned int i, moves;

	set_headroom(headroom);
	for (i = 0; i < 3; i++) {
		cr_assert_eq(pthread_create(&readers[i].thread, NULL,
					    reader_thread, &readers[i]), 0);
		while (!__atomic_load_n(&readers[i].tid, __ATOMIC_ACQUIRE))
			usleep(1000);
	}
	for (moves = 0; moves < 600 || !all_have_read(readers, 3); moves++) {
		pin_task(readers[moves % 3].tid, moves / 3 % 2);
		usleep(1000);
	}
	for (i = 0; i < 3; i++)
		readers[i].stop = true;
	for (i = 0; i < 3; i++) {
		cr_assert_eq(pthread_join(readers[i].thread, NULL), 0);
		cr_expect_eq(readers[i].off, 0, "there are counters for all");
	}
}

Test(user_count, switches_and_migrations)
{
	readers_on_the_move(0);
}

Test(user_count, switches_and_migrations_with_overflows)
{
	readers_on_the_move(3000);
}

/* The right and the page follow the thread away from a CPU that goes, and back. */
Test(user_count, cpu_goes_and_comes)
{
	struct reader reader = { 0 };
	unsigned int i;

	cr_assert_eq(pthread_create(&reader.thread, NULL, reader_thread, &reader), 0);
	while (!__atomic_load_n(&reader.tid, __ATOMIC_ACQUIRE))
		usleep(1000);
	for (i = 0; i < 5 || !all_have_read(&reader, 1); i++) {
		set_online(1, false);
		usleep(20000);
		set_online(1, true);
		pin_task(reader.tid, 1);
		usleep(20000);
	}
	reader.stop = true;
	cr_assert_eq(pthread_join(reader.thread, NULL), 0);
}

/* ---- Turns ---- */

/**
 * struct turn_taker - one of several events that take turns
 * @fd: it.
 * @page: its page.
 * @last: what was read last.
 * @on: how often it had a counter.
 * @off: how often it had none.
 */
struct turn_taker {
	int fd;
	user_page *page;
	uint64_t last;
	unsigned int on, off;
};

static void read_taker(struct turn_taker *t)
{
	struct user_read r = page_read(t->page);

	cr_assert(r.value >= t->last && r.value - t->last < 1ull << 32,
		  "%lu after %lu", r.value, t->last);
	t->last = r.value;
	t->on += r.index != 0;
	t->off += r.index == 0;
}

/* Half a second, and until each has been seen on a counter and without one */
Test(user_count, events_that_take_turns)
{
	enum { EVENTS = 12 };
	uint64_t end = clock_ns(CLOCK_MONOTONIC) + 500000000;
	struct turn_taker takers[EVENTS] = { 0 }, *t;
	struct perf_event_attr attr = branches_u();
	struct counts c;
	bool all_seen;

	for (t = takers; t < takers + EVENTS; t++) {
		t->fd = event_open(attr);
		t->page = page_map(t->fd);
	}
	do {
		all_seen = true;
		for (t = takers; t < takers + EVENTS; t++) {
			read_taker(t);
			all_seen &= t->on && t->off;
		}
		user_loop(1000);
	} while (!all_seen || clock_ns(CLOCK_MONOTONIC) < end);
	for (t = takers; t < takers + EVENTS; t++) {
		event_ioctl(t->fd, PERF_EVENT_IOC_DISABLE);
		c = event_read(t->fd);
		cr_expect_eq(page_read(t->page).value, c.value);
		cr_expect_eq(t->page->time_enabled, c.enabled);
		cr_expect_eq(t->page->time_running, c.running);
		cr_expect_lt(c.running, c.enabled);
	}
}

/* ---- Time ---- */

/* Now, as the page tells it: time_enabled, and the time since */
static uint64_t page_time(const volatile user_page *page)
{
	uint64_t enabled, cycles, rest;
	uint32_t lock;

	do {
		lock = page->lock;
		asm volatile("" : : : "memory");
		cycles = __builtin_ia32_rdtsc();
		rest = cycles & ((1ull << page->time_shift) - 1);
		enabled = page->time_enabled + page->time_offset +
			  (cycles >> page->time_shift) * page->time_mult +
			  (rest * page->time_mult >> page->time_shift);
		asm volatile("" : : : "memory");
	} while (page->lock != lock || lock & 1);
	return enabled;
}

/*
 * Where the TSC cannot be used as a clock the page says so, and is right as it is. The
 * host may stop the CPU between two readings, but not each time for long.
 */
Test(user_count, time_goes_on_in_the_page)
{
	struct perf_event_attr attr = instructions_u();
	int fd = event_open(attr);
	uint64_t before, now, after, least = -1;
	user_page *page = page_map(fd);

	if (!page->cap_user_time)
		cr_expect_eq(page->time_offset, 0);
	/* As perf's: readers take the rest of the cycles for 32 bits. */
	cr_expect_leq(page->time_shift, 31);
	for (unsigned int i = 0; i < 100; i++) {
		user_loop(N);
		before = page_time(page);
		now = event_read(fd).enabled;
		after = page_time(page);
		if (page->cap_user_time) {
			cr_expect(before <= now + 1000 && now <= after + 1000,
				  "%lu, read %lu, %lu", before, now, after);
			least = after - before < least ? after - before : least;
		} else {
			cr_expect_leq(before, now);
		}
	}
	if (page->cap_user_time)
		cr_expect_lt(least, 100000000, "%lu", least);
}

/* ---- What perf left behind ---- */

static void yield_to_another_process(unsigned int rounds)
{
	int there[2], back[2];
	pid_t child;
	char c = 0;

	cr_assert_eq(pipe(there), 0);
	cr_assert_eq(pipe(back), 0);
	child = fork_child();
	if (!child) {
		close(there[1]);
		while (read(there[0], &c, 1) == 1)
			if (write(back[1], &c, 1) != 1)
				_exit(1);
		_exit(0);
	}
	while (rounds--) {
		cr_assert_eq(write(there[1], &c, 1), 1);
		cr_assert_eq(read(back[0], &c, 1), 1);
	}
	close(there[1]);
	close(there[0]);
	close(back[0]);
	close(back[1]);
	waitpid(child, NULL, 0);
}

static void use_perf(void)
{
	struct perf_event_attr attr = instructions_u();
	int fd;

	/* Of perf's PMUs the first takes it, and counts on its CPUs only. */
	if (is_hybrid())
		attr = perf_attr(attr, core_type(sched_getcpu()));
	fd = perf_try(&attr, 0, -1);
	cr_assert(fd >= 0, "perf: %s", strerror(-fd));
	user_loop(N);
	cr_assert_gt(event_value(fd), 2 * N);
	close(fd);
}

/*
 * perf clears the counters that it has used, once on each CPU, in the first switch to a
 * process that may read them: also those that are ours meanwhile.
 */
Test(user_count, counters_that_perf_used_before)
{
	struct perf_event_attr attr = disabled(instructions_u()), of_cpu = attr;
	int fd, other, cpu_fd;
	uint64_t value;
	user_page *page;

	of_cpu.disabled = 0;
	for (int cpu = 0; cpu < 2; cpu++) {
		pin_here(cpu);
		use_perf();
		cpu_fd = event_open(of_cpu, -1, cpu);
		fd = event_open(attr);
		attr.disabled = 0;
		other = event_open(attr, .group = fd);
		attr.disabled = 1;
		page = page_map(fd);
		event_ioctl(fd, PERF_EVENT_IOC_ENABLE);
		user_loop(N);
		yield_to_another_process(10);
		value = page_read(page).value;
		cr_expect_geq(value, 2 * N);
		cr_expect_lt(value, 3 * N, "%lu", value);
		event_ioctl(fd, PERF_EVENT_IOC_DISABLE);
		value = event_value(fd);
		cr_expect_eq(value, event_value(other));
		cr_expect_geq(value, 2 * N);
		cr_expect_lt(value, 3 * N, "%lu", value);
		cr_expect_geq(event_value(cpu_fd), value);
		cr_expect_lt(event_value(cpu_fd), 1ull << 32);
		page_unmap(page);
		close(fd);
		close(other);
		close(cpu_fd);
	}
}
