// SPDX-License-Identifier: GPL-2.0-only
/*
 * Has libtraceevent print records as the kernel does. The library was made for what the kernel
 * wrote: a format that somebody has forged, or a record that does not fit it, makes it divide by
 * zero, or read and write anywhere. So a process of its own does it, which has no more than a
 * recording that we read anyway. If it ends, that event is printed field by field from then on.
 *
 * Without the library's headers at build time everything is printed so.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "tracepoint.h"

#ifdef HAVE_LIBTRACEEVENT

#include <event-parse.h>

/* A recording in which more formats end it was forged. */
#define FAILURES_MAX	16

/* What a record takes is far less: seconds of CPU time for all, bytes. */
#define SECONDS_MAX	600
#define SECONDS_EACH	5
#define MEMORY_MAX	(1ULL << 30)
#define TEXT_MAX	(1U << 20)

/* Which format, and how long the record is that follows */
struct question {
	uint32_t format;
	uint32_t size;
};

/* Not printed */
#define NO_ANSWER	UINT32_MAX

static bool read_all(int fd, void *bytes, size_t size)
{
	char *at = bytes;

	while (size) {
		ssize_t got = read(fd, at, size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

static bool write_all(int fd, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		ssize_t put = write(fd, at, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		at += put;
		size -= (size_t)put;
	}
	return true;
}

/* ---- The process that prints */

static char *resolve(void *arg, unsigned long long *address, char **module)
{
	const struct tracepoints *tracepoints = arg;
	uint64_t start = 0;
	const char *name = tracepoints->resolve(tracepoints->arg, *address, &start);

	*module = NULL;
	if (name)
		*address = start;
	return (char *)name;
}

/* Lines of an address, a colon, and a text of the kernel, quoted */
static void read_texts(const struct tracepoints *tracepoints, struct tep_handle *tep)
{
	char *rest = tracepoints->texts ? strndup(tracepoints->texts, tracepoints->texts_size) : NULL;
	char *line;

	while ((line = strsep(&rest, "\n"))) {
		char *end, *text = strstr(line, " : \"");
		uint64_t address = strtoull(line, &end, 16);

		if (!text || end != text)
			continue;
		text += strlen(" : \"");
		end = strrchr(text, '"');
		if (!end)
			continue;
		*end = '\0';
		tep_register_print_string(tep, text, address);
	}
}

static struct tep_handle *library_open(const struct tracepoints *tracepoints)
{
	struct tep_handle *tep = tep_alloc();

	if (!tep)
		_exit(STATUS_FAILED);
#ifdef HAVE_TEP_LOGLEVEL
	tep_set_loglevel(TEP_LOG_NONE);
#endif
	tep_set_long_size(tep, tracepoints->long_size);
	read_texts(tracepoints, tep);
	if (tracepoints->resolve)
		tep_set_function_resolver(tep, resolve, (void *)tracepoints);
	return tep;
}

/* Endless loops end, too. */
static void limit(void)
{
	const struct rlimit memory __attribute__((unused)) = { MEMORY_MAX, MEMORY_MAX };
	const struct rlimit none = { 0, 0 };
	const struct rlimit seconds = { SECONDS_MAX, SECONDS_MAX };

#ifndef __SANITIZE_ADDRESS__ /* which takes terabytes of addresses */
	setrlimit(RLIMIT_DATA, &memory);
#endif
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_CPU, &seconds);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	signal(SIGFPE, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	signal(SIGVTALRM, SIG_DFL);
}

static void answer(const struct tracepoints *tracepoints, struct tep_handle *tep,
		   const struct tracepoint_format *format, struct tep_record *record)
{
	const struct itimerval most = { .it_value.tv_sec = SECONDS_EACH }, off = { .it_value = { 0 } };
	uint32_t length = NO_ANSWER;
	struct tep_event *event;
	struct trace_seq text;

	setitimer(ITIMER_VIRTUAL, &most, NULL);
	if (!tep_find_event(tep, (int)format->id))
		tep_parse_event(tep, format->text, format->size, format->system);
	trace_seq_init(&text);
	event = tep_find_event_by_record(tep, record);
	if (event && !(event->flags & (int)TEP_EVENT_FL_FAILED)) {
		tep_print_event(tep, &text, record, "%s", TEP_PRINT_INFO);
		if (text.state == TRACE_SEQ__GOOD && text.len <= TEXT_MAX)
			length = text.len;
	}
	setitimer(ITIMER_VIRTUAL, &off, NULL);
	if (!write_all(tracepoints->from, &length, sizeof(length)) ||
	    (length != NO_ANSWER && !write_all(tracepoints->from, text.buffer, length)))
		_exit(STATUS_FAILED);
	trace_seq_destroy(&text);
}

static _Noreturn void printer_main(struct tracepoints *tracepoints)
{
	/* Behind a record there are zeroes: a text that does not end in it ends there. */
	uint8_t *bytes = calloc(4, TRACEPOINT_RECORD_MAX);
	struct tep_handle *tep;
	struct question question;
	size_t used = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	limit();
	tep = library_open(tracepoints);
	while (bytes && read_all(tracepoints->to, &question, sizeof(question))) {
		struct tep_record record = { .size = (int)question.size, .data = bytes };

		memset(bytes, 0, used);
		used = question.size;
		if (!read_all(tracepoints->to, bytes, used))
			break;
		answer(tracepoints, tep, &tracepoints->formats[question.format], &record);
	}
	_exit(STATUS_OK);
}

/* ---- Who asks it */

static bool printer_start(struct tracepoints *tracepoints)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0)
		return false;
	if (pipe2(from, O_CLOEXEC) < 0) {
		close(to[0]);
		close(to[1]);
		return false;
	}
	signal(SIGPIPE, SIG_IGN);
	tracepoints->printer = fork();
	if (tracepoints->printer == 0) {
		close(to[1]);
		close(from[0]);
		tracepoints->to = to[0];
		tracepoints->from = from[1];
		printer_main(tracepoints);
	}
	close(to[0]);
	close(from[1]);
	tracepoints->to = to[1];
	tracepoints->from = from[0];
	if (tracepoints->printer > 0)
		return true;
	tracepoints->printer = 0;
	close(to[1]);
	close(from[0]);
	return false;
}

void printer_end(struct tracepoints *tracepoints)
{
	if (!tracepoints->printer)
		return;
	close(tracepoints->to);
	close(tracepoints->from);
	kill(tracepoints->printer, SIGKILL);
	waitpid(tracepoints->printer, NULL, 0);
	tracepoints->printer = 0;
}

bool printer_is_there(void)
{
	return true;
}

/**
 * printer_print() - a record as the kernel prints it
 * @tracepoints: the formats.
 * @format: its own.
 * @raw: the record, which has all fields of that.
 * @size: its bytes, at most TRACEPOINT_RECORD_MAX.
 *
 * Return: a new text; NULL if it cannot be had.
 */
char *printer_print(struct tracepoints *tracepoints, struct tracepoint_format *format,
		    const uint8_t *raw, size_t size)
{
	const struct question question = { (uint32_t)(format - tracepoints->formats), (uint32_t)size };
	uint32_t length;
	char *text;

	if (format->is_unprintable || tracepoints->failures >= FAILURES_MAX ||
	    (!tracepoints->printer && !printer_start(tracepoints)))
		return NULL;
	if (!write_all(tracepoints->to, &question, sizeof(question)) ||
	    !write_all(tracepoints->to, raw, size) ||
	    !read_all(tracepoints->from, &length, sizeof(length)))
		goto err_end;
	if (length == NO_ANSWER)
		return NULL;
	text = length <= TEXT_MAX ? malloc(length + 1) : NULL;
	if (!text)
		goto err_end;
	text[length] = '\0';
	if (read_all(tracepoints->from, text, length))
		return text;
	free(text);

err_end:
	format->is_unprintable = true;
	tracepoints->failures++;
	printer_end(tracepoints);
	return NULL;
}

#else /* !HAVE_LIBTRACEEVENT */

bool printer_is_there(void)
{
	return false;
}

char *printer_print(struct tracepoints *tracepoints, struct tracepoint_format *format,
		    const uint8_t *raw, size_t size)
{
	(void)tracepoints;
	(void)format;
	(void)raw;
	(void)size;
	return NULL;
}

void printer_end(struct tracepoints *tracepoints)
{
	(void)tracepoints;
}

#endif
