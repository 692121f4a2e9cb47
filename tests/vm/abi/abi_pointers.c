// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pointers of the ABI that lead nowhere, ioctl numbers that do not exist, and the buffers
 * of explanations: how much of them is written, and when.
 */
#include "refusal.h"

#include <termios.h>

#define BAD_SENTENCE \
	"the memory at this address cannot be read or written: pass a pointer into your own address space"

/* No memory of a process: the first page, the hole of the address space, the kernel's */
static const uintptr_t bad[] = {
	0, 1, 0x800000000000, 0x7fffffffffff, 0xffff800000000000,
	0xffffffff81000000, 0xffffffffffffffff,
};

Test(abi_pointers, bad_structures_are_faults)
{
	static const unsigned int numbers[] = { PMUCTL_IOC_INFO, PMUCTL_IOC_OPEN,
		PMUCTL_IOC_EXPLAIN, PMUCTL_IOC_DRIVER, PMUCTL_IOC_OPEN_LIST,
		PMUCTL_IOC_READ_LIST, PMUCTL_IOC_CONTROL_LIST };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(numbers); i++)
		for (size_t k = 0; k < RAW_ARRAY_SIZE(bad); k++)
			check_refused(IOCTL(raw_device(), numbers[i], bad[k]), EFAULT,
				      PMUCTL_WHY_BAD_POINTER, "", BAD_SENTENCE);
}

Test(abi_pointers, structures_that_end_outside_of_memory_are_faults)
{
	static const struct {
		unsigned int number;
		uint32_t size;
	} all[] = {
		{ PMUCTL_IOC_INFO, sizeof(struct pmuctl_info) },
		{ PMUCTL_IOC_OPEN, sizeof(struct pmuctl_open) },
		{ PMUCTL_IOC_EXPLAIN, sizeof(struct pmuctl_explanation) },
		{ PMUCTL_IOC_OPEN_LIST, sizeof(struct pmuctl_open_list) },
		{ PMUCTL_IOC_READ_LIST, sizeof(struct pmuctl_read_list) },
		{ PMUCTL_IOC_CONTROL_LIST, sizeof(struct pmuctl_control_list) },
	};

	for (size_t i = 0; i < RAW_ARRAY_SIZE(all); i++) {
		uint8_t *edge = raw_at_edge(all[i].size - 1, 0);

		memcpy(edge, &all[i].size, sizeof(all[i].size));
		cr_assert_eq(ioctl(raw_device(), all[i].number, edge), -1);
		cr_assert_eq(errno, EFAULT);
	}
}

Test(abi_pointers, structures_that_cannot_be_written_are_faults)
{
	static const struct {
		unsigned int number;
		uint32_t size;
	} all[] = {
		{ PMUCTL_IOC_INFO, sizeof(struct pmuctl_info) },
		{ PMUCTL_IOC_EXPLAIN, sizeof(struct pmuctl_explanation) },
		{ PMUCTL_IOC_DRIVER, sizeof(struct pmuctl_driver) },
	};

	for (size_t i = 0; i < RAW_ARRAY_SIZE(all); i++) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		memcpy(page, &all[i].size, sizeof(all[i].size));
		cr_assert_eq(mprotect(page, 4096, PROT_READ), 0);
		check_refused(IOCTL(raw_device(), all[i].number, page), EFAULT,
			      PMUCTL_WHY_BAD_POINTER, "", BAD_SENTENCE);
	}
}

Test(abi_pointers, bad_attr_is_a_fault)
{
	union raw_attr a = raw_instructions();
	uint8_t *edge = raw_at_edge(sizeof(a) - 1, 0);

	for (size_t k = 0; k < RAW_ARRAY_SIZE(bad); k++)
		check_refused(OPEN((void *)bad[k]), EFAULT, PMUCTL_WHY_BAD_POINTER, "attr",
			      BAD_SENTENCE);
	memcpy(edge, &a, sizeof(a) - 1);
	check_refused(OPEN((void *)edge), EFAULT, PMUCTL_WHY_BAD_POINTER, "attr", BAD_SENTENCE);
}

/* Its first bytes are those that the module knows, and what is behind must be looked at, too. */
Test(abi_pointers, attr_that_is_longer_than_the_memory_is_a_fault)
{
	union raw_attr a = raw_instructions();
	uint8_t *edge = raw_at_edge(sizeof(a) + 8, 0);

	a.attr.size = sizeof(a) + 16;
	memcpy(edge, &a, sizeof(a));
	check_refused(OPEN((void *)edge), EFAULT, PMUCTL_WHY_BAD_POINTER, "attr", BAD_SENTENCE);
}

