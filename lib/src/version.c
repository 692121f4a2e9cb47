// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The version of the library, which the Makefile knows.
 */
#include "internal.h"

PMUCTL_API const char *pmuctl_version(void)
{
	return PMUCTL_VERSION;
}
