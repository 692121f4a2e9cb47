// SPDX-License-Identifier: GPL-2.0-only
/*
 * What files of the kernel say: small ones, and the table of interrupts.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selftest.h"

/**
 * file_word() - the first line of a small file
 * @path: the file.
 * @text: filled, without the newline; empty if there is no such file.
 * @size: bytes at @text.
 *
 * Return: whether it could be read.
 */
bool file_word(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	text[0] = '\0';
	if (fd >= 0) {
		got = read(fd, text, size - 1);
		close(fd);
	}
	if (got < 0)
		return false;
	text[got] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return true;
}

/**
 * file_write() - write to a file of the kernel
 * @path: the file.
 * @text: what to write, all at once.
 *
 * Return: whether it was taken.
 */
bool file_write(const char *path, const char *text)
{
	size_t length = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool done;

	if (fd < 0)
		return false;
	done = write(fd, text, length) == (ssize_t)length;
	close(fd);
	return done;
}

/* In which column of the table a CPU is; -1 if in none. Only CPUs that are online have one. */
static int column_of(const char *heads, int cpu)
{
	char head[16];
	int column = 0;

	for (const char *at = heads; (at = strstr(at, "CPU")); at += 3, column++) {
		snprintf(head, sizeof(head), "CPU%d", cpu);
		if ((size_t)strspn(at + 3, "0123456789") + 3 == strlen(head) &&
		    !strncmp(at, head, strlen(head)))
			return column;
	}
	return -1;
}

static uint64_t number_in(const char *line, int column)
{
	const char *at = strchr(line, ':');
	char *end;

	for (at = at ? at + 1 : ""; ; at = end) {
		uint64_t n = strtoull(at, &end, 10);

		if (end == at)
			return 0;
		if (column-- == 0)
			return n;
	}
}

/**
 * interrupts_of_cpu() - how many interrupts a CPU has had
 * @cpu: which.
 * @label: of which kind, as /proc/interrupts has it ("NMI"); NULL: all together.
 *
 * Return: the number, 0 if it cannot be read.
 */
uint64_t interrupts_of_cpu(int cpu, const char *label)
{
	FILE *in = fopen("/proc/interrupts", "re");
	char *line = NULL;
	uint64_t sum = 0;
	size_t size = 0;
	int column = -1;

	if (in && getline(&line, &size, in) > 0)
		column = column_of(line, cpu);
	while (column >= 0 && getline(&line, &size, in) > 0) {
		size_t blanks = strspn(line, " ");

		if (!label || (!strncmp(line + blanks, label, strlen(label)) &&
			       line[blanks + strlen(label)] == ':'))
			sum += number_in(line, column);
	}
	free(line);
	if (in)
		fclose(in);
	return sum;
}
