// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX area tracing that is refused, each with its reason. For --cpu intel-pt.
 */
#include "aux.h"
#include "msrs.h"

#include <linux/perf_event.h>

#define MSR_RTIT_BASE	0x560
#define MSR_RTIT_MASK	0x561
#define MSR_RTIT_CTL	0x570

/* All that this CPU has */
#define PT_BITS		0xf7bee03ULL
/* pt, tsc, branch: what can be set beside anything */
#define PT_PLAIN	0x2401ULL

static union raw_attr pt_attr(void)
{
	union raw_attr a = trace_attr();

	a.attr.enable_on_exec = 0;
	return a;
}

Test(refuse_aux, inherited)
{
	union raw_attr a = pt_attr();

	a.attr.inherit = 1;
	check_refused(OPEN(a), EINVAL, PMUCTL_WHY_AUX_INHERIT, "cpu",
		      "one buffer cannot take the traces of several tasks at once: open an inherited event for each CPU, or clear inherit");
	/* What runs on one CPU does so in turn, and nothing is inherited from a CPU. */
	close(event_open(a, 0, 0));
	close(event_open(a, -1, 0));
}

Test(refuse_aux, all_cpus)
{
	union raw_attr a = pt_attr();

	check_refused(OPEN(a, -1), EINVAL, PMUCTL_WHY_AUX_ALL_CPUS, "cpu",
		      "one buffer cannot take the traces of all CPUs at once: open an event for each CPU");
}

Test(refuse_aux, two_at_once)
{
	static const char *const format = "another event of pmuctl already traces %s, and a CPU can write only one trace at a time: close that event first";
	union raw_attr a = pt_attr();
	int fd = event_open(a);

	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type", format, "this task");
	check_refused(OPEN(a, 0, 1), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type", format,
		      "this task");
	check_refused(OPEN(a, -1, 0), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type", format, "a task");
	close(fd);
	fd = event_open(a, -1, 0);
	check_refused(OPEN(a, -1, 0), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type", format,
		      "this CPU");
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_BUSY, "attr.type", format, "a CPU");
	close(event_open(a, -1, 1));
	close(fd);
	/* One task on one CPU, and on another: never at once */
	fd = event_open(a, 0, 0);
	close(event_open(a, 0, 1));
}

/* The kernel's own driver traces this CPU, in which this test runs. */
Test(refuse_aux, somebody_else_traces)
{
	static const char *const path = "/sys/bus/event_source/devices/intel_pt/type";
	size_t ring = 9 * TRACE_PAGE, size = 16 * TRACE_PAGE;
	struct perf_event_mmap_page *page;
	union raw_attr a = pt_attr(), theirs = a;
	void *map;
	int fd;

	theirs.attr.type = raw_read_number(path);
	theirs.attr.exclude_kernel = 0;
	cr_assert_eq(raw_give_back(), 0);
	fd = syscall(SYS_perf_event_open, &theirs, -1, 0, -1, 0);
	cr_assert_geq(fd, 0);
	page = mmap(NULL, ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(page, MAP_FAILED);
	page->aux_offset = ring;
	page->aux_size = size;
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, ring);
	cr_assert_neq(map, MAP_FAILED);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_FOREIGN, "attr.type",
		      "somebody else is tracing on this machine's CPUs, as 'perf record -e intel_pt//' does: end that first");
	/* One that may be enabled at any time is no better. */
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_FOREIGN, "attr.type",
		      "somebody else is tracing on this machine's CPUs, as 'perf record -e intel_pt//' does: end that first");
	munmap(map, size);
	munmap(page, ring);
	close(fd);
	close(event_open(a));
}

/* Somebody who traces a CPU past perf, by its registers, is not disturbed. */
Test(refuse_aux, somebody_traces_by_the_registers)
{
	struct msrs m = msrs_find();
	uint64_t values[MSRS_MAX];
	union raw_attr a = pt_attr();

	m = (struct msrs){ .n = 1, .addr = { MSR_RTIT_CTL } };
	cr_assert_eq(raw_give_back(), 0);
	/*
	 * Neither user mode nor the kernel; what begins each trace may be written. Where ours wrote
	 * may be anybody's memory by now: this is the firmware's.
	 */
	msr_write(1, MSR_RTIT_BASE, 0x1000);
	msr_write(1, MSR_RTIT_MASK, 0x7f);
	msr_write(1, MSR_RTIT_CTL, 1);
	check_refused(OPEN(a), EBUSY, PMUCTL_WHY_AUX_FOREIGN, "attr.type",
		      "somebody else is tracing on this machine's CPUs, as 'perf record -e intel_pt//' does: end that first");
	msrs_read(&m, 1, values);
	cr_assert_eq(values[0], 1);
	msr_write(1, MSR_RTIT_CTL, 0);
	close(event_open(a));
}

