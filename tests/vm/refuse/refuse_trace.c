// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is refused of tracepoints: names, filters, and what they tell without permission.
 */
#include "perm.h"
#include "refusal.h"
#include "tracepoint.h"

Test(refuse_trace, names)
{
	struct perf_event_attr attr = tracepoint_attr(), soft = attr;
	static char name[200];

	soft.type = PERF_TYPE_SOFTWARE;
	memset(name, 'x', sizeof(name) - 1);
	check_refusals(
		{ "no name", OPEN(attr), EINVAL, PMUCTL_WHY_NAME_MISSING, "tracepoint",
		  "a tracepoint is opened by its name, not by a number: let pmuctl_open.tracepoint point to it, as 'sched:sched_switch'" },
		{ "a name of something else", OPEN(soft, .tracepoint = "sched:sched_switch"),
		  EINVAL, PMUCTL_WHY_NAME_UNUSED, "tracepoint",
		  "the name of a tracepoint is given, but attr.type is another: set it to PERF_TYPE_TRACEPOINT, or leave the name 0" },
		{ "an unknown name", OPEN(attr, .tracepoint = "sched:nothing_of_the_kind"),
		  ENOENT, PMUCTL_WHY_TRACEPOINT_UNKNOWN, "tracepoint",
		  "this kernel has no tracepoint nothing_of_the_kind: 'pmuctl list tracepoints' shows them; a module's are there while it is loaded, and kprobes and uprobes are for CAP_PERFMON" },
		{ "a long name", OPEN(attr, .tracepoint = name), EINVAL, PMUCTL_WHY_NAME_LONG,
		  "tracepoint",
		  "the name of the tracepoint has more than 127 characters, and none is so long: end it with a NUL" },
		{ "a name that is nowhere", OPEN(attr, .tracepoint = (const char *)8), EFAULT,
		  PMUCTL_WHY_BAD_POINTER, "tracepoint",
		  "the memory at this address cannot be read or written: pass a pointer into your own address space" }
	);
}

Test(refuse_trace, without_the_kernel_there_are_none)
{
	struct perf_event_attr attr = tracepoint_attr();

	attr.exclude_kernel = 1;
	check_refused(OPEN(attr, .tracepoint = "sched_switch"), EINVAL, PMUCTL_WHY_TRACEPOINT_KERNEL,
		      "attr.exclude_kernel",
		      "tracepoints are in the kernel, which attr.exclude_kernel leaves out, so nothing could ever be counted: clear it");
}

static struct call filter(int fd, const char *text)
{
	return IOCTL(fd, PERF_EVENT_IOC_SET_FILTER, text);
}

Test(refuse_trace, filters)
{
	int fd = event_open(tracepoint_attr(), .tracepoint = "raw_syscalls:sys_enter");
	int other = event_open(soft_attr(PERF_COUNT_SW_DUMMY));
	static char text[4200];

	memset(text, ' ', sizeof(text) - 1);
	check_refusals(
		{ "an unknown name", filter(fd, "id == 1 && nr == 2"), EINVAL,
		  PMUCTL_WHY_FILTER_TEXT, "filter",
		  "the filter cannot be understood at character 12: without PERF_SAMPLE_RAW it tells nothing of this name" },
		{ "an argument too far", filter(fd, "arg2 == 1"), EINVAL, PMUCTL_WHY_FILTER_TEXT,
		  "filter",
		  "the filter cannot be understood at character 1: the tracepoint has fewer arguments" },
		{ "a long text", filter(fd, text), EINVAL, PMUCTL_WHY_FILTER_LONG, "filter",
		  "the filter has more than 4095 characters: shorten it" },
		{ "a text that is nowhere", filter(fd, (const char *)8), EFAULT,
		  PMUCTL_WHY_BAD_POINTER, "",
		  "the memory at this address cannot be read or written: pass a pointer into your own address space" },
		{ "an event without", filter(other, "id == 1"), EINVAL, PMUCTL_WHY_FILTER_UNUSED,
		  "",
		  "only events of tracepoints have filters, and those that trace: open one of these" }
	);
}

