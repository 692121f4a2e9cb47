// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults among the calls of "pmuctl trace": which code wanted what, in the words of
 * "perf trace -F".
 */
#include <inttypes.h>
#include <stdio.h>

#include "faults.h"

static bool is_known(const struct samples *samples, const struct place *place)
{
	return place->binary != samples->symbols->unknown;
}

/* "FUNCTION+0x1c"; without a symbol an address alone */
static void write_code(struct samples *samples, const struct place *place, char *text, size_t size)
{
	if (place->symbol)
		snprintf(text, size, "%s+%#" PRIx64, samples_place_name(samples, place),
			 place->address - place->symbol->start);
	else
		snprintf(text, size, "%#" PRIx64, place->address);
}

/* "FILE@0x1c"; of what is no file's an address alone */
static void write_data(const struct samples *samples, const struct place *place, char *text, size_t size)
{
	if (is_known(samples, place))
		snprintf(text, size, "%s@%#" PRIx64, place->binary->path, place->address);
	else
		snprintf(text, size, "%#" PRIx64, place->ip);
}

/**
 * fault_describe() - what a sample of a page fault says
 * @samples: the recording.
 * @record: the sample, the last record that was read; its event is one of faults, and it has the
 *	address of the data.
 * @thread: whose it is, or NULL.
 * @fault: filled but for the name and the id of the task.
 */
void fault_describe(struct samples *samples, const struct perffile_record *record,
		    const struct thread *thread, struct call_fault *fault)
{
	const struct perffile_sample *sample = &record->sample;
	struct place code, data;

	tasks_place(samples->tasks, thread, record->misc, sample->ip, false, &code);
	/* The kernel faults for what a program has mapped. */
	tasks_place(samples->tasks, thread, 0, sample->addr, false, &data);
	fault->time = record->time;
	fault->is_major = record->event->attr.config == PERF_COUNT_SW_PAGE_FAULTS_MAJ;
	write_code(samples, &code, fault->code, sizeof(fault->code));
	write_data(samples, &data, fault->data, sizeof(fault->data));
	fault->is_mapped = is_known(samples, &data);
	fault->level = data.level;
}