/* All mappings of a buffer are of the whole, whatever aux_size says by now. */
Test(refuse_aux, mapped_again_with_another_size)
{
	union raw_attr a = pt_attr();
	struct trace t;
	void *again;

	trace_open(&t, &a, 0, -1, 16, PROT_READ | PROT_WRITE);
	t.page->aux_size = 8 * TRACE_PAGE;
	for (size_t pages = 8; pages <= 32; pages += 24)
		check_refused(MMAP(t.fd, pages * TRACE_PAGE, (1 + RING_PAGES) * TRACE_PAGE), EINVAL,
			      PMUCTL_WHY_AUX_SIZE, "",
			      "the AUX buffer is to have %zu bytes, and the mapping has %zu: write aux_size to the metadata page before you map, and map all of it",
			      t.size, pages * TRACE_PAGE);
	again = mmap(NULL, t.size, PROT_READ | PROT_WRITE, MAP_SHARED, t.fd,
		     (1 + RING_PAGES) * TRACE_PAGE);
	cr_assert_neq(again, MAP_FAILED);
	munmap(again, t.size);
	trace_close(&t);
}

Test(refuse_aux, bits_that_this_cpu_lacks)
{
	static const unsigned int bits[] = { 2, 3, 4, 5, 6, 7, 8, 12, 18, 23, 28, 32, 63 };
	union raw_attr a = pt_attr();

	for (size_t i = 0; i < RAW_ARRAY_SIZE(bits); i++) {
		a.attr.config = PT_PLAIN | 1ULL << bits[i];
		check_refused(OPEN(a), EINVAL, PMUCTL_WHY_PT_BITS, "attr.config",
			      "config 0x%llx has bits outside of 0x%llx, those that Processor Trace of this CPU has: clear 0x%llx",
			      a.attr.config, PT_BITS, 1ULL << bits[i]);
	}
}

Test(refuse_aux, periods_that_this_cpu_lacks)
{
	static const struct {
		const char *name;
		unsigned int shift, choices;
	} fields[] = {
		{ "mtc_period", 14, 0x249 }, { "cyc_thresh", 19, 0x3fff }, { "psb_period", 24, 0x3f },
	};
	union raw_attr a = pt_attr();

	for (size_t i = 0; i < RAW_ARRAY_SIZE(fields); i++) {
		for (unsigned int value = 0; value < 16; value++) {
			a.attr.config = PT_PLAIN | (uint64_t)value << fields[i].shift;
			if (fields[i].choices >> value & 1)
				close(event_open(a));
			else
				check_refused(OPEN(a), EINVAL, PMUCTL_WHY_PT_CHOICE,
					      "attr.config",
					      "this CPU has no %s of %u: those that it has are the bits of 0x%x",
					      fields[i].name, value, fields[i].choices);
		}
	}
}

static struct call filter(int fd, const char *text)
{
	return IOCTL(fd, PERF_EVENT_IOC_SET_FILTER, text);
}

