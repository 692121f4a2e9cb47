// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files of the kernel's tracing.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tracefs.h"

static const char *const roots[] = {
	"/sys/kernel/tracing", "/sys/kernel/debug/tracing",
};

/**
 * tracefs_open() - open one of its files
 * @name: without the directory where tracefs is mounted.
 *
 * Return: the file; NULL with errno set.
 */
FILE *tracefs_open(const char *name)
{
	char path[400];
	FILE *file = NULL;

	for (size_t i = 0; i < ARRAY_LEN(roots) && !file; i++) {
		snprintf(path, sizeof(path), "%s/%s", roots[i], name);
		file = fopen(path, "re");
	}
	return file;
}

/**
 * tracefs_read() - what a file says
 * @name: as for tracefs_open().
 * @size: filled with its bytes.
 *
 * Return: a new text with a NUL behind; NULL if it cannot be read.
 */
char *tracefs_read(const char *name, size_t *size)
{
	FILE *file = tracefs_open(name);
	size_t room = 0;
	char *text = NULL;
	ssize_t length;

	*size = 0;
	if (!file)
		return NULL;
	/* There is no NUL in it: this is all. */
	length = getdelim(&text, &room, '\0', file);
	fclose(file);
	if (length > 0) {
		*size = (size_t)length;
		return text;
	}
	free(text);
	return NULL;
}

/* Has an event of this name, "system:name", that number? */
static bool has_number(const char *name, size_t length, uint64_t id)
{
	const char *colon = memchr(name, ':', length);
	uint64_t number;
	char path[300];
	FILE *file;
	int n;

	if (!colon || memchr(name, '/', length))
		return false;
	snprintf(path, sizeof(path), "events/%.*s/%.*s/id", (int)(colon - name), name,
		 (int)(length - (size_t)(colon - name) - 1), colon + 1);
	file = tracefs_open(path);
	if (!file)
		return false;
	n = fscanf(file, "%" SCNu64, &number);
	fclose(file);
	return n == 1 && number == id;
}

/**
 * tracefs_name() - the name of an event
 * @id: its number.
 * @guess: most likely begins with its name, to which modifiers and terms may be added.
 *
 * Return: a new text, "system:name"; NULL if there is none.
 */
char *tracefs_name(uint64_t id, const char *guess)
{
	const char *colon = strchr(guess, ':');
	size_t length = colon ? (size_t)(colon + 1 - guess) + strcspn(colon + 1, ":/") : 0;
	char line[300], *name = NULL;
	FILE *file;

	if (has_number(guess, length, id))
		return strndup(guess, length);
	file = tracefs_open("available_events");
	while (file && !name && fgets(line, sizeof(line), file)) {
		length = strcspn(line, "\n");
		if (has_number(line, length, id))
			name = strndup(line, length);
	}
	if (file)
		fclose(file);
	return name;
}
