// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of tracepoints: what each says of arguments, where mistakes are found, and random
 * texts, which must be understood or refused, and nothing else.
 */
/* sources: module/soft/filter.c module/explain/explain.c */
#include <stdlib.h>

#include <criterion/criterion.h>

#include "explain/explain.h"
#include "soft/filter.h"

static const struct filter_field fields[] = {
	{ "id", 1, FILTER_S64 },
	{ "state", 2, FILTER_U32 },
	{ "cpu", 3, FILTER_S32 },
	{ "preempt", 4, FILTER_BOOL },
	{ "pid", 5, FILTER_TASK },
	{ "nr", 5, FILTER_SYSCALL },
	{ NULL, 0, 0 },
};

#define NR_ARGS	6

/* A task is where its id is. */
s64 filter_task_id(u64 task)
{
	return *(const int *)(uintptr_t)task;
}

/* And of registers, one more. */
s64 filter_syscall_nr(u64 regs)
{
	return filter_task_id(regs) + 1;
}

static int task = 4711;

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

static bool passes(const char *text)
{
	struct pmuctl_explanation why = { .size = 0 };
	struct filter filter;

	cr_assert_eq(filter_parse(text, fields, NR_ARGS, &filter, &why), 0, "%s: %s",
		     text, why.sentence);
	return filter_passes(&filter, args);
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
	struct filter filter;

	cr_assert_eq(filter_parse("id == 1 && state != 2", fields, NR_ARGS, &filter,
				  NULL), 0);
	cr_expect(!filter.raw);
	cr_assert_eq(filter_parse("id == 1 && arg5 != 2", fields, NR_ARGS, &filter,
				  NULL), 0);
	cr_expect(filter.raw);
}

static void check_refused(const char *text, unsigned int at, const char *what)
{
	struct pmuctl_explanation why = { .size = 0 };
	struct filter filter;
	char sentence[208];

	snprintf(sentence, sizeof(sentence), "the filter cannot be understood at character %u: %s", at, what);
	cr_assert_eq(filter_parse(text, fields, NR_ARGS, &filter, &why), -EINVAL,
		     "%s", text);
	cr_expect_eq(why.code, PMUCTL_WHY_FILTER_TEXT);
	cr_expect_str_eq(why.field, "filter");
	cr_expect_str_eq(why.sentence, sentence, "%s: %s", text, why.sentence);
}

Test(filter, mistakes_have_their_place)
{
	static const char name[] = "a name is expected, as arg0",
		unknown[] = "the tracepoint tells nothing of this name",
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
}

Test(filter, too_much)
{
	char text[400] = "id==1";

	for (int i = 1; i < FILTER_TERMS_MAX; i++)
		strcat(text, "||id==1");
	check_fails(text);
	strcat(text, "||id==1");
	check_refused(text, strlen(text) - 4,
		      "there are too many comparisons before this");

	check_passes("((((((((id==-7))))))))");
	check_refused("(((((((((id==-7)))))))))", 9,
		      "there are too many parentheses around this");
}

/* ---- Random texts ---- */

Test(filter, random_pieces_are_understood_or_refused)
{
	static const char *const pieces[] = { "id", "state", "arg0", "arg11", "cpu",
		"==", "!=", "<", "<=", ">", ">=", "&", "&&", "||", "(", ")", " ", "-",
		"0", "0x", "17", "ffff", "99999999999999999999", "=", "|", "!", "\t",
		"preempt", "pid", "x", "\x80", "\xff" };
	unsigned int understood = 0;

	srandom(1);
	for (int round = 0; round < 200000; round++) {
		struct pmuctl_explanation why = { .size = 0 };
		char text[FILTER_TEXT_MAX] = "";
		struct filter filter;
		unsigned int at;

		for (int n = random() % 24; n; n--)
			strcat(text, pieces[random() % ARRAY_SIZE(pieces)]);
		if (!filter_parse(text, fields, NR_ARGS, &filter, &why)) {
			filter_passes(&filter, args);
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
		{ "cpu>=0", false }, { "arg5!=0", true } };
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
	char text[FILTER_TEXT_MAX * 2];

	srandom(2);
	for (int round = 0; round < 20000; round++) {
		bool expected = make(text, 4);

		cr_assert_eq(passes(text), expected, "%s", text);
	}
}