Test(refuse_aux, address_filters)
{
	union raw_attr a = pt_attr();
	int fd = event_open(a);

	check_refusals(
		{ "trace 0x401000/1",
		  filter(fd, "trace 0x401000/1"), EINVAL, PMUCTL_WHY_FILTER_TEXT, "filter",
		  "the filter cannot be understood at character 1: 'filter' or 'stop' is expected" },
		{ "filter x/1", filter(fd, "filter x/1"), EINVAL, PMUCTL_WHY_FILTER_TEXT, "filter",
		  "the filter cannot be understood at character 8: an address is expected" },
		{ "filter 1/x", filter(fd, "filter 1/x"), EINVAL, PMUCTL_WHY_FILTER_TEXT, "filter",
		  "the filter cannot be understood at character 10: a size is expected" },
		{ "filter 1/1@", filter(fd, "filter 1/1@"), EINVAL, PMUCTL_WHY_FILTER_TEXT, "filter",
		  "the filter cannot be understood at character 12: the name of a file is expected" },
		{ "filter 1/1 2/1",
		  filter(fd, "filter 1/1 2/1"), EINVAL, PMUCTL_WHY_FILTER_TEXT, "filter",
		  "the filter cannot be understood at character 12: a comma or the end is expected" },
		{ "start 0x401000",
		  filter(fd, "start 0x401000"), EOPNOTSUPP, PMUCTL_WHY_PT_START, "filter",
		  "a trace cannot start at an address on this CPU: use 'filter' with a range, or a tracepoint that resumes the trace" },
		{ "stop 0x401000",
		  filter(fd, "stop 0x401000"), EINVAL, PMUCTL_WHY_FILTER_TEXT, "filter",
		  "the filter cannot be understood at character 14: a slash and a size are expected: the processor has ranges only" },
		{ "filter 1/1,filter 2/1,filter 3/1",
		  filter(fd, "filter 1/1,filter 2/1,filter 3/1"), EINVAL, PMUCTL_WHY_PT_RANGES, "filter",
		  "this CPU has 2 address ranges for its trace, and the filter has more: give fewer, or trace everything and choose when you decode" },
		{ "filter 0x1000/0",
		  filter(fd, "filter 0x1000/0"), EINVAL, PMUCTL_WHY_PT_RANGE, "filter",
		  "from 0x1000 on there are no 0 addresses of one kind: give a range in user space or in the kernel, with a size above 0" },
		{ "filter 0xffffffff81000000/16",
		  filter(fd, "filter 0xffffffff81000000/16"), EINVAL, PMUCTL_WHY_PT_RANGE_LEVEL, "filter",
		  "the range at 0xffffffff81000000 is the kernel's, which the event excludes: clear attr.exclude_kernel, or choose another range" },
		{ "filter 0x1000/0x30@/nowhere/true",
		  filter(fd, "filter 0x1000/0x30@/nowhere/true"), ENOENT, PMUCTL_WHY_PT_FILE, "filter",
		  "the filter names a file that is not there, or that nobody can map: give the path of a program or a library" },
		{ "filter 1/1,filter 0x1000/0x30@/tmp",
		  filter(fd, "filter 1/1,filter 0x1000/0x30@/tmp"), ENOENT, PMUCTL_WHY_PT_FILE, "filter",
		  "the filter names a file that is not there, or that nobody can map: give the path of a program or a library" }
	);
	close(fd);
	fd = event_open(a, -1, 0);
	check_refusals(
		{ "filter 0x1000/0x30@/proc/self/exe",
		  filter(fd, "filter 0x1000/0x30@/proc/self/exe"), EOPNOTSUPP, PMUCTL_WHY_PT_RANGE_FILE, "filter",
		  "a file is somewhere else in each process, and this event traces a CPU, with all that run there: trace a task, or give addresses" }
	);
	close(fd);
}

Test(refuse_aux, fields_of_tracing_elsewhere)
{
	union raw_attr a = raw_instructions();

	a.attr.aux_watermark = 4096;
	check_refused(OPEN(a), EOPNOTSUPP, PMUCTL_WHY_AUX_ONLY, "attr.aux_watermark",
		      "attr.aux_watermark is for events that trace, and this one does not: leave it 0");
}

Test(refuse_aux, a_driver_that_is_none)
{
	struct pmuctl_driver driver = { .size = sizeof(driver), .index = 100 };
	union raw_attr a = pt_attr();

	check_refused(IOCTL(raw_device(), PMUCTL_IOC_DRIVER, &driver), ENOENT,
		      PMUCTL_WHY_AUX_NO_DRIVER, "index",
		      "there is no driver number 100: count from 0 until there is none");
	a.attr.type += 100;
	check_refused(OPEN(a), ENOENT, PMUCTL_WHY_TYPE_UNKNOWN, "attr.type",
		      "event type %u does not exist here: use PERF_TYPE_HARDWARE (0), _SOFTWARE (1), _TRACEPOINT (2), _HW_CACHE (3) or _RAW (4)",
		      a.attr.type);
}

/* ---- Pauses ---- */

