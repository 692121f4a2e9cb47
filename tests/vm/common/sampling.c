// SPDX-License-Identifier: GPL-2.0-only
#include "sampling.h"

bool is_stress(void)
{
	return getenv("SAMPLING_STRESS") != NULL;
}

uint64_t kernel_period(uint64_t period)
{
	return is_slow_kernel() ? 100 * period : period;
}

/* ---- Limits ---- */

void set_max_rate(long rate)
{
	const char *path = "/sys/module/pmuctl/parameters/max_sample_rate";

	if (is_witness()) {
		/* The rate cannot be written while this is 0. */
		raw_write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "25");
		path = "/proc/sys/kernel/perf_event_max_sample_rate";
	}
	cr_assert_eq(raw_write_number(path, rate), 0, "%s", path);
	if (is_witness())
		raw_write_file("/proc/sys/kernel/perf_cpu_time_max_percent", "0");
}

void sampling_init(void)
{
	set_max_rate(RATE_ENDLESS);
	if (!is_witness()) /* whose share is no limit already */
		cr_assert_eq(raw_write_number(TIME_SHARE, 0), 0);
}

void sampling_fini(void)
{
	set_max_rate(RATE_USUAL);
}

/* ---- Events ---- */

struct perf_event_attr sampling_attr(uint64_t period)
{
	struct perf_event_attr attr = instructions_u();

	attr.sample_period = period;
	attr.sample_type = SAMPLE_USUAL;
	attr.read_format = 0;
	attr.disabled = 1;
	return attr;
}

uint64_t sampling_value(int fd)
{
	uint64_t value;

	cr_assert_eq(read(fd, &value, sizeof(value)), (ssize_t)sizeof(value), "%m");
	return value;
}

/* ---- Rings ---- */

int ring_try_map(struct ring *r, int fd, size_t pages, int prot)
{
	void *map = mmap(NULL, (1 + pages) * PAGE, prot, MAP_SHARED, fd, 0);

	memset(r, 0, sizeof(*r));
	if (map == MAP_FAILED)
		return -errno;
	r->page = map;
	r->data = (uint8_t *)map + PAGE;
	r->size = pages * PAGE;
	r->length = (1 + pages) * PAGE;
	return 0;
}

void ring_map(struct ring *r, int fd, size_t pages)
{
	int err = ring_try_map(r, fd, pages, PROT_READ | PROT_WRITE);

	cr_assert_eq(err, 0, "mmap of 1 + %zu pages: %s", pages, strerror(-err));
}

void ring_unmap(struct ring *r)
{
	cr_assert_eq(munmap(r->page, r->length), 0);
}

uint64_t ring_head(const struct ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

void ring_copy(const struct ring *r, void *to, uint64_t from, size_t n)
{
	size_t offset = from & (r->size - 1);
	size_t first = n < r->size - offset ? n : r->size - offset;

	memcpy(to, r->data + offset, first);
	memcpy((uint8_t *)to + first, r->data, n - first);
}

struct perf_event_header *ring_next(struct ring *r)
{
	static __thread struct perf_event_header *record; /* small: threads may have small stacks */
	struct perf_event_header *header;
	uint64_t head = ring_head(r);

	if (!record)
		record = malloc(RECORD_MAX);
	cr_assert_not_null(record);
	header = record;
	/* Pairs with the kernel's look at the tail before it writes there. */
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
	if (r->tail == head)
		return NULL;
	cr_assert_leq(head - r->tail, r->size, "head %#lx, tail %#lx", head, r->tail);
	ring_copy(r, header, r->tail, sizeof(*header));
	cr_assert(header->size >= sizeof(*header) && header->size % 8 == 0 &&
		  header->size <= head - r->tail,
		  "record of type %u at %#lx: size %u, head %#lx", header->type,
		  r->tail, header->size, head);
	ring_copy(r, record, r->tail, header->size);
	r->tail += header->size;
	return header;
}

struct perf_event_header *ring_next_before(struct ring *r, uint64_t end)
{
	struct perf_event_header *header = r->tail < end ? ring_next(r) : NULL;

	if (!header)
		__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
	return header;
}

uint64_t ring_drain(struct ring *r, uint32_t type)
{
	struct perf_event_header *header;
	uint64_t n = 0, end = ring_head(r);

	while ((header = ring_next_before(r, end)))
		n += header->type == type;
	return n;
}

/* ---- Code whose instructions are known ---- */

asm(".pushsection .text\n"
    ".globl sampled_block, sampled_first\n"
    "sampled_block:\n"
    "	mov	%rsi, %r8\n"
    "	mov	$16, %eax\n"		/* ioctl */
    "	mov	$0x2400, %esi\n"	/* PERF_EVENT_IOC_ENABLE */
    "	xor	%edx, %edx\n"
    "	syscall\n"
    "sampled_first:\n"
    "	nop; nop; nop; nop; nop; nop; nop; nop\n"
    "	dec	%r8\n"
    "	jnz	sampled_first\n"
    "	mov	$0x2401, %esi\n"	/* PERF_EVENT_IOC_DISABLE */
    "	mov	$16, %eax\n"
    "	syscall\n"
    "	ret\n"
    ".popsection");

uint64_t block_ip(uint64_t n, uint64_t rounds)
{
	static const uint8_t round[BLOCK_ROUND] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 11 };
	static const uint8_t end[BLOCK_END + 1] = { 13, 18, 23, 25 };

	n = (n - 1) % BLOCK_LENGTH(rounds) + 1;
	if (n < BLOCK_ROUND * rounds)
		return (uintptr_t)sampled_first + round[n % BLOCK_ROUND];
	return (uintptr_t)sampled_first + end[n - BLOCK_ROUND * rounds];
}

struct totals totals(void)
{
	FILE *f = fopen("/sys/kernel/debug/pmuctl/cpus", "re");
	struct totals t = { 0 }, one;
	char line[256];

	cr_assert_not_null(f, "%m");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " samples %lu, throttles %lu, records lost %lu", &one.samples,
			   &one.throttles, &one.lost) == 3) {
			t.samples += one.samples;
			t.throttles += one.throttles;
			t.lost += one.lost;
		} else if (sscanf(line, " overflows %*u, NMIs seen %*u, claimed %*u, stuck %*u, rotations %lu",
				  &one.rotations) == 1) {
			t.rotations += one.rotations;
		}
	}
	fclose(f);
	return t;
}
