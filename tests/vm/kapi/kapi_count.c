// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of other kernel modules: what each function does, what they count, and what is
 * refused with which error.
 */
#include "kapi.h"
#include "module.h"
#include "pmu.h"
#include "raw.h"
#include "soft.h"

#define N		100000ull

TestSuite(kapi_count, .init = kapi_load, .fini = kapi_unload);

/* ---- Counting ---- */

Test(kapi_count, a_task_to_the_instruction)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int fd = kapi_create(&attr, 0, -1, 0);
	struct counts before, after;

	cr_assert_eq(event_value(fd), 0);
	bracket(fd, N);
	before = event_read(fd);
	cr_expect_eq(before.value, bracket_instructions(N));
	user_loop(N);
	cr_expect_eq(event_value(fd), before.value, "it is disabled");
	bracket(fd, 2 * N);
	after = event_read(fd);
	cr_expect_eq(after.value, bracket_instructions(N) + bracket_instructions(2 * N));
	cr_expect_gt(before.enabled, 0);
	cr_expect_gt(after.enabled, before.enabled);
	cr_expect_eq(after.enabled, after.running);
	close(fd);
}

/* The value alone is of the same instant as with the times. */
Test(kapi_count, the_value_alone)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int fd = kapi_create(&attr, 0, -1, 0);
	uint64_t value = 1;

	cr_assert_eq(ioctl(fd, KAPI_VALUE, &value), 0);
	cr_expect_eq(value, 0);
	bracket(fd, N);
	cr_assert_eq(ioctl(fd, KAPI_VALUE, &value), 0);
	cr_expect_eq(value, bracket_instructions(N));
	close(fd);
}

/* Without attr.disabled it counts at once; and while it does it can be read. */
Test(kapi_count, at_once_if_not_disabled)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t first, second;
	int fd;

	attr.disabled = 0;
	fd = kapi_create(&attr, 0, -1, 0);
	user_loop(N);
	first = event_value(fd);
	user_loop(N);
	second = event_value(fd);
	cr_expect_geq(first, LOOP_INSTRUCTIONS * N);
	cr_expect_geq(second - first, LOOP_INSTRUCTIONS * N);
	close(fd);
}

/* Another task, on any CPU or on one only */
Test(kapi_count, another_task)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int any, here, there;
	struct worker w;

	attr.disabled = 0;
	worker_start(&w, false);
	pin_task(w.tid, 1);
	any = kapi_create(&attr, w.tid, -1, 0);
	here = kapi_create(&attr, w.tid, 1, 0);
	there = kapi_create(&attr, w.tid, 0, 0);
	worker_run(&w, N);
	cr_expect_geq(event_value(any), LOOP_INSTRUCTIONS * N);
	cr_expect_geq(event_value(here), LOOP_INSTRUCTIONS * N);
	cr_expect_eq(event_value(there), 0);
	worker_end(&w);
	cr_expect_geq(event_value(any), LOOP_INSTRUCTIONS * N, "its task has ended");
	event_ioctl(any, PERF_EVENT_IOC_DISABLE);
	event_ioctl(any, PERF_EVENT_IOC_ENABLE);
	close(any);
	close(here);
	close(there);
}

/* All that runs on a CPU */
Test(kapi_count, a_cpu)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int here, there;

	pin_here(0);
	here = kapi_create(&attr, KAPI_NOBODY, 0, 0);
	there = kapi_create(&attr, KAPI_NOBODY, 1, 0);
	bracket(here, N);
	cr_expect_geq(event_value(here), bracket_instructions(N));
	pin_here(1);
	bracket(there, N);
	cr_expect_geq(event_value(there), bracket_instructions(N));
	close(here);
	close(there);
}

/* Beside more events than there are counters it has its turns, and says so. */
Test(kapi_count, in_turn_with_others)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	struct perf_event_attr other = branches_u();
	struct counts c;
	int fd, others[PMU_TOO_MANY];
	size_t i;

	attr.disabled = 0;
	fd = kapi_create(&attr, 0, -1, 0);
	for (i = 0; i < PMU_TOO_MANY; i++)
		others[i] = event_open(other);
	do {
		user_loop(N);
		c = event_read(fd);
	} while (c.running == c.enabled || !c.value);
	cr_expect_lt(c.running, c.enabled);
	for (i = 0; i < PMU_TOO_MANY; i++)
		close(others[i]);
	close(fd);
}

