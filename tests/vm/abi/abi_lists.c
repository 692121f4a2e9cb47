// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists: many events opened, all or none, read, enabled, disabled and reset by one call; what is
 * refused, in which entry, and that nothing is left of a list that was.
 */
#include "bound.h"
#include "loops.h"
#include "perm.h"
#include "refusal.h"

#include <sys/resource.h>

#define LENGTH_SENTENCE \
	"nr %u is no length of a list: it has 1 to 1024 entries, split it into several"
#define LEADER_SENTENCE \
	"%d is no earlier entry of the list: a leader comes before its siblings, and entries are counted from 0 on"
#define FD_SENTENCE \
	"%d is not an event of pmuctl: pass descriptors that PMUCTL_IOC_OPEN or PMUCTL_IOC_OPEN_LIST gave"
#define BAD_SENTENCE \
	"the memory at this address cannot be read or written: pass a pointer into your own address space"
#define BAD		0xffff888000001000UL

/* A list of instructions in user mode, disabled, which a test changes where it likes */
#define ENTRIES		4

static union raw_attr attrs[ENTRIES];
static struct pmuctl_open opens[ENTRIES];
static int fds[PMUCTL_LIST_MAX + 1];
static struct pmuctl_explanation why;
static int nr_fds;

static void set_up(void)
{
	raw_device();
	for (int i = 0; i < ENTRIES; i++) {
		attrs[i] = raw_instructions();
		opens[i] = raw_request(&attrs[i], 0, -1, PERF_FLAG_FD_CLOEXEC, NULL);
		opens[i].explanation_size = 0;
		opens[i].explanation = 0;
	}
	nr_fds = raw_count_fds();
}

TestSuite(abi_lists, .init = set_up);

static struct pmuctl_open_list list_of(const void *entries, uint32_t nr)
{
	memset(&why, 0, sizeof(why));
	return (struct pmuctl_open_list){
		.size = sizeof(struct pmuctl_open_list), .nr = nr, .entry_size = sizeof(*opens),
		.opens = (uintptr_t)entries, .fds = (uintptr_t)fds,
		.explanation_size = sizeof(why), .explanation = (uintptr_t)&why,
	};
}

static int open_list(const void *entries, uint32_t nr)
{
	struct pmuctl_open_list list = list_of(entries, nr);

	return ioctl(raw_device(), PMUCTL_IOC_OPEN_LIST, &list) ? -errno : 0;
}

static int control(uint32_t request, const int *list, uint32_t nr, uint32_t flags)
{
	struct pmuctl_control_list c = { .size = sizeof(c), .flags = flags, .nr = nr,
		.request = request, .fds = (uintptr_t)list };

	return ioctl(raw_device(), PMUCTL_IOC_CONTROL_LIST, &c) ? -errno : 0;
}

/* Nothing is open that was not before, and no number is kept for it. */
static void check_nothing_left(void)
{
	cr_assert_eq(raw_settled_info().hw_events, 0);
	cr_assert_eq(raw_count_fds(), nr_fds);
}

/* A list that ends with that entry is refused, says so, and leaves nothing. */
#define check_entry(nr, ...)	check_entry_at(__FILE__ ":" PLACE(__LINE__), nr, __VA_ARGS__)

__attribute__((format(printf, 6, 7)))
static void check_entry_at(const char *place, uint32_t nr, int error, uint32_t code,
			   const char *field, const char *format, ...)
{
	char sentence[256];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	cr_assert_eq(open_list(opens, nr), -error, "%s: %s", place, why.sentence);
	check_why_at(place, &why, error, code, field, "%s", sentence);
	check_explained_at(place, raw_device(), error, code, field, "%s", sentence);
	check_nothing_left();
}

/* ---- What they are for ---- */

