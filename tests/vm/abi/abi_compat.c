// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ABI as a 32-bit program uses it: through the 32-bit system call entry, with memory
 * below 4 GB, and with ioctl numbers in which a pointer has 4 bytes.
 */
#include "refusal.h"

#define IOCTL_32	54	/* __NR_ioctl of 32-bit programs */

/* int 0x80 is the 32-bit entry in 64-bit programs too. It spoils r8 to r11. */
static int ioctl32(int fd, uint32_t number, uint32_t argument)
{
	long ret;

	asm volatile("int $0x80" : "=a" (ret)
		     : "a" (IOCTL_32), "b" (fd), "c" (number), "d" (argument)
		     : "memory", "r8", "r9", "r10", "r11");
	return (int)ret;
}

/* What a 32-bit program's numbers are: the size in them is that of its pointers. */
#define NUMBER_32(number) \
	(((number) & ~(_IOC_SIZEMASK << _IOC_SIZESHIFT)) | (4 << _IOC_SIZESHIFT))

struct low {
	struct pmuctl_info info;
	struct pmuctl_open open;
	struct pmuctl_explanation why;
	union raw_attr attr;
	uint64_t id;
	struct pmuctl_open_list open_list;
	struct pmuctl_read_list read_list;
	struct pmuctl_control_list control_list;
	struct pmuctl_open opens[2];
	struct pmuctl_read_entry entries[2];
	uint64_t values[2];
	int fds[2];
};

