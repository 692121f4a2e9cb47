// SPDX-License-Identifier: GPL-2.0-only
/*
 * Explanations as they come through the library: of opens, of calls on events, and
 * where many threads are refused at once. What each sentence says is the driver's
 * own to test.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <pmuctl.h>

static struct pmuctl_device *dev;

static void setup(void)
{
	cr_assert_eq(pmuctl_device_open(NULL, NULL, &dev), 0);
}

static void teardown(void)
{
	pmuctl_device_close(dev);
}

TestSuite(lib_why, .init = setup, .fini = teardown);

static int try_config(struct pmuctl_device *device, unsigned long long config,
		      struct pmuctl_event **event)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.config = config,
		.exclude_kernel = 1,
	};

	return pmuctl_event_open(device, &attr, 0, -1, 0, event);
}

Test(lib_why, nothing_refused_nothing_explained)
{
	struct pmuctl_explanation why;
	struct pmuctl_event *event;

	memset(&why, 0xff, sizeof(why));
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(why.error, 0);
	cr_assert_eq(why.code, PMUCTL_WHY_NOTHING);
	cr_assert_str_empty(why.sentence);

	cr_assert_eq(try_config(dev, PERF_COUNT_HW_INSTRUCTIONS, &event), 0);
	memset(&why, 0xff, sizeof(why));
	cr_assert_eq(pmuctl_event_explain(event, &why), 0);
	cr_assert_eq(why.error, 0);
	cr_assert_str_empty(why.sentence);
	pmuctl_event_close(event);
}

Test(lib_why, refused_open_is_explained)
{
	struct pmuctl_explanation why;
	struct pmuctl_event *event = (void *)1;
	char line[300];

	cr_assert_eq(try_config(dev, 99, &event), -EINVAL);
	cr_assert_null(event);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(why.size, sizeof(why));
	cr_assert_eq(why.error, EINVAL);
	cr_assert_eq(why.code, PMUCTL_WHY_EVENT_UNKNOWN);
	cr_assert_str_eq(why.field, "attr.config");
	cr_assert(strstr(why.sentence, "0x63"), "%s", why.sentence);
	pmuctl_explanation_format(&why, line, sizeof(line));
	cr_assert(strstr(line, " (attr.config)"));
}

Test(lib_why, explanation_stays_until_the_next_refusal)
{
	struct pmuctl_explanation why;
	struct pmuctl_event *event;

	cr_assert_eq(try_config(dev, 99, &event), -EINVAL);
	cr_assert_eq(try_config(dev, PERF_COUNT_HW_INSTRUCTIONS, &event), 0);
	pmuctl_device_explain(dev, &why);
	cr_assert(strstr(why.sentence, "0x63"));
	cr_assert_eq(try_config(dev, 98, &event), -EINVAL);
	pmuctl_device_explain(dev, &why);
	cr_assert(strstr(why.sentence, "0x62"));
}

Test(lib_why, refused_call_on_an_event_is_explained)
{
	struct pmuctl_explanation why;
	struct pmuctl_event *event;
	uint64_t period = 1;

	cr_assert_eq(try_config(dev, PERF_COUNT_HW_INSTRUCTIONS, &event), 0);
	cr_assert_eq(ioctl(pmuctl_event_fd(event), PERF_EVENT_IOC_PERIOD, &period),
		     -1);
	cr_assert_eq(pmuctl_event_explain(event, &why), 0);
	cr_assert_eq(why.error, EINVAL);
	cr_assert_eq(why.code, PMUCTL_WHY_NOT_SAMPLED);
	cr_assert(strstr(why.sentence, "attr.sample_period"), "%s", why.sentence);
	pmuctl_event_close(event);
}

Test(lib_why, short_read_is_explained)
{
	struct pmuctl_explanation why;
	struct pmuctl_event *event;
	char byte[7];

	cr_assert_eq(try_config(dev, PERF_COUNT_HW_INSTRUCTIONS, &event), 0);
	cr_assert_eq(read(pmuctl_event_fd(event), byte, sizeof(byte)), -1);
	cr_assert_eq(errno, ENOSPC);
	cr_assert_eq(pmuctl_event_explain(event, &why), 0);
	cr_assert_eq(why.error, ENOSPC);
	cr_assert_eq(why.code, PMUCTL_WHY_BUFFER_TOO_SMALL);
	pmuctl_event_close(event);
}

Test(lib_why, flags_that_do_not_fit_are_refused_by_the_driver)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE };
	struct pmuctl_explanation why;
	struct pmuctl_event *event;

	cr_assert_eq(pmuctl_event_open(dev, &attr, 0, -1, 1UL << 40, &event),
		     -EINVAL);
	pmuctl_device_explain(dev, &why);
	cr_assert_eq(why.code, PMUCTL_WHY_FLAGS_UNKNOWN);
}

Test(lib_why, missing_arguments_are_refused)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE };
	struct pmuctl_event *event;
	struct pmuctl_info info;

	cr_assert_eq(pmuctl_event_open(NULL, &attr, 0, -1, 0, &event), -EINVAL);
	cr_assert_eq(pmuctl_event_open(dev, NULL, 0, -1, 0, &event), -EINVAL);
	cr_assert_eq(pmuctl_event_open(dev, &attr, 0, -1, 0, NULL), -EINVAL);
	cr_assert_eq(pmuctl_device_info(dev, &info, sizeof(info) - 1), -EINVAL);
	cr_assert_eq(pmuctl_device_info(dev, NULL, sizeof(info)), -EINVAL);
}

Test(lib_why, info_tells_driver_and_pmu)
{
	struct {
		struct pmuctl_info info;
		unsigned char more[16];
	} longer;
	struct pmuctl_info info;
	static const unsigned char zero[16];

	cr_assert_eq(pmuctl_device_info(dev, &info, sizeof(info)), 0);
	cr_assert_geq(info.abi_version, 1);
	cr_assert_str_eq(info.module_version, pmuctl_version());
	cr_assert_neq(info.pmu_kind, PMUCTL_PMU_NONE);
	cr_assert_gt(info.nr_counters, 0);
	cr_assert(info.generic_events & 1 << PERF_COUNT_HW_INSTRUCTIONS);

	/* A program of tomorrow: what this driver does not know is zero. */
	memset(&longer, 0xff, sizeof(longer));
	cr_assert_eq(pmuctl_device_info(dev, &longer.info, sizeof(longer)), 0);
	cr_assert_arr_eq(longer.more, zero, sizeof(zero));
}