Test(abi_lists, open_control_and_read_all)
{
	struct pmuctl_read_entry entries[ENTRIES];
	struct pmuctl_read_list list = { .size = sizeof(list), .nr = ENTRIES,
		.entry_size = sizeof(*entries), .entries = (uintptr_t)entries };
	uint64_t values[ENTRIES];

	cr_assert_eq(open_list(opens, ENTRIES), 0, "%s", why.sentence);
	cr_assert_eq(raw_info().hw_events, ENTRIES);
	cr_assert_eq(control(PERF_EVENT_IOC_ENABLE, fds, ENTRIES, 0), 0);
	user_loop(1000);
	cr_assert_eq(control(PERF_EVENT_IOC_DISABLE, fds, ENTRIES, 0), 0);
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < ENTRIES; i++)
			entries[i] = (struct pmuctl_read_entry){ .fd = fds[i],
				.length = sizeof(*values), .buffer = (uintptr_t)&values[i] };
		memset(values, 0xff, sizeof(values));
		cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_READ_LIST, &list), 0);
		for (int i = 0; i < ENTRIES; i++) {
			cr_assert_eq(entries[i].got, sizeof(*values));
			cr_assert_eq(values[i], raw_read(fds[i]));
			if (round)
				cr_assert_eq(values[i], 0);
			else
				cr_assert_geq(values[i], 2000);
		}
		cr_assert_eq(control(PERF_EVENT_IOC_RESET, fds, ENTRIES, 0), 0);
	}
}

/* A group of three, and one that joins the group of an event that was open before */
Test(abi_lists, leaders_are_earlier_entries_or_open_events)
{
	int leader = event_open(raw_instructions());
	struct pmuctl_read_entry entry;
	struct pmuctl_read_list list = { .size = sizeof(list), .nr = 1,
		.entry_size = sizeof(entry), .entries = (uintptr_t)&entry };
	uint64_t words[1 + ENTRIES];

	attrs[0].attr.read_format = PERF_FORMAT_GROUP;
	for (int i = 1; i < 3; i++) {
		opens[i].flags |= PMUCTL_OPEN_GROUP_ENTRY;
		opens[i].group_fd = 0;
		attrs[i].attr.disabled = 0;
		attrs[i].attr.read_format = PERF_FORMAT_GROUP;
	}
	opens[3].group_fd = leader;
	cr_assert_eq(open_list(opens, ENTRIES), 0, "%s", why.sentence);
	bracket(fds[0], 1000);
	entry = (struct pmuctl_read_entry){ .fd = fds[0], .length = sizeof(words),
		.buffer = (uintptr_t)words };
	cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_READ_LIST, &list), 0);
	cr_assert_eq(entry.got, 4 * sizeof(*words));
	cr_assert_eq(words[0], 3);
	for (int i = 1; i <= 3; i++)
		cr_assert_eq(words[i], bracket_instructions(1000));
	/* Its leader takes the fourth along. */
	cr_assert_eq(ioctl(fds[3], PERF_EVENT_IOC_ENABLE, 0), 0);
	bracket(leader, 1000);
	cr_assert_eq(raw_read(fds[3]), bracket_instructions(1000));
}

Test(abi_lists, groups_are_switched_by_a_flag)
{
	opens[1].flags |= PMUCTL_OPEN_GROUP_ENTRY;
	opens[1].group_fd = 0;
	cr_assert_eq(open_list(opens, 2), 0, "%s", why.sentence);
	cr_assert_eq(control(PERF_EVENT_IOC_ENABLE, fds, 1, 0), 0);
	user_loop(100);
	cr_assert_gt(raw_read(fds[0]), 0);
	cr_assert_eq(raw_read(fds[1]), 0);
	cr_assert_eq(control(PERF_EVENT_IOC_ENABLE, fds, 1, PERF_IOC_FLAG_GROUP), 0);
	user_loop(100);
	cr_assert_gt(raw_read(fds[1]), 0);
}

Test(abi_lists, flags_of_the_descriptors_are_those_of_each_entry)
{
	opens[1].flags = 0;
	cr_assert_eq(open_list(opens, 2), 0, "%s", why.sentence);
	cr_assert_eq(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
	cr_assert_eq(fcntl(fds[1], F_GETFD), 0);
}

/* Entries of an older caller are shorter, those of a newer one longer. */
Test(abi_lists, entries_have_the_size_that_the_caller_has)
{
	static const uint32_t sizes[] = { PMUCTL_OPEN_SIZE_VER0, sizeof(*opens), 64, 4096 };
	static char bytes[2 * 4096];

	for (size_t k = 0; k < RAW_ARRAY_SIZE(sizes); k++) {
		struct pmuctl_open_list list = list_of(bytes, 2);

		memset(bytes, 0, sizeof(bytes));
		list.entry_size = sizes[k];
		for (int i = 0; i < 2; i++) {
			opens[i].size = sizes[k];
			memcpy(bytes + i * sizes[k], &opens[i], sizes[k] < sizeof(*opens) ?
			       sizes[k] : sizeof(*opens));
		}
		cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_OPEN_LIST, &list), 0, "%u bytes: %s",
			     sizes[k], why.sentence);
		cr_assert_eq(raw_info().hw_events, 2);
		close(fds[0]);
		close(fds[1]);
		if (sizes[k] <= sizeof(*opens))
			continue;
		bytes[2 * sizes[k] - 1] = 1;
		cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_OPEN_LIST, &list), -1);
		check_why(&why, E2BIG, PMUCTL_WHY_SIZE_TOO_BIG, "[1]",
			  "size %u is more than the 48 bytes that this module knows, and what is beyond is not zero: leave the newer fields 0 or update the module",
			  sizes[k]);
		check_nothing_left();
	}
}