Test(refuse_aux, actions)
{
	static const char *const leader = "aux_pause and aux_resume are for the trace of the group's leader, and this leader does not trace: open the event that traces first, with group_fd -1";
	static const char *const itself = "an event that traces has no overflows that could pause or resume it: set aux_pause or aux_resume of an event of its group";
	union raw_attr a = raw_instructions(), t = pt_attr();

	check_refusals(
		{ "pause and resume",
		  OPEN(trace_with_action(a, PMUCTL_AUX_PAUSE | PMUCTL_AUX_RESUME)), EINVAL,
		  PMUCTL_WHY_AUX_BOTH, "attr.aux_resume",
		  "aux_pause and aux_resume are both set, and an overflow cannot do both: clear one, and open another event for it" },
		{ "pause without a leader", OPEN(trace_with_action(a, PMUCTL_AUX_PAUSE)), EINVAL,
		  PMUCTL_WHY_AUX_LEADER, "group_fd", leader },
		{ "what counts starts paused", OPEN(trace_with_action(a, PMUCTL_AUX_START_PAUSED)),
		  EOPNOTSUPP, PMUCTL_WHY_AUX_ONLY, "attr.aux_start_paused",
		  "attr.aux_start_paused is for events that trace, and this one does not: leave it 0" },
		{ "a trace that pauses", OPEN(trace_with_action(t, PMUCTL_AUX_PAUSE)), EINVAL,
		  PMUCTL_WHY_AUX_ITSELF, "attr.aux_pause", itself },
		{ "a trace that resumes", OPEN(trace_with_action(t, PMUCTL_AUX_RESUME)), EINVAL,
		  PMUCTL_WHY_AUX_ITSELF, "attr.aux_resume", itself },
		{ "an unknown action", OPEN(trace_with_action(t, 8)), EINVAL,
		  PMUCTL_WHY_RESERVED_SET, "attr.__reserved_3",
		  "a reserved field is 0x8: it must be 0" }
	);
}

Test(refuse_aux, a_leader_that_does_not_trace)
{
	union raw_attr a = raw_instructions(), other = trace_with_action(a, PMUCTL_AUX_RESUME);

	check_refused(OPEN(other, .group = event_open(a)), EINVAL, PMUCTL_WHY_AUX_LEADER, "group_fd",
		      "aux_pause and aux_resume are for the trace of the group's leader, and this leader does not trace: open the event that traces first, with group_fd -1");
}

/* ---- Mapping ---- */

static struct perf_event_mmap_page *page_of;

/* A mapping of @size bytes at @offset, when the metadata page says something else, or not */
static void check_map(int fd, uint64_t said_offset, uint64_t said_size, size_t size,
		      off_t offset, uint32_t code, const char *field, const char *sentence)
{
	page_of->aux_offset = said_offset;
	page_of->aux_size = said_size;
	check_refused(MMAP(fd, size, offset, .prot = PROT_READ), EINVAL, code, field, "%s",
		      sentence);
}

Test(refuse_aux, mappings)
{
	size_t ring = 9 * TRACE_PAGE;
	union raw_attr a = pt_attr();
	int fd = event_open(a);
	struct perf_event_mmap_page nothing;

	page_of = &nothing;
	check_map(fd, 0, 0, 16384, ring, PMUCTL_WHY_AUX_NO_RING, "",
		  "the ring of records is not mapped through this descriptor: map that first, at offset 0");
	page_of = mmap(NULL, ring, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(page_of, MAP_FAILED);
	check_map(fd, 0, 0, 16384, ring, PMUCTL_WHY_AUX_OFFSET, "aux_offset",
		  "aux_offset of the metadata page is 0, and the mapping is at 36864: write the offset there before you map");
	check_map(fd, ring, 8192, 16384, ring, PMUCTL_WHY_AUX_SIZE, "aux_size",
		  "the AUX buffer is to have 8192 bytes, and the mapping has 16384: write aux_size to the metadata page before you map, and map all of it");
	check_map(fd, 4096, 16384, 16384, 4096, PMUCTL_WHY_AUX_OVERLAP, "aux_offset",
		  "aux_offset 4096 is within the ring of records: it must be 36864 or above");
	check_map(fd, ring, 12288, 12288, ring, PMUCTL_WHY_AUX_POWER, "aux_size",
		  "an AUX buffer of 12288 bytes is not possible: it must have 2^n pages");
	munmap(page_of, ring);
}
