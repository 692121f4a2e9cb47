/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading perf.data files ("PERFILE2"), as perf and "pmuctl record" write them to a disk or
 * to a pipe. perffile.c opens a file and reads its header, features.c what it
 * tells about the recording, stream.c both where they are records, expand.c what is
 * compressed, feed.c takes records while they come, order.c finds the order of time,
 * records.c hands out the records in it, trace.c pieces of traces, sample.c takes a sample
 * apart, and groups.c makes of one that tells the counts of a group a sample of each of its events.
 *
 * Nothing in a file is believed: what it says is checked against its length before it
 * is used, and memory grows with the length of the file only. Strings and arrays that
 * are handed out point into the file, so 64-bit words there need not be aligned:
 * perffile_word() reads them.
 */
#ifndef PMUCTL_TOOL_PERFFILE_H
#define PMUCTL_TOOL_PERFFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <linux/perf_event.h>

#include "order.h"
#include "perffile_format.h"

/**
 * struct perffile_error - what is wrong with a file
 * @text: a sentence without the name of the file.
 */
struct perffile_error {
	char text[256];
};

/**
 * struct perffile_bytes - a piece of a file
 * @at: its first byte.
 * @end: the byte behind it.
 * @failed: more was taken from it than was there.
 */
struct perffile_bytes {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

/**
 * struct perffile_event - an event that was recorded
 * @attr: how; zero where the file's version is shorter than ours.
 * @name: what its user called it, or NULL if the file does not tell.
 * @ids: its numbers, words in the file.
 * @id_count: how many.
 * @members: of the group that it leads, itself among them; they follow it. 0 if it leads none.
 * @id_from_start: in a sample, where its number is, in words; -1: nowhere.
 * @id_from_end: in other records, likewise, from the end; 1 is the last word.
 * @time_from_start: where the time of a sample is.
 * @time_from_end: where the time of another record is.
 */
struct perffile_event {
	struct perf_event_attr attr;
	const char *name;
	const uint8_t *ids;
	size_t id_count;
	size_t members;
	int id_from_start;
	int id_from_end;
	int time_from_start;
	int time_from_end;
};

/**
 * struct perffile_build_id - the number by which a binary is known
 * @name: its file.
 * @pid: -1, or the process that has it mapped.
 * @misc: where it runs, as in the header of a sample.
 * @size: bytes of @id.
 * @id: the number.
 */
struct perffile_build_id {
	const char *name;
	int32_t pid;
	uint16_t misc;
	uint8_t size;
	uint8_t id[PERFFILE_BUILD_ID_MAX];
};

/**
 * struct perffile_info - what the file tells about the recording; NULL if it does not
 * @hostname: of the machine.
 * @osrelease: of its kernel.
 * @version: of the program that wrote the file.
 * @arch: of the machine.
 * @cpudesc: the name of its CPU.
 * @cpuid: the model of its CPU.
 * @cpus_online: CPUs that ran then, 0 if the file does not tell.
 * @cpus_available: CPUs that it has.
 * @memory: kilobytes that it has.
 * @cmdline: the command that recorded, its words with spaces between. Owned.
 * @build_ids: of the binaries that samples hit. Owned.
 * @build_id_count: how many.
 * @compression: how compressed records are, PERFFILE_ZSTD.
 * @tracing: what its tracepoints tell: PERFFILE_TRACING_DATA.
 * @tracing_size: bytes of it.
 */
struct perffile_info {
	const char *hostname;
	const char *osrelease;
	const char *version;
	const char *arch;
	const char *cpudesc;
	const char *cpuid;
	uint32_t cpus_online;
	uint32_t cpus_available;
	uint64_t memory;
	char *cmdline;
	struct perffile_build_id *build_ids;
	size_t build_id_count;
	uint32_t compression;
	const uint8_t *tracing;
	size_t tracing_size;
};

/**
 * struct perffile_words - 64-bit words in a file
 * @at: the first byte.
 * @count: how many words.
 */
struct perffile_words {
	const uint8_t *at;
	size_t count;
};

/**
 * struct perffile_sample - what only samples have; zero if it was not recorded
 * @ip: where the CPU was.
 * @addr: the address of the data.
 * @period: what the event counted since the sample before: as @read tells, or the sample, or
 *	else the attr.
 * @read: counts, in the attr's read_format.
 * @chain: the call chain, innermost first, with markers of context.
 * @raw: bytes of a tracepoint.
 * @raw_size: how many.
 * @branches: entries of three words each.
 * @branch_index: of the hardware, or -1.
 * @user_regs: registers of the interrupted user code.
 * @user_abi: PERF_SAMPLE_REGS_ABI_*
 * @stack: bytes of the user's stack.
 * @stack_size: how many.
 * @intr_regs: registers at the interrupt.
 * @intr_abi: PERF_SAMPLE_REGS_ABI_*
 * @weight: as the hardware gives it.
 * @data_src: where the data came from.
 * @transaction: flags of a transaction.
 * @phys_addr: physical address of the data.
 * @cgroup: number of the control group.
 * @data_page_size: of the page at @addr.
 * @code_page_size: of the page at @ip.
 * @aux: bytes of the AUX area.
 * @aux_size: how many.
 */
struct perffile_sample {
	uint64_t ip;
	uint64_t addr;
	uint64_t period;
	struct perffile_words read;
	struct perffile_words chain;
	const uint8_t *raw;
	size_t raw_size;
	struct perffile_words branches;
	uint64_t branch_index;
	struct perffile_words user_regs;
	uint64_t user_abi;
	const uint8_t *stack;
	size_t stack_size;
	struct perffile_words intr_regs;
	uint64_t intr_abi;
	uint64_t weight;
	uint64_t data_src;
	uint64_t transaction;
	uint64_t phys_addr;
	uint64_t cgroup;
	uint64_t data_page_size;
	uint64_t code_page_size;
	const uint8_t *aux;
	size_t aux_size;
};

/* Numbers of registers are smaller. */
#define PERFFILE_REGS_MAX 64

const char *perffile_register_name(unsigned int number);
int perffile_register_find(const char *name, size_t length);

/* MMAP, MMAP2 */
struct perffile_mmap {
	uint32_t pid;
	uint32_t tid;
	uint64_t start;
	uint64_t length;
	uint64_t offset;
	uint32_t prot;
	const char *name;
	uint8_t build_id_size;
	uint8_t build_id[PERFFILE_BUILD_ID_MAX];
};

/* COMM */
struct perffile_comm {
	uint32_t pid;
	uint32_t tid;
	const char *name;
};

/* READ: what a thread has counted, when it ended; @read is all that is told, @value the event's */
struct perffile_count {
	uint32_t pid;
	uint32_t tid;
	struct perffile_words read;
	uint64_t value;
};

/* FORK, EXIT */
struct perffile_task {
	uint32_t pid;
	uint32_t ppid;
	uint32_t tid;
	uint32_t ptid;
};

/* CGROUP: one that is there from now on */
struct perffile_cgroup {
	uint64_t id;
	const char *path;
};

/* SWITCH_CPU_WIDE: who comes, or, without PERF_RECORD_MISC_SWITCH_OUT, who went */
struct perffile_other {
	uint32_t pid;
	uint32_t tid;
};

/**
 * struct perffile_ksymbol - KSYMBOL: code that the kernel has made, or given back
 * @start: where it is.
 * @length: bytes.
 * @type: PERF_RECORD_KSYMBOL_TYPE_*.
 * @flags: PERF_RECORD_KSYMBOL_FLAGS_*.
 * @name: of the function that it is.
 */
struct perffile_ksymbol {
	uint64_t start;
	uint32_t length;
	uint16_t type;
	uint16_t flags;
	const char *name;
};

/* AUX: which part of a trace is complete */
struct perffile_aux {
	uint64_t position;
	uint64_t size;
	uint64_t flags;
};

/**
 * struct perffile_trace - a piece of a trace, as it was copied
 * @bytes: it, in the file.
 * @size: bytes.
 * @position: of its first byte in the whole trace of its buffer.
 * @reference: the time stamp counter when it was copied.
 * @buffer: number of the buffer.
 * @tid: of the task that was traced, or -1.
 * @cpu: that was traced, or -1.
 */
struct perffile_trace {
	const uint8_t *bytes;
	uint64_t size;
	uint64_t position;
	uint64_t reference;
	uint32_t buffer;
	int32_t tid;
	int32_t cpu;
};

/**
 * struct perffile_traces - all of a file
 * @whose: PERFFILE_TRACE_*; 0 if the file does not tell.
 * @words: enum perffile_intel_pt, or perffile_intel_bts.
 * @filter: what was traced at all, as PERF_EVENT_IOC_SET_FILTER takes it; NULL: everything.
 * @snapshot: the pieces were copied from what was written over and over.
 * @pieces: in the order of the file.
 * @count: how many.
 */
struct perffile_traces {
	uint32_t whose;
	uint64_t words[PERFFILE_PT_WORDS];
	char *filter;
	bool snapshot;
	struct perffile_trace *pieces;
	size_t count;
};

/**
 * struct perffile_record - one record
 * @type: PERF_RECORD_*, or of perf's own.
 * @misc: of its header.
 * @size: bytes, with the header.
 * @offset: where it is in the file, bytes.
 * @event: that it belongs to; NULL if the file has no such event.
 * @attr: of the event that has written it, by which a sample is laid out: that of @event, unless
 *	one of a group samples for all; NULL as @event.
 * @again: this sample was handed out before, as that of another event of its group.
 * @fields: which of PERF_SAMPLE_TID, _TIME, _ID, _STREAM_ID, _CPU it has below; of a
 *	sample, all that it has.
 * @pid: of the process, -1 if unknown.
 * @tid: of the thread.
 * @time: nanoseconds of the clock of the recording.
 * @id: of the event.
 * @stream_id: of the event's instance.
 * @cpu: on which it happened.
 * @sample: SAMPLE
 * @mmap: MMAP, MMAP2
 * @comm: COMM
 * @task: FORK, EXIT
 * @count: READ
 * @cgroup: CGROUP
 * @other: SWITCH_CPU_WIDE
 * @ksymbol: KSYMBOL
 * @aux: AUX
 * @lost: LOST, LOST_SAMPLES: how many.
 */
struct perffile_record {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
	uint64_t offset;
	const struct perffile_event *event;
	const struct perf_event_attr *attr;
	bool again;
	uint64_t fields;
	int32_t pid;
	int32_t tid;
	uint64_t time;
	uint64_t id;
	uint64_t stream_id;
	uint32_t cpu;
	union {
		struct perffile_sample sample;
		struct perffile_mmap mmap;
		struct perffile_comm comm;
		struct perffile_task task;
		struct perffile_count count;
		struct perffile_cgroup cgroup;
		struct perffile_other other;
		struct perffile_ksymbol ksymbol;
		struct perffile_aux aux;
		uint64_t lost;
	};
};

struct perffile_id {
	uint64_t id;
	size_t event;
};

struct perffile_counts;

/**
 * struct perffile - an open file
 * @data: its bytes.
 * @size: how many.
 * @mapped: they are to be unmapped, not only forgotten.
 * @source: NULL, or the file as it was before its records were expanded: then @data has only
 *	these.
 * @source_size: bytes of it.
 * @is_stream: it was written to a pipe: what a header tells is in records.
 * @is_compressed: some records have others in them, compressed.
 * @events: that were recorded.
 * @event_count: at least 1.
 * @ids: which number is whose, sorted. Private.
 * @id_count: how many.
 * @records: first byte of the section with the records.
 * @records_end: the byte behind it.
 * @is_unfinished: nobody wrote at its end how many records there are: those are read that
 *	are whole.
 * @left_out: bytes behind these.
 * @flags: which feature sections there are.
 * @info: what they say.
 * @order: of the records.
 * @record_count: how many there are.
 * @at: where the one is that was handed out last.
 * @values_told: of the record before, a sample of a group: how many of its counts were looked at.
 * @values_left: and how many are left.
 * @handed_out: it was handed out, as the sample of one of them.
 * @counts: what was told last of each event. Private.
 * @fed: memory for the records, if these come by and by: then some of them are for later.
 * @fed_until: the last time among them.
 */
struct perffile {
	const uint8_t *data;
	uint64_t size;
	bool mapped;
	const uint8_t *source;
	uint64_t source_size;
	bool is_stream;
	bool is_compressed;
	struct perffile_event *events;
	size_t event_count;
	struct perffile_id *ids;
	size_t id_count;
	uint64_t records;
	uint64_t records_end;
	bool is_unfinished;
	uint64_t left_out;
	uint64_t flags[PERFFILE_FEATURES / 64];
	struct perffile_info info;
	struct perffile_order order;
	size_t record_count;
	uint64_t at;
	size_t values_told;
	size_t values_left;
	bool handed_out;
	struct perffile_counts *counts;
	uint8_t *fed;
	uint64_t fed_until;
};

/* perffile.c */
int perffile_open(struct perffile **file, const char *path,
		  struct perffile_error *error);
int perffile_open_memory(struct perffile **file, const void *data, size_t size,
			 struct perffile_error *error);
void perffile_close(struct perffile *file);

/* records.c */
int perffile_next(struct perffile *file, struct perffile_record *record,
		  struct perffile_error *error);
int perffile_record_read(const struct perffile *file, uint64_t at, struct perffile_record *record,
			 struct perffile_error *error);

/* feed.c */
int perffile_feed(struct perffile *file, const void *records, size_t size,
		  struct perffile_error *error);

/* trace.c */
int perffile_traces_read(const struct perffile *file, struct perffile_traces *traces);
void perffile_traces_free(struct perffile_traces *traces);

/* Between the parts */

/* Of a file that is gone through so many bytes are kept in memory; a power of two */
#define PERFFILE_PAGES (1ULL << 23)

int perffile_fail(struct perffile_error *error, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int perffile_no_memory(struct perffile_error *error);
int perffile_event_read(struct perffile_event *event, const uint8_t *at, size_t room,
			size_t *length, struct perffile_error *error);
int perffile_features_read(struct perffile *file, struct perffile_error *error);
void perffile_feature_read(struct perffile *file, unsigned int number,
			   struct perffile_bytes bytes);
bool perffile_build_id_read(struct perffile_build_id *id, struct perffile_bytes *bytes);
int perffile_stream_events(struct perffile *file, struct perffile_error *error);
int perffile_stream_features(struct perffile *file, struct perffile_error *error);
int perffile_expand(struct perffile *file, struct perffile_error *error);
FILE *perffile_spool_new(struct perffile_error *error);
int perffile_spool_failed(struct perffile_error *error);
int perffile_spool_map(FILE *spool, const void **data, size_t *size,
		       struct perffile_error *error);
int perffile_spool_copy(int fd, const void **data, size_t *size,
			struct perffile_error *error);
int perffile_records_check(struct perffile *file, struct perffile_error *error);
uint64_t perffile_record_length(const struct perffile *file, uint64_t at);
uint64_t perffile_record_after(const struct perffile *file, uint64_t at);
void perffile_record_time(const struct perffile *file, uint64_t at, uint64_t *time);
void perffile_let_go(const struct perffile *file, uint64_t from, uint64_t to);
void perffile_pass(const struct perffile *file, uint64_t at, uint64_t next);
struct perffile_event *perffile_event_by_id(const struct perffile *file, uint64_t id);
bool perffile_sample_parse(struct perffile_record *record,
			   struct perffile_bytes *bytes);
struct perffile_words perffile_read_take(uint64_t format, struct perffile_bytes *bytes);
size_t perffile_read_count(uint64_t format, const struct perffile_words *read);
uint64_t perffile_read_value(uint64_t format, const struct perffile_words *read, size_t n,
			     uint64_t *id);
int perffile_group_next(struct perffile *file, struct perffile_record *record);
void perffile_counts_free(struct perffile_counts *counts);

static inline uint64_t perffile_word(const uint8_t *at)
{
	uint64_t value;

	__builtin_memcpy(&value, at, sizeof(value));
	return value;
}

static inline struct perf_event_header perffile_header(const struct perffile *file, uint64_t at)
{
	struct perf_event_header header;

	__builtin_memcpy(&header, file->data + at, sizeof(header));
	return header;
}

/* Take @size bytes off @bytes; NULL, and @failed is set, if there are fewer. */
static inline const uint8_t *perffile_take(struct perffile_bytes *bytes, uint64_t size)
{
	const uint8_t *at = bytes->at;

	if (bytes->failed || size > (uint64_t)(bytes->end - bytes->at)) {
		bytes->failed = true;
		return NULL;
	}
	bytes->at += size;
	return at;
}

/* The next 64-bit word, 0 if there is none. */
static inline uint64_t perffile_take64(struct perffile_bytes *bytes)
{
	const uint8_t *at = perffile_take(bytes, sizeof(uint64_t));

	return at ? perffile_word(at) : 0;
}

/* The next 32-bit word, 0 if there is none. */
static inline uint32_t perffile_take32(struct perffile_bytes *bytes)
{
	const uint8_t *at = perffile_take(bytes, sizeof(uint32_t));
	uint32_t value = 0;

	if (at)
		__builtin_memcpy(&value, at, sizeof(value));
	return value;
}

/* The next @count 64-bit words; none if there are fewer. */
static inline struct perffile_words perffile_take_words(struct perffile_bytes *bytes,
							uint64_t count)
{
	struct perffile_words words = { NULL, 0 };

	if (count > (uint64_t)(bytes->end - bytes->at) / sizeof(uint64_t)) {
		bytes->failed = true;
		return words;
	}
	words.at = perffile_take(bytes, count * sizeof(uint64_t));
	words.count = words.at ? count : 0;
	return words;
}

/* The string that begins here and ends within @bytes; NULL if none does. */
static inline const char *perffile_string(const struct perffile_bytes *bytes)
{
	size_t left = (size_t)(bytes->end - bytes->at);

	if (bytes->failed || !left || !__builtin_memchr(bytes->at, 0, left))
		return NULL;
	return (const char *)bytes->at;
}

/* Word @n of @words. */
static inline uint64_t perffile_words_get(const struct perffile_words *words, size_t n)
{
	return perffile_word(words->at + n * sizeof(uint64_t));
}

#endif /* PMUCTL_TOOL_PERFFILE_H */
