// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's builder: what comes of all that is said, and what is refused with which
 * explanation. Opening is tested in guests, tests/vm/lib/lib_builder.c.
 */
/* sources: lib/src/builder.c lib/src/watch.c lib/src/ring.c lib/src/sampling.c */
/* sources: lib/src/event.c lib/src/tracepoint.c lib/src/group.c lib/src/device.c lib/src/explain.c */
/* sources: lib/src/events.c lib/src/fields.c lib/src/names.c lib/src/parse.c lib/src/terms.c */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../lib/src/device.h"
#include "../../lib/src/event.h"

static struct pmuctl_builder *builder_of(const char *name)
{
	struct pmuctl_builder *b;

	cr_assert_eq(pmuctl_builder_new(&b), 0);
	if (name)
		pmuctl_builder_name(b, name);
	return b;
}

/* What it comes to; the builder is freed. */
static struct perf_event_attr judge(struct pmuctl_builder *b)
{
	struct pmuctl_explanation why;
	struct perf_event_attr attr;

	memset(&why, 0x5a, sizeof(why));
	memset(&attr, 0x5a, sizeof(attr));
	cr_assert_eq(pmuctl_builder_judge(b, &attr, &why), 0, "%s", why.sentence);
	pmuctl_builder_free(b);
	return attr;
}

static void refuse(struct pmuctl_builder *b, unsigned int code, int error,
		   const char *field, const char *sentence)
{
	struct pmuctl_explanation why;
	struct perf_event_attr attr;

	cr_assert_eq(pmuctl_builder_judge(b, &attr, NULL), -error);
	cr_assert_eq(pmuctl_builder_judge(b, &attr, &why), -error);
	cr_expect_eq(why.size, sizeof(why));
	cr_expect_eq(why.error, (unsigned int)error);
	cr_expect_eq(why.code, code, "%u", why.code);
	cr_expect_str_eq(why.field, field);
	cr_expect_str_eq(why.sentence, sentence, "'%s'", why.sentence);
	pmuctl_builder_free(b);
}

static void nothing(struct pmuctl_event *event, const struct pmuctl_overflow *overflow,
		    void *arg)
{
	(void)event;
	(void)overflow;
	(void)arg;
}

/* ---- What it comes to ---- */

Test(lib_builder, a_name_alone_counts)
{
	struct perf_event_attr attr = judge(builder_of("instructions")), plain = {
		.type = PERF_TYPE_HARDWARE,
		.size = attr.size,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
	};

	cr_expect_arr_eq(&attr, &plain, sizeof(attr));
}

Test(lib_builder, every_flag_is_set_and_only_that)
{
	static const struct {
		void (*say)(struct pmuctl_builder *b, int on);
		int bit;	/* of the word of flags */
	} flags[] = {
		{ pmuctl_builder_disabled, 0 }, { pmuctl_builder_inherit, 1 },
		{ pmuctl_builder_pinned, 2 }, { pmuctl_builder_exclusive, 3 },
		{ pmuctl_builder_exclude_user, 4 }, { pmuctl_builder_exclude_kernel, 5 },
		{ pmuctl_builder_exclude_hv, 6 }, { pmuctl_builder_exclude_idle, 7 },
	};
	const size_t offset = offsetof(struct perf_event_attr, read_format) + 8;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct pmuctl_builder *b = builder_of("cycles");
		struct perf_event_attr attr;
		uint64_t word;

		flags[i].say(b, 7);	/* anything but 0 is on */
		attr = judge(b);
		memcpy(&word, (char *)&attr + offset, sizeof(word));
		cr_expect_eq(word, 1ull << flags[i].bit, "%zu: %lx", i, word);

		b = builder_of("cycles");
		flags[i].say(b, 1);
		flags[i].say(b, 0);
		attr = judge(b);
		memcpy(&word, (char *)&attr + offset, sizeof(word));
		cr_expect_eq(word, 0, "%zu: %lx", i, word);
	}
}

