// SPDX-License-Identifier: GPL-2.0-only
/*
 * The grammar of event lists: fields, raw numbers, modifiers, lists, names that only
 * a resolver knows, and for every mistake the position and the sentence.
 */
/* sources: lib/src/names.c lib/src/fields.c lib/src/parse.c lib/src/terms.c lib/src/events.c */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include <pmuctl_list.h>
#include <pmuctl_trace.h>

static struct pmuctl_events *parse(const char *text)
{
	struct pmuctl_parse_error error;
	struct pmuctl_events *events = NULL;
	int ret = pmuctl_events_parse(text, NULL, NULL, &error, &events);

	cr_assert_eq(ret, 0, "'%s': %d at %zu: %s", text, ret, error.position,
		     error.sentence);
	return events;
}

static void check_config(const char *text, unsigned long long config)
{
	struct pmuctl_events *events = parse(text);

	cr_assert_eq(pmuctl_events_count(events), 1, "'%s'", text);
	cr_assert_eq(pmuctl_events_attr(events, 0)->type, PERF_TYPE_RAW);
	cr_assert_eq(pmuctl_events_attr(events, 0)->config, config, "'%s': %llx",
		     text,
		     (unsigned long long)pmuctl_events_attr(events, 0)->config);
	pmuctl_events_free(events);
}

Test(lib_parse, raw_numbers)
{
	check_config("r1", 0x1);
	check_config("r01c4", 0x1c4);
	check_config("r01C4", 0x1c4);
	check_config("rffffffffffffffff", 0xffffffffffffffffULL);
	check_config("cpu/r1c4/", 0x1c4);
}

