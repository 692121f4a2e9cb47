/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What tracepoints tell, by the formats that a recording has of them: formats.c finds the formats
 * and their fields, print.c makes text and JSON of a sample's record, printer.c has libtraceevent
 * print it as the kernel does.
 */
#ifndef PMUCTL_TOOL_TRACEPOINT_H
#define PMUCTL_TOOL_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <jansson.h>

/* Longer ones are no kernel's. */
#define TRACEPOINT_RECORD_MAX	65536u

/* The function at an address, a text that stays, and where it begins; NULL if it is not known. */
typedef const char *(*tracepoint_resolve)(void *arg, uint64_t address, uint64_t *start);

/**
 * struct tracepoint_field - a field of a record
 * @name: its name.
 * @offset: where it is, or the word that tells that.
 * @size: its bytes, or those of that word.
 * @element: of an array, the bytes of each number; of others 0.
 * @is_signed: it is, or they are.
 * @is_text: it is an array of characters.
 * @is_pointer: it is an address.
 * @is_dynamic: at @offset there is a word: the length of the field, and where it is.
 * @is_relative: that is counted from behind the word.
 */
struct tracepoint_field {
	char *name;
	uint32_t offset;
	uint32_t size;
	uint32_t element;
	bool is_signed;
	bool is_text;
	bool is_pointer;
	bool is_dynamic;
	bool is_relative;
};

/**
 * struct tracepoint_format - of an event
 * @id: its number.
 * @system: of which system it is.
 * @text: the format, as tracefs has it.
 * @size: bytes of @text.
 * @fields: its own; those that all events have are left out.
 * @count: how many.
 * @is_unprintable: it ended who was to print a record of it.
 */
struct tracepoint_format {
	uint64_t id;
	const char *system;
	const char *text;
	size_t size;
	struct tracepoint_field *fields;
	size_t count;
	bool is_unprintable;
};

/**
 * struct tracepoints - the formats of a recording
 * @formats: of its events.
 * @count: how many.
 * @numbers: which of them, from 1 on, is the one of an event; 0: none is.
 * @long_size: bytes of a long there.
 * @texts: what printk_formats said: texts that records point to.
 * @texts_size: bytes of @texts.
 * @resolve: names of functions, or NULL.
 * @arg: for @resolve.
 * @printer: the process that prints, 0 if there is none.
 * @failures: how often one ended.
 * @to: pipe to it.
 * @from: pipe from it.
 */
struct tracepoints {
	struct tracepoint_format *formats;
	size_t count;
	uint16_t numbers[UINT16_MAX + 1];
	uint8_t long_size;
	const char *texts;
	size_t texts_size;
	tracepoint_resolve resolve;
	void *arg;
	pid_t printer;
	unsigned int failures;
	int to;
	int from;
};

/* ---- formats.c */
struct tracepoints *tracepoints_new(const uint8_t *section, size_t size);
void tracepoints_set_resolver(struct tracepoints *tracepoints, tracepoint_resolve resolve,
			      void *arg);
void tracepoints_free(struct tracepoints *tracepoints);
struct tracepoint_format *tracepoints_find(const struct tracepoints *tracepoints, uint64_t id);

/* ---- print.c */
bool tracepoints_print(struct tracepoints *tracepoints, uint64_t id, const uint8_t *raw,
		       size_t size, FILE *out);
json_t *tracepoints_fields(struct tracepoints *tracepoints, uint64_t id, const uint8_t *raw,
			   size_t size);

/* ---- printer.c */
bool printer_is_there(void);
char *printer_print(struct tracepoints *tracepoints, struct tracepoint_format *format,
		    const uint8_t *raw, size_t size);
void printer_end(struct tracepoints *tracepoints);

#endif /* PMUCTL_TOOL_TRACEPOINT_H */
