// SPDX-License-Identifier: GPL-2.0-only
/*
 * A recording as text, a line for each sample; if it has a call chain, a line for each
 * caller behind it, and an empty line.
 */
#include <inttypes.h>
#include <stdio.h>

#include "script.h"

#define NS_PER_SECOND 1000000000ULL

static bool wants(const struct script *script, unsigned int field)
{
	return script->fields & field;
}

static void print_ids(struct script *script, const struct perffile_record *record,
		      const struct thread *thread)
{
	bool both = wants(script, FIELD_PID) && wants(script, FIELD_TID);

	if (wants(script, FIELD_COMM))
		printf("%-16s ", thread ? thread->comm : "?");
	if (both)
		printf("%d/%d ", record->pid, record->tid);
	else if (wants(script, FIELD_PID))
		printf("%6d ", record->pid);
	else if (wants(script, FIELD_TID))
		printf("%6d ", record->tid);
	if (wants(script, FIELD_CPU) && record->fields & PERF_SAMPLE_CPU)
		printf("[%03u] ", record->cpu);
	if (wants(script, FIELD_TIME) && record->fields & PERF_SAMPLE_TIME) {
		uint64_t time = script_time(script, record);

		printf("%5" PRIu64 ".%09" PRIu64 ": ", (uint64_t)(time / NS_PER_SECOND),
		       (uint64_t)(time % NS_PER_SECOND));
	}
}

static void print_place(const struct script *script, const struct place *place)
{
	struct samples *samples = script->samples;
	const char *line;

	if (wants(script, FIELD_IP))
		printf(" %16" PRIx64, place->ip);
	if (wants(script, FIELD_SYM)) {
		printf(" %s", samples_place_name(samples, place));
		if (place->symbol && !place->symbol->is_inlined && wants(script, FIELD_SYMOFF))
			printf("+%#" PRIx64, place->address - place->symbol->start);
	}
	if (wants(script, FIELD_DSO) && !(place->symbol && place->symbol->is_inlined))
		printf(" (%s)", place->binary->path);
	if (wants(script, FIELD_LINE)) {
		line = symbols_source_line(samples->symbols, place);
		if (line)
			printf(" %s", line);
	}
}

/* What a tracepoint tells; returns whether it does. */
static bool print_told(const struct script *script, const struct perffile_record *record)
{
	const struct perf_event_attr *attr = &record->event->attr;

	if (!wants(script, FIELD_TRACE) || !script->tracepoints ||
	    attr->type != PERF_TYPE_TRACEPOINT || !(record->fields & PERF_SAMPLE_RAW))
		return false;
	putchar(' ');
	return tracepoints_print(script->tracepoints, attr->config, record->sample.raw,
				 record->sample.raw_size, stdout);
}

/* Branches as perf prints them, the newest first */
static void print_branches(const struct perffile_sample *sample)
{
	for (size_t i = 0; i < script_branch_count(sample); i++) {
		struct script_branch b = script_branch(sample, i);

		printf(" 0x%" PRIx64 "/0x%" PRIx64 "/%c/%c/%c/%u/%s ", b.from, b.to,
		       b.flags & SCRIPT_BRANCH_MISPRED ? 'M' :
		       b.flags & SCRIPT_BRANCH_PREDICTED ? 'P' : '-',
		       b.flags & SCRIPT_BRANCH_IN_TX ? 'X' : '-',
		       b.flags & SCRIPT_BRANCH_ABORT ? 'A' : '-', b.cycles, b.type);
	}
}

/* Registers as perf prints them */
static void print_registers(uint64_t abi, uint64_t mask, struct perffile_words values)
{
	size_t at = 0;

	printf(" ABI:%" PRIu64, abi);
	for (unsigned int i = 0; i < PERFFILE_REGS_MAX && at < values.count; i++)
		if (mask >> i & 1)
			printf(" %5s:0x%" PRIx64, perffile_register_name(i),
			       perffile_words_get(&values, at++));
}

/**
 * script_print_sample() - print a sample
 * @script: of which the frames were resolved.
 * @record: the sample, with an event.
 * @thread: its thread.
 */