/* Pinned without a counter: there is no count until it is enabled again. */
Test(kapi_count, none_while_in_error)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	int fd[PMU_TOO_MANY], last = PMU_TOO_MANY - 1, n, in_error = 0;
	struct counts c;

	attr.disabled = 0;
	attr.pinned = 1;
	for (n = 0; n < PMU_TOO_MANY; n++)
		fd[n] = kapi_create(&attr, 0, -1, 0);
	for (n = 0; n < PMU_TOO_MANY; n++) {
		if (read(fd[n], &c, sizeof(c)) == sizeof(c))
			continue;
		cr_assert_eq(errno, ENODATA, "%m");
		in_error++;
	}
	cr_assert_gt(in_error, 0);
	cr_assert_lt(in_error, PMU_TOO_MANY);
	cr_assert_neq(read(fd[last], &c, sizeof(c)), sizeof(c));
	for (n = 0; n < last; n++)
		close(fd[n]);
	event_ioctl(fd[last], PERF_EVENT_IOC_ENABLE);
	user_loop(N);
	cr_expect_geq(event_value(fd[last]), LOOP_BRANCHES * N);
	close(fd[last]);
}

/* ---- Who holds what ---- */

static uint32_t hardware_events(void)
{
	return module_info().hw_events;
}

/* It is one of the events that the device tells of; the release takes it away. */
Test(kapi_count, is_an_event_like_others)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int fd;

	cr_assert_eq(hardware_events(), 0);
	fd = kapi_create(&attr, 0, -1, 0);
	cr_expect_eq(hardware_events(), 1);
	cr_expect_eq(module_info().pmu_owner, PMUCTL_OWNER_PMUCTL);
	close(fd);
	cr_expect_eq(hardware_events(), 0);
	cr_expect_eq(module_settled_info().pmu_owner, PMUCTL_OWNER_NOBODY);
}

/* The module that uses it keeps it, without any counter. */
Test(kapi_count, its_user_pins_the_module)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int fd = kapi_create(&attr, 0, -1, 0);

	cr_expect_eq(module_unload(), -EWOULDBLOCK);
	close(fd);
	cr_expect_eq(module_unload(), -EWOULDBLOCK);
	kapi_unload();
	while (module_unload()) /* whatever else has just closed the device */
		usleep(1000);
	cr_assert_eq(module_load(), 0);
	kapi_load();
}

/* ---- Refusals ---- */

static void check_refused(const struct perf_event_attr *attr, int pid, int cpu,
			  unsigned int handler, int error, unsigned int code,
			  const char *field, const char *sentence)
{
	struct kapi_create c = kapi_request(attr, pid, cpu, handler);

	cr_assert_eq(kapi_try(&c), -error, "%s", sentence);
	cr_expect_eq(c.error, (uint32_t)error);
	cr_expect_eq(c.code, code, "%u, not %u", c.code, code);
	cr_expect_str_eq(c.field, field);
	cr_expect_str_eq(c.sentence, sentence, "'%s', expected '%s'", c.sentence, sentence);

	/* The error is the same if nobody wants to know why. */
	c = kapi_request(attr, pid, cpu, handler | KAPI_NO_WHY);
	cr_expect_eq(kapi_try(&c), -error);
	cr_expect_eq(c.error, 0);
}

Test(kapi_count, refuses_what_is_no_cpu)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);

	check_refused(&attr, KAPI_NOBODY, -1, 0, EINVAL, PMUCTL_WHY_KERNEL_TARGET, "cpu",
		      "neither a task nor a CPU is given: pass a task, or create a counter for each CPU");
	check_refused(&attr, KAPI_NOBODY, 2, 0, ENODEV, PMUCTL_WHY_KERNEL_CPU, "cpu",
		      "cpu 2 does not exist: this machine has the CPUs 0 to 1, and -1 means any, for a task");
	check_refused(&attr, 0, -2, 0, ENODEV, PMUCTL_WHY_KERNEL_CPU, "cpu",
		      "cpu -2 does not exist: this machine has the CPUs 0 to 1, and -1 means any, for a task");
	set_online(1, false);
	check_refused(&attr, KAPI_NOBODY, 1, 0, ENODEV, PMUCTL_WHY_CPU_OFFLINE, "cpu",
		      "cpu 1 is offline: bring it online (/sys/devices/system/cpu/cpu1/online) or choose another");
	set_online(1, true);
}