/* Whether it comes before or after them */
Test(lib_builder, calls_come_on_top_of_names_and_attrs)
{
	struct pmuctl_builder *b = builder_of(NULL);
	struct perf_event_attr attr, given = {
		.type = PERF_TYPE_RAW, .size = sizeof(given), .config = 0x1c4,
		.pinned = 1, .disabled = 1, .sample_period = 77,
		.sample_type = PERF_SAMPLE_IP,
	};

	pmuctl_builder_pinned(b, 0);
	pmuctl_builder_attr(b, &given);
	pmuctl_builder_exclude_hv(b, 1);
	attr = judge(b);
	given.pinned = 0;
	given.exclude_hv = 1;
	cr_expect_arr_eq(&attr, &given, sizeof(attr));

	b = builder_of("cycles:u");
	pmuctl_builder_exclude_kernel(b, 0);
	attr = judge(b);
	cr_expect_eq(attr.exclude_kernel, 0);
	cr_expect_eq(attr.exclude_hv, 1);
}

Test(lib_builder, the_later_of_name_and_attr_wins)
{
	struct perf_event_attr attr, given = { .type = PERF_TYPE_RAW, .config = 0xc4,
					       .exclude_user = 1 };
	struct pmuctl_builder *b = builder_of("cycles");

	pmuctl_builder_attr(b, &given);
	attr = judge(b);
	cr_expect_eq(attr.config, 0xc4);

	b = builder_of("cycles");
	pmuctl_builder_attr(b, &given);
	pmuctl_builder_name(b, "branches");
	attr = judge(b);
	cr_expect_eq(attr.type, PERF_TYPE_HARDWARE);
	cr_expect_eq(attr.config, PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	cr_expect_eq(attr.exclude_user, 0);
}

Test(lib_builder, the_later_of_period_and_frequency_wins)
{
	struct pmuctl_builder *b = builder_of("cycles");
	struct perf_event_attr attr;

	pmuctl_builder_period(b, 1000);
	pmuctl_builder_frequency(b, 99);
	attr = judge(b);
	cr_expect_eq(attr.freq, 1);
	cr_expect_eq(attr.sample_freq, 99);

	b = builder_of("cycles");
	pmuctl_builder_frequency(b, 99);
	pmuctl_builder_period(b, UINT64_MAX >> 1);
	attr = judge(b);
	cr_expect_eq(attr.freq, 0);
	cr_expect_eq(attr.sample_period, UINT64_MAX >> 1);
}

/* What a function is told is asked for, and poll() tells of each unless the attr says else. */
Test(lib_builder, a_function_asks_for_what_it_is_told)
{
	const uint64_t told = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			      PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD;
	struct perf_event_attr attr, given = {
		.type = PERF_TYPE_HARDWARE, .sample_type = PERF_SAMPLE_CALLCHAIN,
		.wakeup_events = 7, .sample_period = 5,
	};
	struct pmuctl_builder *b = builder_of("cycles");

	pmuctl_builder_period(b, 1000);
	pmuctl_builder_callback(b, nothing, NULL);
	attr = judge(b);
	cr_expect_eq(attr.sample_type, told);
	cr_expect_eq(attr.wakeup_events, 1);

	b = builder_of(NULL);
	pmuctl_builder_attr(b, &given);
	pmuctl_builder_callback(b, nothing, NULL);
	attr = judge(b);
	cr_expect_eq(attr.sample_type, told | PERF_SAMPLE_CALLCHAIN);
	cr_expect_eq(attr.wakeup_events, 7);
	cr_expect_eq(attr.sample_period, 5);

	given.watermark = 1;
	given.wakeup_watermark = 0;
	b = builder_of(NULL);
	pmuctl_builder_attr(b, &given);
	pmuctl_builder_callback(b, nothing, NULL);
	attr = judge(b);
	cr_expect_eq(attr.wakeup_watermark, 0);

	b = builder_of("cycles");
	pmuctl_builder_callback(b, nothing, NULL);
	pmuctl_builder_callback(b, NULL, NULL);
	cr_expect_eq(judge(b).sample_type, 0);
}

/* ---- Attrs of other sizes ---- */

/* The first @size bytes of an attr, with nothing behind them that could be read */
static struct perf_event_attr *attr_at_the_edge(const struct perf_event_attr *whole, size_t size)
{
	const size_t page = 4096;
	char *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			   -1, 0);

	cr_assert_neq(pages, MAP_FAILED);
	memset(pages, 0, 3 * page);
	cr_assert_eq(mprotect(pages + 2 * page, page, PROT_NONE), 0);
	memcpy(pages + 2 * page - size, whole, size < sizeof(*whole) ? size : sizeof(*whole));
	return (void *)(pages + 2 * page - size);
}

