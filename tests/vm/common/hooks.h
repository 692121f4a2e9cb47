/* SPDX-License-Identifier: GPL-2.0-only */
/* Which kernel hooks the module has set, as its file in debugfs tells. */
#ifndef TESTS_VM_HOOKS_H
#define TESTS_VM_HOOKS_H

#include <stdbool.h>

/* The number behind @word in what is told of a hook */
unsigned long hooks_number_of(const char *name, const char *word);

/* Is @what in it? */
bool hooks_has(const char *name, const char *what);

static inline bool hooks_is_set(const char *name)
{
	return !hooks_has(name, "not set");
}

/*
 * Until no hook is set: they outlive their last event by a second, and by what it takes to
 * drop them. Fails if one has events, for it would never be dropped: nothing may be open.
 */
void hooks_wait_for_none(void);

#endif /* TESTS_VM_HOOKS_H */
