// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of tracepoints: what each says of arguments, where mistakes are found, and random
 * texts, which must be understood or refused, and nothing else.
 */
/* sources: module/soft/filter.c module/soft/filter_parse.c module/explain/explain.c */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "explain/explain.h"
#include "soft/filter.h"
#include "soft/filter_kernel.h"

static const struct filter_field fields[] = {
	{ "id", .arg = 1, .type = FILTER_S64 },
	{ "state", .arg = 2, .type = FILTER_U32 },
	{ "cpu", .arg = 3, .type = FILTER_S32 },
	{ "preempt", .arg = 4, .type = FILTER_BOOL },
	{ "pid", .arg = 5, .type = FILTER_TASK },
	{ "nr", .arg = 5, .type = FILTER_SYSCALL },
	{ "comm", .arg = 5, .type = FILTER_TASK_COMM },
	{ "later", .arg = 6, .type = FILTER_U32 }, /* There are not so many. */
	{ }
};

#define NR_ARGS	6

/* A record as the kernel has one of a tracepoint */
static const struct record {
	u16 type;
	u8 flags;
	u8 preempt_count;
	s32 pid;
	char text[8];
	u32 loc;
	u32 rel;
	s8 byte;
	u8 ubyte;
	u16 word;
	u64 large;
	char strings[16];
} record = {
	.type = 301, .pid = 12, .text = "abc",
	.loc = 4 << 16 | offsetof(struct record, strings),
	.rel = 9 << 16 | (offsetof(struct record, strings) - offsetof(struct record, rel)),
	.byte = -2, .ubyte = 0xfe, .word = 0x8000, .large = ~0ULL - 1,
	.strings = "xyz\0a/b c.d",
};

#define FIELD(n, t)	{ #n, 0, t, offsetof(struct record, n), sizeof(record.n) }

static const struct filter_field of_record[] = {
	FIELD(text, FILTER_RECORD_TEXT), FIELD(loc, FILTER_RECORD_LOC),
	FIELD(rel, FILTER_RECORD_REL), FIELD(byte, FILTER_RECORD_SIGNED),
	FIELD(ubyte, FILTER_RECORD), FIELD(word, FILTER_RECORD), FIELD(large, FILTER_RECORD),
	FIELD(strings, FILTER_RECORD_OTHER),
	{ "behind", 0, FILTER_RECORD_SIGNED, sizeof(record) - 4, 8 },
	{ "after", 0, FILTER_RECORD_TEXT, sizeof(record), 8 },
	{ }
};

struct task {
	int id;
	const char *comm;
};

static const struct task task = { 4711, "sh" }, current_task = { 99, "cc1" };

static const struct task *task_of(u64 address)
{
	return address ? (const struct task *)(uintptr_t)address : &current_task;
}

s64 filter_task_id(u64 address)
{
	return task_of(address)->id;
}

void filter_task_comm(u64 address, char *comm)
{
	strcpy(comm, task_of(address)->comm);
}

s64 filter_cpu(void)
{
	return 3;
}

/* And of registers, one more. */
s64 filter_syscall_nr(u64 regs)
{
	return filter_task_id(regs) + 1;
}

/* What is above the width of an argument is anything. */
static u64 args[NR_ARGS];

static void set_up(void)
{
	args[0] = 1ULL << 63 | 5;
	args[1] = (u64)-7;
	args[2] = 0xabcd000000000003;
	args[3] = 0x12345678fffffffe;
	args[4] = 0xffffffffffffff01;
	args[5] = (uintptr_t)&task;
}

TestSuite(filter, .init = set_up);

static u64 memory[20000];
static struct filter *const filter = (struct filter *)memory;

static int parse(const char *text, const struct filter_field *in_record,
		 struct pmuctl_explanation *why)
{
	const struct filter_names names = { in_record, fields, NR_ARGS };