/* A thread must not leave its function through an assertion: expectations only. */
static void *refused_many_times(void *arg)
{
	struct pmuctl_device *own;
	unsigned long config = (unsigned long)arg;

	if (pmuctl_device_open(NULL, NULL, &own) < 0) {
		cr_expect(false, "the device cannot be opened");
		return NULL;
	}
	for (int i = 0; i < 200; i++) {
		struct pmuctl_explanation why;
		struct pmuctl_event *event;
		char number[8];

		cr_expect_eq(try_config(own, config, &event), -EINVAL);
		pmuctl_device_explain(own, &why);
		snprintf(number, sizeof(number), "0x%lx", config);
		cr_expect(strstr(why.sentence, number), "%s", why.sentence);
		/* The shared one is anybody's, but never in pieces. */
		cr_expect_eq(try_config(dev, config, &event), -EINVAL);
		pmuctl_device_explain(dev, &why);
		cr_expect_eq(why.code, PMUCTL_WHY_EVENT_UNKNOWN);
		cr_expect_str_eq(why.field, "attr.config");
	}
	pmuctl_device_close(own);
	return NULL;
}

Test(lib_why, own_device_own_explanation)
{
	pthread_t threads[3];

	for (unsigned long i = 0; i < 3; i++)
		cr_assert_eq(pthread_create(&threads[i], NULL, refused_many_times,
					    (void *)(101 + i)), 0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(pthread_join(threads[i], NULL), 0);
}
