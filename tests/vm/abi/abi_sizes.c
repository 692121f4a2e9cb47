// SPDX-License-Identifier: GPL-2.0-only
/*
 * Versions of the ABI's structures: every ioctl with its structure one byte short,
 * exact, longer with zeroes, longer with something else; and struct perf_event_attr
 * in every size. What is given ends where memory ends, so a byte read or written too
 * much is a fault.
 */
#include "refusal.h"

static const struct versioned {
	const char *name;
	unsigned int number;
	uint32_t size;
	uint32_t least;		/* of its first version */
} structures[] = {
	{ "INFO", PMUCTL_IOC_INFO, sizeof(struct pmuctl_info),
	  sizeof(struct pmuctl_info) },
	{ "OPEN", PMUCTL_IOC_OPEN, sizeof(struct pmuctl_open),
	  PMUCTL_OPEN_SIZE_VER0 },
	{ "EXPLAIN", PMUCTL_IOC_EXPLAIN, sizeof(struct pmuctl_explanation),
	  sizeof(struct pmuctl_explanation) },
	{ "DRIVER", PMUCTL_IOC_DRIVER, sizeof(struct pmuctl_driver),
	  sizeof(struct pmuctl_driver) },
	{ "OPEN_LIST", PMUCTL_IOC_OPEN_LIST, sizeof(struct pmuctl_open_list),
	  sizeof(struct pmuctl_open_list) },
	{ "READ_LIST", PMUCTL_IOC_READ_LIST, sizeof(struct pmuctl_read_list),
	  sizeof(struct pmuctl_read_list) },
	{ "CONTROL_LIST", PMUCTL_IOC_CONTROL_LIST, sizeof(struct pmuctl_control_list),
	  sizeof(struct pmuctl_control_list) },
};

static int opened = -1;	/* by a list of one entry, and what other lists are about */

union structure {
	struct pmuctl_open open;
	struct pmuctl_open_list open_list;
	struct pmuctl_read_list read_list;
	struct pmuctl_control_list control_list;
};

/* What is asked for of each; all zero will do for the others. */
static union structure good_request(unsigned int number)
{
	static struct pmuctl_read_entry entry;
	static struct pmuctl_open open;
	static union raw_attr attr;
	static uint64_t word;
	union structure u;

	memset(&u, 0, sizeof(u));
	attr = raw_instructions();
	open = raw_request(&attr, 0, -1, 0, NULL);
	if (number == PMUCTL_IOC_OPEN) {
		u.open = open;
	} else if (number == PMUCTL_IOC_OPEN_LIST) {
		u.open_list = (struct pmuctl_open_list){ .nr = 1, .entry_size = sizeof(open),
			.opens = (uintptr_t)&open, .fds = (uintptr_t)&opened };
	} else if (number == PMUCTL_IOC_READ_LIST || number == PMUCTL_IOC_CONTROL_LIST) {
		if (opened < 0)
			opened = event_open(&attr);
		entry = (struct pmuctl_read_entry){ .fd = opened, .length = sizeof(word),
			.buffer = (uintptr_t)&word };
		u.read_list = (struct pmuctl_read_list){ .nr = 1,
			.entry_size = sizeof(entry), .entries = (uintptr_t)&entry };
		if (number == PMUCTL_IOC_CONTROL_LIST)
			u.control_list = (struct pmuctl_control_list){ .nr = 1,
				.request = PERF_EVENT_IOC_RESET, .fds = (uintptr_t)&opened };
	}
	return u;
}

/* A good request for @s of @size bytes, of which those that nobody knows are @beyond. */
static uint8_t *request(const struct versioned *s, uint32_t size, int beyond)
{
	union structure u = good_request(s->number);
	uint8_t *bytes = raw_at_edge(size < 4 ? 4 : size, 0);

	memcpy(bytes, &u, size < sizeof(u) ? size : sizeof(u));
	if (size > s->size)
		bytes[size - 1] = beyond;
	memcpy(bytes, &size, sizeof(size));
	return bytes;
}

/* The errno of a request, 0 if it succeeds; what an open opened is closed. */
static int ask(const struct versioned *s, void *bytes)
{
	int ret = ioctl(raw_device(), s->number, bytes);

	if (ret < 0)
		return errno;
	if (s->number == PMUCTL_IOC_OPEN)
		close(ret);
	if (s->number == PMUCTL_IOC_OPEN_LIST) {
		close(opened);
		opened = -1;
	}
	return 0;
}

