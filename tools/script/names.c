// SPDX-License-Identifier: GPL-2.0-only
/*
 * What of records is the same in text and in JSON: the names of their types, times, branches.
 */
#include "report/report.h"
#include "script.h"

/**
 * script_record_name() - the name of a type of record
 * @type: PERF_RECORD_*
 *
 * Return: the name, in small letters.
 */
const char *script_record_name(uint32_t type)
{
	static const char *const names[] = {
		[PERF_RECORD_MMAP] = "mmap", [PERF_RECORD_LOST] = "lost",
		[PERF_RECORD_COMM] = "comm", [PERF_RECORD_EXIT] = "exit",
		[PERF_RECORD_THROTTLE] = "throttle", [PERF_RECORD_UNTHROTTLE] = "unthrottle",
		[PERF_RECORD_FORK] = "fork", [PERF_RECORD_READ] = "read",
		[PERF_RECORD_SAMPLE] = "sample", [PERF_RECORD_MMAP2] = "mmap2",
		[PERF_RECORD_AUX] = "aux", [PERF_RECORD_ITRACE_START] = "itrace_start",
		[PERF_RECORD_LOST_SAMPLES] = "lost_samples", [PERF_RECORD_SWITCH] = "switch",
		[PERF_RECORD_SWITCH_CPU_WIDE] = "switch_cpu_wide",
		[PERF_RECORD_NAMESPACES] = "namespaces", [PERF_RECORD_KSYMBOL] = "ksymbol",
		[PERF_RECORD_BPF_EVENT] = "bpf_event", [PERF_RECORD_CGROUP] = "cgroup",
		[PERF_RECORD_TEXT_POKE] = "text_poke",
		[PERF_RECORD_AUX_OUTPUT_HW_ID] = "aux_output_hw_id",
	};

	return type < ARRAY_LEN(names) && names[type] ? names[type] : "unknown";
}

/**
 * script_time() - the time of a record, as it is to be printed
 * @script: what it is since; is told of it.
 * @record: that is printed now, with a time.
 *
 * Return: nanoseconds.
 */
uint64_t script_time(struct script *script, const struct perffile_record *record)
{
	uint64_t since;

	if (script->time_since == SCRIPT_TIME_CLOCK)
		return record->time;
	since = script->time_base ? script->time_base : record->time;
	if (!script->time_base || script->time_since == SCRIPT_TIME_LAST)
		script->time_base = record->time;
	return record->time - since;
}

#define BRANCH_WORDS	3

/* Branches of a sample, the newest first */
size_t script_branch_count(const struct perffile_sample *sample)
{
	return sample->branches.count / BRANCH_WORDS;
}

struct script_branch script_branch(const struct perffile_sample *sample, size_t i)
{
	const uint8_t *at = sample->branches.at + i * BRANCH_WORDS * sizeof(uint64_t);
	uint64_t flags = perffile_word(at + 2 * sizeof(uint64_t));

	return (struct script_branch){
		.from = perffile_word(at),
		.to = perffile_word(at + sizeof(uint64_t)),
		.flags = flags & 0xf,
		.cycles = flags >> 4 & 0xffff,
		.type = dump_branch_type(flags),
	};
}
