// SPDX-License-Identifier: GPL-2.0-only
/*
 * What libpmuctl says where there is no driver to explain, how an explanation
 * becomes a line, and the arithmetic of estimates.
 */
/* sources: lib/src/explain.c lib/src/device.c lib/src/event.c lib/src/tracepoint.c lib/src/group.c */
/* sources: lib/src/watch.c lib/src/ring.c lib/src/sampling.c */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include <pmuctl.h>

Test(lib_explain, device_that_is_not_there_asks_for_the_module)
{
	struct pmuctl_explanation why;
	struct pmuctl_device *dev = (void *)1;

	cr_assert_eq(pmuctl_device_open("/nonexistent/pmuctl", &why, &dev), -ENOENT);
	cr_assert_null(dev);
	cr_assert_eq(why.size, sizeof(why));
	cr_assert_eq(why.error, ENOENT);
	cr_assert_eq(why.code, PMUCTL_WHY_NOT_LOADED);
	cr_assert_str_empty(why.field);
	cr_assert(strstr(why.sentence, "/nonexistent/pmuctl"));
	cr_assert(strstr(why.sentence, "modprobe pmuctl"));
}

Test(lib_explain, other_devices_are_recognized)
{
	struct pmuctl_explanation why;
	struct pmuctl_device *dev;

	cr_assert_eq(pmuctl_device_open("/dev/null", &why, &dev), -ENOTTY);
	cr_assert_eq(why.code, PMUCTL_WHY_NOT_PMUCTL);
	cr_assert_eq(why.error, ENOTTY);
	cr_assert(strstr(why.sentence, "/dev/null is not the device"));
}

Test(lib_explain, device_without_permission)
{
	char path[] = "/tmp/pmuctl-test-XXXXXX";
	struct pmuctl_explanation why;
	struct pmuctl_device *dev;
	int fd = mkstemp(path), ret;

	cr_assert_geq(fd, 0);
	close(fd);
	cr_assert_eq(chmod(path, 0), 0);
	if (getuid() == 0)
		cr_assert_eq(seteuid(65534), 0);
	ret = pmuctl_device_open(path, &why, &dev);
	if (getuid() == 0)
		cr_assert_eq(seteuid(0), 0);
	unlink(path);
	cr_assert_eq(ret, -EACCES);
	cr_assert_eq(why.code, PMUCTL_WHY_DEVICE_PERMISSION);
	cr_assert(strstr(why.sentence, "run as root"));
}

Test(lib_explain, nobody_has_to_ask)
{
	struct pmuctl_device *dev;

	cr_assert_eq(pmuctl_device_open("/dev/null", NULL, &dev), -ENOTTY);
	cr_assert_eq(pmuctl_device_open("/dev/null", NULL, NULL), -EINVAL);
	pmuctl_device_close(NULL);
	pmuctl_event_close(NULL);
}

Test(lib_explain, line_has_sentence_and_field)
{
	struct pmuctl_explanation why = {
		.error = EINVAL, .field = "attr.config",
		.sentence = "config 99 is no generic event",
	};
	char line[300], small[10];
	const char *expected = "config 99 is no generic event (attr.config)";

	cr_assert_eq(pmuctl_explanation_format(&why, line, sizeof(line)),
		     (int)strlen(expected));
	cr_assert_str_eq(line, expected);
	cr_assert_eq(pmuctl_explanation_format(&why, small, sizeof(small)),
		     (int)strlen(expected));
	cr_assert_str_eq(small, "config 99");
	cr_assert_eq(pmuctl_explanation_format(&why, NULL, 0),
		     (int)strlen(expected));
	why.field[0] = '\0';
	pmuctl_explanation_format(&why, line, sizeof(line));
	cr_assert_str_eq(line, "config 99 is no generic event");
	why.sentence[0] = '\0';
	pmuctl_explanation_format(&why, line, sizeof(line));
	cr_assert_str_eq(line, pmuctl_strerror(EINVAL));
}

Test(lib_explain, line_of_strings_without_an_end)
{
	struct pmuctl_explanation why = { .error = EINVAL };
	char line[400];

	memset(why.field, 'f', sizeof(why.field));
	memset(why.sentence, 's', sizeof(why.sentence));
	cr_assert_eq(pmuctl_explanation_format(&why, line, sizeof(line)),
		     (int)(sizeof(why.field) + sizeof(why.sentence) + 3));
}

Test(lib_explain, every_errno_has_words)
{
	static const int known[] = { E2BIG, EACCES, EBUSY, EFAULT, EINTR, EINVAL,
		EMFILE, ENFILE, ENODEV, ENOENT, ENOMEM, ENOSPC, ENOTTY,
		EOPNOTSUPP, EPERM, ESRCH };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		cr_assert_str_eq(pmuctl_strerror(known[i]),
				 pmuctl_strerror(-known[i]));
		cr_assert_str_neq(pmuctl_strerror(known[i]),
				  pmuctl_strerror(12345));
	}
	cr_assert_str_not_empty(pmuctl_strerror(12345));
}

static uint64_t estimate(uint64_t value, uint64_t enabled, uint64_t running)
{
	struct pmuctl_reading reading = {
		.value = value, .time_enabled = enabled, .time_running = running,
	};

	return pmuctl_reading_estimate(&reading);
}

Test(lib_explain, estimates)
{
	cr_assert_eq(estimate(100, 10, 10), 100);
	cr_assert_eq(estimate(100, 20, 10), 200);
	cr_assert_eq(estimate(100, 30, 20), 150);
	cr_assert_eq(estimate(1, 3, 2), 2);		/* 1.5 */
	cr_assert_eq(estimate(1, 4, 3), 1);		/* 1.33 */
	cr_assert_eq(estimate(7, 0, 0), 7);		/* no times known */
	cr_assert_eq(estimate(0, 10, 0), 0);		/* never ran */
	cr_assert_eq(estimate(UINT64_MAX, 10, 10), UINT64_MAX);
	cr_assert_eq(estimate(UINT64_MAX, 10, 9), UINT64_MAX);
	cr_assert_eq(estimate(1ULL << 62, 1ULL << 62, 1ULL << 61), 1ULL << 63);
}
