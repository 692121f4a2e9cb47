// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line for each system call, as "perf trace" writes them:
 *
 *	     0.083 ( 0.006 ms): cat/120 read(fd: 3, buf: 0x7f8d, count: 4096)      = 12
 *
 * when it began, in milliseconds, and how long it took; who; what; and what came of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "command.h"
#include "syscalls.h"

/* Where results begin, counted from the name of the call */
#define RESULTS_AT	70

/* What a call ends with that a signal interrupted: the kernel begins it again, or tells EINTR. */
static const struct {
	int error;
	const char *name;
	const char *text;
} restarts[] = {
	{ 512, "ERESTARTSYS", "To be restarted if SA_RESTART is set" },
	{ 513, "ERESTARTNOINTR", "To be restarted" },
	{ 514, "ERESTARTNOHAND", "To be restarted if no handler" },
	{ 516, "ERESTART_RESTARTBLOCK", "Interrupted by signal" },
};

static double milliseconds(uint64_t ns)
{
	return (double)ns / 1e6;
}

/* @since: 0 if nobody knows when it began */
static void put_head(struct calls *calls, uint64_t since)
{
	uint64_t base = calls->full_time ? 0 : calls->base;

	if (since)
		fprintf(calls->out, "%10.3f ", milliseconds(since - base));
	else
		fprintf(calls->out, "         ? ");
}

static void put_duration(struct calls *calls, uint64_t duration)
{
	if (duration)
		fprintf(calls->out, "(%6.3f ms): ", milliseconds(duration));
	else
		fprintf(calls->out, "(         ): ");
}

static void put_task(struct calls *calls, const char *comm, int32_t tid)
{
	fprintf(calls->out, "%.14s/%d ", comm, tid);
}

static void put_caller(struct calls *calls, const struct caller *caller)
{
	put_task(calls, caller->comm, caller->tid);
}

static int put_value(FILE *out, enum syscall_shape shape, uint64_t value)
{
	switch (shape) {
	case SYSCALL_DIRECTORY:
		if ((int)value == AT_FDCWD)
			return fprintf(out, "CWD");
		return fprintf(out, "%d", (int)value);
	case SYSCALL_INT:
		return fprintf(out, "%d", (int)value);
	case SYSCALL_LONG:
		return fprintf(out, "%" PRId64, (int64_t)value);
	case SYSCALL_UNSIGNED:
		return fprintf(out, "%" PRIu64, value);
	case SYSCALL_OCTAL:
		return fprintf(out, "%#o", (unsigned int)value);
	case SYSCALL_HEX:
		break;
	}
	return fprintf(out, "%#" PRIx64, value);
}

static int put_arg(FILE *out, const struct syscall_arg *arg, uint64_t value)
{
	int length = arg->words ? syscall_words_print(arg->words, value, out) : 0;

	return length ? length : put_value(out, arg->shape, value);
}

/* An argument that is 0 is left out, unless that has a name, and so is what nobody looks at. */
static bool is_told(const struct syscall_info *info, const uint64_t *args, unsigned int i, uint64_t value)
{
	return (value || syscall_words_tell_zero(info->args[i].words)) &&
	       !syscall_arg_is_unused(info->name, args, i);
}

/* "read(fd: 3, buf: 0x7f8d, count: 4096"; returns its length. */
static int put_beginning(struct calls *calls, const struct caller *caller)
{
	const struct syscall_info *info = syscall_table_get(&calls->table, caller->number);
	int length = fprintf(calls->out, "%s(", info->name);
	const char *between = "";

	for (unsigned int i = 0; i < info->nr_args; i++) {
		const struct syscall_arg *arg = &info->args[i];
		uint64_t value = arg->is_narrow ? (uint32_t)caller->args[i] : caller->args[i];

		if (!is_told(info, caller->args, i, value))
			continue;
		length += fprintf(calls->out, "%s%s: ", between, arg->name);
		length += put_arg(calls->out, arg, value);
		between = ", ";
	}
	return length;
}

