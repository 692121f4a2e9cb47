/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl record": what its parts share. record.c understands the command line,
 * callgraph.c how callers are found, branches.c which branches are taken,
 * registers.c which registers,
 * run.c is the order of things,
 * open.c opens events and rings, pages.c says how large these are, overwrite.c those that are overwritten, trace.c the
 * buffers of traces, read.c copies records to the file, note.c learns what they say,
 * tasks.c and kernel.c describe what was there before, info.c the
 * machine, formats.c tracepoints, dsos.c the programs, output.c the
 * name of the file, compress.c what "-z" makes of its records, switch.c when the next file is begun,
 * others.c names what perf has beside.
 */
#ifndef PMUCTL_TOOL_RECORD_H
#define PMUCTL_TOOL_RECORD_H

#include <pmuctl_trace.h>

#include "perffile/perfdata.h"
#include "stat/stat.h"

enum record_callgraph {
	CALLGRAPH_NONE,
	CALLGRAPH_FP,		/* the kernel follows frame pointers */
	CALLGRAPH_DWARF,	/* registers and a copy of the stack, to be unwound later */
	CALLGRAPH_LBR,		/* branches that the CPU has recorded */
};

/**
 * struct record_options - what the command line asks for
 * @measure: which events, and whom to sample.
 * @frequency: samples in a second; 0 if @period is asked for.
 * @period: events from sample to sample.
 * @usual_rate: nobody asked for either; then @frequency is ours.
 * @callgraph: how to find out who called,
 * @chains_from: of this event and those behind it.
 * @no_kernel_chains: the kernel's part of call chains is left out,
 * @no_user_chains: or that of user space.
 * @stack_size: of CALLGRAPH_DWARF: bytes of each stack that are copied.
 * @branches: PERF_SAMPLE_BRANCH_* of -b and -j; 0 none.
 * @registers: a bit for each register at the interrupt that each sample has,
 * @user_registers: and for each of user space.
 * @addresses: each sample has the address of the data, if its event has one.
 * @cpu_of_each: each sample has its CPU, also of tasks.
 * @thread_counts: what each thread has counted is told at its end.
 * @switches: switches are told of, too.
 * @namespaces: likewise namespaces,
 * @cgroups: and cgroups.
 * @no_bpf: BPF programs are not.
 * @use_clock: @clock was asked for.
 * @clock: CLOCK_*, of times in the recording.
 * @pages: size of each ring, without the page about it; 0: as many as there usually are.
 * @trace_pages: size of each buffer for a trace; 0: as it can be had.
 * @snapshot: of traces only the end is kept, and what is there at each SIGUSR2.
 * @overwrite: likewise of samples: they are in the file when it ends.
 * @delay: milliseconds from the start to the first sample, or DELAY_FOREVER; 0 none.
 * @control: where commands come from, as it was typed; NULL: from nowhere.
 * @max_size: bytes of that after which it ends; 0: as many as there are.
 * @output: file to write to.
 * @timestamp_name: its name ends with the time.
 * @switches_output: there are several, one after the other, when a signal comes,
 * @switch_size: or when one has so many bytes,
 * @switch_seconds: or after so long; 0: not for that.
 * @switch_files: so many of them are kept; 0: all.
 * @quiet: say nothing but errors.
 * @dry_run: only the command line is looked at.
 * @no_build_ids: leave them out.
 * @no_copies: programs are not copied for later reports,
 * @all_copies: or all of them, also of whole CPUs.
 * @kcore: @output is a directory, with a copy of the kernel's code.
 * @compression: level of it, 0 none.
 * @line: the whole command line, ended by NULL.
 */
struct record_options {
	struct measure measure;
	uint64_t frequency;
	uint64_t period;
	bool usual_rate;
	enum record_callgraph callgraph;
	size_t chains_from;
	bool no_kernel_chains;
	bool no_user_chains;
	unsigned int stack_size;
	uint64_t branches;
	uint64_t registers;
	uint64_t user_registers;
	bool addresses;
	bool cpu_of_each;
	bool thread_counts;
	bool switches;
	bool namespaces;
	bool cgroups;
	bool no_bpf;
	bool use_clock;
	int clock;
	unsigned int pages;
	unsigned int trace_pages;
	bool snapshot;
	bool overwrite;
	unsigned int delay;
	const char *control;
	uint64_t max_size;
	const char *output;
	bool timestamp_name;
	bool switches_output;
	uint64_t switch_size;
	uint64_t switch_seconds;
	uint64_t switch_files;
	bool quiet;
	bool dry_run;
	bool no_build_ids;
	bool no_copies;
	bool all_copies;
	bool kcore;
	int compression;
	char **line;
};

/* record.c */
int record_pages_parse(const struct record_options *options, const char *text,
		       unsigned int *result);
int record_size_parse(const struct record_options *options, const char *option, const char *text,
		      uint64_t most, uint64_t *number, bool *is_size);
extern const struct other_option record_others[];

int record_rate_option(struct record_options *options, int option);
int record_rate_check(struct record_options *options);

