// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes of loading the module when one allocation fails: it is not loaded, with ENOMEM, or
 * does without; and nothing of it is left behind. Needs a kernel with fault injection (the
 * laboratory's debug kernel).
 */
#include "faults.h"
#include "module.h"

/*
 * Allocations of a load come from the kernel at first, for the module's file and sections, of
 * which there is an unknown number; the module's own are among the last ones.
 */
#define LAST	400u
#define LOADS_MAX	20000u

static void begin(void)
{
	faults_set_up();
	/* Only small ones fail: pages are for the file mostly. */
	faults_configure(FAULTS_DIR "fail_page_alloc/ignore-gfp-wait", "Y");
	module_ensure();
	cr_assert_eq(raw_write_file("/sys/kernel/rcu_expedited", "1"), 0);
	cr_assert_eq(module_unload(), 0);
}

static void finish(void)
{
	raw_write_file("/sys/kernel/rcu_expedited", "0");
	module_ensure();
}

TestSuite(debug_load, .init = begin, .fini = finish);

static int call_load(void *fd)
{
	return syscall(__NR_finit_module, *(int *)fd, "", 0) ? -errno : 0;
}

/* Load it with a fault; what became of that. It is out again. */
static enum fault load_with(unsigned int nth, int fd, int *err)
{
	enum fault fault;

	*err = with_fault(nth, call_load, &fd, &fault);
	if (!*err)
		cr_assert_eq(module_unload(), 0, "after fault %u", nth);
	return fault;
}

/* How many allocations a load has, about */
static unsigned int count_faults(int fd)
{
	unsigned int low = 1, high = 2, middle;
	int err;

	while (high < LOADS_MAX && load_with(high, fd, &err) != NONE) {
		low = high;
		high *= 2;
	}
	while (high - low > 1) {
		middle = (low + high) / 2;
		if (load_with(middle, fd, &err) != NONE)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void check_nothing_left(unsigned int nth)
{
	cr_assert_eq(access("/sys/module/pmuctl", F_OK), -1, "fault %u", nth);
	cr_assert_eq(access(PMUCTL_DEVICE, F_OK), -1, "fault %u", nth);
	cr_assert_eq(access("/sys/kernel/debug/pmuctl", F_OK), -1, "fault %u", nth);
}

Test(debug_load, faults)
{
	int fd = open(MODULE_FILE, O_RDONLY | O_CLOEXEC), err;
	unsigned int last, nth, refused = 0, faults = 0;

	cr_assert_geq(fd, 0);
	last = count_faults(fd);
	for (nth = last > LAST ? last - LAST : 1; nth <= last + 20; nth++) {
		enum fault fault = load_with(nth, fd, &err);

		faults += fault != NONE;
		refused += err != 0;
		if (fault == NONE)
			cr_assert_eq(err, 0, "no fault, but %d", err);
		else
			cr_assert(!err || err == (fault == COPY ? -EFAULT : -ENOMEM),
				  "fault %u of %u: %d", nth, last, err);
		check_nothing_left(nth);
	}
	printf("about %u places, %u of the last failed, %u loads refused\n", last, faults,
	       refused);
	cr_assert_geq(refused, 50);
	/* It is as good as ever. */
	cr_assert_eq(module_load(), 0);
	close(fd);
}