Test(abi_lists, may_have_as_many_entries_as_it_says)
{
	static struct pmuctl_open many[PMUCTL_LIST_MAX + 1];
	static struct pmuctl_read_entry entries[PMUCTL_LIST_MAX + 1];
	struct pmuctl_read_list list = { .size = sizeof(list), .nr = PMUCTL_LIST_MAX,
		.entry_size = sizeof(*entries), .entries = (uintptr_t)entries };
	struct rlimit limit = { 4096, 4096 };
	union raw_attr dummy = raw_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
	uint64_t value;

	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (int i = 0; i <= PMUCTL_LIST_MAX; i++) {
		many[i] = opens[0];
		many[i].attr = (uintptr_t)&dummy;
	}
	cr_assert_eq(open_list(many, PMUCTL_LIST_MAX), 0, "%s", why.sentence);
	for (int i = 0; i < PMUCTL_LIST_MAX; i++)
		cr_assert_eq(fcntl(fds[i], F_GETFD), FD_CLOEXEC);
	for (int i = 0; i < PMUCTL_LIST_MAX; i++)
		entries[i] = (struct pmuctl_read_entry){ .fd = fds[i], .length = 8,
			.buffer = (uintptr_t)&value };
	cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_READ_LIST, &list), 0);
	cr_assert_eq(control(PERF_EVENT_IOC_ENABLE, fds, PMUCTL_LIST_MAX, 0), 0);
	for (int i = 0; i < PMUCTL_LIST_MAX; i++)
		close(fds[i]);

	cr_assert_eq(open_list(many, PMUCTL_LIST_MAX + 1), -EINVAL);
	check_why(&why, EINVAL, PMUCTL_WHY_LIST_LENGTH, "nr", LENGTH_SENTENCE, 1025);
	/* The last one is refused. */
	many[PMUCTL_LIST_MAX - 1].pid = -2;
	cr_assert_eq(open_list(many, PMUCTL_LIST_MAX), -ESRCH);
	check_why(&why, ESRCH, PMUCTL_WHY_PID_INVALID, "[1023].pid",
		  "pid -2 is not a target: use 0 for the calling task, a thread id, or -1 with a cpu");
	check_nothing_left();
}

/* ---- What is refused of a list ---- */

