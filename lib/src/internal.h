/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the files of libpmuctl share with each other and with nobody else.
 */
#ifndef PMUCTL_INTERNAL_H
#define PMUCTL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include <pmuctl.h>

/* Marks what the version script exports. */
#define PMUCTL_API __attribute__((visibility("default")))

/* A filter made of terms, "id == 63 && ..." */
#define FILTER_MAX 256

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* A piece of the caller's text; not ended by a NUL. */
struct span {
	const char *start;
	size_t len;
};

/* A list that is being parsed. */
struct parser {
	const char *text;		/* positions are offsets into it */
	pmuctl_name_fn resolve;
	void *arg;
	struct pmuctl_parse_error *error;
};

/**
 * struct modifiers - letters behind an event or a group
 * @text: as they were written.
 * @times: how often each of them is there.
 */
struct modifiers {
	struct span text;
	unsigned char times[128];
};

/**
 * struct item - one event of a list
 * @attr: what to count.
 * @name: as it was written, or given by name=.
 * @has_own_name: it is the latter.
 * @mods: its own modifiers.
 * @traces: it is one of a driver that traces.
 * @action: PMUCTL_AUX_*, or 0; in @attr too.
 * @filter: of a tracepoint, or empty.
 */
struct item {
	struct perf_event_attr attr;
	struct span name;
	bool has_own_name;
	struct modifiers mods;
	bool traces;
	uint32_t action;
	char filter[FILTER_MAX];
};

/* region.c */
struct pmuctl_regions;
const char *pmuctl_regions_event(const struct pmuctl_regions *regions, size_t index);

/* tracepoint.c */
bool pmuctl_tracepoint_name(uint64_t id, char *name, size_t size);

/* explain.c */
void pmuctl_why_make(struct pmuctl_explanation *why, unsigned int code, int error,
		     const char *field, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
void pmuctl_why_device(struct pmuctl_explanation *why, const char *path,
		       int error);
void pmuctl_why_complete(struct pmuctl_explanation *why, int error);

/* names.c */
bool pmuctl_span_is(struct span span, const char *word);
bool pmuctl_name_find_generic(struct span name, struct perf_event_attr *attr);
bool pmuctl_name_find_cache(struct span name, struct perf_event_attr *attr);

/* fields.c */
struct field_set {
	unsigned int seen;		/* bit per field of the table */
	struct span name;		/* of name=, or of length 0 */
};

bool pmuctl_field_is(struct span term, unsigned int *index);
int pmuctl_field_apply(struct parser *p, struct span term,
		       struct field_set *set, struct perf_event_attr *attr);
bool pmuctl_number_parse(struct span text, uint64_t *value);
int pmuctl_raw_parse(struct parser *p, struct span text,
		     struct perf_event_attr *attr);

/* terms.c */
int pmuctl_term_common(struct parser *p, struct span term, struct item *item);
int pmuctl_terms_parse(struct parser *p, struct span name, struct span body,
		       struct item *item);

/* parse.c */
int pmuctl_parse_fail(struct parser *p, const char *where, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
bool pmuctl_is_blank(char c);
struct span pmuctl_span_trim(struct span span);
int pmuctl_modifiers_parse(struct parser *p, struct span text,
			   struct modifiers *mods);
bool pmuctl_modifiers_levels(const struct modifiers *mods);
void pmuctl_modifiers_add(const struct modifiers *mods, struct perf_event_attr *attr);
const char *pmuctl_item_parse(struct parser *p, const char *at, struct item *item,
			      int *ret);

#endif /* PMUCTL_INTERNAL_H */
