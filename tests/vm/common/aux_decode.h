/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of Processor Trace: libipt, which decodes what the traced program did.
 */
#ifndef VM_AUX_DECODE_H
#define VM_AUX_DECODE_H

#include "aux.h"

#include <elf.h>
#include <intel-pt.h>
#include <sys/stat.h>

struct decoded {
	uint64_t instructions, branches, inside, calls, returns, errors;
	char error[200];
};

/* The code, if it is not the program's */
extern struct pt_image *decode_image;

/* Sees the address of each instruction, if it is set. */
extern void (*decode_visit)(uint64_t ip);

/* A range whose instructions are counted apart; the trace may have been restricted to it. */
extern uint64_t decode_from, decode_to;
extern bool decode_filtered, decode_stops;

/* The program's code, from its ELF headers */
void add_program(struct pt_image *image, const char *path);

/* @bits: attr.config of the trace. */
struct decoded trace_decode_of(const uint8_t *from, size_t size, uint64_t bits);

struct decoded trace_decode(const uint8_t *from, size_t size);

/* The same of two pieces that follow on each other, where a buffer wraps */
struct decoded trace_decode_wrapped(const uint8_t *first, size_t n,
				    const uint8_t *second, size_t m);

#endif /* VM_AUX_DECODE_H */
