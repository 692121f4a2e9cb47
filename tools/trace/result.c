// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is told of a trace beside its steps, whatever is made of these: whether it can be decoded, and
 * how much of it was.
 */
#include <inttypes.h>

#include "command.h"
#include "trace.h"

/**
 * trace_is_decodable() - can a recording's trace be decoded? If not, says why.
 * @samples: the recording.
 * @traces: its traces.
 * @branches: what to do with one that has branches only; NULL: they will do.
 */
bool trace_is_decodable(const struct samples *samples, const struct perffile_traces *traces,
			const char *branches)
{
	const char *path = samples->path;

	if (!traces->count || !traces->whose) {
		say_error("'%s' has no trace: record one with -e intel_pt//u", path);
		return false;
	}
	if (traces->whose == PERFFILE_TRACE_INTEL_BTS) {
		if (branches)
			say_error("the trace in '%s' has branches only: %s", path, branches);
		return !branches;
	}
	if (traces->whose != PERFFILE_TRACE_INTEL_PT) {
		say_error("the trace in '%s' is none of Intel's: nothing else can be decoded",
			  path);
		return false;
	}
	if (!trace_can_decode()) {
		say_error("this pmuctl was built without libipt, which decodes traces: install libipt-dev and build it again, or use 'perf script --itrace'");
		return false;
	}
	return true;
}

/**
 * trace_event() - the event that traced
 * @samples: the recording.
 * @traces: its traces.
 *
 * Return: one of its events, or NULL.
 */
const struct perffile_event *trace_event(const struct samples *samples,
					 const struct perffile_traces *traces)
{
	const struct perffile *file = samples->file;
	const struct perffile_event *found = NULL;

	for (size_t i = 0; i < file->event_count; i++)
		if (file->events[i].attr.type == traces->words[PERFFILE_PT_TYPE])
			found = &file->events[i];
	return found;
}

/**
 * trace_count() - count a step
 * @tally: the counts.
 * @step: the step.
 */
void trace_count(struct trace_tally *tally, const struct trace_step *step)
{
	tally->instructions += step->kind == TRACE_INSTRUCTION;
	tally->branches += step->kind != TRACE_INSTRUCTION;
	tally->calls += step->kind == TRACE_CALL;
	tally->lost += step->kind == TRACE_LOST;
	tally->errors += step->kind == TRACE_ERROR;
}

/**
 * trace_say_result() - say what was decoded, and what was not
 * @run: which has been run.
 * @tally: of its steps.
 *
 * Return: whether all that the file should have was decoded.
 */
bool trace_say_result(const struct trace_run *run, const struct trace_tally *tally)
{
	bool branches = run->traces->whose == PERFFILE_TRACE_INTEL_BTS;

	say_error("%" PRIu64 " bytes of trace: %" PRIu64 " %s, %" PRIu64 " calls, %" PRIu64
		  " errors", run->bytes, branches ? tally->branches : tally->instructions,
		  branches ? "branches" : "instructions", tally->calls, tally->errors);
	if (run->missing)
		say_error("%" PRIu64 " bytes of trace are not in the file, or its records do not tell of them",
			  run->missing);
	if (tally->lost)
		say_error("%" PRIu64 " times the processor lost packets: what it did then is not known",
			  tally->lost);
	if (run->truncated)
		say_error("%" PRIu64 " times the trace was cut off, as its buffer was full: record with a larger one (-m ,PAGES)",
			  run->truncated);
	return !tally->errors && !run->missing;
}