Test(abi_lists, an_open_list_that_is_wrong_is_refused)
{
	struct pmuctl_open_list none = list_of(opens, 0), many = list_of(opens, ~0u),
		flags = list_of(opens, 1), reserved = list_of(opens, 1),
		small = list_of(opens, 1), nowhere = list_of((void *)BAD, 1),
		no_fds = list_of(opens, ENTRIES), beyond = list_of(opens, 1);

	flags.flags = 1;
	reserved.reserved = 5;
	small.entry_size = PMUCTL_OPEN_SIZE_VER0 - 1;
	no_fds.fds = BAD;
	beyond.entry_size = 4097;
	check_refusals(
		{ "no entry", IOCTL(raw_device(), PMUCTL_IOC_OPEN_LIST, &none), EINVAL,
		  PMUCTL_WHY_LIST_LENGTH, "nr",
		  "nr 0 is no length of a list: it has 1 to 1024 entries, split it into several" },
		{ "too many", IOCTL(raw_device(), PMUCTL_IOC_OPEN_LIST, &many), EINVAL,
		  PMUCTL_WHY_LIST_LENGTH, "nr",
		  "nr 4294967295 is no length of a list: it has 1 to 1024 entries, split it into several" },
		{ "flags", IOCTL(raw_device(), PMUCTL_IOC_OPEN_LIST, &flags), EINVAL,
		  PMUCTL_WHY_FLAGS_UNKNOWN, "flags",
		  "flags 0x1 has bits that this module does not know: only 0x0 may be set" },
		{ "reserved", IOCTL(raw_device(), PMUCTL_IOC_OPEN_LIST, &reserved), EINVAL,
		  PMUCTL_WHY_RESERVED_SET, "reserved", "a reserved field is 0x5: it must be 0" },
		{ "small entries", IOCTL(raw_device(), PMUCTL_IOC_OPEN_LIST, &small), EINVAL,
		  PMUCTL_WHY_SIZE_TOO_SMALL, "entry_size",
		  "size 39 is less than the 40 bytes of the structure's first version: set it to sizeof()" },
		{ "large entries", IOCTL(raw_device(), PMUCTL_IOC_OPEN_LIST, &beyond), E2BIG,
		  PMUCTL_WHY_SIZE_TOO_BIG, "[0]",
		  "size 4097 is more than the 48 bytes that this module knows, and what is beyond is not zero: leave the newer fields 0 or update the module" },
		{ "no entries there", IOCTL(raw_device(), PMUCTL_IOC_OPEN_LIST, &nowhere), EFAULT,
		  PMUCTL_WHY_BAD_POINTER, "[0]", BAD_SENTENCE },
		{ "no room for descriptors", IOCTL(raw_device(), PMUCTL_IOC_OPEN_LIST, &no_fds),
		  EFAULT, PMUCTL_WHY_BAD_POINTER, "fds", BAD_SENTENCE },
	);
	check_nothing_left();
	small.explanation = BAD;
	check_refused(IOCTL(raw_device(), PMUCTL_IOC_OPEN_LIST, &small), EFAULT,
		      PMUCTL_WHY_BAD_POINTER, "explanation", BAD_SENTENCE);
}

Test(abi_lists, an_entry_that_is_wrong_is_refused_and_nothing_is_opened)
{
	opens[3].size = 40;
	check_entry(4, EINVAL, PMUCTL_WHY_LIST_ENTRY_SIZE, "[3].size",
		    "the size of an entry is 40, but should be 48: set it to sizeof(struct pmuctl_open)");
	opens[3].size = sizeof(*opens);
	opens[3].explanation = (uintptr_t)&why;
	check_entry(4, EINVAL, PMUCTL_WHY_RESERVED_SET, "[3].explanation",
		    "a reserved field is 0x%lx: it must be 0", (long)(uintptr_t)&why);
	opens[3].explanation_size = sizeof(why);
	check_entry(4, EINVAL, PMUCTL_WHY_RESERVED_SET, "[3].explanation_size",
		    "a reserved field is 0x100: it must be 0");
	opens[3].explanation = opens[3].explanation_size = 0;
	opens[2].flags = 1U << 20;
	check_entry(4, EINVAL, PMUCTL_WHY_FLAGS_UNKNOWN, "[2].flags",
		    "flags 0x100000 has bits that this module does not know: only 0x3000f may be set");
	opens[2].flags = 0;
	attrs[3].attr.config = 99;
	check_entry(4, EINVAL, PMUCTL_WHY_EVENT_UNKNOWN, "[3].attr.config",
		    "config 0x63 is not an event of type 0: see PERF_COUNT_* in <linux/perf_event.h>");
	attrs[3].attr.config = 0;
	opens[1].attr = BAD;
	check_entry(4, EFAULT, PMUCTL_WHY_BAD_POINTER, "[1].attr", BAD_SENTENCE);
	opens[1].attr = (uintptr_t)&attrs[1];
	cr_assert_eq(open_list(opens, 4), 0, "%s", why.sentence);
}

Test(abi_lists, leaders_that_are_none_are_refused)
{
	static const int wrong[] = { -2, -1, 2, 3, 4, 0x7fffffff };
	int leader;

	opens[2].flags |= PMUCTL_OPEN_GROUP_ENTRY;
	for (size_t i = 0; i < RAW_ARRAY_SIZE(wrong); i++) {
		opens[2].group_fd = wrong[i];
		check_entry(4, EINVAL, PMUCTL_WHY_LIST_LEADER, "[2].group_fd", LEADER_SENTENCE,
			    wrong[i]);
	}
	/* An entry that has a leader is none. */
	opens[1].flags |= PMUCTL_OPEN_GROUP_ENTRY;
	opens[1].group_fd = 0;
	opens[2].group_fd = 1;
	cr_assert_eq(open_list(opens, 3), -EINVAL);
	cr_assert_eq(why.code, PMUCTL_WHY_GROUP_NOT_LEADER);
	cr_assert_eq(why.entry, 2);
	check_nothing_left();
	/* Alone, there are no entries. */
	leader = event_open(raw_instructions());
	check_refused(OPEN(attrs[0], .group = leader, .flags = PMUCTL_OPEN_GROUP_ENTRY), EINVAL,
		      PMUCTL_WHY_FLAGS_UNKNOWN, "flags",
		      "flags 0x20000 has bits that this module does not know: only 0x1000f may be set");
}

