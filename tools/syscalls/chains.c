// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who made the calls of "pmuctl trace", in the form of "perf trace --call-graph".
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "chains.h"

/* Blanks before each function */
#define INDENT 39

/* "FUNCTION (FILE)"; without a symbol an address */
static void print_frame(FILE *out, struct samples *samples, const struct place *place)
{
	fprintf(out, "%*s", INDENT, "");
	if (place->symbol)
		fputs(samples_place_name(samples, place), out);
	else
		fprintf(out, "[%#" PRIx64 "]", place->ip);
	if (place->symbol && place->symbol->is_inlined)
		fprintf(out, " (inlined)\n");
	else
		fprintf(out, " (%s)\n", place->binary->path);
}

/**
 * chain_print() - print the functions in user space that led to a call or a page fault
 * @out: where to.
 * @samples: the recording.
 * @record: the sample, the last record that was read, with a call chain or a copy of the stack.
 * @most: so many of them, the innermost; 0: all.
 *
 * Return: 0 or -ENOMEM.
 */
int chain_print(FILE *out, struct samples *samples, const struct perffile_record *record, size_t most)
{
	size_t count = 0;

	if (!samples_resolve(samples, record, true))
		return -ENOMEM;
	/* The first is where the kernel was when it told. */
	for (size_t i = 0; i < samples->frame_count && (!most || count < most); i++) {
		if (samples->frames[i].level == 'k')
			continue;
		print_frame(out, samples, &samples->frames[i]);
		count++;
	}
	return 0;
}