	cr_assert_leq(filter_size(text) + sizeof(u64), sizeof(memory));
	/* It has as much as it says, and no more. */
	memset((char *)memory + filter_size(text), 0x5a, sizeof(u64));
	return filter_parse(text, &names, filter, why);
}

static bool passes_with(const char *text, const void *told, u32 size)
{
	const struct filter_hit hit = { args, told, size };
	struct pmuctl_explanation why = { .size = 0 };
	u64 behind;

	cr_assert_eq(parse(text, told ? of_record : NULL, &why), 0, "%s: %s", text, why.sentence);
	memcpy(&behind, (char *)memory + filter_size(text), sizeof(behind));
	cr_assert_eq(behind, 0x5a5a5a5a5a5a5a5a, "%s", text);
	return filter_passes(filter, &hit);
}

static bool passes(const char *text)
{
	return passes_with(text, NULL, 0);
}

static bool passes_of_record(const char *text)
{
	return passes_with(text, &record, sizeof(record));
}

#define check_passes(text)	cr_expect(passes(text), "%s", text)
#define check_fails(text)	cr_expect(!passes(text), "%s", text)

Test(filter, comparisons)
{
	check_passes("id == -7");
	check_fails("id == 7");
	check_passes("id != 7");
	check_fails("id != -7");
	check_passes("id < -6");
	check_fails("id < -7");
	check_passes("id <= -7");
	check_fails("id <= -8");
	check_passes("id > -8");
	check_fails("id > -7");
	check_passes("id >= -7");
	check_fails("id >= -6");
	check_passes("state & 1");
	check_passes("state & 6");
	check_fails("state & 4");
}

Test(filter, a_system_call_is_told_by_its_registers)
{
	check_passes("nr == 4712 && pid == 4711");
	check_fails("nr == 4711");
}

Test(filter, each_type_has_its_width_and_sign)
{
	check_passes("id < 0");
	check_passes("state == 3");
	check_passes("state < 4");
	check_passes("cpu == -2");
	check_passes("cpu < 0");
	check_passes("preempt == 1");
	check_passes("pid == 4711");
	check_fails("pid == 4712");
	check_passes("arg0 > 0x7fffffffffffffff");
	check_passes("arg0 == 9223372036854775813");
	check_passes("arg2 > 4");
	check_passes("arg1 == -7");
	check_passes("arg1 < -6");
}

Test(filter, numbers)
{
	check_passes("state == 0x3");
	check_passes("state == 0X3");
	check_passes("state==0003");
	check_passes("pid == 011147");
	check_passes("arg1 == 0xfffffffffffffff9");
	check_passes("arg1 == 0xFFFFFFFFFFFFFFF9");
	check_passes("arg1 == 18446744073709551609");
	check_passes("id > -9223372036854775808");
	check_passes("id == -0x7");
}

Test(filter, together)
{
	check_passes("id == -7 && state == 3");
	check_fails("id == -7 && state == 4");
	check_fails("id == 7 && state == 3");
	check_passes("id == 7 || state == 3");
	check_passes("id == -7 || state == 4");
	check_fails("id == 7 || state == 4");
}

/* Each of three is true or false: all of C's answers */
Test(filter, and_binds_closer_and_parentheses_bind_closest)
{
	static const char *const term[] = { "id==0", "id==-7" };
	char text[200];

	for (unsigned int i = 0; i < 8; i++) {
		bool a = i & 1, b = i & 2, c = i & 4;

		snprintf(text, sizeof(text), "%s||%s&&%s", term[a], term[b], term[c]);
		cr_expect_eq(passes(text), a || (b && c), "%s", text);
		snprintf(text, sizeof(text), "%s&&%s||%s", term[a], term[b], term[c]);
		cr_expect_eq(passes(text), (a && b) || c, "%s", text);
		snprintf(text, sizeof(text), "(%s || %s) && %s", term[a], term[b],
			 term[c]);
		cr_expect_eq(passes(text), (a || b) && c, "%s", text);
		snprintf(text, sizeof(text), "%s && ( %s || (%s) )", term[a], term[b],
			 term[c]);
		cr_expect_eq(passes(text), a && (b || c), "%s", text);
	}
}

