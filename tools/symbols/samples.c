// SPDX-License-Identifier: GPL-2.0-only
/*
 * The samples of a recording with names for their addresses, and what went wrong while
 * it was recorded. samples.h tells the rest.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "inline.h"
#include "samples.h"
#include "unwind.h"

/* Messages about binaries without symbols */
#define PROBLEMS_MAX 8

/* How much was read is told where that takes longer than the first, and then so often. */
#define TELL_FIRST	1000000000ULL
#define TELL_AGAIN	500000000ULL

/* The clock is looked at once in so many records; a stack to unwind is some 100 us of each. */
#define TELL_RECORDS	64

/* Files are mapped: if one becomes shorter, reading it ends here. */
static void file_became_shorter(int signal)
{
	static const char text[] =
		"pmuctl: the recording, or a program in it, became shorter while it was read: try again\n";

	(void)signal;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(STATUS_FAILED);
	_exit(STATUS_FAILED);
}

/* A file of somebody else's needs no privilege of ours. Root's own rights stay. */
static void drop_capabilities(void)
{
	cap_t none = geteuid() ? cap_init() : NULL;

	if (!none)
		return;
	cap_set_proc(none);
	cap_free(none);
}

/* Each program with samples stays open, and a large machine has many. */
static void allow_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* elfutils would ask servers whenever the environment names some. */
static int choose_servers(const char *urls)
{
	static const char variable[] = "DEBUGINFOD_URLS";
	const char *usual = getenv(variable);

	if (!urls)
		return unsetenv(variable) < 0 ? -errno : 0;
	if (*urls)
		return setenv(variable, urls, 1) < 0 ? -errno : 0;
	if (usual && *usual)
		return 0;
	say_error("--debuginfod: no server is known: give one, as --debuginfod=URL, or set %s",
		  variable);
	return -EINVAL;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/**
 * samples_open() - open a recording; says what is wrong
 * @samples: set; to be closed with samples_close().
 * @options: how; must stay.
 *
 * Return: 0, or a negative error number.
 */
int samples_open(struct samples **samples, const struct samples_options *options)
{
	const struct sigaction action = { .sa_handler = file_became_shorter };
	static bool is_caught;
	struct samples *new = calloc(1, sizeof(*new));
	struct perffile_error error;
	int ret = choose_servers(options->debuginfod);

	if (ret < 0) {
		free(new);
		return ret;
	}
	ret = -ENOMEM;
	drop_capabilities();
	allow_files();
	/* Once: whoever has a screen gives it back before. */
	if (!is_caught)
		sigaction(SIGBUS, &action, NULL);
	is_caught = true;
	if (new) {
		new->path = options->path;
		new->no_inline = options->no_inline;
		new->max_stack = options->max_stack;
		progress_init(&new->progress, stderr, false);
		new->tell_next = now() + TELL_FIRST;
		if (options->is_quiet)
			samples_tell_no_more(new);
		ret = perffile_open(&new->file, options->path, &error);
		if (ret < 0) {
			say_error("cannot read '%s': %s", options->path, error.text);
			free(new);
			return ret;
		}
		if (new->file->is_unfinished)
			say_error("'%s' was not finished: the program that recorded was killed, or is still recording: its last records are missing",
				  options->path);
		new->symbols = symbols_new(&new->file->info, options->root,
					   options->kallsyms);
	}
	if (new && new->symbols)
		new->symbols->vmlinux = options->vmlinux;
	if (new && new->symbols)
		new->tasks = tasks_new(new->symbols);
	if (new && new->tasks)
		new->unwinder = unwinder_new(new->tasks);
	if (new && new->unwinder) {
		*samples = new;
		return 0;
	}
	samples_close(new);
	say_error("%s", pmuctl_strerror(-ENOMEM));
	return -ENOMEM;
}

/**
 * samples_tell_no_more() - the terminal is not told how much was read any more
 * @samples: the recording. What was told goes: something else is written from now on.
 */
void samples_tell_no_more(struct samples *samples)
{
	progress_clear(&samples->progress);
	samples->progress.out = NULL;
}

/* Where it takes long, and is not fed by and by: then nobody knows how much comes. */
static void tell(struct samples *samples)
{
	uint64_t time;

	if (!samples->progress.out || ++samples->looked % TELL_RECORDS || samples->file->fed)
		return;
	time = now();
	if (time < samples->tell_next)
		return;
	samples->tell_next = time + TELL_AGAIN;
	progress_show(&samples->progress, "reading '%s': %u %%", samples->path,
		      perffile_percent(samples->file));
}

static int say_unreadable(struct samples *samples, int ret, const struct perffile_error *error)
{
	samples_tell_no_more(samples);
	say_error("cannot read '%s': %s", samples->path, error->text);
	return ret;
}

/**
 * samples_read() - the next record, not followed yet; says what is wrong
 * @samples: the recording.
 * @record: filled; samples_follow() is next.
 *
 * Return: 1, 0 behind the last one, or a negative error number.
 */
int samples_read(struct samples *samples, struct perffile_record *record)
{
	struct perffile_error error;
	int ret = perffile_next(samples->file, record, &error);

	return ret < 0 ? say_unreadable(samples, ret, &error) : ret;
}

/**
 * samples_follow() - take in what a record tells; says what is wrong
 * @samples: the recording.
 * @record: the one that was read last.
 *
 * Return: 0 or a negative error number.
 */
int samples_follow(struct samples *samples, const struct perffile_record *record)
{
	struct perffile_error error;
	int ret = tasks_record(samples->tasks, record, &error);

	if (ret < 0)
		return say_unreadable(samples, ret, &error);
	switch (record->type) {
	case PERF_RECORD_LOST:
		samples->lost += record->lost;
		break;
	case PERF_RECORD_LOST_SAMPLES:
		/* Recorders write it at the end, without a time, for what their rings lost. */
		if (record->time)
			samples->lost_samples += record->lost;
		else
			samples->lost += record->lost;
		break;
	case PERF_RECORD_THROTTLE:
		samples->throttled++;
		break;
	case PERF_RECORD_SAMPLE:
		samples->foreign += !record->event;
		break;
	}
	return 0;
}

/**
 * samples_next() - the next record; says what is wrong
 * @samples: the recording.
 * @record: filled; it has already been followed.
 *
 * Return: 1, 0 behind the last one, or a negative error number.
 */
int samples_next(struct samples *samples, struct perffile_record *record)
{
	int ret = samples_read(samples, record);
	int followed = ret > 0 ? samples_follow(samples, record) : 0;

	if (ret > 0)
		tell(samples);
	else
		samples_tell_no_more(samples);
	return followed < 0 ? followed : ret;
}

static uint16_t mode_of_marker(uint64_t marker)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
		return PERF_RECORD_MISC_GUEST_KERNEL;
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return PERF_RECORD_MISC_GUEST_USER;
	}
	return PERF_RECORD_MISC_CPUMODE_UNKNOWN;
}