/* As for perf_event_open(2): an attr without a size has that of the first version. */
Test(lib_builder, no_more_is_read_than_an_attr_has)
{
	static const uint32_t sizes[] = { 0, PERF_ATTR_SIZE_VER0, PERF_ATTR_SIZE_VER2,
					  PERF_ATTR_SIZE_VER5, sizeof(struct perf_event_attr) };
	struct perf_event_attr whole;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t size = sizes[i] ? sizes[i] : PERF_ATTR_SIZE_VER0;
		struct pmuctl_builder *b = builder_of(NULL);
		struct perf_event_attr attr;

		memset(&whole, 0x11, sizeof(whole));
		whole.size = sizes[i];
		pmuctl_builder_attr(b, attr_at_the_edge(&whole, size));
		attr = judge(b);
		cr_expect_eq(attr.size, sizeof(attr));
		whole.size = sizeof(whole);
		memset((char *)&whole + size, 0, sizeof(whole) - size);
		cr_expect_arr_eq(&attr, &whole, sizeof(attr), "%u", sizes[i]);
	}
}

Test(lib_builder, no_more_is_opened_than_an_attr_has)
{
	struct perf_event_attr whole = { .type = PERF_TYPE_RAW, .config = 0xc4 };
	struct pmuctl_device dev = { .fd = open("/dev/null", O_RDWR | O_CLOEXEC) };
	struct pmuctl_event *event;

	pthread_mutex_init(&dev.lock, NULL);
	cr_expect_eq(pmuctl_event_open(&dev, attr_at_the_edge(&whole, PERF_ATTR_SIZE_VER0), 0, -1,
				       0, &event), -ENOTTY);
	pthread_mutex_destroy(&dev.lock);
	close(dev.fd);
}

/* Of a later version: what it has more must be zero, whoever looks at it. */
Test(lib_builder, attrs_of_later_versions)
{
	struct perf_event_attr attr, whole = { .type = PERF_TYPE_RAW, .config = 0xc4,
					       .size = sizeof(whole) + 64 };
	struct perf_event_attr *later = attr_at_the_edge(&whole, whole.size);
	struct pmuctl_builder *b = builder_of(NULL);
	char sentence[208];

	pmuctl_builder_attr(b, later);
	attr = judge(b);
	cr_expect_eq(attr.size, sizeof(attr));
	cr_expect_eq(attr.config, 0xc4);
	((char *)later)[whole.size - 1] = 1;
	b = builder_of(NULL);
	pmuctl_builder_attr(b, later);
	snprintf(sentence, sizeof(sentence),
		 "an attr of %u bytes asks for what this library, which knows %zu, has not heard of: use a later library",
		 whole.size, sizeof(whole));
	refuse(b, PMUCTL_WHY_BUILDER_ATTR, E2BIG, "attr.size", sentence);
	/* What nobody ever had is left to the driver to refuse. */
	for (whole.size = 1; whole.size < PERF_ATTR_SIZE_VER0; whole.size++) {
		b = builder_of(NULL);
		pmuctl_builder_attr(b, attr_at_the_edge(&whole, (whole.size + 7) & ~7u));
		cr_expect_eq(judge(b).size, whole.size);
	}
}

/* ---- What is refused ---- */

Test(lib_builder, refuses_nothing_to_count)
{
	refuse(builder_of(NULL), PMUCTL_WHY_BUILDER_NO_EVENT, EINVAL, "name",
	       "nothing says what to count: give the builder a name or an attr");
}

Test(lib_builder, refuses_names)
{
	struct pmuctl_explanation why;
	struct perf_event_attr attr;
	struct pmuctl_builder *b = builder_of("cycles,nonsense");

	refuse(builder_of("cycles,branches"), PMUCTL_WHY_BUILDER_NAME, EINVAL, "name",
	       "that names 2 events, but a builder opens one: name one, or use a builder for each");
	refuse(builder_of("{cycles,branches,instructions}:u"), PMUCTL_WHY_BUILDER_NAME,
	       EINVAL, "name",
	       "that names 3 events, but a builder opens one: name one, or use a builder for each");
	/* Names have sentences of their own; the place is counted from 1. */
	cr_assert_eq(pmuctl_builder_judge(b, &attr, &why), -EINVAL);
	cr_expect_eq(why.code, PMUCTL_WHY_BUILDER_NAME);
	cr_expect(!strncmp(why.sentence, "character 8: ", 13), "'%s'", why.sentence);
	cr_expect(strstr(why.sentence, "nonsense"), "'%s'", why.sentence);
	pmuctl_builder_free(b);
}

