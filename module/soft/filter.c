// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: running. Pure logic: compiles in user space too.
 */
#include "soft/filter.h"
#include "soft/filter_kernel.h"

bool filter_is_text(u8 type)
{
	return type == FILTER_TASK_COMM || type == FILTER_CURRENT_COMM ||
	       (type >= FILTER_RECORD_TEXT && type <= FILTER_RECORD_REL);
}

u64 filter_narrow(const struct filter_term *term, u64 number)
{
	const unsigned int unused = 64 - 8 * term->size;

	number <<= unused;
	return term->type == FILTER_RECORD_SIGNED ? (u64)((s64)number >> unused) : number >> unused;
}

bool filter_lacks_record(const struct filter *filter, const struct filter_hit *hit)
{
	return filter->record && !hit->record;
}

/* A number in the record, 0 if that is shorter */
static u64 number_in(const struct filter_term *term, const struct filter_hit *hit)
{
	u64 value = 0;

	if (term->offset + term->size > hit->size)
		return 0;
	memcpy(&value, hit->record + term->offset, term->size); /* the first byte is the lowest */
	return filter_narrow(term, value);
}

static u64 value_of(const struct filter_term *term, const struct filter_hit *hit)
{
	switch (term->type) {
	case FILTER_U32:
		return (u32)hit->args[term->arg];
	case FILTER_S32:
		return (s64)(s32)hit->args[term->arg];
	case FILTER_BOOL:
		return (u8)hit->args[term->arg];
	case FILTER_TASK:
		return filter_task_id(hit->args[term->arg]);
	case FILTER_SYSCALL:
		return filter_syscall_nr(hit->args[term->arg]);
	case FILTER_RECORD:
	case FILTER_RECORD_SIGNED:
		return number_in(term, hit);
	case FILTER_CURRENT_PID:
		return filter_task_id(0);
	case FILTER_CURRENT_CPU:
		return filter_cpu();
	default:
		return hit->args[term->arg];
	}
}

static bool is_less(u8 type, u64 a, u64 b)
{
	if (type == FILTER_U64 || type == FILTER_RECORD)
		return a < b;
	return (s64)a < (s64)b;
}

/*
 * A string of so many bytes in the record. Its last one ends it, as the kernel makes them, or what
 * is behind its end is whatever was there; NULL if it does not end.
 */
static const char *string_at(const struct filter_hit *hit, u32 offset, u32 size)
{
	const char *string = hit->record + offset;

	if (!size || size > FILTER_LONGEST || offset > hit->size || size > hit->size - offset)
		return NULL;
	if (string[size - 1] && !memchr(string, '\0', min_t(u32, size, FILTER_STRING_MAX)))
		return NULL;
	return string;
}

static const char *string_in(const struct filter_term *term, const struct filter_hit *hit)
{
	u32 loc;

	if (term->type == FILTER_RECORD_TEXT)
		return string_at(hit, term->offset, term->size);
	if (term->offset + sizeof(loc) > hit->size)
		return NULL;
	memcpy(&loc, hit->record + term->offset, sizeof(loc));
	return string_at(hit, (loc & 0xffff) + (term->type == FILTER_RECORD_REL ?
						term->offset + sizeof(loc) : 0), loc >> 16);
}

static const char *string_of(const struct filter_term *term, const struct filter_hit *hit,
			     char *comm)
{
	switch (term->type) {
	case FILTER_TASK_COMM:
		filter_task_comm(hit->args[term->arg], comm);
		return comm;
	case FILTER_CURRENT_COMM:
		filter_task_comm(0, comm);
		return comm;
	default:
		return string_in(term, hit);
	}
}

/* One range of a class: a character, or two with a - between */
static bool is_in_range(const char **class, char c)
{
	const unsigned char *range = (const unsigned char *)*class;
	const unsigned char first = range[0];
	const bool two = range[1] == '-' && range[2] != ']';

	*class += two ? 3 : 1;
	return first <= (unsigned char)c && (unsigned char)c <= (two ? range[2] : first);
}

/* A class of characters, which has an end; @class is behind its bracket, and then behind it. */
static bool is_in_class(const char **class, char c)
{
	const bool inverted = **class == '!';
	bool found = false;

	*class += inverted;
	do {
		found |= is_in_range(class, c);
	} while (**class != ']');
	(*class)++;
	return c && found != inverted;
}

/* Whatever comes first in a pattern, but a star. Its end is like that of the string. */
static bool fits(const char **pattern, char c)
{
	switch (**pattern) {
	case '?':
		(*pattern)++;
		return c;
	case '[':
		(*pattern)++;
		return is_in_class(pattern, c);
	case '\\':
		(*pattern)++;
		break;
	}
	if (**pattern != c)
		return false;
	*pattern += c != '\0';
	return true;
}

/*
 * Is a string as a pattern of filter_parse() says? It may begin anew behind its last star, with the
 * next character. glob_match() of older kernels, such as 6.1, takes the NUL for a character of a
 * class, and goes on behind it.
 */
static bool matches(const char *pattern, const char *string)
{
	const char *anew = NULL, *from = NULL;

	for (;;) {
		if (*pattern == '*') {
			anew = ++pattern;
			from = string;
			if (!*pattern)
				return true;
		} else if (fits(&pattern, *string)) {
			if (!*string++)
				return true;
		} else if (anew && *string) {
			pattern = anew;
			string = ++from;
		} else {
			return false;
		}
	}
}

static bool compare_string(const struct filter_term *term, const struct filter_hit *hit)
{
	char comm[FILTER_COMM_SIZE];
	const char *string = string_of(term, hit, comm);

	switch (term->op) {
	case FILTER_EQ:
		return string && !strcmp(string, term->text);
	case FILTER_NE:
		return !string || strcmp(string, term->text);
	case FILTER_GLOB:
		return string && matches(term->text, string);
	default:
		return !string || !matches(term->text, string);
	}
}

static bool compare(const struct filter_term *term, const struct filter_hit *hit)
{
	u64 value;

	if (filter_is_text(term->type))
		return compare_string(term, hit);
	value = value_of(term, hit);
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

bool filter_passes(const struct filter *filter, const struct filter_hit *hit)
{
	u64 results = 0; /* a stack of bits; the last one is the lowest */
	unsigned int i;

	if (unlikely(filter_lacks_record(filter, hit)))
		return false;
	for (i = 0; i < filter->nr_code; i++) {
		u16 code = filter->code[i];
		u64 last = results & 1;

		if (code == FILTER_NOT)
			results ^= 1;
		else if (code == FILTER_AND)
			results = (results >> 1) & (last | ~1ULL);
		else if (code == FILTER_OR)
			results = results >> 1 | last;
		else
			results = results << 1 | compare(&filter->terms[code], hit);
	}
	return results & 1;
}