Test(abi_sizes, shorter_than_the_first_version_is_refused)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(structures); i++) {
		const struct versioned *s = &structures[i];
		const uint32_t sizes[] = { 0, 1, 3, 4, s->least / 2, s->least - 1 };

		for (size_t k = 0; k < RAW_ARRAY_SIZE(sizes); k++) {
			cr_assert_eq(ask(s, request(s, sizes[k], 0)), EINVAL,
				     "%s of %u bytes", s->name, sizes[k]);
			check_explained(raw_device(), EINVAL, PMUCTL_WHY_SIZE_TOO_SMALL, "size",
					"size %u is less than the %u bytes of the structure's first version: set it to sizeof()",
					sizes[k], s->least);
		}
	}
}

Test(abi_sizes, shorter_is_accepted_as_an_older_version)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(structures); i++)
		for (uint32_t size = structures[i].least; size < structures[i].size; size++)
			cr_assert_eq(ask(&structures[i], request(&structures[i], size, 0)),
				     0, "%s of %u bytes", structures[i].name, size);
}

Test(abi_sizes, exact_is_accepted)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(structures); i++) {
		const struct versioned *s = &structures[i];

		cr_assert_eq(ask(s, request(s, s->size, 0)), 0, "%s", s->name);
	}
}

Test(abi_sizes, longer_is_accepted_if_what_is_beyond_is_zero)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(structures); i++) {
		const struct versioned *s = &structures[i];
		const uint32_t sizes[] = { s->size + 1, s->size + 8, 4095, 4096 };

		for (size_t k = 0; k < RAW_ARRAY_SIZE(sizes); k++) {
			uint8_t *bytes = request(s, sizes[k], 0);

			cr_assert_eq(ask(s, bytes), 0, "%s of %u bytes", s->name,
				     sizes[k]);
			for (uint32_t n = s->size; n < sizes[k]; n++)
				cr_assert_eq(bytes[n], 0, "%s wrote byte %u",
					     s->name, n);
		}
	}
}

Test(abi_sizes, longer_is_refused_if_what_is_beyond_is_not_zero)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(structures); i++) {
		const struct versioned *s = &structures[i];
		const uint32_t sizes[] = { s->size + 1, s->size + 8, 4096 };

		for (size_t k = 0; k < RAW_ARRAY_SIZE(sizes); k++) {
			uint8_t *bytes = request(s, sizes[k], 1);

			cr_assert_eq(ask(s, bytes), E2BIG, "%s of %u bytes",
				     s->name, sizes[k]);
			check_explained(raw_device(), E2BIG, PMUCTL_WHY_SIZE_TOO_BIG, "size",
					"size %u is more than the %u bytes that this module knows, and what is beyond is not zero: leave the newer fields 0 or update the module",
					sizes[k], s->size);
		}
	}
}

Test(abi_sizes, size_beyond_the_memory_that_is_there_is_a_fault)
{
	for (size_t i = 0; i < RAW_ARRAY_SIZE(structures); i++) {
		const struct versioned *s = &structures[i];
		const uint32_t sizes[] = { s->size + 1, 1000, 4096 };

		for (size_t k = 0; k < RAW_ARRAY_SIZE(sizes); k++) {
			uint8_t *bytes = request(s, s->size, 0);

			memcpy(bytes, &sizes[k], sizeof(sizes[k]));
			cr_assert_eq(ask(s, bytes), EFAULT, "%s of %u bytes",
				     s->name, sizes[k]);
		}
	}
}

/* What no structure will ever need is not even looked at. */
Test(abi_sizes, more_than_a_page_is_refused)
{
	static const uint32_t sizes[] = { 4097, 0x7fffffff, 0x80000000,
		0xffffffff };
	struct pmuctl_explanation why;

	for (size_t i = 0; i < RAW_ARRAY_SIZE(structures); i++) {
		const struct versioned *s = &structures[i];

		for (size_t k = 0; k < RAW_ARRAY_SIZE(sizes); k++) {
			uint8_t *bytes = request(s, 8192, 0);

			memcpy(bytes, &sizes[k], sizeof(sizes[k]));
			cr_assert_eq(ask(s, bytes), E2BIG, "%s of %u bytes",
				     s->name, sizes[k]);
			cr_assert_eq(raw_explain(raw_device(), &why), 0);
			cr_assert_eq(why.error, E2BIG);
			cr_assert_eq(why.code, PMUCTL_WHY_SIZE_TOO_BIG);
		}
	}
}

Test(abi_sizes, info_tells_the_size_that_it_filled)
{
	uint8_t *bytes = request(&structures[0], 4096, 0);
	struct pmuctl_info info;

	cr_assert_eq(ask(&structures[0], bytes), 0);
	memcpy(&info, bytes, sizeof(info));
	cr_assert_eq(info.size, sizeof(info));
	cr_assert_eq(info.abi_version, PMUCTL_ABI_VERSION);
	cr_assert_eq(info.attr_size, PMUCTL_ATTR_SIZE);
}

/* ---- struct perf_event_attr ---- */