Test(abi_lists, descriptors_may_run_out_in_its_midst)
{
	struct rlimit limit, before;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	limit = before;
	limit.rlim_cur = 0;
	while (fcntl((int)limit.rlim_cur, F_GETFD) != -1)
		limit.rlim_cur++;
	limit.rlim_cur += 2;	/* at least two more are free, as are those that are skipped */
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_eq(open_list(opens, ENTRIES), -EMFILE);
	cr_assert_eq(why.code, PMUCTL_WHY_NO_FD);
	cr_assert_geq(why.entry, 1);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	check_nothing_left();
}

/* ---- Who may ---- */

/* Exits, with the number of the line that was wrong. */
static void expect(bool right, int line)
{
	if (right)
		return;
	fprintf(stderr, "line %d: %s: %s\n", line, why.field, why.sentence);
	_exit(1);
}

static void as_user(void (*func)(void))
{
	pid_t pid = fork();

	if (!pid) {
		expect(!perm_become(PERM_USER), __LINE__);
		func();
		_exit(0);
	}
	perm_join(pid);
}

static void open_what_is_not_allowed(void)
{
	opens[2].pid = -1;
	opens[2].cpu = 0;
	expect(open_list(opens, ENTRIES) == -EACCES, __LINE__);
	expect(why.code == PMUCTL_WHY_PERM_CPU && why.entry == 2, __LINE__);
	opens[2].pid = 1;
	opens[2].cpu = -1;
	expect(open_list(opens, ENTRIES) == -EACCES, __LINE__);
	expect(why.code == PMUCTL_WHY_PERM_TASK && why.entry == 2, __LINE__);
	expect(!strcmp(why.field, "[2].pid"), __LINE__);
	opens[2].pid = 0;
	expect(open_list(opens, ENTRIES) == 0, __LINE__);
}

Test(abi_lists, each_entry_needs_the_rights_that_it_would_need_alone)
{
	for (int i = 0; i < ENTRIES; i++)
		attrs[i].attr.type = PERF_TYPE_SOFTWARE;
	as_user(open_what_is_not_allowed);
	check_nothing_left();
}

static void open_more_than_a_user_may(void)
{
	for (int i = 0; i < 2; i++) {
		expect(open_list(opens, ENTRIES) == -EMFILE, __LINE__);
		expect(why.code == PMUCTL_WHY_EVENTS_USER && why.entry == 3, __LINE__);
	}
	/* What was opened for nothing does not count. */
	expect(open_list(opens, 3) == 0, __LINE__);
	expect(open_list(opens, 1) == -EMFILE, __LINE__);
}

Test(abi_lists, each_entry_counts_for_the_limit_of_its_user, .fini = set_default_limits)
{
	for (int i = 0; i < ENTRIES; i++)
		attrs[i].attr.type = PERF_TYPE_SOFTWARE;
	cr_assert_eq(raw_write_number(PER_USER, 3), 0);
	as_user(open_more_than_a_user_may);
	check_nothing_left();
}

/* Whoever is killed in its midst leaves nothing, wherever that happens. */
Test(abi_lists, a_list_ends_with_a_fatal_signal)
{
	for (int round = 0; round < 20; round++) {
		pid_t pid = fork();

		while (!pid)
			for (int i = open_list(opens, ENTRIES) ? 0 : ENTRIES; i; i--)
				close(fds[i - 1]);
		usleep(500 * round);
		cr_assert_eq(kill(pid, SIGKILL), 0);
		cr_assert_eq(waitpid(pid, NULL, 0), pid);
	}
	check_nothing_left();
}

/* ---- What is refused of reading, and of on and off ---- */

