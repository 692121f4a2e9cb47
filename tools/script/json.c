// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording as JSON, an object a line for each record. Addresses are strings of
 * hexadecimal digits: many readers of JSON have no integers of 64 bits.
 */
#include <errno.h>
#include <inttypes.h>

#include <jansson.h>

#include "script.h"

static void set_address(json_t *object, const char *key, uint64_t address)
{
	char text[24];

	snprintf(text, sizeof(text), "%#" PRIx64, address);
	json_object_set_new(object, key, json_string(text));
}

/* Larger ones are no counts. */
static void set_number(json_t *object, const char *key, uint64_t value)
{
	json_object_set_new(object, key,
			    json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value));
}

static void set_text(json_t *object, const char *key, const char *text)
{
	json_object_set_new(object, key, json_string(text));
}

static void set_place(const struct script *script, json_t *object, const struct place *place)
{
	struct samples *samples = script->samples;
	const char *line;

	if (script->fields & FIELD_IP)
		set_address(object, "ip", place->ip);
	if (script->fields & FIELD_SYM)
		set_text(object, "symbol", samples_place_name(samples, place));
	if (place->symbol && place->symbol->is_inlined)
		json_object_set_new(object, "inlined", json_true());
	else if (script->fields & FIELD_SYMOFF && place->symbol)
		set_number(object, "offset", place->address - place->symbol->start);
	if (script->fields & FIELD_DSO)
		set_text(object, "dso", place->binary->path);
	if (script->fields & FIELD_LINE) {
		line = symbols_source_line(samples->symbols, place);
		if (line)
			set_text(object, "srcline", line);
	}
}

/* What a tracepoint tells */
static void set_told(const struct script *script, json_t *object,
		     const struct perffile_record *record)
{
	const struct perf_event_attr *attr = &record->event->attr;
	json_t *fields;

	if (!script->tracepoints || attr->type != PERF_TYPE_TRACEPOINT ||
	    !(record->fields & PERF_SAMPLE_RAW))
		return;
	fields = tracepoints_fields(script->tracepoints, attr->config, record->sample.raw,
				    record->sample.raw_size);
	if (fields)
		json_object_set_new(object, "fields", fields);
}

static void set_branches(json_t *object, const struct perffile_sample *sample)
{
	json_t *branches = json_array();

	for (size_t i = 0; i < script_branch_count(sample); i++) {
		struct script_branch b = script_branch(sample, i);
		json_t *branch = json_object();

		set_address(branch, "from", b.from);
		set_address(branch, "to", b.to);
		if (b.flags & (SCRIPT_BRANCH_MISPRED | SCRIPT_BRANCH_PREDICTED))
			json_object_set_new(branch, "mispred",
					    json_boolean(b.flags & SCRIPT_BRANCH_MISPRED));
		if (b.flags & SCRIPT_BRANCH_IN_TX)
			json_object_set_new(branch, "in_tx", json_true());
		if (b.flags & SCRIPT_BRANCH_ABORT)
			json_object_set_new(branch, "abort", json_true());
		if (b.cycles)
			set_number(branch, "cycles", b.cycles);
		if (*b.type)
			set_text(branch, "type", b.type);
		json_array_append_new(branches, branch);
	}
	json_object_set_new(object, "branches", branches);
}

static void set_registers(json_t *object, const char *key, uint64_t mask,
			  struct perffile_words values)
{
	json_t *registers = json_object();
	size_t at = 0;

	for (unsigned int i = 0; i < PERFFILE_REGS_MAX && at < values.count; i++)
		if (mask >> i & 1)
			set_address(registers, perffile_register_name(i),
				    perffile_words_get(&values, at++));
	json_object_set_new(object, key, registers);
}