/*
 * Through these an interrupt or exception enters the kernel. What it stopped has called
 * nothing: its address is that of the next instruction, not behind a call.
 */
static bool is_interrupt_entry(const struct place *place)
{
	static const char *const prefixes[] = {
		"asm_exc_", "asm_sysvec_", "asm_common_interrupt", "asm_spurious_interrupt",
	};

	if (place->level != 'k' || !place->symbol)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (!strncmp(place->symbol->raw, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

/* One more, behind what was inlined there */
static struct place *add_frame(struct samples *samples, const struct thread *thread,
			       uint16_t mode, uint64_t ip, bool is_return)
{
	size_t at = samples->frame_count;

	tasks_place(samples->tasks, thread, mode, ip, is_return, &samples->frames[at]);
	if (!samples->no_inline)
		samples->frame_count += inlined_add(samples->symbols, &samples->frames[at],
						    SAMPLES_FRAMES_MAX - at, is_return);
	return &samples->frames[samples->frame_count++];
}

/* Did the CPU note the user's calls that have not returned? */
static bool has_call_stack(const struct perffile_record *record)
{
	return record->attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK &&
	       record->sample.branches.count >= 3;
}

/* Without symbols a file is one function. */
static bool is_one_function(const struct place *one, const struct place *other)
{
	return one->symbol == other->symbol && (one->symbol || one->binary == other->binary);
}

/* It jumps on to what is called through it. */
static bool is_stub(const struct place *place)
{
	const char *end = place->symbol ? strrchr(place->symbol->raw, '@') : NULL;

	return end && !strcmp(end, SYMBOLS_PLT);
}

/*
 * Who called, as the CPU noted it: the innermost call first, its place and what was called. If the
 * sample is in another function than the last call led to, then that has returned since,
 * or has gone there by a jump. Calls within the kernel (-j k,stack) are in its own chain.
 */
static void resolve_branches(struct samples *samples, const struct perffile_record *record,
			     const struct thread *thread)
{
	const struct perffile_words *branches = &record->sample.branches;
	const struct place *here = &samples->frames[samples->frame_count - 1];
	struct place from, to;
	size_t at = 0;

	while (at + 2 < branches->count && (int64_t)perffile_words_get(branches, at) < 0)
		at += 3;
	if (at + 2 >= branches->count)
		return;
	tasks_place(samples->tasks, thread, PERF_RECORD_MISC_USER,
		    perffile_words_get(branches, at), false, &from);
	tasks_place(samples->tasks, thread, PERF_RECORD_MISC_USER,
		    perffile_words_get(branches, at + 1), false, &to);
	if (!is_one_function(here, &to) && is_one_function(here, &from))
		at += 3;
	else if (!is_one_function(here, &to) && !is_stub(&to) &&
		 samples->frame_count < SAMPLES_FRAMES_MAX)
		add_frame(samples, thread, PERF_RECORD_MISC_USER, to.ip, false);
	for (; at + 2 < branches->count && samples->frame_count < SAMPLES_FRAMES_MAX; at += 3)
		if ((int64_t)perffile_words_get(branches, at) > 0)
			add_frame(samples, thread, PERF_RECORD_MISC_USER,
				  perffile_words_get(branches, at), false);
}

/*
 * Is the address that a chain begins with in the sample's own function? A precise sample (PEBS) tells
 * where the event was, its chain where the interrupt came, some instructions later.
 */
static bool is_here(struct samples *samples, const struct perffile_record *record,
		    const struct thread *thread, uint16_t mode, uint64_t ip)
{
	struct place place;

	if (ip == record->sample.ip || !(record->misc & PERF_RECORD_MISC_EXACT_IP))
		return ip == record->sample.ip;
	tasks_place(samples->tasks, thread, mode, ip, false, &place);
	return place.symbol && place.symbol == samples->frames[samples->self].symbol;
}

/*
 * The chain begins where the sample is, or with its callers. Of the user's part the first is taken
 * alone if the CPU noted who called; a chain without such a part, of a kernel thread's or a
 * guest's, is all there is.
 */
static void resolve_chain(struct samples *samples, const struct perffile_record *record,
			  const struct thread *thread)
{
	const struct perffile_words *chain = &record->sample.chain;
	uint16_t mode = record->misc;
	bool is_return = false, is_first = true, is_noted = has_call_stack(record), is_user = false;

	for (size_t i = 0; i < chain->count; i++) {
		uint64_t ip = perffile_words_get(chain, i);

		if (SYMBOLS_IS_MARKER(ip)) {
			mode = mode_of_marker(ip);
			is_user |= mode == PERF_RECORD_MISC_USER;
			is_return = false;
			continue;
		}
		if (samples->frame_count == SAMPLES_FRAMES_MAX)
			return;
		if (!is_first || is_return || !is_here(samples, record, thread, mode, ip))
			add_frame(samples, thread, mode, ip, is_return);
		is_first = false;
		if (is_user && is_noted)
			break;
		is_return = !is_interrupt_entry(&samples->frames[samples->frame_count - 1]);
	}
	if (is_user && is_noted)
		resolve_branches(samples, record, thread);
}

/* Who called in user space, if the stack was copied in place of a chain. */
static void resolve_stack(struct samples *samples, const struct perffile_record *record,
			  const struct thread *thread)
{
	const struct perf_event_attr *attr = record->attr;
	uint64_t ips[SAMPLES_FRAMES_MAX];
	size_t count;

	if (!record->sample.stack_size || (attr->sample_type & PERF_SAMPLE_CALLCHAIN &&
					   !attr->exclude_callchain_user))
		return;
	count = unwinder_walk(samples->unwinder, thread, record, ips,
			      SAMPLES_FRAMES_MAX - samples->frame_count);
	for (size_t i = 0; i < count && samples->frame_count < SAMPLES_FRAMES_MAX; i++)
		if (i || ips[i] != record->sample.ip)
			add_frame(samples, thread, PERF_RECORD_MISC_USER, ips[i], false);
}

/**
 * samples_resolve() - names for the addresses of a sample
 * @samples: the recording; @samples->frames is filled.
 * @record: a sample with an event.
 * @with_chain: the call chain too.
 *
 * Return: its thread; NULL if there is no memory.
 */
struct thread *samples_resolve(struct samples *samples,
			       const struct perffile_record *record, bool with_chain)
{
	struct thread *thread = tasks_thread(samples->tasks, record->pid, record->tid);

	samples->frame_count = 0;
	samples->self = 0;
	if (!with_chain || !(record->fields & (PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_STACK_USER))) {
		samples->frame_count = 1;
		tasks_place(samples->tasks, thread, record->misc, record->sample.ip, false,
			    &samples->frames[0]);
		return thread;
	}
	add_frame(samples, thread, record->misc, record->sample.ip, false);
	samples->self = samples->frame_count - 1;
	resolve_chain(samples, record, thread);
	if (thread)
		resolve_stack(samples, record, thread);
	if (samples->max_stack && samples->frame_count > samples->max_stack)
		samples->frame_count = samples->max_stack > samples->self ? samples->max_stack :
								samples->self + 1;
	return thread;
}

static const char *software_name(uint64_t config)
{
	static const char *const names[] = {
		"cpu-clock", "task-clock", "page-faults", "context-switches",
		"cpu-migrations", "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy", "bpf-output", "cgroup-switches",
	};

	return config < ARRAY_LEN(names) ? names[config] : NULL;
}

static const char *library_name(const struct perf_event_attr *attr)
{
	struct pmuctl_name name;

	if (attr->type == PERF_TYPE_SOFTWARE)
		return software_name(attr->config);
	for (size_t i = 0; pmuctl_name_get(i, &name) == 0; i++)
		if (name.type == attr->type && name.config == attr->config)
			return name.name;
	return NULL;
}

/**
 * samples_event_name() - what an event is called
 * @samples: the recording.
 * @event: one of its events.
 *
 * Return: the name in the file; without one, a name for what was counted.
 */
const char *samples_event_name(struct samples *samples, const struct perffile_event *event)
{
	const char *name = event->name;
	char text[64];

	if (!name || !*name)
		name = library_name(&event->attr);
	if (!name && event->attr.type == PERF_TYPE_RAW)
		snprintf(text, sizeof(text), "r%" PRIx64, (uint64_t)event->attr.config);
	else if (!name)
		snprintf(text, sizeof(text), "type %u config %#" PRIx64,
			 event->attr.type, (uint64_t)event->attr.config);
	return names_intern(samples->symbols->names, name ? name : text);
}

/**
 * samples_place_name() - the function of a place
 * @samples: the recording.
 * @place: the place.
 *
 * Return: equal names have equal pointers; "[unknown]" if there is no symbol.
 */
const char *samples_place_name(struct samples *samples, const struct place *place)
{
	if (!place->symbol)
		return samples->symbols->unknown->path;
	return symbol_name(samples->symbols, place->symbol);
}

static void warn_of_binaries(const struct symbols *symbols)
{
	const struct binary *binary;
	unsigned int problems = 0;

	for (size_t i = 0; i < SYMBOLS_BUCKETS; i++) {
		for (binary = symbols->buckets[i]; binary; binary = binary->next) {
			if (!binary->hit || !binary->problem || ++problems > PROBLEMS_MAX)
				continue;
			say_error("no symbols of %s: %s", binary->path, binary->problem);
		}
	}
	if (problems > PROBLEMS_MAX)
		say_error("no symbols of %u more", problems - PROBLEMS_MAX);
}

/**
 * samples_frame_name() - the function of a place, where its binary is not shown too
 * @samples: the recording.
 * @place: the place.
 *
 * Return: as samples_place_name(), but without a symbol the name of the binary in
 * brackets, which tells more.
 */
const char *samples_frame_name(struct samples *samples, const struct place *place)
{
	const char *name = place->binary->name;
	char text[256];

	if (place->symbol || *name == '[')
		return place->symbol ? samples_place_name(samples, place) : name;
	snprintf(text, sizeof(text), "[%s]", name);
	return names_intern(samples->symbols->names, text);
}

/**
 * samples_warn() - say on stderr what makes the result less than the whole truth
 * @samples: the recording, read to its end.
 */
void samples_warn(const struct samples *samples)
{
	if (samples->lost)
		say_error("%" PRIu64 " records were lost by the recorder, as its rings or its disk were full: record with larger rings (-m), or less often",
			  samples->lost);
	if (samples->lost_samples)
		say_error("%" PRIu64 " samples were lost by the hardware, as its own buffer was full: record less often",
			  samples->lost_samples);
	if (samples->throttled)
		say_error("sampling was throttled by the kernel %" PRIu64 " times, as there were too many samples: record less often",
			  samples->throttled);
	if (samples->foreign)
		say_error("%" PRIu64 " samples are left out: the file does not describe their event",
			  samples->foreign);
	warn_of_binaries(samples->symbols);
}

/**
 * samples_close() - forget a recording
 * @samples: the recording, or NULL. All that it handed out goes with it.
 */
void samples_close(struct samples *samples)
{
	if (!samples)
		return;
	samples_tell_no_more(samples);
	unwinder_free(samples->unwinder);
	tasks_free(samples->tasks);
	symbols_free(samples->symbols);
	perffile_close(samples->file);
	free(samples);
}
