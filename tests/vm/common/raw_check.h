/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Criterion assertions on refusals: errno, code, field and the whole sentence.
 */
#ifndef TESTS_VM_RAW_CHECK_H
#define TESTS_VM_RAW_CHECK_H

#include "raw.h"

#include <stdarg.h>

#include <criterion/criterion.h>

/* Is @why what a refusal with these must say? The sentence is a format. */
__attribute__((format(printf, 5, 6)))
void raw_check_why(const struct pmuctl_explanation *why, int error, uint32_t code,
		   const char *field, const char *format, ...);

/*
 * An open that must be refused: what it returns, what it writes, and what
 * PMUCTL_IOC_EXPLAIN tells afterwards.
 */
#define raw_check_refused(attr, pid, cpu, flags, error, code, field, ...) do {	\
	struct pmuctl_explanation why_, again_;					\
	int fd_;								\
										\
	memset(&why_, 0x5a, sizeof(why_));					\
	fd_ = raw_open(attr, pid, cpu, flags, &why_);				\
	if (fd_ >= 0)								\
		close(fd_);							\
	cr_assert_eq(fd_, -(error), "%d, expected %d", fd_, -(error));		\
	raw_check_why(&why_, error, code, field, __VA_ARGS__);			\
	cr_assert_eq(raw_explain(raw_device(), &again_), 0);			\
	cr_assert_arr_eq(&again_, &why_, sizeof(why_));				\
} while (0)

/* An open that must succeed; gives the descriptor. */
#define raw_check_opened(attr, pid, cpu, flags) ({				\
	struct pmuctl_explanation why_ = { .size = 0 };				\
	int fd_ = raw_open(attr, pid, cpu, flags, &why_);			\
										\
	cr_assert_geq(fd_, 0, "%d: %s (%s)", fd_, why_.sentence, why_.field);	\
	fd_;									\
})

#endif /* TESTS_VM_RAW_CHECK_H */
