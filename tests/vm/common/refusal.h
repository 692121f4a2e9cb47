/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is refused, and how that is said: one form for opens, ioctls, reads and mappings.
 *
 *	check_refusals(
 *		{ "no period", IOCTL(fd, PERF_EVENT_IOC_PERIOD, &none), EINVAL,
 *		  PMUCTL_WHY_PERIOD_RANGE, "", "0 is not a period: it is from 1 to 2^63 - 1" },
 *		{ "inherited", OPEN(RAW_ATTR(.inherit = 1)), EINVAL, ... }
 *	);
 *
 * Each case is a call that must fail with this errno, and explain it with this code, field and
 * whole sentence, to the open itself and to PMUCTL_IOC_EXPLAIN. One that does otherwise prints its name;
 * the rest of the table is looked at all the same, and then the test ends. Where the sentence
 * has a number that the test computes, there is check_refused(), with a format: for a row of
 * them in a loop.
 */
#ifndef VM_REFUSAL_H
#define VM_REFUSAL_H

#include "event.h"

enum call_kind {
	CALL_OPEN,
	CALL_IOCTL,
	CALL_READ,
	CALL_MMAP,
};

/**
 * struct call - a system call that may be refused
 * @attr: of an open.
 * @target: of an open; its flags are all that it has.
 * @fd: of the other calls.
 * @number: of an ioctl.
 * @argument: of an ioctl, or the address that is read to.
 * @length: bytes to read or to map.
 * @offset: where a mapping begins.
 * @prot: of a mapping; 0: to be read and written.
 * @private: it is no shared one.
 */
struct call {
	enum call_kind kind;
	const void *attr;
	struct event_target target;
	int fd;
	unsigned long number;
	unsigned long argument;
	size_t length;
	off_t offset;
	int prot;
	bool private;
};

/* As event_open(), but through the device that this process keeps open */
#define OPEN(at, ...)	((struct call){ CALL_OPEN, .attr = ATTR_OF(at),	\
					.target = EVENT_TARGET(__VA_ARGS__) })
#define IOCTL(d, n, a)	((struct call){ CALL_IOCTL, .fd = (d), .number = (n), \
					.argument = (unsigned long)(a) })
#define READ(d, to, n)	((struct call){ CALL_READ, .fd = (d), .argument = (unsigned long)(to), \
					.length = (n) })
/* At @o; .prot = PROT_READ, .private = true */
#define MMAP(d, n, o, ...) \
	((struct call){ CALL_MMAP, .fd = (d), .length = (n), .offset = (o), ##__VA_ARGS__ })

/* Instructions in user mode, disabled, with more fields of struct perf_event_attr: .inherit = 1 */
#define RAW_ATTR(...)	raw_attr_of((struct perf_event_attr){			\
	.type = PERF_TYPE_HARDWARE, .size = sizeof(union raw_attr),		\
	.config = PERF_COUNT_HW_INSTRUCTIONS, .disabled = 1, .exclude_kernel = 1, ##__VA_ARGS__ })

union raw_attr raw_attr_of(struct perf_event_attr attr);

/**
 * struct refusal - a case
 * @name: what is wrong with the call.
 * @call: which is refused.
 * @error: its errno.
 * @code: PMUCTL_WHY_*.
 * @field: the field that the explanation names.
 * @sentence: all of it.
 */
struct refusal {
	const char *name;
	struct call call;
	int error;
	uint32_t code;
	const char *field;
	const char *sentence;
};

#define check_refusals(...) do {					\
	const struct refusal cases_[] = { __VA_ARGS__ };		\
									\
	check_refusals_of(cases_, RAW_ARRAY_SIZE(cases_));		\
} while (0)

void check_refusals_of(const struct refusal *cases, size_t n);

#define PLACE_(line)	#line
#define PLACE(line)	PLACE_(line)

/* One call; the sentence is a format. */
#define check_refused(...)	check_refused_at(__FILE__ ":" PLACE(__LINE__), __VA_ARGS__)

__attribute__((format(printf, 6, 7)))
void check_refused_at(const char *name, struct call call, int error, uint32_t code,
		      const char *field, const char *format, ...);

/* What the last refusal on a descriptor was, of a call that was made already */
#define check_explained(...)	check_explained_at(__FILE__ ":" PLACE(__LINE__), __VA_ARGS__)

__attribute__((format(printf, 6, 7)))
void check_explained_at(const char *name, int fd, int error, uint32_t code,
			const char *field, const char *format, ...);

/* The same of an explanation that another process has got, or an open */
#define check_why(...)	check_why_at(__FILE__ ":" PLACE(__LINE__), __VA_ARGS__)

__attribute__((format(printf, 6, 7)))
void check_why_at(const char *name, const struct pmuctl_explanation *why, int error,
		  uint32_t code, const char *field, const char *format, ...);

#endif /* VM_REFUSAL_H */