/* Instructions of the caller in an attr of @size bytes that says @says. */
static void *sized_attr(uint32_t size, uint32_t says)
{
	union raw_attr a = raw_instructions();
	uint8_t *bytes = raw_at_edge(size, 0);

	a.attr.size = says;
	memcpy(bytes, &a, size < sizeof(a) ? size : sizeof(a));
	return bytes;
}

static uint32_t size_of(const void *attr)
{
	uint32_t size;

	memcpy(&size, (const uint8_t *)attr + 4, sizeof(size));
	return size;
}

Test(abi_sizes, every_published_attr_is_accepted)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(sizes); i++) {
		void *attr = sized_attr(sizes[i], sizes[i]);

		close(event_open(attr));
		cr_assert_eq(size_of(attr), sizes[i]);
	}
}

Test(abi_sizes, attr_of_size_0_is_the_first_one)
{
	close(event_open(sized_attr(64, 0)));
}

Test(abi_sizes, attr_between_two_versions_is_accepted)
{
	for (uint32_t size = 64; size <= 136; size++)
		close(event_open(sized_attr(size, size)));
}

Test(abi_sizes, what_is_behind_the_attr_is_not_looked_at)
{
	for (uint32_t size = 64; size < 136; size++) {
		union raw_attr a = raw_instructions();

		a.attr.size = size;
		memset(a.bytes + size, 0xff, sizeof(a) - size);
		close(event_open(a));
	}
}

Test(abi_sizes, attr_that_is_too_short_is_refused_with_the_size_that_is_known)
{
	static const uint32_t sizes[] = { 1, 4, 8, 40, 63 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(sizes); i++) {
		void *attr = sized_attr(64, sizes[i]);

		check_refused(OPEN(attr), E2BIG, PMUCTL_WHY_ATTR_TOO_SMALL, "attr.size",
			      "attr.size %u is less than 64, the size of the first struct perf_event_attr: set it to sizeof(), or to 0 for that first size",
			      sizes[i]);
		cr_assert_eq(size_of(attr), PMUCTL_ATTR_SIZE);
	}
}

Test(abi_sizes, longer_attr_is_accepted_if_what_is_beyond_is_zero)
{
	static const uint32_t sizes[] = { 137, 144, 200, 4095, 4096 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(sizes); i++)
		close(event_open(sized_attr(sizes[i], sizes[i])));
}

static void check_too_big(uint8_t *attr, uint32_t size)
{
	check_refused(OPEN((void *)attr), E2BIG, PMUCTL_WHY_ATTR_TOO_BIG, "attr.size",
		      "attr.size %u is more than the 136 bytes that this module knows, and what is beyond is not zero: attr.size now holds the size that it knows",
		      size);
	cr_assert_eq(size_of(attr), PMUCTL_ATTR_SIZE);
}

Test(abi_sizes, longer_attr_is_refused_if_what_is_beyond_is_not_zero)
{
	static const uint32_t sizes[] = { 137, 144, 200, 4095, 4096 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(sizes); i++) {
		uint8_t *attr = sized_attr(sizes[i], sizes[i]);

		attr[sizes[i] - 1] = 0x80;
		check_too_big(attr, sizes[i]);
		attr = sized_attr(sizes[i], sizes[i]);
		attr[136] = 1;
		check_too_big(attr, sizes[i]);
	}
}

/* As perf has it: nobody needs an attr of more than a page. */
Test(abi_sizes, attr_of_more_than_a_page_is_refused)
{
	uint8_t *attr = sized_attr(5000, 4097);
	struct pmuctl_explanation why;

	cr_assert_eq(raw_open((void *)attr, 0, -1, 0, &why), -E2BIG);
	cr_assert_eq(why.code, PMUCTL_WHY_ATTR_TOO_BIG);
	cr_assert_eq(size_of(attr), PMUCTL_ATTR_SIZE);
	attr = sized_attr(64, 0xffffffff);
	cr_assert_eq(raw_open((void *)attr, 0, -1, 0, &why), -E2BIG);
	cr_assert_eq(size_of(attr), PMUCTL_ATTR_SIZE);
}

Test(abi_sizes, attr_whose_size_cannot_be_corrected_is_a_fault)
{
	static const uint32_t sizes[] = { 8, 137, 8000 };

	for (size_t i = 0; i < RAW_ARRAY_SIZE(sizes); i++) {
		uint8_t *attr = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		attr[136] = 1;
		memcpy(attr + 4, &sizes[i], sizeof(sizes[i]));
		cr_assert_eq(mprotect(attr, 8192, PROT_READ), 0);
		check_refused(OPEN((void *)attr), EFAULT, PMUCTL_WHY_BAD_POINTER, "attr",
			      "the memory at this address cannot be read or written: pass a pointer into your own address space");
	}
}