/* callgraph.c */
int callgraph_option(struct record_options *options, const char *text);
void callgraph_prepare(const struct record_options *options, struct perf_event_attr *attr);

/* branches.c */
int branches_option(struct record_options *options, const char *text);
void branches_prepare(const struct record_options *options, struct perf_event_attr *attr);

/* registers.c */
uint64_t registers_all(void);
int registers_option(const struct record_options *options, const char *text, uint64_t *registers);
void registers_prepare(const struct record_options *options, struct perf_event_attr *attr);

/* open.c */

/**
 * struct recording - events times targets, and their rings
 * @set: events and targets.
 * @options: what was asked for.
 * @events: the same events for the file.
 * @ids: of the handles; those of an event are in a row, whatever is NULL.
 * @teller: number of the event that tells of new programs, tasks and maps too.
 * @ring_event: number of the event whose rings they are.
 * @pages: size of each ring, without the page about it.
 * @rings: one for each target: of that event; NULL where nothing is open.
 * @overwritten: likewise those of all events but @teller, if only the newest samples are wanted;
 *	otherwise NULL.
 * @taken: what their heads were when they were read last.
 * @traces: the buffers of its traces; NULL if nothing traces.
 * @of_branches: these are Branch Trace Store's, not Processor Trace's.
 */
struct recording {
	struct event_set set;
	const struct record_options *options;
	struct perfdata_event *events;
	uint64_t *ids;
	size_t teller;
	size_t ring_event;
	unsigned int pages;
	struct pmuctl_ring **rings;
	struct pmuctl_ring **overwritten;
	uint64_t *taken;
	struct pmuctl_trace **traces;
	bool of_branches;
};

int recording_open(struct pmuctl_device *dev, const struct record_options *options,
		   pid_t child, struct recording **recording);
struct pmuctl_event *recording_ring_event(const struct recording *r, size_t target);
void recording_close(struct recording *recording);
uint64_t recording_lost(const struct recording *recording);
int recording_tell(const struct recording *recording);
void recording_disable(const struct recording *recording);
bool recording_tells_maps(const struct recording *recording);
bool recording_samples_kernel(const struct recording *recording);
size_t recording_trailer(const struct recording *recording);

/* pages.c */
void pages_choose(struct recording *recording);
int pages_open_ring(struct recording *recording, struct pmuctl_event *owner, bool overwritten,
		    struct pmuctl_ring **ring);

/* overwrite.c */
int overwrite_check(const struct record_options *options, bool traces);
unsigned int overwrite_pages(const struct recording *recording, bool overwritten);
int overwrite_init(struct recording *recording);
int overwrite_check_teller(const struct recording *r);
int overwritten_take(const struct recording *recording, size_t target,
		     struct perfdata_buffer *records);
void overwrite_close(struct recording *recording);

/* memory.c */
int recording_to_memory(const struct recording *recording, const char *name, int *fd, char *path,
			size_t size);
uint64_t recording_take(const struct recording *recording, struct perfdata_buffer *records);

/* rings_watch.c */

/**
 * struct rings_watch - waits until there is something in the rings
 * @fd: an epoll descriptor of them all; -1: not opened.
 * @alive: targets that are not gone.
 */
struct rings_watch {
	int fd;
	size_t alive;
};

int rings_watch_open(struct rings_watch *watch, const struct recording *recording);
void rings_watch_forget(struct rings_watch *watch);

/* trace.c: buffers of traces */
int traces_find(struct recording *recording);
int traces_open(struct recording *recording);
void traces_close(struct recording *recording);
int traces_describe(const struct recording *recording, struct perfdata *file);
int trace_read(const struct recording *recording, struct perfdata *file, size_t target,
	       bool *any);
int traces_snapshot(const struct recording *recording, struct perfdata *file, bool go_on);

/* dsos.c: which files the recorded programs were made of */
struct dsos;

/**
 * struct dso_mapping - a file that a task has mapped
 * @path: the file, as the task knows it. Another task may know another one by it.
 * @pid: the task.
 * @start: where it is mapped.
 * @size: bytes there.
 * @major: of the device that the file is on. 0, with @minor and @inode: unknown.
 * @minor: likewise.
 * @inode: of the file.
 */
struct dso_mapping {
	const char *path;
	pid_t pid;
	uint64_t start;
	uint64_t size;
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
};

/* As it is in a PERF_RECORD_MMAP2 in the place of device and inode */
struct dso_build_id {
	uint8_t size;
	uint8_t reserved[3];
	uint8_t bytes[PERFFILE_BUILD_ID_MAX];
};

struct dsos *dsos_new(void);
void dsos_free(struct dsos *dsos);
int dsos_add(struct dsos *dsos, const struct dso_mapping *mapping,
	     struct dso_build_id *own);
void dsos_put(struct dsos *dsos, struct perfdata_buffer *buffer);
int dsos_keep(const struct dsos *dsos, bool all, const char **path);

/* keep.c: copies of programs */
int keep_open(void);
int keep_copy(int copies, int fd, const char *path, const struct dso_build_id *id);

/* tasks.c, kernel.c */

