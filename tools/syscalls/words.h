/* SPDX-License-Identifier: GPL-2.0-only */
/* The words of an argument: named by arguments.c, printed by words.c */
#ifndef PMUCTL_TOOL_SYSCALLS_WORDS_H
#define PMUCTL_TOOL_SYSCALLS_WORDS_H

#include <stdbool.h>
#include <stdint.h>

struct word {
	uint64_t value;
	const char *name;
};

/**
 * struct syscall_words - what an argument's value says
 * @mask: these bits together are one of the values of @one.
 * @one: ends with a word without a name; NULL if there are none.
 * @bits: likewise; a word is told if all its bits are set, those of several bits come first.
 * @is_signal: the bits of @mask are the number of a signal instead.
 * @magic: if its upper 16 bits of 32 are there, they are no flags.
 */
struct syscall_words {
	uint64_t mask;
	const struct word *one;
	const struct word *bits;
	bool is_signal;
	uint64_t magic;
};

#endif
