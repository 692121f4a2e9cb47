// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: parsing, by recursive descent with a limited depth. Pure logic: compiles in user space
 * too.
 */
#include "explain/explain.h"
#include "soft/filter.h"

/**
 * struct parse - a filter that is being parsed
 * @text: all of it.
 * @at: the next character.
 * @names: see filter_parse().
 * @filter: the result.
 * @strings: where the next string of it goes.
 * @depth: open parentheses.
 * @why: filled on refusal.
 */
struct parse {
	const char *text;
	const char *at;
	const struct filter_names *names;
	struct filter *filter;
	char *strings;
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

/* Whatever the tracepoint tells; as the kernel has them, whose fields of an event come before. */
static const struct filter_field of_who_runs[] = {
	{ .name = "common_pid", .type = FILTER_CURRENT_PID },
	{ .name = "comm", .type = FILTER_CURRENT_COMM },
	{ .name = "COMM", .type = FILTER_CURRENT_COMM },
	{ .name = "cpu", .type = FILTER_CURRENT_CPU },
	{ .name = "CPU", .type = FILTER_CURRENT_CPU },
	{ }
};

static const struct filter_field *find_in(const struct filter_field *fields, const char *name,
					  size_t length)
{
	for (; fields->name; fields++)
		if (strlen(fields->name) == length && !strncmp(fields->name, name, length))
			return fields;
	return NULL;
}

/* An older kernel's tracepoint may lack the last ones. */
static const struct filter_field *find_argument(const struct parse *p, const char *name,
						size_t length)
{
	const struct filter_field *field = find_in(p->names->args, name, length);

	return field && field->arg < p->names->nr_args ? field : NULL;
}

static bool find_field(const struct parse *p, const char *name, size_t length,
		       struct filter_term *term)
{
	const struct filter_field *field = NULL;

	if (p->names->record)
		field = find_in(p->names->record, name, length);
	if (!field)
		field = find_argument(p, name, length);
	if (!field)
		field = find_in(of_who_runs, name, length);
	if (!field)
		return false;
	term->arg = field->arg;
	term->type = field->type;
	term->offset = field->offset;
	term->size = field->size;
	return true;
}

static bool is_of_record(u8 type)
{
	return type >= FILTER_RECORD && type <= FILTER_RECORD_OTHER;
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
	if (find_field(p, name, length, term)) {
		if (term->type == FILTER_RECORD_OTHER)
			return fail(p, name, "this is neither a number nor a string");
		p->filter->record |= is_of_record(term->type);
		return 0;
	}
	arg = arg_number(name, length);
	if (arg < 0)
		return fail(p, name, p->names->record ?
				     "the tracepoint tells nothing of this name" :
				     "without PERF_SAMPLE_RAW it tells nothing of this name");
	if (arg >= (int)p->names->nr_args)
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
		{ "&", FILTER_BITS }, { "~", FILTER_GLOB },
	};
	const bool text = filter_is_text(term->type);
	const char *at;
	unsigned int i;

	skip_space(p);
	at = p->at;
	for (i = 0; i < ARRAY_SIZE(operators); i++) {
		term->op = operators[i].op;
		if (term->op == FILTER_BITS && at[0] == '&' && at[1] == '&')
			continue;
		if (!take(p, operators[i].text))
			continue;
		if (text && term->op != FILTER_EQ && term->op != FILTER_NE &&
		    term->op != FILTER_GLOB)
			return fail(p, at, "a string is compared by == != ~");
		if (!text && term->op == FILTER_GLOB)
			break;
		return 0;
	}
	return fail(p, at, text ? "a comparison is expected: == != ~" :
				  "a comparison is expected: == != < <= > >= &");
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
	} else if (start[0] == '0') {
		base = 8;
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
	if (is_of_record(term->type))
		term->number = filter_narrow(term, term->number);
	return 0;
}

/* The most characters that a string may have which is compared */
static u32 longest(const struct filter_term *term)
{
	switch (term->type) {
	case FILTER_TASK_COMM:
	case FILTER_CURRENT_COMM:
		return FILTER_COMM_SIZE;
	case FILTER_RECORD_TEXT:
		return term->size;
	default:
		return FILTER_LONGEST;
	}
}

/* How long a class of characters is that begins with a bracket; 0: it has no end */
static size_t class_length(const char *at, const char *end)
{
	const char *c = at + 1;

	if (c < end && *c == '!')
		c++;
	while (c < end) {
		c += end - c > 2 && c[1] == '-' && c[2] != ']' ? 3 : 1;
		if (c < end && *c == ']')
			return c + 1 - at;
	}
	return 0;
}

/*
 * A pattern, in which each class of characters has its end: a bracket without one is an ordinary
 * character, and is made to look like one. Returns how many characters follow its first star,
 * behind which it may begin anew at each character of a string.
 */
