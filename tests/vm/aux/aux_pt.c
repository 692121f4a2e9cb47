// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * Intel Processor Trace of a program of known instructions: libipt decodes exactly those
 * that the PMU counts in the same run, wherever the program runs, and the records tell of
 * every byte. For --cpu intel-pt.
 */
#include "aux_decode.h"

#include <time.h>

TestSuite(aux_pt, .timeout = 300);

static const char *const once[] = { TRACED, "1", NULL };
static const char *const often[] = { TRACED, "1", "2", "3", "4", "5", "6", "7", "8", "9",
	"10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", NULL };

static void check_decoded(const struct decoded *d, uint64_t counted)
{
	cr_assert_eq(d->errors, 0, "%s", d->error);
	cr_assert_eq(d->instructions, counted, "%lu instructions decoded, %lu counted",
		     d->instructions, counted);
	cr_assert_gt(d->calls, 10);
	cr_assert_gt(d->returns, 10);
}

Test(aux_pt, a_program_decodes_to_what_it_executed)
{
	union raw_attr attr = trace_attr();
	struct traced child = traced_start(once);
	struct decoded d;
	struct trace t;
	int count;

	trace_open(&t, &attr, child.pid, -1, 64, PROT_READ | PROT_WRITE);
	count = trace_count(child.pid, PERF_COUNT_HW_INSTRUCTIONS);
	traced_go(&child);
	traced_wait(&child);
	trace_records(&t);
	cr_assert_eq(t.starts, 1);
	cr_assert_eq(t.pid, (uint32_t)child.pid);
	cr_assert_eq(t.tid, (uint32_t)child.pid);
	cr_assert_gt(t.records, 0);
	cr_assert_eq(t.truncated, 0);
	cr_assert_eq(t.overwritten, 0);
	cr_assert_eq(t.bytes, t.page->aux_head, "the records tell of every byte");
	cr_assert_eq(raw_read(t.fd), t.bytes, "the value is how much was traced");
	d = trace_decode(t.aux, t.bytes);
	check_decoded(&d, raw_read(count));
	trace_close(&t);
}

/* Trace a program while it is sent from CPU to CPU: in how many pieces the trace came */
static unsigned int wander(void)
{
	union raw_attr attr = trace_attr();
	struct traced child = traced_start(often);
	unsigned int records;
	struct decoded d;
	int count, cpu = 0;
	struct trace t;

	trace_open(&t, &attr, child.pid, -1, 1024, PROT_READ | PROT_WRITE);
	count = trace_count(child.pid, PERF_COUNT_HW_INSTRUCTIONS);
	traced_go(&child);
	while (waitpid(child.pid, NULL, WNOHANG) == 0)
		trace_pin(child.pid, cpu ^= 1);
	trace_records(&t);
	cr_assert_eq(t.starts, 1);
	cr_assert_eq(t.truncated, 0);
	cr_assert_eq(t.bytes, t.page->aux_head);
	d = trace_decode(t.aux, t.bytes);
	check_decoded(&d, raw_read(count));
	records = t.records;
	trace_close(&t);
	close(count);
	return records;
}

/* It may come to its end before it has been moved. */
Test(aux_pt, a_program_that_wanders)
{
	unsigned int moved = 0;

	for (int i = 0; i < 200 && moved < 3; i++)
		moved += wander() > 1;
	cr_assert_eq(moved, 3, "of 200 programs %u were switched", moved);
}

/* Small buffers, and a reader that takes what there is: every byte, in order */
Test(aux_pt, a_reader_behind_a_program_gets_all_or_is_told)
{
	union raw_attr attr = trace_attr();
	struct traced child = traced_start(often);
	size_t size = 16 * TRACE_PAGE, room = 64 << 20, n = 0;
	uint8_t *all = malloc(room);
	struct decoded d;
	bool ended = false;
	struct trace t;
	int count;

	attr.attr.aux_watermark = 2 * TRACE_PAGE;
	trace_open(&t, &attr, child.pid, -1, size / TRACE_PAGE, PROT_READ | PROT_WRITE);
	count = trace_count(child.pid, PERF_COUNT_HW_INSTRUCTIONS);
	traced_go(&child);
	for (;;) {
		uint64_t head = __atomic_load_n(&t.page->aux_head, __ATOMIC_ACQUIRE);

		cr_assert_leq(head - t.page->aux_tail, size);
		for (; n < head; n++)
			all[n] = t.aux[n % size];
		__atomic_store_n(&t.page->aux_tail, head, __ATOMIC_RELEASE);
		trace_records(&t);
		if (ended)
			break;
		ended = waitpid(child.pid, NULL, WNOHANG) == child.pid;
	}
	cr_assert_eq(t.bytes, n);
	d = trace_decode(all, n);
	if (!t.truncated)
		check_decoded(&d, raw_read(count));
	else
		cr_assert_leq(d.instructions, raw_read(count));
	trace_close(&t);
	close(count);
	free(all);
}

