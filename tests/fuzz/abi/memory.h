/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Mappings of event descriptors, each in a window of its own of the address space.
 */
#ifndef FUZZ_ABI_MEMORY_H
#define FUZZ_ABI_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The calls, by their arguments: 0 or -errno. */
int64_t memory_map(const int64_t *arg, int fd, bool root);
int64_t memory_unmap(const int64_t *arg);
int64_t memory_move(const int64_t *arg);
int64_t memory_ring(const int64_t *arg);

/* A page for anything, one that cannot be accessed, and one that cannot be written. */
char *memory_scratch(void);

/* Catch accesses of mappings that are not there. */
void memory_init(void);

/* Unmap all. */
void memory_clean(void);

#endif /* FUZZ_ABI_MEMORY_H */