/* Where the text stops making sense, and what is expected there */
Test(refuse_trace, filters_that_cannot_be_understood)
{
	static const struct {
		const char *text;
		unsigned int at;
		const char *what;
	} bad[] = {
		{ "== 1", 1, "a name is expected, as arg0" },
		{ "id 1", 4, "a comparison is expected: == != < <= > >= &" },
		{ "id && id == 1", 4, "a comparison is expected: == != < <= > >= &" },
		{ "id == q", 7, "a number is expected" },
		{ "id == 0x", 7, "a number is expected" },
		{ "id == 18446744073709551616", 7, "the number has more than 64 bits" },
		{ "id == 0x10000000000000000", 7, "the number has more than 64 bits" },
		{ "id == -9223372036854775809", 8, "the number has more than 64 bits" },
		{ "id == 12q", 9, "this is no digit" },
		{ "(id 1)", 5, "a comparison is expected: == != < <= > >= &" },
		{ "(id == 1", 9, "a closing parenthesis is expected" },
		{ "id == 1)", 8, "the end, && or || is expected" },
		{ "(((((((((((((((((id == 1)))))))))))))))))", 17,
		  "there are too many parentheses around this" },
		{ "!!!!!!!!!!!!!!!!!id == 1", 17, "there is too much around this" },
		{ "comm == sh", 9, "a string in quotes is expected" },
		{ "comm == 'sh", 9, "the end of this string is missing" },
		{ "comm > 'sh'", 6, "a string is compared by == != ~" },
		{ "comm", 5, "a comparison is expected: == != ~" },
		{ "args == 1", 1, "without PERF_SAMPLE_RAW it tells nothing of this name" },
	};
	struct perf_event_attr attr = tracepoint_attr();
	int fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");

	for (size_t i = 0; i < RAW_ARRAY_SIZE(bad); i++)
		check_refused(filter(fd, bad[i].text), EINVAL, PMUCTL_WHY_FILTER_TEXT, "filter",
			      "the filter cannot be understood at character %u: %s", bad[i].at,
			      bad[i].what);
	/* As many as there may be */
	cr_assert_eq(tracepoint_filter(fd, "((((((((((((((((id == 1))))))))))))))))"), 0);
}

Test(refuse_trace, filters_of_records_that_cannot_be_understood)
{
	struct perf_event_attr attr = tracepoint_attr();
	int fd;

	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	tracepoint_mount();
	fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	check_refused(filter(fd, "nonesuch == 1"), EINVAL, PMUCTL_WHY_FILTER_TEXT, "filter",
		      "the filter cannot be understood at character 1: the tracepoint tells nothing of this name");
	check_refused(filter(fd, "args == 1"), EINVAL, PMUCTL_WHY_FILTER_TEXT, "filter",
		      "the filter cannot be understood at character 1: this is neither a number nor a string");
}

#define RAW_SENTENCE								\
	"seeing what tracepoints tell needs CAP_PERFMON: do without PERF_SAMPLE_RAW, or arguments by number in filters; gain it, or set the module's parameter paranoid to -1"

/* Patterns of 250 characters, then as many beside them: they give back what they had. */
static void check_work(int fd, int other)
{
	static char text[4096], one[300];

	for (int i = 0; i < 125; i++)
		strcat(one, "*a");
	for (int i = 0; i < 12; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%scomm ~ '%s'",
			 i ? " || " : "", one);
	cr_assert_eq(tracepoint_filter(other, text), 0);
	check_refused(filter(fd, text), ENOSPC, PMUCTL_WHY_FILTER_WORK, "filter",
		      "this filter takes %u steps for a hit, beside %u of the user's other filters, and all may take 24576: shorten it, its patterns first, close events that have others, or gain CAP_PERFMON",
		      17135, 17135);
	cr_assert_eq(tracepoint_filter(other, "id == 1"), 0);
	cr_assert_eq(tracepoint_filter(fd, text), 0);
	cr_assert_eq(tracepoint_filter(fd, ""), 0);
	cr_assert_eq(tracepoint_filter(other, text), 0);
	close(other);
	cr_assert_eq(tracepoint_filter(fd, text), 0);
}

static void as_an_ordinary_user(void)
{
	struct perf_event_attr attr = tracepoint_attr();
	int fd;

	cr_assert_eq(raw_become(RAW_USER), 0);
	fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	cr_assert_eq(tracepoint_filter(fd, "id == 1"), 0);
	check_refused(filter(fd, "arg1 == 1"), EPERM, PMUCTL_WHY_PERM_RAW, "filter", RAW_SENTENCE);
	check_work(fd, event_open(attr, .tracepoint = "raw_syscalls:sys_enter"));
	attr.namespaces = 1;
	check_refused(OPEN(attr, .tracepoint = "raw_syscalls:sys_enter"), EACCES,
		      PMUCTL_WHY_PERM_NAMESPACES, "attr.namespaces",
		      "being told of namespaces needs CAP_PERFMON: gain it, or clear attr.namespaces");
	attr.namespaces = 0;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	check_refused(OPEN(attr, .tracepoint = "sched:sched_switch"), EPERM,
		      PMUCTL_WHY_PERM_RAW, "attr.sample_type", RAW_SENTENCE);
}

/* At a level, by a process of its own: this one is needed to set the default level again. */
static void at_level(int level, void (*test)(void))
{
	int status;
	pid_t pid;

	raw_device();
	perm_set_level(level);
	pid = fork();
	if (!pid) {
		test();
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	cr_assert_eq(status, 0);
}

Test(refuse_trace, what_they_tell_needs_permission, .fini = perm_default_level)
{
	at_level(0, as_an_ordinary_user);
}

static void as_one_who_may(void)
{
	struct perf_event_attr attr = tracepoint_attr();
	int fd;

	cr_assert_eq(raw_become(RAW_USER), 0);
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	fd = event_open(attr, .tracepoint = "raw_syscalls:sys_enter");
	cr_assert_eq(tracepoint_filter(fd, "arg1 == 1"), 0);
}

Test(refuse_trace, unless_everything_is_allowed, .fini = perm_default_level)
{
	at_level(-1, as_one_who_may);
}