static struct low *low_memory(void)
{
	struct low *low = mmap(NULL, sizeof(*low), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	cr_assert_neq(low, MAP_FAILED);
	low->info.size = sizeof(low->info);
	low->attr = raw_instructions();
	low->open = raw_request(&low->attr, 0, -1, 0, &low->why);
	return low;
}

static uint32_t address(const void *p)
{
	cr_assert_eq((uintptr_t)p >> 32, 0);
	return (uintptr_t)p;
}

Test(abi_compat, info)
{
	struct pmuctl_info info = raw_info();
	struct low *low = low_memory();

	cr_assert_eq(ioctl32(raw_device(), PMUCTL_IOC_INFO, address(&low->info)), 0);
	cr_assert_arr_eq(&low->info, &info, sizeof(info));
}

Test(abi_compat, open_and_count)
{
	struct low *low = low_memory();
	int fd = ioctl32(raw_device(), PMUCTL_IOC_OPEN, address(&low->open));
	uint64_t id;

	cr_assert_geq(fd, 0, "%s", low->why.sentence);
	cr_assert_eq(ioctl32(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	user_loop(1000);
	cr_assert_eq(ioctl32(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	cr_assert_geq(raw_read(fd), 2000);
	cr_assert_leq(raw_read(fd), 3000);
	cr_assert_eq(ioctl32(fd, PERF_EVENT_IOC_RESET, 0), 0);
	cr_assert_eq(raw_read(fd), 0);

	cr_assert_eq(ioctl32(fd, NUMBER_32(PERF_EVENT_IOC_ID), address(&low->id)), 0);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_ID, &id), 0);
	cr_assert_eq(low->id, id);
}

Test(abi_compat, lists)
{
	struct low *low = low_memory();

	low->opens[0] = low->opens[1] = low->open;
	for (int i = 0; i < 2; i++)
		low->opens[i].explanation = low->opens[i].explanation_size = 0;
	low->open_list = (struct pmuctl_open_list){ .size = sizeof(low->open_list), .nr = 2,
		.entry_size = sizeof(*low->opens), .opens = address(low->opens),
		.fds = address(low->fds), .explanation = address(&low->why),
		.explanation_size = sizeof(low->why) };
	cr_assert_eq(ioctl32(raw_device(), PMUCTL_IOC_OPEN_LIST, address(&low->open_list)), 0,
		     "%s", low->why.sentence);
	low->control_list = (struct pmuctl_control_list){ .size = sizeof(low->control_list),
		.nr = 2, .request = PERF_EVENT_IOC_ENABLE, .fds = address(low->fds) };
	cr_assert_eq(ioctl32(raw_device(), PMUCTL_IOC_CONTROL_LIST, address(&low->control_list)), 0);
	user_loop(1000);
	for (int i = 0; i < 2; i++)
		low->entries[i] = (struct pmuctl_read_entry){ .fd = low->fds[i], .length = 8,
			.buffer = address(&low->values[i]) };
	low->read_list = (struct pmuctl_read_list){ .size = sizeof(low->read_list), .nr = 2,
		.entry_size = sizeof(*low->entries), .entries = address(low->entries) };
	cr_assert_eq(ioctl32(raw_device(), PMUCTL_IOC_READ_LIST, address(&low->read_list)), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(low->entries[i].got, 8);
		cr_assert_geq(low->values[i], 2000);
	}
}

Test(abi_compat, refusals_are_explained)
{
	struct low *low = low_memory();
	int fd;

	low->attr.attr.config = 99;
	cr_assert_eq(ioctl32(raw_device(), PMUCTL_IOC_OPEN, address(&low->open)),
		     -EINVAL);
	check_why(&low->why, EINVAL, PMUCTL_WHY_EVENT_UNKNOWN, "attr.config",
		  "config 0x63 is not an event of type 0: see PERF_COUNT_* in <linux/perf_event.h>");

	low->attr = raw_instructions();
	fd = ioctl32(raw_device(), PMUCTL_IOC_OPEN, address(&low->open));
	cr_assert_geq(fd, 0);
	cr_assert_eq(ioctl32(fd, NUMBER_32(PERF_EVENT_IOC_SET_FILTER), address(low)), -EINVAL);
	memset(&low->why, 0, sizeof(low->why));
	low->why.size = sizeof(low->why);
	cr_assert_eq(ioctl32(fd, PMUCTL_IOC_EXPLAIN, address(&low->why)), 0);
	check_why(&low->why, EINVAL, PMUCTL_WHY_FILTER_UNUSED, "",
		  "only events of tracepoints have filters, and those that trace: open one of these");
}

Test(abi_compat, numbers_without_a_pointer_stay_what_they_are)
{
	static const struct {
		uint32_t number;
		int error;
	} ioctls[] = {
		{ PERF_EVENT_IOC_REFRESH, EINVAL }, /* it only counts */
		{ PERF_EVENT_IOC_PAUSE_OUTPUT, EINVAL }, /* it has no buffer */
		{ PERF_EVENT_IOC_PERIOD, EFAULT },
		{ PERF_EVENT_IOC_SET_OUTPUT, EBADF }, /* standard input is no event */
		{ PERF_EVENT_IOC_SET_BPF, EINVAL },
		{ NUMBER_32(PERF_EVENT_IOC_QUERY_BPF), EINVAL },
		{ NUMBER_32(PERF_EVENT_IOC_MODIFY_ATTRIBUTES), EFAULT },
		{ _IO('$', 100), ENOTTY },
	};
	struct low *low = low_memory();
	int fd = ioctl32(raw_device(), PMUCTL_IOC_OPEN, address(&low->open));

	for (size_t i = 0; i < RAW_ARRAY_SIZE(ioctls); i++)
		cr_assert_eq(ioctl32(fd, ioctls[i].number, 0), -ioctls[i].error,
			     "number 0x%x", ioctls[i].number);
}

Test(abi_compat, ioctls_of_sampled_events)
{
	struct low *low = low_memory();
	int fd;

	low->attr.attr.sample_period = 1000000;
	fd = ioctl32(raw_device(), PMUCTL_IOC_OPEN, address(&low->open));
	cr_assert_geq(fd, 0, "%s", low->why.sentence);
	low->id = 5000000000;
	cr_assert_eq(ioctl32(fd, PERF_EVENT_IOC_PERIOD, address(&low->id)), 0);
	low->id = 1ULL << 63; /* all of it is looked at */
	cr_assert_eq(ioctl32(fd, PERF_EVENT_IOC_PERIOD, address(&low->id)), -EINVAL);
	cr_assert_eq(ioctl32(fd, PERF_EVENT_IOC_REFRESH, 1), 0);
	cr_assert_eq(ioctl32(fd, PERF_EVENT_IOC_SET_OUTPUT, -1), 0);
}

Test(abi_compat, bad_pointers_are_faults)
{
	struct low *low = low_memory();

	for (uint32_t i = PMUCTL_IOC_INFO; i <= PMUCTL_IOC_EXPLAIN; i++) {
		cr_assert_eq(ioctl32(raw_device(), i, 0), -EFAULT);
		cr_assert_eq(ioctl32(raw_device(), i, 0xfffffffc), -EFAULT);
	}
	/* Addresses within the structures have 64 bits, whoever asks. */
	low->open.attr |= 1ULL << 63;
	cr_assert_eq(ioctl32(raw_device(), PMUCTL_IOC_OPEN, address(&low->open)),
		     -EFAULT);
}