Test(filter, blanks_do_not_matter)
{
	check_passes("  id==-7&&state&2  ");
	check_passes("id   ==\t-7\n&&\nstate & 2");
	check_passes("state&2&&id==-7");
}

Test(filter, looking_at_arguments_by_number_is_told)
{
	cr_assert_eq(parse("id == 1 && state != 2", NULL, NULL), 0);
	cr_expect(!filter->raw);
	cr_assert_eq(parse("id == 1 && arg5 != 2", NULL, NULL), 0);
	cr_expect(filter->raw);
}

Test(filter, not)
{
	check_passes("!id == 7");
	check_passes("! id == 7 && state == 3");
	check_fails("!(id == 7 || state == 3)");
	check_passes("!!(id == -7)");
	check_passes("!(id == 7) && !(state == 2)");
	check_fails("!(!(id == 7) && state == 3)");
}

Test(filter, strings)
{
	check_passes("comm == \"sh\"");
	check_passes("comm == 'sh'");
	check_fails("comm == 'bash'");
	check_fails("comm == 's'");
	check_passes("comm != 'bash' && id == -7");
	check_passes("comm ~ 's*'");
	check_fails("comm ~ 'b*'");
	check_passes("comm ~ '!b*'");
	check_passes("comm ~ '[rs]?'");
	check_passes("comm ~ 'sh'");
	check_fails("comm == \"\"");
	check_passes("comm == 'a b && c' || comm == \"it's\" || comm ~ \"*h\"");
}

/* A bracket that nothing closes is an ordinary character, also for who looks for its end. */
Test(filter, patterns_with_brackets)
{
	static const struct {
		const char *pattern;
		const char *text;
	} patterns[] = {
		{ "[ab]", "[ab]" }, { "[ab", "\\[ab" }, { "[", "\\[" }, { "*[[[", "*\\[\\[\\[" },
		{ "[]", "\\[]" }, { "[]]", "[]]" }, { "[!]", "\\[!]" }, { "[!]]x", "[!]]x" },
		{ "[a-]", "[a-]" }, { "[a-", "\\[a-" }, { "[--]]", "[--]]" }, { "[[x]", "[[x]" },
		{ "[a]b[c", "[a]b\\[c" }, { "\\[[", "\\[\\[" }, { "\\", "\\" }, { "\\\\[", "\\\\\\[" },
	};
	char text[40];

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		snprintf(text, sizeof(text), "comm ~ '%s'", patterns[i].pattern);
		cr_assert_eq(parse(text, NULL, NULL), 0);
		cr_expect_str_eq(filter->terms[0].text, patterns[i].text);
	}
	check_passes("comm ~ '[s]h' && comm ~ '[!a]h' && comm ~ 's[a-h]'");
	check_fails("comm ~ 's[h'");
	check_passes("comm ~ '[--s][a-][h]' || comm ~ '[]s][^h]'");
	check_passes("comm ~ '*s?' && comm ~ '*?h' && comm ~ '**' && comm ~ 'sh*' && comm ~ '\\s\\h\\'");
	check_fails("comm ~ 'sh?' || comm ~ '' || comm ~ 's' || comm ~ 'h*' || comm ~ '*s' || comm ~ '*?s?*'");
	/* The end is no character. */
	check_fails("comm ~ 'sh[!x]' || comm ~ '*[!x][!x][!x]' || comm ~ 'sh[!x]*' || comm ~ '*h?'");
}

