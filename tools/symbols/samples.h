/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The samples of a recording with names for their addresses: what "pmuctl report" and
 * "pmuctl script" are made of. It joins the reader of the file (perffile.h) with the
 * story of the tasks and the symbols (symbols.h).
 */
#ifndef PMUCTL_TOOL_SAMPLES_H
#define PMUCTL_TOOL_SAMPLES_H

#include "progress.h"
#include "symbols.h"

/* Chains are cut off behind so many frames. */
#define SAMPLES_FRAMES_MAX 1024

/**
 * struct samples - an open recording
 * @path: of its file.
 * @file: the reader.
 * @symbols: the binaries.
 * @tasks: the tasks, as they are at the last record that was read.
 * @unwinder: for copies of stacks.
 * @lost: records that had no room when they were recorded: the rings, or the disk, were full.
 * @lost_samples: samples that the hardware lost.
 * @throttled: times that sampling was stopped for a moment as it was too much.
 * @foreign: samples of an event that the file does not describe.
 * @progress: tells how much of it was read.
 * @tell_next: when, in nanoseconds of CLOCK_MONOTONIC.
 * @looked: records that were read since the clock was looked at.
 * @no_inline: leave inlined functions out.
 * @max_stack: frames of a call chain, at most; 0: all.
 * @frames: of the last samples_resolve(), the innermost first.
 * @self: which of them is the function that has the sample's address; what is before was
 *	inlined there.
 * @frame_count: how many, at least 1.
 */
struct samples {
	const char *path;
	struct perffile *file;
	struct symbols *symbols;
	struct tasks *tasks;
	struct unwinder *unwinder;
	uint64_t lost;
	uint64_t lost_samples;
	uint64_t throttled;
	uint64_t foreign;
	struct progress progress;
	uint64_t tell_next;
	unsigned int looked;
	bool no_inline;
	size_t max_stack;
	size_t self;
	struct place frames[SAMPLES_FRAMES_MAX];
	size_t frame_count;
};

/**
 * struct samples_options - how a recording is read
 * @path: of its file.
 * @root: directory that stands for the root of the file system, or "".
 * @kallsyms: file with the kernel's symbols, or NULL.
 * @vmlinux: likewise, the kernel as an ELF file.
 * @no_inline: leave inlined functions out of chains.
 * @max_stack: frames of a call chain, at most; 0: all.
 * @debuginfod: servers that are asked for missing debug files, with spaces between; "": those
 *	of DEBUGINFOD_URLS; NULL: none.
 * @is_quiet: the terminal is not told how much was read.
 */
struct samples_options {
	const char *path;
	const char *root;
	const char *kallsyms;
	const char *vmlinux;
	bool no_inline;
	size_t max_stack;
	const char *debuginfod;
	bool is_quiet;
};

int samples_open(struct samples **samples, const struct samples_options *options);
int samples_read(struct samples *samples, struct perffile_record *record);
int samples_follow(struct samples *samples, const struct perffile_record *record);
int samples_next(struct samples *samples, struct perffile_record *record);
void samples_tell_no_more(struct samples *samples);
struct thread *samples_resolve(struct samples *samples,
			       const struct perffile_record *record, bool with_chain);
const char *samples_event_name(struct samples *samples,
			       const struct perffile_event *event);
const char *samples_place_name(struct samples *samples, const struct place *place);
const char *samples_frame_name(struct samples *samples, const struct place *place);
void samples_warn(const struct samples *samples);
void samples_close(struct samples *samples);

#endif /* PMUCTL_TOOL_SAMPLES_H */
