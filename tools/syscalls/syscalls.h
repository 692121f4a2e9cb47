/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl trace": what its parts share. syscalls.c understands the command line, run.c is the order
 * of things, table.c knows the names of system calls and of their arguments, arguments.c which words
 * the values of these have, words.c tells them, choice.c which calls are wanted, calls.c puts the
 * beginning and the end of calls together, faults.c knows where page faults are, print.c writes a
 * line of each, summary.c how many there were.
 *
 * Events and rings are those of "pmuctl record" (record.h), and records are read as if they came
 * from a file (perffile.h), so that they are in the order of time.
 */
#ifndef PMUCTL_TOOL_SYSCALLS_H
#define PMUCTL_TOOL_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Numbers of 64-bit programs; no kernel's are as high. */
#define SYSCALLS_MAX	1024u
#define SYSCALL_ARGS	6u
/* A result from -1 down to -ERRNO_MAX is an error. */
#define ERRNO_MAX	4095
#define COMM_SIZE	16u

/* ---- table.c */

/**
 * enum syscall_shape - how an argument is written
 * @SYSCALL_HEX: an address, flags, or what is not known.
 * @SYSCALL_INT: an int; @SYSCALL_LONG, @SYSCALL_UNSIGNED: likewise.
 * @SYSCALL_OCTAL: permissions.
 * @SYSCALL_DIRECTORY: a descriptor, or where relative paths begin.
 */
enum syscall_shape {
	SYSCALL_HEX,
	SYSCALL_INT,
	SYSCALL_LONG,
	SYSCALL_UNSIGNED,
	SYSCALL_OCTAL,
	SYSCALL_DIRECTORY,
};

struct syscall_words;

/**
 * struct syscall_arg - an argument
 * @name: as the kernel has it, or "argN".
 * @shape: how numbers are written.
 * @is_narrow: it has 32 bits; what else is in the register is chance.
 * @words: what its values mean; NULL if they are just numbers.
 */
struct syscall_arg {
	char name[24];
	enum syscall_shape shape;
	bool is_narrow;
	const struct syscall_words *words;
};

/**
 * struct syscall_info - a system call
 * @name: as the C library has it, or "syscall_NUMBER".
 * @args: its arguments.
 * @nr_args: how many.
 * @is_known: they were looked up.
 */
struct syscall_info {
	char name[32];
	struct syscall_arg args[SYSCALL_ARGS];
	unsigned int nr_args;
	bool is_known;
};

/* Where formats of events come from: tracefs_open(), or a test's */
typedef FILE *(*syscall_open_format)(const char *path);

struct syscall_table {
	syscall_open_format open_format;
	struct syscall_info *calls[SYSCALLS_MAX];
};

const struct syscall_info *syscall_table_get(struct syscall_table *table, uint64_t number);
void syscall_table_free(struct syscall_table *table);
const char *syscall_name(unsigned int number);
bool syscall_returns_address(const char *name);
bool syscall_never_returns(const char *name);

/* ---- arguments.c */

const struct syscall_words *syscall_words_of(const char *call, unsigned int arg);
bool syscall_arg_is_unused(const char *call, const uint64_t *args, unsigned int arg);

/* ---- words.c */

bool syscall_words_tell_zero(const struct syscall_words *words);
int syscall_words_print(const struct syscall_words *words, uint64_t value, FILE *out);

/* ---- choice.c */

/**
 * struct syscall_choice - which system calls are wanted
 * @is_made: not all are.
 * @leaves_out: those that were named are not.
 * @named: by number.
 * @count: how many.
 */
struct syscall_choice {
	bool is_made;
	bool leaves_out;
	bool named[SYSCALLS_MAX];
	size_t count;
};

int syscall_choice_parse(struct syscall_choice *choice, const char *text, char *wrong, size_t size);
bool syscall_is_chosen(const struct syscall_choice *choice, uint64_t number);
char *syscall_choice_filter(const struct syscall_choice *choice);

/* ---- calls.c */

/**
 * struct call_error - how often calls returned an error
 * @number: which, above 0.
 * @count: so often.
 */
struct call_error {
	int number;
	uint64_t count;
};

/**
 * struct call_stats - of one system call of a task
 * @count: how often it ended; @errors: of these with an error.
 * @total: nanoseconds that all took; @min, @max: the shortest and the longest.
 * @mean: nanoseconds.
 * @squares: the sum of the squares of what they differ from it by.
 * @list: the errors, by number; @listed: how many there are of them.
 */