Test(lib_builder, refuses_periods_and_frequencies)
{
	struct pmuctl_builder *b = builder_of("cycles");

	pmuctl_builder_period(b, 0);
	refuse(b, PMUCTL_WHY_BUILDER_PERIOD, EINVAL, "period",
	       "0 is neither a period nor a frequency: use 1 to 2^63 - 1");
	b = builder_of("cycles");
	pmuctl_builder_frequency(b, 0);
	refuse(b, PMUCTL_WHY_BUILDER_PERIOD, EINVAL, "frequency",
	       "0 is neither a period nor a frequency: use 1 to 2^63 - 1");
	b = builder_of("cycles");
	pmuctl_builder_period(b, 1ull << 63);
	refuse(b, PMUCTL_WHY_BUILDER_PERIOD, EINVAL, "period",
	       "9223372036854775808 is neither a period nor a frequency: use 1 to 2^63 - 1");
}

Test(lib_builder, refuses_a_function_without_overflows)
{
	struct pmuctl_builder *b = builder_of("cycles");

	pmuctl_builder_callback(b, nothing, NULL);
	refuse(b, PMUCTL_WHY_BUILDER_CALLBACK, EINVAL, "callback",
	       "a function is called for overflows, but there are none: set a period or a frequency");
}

Test(lib_builder, refuses_a_function_with_a_snapshot)
{
	struct perf_event_attr given = { .type = PERF_TYPE_HARDWARE, .sample_period = 5,
					 .write_backward = 1 };
	struct pmuctl_builder *b = builder_of(NULL);

	pmuctl_builder_attr(b, &given);
	pmuctl_builder_callback(b, nothing, NULL);
	refuse(b, PMUCTL_WHY_BUILDER_BACKWARD, EINVAL, "attr.write_backward",
	       "the newest overflow would come first, and only while none is written: clear it, or read the ring yourself");
}

Test(lib_builder, refuses_what_excludes_all)
{
	struct pmuctl_builder *b = builder_of("cycles");

	pmuctl_builder_exclude_user(b, 1);
	pmuctl_builder_exclude_kernel(b, 1);
	refuse(b, PMUCTL_WHY_BUILDER_LEVELS, EINVAL, "exclude_kernel",
	       "user space and the kernel are both excluded, so nothing could ever be counted: include one");
}

Test(lib_builder, refuses_children_of_everybody)
{
	struct pmuctl_builder *b = builder_of("cycles");

	pmuctl_builder_task(b, -1);
	pmuctl_builder_inherit(b, 1);
	refuse(b, PMUCTL_WHY_BUILDER_INHERIT, EINVAL, "inherit",
	       "everybody is counted, so there are no children to add: clear inherit, or name a task");
}

Test(lib_builder, refuses_rings_that_are_no_power_of_two)
{
	static const size_t pages[] = { 0, 3, 12, SIZE_MAX };

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
		struct pmuctl_builder *b = builder_of("cycles");
		char sentence[208];

		pmuctl_builder_period(b, 1);
		pmuctl_builder_callback(b, nothing, NULL);
		pmuctl_builder_pages(b, pages[i]);
		snprintf(sentence, sizeof(sentence),
			 "a ring of %zu pages cannot be: use a power of two", pages[i]);
		refuse(b, PMUCTL_WHY_BUILDER_PAGES, EINVAL, "pages", sentence);
	}
}

Test(lib_builder, refuses_what_is_not_there)
{
	struct pmuctl_event none = { .fd = -1 };

	cr_expect_eq(pmuctl_builder_new(NULL), -EINVAL);
	cr_expect_eq(pmuctl_builder_open(NULL, NULL, NULL, NULL), -EINVAL);
	cr_expect_eq(pmuctl_event_dispatch(&none), -EINVAL);
	pmuctl_builder_free(NULL);
}