Test(kapi_count, refuses_a_task_that_has_ended)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	struct kapi_create c = kapi_request(&attr, KAPI_ZOMBIE, -1, 0);

	cr_assert_eq(kapi_try(&c), -ESRCH);
	cr_expect_eq(c.error, ESRCH);
	cr_expect_eq(c.code, PMUCTL_WHY_TASK_EXITING);
	cr_expect_str_eq(c.field, "pid");
	cr_expect_eq(hardware_events(), 0);
}

/* What is wrong with an attr is said as to programs. */
Test(kapi_count, refuses_what_is_no_event)
{
	struct perf_event_attr attr = kapi_attr(1000);
	char sentence[208];
	const char *name;

	check_refused(&attr, 0, -1, 0, EINVAL, PMUCTL_WHY_EVENT_UNKNOWN, "attr.config",
		      "config 0x3e8 is not an event of type 0: see PERF_COUNT_* in <linux/perf_event.h>");
	attr = kapi_attr(pmu_missing_event(&name));
	snprintf(sentence, sizeof(sentence),
		 "this CPU (%s) has no event for %s: use a raw event of this CPU, 'pmuctl list' shows them",
		 raw_info().pmu_name, name);
	check_refused(&attr, 0, -1, 0, ENOENT, PMUCTL_WHY_EVENT_NOT_HERE, "attr.config",
		      sentence);
}

Test(kapi_count, refuses_tracepoints)
{
	struct perf_event_attr attr = kapi_attr(1);

	attr.type = PERF_TYPE_TRACEPOINT;
	attr.exclude_kernel = 0;
	attr.exclude_hv = 0;
	check_refused(&attr, 0, -1, 0, EOPNOTSUPP, PMUCTL_WHY_KERNEL_TRACEPOINT, "attr.type",
		      "a tracepoint is opened by its name, for which a kernel module's counter has no place: register a probe of your own, or open an event descriptor");
}

Test(kapi_count, refuses_a_handler_without_a_period_and_the_reverse)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);

	check_refused(&attr, 0, -1, KAPI_HANDLER, EINVAL, PMUCTL_WHY_KERNEL_HANDLER,
		      "attr.sample_period",
		      "attr.sample_period is 0, and a handler is called when a period is over: give both or neither");
	attr.sample_period = 1000;
	check_refused(&attr, 0, -1, 0, EINVAL, PMUCTL_WHY_KERNEL_HANDLER,
		      "attr.sample_period",
		      "attr.sample_period is 1000, and a handler is called when a period is over: give both or neither");
}

static void check_unmeant(struct perf_event_attr attr, const char *field,
			  unsigned long long value)
{
	char sentence[208];

	snprintf(sentence, sizeof(sentence),
		 "%s is 0x%llx, but a kernel module's counter has no records, group, children or AUX data: leave it 0, or open an event descriptor",
		 field, value);
	check_refused(&attr, 0, -1, KAPI_HANDLER, EINVAL, PMUCTL_WHY_KERNEL_ATTR, field,
		      sentence);
}

/* Sets a field of an attr that is otherwise right, and has that refused. */
#define check_field(name, content) do {						\
	struct perf_event_attr attr_ = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);	\
										\
	attr_.sample_period = 1000;						\
	attr_.name = content;							\
	check_unmeant(attr_, "attr." #name, content);				\
} while (0)

#define check_flag(name, bit) do {						\
	struct perf_event_attr attr_ = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);	\
										\
	attr_.sample_period = 1000;						\
	attr_.name = 1;								\
	check_unmeant(attr_, "attr.flags", 1ull << (bit));			\
} while (0)

/* It has no name in older headers. */
static void check_aux_action(void)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	const uint32_t pause = 2;

	attr.sample_period = 1000;
	memcpy((uint8_t *)&attr + 116, &pause, sizeof(pause));
	check_unmeant(attr, "attr.aux_action", pause);
}

