// SPDX-License-Identifier: GPL-2.0-only
/*
 * What numbers in arguments of system calls mean: "RDONLY|CLOEXEC" of openat(2), "SEEK_END" of
 * lseek(2). A value without a name is left to who prints the argument. Which words there are
 * stands in arguments.c.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include <sys/mount.h>

#include "command.h"
#include "syscalls.h"
#include "words.h"

#if __GLIBC_PREREQ(2, 32)
static const char *signal_name(uint64_t number)
{
	return number < NSIG ? sigabbrev_np((int)number) : NULL;
}
#else
static const char *signal_name(uint64_t number)
{
	static const char *const names[] = {
#include "signal_names.h"
	};

	return number < ARRAY_LEN(names) ? names[number] : NULL;
}
#endif

static const char *name_of(const struct word *words, uint64_t value)
{
	while (words && words->name && words->value != value)
		words++;
	return words ? words->name : NULL;
}

/**
 * syscall_words_tell_zero() - is 0 one of the values that have a name?
 * @words: of an argument, NULL if it has none.
 */
bool syscall_words_tell_zero(const struct syscall_words *words)
{
	return words && name_of(words->one, 0);
}

static int put_word(FILE *out, int length, const char *name)
{
	return name ? fprintf(out, "%s%s", length ? "|" : "", name) : 0;
}

/**
 * syscall_words_print() - write a value as words, with "|" between
 * @words: those of the argument.
 * @value: the argument.
 * @out: where to.
 *
 * What has no name among the bits comes last, as a hexadecimal number.
 *
 * Return: how many characters were written, 0 if nothing of it has a name.
 */
int syscall_words_print(const struct syscall_words *words, uint64_t value, FILE *out)
{
	uint64_t part, rest;
	const char *name;
	int length = 0;

	if (words->magic && (value & MS_MGC_MSK) == words->magic)
		value &= ~(uint64_t)MS_MGC_MSK;
	part = value & words->mask;
	rest = value & ~words->mask;
	name = words->is_signal ? signal_name(part) : name_of(words->one, part);

	/* No bits are a word of their own, as F_OK, only if there are no others. */
	if (!words->mask && rest)
		name = NULL;
	if (!words->is_signal)
		length += put_word(out, length, name);
	for (const struct word *word = words->bits; word && word->name; word++) {
		if ((rest & word->value) != word->value)
			continue;
		length += put_word(out, length, word->name);
		rest &= ~word->value;
	}
	if (words->is_signal)
		length += put_word(out, length, name);
	if (!name)
		rest |= part;
	if (length && rest)
		length += fprintf(out, "|%#" PRIx64, rest);
	return length;
}