/* Closes the parenthesis, and fills up to where results begin. */
static void put_gap(struct calls *calls, int length)
{
	length++;
	fprintf(calls->out, ")%*s= ", length < RESULTS_AT ? RESULTS_AT - length : 1, "");
}

static size_t restart_find(int error)
{
	size_t i = 0;

	while (i < ARRAY_LEN(restarts) && restarts[i].error != error)
		i++;
	return i;
}

#if __GLIBC_PREREQ(2, 32)
static const char *find_name(int error)
{
	return strerrorname_np(error);
}
#else
static const char *find_name(int error)
{
	static const char *const names[] = {
#include "error_names.h"
	};

	return (size_t)error < ARRAY_LEN(names) ? names[error] : NULL;
}
#endif

/**
 * error_name() - what an error of a system call is called
 * @error: its number.
 *
 * Return: the name, or NULL.
 */
const char *error_name(int error)
{
	size_t restart = restart_find(error);

	return restart < ARRAY_LEN(restarts) ? restarts[restart].name : find_name(error);
}

static void put_error(FILE *out, int error)
{
	size_t restart = restart_find(error);

	if (restart < ARRAY_LEN(restarts))
		fprintf(out, "? %s (%s)\n", restarts[restart].name, restarts[restart].text);
	else if (error_name(error))
		fprintf(out, "-1 %s (%s)\n", error_name(error), strerror(error));
	else
		fprintf(out, "-1 (error %d)\n", error);
}

static void put_result(FILE *out, const char *name, int64_t result)
{
	if (result < 0 && result >= -ERRNO_MAX)
		put_error(out, (int)-result);
	else if (syscall_returns_address(name))
		fprintf(out, "%#" PRIx64 "\n", (uint64_t)result);
	else
		fprintf(out, "%" PRId64 "\n", result);
}

/**
 * print_interrupted() - a line of a call of which the end is not there yet
 * @calls: where to.
 * @caller: who is in it.
 */
void print_interrupted(struct calls *calls, const struct caller *caller)
{
	int length;

	put_head(calls, caller->since);
	put_duration(calls, 0);
	put_caller(calls, caller);
	length = put_beginning(calls, caller) + 1;
	fprintf(calls->out, ")%*s ...\n", length < RESULTS_AT - 4 ? RESULTS_AT - 4 - length : 0, "");
}

/**
 * print_endless() - a line of a call that does not return
 * @calls: where to.
 * @caller: who made it.
 */
void print_endless(struct calls *calls, const struct caller *caller)
{
	put_head(calls, caller->since);
	put_duration(calls, 0);
	put_caller(calls, caller);
	put_gap(calls, put_beginning(calls, caller));
	fprintf(calls->out, "?\n");
}

/**
 * print_call() - a line of a call that has ended
 * @calls: where to.
 * @caller: who was in it.
 * @end: its end.
 * @is_continued: its beginning has a line of its own, or was not seen.
 */
void print_call(struct calls *calls, const struct caller *caller, const struct call_event *end,
		bool is_continued)
{
	const char *name = syscall_table_get(&calls->table, end->number)->name;
	uint64_t since = caller->is_inside ? caller->since : 0;
	int length;

	put_head(calls, since);
	put_duration(calls, since && end->time > since ? end->time - since : 0);
	put_caller(calls, caller);
	if (is_continued)
		length = fprintf(calls->out, " ... [continued]: %s(", name);
	else
		length = put_beginning(calls, caller);
	put_gap(calls, length);
	put_result(calls->out, name, end->result);
}

/**
 * print_fault() - a line of a page fault: which code, and what it wanted
 * @calls: where to.
 * @fault: the fault.
 */
void print_fault(struct calls *calls, const struct call_fault *fault)
{
	put_head(calls, fault->time);
	fprintf(calls->out, "( 0.000 ms): ");
	put_task(calls, fault->comm, fault->tid);
	fprintf(calls->out, "%sfault [%s] => %s (%c%c)\n", fault->is_major ? "maj" : "min", fault->code,
		fault->data, fault->is_mapped ? 'd' : '?', fault->level);
}