static void set_sample(const struct script *script, json_t *object,
		       const struct perffile_record *record)
{
	const struct perffile_sample *sample = &record->sample;
	const struct samples *samples = script->samples;
	json_t *chain = json_array();

	if (script->fields & FIELD_EVENT)
		set_text(object, "event", samples_event_name(script->samples, record->event));
	if (script->fields & FIELD_PERIOD)
		set_number(object, "period", sample->period);
	if (script->fields & FIELD_ADDR && record->fields & PERF_SAMPLE_ADDR)
		set_address(object, "addr", sample->addr);
	if (script->fields & FIELD_PHYS && record->fields & PERF_SAMPLE_PHYS_ADDR)
		set_address(object, "phys_addr", sample->phys_addr);
	if (script->fields & FIELD_WEIGHT &&
	    record->fields & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		set_number(object, "weight", sample->weight);
	if (script->fields & FIELD_BRSTACK && record->fields & PERF_SAMPLE_BRANCH_STACK)
		set_branches(object, sample);
	if (script->fields & FIELD_IREGS && record->fields & PERF_SAMPLE_REGS_INTR)
		set_registers(object, "intr_regs", record->attr->sample_regs_intr,
			      sample->intr_regs);
	if (script->fields & FIELD_UREGS && record->fields & PERF_SAMPLE_REGS_USER)
		set_registers(object, "user_regs", record->attr->sample_regs_user,
			      sample->user_regs);
	if (script->fields & FIELD_TRACE)
		set_told(script, object, record);
	if (script->fields & FIELDS_OF_PLACE)
		set_place(script, object, &samples->frames[0]);
	for (size_t i = 1; i < samples->frame_count; i++) {
		json_t *caller = json_object();

		set_place(script, caller, &samples->frames[i]);
		json_array_append_new(chain, caller);
	}
	if (script->chains && record->fields & PERF_SAMPLE_CALLCHAIN &&
	    script->fields & FIELDS_OF_PLACE)
		json_object_set(object, "callers", chain);
	json_decref(chain);
}

static void set_body(const struct script *script, json_t *object,
		     const struct perffile_record *record)
{
	struct names *names = script->samples->symbols->names;

	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		set_address(object, "start", record->mmap.start);
		set_number(object, "length", record->mmap.length);
		set_address(object, "offset", record->mmap.offset);
		set_text(object, "filename", names_intern(names, record->mmap.name));
		json_object_set_new(object, "mapped_by", json_integer((int32_t)record->mmap.pid));
		break;
	case PERF_RECORD_COMM:
		set_text(object, "name", names_intern(names, record->comm.name));
		json_object_set_new(object, "exec", json_boolean(record->misc &
								 PERF_RECORD_MISC_COMM_EXEC));
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		set_number(object, "child_pid", record->task.pid);
		set_number(object, "child_tid", record->task.tid);
		set_number(object, "parent_pid", record->task.ppid);
		set_number(object, "parent_tid", record->task.ptid);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		set_number(object, "lost", record->lost);
		break;
	case PERF_RECORD_SWITCH_CPU_WIDE:
		json_object_set_new(object, "other_pid", json_integer((int32_t)record->other.pid));
		json_object_set_new(object, "other_tid", json_integer((int32_t)record->other.tid));
		/* fallthrough */
	case PERF_RECORD_SWITCH:
		json_object_set_new(object, "out", json_boolean(record->misc &
								PERF_RECORD_MISC_SWITCH_OUT));
		json_object_set_new(object, "preempted",
				    json_boolean(record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT));
		break;
	}
}

/**
 * script_print_json() - print a record
 * @script: of which the frames were resolved, if it is a sample.
 * @record: the record; if it is a sample, with an event.
 * @thread: that it belongs to, or NULL.
 *
 * Return: 0, -ENOMEM.
 */
int script_print_json(struct script *script, const struct perffile_record *record,
		      const struct thread *thread)
{
	json_t *object = json_object();
	int ret;

	set_text(object, "type", script_record_name(record->type));
	if (script->fields & FIELD_COMM && thread)
		set_text(object, "comm", thread->comm);
	if (script->fields & FIELD_PID)
		json_object_set_new(object, "pid", json_integer(record->pid));
	if (script->fields & FIELD_TID)
		json_object_set_new(object, "tid", json_integer(record->tid));
	if (script->fields & FIELD_CPU && record->fields & PERF_SAMPLE_CPU)
		set_number(object, "cpu", record->cpu);
	if (script->fields & FIELD_TIME && record->fields & PERF_SAMPLE_TIME)
		set_number(object, "time_ns", script_time(script, record));
	if (script->fields & FIELD_ID &&
	    record->fields & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		set_number(object, "id", record->id);
	if (record->type == PERF_RECORD_SAMPLE)
		set_sample(script, object, record);
	else
		set_body(script, object, record);
	ret = object ? json_dumpf(object, stdout, JSON_COMPACT) : -1;
	putchar('\n');
	json_decref(object);
	return ret < 0 ? -ENOMEM : 0;
}