struct call_stats {
	uint64_t count;
	uint64_t errors;
	uint64_t total;
	uint64_t min;
	uint64_t max;
	double mean;
	double squares;
	struct call_error *list;
	size_t listed;
};

/**
 * struct caller - a task that makes system calls
 * @next: in its bucket; @later: the one that was seen next.
 * @tid: its id.
 * @has_ended: another task may have this id.
 * @comm: its name.
 * @is_inside: it is in a call, whose beginning was seen: @number, @since.
 * @is_pending: of which nothing was written yet.
 * @number: of the call.
 * @args: its arguments.
 * @since: when it began, ns.
 * @events: beginnings and ends, of what is chosen, and page faults.
 * @minor, @major: of these, page faults.
 * @stats: of each call, NULL if nobody wants them.
 */
struct caller {
	struct caller *next;
	struct caller *later;
	int32_t tid;
	bool has_ended;
	char comm[COMM_SIZE];
	bool is_inside;
	bool is_pending;
	uint64_t number;
	uint64_t args[SYSCALL_ARGS];
	uint64_t since;
	uint64_t events;
	uint64_t minor;
	uint64_t major;
	struct call_stats **stats;
};

#define CALLERS_BUCKETS	256u

/**
 * struct calls - all calls
 * @out: where lines go.
 * @table: names.
 * @choice: which calls are wanted.
 * @lines: a line for each.
 * @summary: how many there were.
 * @errors: and with which errors.
 * @full_time: times since the machine was started, not since the first call.
 * @failures: lines only for calls that fail.
 * @duration: lines only for calls that take longer, ns; 0: for all.
 * @most: so many lines of calls and faults, then no more; 0: all.
 * @written: so many were.
 * @base: time of the first call, or fault.
 * @has_base: there was one.
 * @events: beginnings and ends, and faults.
 * @current: whose call began last, or NULL.
 * @first, @last: all callers, in the order in which they were seen.
 * @buckets: the same, by id.
 */
struct calls {
	FILE *out;
	struct syscall_table table;
	struct syscall_choice choice;
	bool lines;
	bool summary;
	bool errors;
	bool full_time;
	bool failures;
	uint64_t duration;
	uint64_t most;
	uint64_t written;
	uint64_t base;
	bool has_base;
	uint64_t events;
	struct caller *current;
	struct caller *first;
	struct caller *last;
	struct caller *buckets[CALLERS_BUCKETS];
};

/**
 * struct call_event - the beginning or the end of a call
 * @tid: of the task.
 * @comm: its name.
 * @time: ns.
 * @number: of the call.
 * @args: of the beginning.
 * @result: of the end.
 */
struct call_event {
	int32_t tid;
	const char *comm;
	uint64_t time;
	uint64_t number;
	uint64_t args[SYSCALL_ARGS];
	int64_t result;
};

/**
 * struct call_fault - a page fault
 * @tid: of the task.
 * @comm: its name.
 * @time: ns.
 * @is_major: it had to wait for a disk.
 * @code: what faulted: "FUNCTION+0x1c", or an address.
 * @data: what it wanted: "FILE@0x1c", or an address.
 * @is_mapped: that is a file's, or is known by a name such as "[heap]".
 * @level: '.' if it is user space's, 'k' if it is the kernel's.
 */
struct call_fault {
	int32_t tid;
	const char *comm;
	uint64_t time;
	bool is_major;
	char code[256];
	char data[256];
	bool is_mapped;
	char level;
};

/* Has all been written that was asked for? */
static inline bool calls_are_enough(const struct calls *calls)
{
	return calls->most && calls->written >= calls->most;
}

int calls_enter(struct calls *calls, const struct call_event *event);
int calls_exit(struct calls *calls, const struct call_event *event);
int calls_fault(struct calls *calls, const struct call_fault *fault);
void calls_lost(struct calls *calls, uint64_t lost);
void calls_task_ended(struct calls *calls, int32_t tid);
void calls_free(struct calls *calls);

/* ---- print.c */
void print_interrupted(struct calls *calls, const struct caller *caller);
void print_endless(struct calls *calls, const struct caller *caller);
void print_call(struct calls *calls, const struct caller *caller, const struct call_event *end,
		bool is_continued);
const char *error_name(int error);
void print_fault(struct calls *calls, const struct call_fault *fault);

/* ---- summary.c */
int call_stats_add(struct call_stats *stats, uint64_t duration, int64_t result);
void call_stats_free(struct call_stats *stats);
void summary_print(struct calls *calls);

#endif /* PMUCTL_TOOL_SYSCALLS_H */