/* Of one type of a hybrid processor's CPUs: the type, or in a generic event the upper half */
Test(lib_parse, types_of_cpu)
{
	static const struct {
		const char *text;
		uint32_t type;
		uint64_t config;
	} events[] = {
		{ "cpu_core/event=0xc4,umask=0x20/u", PMUCTL_TYPE_CPU_CORE, 0x20c4 },
		{ "cpu_atom/r1c4/", PMUCTL_TYPE_CPU_ATOM, 0x1c4 },
		{ "cpu_core/instructions/", PERF_TYPE_HARDWARE,
		  (uint64_t)PMUCTL_TYPE_CPU_CORE << 32 | PERF_COUNT_HW_INSTRUCTIONS },
		{ "cpu_atom/L1-dcache-loads/", PERF_TYPE_HW_CACHE,
		  (uint64_t)PMUCTL_TYPE_CPU_ATOM << 32 | PERF_COUNT_HW_CACHE_L1D },
		{ "cpu/instructions/", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct pmuctl_events *parsed = parse(events[i].text);
		const struct perf_event_attr *attr = pmuctl_events_attr(parsed, 0);

		cr_expect_eq(attr->type, events[i].type, "'%s': %u", events[i].text, attr->type);
		cr_expect_eq(attr->config, events[i].config, "'%s': %#llx", events[i].text,
			     (unsigned long long)attr->config);
		pmuctl_events_free(parsed);
	}
}

Test(lib_parse, fields_go_to_their_bits)
{
	check_config("cpu/event=0xc4/", 0xc4);
	check_config("cpu/event=196/", 0xc4);
	check_config("cpu/event=0xc4,umask=0x20/", 0x20c4);
	check_config("CPU/event=0xc4,umask=0x20/", 0x20c4);
	check_config("cpu/umask=0x20,event=0xc4/", 0x20c4);
	check_config("cpu/event=0,edge/", 1 << 18);
	check_config("cpu/event=0,edge=1,inv=0/", 1 << 18);
	check_config("cpu/event=0,pc/", 1 << 19);
	check_config("cpu/event=0,any/", 1 << 21);
	check_config("cpu/event=0,inv/", 1 << 23);
	check_config("cpu/event=0,cmask=0xff/", 0xff000000);
	check_config("cpu/event=0x1a7/", 0x1000000a7ULL);
	check_config("cpu/config=0x1ffffffff/", 0x1ffffffffULL);
	check_config("event=0xc4", 0xc4);
	check_config("event=0xc4,umask=0x01", 0x1c4);
	check_config("event=0xc4,umask=0x01,edge,inv,cmask=2", 0x28401c4);
	check_config("umask=0x01,event=0xc4", 0x1c4);
	check_config(" event=0xc4 , umask=0x01 ", 0x1c4);
	check_config("cpu/ event=0xc4 , umask=0x01 /", 0x1c4);
}

/* As perf has them: "cycles" of this PMU, and what any event can have */
Test(lib_parse, a_name_between_slashes_with_terms)
{
	struct pmuctl_events *events =
		parse("cpu/cycles,name=x/u,cpu_core/L1-dcache-loads, period=1000 ,name=loads/");

	cr_assert_eq(pmuctl_events_attr(events, 0)->type, PERF_TYPE_HARDWARE);
	cr_assert_eq(pmuctl_events_attr(events, 0)->config, PERF_COUNT_HW_CPU_CYCLES);
	cr_assert_eq(pmuctl_events_attr(events, 0)->exclude_kernel, 1);
	cr_assert_str_eq(pmuctl_events_name(events, 0), "x");
	cr_assert_eq(pmuctl_events_attr(events, 1)->type, PERF_TYPE_HW_CACHE);
	cr_assert_eq(pmuctl_events_attr(events, 1)->config >> 32, PMUCTL_TYPE_CPU_CORE);
	cr_assert_eq(pmuctl_events_attr(events, 1)->sample_period, 1000);
	cr_assert_str_eq(pmuctl_events_name(events, 1), "loads");
	pmuctl_events_free(events);
}

Test(lib_parse, fields_beyond_config)
{
	struct pmuctl_events *events =
		parse("cpu/event=0xb7,config1=0x10001,config2=7,name=offcore/u");
	const struct perf_event_attr *attr = pmuctl_events_attr(events, 0);

	cr_assert_eq(attr->config, 0xb7);
	cr_assert_eq(attr->config1, 0x10001);
	cr_assert_eq(attr->config2, 7);
	cr_assert_eq(attr->exclude_kernel, 1);
	cr_assert_str_eq(pmuctl_events_name(events, 0), "offcore");
	pmuctl_events_free(events);
}

/* By perf's names for it */
Test(lib_parse, fields_of_config1)
{
	static const struct {
		const char *text;
		uint64_t value;
	} events[] = {
		{ "cpu/event=0xb7,umask=0x01,offcore_rsp=0x3fffc00001/", 0x3fffc00001 },
		{ "cpu/event=0xb7,umask=0x01,offcore_rsp=0x8000000000000001/", 1ull << 63 | 1 },
		{ "cpu/event=0xc6,umask=0x01,frontend=0x400406/u", 0x400406 },
		{ "event=0x27,umask=0x01,snoop_rsp=3", 3 },
	};

	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct pmuctl_events *list = parse(events[i].text);

		cr_assert_eq(pmuctl_events_attr(list, 0)->config1, events[i].value);
		pmuctl_events_free(list);
	}
}

struct levels {
	const char *text;
	unsigned int user, kernel, hv, precise;	/* excluded */
};

