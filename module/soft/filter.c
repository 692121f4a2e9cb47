// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: parsing, by recursive descent with a limited depth, and running. Pure logic:
 * compiles in user space too.
 */
#include "explain/explain.h"
#include "soft/filter.h"

/**
 * struct parse - a filter that is being parsed
 * @text: all of it.
 * @at: the next character.
 * @fields: see filter_parse().
 * @nr_args: likewise.
 * @filter: the result.
 * @depth: open parentheses.
 * @why: filled on refusal.
 */
struct parse {
	const char *text;
	const char *at;
	const struct filter_field *fields;
	unsigned int nr_args;
	struct filter *filter;
	unsigned int depth;
	struct pmuctl_explanation *why;
};

/* @what is wrong at a character */
static int fail(const struct parse *p, const char *at, const char *what)
{
	return pmuctl_refuse(p->why, FILTER_TEXT, "filter",
			     (unsigned int)(at - p->text) + 1, what);
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_of_name(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       is_digit(c);
}

static void skip_space(struct parse *p)
{
	while (is_space(*p->at))
		p->at++;
}

/* Take @word if it comes next. */
static bool take(struct parse *p, const char *word)
{
	skip_space(p);
	if (strncmp(p->at, word, strlen(word)))
		return false;
	p->at += strlen(word);
	return true;
}

/* ---- One comparison ---- */

static bool find_field(const struct parse *p, const char *name, size_t length,
		       struct filter_term *term)
{
	const struct filter_field *field;

	for (field = p->fields; field->name; field++) {
		if (strlen(field->name) != length ||
		    strncmp(field->name, name, length))
			continue;
		term->arg = field->arg;
		term->type = field->type;
		return true;
	}
	return false;
}

/* "arg7"; -1 if it is none */
static int arg_number(const char *name, size_t length)
{
	int n = 0;

	if (length < 4 || length > 5 || strncmp(name, "arg", 3))
		return -1;
	for (name += 3, length -= 3; length; name++, length--) {
		if (!is_digit(*name))
			return -1;
		n = 10 * n + *name - '0';
	}
	return n;
}

static int parse_name(struct parse *p, struct filter_term *term)
{
	const char *name;
	size_t length;
	int arg;

	skip_space(p);
	name = p->at;
	while (is_of_name(*p->at))
		p->at++;
	length = p->at - name;
	if (!length)
		return fail(p, name, "a name is expected, as arg0");
	if (find_field(p, name, length, term))
		return 0;
	arg = arg_number(name, length);
	if (arg < 0)
		return fail(p, name, "the tracepoint tells nothing of this name");
	if (arg >= (int)p->nr_args)
		return fail(p, name, "the tracepoint has fewer arguments");
	term->arg = arg;
	term->type = FILTER_U64;
	p->filter->raw = true;
	return 0;
}

static int parse_operator(struct parse *p, struct filter_term *term)
{
	/* Longer ones before those that they begin with */
	static const struct {
		const char *text;
		enum filter_operator op;
	} operators[] = {
		{ "==", FILTER_EQ }, { "!=", FILTER_NE }, { "<=", FILTER_LE },
		{ ">=", FILTER_GE }, { "<", FILTER_LT }, { ">", FILTER_GT },
		{ "&", FILTER_BITS },
	};
	unsigned int i;

	skip_space(p);
	for (i = 0; i < ARRAY_SIZE(operators); i++) {
		if (operators[i].op == FILTER_BITS && p->at[0] == '&' && p->at[1] == '&')
			break;
		if (take(p, operators[i].text)) {
			term->op = operators[i].op;
			return 0;
		}
	}
	return fail(p, p->at, "a comparison is expected: == != < <= > >= &");
}

/* The value of a digit, 16 if it is none */
static unsigned int digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

static int parse_number(struct parse *p, struct filter_term *term)
{
	unsigned int base = 10;
	bool negative = take(p, "-");
	const char *start = p->at;
	u64 number = 0;

	skip_space(p);
	start = p->at;
	if (start[0] == '0' && (start[1] | 0x20) == 'x') {
		base = 16;
		p->at += 2;
	}
	if (digit(*p->at) >= base)
		return fail(p, start, "a number is expected");
	for (; digit(*p->at) < base; p->at++) {
		if (number > (~0ULL - digit(*p->at)) / base)
			return fail(p, start, "the number has more than 64 bits");
		number = number * base + digit(*p->at);
	}
	if (is_of_name(*p->at))
		return fail(p, p->at, "this is no digit");
	if (negative && number > 1ULL << 63)
		return fail(p, start, "the number has more than 64 bits");
	term->number = negative ? -number : number;
	if (negative && term->type == FILTER_U64)
		term->type = FILTER_S64;
	return 0;
}

static int add_code(struct parse *p, u8 code)
{
	/* There is one operation less than terms. */
	p->filter->code[p->filter->nr_code++] = code;
	return 0;
}

static int parse_comparison(struct parse *p)
{
	struct filter_term *term;
	int err;

	skip_space(p);
	if (p->filter->nr_terms == FILTER_TERMS_MAX)
		return fail(p, p->at, "there are too many comparisons before this");
	term = &p->filter->terms[p->filter->nr_terms];
	err = parse_name(p, term);
	if (!err)
		err = parse_operator(p, term);
	if (!err)
		err = parse_number(p, term);
	return err ? err : add_code(p, p->filter->nr_terms++);
}

/* ---- What is made of them ---- */

static int parse_or(struct parse *p);

static int parse_term(struct parse *p)
{
	int err;

	if (!take(p, "("))
		return parse_comparison(p);
	if (++p->depth > FILTER_DEPTH_MAX)
		return fail(p, p->at - 1, "there are too many parentheses around this");
	err = parse_or(p);
	if (err)
		return err;
	p->depth--;
	return take(p, ")") ? 0 : fail(p, p->at, "a closing parenthesis is expected");
}

static int parse_and(struct parse *p)
{
	int err = parse_term(p);

	while (!err && take(p, "&&")) {
		err = parse_term(p);
		if (!err)
			err = add_code(p, FILTER_AND);
	}
	return err;
}

static int parse_or(struct parse *p)
{
	int err = parse_and(p);

	while (!err && take(p, "||")) {
		err = parse_and(p);
		if (!err)
			err = add_code(p, FILTER_OR);
	}
	return err;
}

int filter_parse(const char *text, const struct filter_field *fields,
		 unsigned int nr_args, struct filter *filter,
		 struct pmuctl_explanation *why)
{
	struct parse p = {
		.text = text, .at = text, .fields = fields, .nr_args = nr_args,
		.filter = filter, .why = why,
	};
	int err;

	memset(filter, 0, sizeof(*filter));
	err = parse_or(&p);
	if (err)
		return err;
	skip_space(&p);
	return *p.at ? fail(&p, p.at, "the end, && or || is expected") : 0;
}

/* ---- Running ---- */

static u64 value_of(u8 type, u64 arg)
{
	switch (type) {
	case FILTER_U32:
		return (u32)arg;
	case FILTER_S32:
		return (s64)(s32)arg;
	case FILTER_BOOL:
		return (u8)arg;
	case FILTER_TASK:
		return filter_task_id(arg);
	case FILTER_SYSCALL:
		return filter_syscall_nr(arg);
	default:
		return arg;
	}
}

static bool is_less(u8 type, u64 a, u64 b)
{
	if (type == FILTER_U64)
		return a < b;
	return (s64)a < (s64)b;
}

static bool compare(const struct filter_term *term, const u64 *args)
{
	u64 value = value_of(term->type, args[term->arg]);

	switch (term->op) {
	case FILTER_EQ:
		return value == term->number;
	case FILTER_NE:
		return value != term->number;
	case FILTER_LT:
		return is_less(term->type, value, term->number);
	case FILTER_LE:
		return !is_less(term->type, term->number, value);
	case FILTER_GT:
		return is_less(term->type, term->number, value);
	case FILTER_GE:
		return !is_less(term->type, value, term->number);
	default:
		return value & term->number;
	}
}

bool filter_passes(const struct filter *filter, const u64 *args)
{
	u64 results = 0; /* a stack of bits; the last one is the lowest */
	unsigned int i;

	for (i = 0; i < filter->nr_code; i++) {
		u8 code = filter->code[i];
		u64 last = results & 1;

		if (code == FILTER_AND)
			results = (results >> 1) & (last | ~1ULL);
		else if (code == FILTER_OR)
			results = results >> 1 | last;
		else
			results = results << 1 | compare(&filter->terms[code], args);
	}
	return results & 1;
}
