/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names that are somebody else's to choose, and go to a terminal or into a file.
 */
#ifndef PMUCTL_TOOL_NAMES_H
#define PMUCTL_TOOL_NAMES_H

#include <stddef.h>

void names_clean(char *text, size_t length);

#endif /* PMUCTL_TOOL_NAMES_H */