/* ---- The explanation of an open ---- */

static int refused_with_buffer(uintptr_t buffer, uint32_t size)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_open request = raw_request(&a, 0, -1, 0, NULL);

	a.attr.config = 99;
	request.explanation = buffer;
	request.explanation_size = size;
	return ioctl(raw_device(), PMUCTL_IOC_OPEN, &request) < 0 ? errno : 0;
}

Test(abi_pointers, bad_explanation_is_a_fault_of_a_refused_open)
{
	for (size_t k = 0; k < RAW_ARRAY_SIZE(bad); k++) {
		cr_assert_eq(refused_with_buffer(bad[k], 256), EFAULT);
		check_explained(raw_device(), EFAULT, PMUCTL_WHY_BAD_POINTER, "explanation",
				BAD_SENTENCE);
		/* Nobody wants to be told: then the address says nothing. */
		cr_assert_eq(refused_with_buffer(bad[k], 0), EINVAL);
	}
	cr_assert_eq(refused_with_buffer((uintptr_t)raw_at_edge(255, 0), 256),
		     EFAULT);
}

Test(abi_pointers, explanation_of_an_open_that_succeeds_is_not_touched)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_explanation why, before;
	struct pmuctl_open request;
	int fd;

	memset(&why, 0xa5, sizeof(why));
	before = why;
	fd = raw_open(&a, 0, -1, 0, &why);
	cr_assert_geq(fd, 0);
	cr_assert_arr_eq(&why, &before, sizeof(why));
	close(fd);
	for (size_t k = 0; k < RAW_ARRAY_SIZE(bad); k++) {
		request = raw_request(&a, 0, -1, 0, NULL);
		request.explanation = bad[k];
		request.explanation_size = 256;
		fd = ioctl(raw_device(), PMUCTL_IOC_OPEN, &request);
		cr_assert_geq(fd, 0);
		close(fd);
	}
}

/* What a buffer of @size bytes must hold if @full is the whole explanation */
static void check_told(const uint8_t *got, uint32_t size,
		       const struct pmuctl_explanation *full)
{
	const uint8_t *want = (const uint8_t *)full;
	uint32_t told = size < sizeof(*full) ? size : sizeof(*full);
	bool cuts_a_string = size > offsetof(struct pmuctl_explanation, field) &&
			     size < sizeof(*full);

	for (uint32_t n = 0; n < 400; n++) {
		uint8_t expected = n < told ? want[n] : 0xa5;

		if (cuts_a_string && n == told - 1)
			expected = 0;
		cr_assert_eq(got[n], expected,
			     "buffer of %u bytes: byte %u is 0x%02x, expected 0x%02x",
			     size, n, got[n], expected);
	}
}

Test(abi_pointers, explanation_is_written_as_far_as_the_buffer_goes)
{
	struct pmuctl_explanation full;
	uint8_t buffer[400];

	cr_assert_eq(refused_with_buffer((uintptr_t)&full, sizeof(full)), EINVAL);
	check_why(&full, EINVAL, PMUCTL_WHY_EVENT_UNKNOWN, "attr.config",
		  "config 0x63 is not an event of type 0: see PERF_COUNT_* in <linux/perf_event.h>");
	for (uint32_t size = 0; size <= 300; size++) {
		memset(buffer, 0xa5, sizeof(buffer));
		cr_assert_eq(refused_with_buffer((uintptr_t)buffer, size), EINVAL);
		check_told(buffer, size, &full);
		/* And nothing beyond is as much as looked at. */
		if (size)
			cr_assert_eq(refused_with_buffer(
				(uintptr_t)raw_at_edge(size, 0), size), EINVAL);
	}
	memset(buffer, 0xa5, sizeof(buffer));
	cr_assert_eq(refused_with_buffer((uintptr_t)buffer, 0xffffffff), EINVAL);
	check_told(buffer, 0xffffffff, &full);
}

Test(abi_pointers, refused_opens_leave_no_descriptor_and_no_event)
{
	union raw_attr a = raw_instructions();
	int before = raw_count_fds();

	raw_device();
	before = raw_count_fds();
	for (size_t k = 0; k < RAW_ARRAY_SIZE(bad); k++) {
		refused_with_buffer(bad[k], 256);
		raw_open((void *)bad[k], 0, -1, 0, NULL);
	}
	raw_open(&a, -2, -1, 0, NULL);
	raw_open(&a, 0, -2, 0, NULL);
	cr_assert_eq(raw_count_fds(), before);
	cr_assert_eq(raw_info().hw_events, 0);
}

