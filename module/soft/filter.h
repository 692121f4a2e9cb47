/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Filters of tracepoints: comparisons of what a tracepoint tells with numbers, as a line of
 * text, made into a short program, and run in any context. Pure logic: compiles in user
 * space too.
 *
 *	filter:		term, or filters with && or ||, or (filter); && binds closer
 *	term:		NAME OPERATOR NUMBER
 *	OPERATOR:	== != < <= > >= and &, "has one of these bits"
 *	NAME:		arg0 to arg11, or what the tracepoint calls it
 *	NUMBER:		decimal or 0x, may be negative
 */
#ifndef PMUCTL_FILTER_H
#define PMUCTL_FILTER_H

#include "compat/pure.h"

struct pmuctl_explanation;

#define FILTER_TERMS_MAX	16
#define FILTER_CODE_MAX		(2 * FILTER_TERMS_MAX)
/* Parentheses in parentheses */
#define FILTER_DEPTH_MAX	8
#define FILTER_TEXT_MAX		256
#define FILTER_ARGS_MAX		12

/**
 * enum filter_type - what an argument is
 * @FILTER_U64: 64 bits, and unsigned; pointers too.
 * @FILTER_S64: signed.
 * @FILTER_U32: what is above its 32 bits does not matter.
 * @FILTER_S32: likewise, signed.
 * @FILTER_BOOL: 8 bits.
 * @FILTER_TASK: a pointer to a task, of which it is the id.
 * @FILTER_SYSCALL: a pointer to registers, of which it is the system call's number.
 */
enum filter_type {
	FILTER_U64,
	FILTER_S64,
	FILTER_U32,
	FILTER_S32,
	FILTER_BOOL,
	FILTER_TASK,
	FILTER_SYSCALL,
};

/**
 * struct filter_field - something that a tracepoint tells
 * @name: as it stands in filters; NULL ends a list.
 * @arg: which argument it is.
 * @type: what that is.
 */
struct filter_field {
	const char *name;
	u8 arg;
	u8 type;
};

enum filter_operator {
	FILTER_EQ,
	FILTER_NE,
	FILTER_LT,
	FILTER_LE,
	FILTER_GT,
	FILTER_GE,
	FILTER_BITS,
};

struct filter_term {
	u8 arg;
	u8 type;
	u8 op;
	u64 number;
};

/* What @code says: a term of that index, or one of these for the last two results */
#define FILTER_AND	0x40
#define FILTER_OR	0x41

/**
 * struct filter - a filter that can be run
 * @terms: its comparisons.
 * @nr_terms: how many.
 * @code: what to do, in postfix order.
 * @nr_code: how many steps.
 * @raw: it looks at arguments by their number, or at pointers.
 */
struct filter {
	struct filter_term terms[FILTER_TERMS_MAX];
	u8 code[FILTER_CODE_MAX];
	u8 nr_terms;
	u8 nr_code;
	bool raw;
};

/**
 * filter_parse() - make a filter of its text
 * @text: NUL-terminated.
 * @fields: what the tracepoint tells; ends with a name that is NULL.
 * @nr_args: how many arguments it has; FILTER_ARGS_MAX if that is not known.
 * @filter: is filled.
 * @why: filled on refusal; its field is "filter", and the sentence names the character.
 *
 * Context: Any.
 * Return: 0 or -EINVAL.
 */
int filter_parse(const char *text, const struct filter_field *fields,
		 unsigned int nr_args, struct filter *filter,
		 struct pmuctl_explanation *why);

/**
 * filter_passes() - does it pass?
 * @filter: made by filter_parse().
 * @args: as many as there were said to be.
 *
 * Context: Any, NMI too.
 */
bool filter_passes(const struct filter *filter, const u64 *args);

/* The id of the task that an argument points to. The core's, as a test's. Any context. */
s64 filter_task_id(u64 task);

/* Likewise, the number of the system call that was made with these registers */
s64 filter_syscall_nr(u64 regs);

#endif /* PMUCTL_FILTER_H */
