// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which system calls are wanted: "openat,read", "open*", or "!read,write" for all but those.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "syscalls.h"

/* As many comparisons as a filter of the module's may have, and characters */
#define TERMS_MAX	16u
#define FILTER_MAX	255u

#define WORD_SIZE	64u

static bool add(struct syscall_choice *choice, const char *pattern)
{
	bool found = false;

	for (unsigned int i = 0; i < SYSCALLS_MAX; i++) {
		const char *name = syscall_name(i);

		if (!name || fnmatch(pattern, name, 0))
			continue;
		found = true;
		choice->count += !choice->named[i];
		choice->named[i] = true;
	}
	return found;
}

/**
 * syscall_choice_parse() - understand a list
 * @choice: gets what is on it, in addition to what it has.
 * @text: the list.
 * @wrong: filled with the name that is none.
 * @size: bytes there.
 *
 * Return: 0; -ENOENT; -EINVAL if it is said of some that they are wanted, and of others that they
 * are not.
 */
int syscall_choice_parse(struct syscall_choice *choice, const char *text, char *wrong, size_t size)
{
	bool leaves_out = *text == '!';

	if (choice->is_made && choice->leaves_out != leaves_out)
		return -EINVAL;
	choice->is_made = true;
	choice->leaves_out = leaves_out;
	text += leaves_out;
	for (;;) {
		size_t length = strcspn(text, ",");
		char word[WORD_SIZE];

		snprintf(word, sizeof(word), "%.*s", (int)length, text);
		if (length >= sizeof(word) || !add(choice, word)) {
			snprintf(wrong, size, "%s", word);
			return -ENOENT;
		}
		text += length;
		if (!*text++)
			return 0;
	}
}

bool syscall_is_chosen(const struct syscall_choice *choice, uint64_t number)
{
	if (!choice->is_made)
		return true;
	return (number < SYSCALLS_MAX && choice->named[number]) != choice->leaves_out;
}

/**
 * syscall_choice_filter() - the same as a filter of tracepoints, so that nothing else is recorded
 * @choice: which calls.
 *
 * Return: the filter, to be freed; NULL if there can be none.
 */
char *syscall_choice_filter(const struct syscall_choice *choice)
{
	const char *compare = choice->leaves_out ? "!=" : "==";
	const char *join = choice->leaves_out ? "&&" : "||";
	char text[TERMS_MAX * 20] = "";
	size_t length = 0;

	if (!choice->is_made || choice->count > TERMS_MAX)
		return NULL;
	for (unsigned int i = 0; i < SYSCALLS_MAX; i++)
		if (choice->named[i])
			length += (size_t)snprintf(text + length, sizeof(text) - length,
						   "%sid%s%u", length ? join : "", compare, i);
	return length > FILTER_MAX ? NULL : strdup(text);
}