/* ---- PMUCTL_IOC_EXPLAIN ---- */

Test(abi_pointers, nothing_is_explained_before_something_is_refused)
{
	union raw_attr a = raw_instructions();
	struct pmuctl_explanation why, nothing = { .size = sizeof(why) };
	int fd = event_open(a);

	cr_assert_eq(raw_explain(raw_device(), &why), 0);
	cr_assert_arr_eq(&why, &nothing, sizeof(why));
	cr_assert_eq(raw_explain(fd, &why), 0);
	cr_assert_arr_eq(&why, &nothing, sizeof(why));
}

Test(abi_pointers, each_descriptor_has_its_own_last_refusal)
{
	union raw_attr a = raw_instructions();
	int device = open(PMUCTL_DEVICE, O_RDWR), fd = event_open(a);
	struct pmuctl_explanation why;

	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_REFRESH, 1), -1);
	raw_open(&a, -2, -1, 0, NULL);
	check_explained(raw_device(), ESRCH, PMUCTL_WHY_PID_INVALID, "pid",
			"pid -2 is not a target: use 0 for the calling task, a thread id, or -1 with a cpu");
	check_explained(fd, EINVAL, PMUCTL_WHY_NOT_SAMPLED, "",
			"this event only counts: open it with attr.sample_period or attr.sample_freq");
	cr_assert_eq(raw_explain(device, &why), 0);
	cr_assert_eq(why.code, PMUCTL_WHY_NOTHING);
	/* What is told once is told again, and success does not change it. */
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	check_explained(fd, EINVAL, PMUCTL_WHY_NOT_SAMPLED, "",
			"this event only counts: open it with attr.sample_period or attr.sample_freq");
}

Test(abi_pointers, a_refused_explain_is_explained)
{
	union raw_attr a = raw_instructions();
	int fd = event_open(a);
	struct pmuctl_explanation why = { .size = 255 };

	check_refusals(
		{ "one byte short", IOCTL(fd, PMUCTL_IOC_EXPLAIN, &why), EINVAL,
		  PMUCTL_WHY_SIZE_TOO_SMALL, "size",
		  "size 255 is less than the 256 bytes of the structure's first version: set it to sizeof()" },
		{ "no address", IOCTL(fd, PMUCTL_IOC_EXPLAIN, NULL), EFAULT,
		  PMUCTL_WHY_BAD_POINTER, "", BAD_SENTENCE }
	);
}

/* ---- ioctl numbers ---- */

static void check_unknown(int fd, unsigned int number)
{
	check_refused(IOCTL(fd, number, 0), ENOTTY, PMUCTL_WHY_IOCTL_UNKNOWN, "",
		      "ioctl number 0x%x is not one of pmuctl's: see <linux/pmuctl.h>", number);
}

Test(abi_pointers, unknown_ioctls_of_the_device)
{
	static const unsigned int numbers[] = {
		0, 1, 0x10, 0xffffffff, TCGETS, PERF_EVENT_IOC_ENABLE,
		PERF_EVENT_IOC_ID, PERF_EVENT_IOC_RESET, PMUCTL_IOC_INFO - 1,
		PMUCTL_IOC_READ_CPUS, _IOW(PMUCTL_IOC_MAGIC, 0x11, struct pmuctl_open),
		_IOWR(PMUCTL_IOC_MAGIC, 0x10, struct pmuctl_info),
	};

	for (size_t i = 0; i < RAW_ARRAY_SIZE(numbers); i++)
		check_unknown(raw_device(), numbers[i]);
	for (unsigned int n = 0; n < 256; n++)
		if ((n < 0x10 || n > 0x14) && (n < 0x1c || n > 0x1e) &&
		    _IO(PMUCTL_IOC_MAGIC, n) != PMUCTL_IOC_DRIVER)
			check_unknown(raw_device(), _IO(PMUCTL_IOC_MAGIC, n));
}

Test(abi_pointers, unknown_ioctls_of_an_event)
{
	static const unsigned int numbers[] = {
		0, 1, 0xffffffff, TCGETS, PMUCTL_IOC_INFO, PMUCTL_IOC_OPEN,
		PMUCTL_IOC_EXPLAIN + 1, _IO('$', 12), _IO('$', 255),
		_IOR('$', 7, uint32_t), _IO('$', 4),
	};
	union raw_attr a = raw_instructions();
	int fd = event_open(a);

	for (size_t i = 0; i < RAW_ARRAY_SIZE(numbers); i++)
		check_unknown(fd, numbers[i]);
}
