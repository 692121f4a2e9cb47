// SPDX-License-Identifier: GPL-2.0-only
/*
 * The formats of the tracepoints of a recording, for what their samples tell.
 */
#include "script.h"

/* A tracepoint_resolve */
static const char *function_at(void *arg, uint64_t address, uint64_t *start)
{
	const struct script *script = arg;
	struct samples *samples = script->samples;
	struct place place;

	tasks_place(samples->tasks, NULL, PERF_RECORD_MISC_KERNEL, address, false, &place);
	if (!place.symbol)
		return NULL;
	*start = address - (place.address - place.symbol->start);
	return samples_place_name(samples, &place);
}

static bool has_records(const struct perffile *file)
{
	for (size_t i = 0; i < file->event_count; i++)
		if (file->events[i].attr.type == PERF_TYPE_TRACEPOINT &&
		    file->events[i].attr.sample_type & PERF_SAMPLE_RAW)
			return true;
	return false;
}

/**
 * script_tracepoints_open() - read what the recording says of its tracepoints, if they are wanted
 * @script: with its recording; @script->tracepoints is set.
 *
 * Return: false if what was asked for cannot be had, of which the user has been told.
 */
bool script_tracepoints_open(struct script *script)
{
	const struct perffile *file = script->samples->file;
	const char *path = script->input.path;

	if (!(script->fields & FIELD_TRACE) || !has_records(file))
		return true;
	if (!script->json && !printer_is_there())
		say_error("this pmuctl was built without libtraceevent, so what tracepoints tell is printed field by field: install libtraceevent-dev and build it again for the kernel's own form");
	if (file->info.tracing)
		script->tracepoints = tracepoints_new(file->info.tracing, file->info.tracing_size);
	if (!script->tracepoints) {
		say_error("'%s' does not say how to read what its tracepoints tell: the formats of the kernel's tracing are %s",
			  path, file->info.tracing ? "damaged" : "missing");
		return !script->chose_fields;
	}
	tracepoints_set_resolver(script->tracepoints, function_at, script);
	return true;
}