static size_t copy_pattern(struct parse *p, const char *at, const char *end)
{
	const char *star = NULL;
	size_t length;

	for (; at < end; at += length) {
		length = 1;
		if (*at == '[')
			length = class_length(at, end);
		else if (*at == '\\' && end - at > 1)
			length = 2;
		else if (*at == '*' && !star)
			star = at;
		if (!length) {
			*p->strings++ = '\\';
			length = 1;
		}
		memcpy(p->strings, at, length);
		p->strings += length;
	}
	return star ? end - star - 1 : 0;
}

/* A step is three characters, or six of which an end is looked for. */
static void add_string(struct parse *p, struct filter_term *term, const char *at,
		       const char *end)
{
	const u32 most = longest(term);
	size_t anew = 0;

	term->text = p->strings;
	if (term->op == FILTER_GLOB || term->op == FILTER_NOT_GLOB) {
		anew = copy_pattern(p, at, end);
	} else {
		memcpy(p->strings, at, end - at);
		p->strings += end - at;
	}
	*p->strings++ = '\0';
	p->filter->work += 8 + min_t(u32, most, FILTER_STRING_MAX) / 6 + (end - at) / 3;
	if (anew)
		p->filter->work += most * (anew + 1) / 3;
}

static int parse_string(struct parse *p, struct filter_term *term)
{
	const char *end;

	skip_space(p);
	if (*p->at != '"' && *p->at != '\'')
		return fail(p, p->at, "a string in quotes is expected");
	end = strchr(p->at + 1, *p->at);
	if (!end)
		return fail(p, p->at, "the end of this string is missing");
	p->at++;
	if (term->op == FILTER_GLOB && *p->at == '!') {
		term->op = FILTER_NOT_GLOB;
		p->at++;
	}
	if (end - p->at >= FILTER_STRING_MAX)
		return fail(p, p->at, "this string has more than 255 characters");
	add_string(p, term, p->at, end);
	p->at = end + 1;
	return 0;
}

static int add_code(struct parse *p, u16 code)
{
	p->filter->code[p->filter->nr_code++] = code;
	p->filter->work++;
	return 0;
}

/* What is in a record takes two steps more. */
static int add_comparison(struct parse *p)
{
	if (is_of_record(p->filter->terms[p->filter->nr_terms].type))
		p->filter->work += 2;
	return add_code(p, p->filter->nr_terms++);
}

static int parse_comparison(struct parse *p)
{
	struct filter_term *term;
	int err;

	term = &p->filter->terms[p->filter->nr_terms];
	err = parse_name(p, term);
	if (!err)
		err = parse_operator(p, term);
	if (!err)
		err = filter_is_text(term->type) ? parse_string(p, term) : parse_number(p, term);
	return err ? err : add_comparison(p);
}

/* ---- What is made of them ---- */

static int parse_or(struct parse *p);

static int parse_in_parentheses(struct parse *p)
{
	int err = parse_or(p);

	if (err)
		return err;
	return take(p, ")") ? 0 : fail(p, p->at, "a closing parenthesis is expected");
}

static int parse_term(struct parse *p)
{
	const bool negated = take(p, "!");
	int err;

	if (!negated && !take(p, "("))
		return parse_comparison(p);
	if (++p->depth > FILTER_DEPTH_MAX)
		return fail(p, p->at - 1, negated ? "there is too much around this" :
					  "there are too many parentheses around this");
	err = negated ? parse_term(p) : parse_in_parentheses(p);
	p->depth--;
	if (!err && negated)
		err = add_code(p, FILTER_NOT);
	return err;
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

/* At most: two of these stand before each comparison but the first. */
static unsigned int count_terms(const char *text)
{
	unsigned int n = 0;

	for (; *text; text++)
		n += *text == '&' || *text == '|';
	return n / 2 + 1;
}

/* Of each comparison there is one operation less than comparisons, and each ! has one. */
static unsigned int count_code(const char *text)
{
	unsigned int n = 2 * count_terms(text);

	for (; *text; text++)
		n += *text == '!';
	return n;
}

/* Its strings: each bracket may have a backslash more. */
static size_t count_characters(const char *text)
{
	size_t n = strlen(text) + 1;

	for (; *text; text++)
		n += *text == '[';
	return n;
}

size_t filter_size(const char *text)
{
	return sizeof(struct filter) + count_terms(text) * sizeof(struct filter_term) +
	       count_code(text) * sizeof(u16) + count_characters(text);
}

int filter_parse(const char *text, const struct filter_names *names, struct filter *filter,
		 struct pmuctl_explanation *why)
{
	struct parse p = {
		.text = text, .at = text, .names = names, .filter = filter, .why = why,
	};
	int err;

	memset(filter, 0, filter_size(text));
	filter->terms = (struct filter_term *)filter->memory;
	filter->code = (u16 *)(filter->terms + count_terms(text));
	p.strings = (char *)(filter->code + count_code(text));
	err = parse_or(&p);
	if (err)
		return err;
	skip_space(&p);
	return *p.at ? fail(&p, p.at, "the end, && or || is expected") : 0;
}
