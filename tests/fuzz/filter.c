// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing the filters of tracepoints (libFuzzer): any text is understood or refused with a
 * place in it, and what is understood can be run. "make fuzz" builds and runs it.
 */
#include <stdlib.h>

#include "explain/explain.h"
#include "soft/filter.h"

#define NR_ARGS	5

static const struct filter_field fields[] = {
	{ "id", 1, FILTER_S64 }, { "state", 2, FILTER_U32 }, { "cpu", 3, FILTER_S32 },
	{ "preempt", 0, FILTER_BOOL }, { "pid", 4, FILTER_TASK },
	{ "nr", 4, FILTER_SYSCALL }, { NULL, 0, 0 },
};

s64 filter_syscall_nr(u64 regs)
{
	return regs + 2;
}

s64 filter_task_id(u64 task)
{
	return task + 1;
}

static bool is_well_formed(const struct filter *filter)
{
	unsigned int depth = 0, i;

	for (i = 0; i < filter->nr_code; i++) {
		if (filter->code[i] < filter->nr_terms)
			depth++;
		else if (depth-- < 2)
			return false;
	}
	return depth == 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const u64 args[NR_ARGS] = { 1, -5ULL, 3, ~0ULL, 4710 };
	struct pmuctl_explanation why;
	char text[FILTER_TEXT_MAX];
	struct filter filter;
	unsigned int at;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (filter_parse(text, fields, NR_ARGS, &filter, &why)) {
		if (sscanf(why.sentence,
			   "the filter cannot be understood at character %u:", &at) != 1 ||
		    at < 1 || at > strlen(text) + 1)
			abort();
		return 0;
	}
	if (!is_well_formed(&filter))
		abort();
	filter_passes(&filter, args);
	return 0;
}