/* Steps, of which a pattern may need many: what follows its first star, from each character */
Test(filter, what_it_costs_at_most)
{
	static const struct {
		const char *text;
		u32 work;
	} filters[] = {
		{ "id == 1", 1 }, { "id == 1 || id == 2", 3 }, { "!(id == 1)", 2 },
		{ "comm == 'sh'", 11 }, { "comm != 'a longer name'", 1 + 8 + 16 / 6 + 13 / 3 },
		{ "comm ~ 'sh'", 11 }, { "comm ~ 'longer*'", 1 + 8 + 16 / 6 + 7 / 3 },
		{ "comm ~ '[*]longer'", 1 + 8 + 16 / 6 + 3 }, { "comm ~ '\\*longer'", 11 + 2 },
		{ "comm ~ '!*x*'", 11 + 1 + 16 * 3 / 3 }, { "comm ~ 'abc*de'", 11 + 2 + 16 * 3 / 3 },
		{ "ubyte == 1", 3 }, { "text ~ '*x'", 3 + 8 + 8 / 6 + 8 * 2 / 3 }, { "text == 'x'", 12 },
		{ "loc == 'x'", 3 + 8 + 256 / 6 }, { "loc ~ 'x*'", 3 + 8 + 256 / 6 },
		{ "rel ~ '*x'", 3 + 8 + 256 / 6 + 8192 * 2 / 3 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		cr_assert_eq(parse(filters[i].text, of_record, NULL), 0);
		cr_expect_eq(filter->work, filters[i].work, "%s: %u", filters[i].text, filter->work);
	}
}

Test(filter, who_runs)
{
	check_passes("common_pid == 99");
	check_passes("COMM == 'cc1'");
	check_fails("COMM == 'sh'");
	cr_expect(passes_of_record("CPU == 3 && common_pid != 12"));
	/* The tracepoint's come before. */
	check_passes("comm == 'sh' && cpu == -2");
}

Test(filter, what_is_in_the_record)
{
	static const char *const yes[] = {
		"text == 'abc'", "text ~ 'a*'", "loc == 'xyz'", "rel == 'a/b c.d'", "rel ~ '*c.d'",
		"byte == -2", "byte < 0", "byte == 254", "ubyte == 254", "ubyte > 0", "ubyte == -2",
		"word & 0x8000", "word == 32768", "large > 0x7fffffffffffffff", "large == -2",
		"id == -7 && text != 'xyz'", "behind == 0", "after != 'x'",
	};
	static const char *const no[] = {
		"text == 'ab'", "loc ~ 'a*'", "byte > 0", "ubyte < 0", "word < 0", "after == ''",
		"!(text == 'abc')",
	};

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		cr_expect(passes_of_record(yes[i]), "%s", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		cr_expect(!passes_of_record(no[i]), "%s", no[i]);
}

Test(filter, a_record_that_says_more_than_it_has)
{
	struct record bad = record;

	bad.loc = 100 << 16 | offsetof(struct record, strings);
	cr_expect(!passes_with("loc == 'xyz'", &bad, sizeof(bad)));
	bad.loc = 2 << 16 | offsetof(struct record, strings);
	cr_expect(!passes_with("loc ~ 'x*'", &bad, sizeof(bad)));
	bad.loc = 0xffffffff;
	cr_expect(!passes_with("loc == ''", &bad, sizeof(bad)));
	bad.rel = 0xffffffff;
	cr_expect(!passes_with("rel == ''", &bad, sizeof(bad)));
	memset(bad.text, 'x', sizeof(bad.text));
	cr_expect(!passes_with("text ~ 'x*'", &bad, sizeof(bad)));
	/* Behind the end of a string there may be anything, if that is not far. */
	bad.text[3] = '\0';
	cr_expect(passes_with("text == 'xxx'", &bad, sizeof(bad)));
	for (u32 size = 0; size < sizeof(bad); size++)
		passes_with("text ~ '*' || loc != '' || rel ~ 'a*' || large == 1", &bad, size);
}

Test(filter, without_a_record_nothing_passes)
{
	const struct filter_hit hit = { args, NULL, 0 };

	cr_assert_eq(parse("text == 'xyz' && id == 1", of_record, NULL), 0);
	cr_expect(filter_lacks_record(filter, &hit));
	cr_expect(!filter_passes(filter, &hit));
	cr_assert_eq(parse("!(text == 'xyz')", of_record, NULL), 0);
	cr_expect(!filter_passes(filter, &hit));
	cr_assert_eq(parse("id == 1", of_record, NULL), 0);
	cr_expect(!filter_lacks_record(filter, &hit));
	cr_expect(!filter_passes(filter, &hit));
}

static void check_refused_of(const struct filter_field *in_record, const char *text,
			     unsigned int at, const char *what)
{
	struct pmuctl_explanation why = { .size = 0 };
	char sentence[208];

	snprintf(sentence, sizeof(sentence), "the filter cannot be understood at character %u: %s", at, what);
	cr_assert_eq(parse(text, in_record, &why), -EINVAL, "%s", text);
	cr_expect_eq(why.code, PMUCTL_WHY_FILTER_TEXT);
	cr_expect_str_eq(why.field, "filter");
	cr_expect_str_eq(why.sentence, sentence, "%s: %s", text, why.sentence);
}

static void check_refused(const char *text, unsigned int at, const char *what)
{
	check_refused_of(NULL, text, at, what);
}

Test(filter, mistakes_have_their_place)
{
	static const char name[] = "a name is expected, as arg0",
		unknown[] = "without PERF_SAMPLE_RAW it tells nothing of this name",
		fewer[] = "the tracepoint has fewer arguments",
		comparison[] = "a comparison is expected: == != < <= > >= &",
		number[] = "a number is expected",
		large[] = "the number has more than 64 bits",
		digit[] = "this is no digit",
		closing[] = "a closing parenthesis is expected",
		end[] = "the end, && or || is expected";

	check_refused("", 1, name);
	check_refused("   ", 4, name);
	check_refused("ip == 1", 1, unknown);
	check_refused("id == 1 && ids == 1", 12, unknown);
	check_refused("arg == 1", 1, unknown);
	check_refused("arg123 == 1", 1, unknown);
	check_refused("later == 1", 1, unknown);
	check_refused("arg6 == 1", 1, fewer);
	check_refused("arg12 == 1", 1, fewer);
	check_refused("id", 3, comparison);
	check_refused("id = 1", 4, comparison);
	check_refused("id && 1", 4, comparison);
	check_refused("id ==", 6, number);
	check_refused("id == x", 7, number);
	check_refused("id == - ", 9, number);
	check_refused("id == 0x", 7, number);
	check_refused("id == 18446744073709551616", 7, large);
	check_refused("id == 0x10000000000000000", 7, large);
	check_refused("id == -9223372036854775809", 8, large);
	check_refused("id == 12a", 9, digit);
	check_refused("id == 0x1g", 10, digit);
	check_refused("(id == 1", 9, closing);
	check_refused("(id == 1 || (id == 2)", 22, closing);
	check_refused("id == 1)", 8, end);
	check_refused("id == 1 id == 2", 9, end);
	check_refused("id == 1 | id == 2", 9, end);
	check_refused("id == 1 &&", 11, name);
	check_refused("()", 2, name);
	check_refused("!", 2, name);
	check_refused("!= 1", 2, name);
	check_refused("id ~ 's'", 4, comparison);
	check_refused("id == 's'", 7, number);
	check_refused("id == 08", 8, digit);
}

Test(filter, mistakes_with_strings_have_their_place)
{
	static const char quotes[] = "a string in quotes is expected";
	char text[300];

	check_refused("comm == sh", 9, quotes);
	check_refused("comm == 1", 9, quotes);
	check_refused("comm ==", 8, quotes);
	check_refused("comm == 'sh\"", 9, "the end of this string is missing");
	check_refused("comm", 5, "a comparison is expected: == != ~");
	check_refused("comm && id", 6, "a comparison is expected: == != ~");
	check_refused("comm < 'sh'", 6, "a string is compared by == != ~");
	check_refused("comm & 1", 6, "a string is compared by == != ~");
	memcpy(text, "comm == '", 9);
	memset(text + 9, 'x', 256);
	strcpy(text + 9 + 256, "'");
	check_refused(text, 10, "this string has more than 255 characters");
	strcpy(text + 9 + 255, "'");
	check_fails(text);
	check_refused_of(of_record, "nonesuch == 1", 1, "the tracepoint tells nothing of this name");
	check_refused_of(of_record, "strings == 'x'", 1, "this is neither a number nor a string");
}

Test(filter, too_much)
{
	static char text[FILTER_TEXT_MAX] = "id==1";

	/* As long as one can be */
	for (size_t n = strlen(text); n + 8 < sizeof(text); n += 7)
		memcpy(text + n, "||id==1", 8);
	check_fails(text);
	cr_expect_gt(filter->nr_terms, 500);
	memcpy(text, "!!!!!", 5);
	text[5] = '\0';
	strcat(text, "!!!!!!!!!!!id==-7");
	check_passes(text);
	check_refused("!!!!!!!!!!!!!!!!!id==-7", 17, "there is too much around this");
	check_passes("((((((((((((((((id==-7))))))))))))))))");
	check_refused("(((((((((((((((((id==-7)))))))))))))))))", 17,
		      "there are too many parentheses around this");
}

/* ---- Random texts ---- */

Test(filter, random_pieces_are_understood_or_refused)
{
	static const char *const pieces[] = { "id", "state", "arg0", "arg11", "cpu",
		"==", "!=", "<", "<=", ">", ">=", "&", "&&", "||", "(", ")", " ", "-",
		"0", "0x", "17", "ffff", "99999999999999999999", "=", "|", "!", "\t",
		"preempt", "pid", "x", "\x80", "\xff", "comm", "~", "'s*'", "\"", "'", "common_pid" };
	unsigned int understood = 0;

	srandom(1);
	for (int round = 0; round < 200000; round++) {
		struct pmuctl_explanation why = { .size = 0 };
		const struct filter_hit hit = { args, NULL, 0 };
		char text[512] = "";
		unsigned int at;

		for (int n = random() % 24; n; n--)
			strcat(text, pieces[random() % ARRAY_SIZE(pieces)]);
		if (!parse(text, NULL, &why)) {
			filter_passes(filter, &hit);
			understood++;
			continue;
		}
		cr_assert_eq(sscanf(why.sentence, "the filter cannot be understood at character %u:", &at), 1);
		cr_assert(at >= 1 && at <= strlen(text) + 1, "%s: %u", text, at);
	}
	cr_assert_gt(understood, 5);
}

/* Texts that mean something, made along the grammar; C says what they mean. */
static bool make(char *text, unsigned int depth)
{
	static const struct {
		const char *text;
		bool passes;
	} terms[] = { { "id==-7", true }, { "id>0", false }, { "state&3", true },
		{ "cpu>=0", false }, { "arg5!=0", true }, { "comm=='sh'", true },
		{ "!comm=='sh'", false } };
	char left[200], right[200];
	bool a, b, is_or = random() & 1;

	if (!depth || random() % 4 == 0) {
		unsigned int i = random() % ARRAY_SIZE(terms);

		strcpy(text, terms[i].text);
		return terms[i].passes;
	}
	a = make(left, depth - 1);
	b = make(right, depth - 1);
	sprintf(text, "(%s)%s(%s)", left, is_or ? "||" : "&&", right);
	return is_or ? a || b : a && b;
}

Test(filter, random_filters_mean_what_they_say)
{
	char text[512];

	srandom(2);
	for (int round = 0; round < 20000; round++) {
		bool expected = make(text, 4);

		cr_assert_eq(passes(text), expected, "%s", text);
	}
}