Test(lib_parse, modifiers)
{
	static const struct levels all[] = {
		{ "cycles", 0, 0, 0, 0 },
		{ "cycles:u", 0, 1, 1, 0 },
		{ "cycles:k", 1, 0, 1, 0 },
		{ "cycles:h", 1, 1, 0, 0 },
		{ "cycles:uk", 0, 0, 1, 0 },
		{ "cycles:ku", 0, 0, 1, 0 },
		{ "cycles:ukh", 0, 0, 0, 0 },
		{ "cycles:p", 0, 0, 0, 1 },
		{ "cycles:ppp", 0, 0, 0, 3 },
		{ "cycles:upp", 0, 1, 1, 2 },
		{ "cycles:pup", 0, 1, 1, 2 },
		{ "r1c4:u", 0, 1, 1, 0 },
		{ "L1-dcache-loads:k", 1, 0, 1, 0 },
		{ "cpu/event=1/u", 0, 1, 1, 0 },
		{ "cpu/event=1/:u", 0, 1, 1, 0 },
		{ "cpu/instructions/k", 1, 0, 1, 0 },
		{ "event=1,umask=2:k", 1, 0, 1, 0 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct pmuctl_events *events = parse(all[i].text);
		const struct perf_event_attr *attr = pmuctl_events_attr(events, 0);

		cr_assert_eq(pmuctl_events_count(events), 1);
		cr_assert_eq(attr->exclude_user, all[i].user, "%s", all[i].text);
		cr_assert_eq(attr->exclude_kernel, all[i].kernel, "%s", all[i].text);
		cr_assert_eq(attr->exclude_hv, all[i].hv, "%s", all[i].text);
		cr_assert_eq(attr->precise_ip, all[i].precise, "%s", all[i].text);
		cr_assert_str_eq(pmuctl_events_name(events, 0), all[i].text);
		pmuctl_events_free(events);
	}
}

Test(lib_parse, modifiers_of_guests_of_idle_cpus_and_of_precision)
{
	static const struct {
		const char *text;
		unsigned int guest, host, idle, precise;
	} all[] = {
		{ "cycles:G", 0, 1, 0, 0 },
		{ "cycles:H", 1, 0, 0, 0 },
		{ "cycles:GH", 0, 0, 0, 0 },
		{ "cycles:uI", 0, 0, 1, 0 },
		{ "cycles:P", 0, 0, 0, 0 },
		{ "cycles:uP", 0, 0, 0, 0 },
		{ "{cycles}:H", 1, 0, 0, 0 },
		{ "{cycles:pp}:PI", 0, 0, 1, 2 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct pmuctl_events *events = parse(all[i].text);
		const struct perf_event_attr *attr = pmuctl_events_attr(events, 0);

		cr_expect_eq(attr->exclude_guest, all[i].guest, "%s", all[i].text);
		cr_expect_eq(attr->exclude_host, all[i].host, "%s", all[i].text);
		cr_expect_eq(attr->exclude_idle, all[i].idle, "%s", all[i].text);
		cr_expect_eq(attr->precise_ip, all[i].precise, "%s", all[i].text);
		pmuctl_events_free(events);
	}
}

Test(lib_parse, generic_name_between_slashes)
{
	struct pmuctl_events *events = parse("cpu/instructions/");

	cr_assert_eq(pmuctl_events_attr(events, 0)->type, PERF_TYPE_HARDWARE);
	cr_assert_eq(pmuctl_events_attr(events, 0)->config,
		     PERF_COUNT_HW_INSTRUCTIONS);
	pmuctl_events_free(events);

	/* config 0 of the hardware events must not be taken for "none" */
	events = parse("cpu/cycles/");
	cr_assert_eq(pmuctl_events_attr(events, 0)->type, PERF_TYPE_HARDWARE);
	pmuctl_events_free(events);
}

static void check_list(const char *text, size_t count, const char *const *names)
{
	struct pmuctl_events *events = parse(text);

	cr_assert_eq(pmuctl_events_count(events), count, "'%s': %zu", text,
		     pmuctl_events_count(events));
	for (size_t i = 0; i < count; i++)
		cr_assert_str_eq(pmuctl_events_name(events, i), names[i]);
	cr_assert_null(pmuctl_events_name(events, count));
	cr_assert_null(pmuctl_events_attr(events, count));
	pmuctl_events_free(events);
}

#define CHECK_LIST(text, ...) \
	do { \
		const char *const names[] = { __VA_ARGS__ }; \
		check_list(text, sizeof(names) / sizeof(names[0]), names); \
	} while (0)

Test(lib_parse, lists_split_where_an_event_ends)
{
	CHECK_LIST("cycles,instructions:u", "cycles", "instructions:u");
	CHECK_LIST(" cycles , instructions:u\n", "cycles", "instructions:u");
	CHECK_LIST("cpu/event=1,umask=2/u,cycles", "cpu/event=1,umask=2/u", "cycles");
	CHECK_LIST("cycles,event=1,umask=2,r3", "cycles", "event=1,umask=2", "r3");
	CHECK_LIST("event=1,umask=2,event=3", "event=1,umask=2", "event=3");
	CHECK_LIST("event=1,edge,inv,cycles", "event=1,edge,inv", "cycles");
	CHECK_LIST("event=1:u,umask=2,event=3", "event=1:u", "umask=2,event=3");
	CHECK_LIST("event=1,umask=2:k,umask=3,event=4:u", "event=1,umask=2:k",
		   "umask=3,event=4:u");
	CHECK_LIST("cpu/name=x,event=1/,cpu/event=2/", "x", "cpu/event=2/");
}

struct mistake {
	const char *text;
	size_t position;
	const char *part;	/* of the sentence */
};

/* It says something of the group: its events are called and counted as without. */
Test(lib_parse, weak_groups)
{
	struct pmuctl_events *events = parse("{cycles,branches}:uW,{instructions},cycles:W");

	cr_assert_eq(pmuctl_events_count(events), 4);
	for (size_t i = 0; i < 4; i++)
		cr_expect_eq(pmuctl_events_weak(events, i), i < 2, "%zu", i);
	cr_expect_eq(pmuctl_events_weak(events, 4), 0);
	cr_expect_eq(pmuctl_events_leader(events, 1), 0);
	cr_expect_str_eq(pmuctl_events_name(events, 0), "cycles:u");
	cr_expect_str_eq(pmuctl_events_name(events, 1), "branches:u");
	cr_expect_eq(pmuctl_events_attr(events, 0)->exclude_kernel, 1);
	pmuctl_events_free(events);
}

/* It says something of samples; who it is said of has its name as without. */
Test(lib_parse, groups_that_are_read)
{
	struct pmuctl_events *events = parse("{cycles,branches:k}:uS,cycles:Su,{cycles:u,branches}:S,"
					     "event=1:S,branches");
	static const char *const names[] = { "cycles:u", "branches:ku", "cycles:Su", "cycles:u",
					     "branches", "event=1:S", "branches" };

	for (size_t i = 0; i < 7; i++) {
		cr_expect_eq(pmuctl_events_attr(events, i)->sample_type,
			     i < 6 ? PERF_SAMPLE_READ : 0, "%zu", i);
		cr_expect_str_eq(pmuctl_events_name(events, i), names[i]);
	}
	cr_expect_eq(pmuctl_events_attr(events, 0)->exclude_kernel, 1);
	cr_expect_eq(pmuctl_events_attr(events, 4)->exclude_kernel, 0);
	cr_expect_eq(pmuctl_events_leader(events, 1), 0);
	pmuctl_events_free(events);
}

static const struct mistake mistakes[] = {
	{ "", 0, "missing" },
	{ "  ", 2, "missing" },
	{ ",cycles", 0, "missing" },
	{ "cycles,", 7, "missing" },
	{ "cycles,,branches", 7, "missing" },
	{ "nonesuch", 0, "unknown event 'nonesuch'" },
	{ "cycles,nonesuch:u", 7, "unknown event 'nonesuch'" },
	{ "cycles:", 7, "expected" },
	{ "cycles:x", 7, "unknown modifier 'x'" },
	{ "{cycles}:SS", 10, "the modifier S is given twice" },
	{ "cycles,instructions:ux", 21, "unknown modifier 'x'" },
	{ "cycles:uu", 8, "twice" },
	{ "cycles:pppp", 10, "more than three" },
	{ "cycles:u:k", 8, "unknown modifier ':'" },
	{ "cpu/cycles,umask=1/", 11, "'cycles' can have aux-action=WHAT, period=N and name=TEXT" },
	{ "cpu/cycles,/", 11, "a term is expected" },
	{ "cpu/cycles,name=/", 16, "the name is empty" },
	{ "cpu/event=1/Z", 12, "unknown modifier 'Z'" },
	{ "cpu/event=1", 3, "missing" },
	{ "cycles,cpu/event=1", 10, "missing" },
	{ "cpu//", 4, "nothing between" },
	{ "cycles,cpu_core/task-clock/", 7, "of no type of CPU: leave 'cpu_core' out" },
	{ "msr/tsc/", 0, "no PMU 'msr'" },
	{ "/event=1/", 0, "no PMU ''" },
	{ "cpu/event=1,foo=2/", 12, "unknown field 'foo'" },
	{ "cpu/event=1,,umask=2/", 12, "field is expected" },
	{ "cpu/event=1,/", 12, "field is expected" },
	{ "cpu/event/", 4, "needs a value" },
	{ "cpu/event=/", 10, "not a number" },
	{ "cpu/event=0x/", 10, "not a number" },
	{ "cpu/event=0xg/", 10, "not a number" },
	{ "cpu/event=c4/", 10, "not a number" },
	{ "cpu/event=-1/", 10, "not a number" },
	{ "cpu/event=99999999999999999999999/", 10, "not a number" },
	{ "cpu/event=0x1000/", 10, "too large" },
	{ "cpu/event=1,umask=256/", 18, "too large: the most is 0xff" },
	{ "cpu/event=1,edge=2/", 17, "too large" },
	{ "cpu/event=1,event=2/", 12, "twice" },
	{ "cpu/event=1,name=/", 17, "empty" },
	{ "cycles,event=0xzz", 13, "not a number" },
	{ "event=1:", 8, "expected" },
	{ "r12345678901234567", 0, "16 hexadecimal digits" },
};

Test(lib_parse, mistakes_are_told_with_their_place)
{
	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		const struct mistake *mistake = &mistakes[i];
		struct pmuctl_events *events = (void *)1;
		struct pmuctl_parse_error error;
		int ret = pmuctl_events_parse(mistake->text, NULL, NULL, &error,
					      &events);

		cr_expect_eq(ret, -EINVAL, "'%s': %d", mistake->text, ret);
		cr_expect_null(events);
		cr_expect_eq(error.position, mistake->position, "'%s': at %zu: %s",
			     mistake->text, error.position, error.sentence);
		cr_expect(strstr(error.sentence, mistake->part), "'%s': %s",
			  mistake->text, error.sentence);
		if (ret == 0)
			pmuctl_events_free(events);
		/* Who does not ask is not told, and nothing else differs. */
		cr_expect_eq(pmuctl_events_parse(mistake->text, NULL, NULL, NULL,
						 &events), -EINVAL);
	}
}

Test(lib_parse, arguments_that_lack_are_refused)
{
	struct pmuctl_events *events;

	cr_assert_eq(pmuctl_events_parse(NULL, NULL, NULL, NULL, &events), -EINVAL);
	cr_assert_eq(pmuctl_events_parse("cycles", NULL, NULL, NULL, NULL), -EINVAL);
	pmuctl_events_free(NULL);
}

/* A resolver that knows two names and takes down what it was asked. */
struct asked {
	char name[64];
	int count;
};

static int resolve(void *arg, const char *name, struct perf_event_attr *attr,
		   char *sentence, size_t size)
{
	struct asked *asked = arg;

	asked->count++;
	snprintf(asked->name, sizeof(asked->name), "%s", name);
	if (!strcmp(name, "FULL:NAME")) {
		attr->type = PERF_TYPE_RAW;
		attr->config = 0x42;
		attr->exclude_kernel = 1;
		return 0;
	}
	if (!strcmp(name, "BAD:MASK")) {
		snprintf(sentence, size, "no such mask");
		return -EINVAL;
	}
	if (!strcmp(name, "NOMEM"))
		return -ENOMEM;
	return -ENOENT;
}

static int resolve_one(const char *text, struct asked *asked,
		       struct pmuctl_events **events,
		       struct pmuctl_parse_error *error)
{
	memset(asked, 0, sizeof(*asked));
	return pmuctl_events_parse(text, resolve, asked, error, events);
}

Test(lib_parse, resolver_gets_the_name_without_modifiers)
{
	struct pmuctl_parse_error error;
	struct pmuctl_events *events;
	struct asked asked;

	cr_assert_eq(resolve_one("FULL:NAME:kp", &asked, &events, &error), 0);
	cr_assert_str_eq(asked.name, "FULL:NAME");
	cr_assert_eq(asked.count, 1);
	cr_assert_eq(pmuctl_events_attr(events, 0)->config, 0x42);
	cr_assert_eq(pmuctl_events_attr(events, 0)->exclude_user, 1);
	cr_assert_eq(pmuctl_events_attr(events, 0)->exclude_kernel, 0);
	cr_assert_eq(pmuctl_events_attr(events, 0)->precise_ip, 1);
	cr_assert_str_eq(pmuctl_events_name(events, 0), "FULL:NAME:kp");
	pmuctl_events_free(events);
}

Test(lib_parse, without_modifiers_the_resolver_decides_the_levels)
{
	struct pmuctl_parse_error error;
	struct pmuctl_events *events;
	struct asked asked;

	cr_assert_eq(resolve_one("FULL:NAME", &asked, &events, &error), 0);
	cr_assert_eq(pmuctl_events_attr(events, 0)->exclude_user, 0);
	cr_assert_eq(pmuctl_events_attr(events, 0)->exclude_kernel, 1);
	pmuctl_events_free(events);
}

Test(lib_parse, resolver_is_not_asked_for_known_names)
{
	struct pmuctl_parse_error error;
	struct pmuctl_events *events;
	struct asked asked;

	cr_assert_eq(resolve_one("cycles,r1,event=1,LLC-loads:u", &asked, &events,
				 &error), 0);
	cr_assert_eq(asked.count, 0);
	pmuctl_events_free(events);
	cr_assert_eq(resolve_one("cycles:bad", &asked, &events, &error), -EINVAL);
	cr_assert_eq(asked.count, 0);
}

Test(lib_parse, what_the_resolver_says_is_passed_on)
{
	struct pmuctl_parse_error error;
	struct pmuctl_events *events;
	struct asked asked;

	cr_assert_eq(resolve_one("cycles,BAD:MASK", &asked, &events, &error),
		     -EINVAL);
	cr_assert_eq(error.position, 7);
	cr_assert_str_eq(error.sentence, "no such mask");
	cr_assert_eq(resolve_one("NOWHERE:u", &asked, &events, &error), -EINVAL);
	cr_assert_str_eq(asked.name, "NOWHERE");
	cr_assert(strstr(error.sentence, "unknown event 'NOWHERE'"));
	cr_assert_eq(resolve_one("NOMEM", &asked, &events, &error), -ENOMEM);
}

/* A repeatable sequence: the same texts in every run */
static unsigned int next_random(unsigned int *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 16;
}

Test(lib_parse, any_text_is_understood_or_refused_with_a_place)
{
	static const char *const pieces[] = {
		"cycles", "instructions", "L1-dcache", "-loads", "-misses", "r1c4",
		"cpu/", "/", ",", ":", "=", "event=", "umask=0x", "edge", "inv",
		"cmask=1", "name=", "config=", "u", "k", "p", "0x", "1", "ff", " ",
		"{", "}", "{cycles,", "}:u", "D", "e", "-", "X", "\t", "FULL:NAME", "\x80",
	};
	unsigned int state = 1, good = 0;

	for (int round = 0; round < 100000; round++) {
		struct pmuctl_parse_error error;
		struct pmuctl_events *events;
		struct asked asked = { .count = 0 };
		char text[128] = "";
		int ret;

		for (unsigned int n = next_random(&state) % 9; n; n--)
			strcat(text, pieces[next_random(&state) %
				(sizeof(pieces) / sizeof(pieces[0]))]);
		ret = pmuctl_events_parse(text, resolve, &asked, &error, &events);
		if (ret == 0) {
			good++;
			cr_assert_geq(pmuctl_events_count(events), 1);
			pmuctl_events_free(events);
			continue;
		}
		cr_assert_eq(ret, -EINVAL, "'%s': %d", text, ret);
		cr_assert_leq(error.position, strlen(text), "'%s'", text);
		cr_assert_str_not_empty(error.sentence);
	}
	cr_assert_gt(good, 100);
}

/* A resolver that knows one tracepoint */
static int one_tracepoint(void *arg, const char *name, struct perf_event_attr *attr,
			  char *sentence, size_t size)
{
	(void)arg;
	(void)sentence;
	(void)size;
	if (strcmp(name, "raw_syscalls:sys_enter") != 0)
		return -ENOENT;
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = 21;
	return 0;
}

static int parse_terms(const char *text, struct pmuctl_parse_error *error,
		       struct pmuctl_events **events)
{
	return pmuctl_events_parse(text, one_tracepoint, NULL, error, events);
}

Test(lib_parse, terms_of_a_tracepoint_are_its_filter)
{
	struct pmuctl_parse_error error;
	struct pmuctl_events *events;

	cr_assert_eq(parse_terms("raw_syscalls:sys_enter/id=63/,"
				 "raw_syscalls:sys_enter/id=0x3f,args=1,period=10,name=calls/,"
				 "instructions/period=300/u,cycles", &error, &events), 0,
		     "%s", error.sentence);
	cr_assert_eq(pmuctl_events_count(events), 4);
	cr_assert_eq(pmuctl_events_attr(events, 0)->type, PERF_TYPE_TRACEPOINT);
	cr_assert_eq(pmuctl_events_attr(events, 0)->config, 21);
	cr_assert_str_eq(pmuctl_events_filter(events, 0), "id == 63");
	cr_assert_str_eq(pmuctl_events_filter(events, 1), "id == 0x3f && args == 1");
	cr_assert_str_eq(pmuctl_events_name(events, 1), "calls");
	cr_assert_eq(pmuctl_events_attr(events, 1)->sample_period, 10);
	cr_assert_eq(pmuctl_events_attr(events, 2)->type, PERF_TYPE_HARDWARE);
	cr_assert_eq(pmuctl_events_attr(events, 2)->sample_period, 300);
	cr_assert_eq(pmuctl_events_attr(events, 2)->exclude_kernel, 1);
	cr_assert_null(pmuctl_events_filter(events, 3));
	cr_assert_null(pmuctl_events_filter(events, 4));
	for (size_t i = 0; i < 5; i++)
		cr_assert_eq(pmuctl_events_trace(events, i), 0);
	pmuctl_events_free(events);
}

static const struct mistake term_mistakes[] = {
	{ "raw_syscalls:sys_exit/id=63/", 0, "unknown event 'raw_syscalls:sys_exit'" },
	{ "raw_syscalls:sys_enter/id/", 23, "a field of the tracepoint and its value" },
	{ "raw_syscalls:sys_enter/id=x/", 26, "'x' is not a number" },
	{ "cycles/period=0/", 14, "the least is 1" },
	{ "cycles/period=many/", 14, "not a number" },
	{ "cycles/foo=1/", 7, "'cycles' can have aux-action=WHAT" },
	{ "cycles/name=/", 12, "empty" },
	{ "cycles/aux-action=stop/", 18, "start-paused, pause or resume, not 'stop'" },
	{ "cycles/aux-action=start-paused/", 18, "is for an event that traces" },
	{ "cycles/aux-action=pause,aux-action=resume/", 35, "given twice" },
	{ "cycles,instructions/aux-action=pause/", 7, "no trace is there to pause" },
	{ "cycles/aux-output/", 7, "aux-output, PEBS records in a trace, is not there" },
	{ "cpu/event=1,aux-action=stop/", 23, "not 'stop'" },
	{ "intel_pt//u", 0, "there is no intel_pt here" },
};

Test(lib_parse, mistakes_in_terms_are_told_with_their_place)
{
	for (size_t i = 0; i < sizeof(term_mistakes) / sizeof(term_mistakes[0]); i++) {
		const struct mistake *mistake = &term_mistakes[i];
		struct pmuctl_parse_error error;
		struct pmuctl_events *events;

		cr_expect_eq(parse_terms(mistake->text, &error, &events), -EINVAL, "'%s'",
			     mistake->text);
		cr_expect_eq(error.position, mistake->position, "'%s': at %zu: %s",
			     mistake->text, error.position, error.sentence);
		cr_expect(strstr(error.sentence, mistake->part), "'%s': %s",
			  mistake->text, error.sentence);
	}
}
