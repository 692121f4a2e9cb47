// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults among the calls of "pmuctl trace": which code wanted what, in the words of
 * "perf trace -F".
 */
#include <inttypes.h>
#include <stdio.h>

#include "faults.h"

/* "FUNCTION+0x1c"; without a symbol an address alone */
static void write_code(struct samples *samples, const struct place *place, char *text, size_t size)
{
	if (place->symbol)
		snprintf(text, size, "%s+%#" PRIx64, samples_place_name(samples, place),
			 place->address - place->symbol->start);
	else
		snprintf(text, size, "%#" PRIx64, place->address);
}

/*
 * "FILE@0x1c", by the offset in the file; of what is not mapped an address alone. What a program
 * maps as data may be anything: no symbols are looked for in it.
 */
static void write_data(const struct thread *thread, uint64_t address, struct call_fault *fault)
{
	uint64_t offset = 0;
	const struct binary *binary = address >> 63 ? NULL : tasks_data(thread, address, &offset);

	fault->is_mapped = binary != NULL;
	fault->level = address >> 63 ? 'k' : '.';
	if (binary)
		snprintf(fault->data, sizeof(fault->data), "%s@%#" PRIx64, binary->path, offset);
	else
		snprintf(fault->data, sizeof(fault->data), "%#" PRIx64, address);
}

/**
 * fault_describe() - what a sample of a page fault says
 * @samples: the recording.
 * @record: the sample, the last record that was read; its event is one of faults, and it has the
 *	address of the data.
 * @thread: whose it is, or NULL.
 * @fault: its places are filled.
 */
void fault_describe(struct samples *samples, const struct perffile_record *record,
		    const struct thread *thread, struct call_fault *fault)
{
	const struct perffile_sample *sample = &record->sample;
	struct place code;

	tasks_place(samples->tasks, thread, record->misc, sample->ip, false, &code);
	write_code(samples, &code, fault->code, sizeof(fault->code));
	/* The kernel faults for what a program has mapped. */
	write_data(thread, sample->addr, fault);
}