/**
 * struct synth - records of what was there before
 * @buffer: the records.
 * @trailer: bytes at the end of each, which say nothing of events.
 * @dsos: filled with the files that are mapped; NULL if nobody wants them.
 * @data: tell of mappings of files without code, too.
 */
struct synth {
	struct perfdata_buffer buffer;
	size_t trailer;
	struct dsos *dsos;
	bool data;
};

void synth_record(struct synth *synth, struct perf_event_header header,
		  const void *body, size_t size, const char *text);
void synth_process(struct synth *synth, pid_t pid);
void synth_thread(struct synth *synth, pid_t tid);
void synth_all_tasks(struct synth *synth);
void synth_command(struct synth *synth, pid_t pid);
void synth_targets(struct synth *synth, const struct measure *measure, pid_t child, bool all);
int synth_kernel(struct synth *synth);

/* cgroups.c */
void synth_cgroups(struct synth *synth);

/* Called with the file of each module, or its name in brackets if there is none */
typedef void (*module_visit)(void *arg, const char *name, const char *path,
			     uint64_t address, uint64_t size);
void modules_visit(module_visit visit, void *arg);

/* compress.c */
struct compressor;

int compressor_new(int level, struct compressor **compressor);
int compressor_write(struct compressor *compressor, struct perfdata *file,
		     const struct iovec *pieces, int count);
void compressor_describe(const struct compressor *compressor, struct perfdata *file);
void compressor_totals(const struct compressor *compressor, uint64_t *before, uint64_t *after);
void compressor_free(struct compressor *compressor);

/* read.c */

/**
 * struct record_totals - what was recorded
 * @samples: how many.
 * @lost: records that found no room.
 * @throttled: how often an event was throttled, as it came too often.
 * @damaged: how often something was in a ring that is no record.
 * @traced: bytes of traces.
 * @truncated: how often a trace stopped as its buffer was full.
 * @wakeups: how often there was something to read.
 * @first: when the first sample was taken, 0 without any.
 * @last: and the last one.
 */
struct record_totals {
	uint64_t samples;
	uint64_t lost;
	uint64_t throttled;
	uint64_t damaged;
	uint64_t traced;
	uint64_t truncated;
	uint64_t wakeups;
	uint64_t first;
	uint64_t last;
};

/* note.c */
void record_note(const struct perf_event_header *record, struct record_totals *totals,
		 struct dsos *dsos, struct perfdata_buffer *told);

struct reader;

int reader_new(struct recording *recording, struct perfdata *file,
	       struct compressor *compressor, struct dsos *dsos, int snapshots, struct reader **reader);
void reader_start(struct reader *reader, unsigned int delay,
		  int (*begin)(void *arg), void *arg);
void reader_fail(struct reader *reader, int error);
int reader_begin(struct reader *reader);
bool reader_is_late(const struct reader *reader);
int reader_snapshot(struct reader *reader);
int reader_pause(struct reader *reader);
void reader_resume(struct reader *reader, struct perfdata *file, struct compressor *compressor,
		   struct dsos *dsos);
int reader_stop(struct reader *reader);
void reader_free(struct reader *reader);
int reader_alive_fd(const struct reader *reader);
bool reader_has_failed(const struct reader *reader);
const struct record_totals *reader_totals(const struct reader *reader);
uint64_t reader_samples(const struct reader *reader);

/* info.c */
void info_put(struct perfdata *file, char *const *line,
	      const struct record_totals *totals);

/* formats.c */
void formats_put(struct perfdata *file, const struct perfdata_event *events,
		 size_t nr_events);

/* kcore.c */
int kcore_create(const char *dir);
int kcore_copy(const char *dir);

/* output.c */

/**
 * struct output - where a recording goes
 * @name: as the user gave it.
 * @path: the same, links followed.
 * @temporary: its name until it is kept; then NULL.
 * @is_unnamed: it gets that only when it is kept.
 * @fd: of the file, or of the one in the directory; -1: it is not open.
 * @is_stream: it is a pipe or a device: what was written cannot be changed.
 */
struct output {
	const char *name;
	char *path;
	char *temporary;
	bool is_unnamed;
	int fd;
	bool is_stream;
};

int output_open(struct output *output, const char *name, bool kcore, int signals);
void output_keep(struct output *output);
int output_close(struct output *output);

/* switch.c */

/**
 * struct parts - the files of a recording
 * @names: of those that are there, the last one is being written.
 * @count: of @names.
 * @since: when the last one was begun, CLOCK_MONOTONIC.
 */
struct parts {
	char **names;
	size_t count;
	struct timespec since;
};

int switch_option(struct record_options *options, const char *text);
int switch_check(const struct record_options *options);
const char *parts_next(struct parts *parts, const struct record_options *options);
void parts_trim(struct parts *parts, const struct record_options *options, bool ended);
bool parts_are_due(const struct parts *parts, const struct record_options *options, uint64_t size);
void parts_free(struct parts *parts);

/* run.c */
int record_run(struct pmuctl_device *dev, const struct record_options *options);

#endif /* PMUCTL_TOOL_RECORD_H */
