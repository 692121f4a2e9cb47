/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of tracepoints: comparisons of what a tracepoint tells with numbers and strings, as a
 * line of text, made into a short program, and run in any context. Pure logic: compiles in user
 * space too. The language is that of the kernel's own (Documentation/trace/events.rst, 5.).
 *
 *	filter:		term, or filters with && or ||, or (filter), or !filter;
 *			! binds closest, then &&
 *	term:		NAME OPERATOR NUMBER, or NAME OPERATOR STRING
 *	OPERATOR:	== != < <= > >= and &, "has one of these bits"; of strings == != and ~,
 *			which has a pattern of the shell, the reverse if that begins with !
 *	NAME:		a field of the record, arg0 to arg11, or what the tracepoint calls it;
 *			or of who runs: common_pid, comm, cpu
 *	NUMBER:		decimal, 0x or octal, may be negative
 *	STRING:		in one of the two kinds of quotes
 */
#ifndef PMUCTL_FILTER_H
#define PMUCTL_FILTER_H

#include "compat/pure.h"

struct pmuctl_explanation;

/* Parentheses in parentheses, or with a ! before */
#define FILTER_DEPTH_MAX	16
/* As long as the kernel takes them, with its NUL */
#define FILTER_TEXT_MAX		4096
/* The same of a string in it, or of a pattern */
#define FILTER_STRING_MAX	256
/* The longest one that it is compared with: no record of the kernel's is longer. */
#define FILTER_LONGEST		8192
/* And the name of a task, TASK_COMM_LEN */
#define FILTER_COMM_SIZE	16
#define FILTER_ARGS_MAX		12

/**
 * enum filter_type - what is compared: an argument, something of the record, or of who runs
 * @FILTER_U64: 64 bits, and unsigned; pointers too.
 * @FILTER_S64: signed.
 * @FILTER_U32: what is above its 32 bits does not matter.
 * @FILTER_S32: likewise, signed.
 * @FILTER_BOOL: 8 bits.
 * @FILTER_TASK: a pointer to a task, of which it is the id.
 * @FILTER_SYSCALL: a pointer to registers, of which it is the system call's number.
 * @FILTER_TASK_COMM: a pointer to a task, of which it is the name.
 * @FILTER_RECORD: of the record, a number without a sign.
 * @FILTER_RECORD_SIGNED: likewise, with one.
 * @FILTER_RECORD_TEXT: likewise, an array of characters.
 * @FILTER_RECORD_LOC: likewise, 32 bits that say where such an array begins in the record (the
 *	lower 16), and how long it is.
 * @FILTER_RECORD_REL: likewise, where it begins behind these bits.
 * @FILTER_RECORD_OTHER: likewise, what cannot be compared.
 * @FILTER_CURRENT_PID: id of who runs.
 * @FILTER_CURRENT_COMM: his name.
 * @FILTER_CURRENT_CPU: where.
 */
enum filter_type {
	FILTER_U64,
	FILTER_S64,
	FILTER_U32,
	FILTER_S32,
	FILTER_BOOL,
	FILTER_TASK,
	FILTER_SYSCALL,
	FILTER_TASK_COMM,
	FILTER_RECORD,
	FILTER_RECORD_SIGNED,
	FILTER_RECORD_TEXT,
	FILTER_RECORD_LOC,
	FILTER_RECORD_REL,
	FILTER_RECORD_OTHER,
	FILTER_CURRENT_PID,
	FILTER_CURRENT_COMM,
	FILTER_CURRENT_CPU,
};

/**
 * struct filter_field - something that a tracepoint tells
 * @name: as it stands in filters; NULL ends a list.
 * @arg: which argument it is, if it is one.
 * @type: what that is.
 * @offset: in the record, if it is there.
 * @size: its bytes there; of a number 1, 2, 4 or 8.
 */
struct filter_field {
	const char *name;
	u8 arg;
	u8 type;
	u16 offset;
	u16 size;
};

/**
 * struct filter_names - what a filter may look at
 * @record: what there is in the record; ends with a name that is NULL. NULL: there is no record.
 * @args: what arguments are called, if @record has no such name; likewise, but never NULL.
 * @nr_args: how many arguments there are; FILTER_ARGS_MAX if that is not known.
 */
struct filter_names {
	const struct filter_field *record;
	const struct filter_field *args;
	unsigned int nr_args;
};

enum filter_operator {
	FILTER_EQ,
	FILTER_NE,
	FILTER_LT,
	FILTER_LE,
	FILTER_GT,
	FILTER_GE,
	FILTER_BITS,
	FILTER_GLOB,
	FILTER_NOT_GLOB,
};

/**
 * struct filter_term - a comparison
 * @arg: with what, as in struct filter_field; so are @type, @offset and @size.
 * @type: likewise.
 * @op: how.
 * @offset: as @arg.
 * @size: as @arg.
 * @number: with which number, or else
 * @text: with which string.
 */
struct filter_term {
	u8 arg;
	u8 type;
	u8 op;
	u16 offset;
	u16 size;
	union {
		u64 number;
		const char *text;
	};
};

/* What @code says: a term of that index, or one of these for the last result, or the last two */
#define FILTER_NOT	0x8000
#define FILTER_AND	0x8001
#define FILTER_OR	0x8002

/**
 * struct filter - a filter that can be run
 * @terms: its comparisons.
 * @nr_terms: how many.
 * @code: what to do, in postfix order.
 * @nr_code: how many steps.
 * @raw: it looks at arguments by their number, or at pointers.
 * @record: it looks at the record.
 * @work: what a hit costs at most, in steps of some 30 instructions.
 * @memory: where all these are.
 */
struct filter {
	struct filter_term *terms;
	u16 *code;
	u16 nr_terms;
	u16 nr_code;
	bool raw;
	bool record;
	u32 work;
	u64 memory[];
};

/**
 * struct filter_hit - what a filter looks at
 * @args: as many as there were said to be.
 * @record: of this hit; NULL: there is none.
 * @size: its bytes.
 */
struct filter_hit {
	const u64 *args;
	const void *record;
	u32 size;
};

/* How many bytes the filter with this text may need. Any context. */
size_t filter_size(const char *text);

/**
 * filter_parse() - make a filter of its text
 * @text: NUL-terminated, shorter than FILTER_TEXT_MAX.
 * @names: what it may look at; not needed afterwards.
 * @filter: filter_size(@text) bytes, aligned for any type; is filled.
 * @why: filled on refusal; its field is "filter", and the sentence names the character.
 *
 * Context: Any.
 * Return: 0 or -EINVAL.
 */
int filter_parse(const char *text, const struct filter_names *names, struct filter *filter,
		 struct pmuctl_explanation *why);

/**
 * filter_passes() - does it pass?
 * @filter: made by filter_parse().
 * @hit: what it is about.
 *
 * If it looks at a record, and there is none, that cannot be said: then it does not.
 *
 * Context: Any, preemption off, NMI too.
 */
bool filter_passes(const struct filter *filter, const struct filter_hit *hit);

/* Does it look at a record, and there is none? Any context. */
bool filter_lacks_record(const struct filter *filter, const struct filter_hit *hit);

/* Is this a string? Any context. */
bool filter_is_text(u8 type);

/* What a number of the record keeps of a larger one, as in C. Any context. */
u64 filter_narrow(const struct filter_term *term, u64 number);

#endif /* PMUCTL_FILTER_H */
