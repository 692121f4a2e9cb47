// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing the filters of tracepoints (libFuzzer): any text is understood or refused with a
 * place in it, and what is understood can be run. "make fuzz" builds and runs it.
 */
#include <stdlib.h>

#include "explain/explain.h"
#include "soft/filter.h"
#include "soft/filter_kernel.h"

#define NR_ARGS	5

static const struct filter_field fields[] = {
	{ "id", .arg = 1, .type = FILTER_S64 }, { "state", .arg = 2, .type = FILTER_U32 }, { "cpu", .arg = 3, .type = FILTER_S32 },
	{ "preempt", .arg = 0, .type = FILTER_BOOL }, { "pid", .arg = 4, .type = FILTER_TASK },
	{ "nr", .arg = 4, .type = FILTER_SYSCALL }, { "comm", .arg = 4, .type = FILTER_TASK_COMM }, { }
};

static const struct filter_field of_record[] = {
	{ "text", 0, FILTER_RECORD_TEXT, 8, 8 }, { "loc", 0, FILTER_RECORD_LOC, 16, 4 },
	{ "rel", 0, FILTER_RECORD_REL, 20, 4 }, { "byte", 0, FILTER_RECORD_SIGNED, 24, 1 },
	{ "word", 0, FILTER_RECORD, 26, 2 }, { "other", 0, FILTER_RECORD_OTHER, 28, 3 }, { }
};

void filter_task_comm(u64 task, char *comm)
{
	strcpy(comm, task ? "sh" : "cc1");
}

s64 filter_cpu(void)
{
	return 1;
}

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
		else if (filter->code[i] == FILTER_NOT ? depth < 1 : depth-- < 2)
			return false;
	}
	return depth == 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const struct filter *filter, const uint8_t *data, size_t size)
{
	static const u64 args[NR_ARGS] = { 1, -5ULL, 3, ~0ULL, 4710 };
	uint8_t *record = malloc(size);
	struct filter_hit hit = { args, record, size };

	/* Of the text's size, so that what is read behind it is noticed */
	memcpy(record, data, size);
	filter_passes(filter, &hit);
	hit.record = NULL;
	filter_passes(filter, &hit);
	free(record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct filter_names names = { of_record, fields, NR_ARGS };
	struct pmuctl_explanation why;
	char text[FILTER_TEXT_MAX];
	struct filter *filter;
	unsigned int at;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	filter = malloc(filter_size(text));
	if (filter_parse(text, &names, filter, &why)) {
		if (sscanf(why.sentence,
			   "the filter cannot be understood at character %u:", &at) != 1 ||
		    at < 1 || at > strlen(text) + 1)
			abort();
	} else if (!is_well_formed(filter)) {
		abort();
	} else {
		run(filter, data, size);
	}
	free(filter);
	return 0;
}
