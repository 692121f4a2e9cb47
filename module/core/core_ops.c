// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the table is that main.c fills.
 */
#include <linux/cache.h>

#include "core/core_ops.h"

const struct pmuctl_core_ops *pmuctl_core_ops __ro_after_init;
