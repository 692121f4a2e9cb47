/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of loading: the module in and out, and what is to be seen of it from
 * outside.
 */
#ifndef VM_MODULE_H
#define VM_MODULE_H

#include "loops.h"

#define MODULE_FILE	"/pmuctl/pmuctl.ko"
/* As tests/vm-guest.sh has it */
#define MODULE_PARAMETERS "cpu_time_max_percent=0"

/* Returns 0 or -errno. */
int module_load_with(const char *parameters);

int module_load(void);

/* Returns 0 or -errno, without waiting. */
int module_unload(void);

/* For tests that want to be the first users of a fresh module, and leave it loaded */
void module_reload(void);

void module_ensure(void);

/* Who owns the PMU, and with how many events of ours */
struct pmuctl_info module_info(void);

/* The same, once the PMU is given back if no hardware event is open */
struct pmuctl_info module_settled_info(void);

/* A line of /proc/meminfo, in KiB */
long meminfo(const char *key);

/*
 * Memory that nobody uses, in KiB. Unlike MemFree it has the free pages that CPUs keep for
 * themselves: those are tens of MiB of a guest of 1 GiB, more and less from moment to moment.
 */
long free_memory(void);

#endif /* VM_MODULE_H */
