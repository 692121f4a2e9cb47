// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs as text, and back.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "call.h"

#define TEXTS_MAX	256

/* Filters, addresses and names of tracepoints; those of a corpus are added. */
static const char *texts[TEXTS_MAX] = {
	"", "sched:sched_switch", "sched_process_fork", "sys_enter_getpid",
	"syscalls:sys_enter_getuid", "irq:irq_handler_entry", "nothing:like_it",
	"common_pid != 0", "prev_pid == 0 && next_pid > 1", "prev_comm ~ \"*a*\"",
	"id == 39", "((common_pid))", "common_pid ==", "common_type < -1",
	"filter 0x401000/0x1000", "start 0x401000,stop 0x402000", "filter 0x401000/0x1000@/tmp/abi/abi",
	"tracestop 0/0x7fffffffffff", "filter 0xffffffff81000000/0x100000",
};

int text_number(const char *text)
{
	int i;

	for (i = 0; i < TEXTS_MAX && texts[i]; i++)
		if (!strcmp(texts[i], text))
			return i;
	if (i == TEXTS_MAX)
		return 0;
	texts[i] = strdup(text);
	return i;
}

unsigned int text_count(void)
{
	unsigned int n = 0;

	while (n < TEXTS_MAX && texts[n])
		n++;
	return n;
}

const char *text_of(int64_t number)
{
	return number >= 0 && number < TEXTS_MAX && texts[number] ? texts[number] : "";
}

/* ---- Printing ---- */

struct out {
	char *at;
	size_t room;
};

static void __attribute__((format(printf, 2, 3)))
put(struct out *out, const char *format, ...)
{
	va_list list;
	int n;

	va_start(list, format);
	n = vsnprintf(out->at, out->room, format, list);
	va_end(list);
	if ((size_t)n >= out->room)
		n = out->room ? out->room - 1 : 0;
	out->at += n;
	out->room -= n;
}

static void put_flags(struct out *out, const struct name *names, int64_t value)
{
	const char *between = "";

	for (; names->name; names++) {
		if (!(value & names->value))
			continue;
		put(out, "%s%s", between, names->name);
		value &= ~names->value;
		between = "+";
	}
	if (value || !*between)
		put(out, "%s0x%llx", between, (long long)value);
}

static void put_value(struct out *out, const struct arg *arg, int64_t value)
{
	const struct name *name = arg->names;

	switch (arg->kind) {
	case KIND_FLAGS:
		put_flags(out, name, value);
		return;
	case KIND_TEXT:
		put(out, "'%s'", text_of(value));
		return;
	case KIND_CHOICE:
		for (; name->name; name++) {
			if (name->value == value) {
				put(out, "%s", name->name);
				return;
			}
		}
		break;
	case KIND_NUMBER:
		break;
	}
	if (value >= -9 && value <= 99999)
		put(out, "%lld", (long long)value);
	else
		put(out, "0x%llx", (long long)value);
}

static void put_call(struct out *out, const struct call *call)
{
	const struct op *op = &ops[call->op];
	unsigned int i;

	if (call->who)
		put(out, "t=%s ", who_names[call->who]);
	if (call->async)
		put(out, "async ");
	if (call->loop > 1)
		put(out, "loop=%u ", call->loop);
	if (call->fail)
		put(out, "fail=%u ", call->fail);
	put(out, "%s", op->name);
	for (i = 0; op->args[i].name; i++) {
		if (call->arg[i] == op->args[i].standard)
			continue;
		put(out, " %s=", op->args[i].name);
		put_value(out, &op->args[i], call->arg[i]);
	}
	put(out, "\n");
}

int program_print(const struct program *program, char *out, size_t size)
{
	struct out o = { out, size };
	unsigned int i;

	put(&o, "as %s\n", program->root ? "root" : "user");
	for (i = 0; i < program->n; i++)
		put_call(&o, &program->call[i]);
	put(&o, "\n");
	return o.at - out;
}

/* ---- Reading ---- */

