// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl selftest" names what is wrong with a PMU. For guests whose PMU is broken, or can be
 * (--cpu intel-stuck, amd-stuck, intel-partial, amd-partial; docs/laboratory.md).
 */
/* libs: -ljansson */
#include "module.h"
#include "msrs.h"
#include "nmis.h"
#include "pmu.h"

#include <jansson.h>

#define CPUS		2

/* The emulator's own registers; docs/laboratory.md */
#define LOSE_ACKS	0x400000f0
#define SILENT_EVENT	0x400000f1
#define SILENT_COUNTERS	0x400000f2
#define DEAF_EVTSELS	0x400000f3

static bool is_breakable(void)
{
	return pmu_general() > 2;
}

static void set(uint32_t msr, uint64_t value)
{
	for (int cpu = 0; cpu < CPUS; cpu++)
		msr_write(cpu, msr, value);
}

static void heal(void)
{
	set(LOSE_ACKS, 0);
	set(SILENT_EVENT, 0);
	set(SILENT_COUNTERS, 0);
	set(DEAF_EVTSELS, 0);
	cr_assert_eq(raw_give_back(), 0);
}

static void begin(void)
{
	module_ensure();
	if (!is_breakable())
		return;
	msrs_load_driver();
	heal();
}

static void end(void)
{
	if (is_breakable())
		heal();
}

TestSuite(tool_faults, .init = begin, .fini = end);

/* A report; its exit status is what it says. */
static json_t *report(void)
{
	FILE *pipe = popen("pmuctl selftest -j", "r");
	json_error_t error;
	json_t *all;
	int status;

	cr_assert_not_null(pipe);
	all = json_loadf(pipe, JSON_DISABLE_EOF_CHECK, &error);
	while (fgetc(pipe) != EOF)
		;
	status = pclose(pipe);
	cr_assert_not_null(all, "%s", error.text);
	cr_assert_eq(status, json_is_true(json_object_get(all, "passed")) ? 0 : 1 << 8, "%#x",
		     status);
	return all;
}

static json_t *check_of(json_t *all, const char *name)
{
	json_t *check;
	size_t i;

	json_array_foreach(json_object_get(all, "checks"), i, check)
		if (!strcmp(json_string_value(json_object_get(check, "name")), name))
			return check;
	cr_assert_fail("no check %s", name);
	return NULL;
}

/* The check failed, with this among its faults. */
static void expect_fault(json_t *all, const char *name, const char *fault)
{
	json_t *check = check_of(all, name), *each;
	bool found = false;
	size_t i;

	json_array_foreach(json_object_get(check, "faults"), i, each)
		found = found || strstr(json_string_value(each), fault);
	cr_expect(found, "%s: %s; there is %s", name, fault,
		  json_dumps(json_object_get(check, "faults"), JSON_ENCODE_ANY));
	cr_expect_str_eq(json_string_value(json_object_get(check, "verdict")), "FAILED");
	cr_expect(!json_is_true(json_object_get(all, "passed")));
}

static void expect_fault_of(const char *name, const char *fault)
{
	json_t *all = report();

	expect_fault(all, name, fault);
	json_decref(all);
}

Test(tool_faults, counters_that_are_announced_and_not_there)
{
	if (is_breakable())
		cr_skip_test("all are there");
	expect_fault_of("counters", "general counters, 2 can be used");
	if (!pmu_is_amd())
		expect_fault_of("counters", "CPUID announces 3 fixed counters, 2 can be used");
}

Test(tool_faults, none_without_a_fault)
{
	json_t *all;

	if (!is_breakable())
		cr_skip_test("this PMU has one for ever");
	all = report();
	cr_expect(json_is_true(json_object_get(all, "passed")));
	json_decref(all);
}

Test(tool_faults, an_event_that_a_hypervisor_filters)
{
	json_t *all;

	if (!is_breakable())
		cr_skip_test("this PMU cannot be broken");
	set(SILENT_EVENT, pmu_raw_branches());
	all = report();
	expect_fault(all, "events", "branches is refused by pmuctl: no counter of this machine counts it");
	expect_fault(all, "events", "branches, by perf: nothing is counted, on no counter");
	json_decref(all);
}

Test(tool_faults, a_counter_that_counts_nothing)
{
	if (!is_breakable())
		cr_skip_test("this PMU cannot be broken");
	set(SILENT_COUNTERS, 1 << 2);
	expect_fault_of("events", "general 2 counts nothing");
}

/* Found when the module is loaded, before anybody counts on them */
Test(tool_faults, event_selects_that_ignore_what_is_written)
{
	unsigned int i;

	if (!is_breakable())
		cr_skip_test("this PMU cannot be broken");
	cr_assert_eq(module_unload(), 0);
	set(DEAF_EVTSELS, ~3ull);
	cr_assert_eq(module_load(), 0);
	expect_fault_of("counters", "general counters, 2 can be used");
	for (i = 0; module_unload() && i < 1000; i++)
		sleep_ms(10);
	set(DEAF_EVTSELS, 0);
	cr_assert_eq(module_load(), 0);
}

/* Sends to CPU 0, where selftest looks, until it is killed. */
static pid_t foreign_sender(void)
{
	pid_t child = fork_child();

	if (child)
		return child;
	pin_here(1);
	for (;;)
		foreign_send(0);
}

static uint64_t foreign_of(json_t *all)
{
	json_t *figures = json_object_get(check_of(all, "nmis"), "figures");

	cr_assert_eq(json_array_size(figures), 1);
	return json_integer_value(json_object_get(json_array_get(figures, 0), "foreign"));
}

/* They are told, and are no fault of the PMU's. That one comes while selftest looks is chance. */
Test(tool_faults, nmis_of_others)
{
	uint64_t foreign = 0;
	json_t *all;
	pid_t sender;

	if (!is_breakable())
		cr_skip_test("too few counters for perf");
	late_nmi_set(0);
	all = report();
	cr_expect_eq(foreign_of(all), 0);
	json_decref(all);
	foreign_load();
	sender = foreign_sender();
	while (!foreign) {
		all = report();
		foreign = foreign_of(all);
		json_decref(all);
	}
	kill(sender, SIGKILL);
	cr_assert_eq(waitpid(sender, NULL, 0), sender);
	foreign_unload();
	late_nmi_set(LATE_NMI_MS);
}

/* Perf is not tried then. Counters that were stopped are so until the module is loaded again. */
Test(tool_faults, overflows_without_end)
{
	json_t *all;

	if (!is_breakable())
		cr_skip_test("this PMU cannot be broken");
	set(LOSE_ACKS, ~0ull);
	all = report();
	expect_fault(all, "overflow", "by pmuctl: overflows have no end on this machine");
	cr_expect_str_eq(json_string_value(json_object_get(check_of(all, "periods"), "verdict")),
			 "skipped");
	json_decref(all);
	set(LOSE_ACKS, 0);
	module_reload();
}
