// SPDX-License-Identifier: GPL-2.0-only
/*
 * Formulas of metrics, in the language of perf's: numbers, names of events, + - * /, < and >,
 * A if CONDITION else B, min(A, B), max(A, B), d_ratio(A, B), which is 0 where B is, #SMT_on.
 * A minus that is not part of a name has a space before it.
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metric/metric.h"

/**
 * struct reader - where in a formula
 * @at: what comes next.
 * @facts: what names stand for.
 * @visit: told of each event instead of its count being asked for; NULL: not so.
 * @arg: for @visit.
 * @idle: inside what a condition leaves out.
 * @is_missing: an event has no count.
 * @is_wrong: it is no formula.
 */
struct reader {
	const char *at;
	const struct metric_facts *facts;
	void (*visit)(void *arg, const char *name);
	void *arg;
	bool idle;
	bool is_missing;
	bool is_wrong;
};

static double read_choice(struct reader *r);

static bool take(struct reader *r, const char *token)
{
	size_t length = strlen(token);

	r->at += strspn(r->at, " ");
	if (strncmp(r->at, token, length) != 0)
		return false;
	if (isalpha((unsigned char)*token) && (isalnum((unsigned char)r->at[length]) ||
					       r->at[length] == '_'))
		return false;
	r->at += length;
	return true;
}

static void expect(struct reader *r, const char *token)
{
	if (!take(r, token))
		r->is_wrong = true;
}

static double read_function(struct reader *r, const char *name)
{
	double a, b;

	expect(r, "(");
	a = read_choice(r);
	expect(r, ",");
	b = read_choice(r);
	expect(r, ")");
	if (!strcmp(name, "d_ratio"))
		return b != 0 ? a / b : 0;
	/* Unlike fmin() and fmax(): what is no number stays none. */
	if (isnan(a) || isnan(b))
		return NAN;
	return !strcmp(name, "min") ? fmin(a, b) : fmax(a, b);
}

static double read_event(struct reader *r, const char *name)
{
	double count = 0;

	if (r->idle)
		return 0;
	if (r->visit)
		r->visit(r->arg, name);
	else if (!r->facts->count(r->facts->arg, name, &count))
		r->is_missing = true;
	return count;
}

static double read_name(struct reader *r)
{
	static const char others[] = "_.-:";
	char name[METRIC_NAME_SIZE];
	size_t length = 0;

	while (isalnum((unsigned char)r->at[length]) ||
	       (r->at[length] && strchr(others, r->at[length])))
		length++;
	if (!length || length >= sizeof(name)) {
		r->is_wrong = true;
		return 0;
	}
	memcpy(name, r->at, length);
	name[length] = '\0';
	r->at += length;
	if (!strcmp(name, "min") || !strcmp(name, "max") || !strcmp(name, "d_ratio"))
		return read_function(r, name);
	return read_event(r, name);
}

static double read_atom(struct reader *r)
{
	double value;
	char *end;

	if (take(r, "(")) {
		value = read_choice(r);
		expect(r, ")");
		return value;
	}
	if (take(r, "-"))
		return -read_atom(r);
	if (take(r, "#SMT_on"))
		return r->facts->smt_on;
	if (!isdigit((unsigned char)*r->at))
		return read_name(r);
	value = strtod(r->at, &end);
	r->at = end;
	return value;
}

static double read_product(struct reader *r)
{
	double value = read_atom(r);

	while (!r->is_wrong) {
		if (take(r, "*"))
			value *= read_atom(r);
		else if (take(r, "/"))
			value /= read_atom(r);
		else
			break;
	}
	return value;
}

static double read_sum(struct reader *r)
{
	double value = read_product(r);

	while (!r->is_wrong) {
		if (take(r, "+"))
			value += read_product(r);
		else if (take(r, "-"))
			value -= read_product(r);
		else
			break;
	}
	return value;
}

static double read_condition(struct reader *r)
{
	double value = read_sum(r);

	if (take(r, "<"))
		return value < read_sum(r);
	if (take(r, ">"))
		return value > read_sum(r);
	return value;
}

/* What is left out must not ask for events: it is read again when the condition is known. */
static double read_choice(struct reader *r)
{
	bool idle = r->idle;
	const char *begin, *end;
	double value, condition;

	r->at += strspn(r->at, " ");
	begin = r->at;
	r->idle = true;
	read_condition(r);
	r->idle = idle;
	if (!take(r, "if")) {
		if (idle || r->is_wrong)
			return 0;
		r->at = begin;
		return read_condition(r);
	}
	condition = read_condition(r);
	expect(r, "else");
	r->idle = idle || condition != 0;
	value = read_choice(r);
	r->idle = idle;
	end = r->at;
	if (condition != 0 && !idle) {
		r->at = begin;
		value = read_condition(r);
		r->at = end;
	}
	return value;
}

static double read_all(struct reader *r)
{
	double value = read_choice(r);

	r->at += strspn(r->at, " ");
	if (*r->at)
		r->is_wrong = true;
	return value;
}

/**
 * metric_compute() - the value of a formula
 * @formula: the formula.
 * @facts: of the machine, and the counts.
 * @value: the result.
 *
 * Return: whether there is one: false if an event has no count, for a division by zero, and
 * for what is no formula.
 */
bool metric_compute(const char *formula, const struct metric_facts *facts, double *value)
{
	struct reader r = { .at = formula, .facts = facts };

	*value = read_all(&r);
	return !r.is_wrong && !r.is_missing && isfinite(*value);
}

/**
 * metric_names() - the events that a formula needs
 * @formula: the formula.
 * @smt_on: what a condition may depend on.
 * @visit: told of each, in their order, again each time that it stands there.
 * @arg: for @visit.
 *
 * Return: 0, or -EINVAL for what is no formula.
 */
int metric_names(const char *formula, bool smt_on,
		 void (*visit)(void *arg, const char *name), void *arg)
{
	const struct metric_facts facts = { .smt_on = smt_on };
	struct reader r = { .at = formula, .facts = &facts, .visit = visit, .arg = arg };

	read_all(&r);
	return r.is_wrong ? -EINVAL : 0;
}