Test(abi_lists, a_read_that_is_wrong_is_refused)
{
	struct pmuctl_read_entry entries[2];
	struct pmuctl_read_list list = { .size = sizeof(list), .nr = 2,
		.entry_size = sizeof(*entries), .entries = (uintptr_t)entries };
	const struct call call = IOCTL(raw_device(), PMUCTL_IOC_READ_LIST, &list);
	uint64_t value[2] = { 7, 7 };
	int null = open("/dev/null", O_RDWR);

	fds[0] = event_open(raw_instructions());
	for (int i = 0; i < 2; i++)
		entries[i] = (struct pmuctl_read_entry){ .fd = fds[0], .length = sizeof(*value),
			.buffer = (uintptr_t)&value[i] };
	list.flags = 1;
	check_refused(call, EINVAL, PMUCTL_WHY_FLAGS_UNKNOWN, "flags",
		      "flags 0x1 has bits that this module does not know: only 0x0 may be set");
	list.flags = 0;
	list.entry_size = 16;
	check_refused(call, EINVAL, PMUCTL_WHY_LIST_ENTRY_SIZE, "entry_size",
		      "the size of an entry is 16, but should be 24: set it to sizeof(struct pmuctl_read_entry)");
	list.entry_size = sizeof(*entries);
	list.nr = 0;
	check_refused(call, EINVAL, PMUCTL_WHY_LIST_LENGTH, "nr", LENGTH_SENTENCE, 0);
	list.nr = 1025;
	check_refused(call, EINVAL, PMUCTL_WHY_LIST_LENGTH, "nr", LENGTH_SENTENCE, 1025);
	list.nr = 2;
	list.entries = BAD;
	check_refused(call, EFAULT, PMUCTL_WHY_BAD_POINTER, "[0]", BAD_SENTENCE);
	list.entries = (uintptr_t)entries;
	cr_assert_eq(value[0], 7);

	entries[1].fd = null;
	check_refused(call, EBADF, PMUCTL_WHY_LIST_FD, "[1].fd", FD_SENTENCE, null);
	cr_assert_eq(value[0], 0);	/* those before it have been read */
	cr_assert_eq(value[1], 7);
	entries[1].fd = -1;
	check_refused(call, EBADF, PMUCTL_WHY_LIST_FD, "[1].fd", FD_SENTENCE, -1);
	entries[1].fd = fds[0];
	entries[1].reserved = 9;
	check_refused(call, EINVAL, PMUCTL_WHY_RESERVED_SET, "[1].reserved",
		      "a reserved field is 0x9: it must be 0");
	entries[1].reserved = 0;
	entries[1].length = 7;
	check_refused(call, ENOSPC, PMUCTL_WHY_BUFFER_TOO_SMALL, "[1]",
		      "a read of this event gives 8 bytes, but the buffer has 7: enlarge it");
	entries[1].length = 8;
	entries[1].buffer = BAD;
	check_refused(call, EFAULT, PMUCTL_WHY_BAD_POINTER, "[1]", BAD_SENTENCE);
}

Test(abi_lists, control_that_is_wrong_is_refused_and_none_is_switched)
{
	struct pmuctl_control_list list = { .size = sizeof(list), .nr = 2,
		.request = PERF_EVENT_IOC_ENABLE, .fds = (uintptr_t)fds };
	const struct call call = IOCTL(raw_device(), PMUCTL_IOC_CONTROL_LIST, &list);

	fds[0] = event_open(raw_instructions());
	fds[1] = raw_device();
	check_refused(call, EBADF, PMUCTL_WHY_LIST_FD, "[1]", FD_SENTENCE, raw_device());
	user_loop(1000);
	cr_assert_eq(raw_read(fds[0]), 0);
	list.flags = 2;
	check_refused(call, EINVAL, PMUCTL_WHY_FLAGS_UNKNOWN, "flags",
		      "flags 0x2 has bits that this module does not know: only 0x1 may be set");
	list.flags = 0;
	list.request = PERF_EVENT_IOC_REFRESH;
	check_refused(call, EINVAL, PMUCTL_WHY_LIST_REQUEST, "request",
		      "request 0x2402 is not for lists: use PERF_EVENT_IOC_ENABLE, _DISABLE or _RESET");
	list.request = PERF_EVENT_IOC_ENABLE;
	list.nr = 0;
	check_refused(call, EINVAL, PMUCTL_WHY_LIST_LENGTH, "nr", LENGTH_SENTENCE, 0);
	list.nr = 1025;
	check_refused(call, EINVAL, PMUCTL_WHY_LIST_LENGTH, "nr", LENGTH_SENTENCE, 1025);
	list.nr = 2;
	list.fds = BAD;
	check_refused(call, EFAULT, PMUCTL_WHY_BAD_POINTER, "[0]", BAD_SENTENCE);
}
