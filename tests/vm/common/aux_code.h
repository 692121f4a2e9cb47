/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of AUX area tracing: code that is traced and is not the program's, that of
 * this process and that of the kernel.
 */
#ifndef VM_AUX_CODE_H
#define VM_AUX_CODE_H

#include "aux_decode.h"

/* ---- This process ---- */

/* Decode what this process executes, or one that it forks. */
void decode_self(void);

/* ---- The kernel ---- */

uint64_t kernel_symbol(const char *name);

/* Decode what the kernel executes: its code as it is from now on. */
void decode_kernel(void);

void decode_kernel_end(void);

#endif /* VM_AUX_CODE_H */