/* What newer kernels have behind that; whether this one has it, its perf knows. */
Test(kapi_count, refuses_what_is_beyond)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	struct kapi_create c = kapi_request(&attr, 0, -1, 0);
	union {
		struct perf_event_attr attr;
		uint8_t bytes[KAPI_ATTR_SIZE];
	} perfs = { .attr = soft_attr(PERF_COUNT_SW_DUMMY) };
	int fd, error = 0;

	perfs.attr.size = KAPI_ATTR_SIZE;
	perfs.bytes[PMUCTL_ATTR_SIZE] = 1;
	if (syscall(__NR_perf_event_open, &perfs, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0)
		error = errno;
	c.attr[PMUCTL_ATTR_SIZE] = 1;
	fd = kapi_try(&c);
	if (error) {
		cr_assert_eq(error, E2BIG);
		cr_assert_geq(fd, 0, "%s", c.sentence);
		return;
	}
	cr_assert_eq(fd, -EINVAL);
	cr_expect_eq(c.code, PMUCTL_WHY_KERNEL_ATTR);
	cr_expect_str_eq(c.field, "attr.config4");
}

Test(kapi_count, refuses_records_groups_children_and_aux)
{
	check_field(inherit, 1);
	check_field(read_format, PERF_FORMAT_GROUP);
	check_field(sample_type, PERF_SAMPLE_IP);
	check_field(wakeup_events, 1);
	check_field(branch_sample_type, 1);
	check_field(sample_regs_user, 1);
	check_field(sample_stack_user, 8);
	check_field(clockid, 1);
	check_field(sample_regs_intr, 1);
	check_field(sample_max_stack, 4);
	check_field(aux_watermark, 4096);
	check_field(aux_sample_size, 64);
	check_aux_action();
	check_flag(mmap, 8);
	check_flag(comm, 9);
	check_flag(inherit_stat, 11);
	check_flag(task, 13);
	check_flag(watermark, 14);
	check_flag(sample_id_all, 18);
	check_flag(use_clockid, 25);
	check_flag(context_switch, 26);
	check_flag(write_backward, 27);
	check_flag(aux_output, 31);
	check_flag(inherit_thread, 35);
}

/* Periods that are none; the count goes on. */
Test(kapi_count, refuses_periods)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	uint64_t zero = 0, large = 1ull << 63, good = 1;
	int fd = kapi_create(&attr, 0, -1, 0);

	cr_expect(ioctl(fd, PERF_EVENT_IOC_PERIOD, &good) == -1 && errno == EINVAL, "%m");
	close(fd);
	attr.sample_period = 1000;
	fd = kapi_create(&attr, 0, -1, KAPI_HANDLER);
	cr_expect(ioctl(fd, PERF_EVENT_IOC_PERIOD, &zero) == -1 && errno == EINVAL, "%m");
	cr_expect(ioctl(fd, PERF_EVENT_IOC_PERIOD, &large) == -1 && errno == EINVAL, "%m");
	bracket(fd, N);
	cr_expect_eq(event_value(fd), bracket_instructions(N));
	close(fd);
	attr.freq = 1;
	attr.sample_freq = 1000000000;
	check_refused(&attr, 0, -1, KAPI_HANDLER, EINVAL, PMUCTL_WHY_FREQ_TOO_HIGH,
		      "attr.sample_freq",
		      "1000000000 samples a second are above the limit 100000: ask for less, or raise /sys/module/pmuctl/parameters/max_sample_rate");
}

/* Somebody else's PMU */
Test(kapi_count, refuses_while_perf_has_the_pmu)
{
	struct perf_event_attr attr = kapi_attr(PERF_COUNT_HW_INSTRUCTIONS);
	struct kapi_create c = kapi_request(&attr, 0, -1, 0);
	int perf = perf_try(&attr, 0, -1);

	cr_assert(perf >= 0, "%s", strerror(-perf));
	cr_expect_eq(kapi_try(&c), -EBUSY);
	cr_expect_eq(c.code, PMUCTL_WHY_PMU_BUSY);
	close(perf);
}
