// SPDX-License-Identifier: GPL-2.0-only
/*
 * The names of system calls are those of the headers that the tool was built with, by the numbers
 * of 64-bit programs. What their arguments are called the running kernel's tracing says, in the
 * formats of its events; where these are not to be seen, they are just numbers.
 */
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "syscalls.h"

/* [__NR_read] = "read", ...: made by tools/build.mk */
static const char *const names[SYSCALLS_MAX] = {
#include "syscall_names.h"
};

/* What the kernel's functions are called, if that is something else */
static const struct {
	const char *name;
	const char *event;
} aliases[] = {
	{ "stat", "newstat" },
	{ "fstat", "newfstat" },
	{ "lstat", "newlstat" },
	{ "uname", "newuname" },
	{ "sendfile", "sendfile64" },
	{ "umount2", "umount" },
};

/**
 * syscall_name() - what a call is called
 * @number: of it.
 *
 * Return: NULL if there was none of that number yet.
 */
const char *syscall_name(unsigned int number)
{
	return number < SYSCALLS_MAX ? names[number] : NULL;
}

/**
 * syscall_returns_address() - is what it returns an address?
 * @name: of the call.
 */
bool syscall_returns_address(const char *name)
{
	return !strcmp(name, "brk") || !strcmp(name, "mmap") || !strcmp(name, "mremap") ||
	       !strcmp(name, "shmat");
}

/**
 * syscall_never_returns() - is there no end of it?
 * @name: of the call.
 */
bool syscall_never_returns(const char *name)
{
	return !strcmp(name, "exit") || !strcmp(name, "exit_group");
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), size = strlen(end);

	return length >= size && !strcmp(text + length - size, end);
}

/* By what the kernel says of it: "unsigned int", "flags" */
static enum syscall_shape shape_of(const char *type, const char *name)
{
	if (strchr(type, '*') || strstr(name, "flags") || strstr(name, "addr") || !strcmp(name, "cmd"))
		return SYSCALL_HEX;
	if (ends_with(type, "mode_t"))
		return SYSCALL_OCTAL;
	if (!strcmp(name, "fd"))
		return SYSCALL_INT;
	if (!strcmp(type, "unsigned long") && ends_with(name, "len"))
		return SYSCALL_UNSIGNED;
	if (!strcmp(type, "size_t") || !strcmp(type, "unsigned int") || !strcmp(type, "u32"))
		return ends_with(name, "fd") ? SYSCALL_INT : SYSCALL_UNSIGNED;
	if (!strcmp(type, "int"))
		return ends_with(name, "dfd") || !strcmp(name, "dirfd") ? SYSCALL_DIRECTORY :
									   SYSCALL_INT;
	if (!strcmp(type, "pid_t") || !strcmp(type, "clockid_t") || !strcmp(type, "uid_t") ||
	    !strcmp(type, "gid_t"))
		return SYSCALL_INT;
	if (!strcmp(type, "long") || !strcmp(type, "off_t") || !strcmp(type, "loff_t"))
		return SYSCALL_LONG;
	return SYSCALL_HEX;
}

static bool is_narrow(const char *type)
{
	return !strcmp(type, "int") || !strcmp(type, "unsigned int") ||
	       !strcmp(type, "unsigned") || !strcmp(type, "u32") ||
	       ends_with(type, "mode_t") || ends_with(type, "clockid_t") || !strcmp(type, "pid_t");
}

/* "	field:const char * buf;	offset:24;	size:8;	signed:0;" */
static void read_field(struct syscall_info *info, char *line)
{
	char *field = strstr(line, "field:"), *name;
	struct syscall_arg *arg;

	if (!field || info->nr_args == SYSCALL_ARGS)
		return;
	field += strlen("field:");
	field[strcspn(field, ";")] = '\0';
	name = strrchr(field, ' ');
	/* Those that all events have, the number, and copies of what pointers point to */
	if (!name || !strncmp(name + 1, "common_", 7) || !strncmp(name + 1, "__", 2))
		return;
	*name++ = '\0';
	arg = &info->args[info->nr_args++];
	snprintf(arg->name, sizeof(arg->name), "%s", name);
	arg->shape = shape_of(field, name);
	arg->is_narrow = is_narrow(field);
}

static void read_format(struct syscall_info *info, FILE *file)
{
	char line[300];

	while (fgets(line, sizeof(line), file) && strncmp(line, "print fmt", 9))
		read_field(info, line);
	info->is_known = true;
}

static void look_up(struct syscall_table *table, struct syscall_info *info)
{
	const char *event = info->name;
	char path[100];
	FILE *file;

	for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
		if (!strcmp(aliases[i].name, info->name))
			event = aliases[i].event;
	snprintf(path, sizeof(path), "events/syscalls/sys_enter_%s/format", event);
	file = table->open_format(path);
	if (file) {
		read_format(info, file);
		fclose(file);
		return;
	}
	info->nr_args = SYSCALL_ARGS;
	for (unsigned int i = 0; i < SYSCALL_ARGS; i++)
		snprintf(info->args[i].name, sizeof(info->args[i].name), "arg%u", i);
}

static void find_words(struct syscall_info *info)
{
	for (unsigned int i = 0; i < info->nr_args; i++)
		info->args[i].words = syscall_words_of(info->name, i);
}

/**
 * syscall_table_get() - what is known of a call
 * @table: where it is kept.
 * @number: of the call.
 *
 * Return: valid until syscall_table_free(); NULL if there is no memory, or the number is none.
 */
const struct syscall_info *syscall_table_get(struct syscall_table *table, uint64_t number)
{
	struct syscall_info *info;

	if (number >= SYSCALLS_MAX)
		return NULL;
	if (table->calls[number])
		return table->calls[number];
	info = calloc(1, sizeof(*info));
	if (!info)
		return NULL;
	if (names[number])
		snprintf(info->name, sizeof(info->name), "%s", names[number]);
	else
		snprintf(info->name, sizeof(info->name), "syscall_%u", (unsigned int)number);
	look_up(table, info);
	find_words(info);
	table->calls[number] = info;
	return info;
}

void syscall_table_free(struct syscall_table *table)
{
	for (size_t i = 0; i < SYSCALLS_MAX; i++)
		free(table->calls[i]);
}