void script_print_sample(struct script *script, const struct perffile_record *record,
			 const struct thread *thread)
{
	const struct samples *samples = script->samples;
	const struct perffile_sample *sample = &record->sample;
	bool column = script->chains && record->fields & PERF_SAMPLE_CALLCHAIN, told;

	print_ids(script, record, thread);
	if (wants(script, FIELD_PERIOD))
		printf("%10" PRIu64 " ", sample->period);
	if (wants(script, FIELD_EVENT))
		printf("%s:", samples_event_name(script->samples, record->event));
	if (wants(script, FIELD_ID) && record->fields & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
		printf(" id %" PRIu64, record->id);
	if (wants(script, FIELD_ADDR) && record->fields & PERF_SAMPLE_ADDR)
		printf(" addr %" PRIx64, sample->addr);
	if (wants(script, FIELD_PHYS) && record->fields & PERF_SAMPLE_PHYS_ADDR)
		printf(" phys %" PRIx64, sample->phys_addr);
	if (wants(script, FIELD_WEIGHT) &&
	    record->fields & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		printf(" weight %" PRIu64, sample->weight);
	if (wants(script, FIELD_BRSTACK) && record->fields & PERF_SAMPLE_BRANCH_STACK)
		print_branches(sample);
	if (wants(script, FIELD_IREGS) && record->fields & PERF_SAMPLE_REGS_INTR)
		print_registers(sample->intr_abi, record->attr->sample_regs_intr,
				sample->intr_regs);
	if (wants(script, FIELD_UREGS) && record->fields & PERF_SAMPLE_REGS_USER)
		print_registers(sample->user_abi, record->attr->sample_regs_user,
				sample->user_regs);
	told = print_told(script, record);
	/* Where a tracepoint is says less than what it tells. */
	if (!(script->fields & FIELDS_OF_PLACE) || (told && !column && !script->chose_fields)) {
		putchar('\n');
		return;
	}
	if (column)
		putchar('\n');
	for (size_t i = 0; i < samples->frame_count; i++) {
		if (column)
			putchar('\t');
		print_place(script, &samples->frames[i]);
		putchar('\n');
	}
	if (column)
		putchar('\n');
}

static void print_mmap(const struct script *script, const struct perffile_record *record)
{
	const struct perffile_mmap *map = &record->mmap;

	printf(" %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64 "] %s", (int32_t)map->pid,
	       (int32_t)map->tid, map->start, map->length, map->offset,
	       names_intern(script->samples->symbols->names, map->name));
	for (size_t i = 0; i < map->build_id_size; i++)
		printf("%s%02x", i ? "" : " build id ", map->build_id[i]);
}

static void print_switch(const struct perffile_record *record)
{
	bool is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;

	printf(" %s%s", is_out ? "out" : "in",
	       is_out && record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? " preempt" : "");
	if (record->type == PERF_RECORD_SWITCH_CPU_WIDE)
		printf(" %s pid/tid: %d/%d", is_out ? "next" : "prev", (int32_t)record->other.pid,
		       (int32_t)record->other.tid);
}

/**
 * script_print_record() - print a record that is no sample
 * @script: how.
 * @record: the record.
 * @thread: that it belongs to, or NULL.
 */
void script_print_record(struct script *script, const struct perffile_record *record,
			 const struct thread *thread)
{
	const struct perffile_ksymbol *code = &record->ksymbol;
	const struct perffile_task *task = &record->task;

	print_ids(script, record, thread);
	printf("%s", script_record_name(record->type));
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		print_mmap(script, record);
		break;
	case PERF_RECORD_COMM:
		printf("%s: %s:%d/%d", record->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec" : "",
		       names_intern(script->samples->symbols->names, record->comm.name),
		       (int32_t)record->comm.pid, (int32_t)record->comm.tid);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		printf("(%d:%d):(%d:%d)", (int32_t)task->pid, (int32_t)task->tid,
		       (int32_t)task->ppid, (int32_t)task->ptid);
		break;
	case PERF_RECORD_KSYMBOL:
		printf(" addr %" PRIx64 " len %u type %u flags 0x%x name %s", code->start, code->length,
		       code->type, code->flags,
		       names_intern(script->samples->symbols->names, code->name));
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		printf(": %" PRIu64, record->lost);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		print_switch(record);
		break;
	}
	putchar('\n');
}