/* Nobody reads: the trace stops, is told of as cut short, and goes on when there is room. */
Test(aux_pt, stops_when_full_and_goes_on_when_read)
{
	union raw_attr attr = trace_attr();
	struct traced child = traced_start(often);
	size_t size = 2 * TRACE_PAGE;
	struct decoded d;
	struct trace t;

	attr.attr.config |= 1 << 11; /* noretcomp: more of it */
	trace_open(&t, &attr, child.pid, -1, 2, PROT_READ | PROT_WRITE);
	traced_go(&child);
	traced_wait(&child);
	trace_records(&t);
	cr_assert_eq(t.truncated, 1);
	cr_assert_eq(t.bytes, size, "%lu bytes", t.bytes);
	d = trace_decode(t.aux, t.bytes);
	cr_assert_gt(d.instructions, 100);
	trace_close(&t);
}

/* Mapped read-only: written over and over, the newest part is what stays. */
Test(aux_pt, a_snapshot_has_the_end)
{
	union raw_attr attr = trace_attr();
	struct traced child = traced_start(often);
	size_t size = 2 * TRACE_PAGE;
	struct decoded d;
	struct trace t;
	uint64_t head;

	attr.attr.config |= 1 << 11;
	trace_open(&t, &attr, child.pid, -1, 2, PROT_READ);
	traced_go(&child);
	traced_wait(&child);
	trace_records(&t);
	cr_assert_gt(t.overwritten, 0);
	cr_assert_eq(t.truncated, 0);
	head = t.page->aux_head;
	cr_assert_lt(head, size);
	d = trace_decode_wrapped(t.aux + head, size - head, t.aux, head);
	cr_assert_eq(d.errors, 0, "%s", d.error);
	cr_assert_gt(d.instructions, 100);
	trace_close(&t);
}

/* ---- Pauses ---- */

#define PERIOD	300

static void set_action(union raw_attr *attr, uint32_t action)
{
	memcpy(attr->bytes + PMUCTL_ATTR_AUX_ACTION, &action, sizeof(action));
}

/* Trace a program, with an event in the group that acts on every PERIOD-th instruction. */
static struct decoded run_with_action(uint32_t at_start, uint32_t action, uint64_t *counted)
{
	union raw_attr attr = trace_attr(), other = raw_instructions();
	struct traced child = traced_start(once);
	struct decoded d;
	struct trace t;
	int fd, count;

	set_action(&attr, at_start);
	trace_open(&t, &attr, child.pid, -1, 64, PROT_READ | PROT_WRITE);
	other.attr.enable_on_exec = 1;
	other.attr.sample_period = PERIOD;
	set_action(&other, action);
	fd = event_open(other, child.pid, .group = t.fd);
	count = trace_count(child.pid, PERF_COUNT_HW_INSTRUCTIONS);
	traced_go(&child);
	traced_wait(&child);
	*counted = raw_read(count);
	cr_assert_eq(raw_read(fd), *counted);
	trace_records(&t);
	cr_assert_eq(t.bytes, t.page->aux_head);
	d = trace_decode(t.aux, t.bytes);
	cr_assert_eq(d.errors, 0, "%s", d.error);
	trace_close(&t);
	close(count);
	close(fd);
	return d;
}

Test(aux_pt, an_overflow_pauses_at_its_instruction)
{
	struct decoded d;
	uint64_t counted;

	d = run_with_action(0, PMUCTL_AUX_PAUSE, &counted);
	cr_assert_gt(counted, 2 * PERIOD);
	cr_assert_eq(d.instructions, PERIOD, "%lu", d.instructions);
}

Test(aux_pt, an_overflow_resumes_at_its_instruction)
{
	struct decoded d;
	uint64_t counted;

	d = run_with_action(PMUCTL_AUX_START_PAUSED, PMUCTL_AUX_RESUME, &counted);
	cr_assert_eq(d.instructions, counted - PERIOD, "%lu of %lu", d.instructions, counted);
}

Test(aux_pt, what_starts_paused_traces_nothing)
{
	struct decoded d;
	uint64_t counted;

	d = run_with_action(PMUCTL_AUX_START_PAUSED, PMUCTL_AUX_PAUSE, &counted);
	cr_assert_eq(d.instructions, 0, "%lu", d.instructions);
}

/* ---- Finding the driver ---- */

Test(aux_pt, the_driver_is_listed)
{
	static const char *const dir = "/sys/class/misc/pmuctl/intel_pt";
	struct pmuctl_driver driver = { .size = sizeof(driver) };
	char path[100], text[32] = "";
	int fd;

	cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_DRIVER, &driver), 0);
	cr_assert_eq(driver.config, 0xf7bee03);
	cr_assert(raw_info().features & PMUCTL_FEATURE_AUX);
	snprintf(path, sizeof(path), "%s/type", dir);
	cr_assert_eq(raw_read_number(path), (long)driver.type);
	snprintf(path, sizeof(path), "%s/format/tsc", dir);
	fd = open(path, O_RDONLY);
	cr_assert_gt(read(fd, text, sizeof(text) - 1), 0);
	cr_assert_str_eq(text, "config:10\n");
	close(fd);
	snprintf(path, sizeof(path), "%s/format/mtc_period", dir);
	cr_assert_eq(access(path, F_OK), 0);
	snprintf(path, sizeof(path), "%s/format/ptw", dir);
	cr_assert_neq(access(path, F_OK), 0, "this CPU has no PTWRITE packets");
	driver.index = 2;
	cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_DRIVER, &driver), -1);
}