static bool number_of(const char *word, int64_t *value)
{
	char *end;

	*value = *word == '-' ? strtoll(word, &end, 0) : (int64_t)strtoull(word, &end, 0);
	return end != word && !*end;
}

static const struct name *find_name(const struct name *names, const char *word)
{
	for (; names->name; names++)
		if (!strcmp(names->name, word))
			return names;
	return NULL;
}

static bool flags_of(const struct name *names, char *word, int64_t *value)
{
	const struct name *name;
	char *part, *rest = word;
	int64_t number;

	*value = 0;
	while ((part = strsep(&rest, "+"))) {
		name = find_name(names, part);
		if (name)
			*value |= name->value;
		else if (number_of(part, &number))
			*value |= number;
		else
			return false;
	}
	return true;
}

static bool value_of(const struct arg *arg, char *word, int64_t *value)
{
	const struct name *name;

	switch (arg->kind) {
	case KIND_FLAGS:
		return flags_of(arg->names, word, value);
	case KIND_TEXT:
		*value = text_number(word);
		return true;
	case KIND_CHOICE:
		name = find_name(arg->names, word);
		if (name) {
			*value = name->value;
			return true;
		}
		break;
	case KIND_NUMBER:
		break;
	}
	return number_of(word, value);
}

/* The next word of a line, with its quotes taken off; NULL at the end */
static char *next_word(char **line)
{
	char *word = *line + strspn(*line, " \t\n"), *to, *from;
	bool quoted = false;

	if (!*word)
		return NULL;
	for (to = from = word; *from && (quoted || !strchr(" \t\n", *from)); from++) {
		if (*from == '\'')
			quoted = !quoted;
		else
			*to++ = *from;
	}
	*line = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

static bool head_of(struct call *call, char *word)
{
	int64_t value;
	int who;

	if (!strcmp(word, "async")) {
		call->async = 1;
		return true;
	}
	if (!strncmp(word, "t=", 2)) {
		for (who = 0; who < WHOS; who++)
			if (!strcmp(who_names[who], word + 2))
				call->who = who;
		return true;
	}
	if (!strncmp(word, "loop=", 5) && number_of(word + 5, &value)) {
		call->loop = value;
		return true;
	}
	if (!strncmp(word, "fail=", 5) && number_of(word + 5, &value)) {
		call->fail = value;
		return true;
	}
	return false;
}

static bool args_of(struct call *call, const struct op *op, char *line)
{
	char *word, *is;
	unsigned int i;

	for (i = 0; op->args[i].name; i++)
		call->arg[i] = op->args[i].standard;
	while ((word = next_word(&line))) {
		is = strchr(word, '=');
		if (!is)
			return false;
		*is = '\0';
		for (i = 0; op->args[i].name && strcmp(op->args[i].name, word); i++)
			;
		if (!op->args[i].name || !value_of(&op->args[i], is + 1, &call->arg[i]))
			return false;
	}
	return true;
}

static bool call_of(struct call *call, char *line)
{
	unsigned int op;
	char *word;

	*call = (struct call){ .loop = 1 };
	do {
		word = next_word(&line);
		if (!word)
			return false;
	} while (head_of(call, word));
	for (op = 0; op < OPS; op++) {
		if (strcmp(ops[op].name, word))
			continue;
		call->op = op;
		return args_of(call, &ops[op], line);
	}
	return false;
}

int program_read(FILE *f, const char *file, struct program *program)
{
	char line[1024], copy[1024];
	bool any = false;

	program->n = 0;
	program->root = false;
	while (fgets(line, sizeof(line), f)) {
		if (*line == '#')
			continue;
		if (*line == '\n') {
			if (any)
				break;
			continue;
		}
		any = true;
		strcpy(copy, line);
		if (!strncmp(line, "as ", 3)) {
			program->root = !strcmp(line + 3, "root\n");
		} else if (program->n == CALLS_MAX ||
			   !call_of(&program->call[program->n++], line)) {
			fprintf(stderr, "%s: no call that is known, or too many: %s", file, copy);
			return -1;
		}
	}
	return any;
}
