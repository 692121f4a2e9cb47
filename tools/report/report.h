/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl report": what its parts share. report.c understands the command line and
 * reads the samples, report_hist.c sorts them into rows, report_tree.c into trees of
 * calls, report_text.c and report_json.c print these; flame.c and flame_svg.c print the
 * tree of all calls for flame graphs.
 */
#ifndef PMUCTL_TOOL_REPORT_H
#define PMUCTL_TOOL_REPORT_H

#include "command.h"
#include "symbols/samples.h"

/* What a row can be sorted by */
enum report_key {
	KEY_COMM,
	KEY_PID,
	KEY_TID,
	KEY_CPU,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_LINE,
	KEY_COUNT,
};

enum report_graph {
	GRAPH_AUTO,	/* callers if the recording has chains */
	GRAPH_NONE,
	GRAPH_CALLEE,	/* below each row who called it */
	GRAPH_CALLER,	/* one tree from the outermost caller on */
};

enum report_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_FOLDED,
	FORMAT_SVG,
};

/**
 * struct report_options - the command line
 * @input: the file and its surroundings.
 * @event: only this event; NULL: all, or the first where only one is possible.
 * @keys: of a row.
 * @key_count: how many.
 * @graph: which call graph.
 * @children: callers have rows too.
 * @counts: print the numbers of samples.
 * @limit: percentage that a row must have.
 * @format: of the output.
 * @svg: file for FORMAT_SVG.
 * @title: of the flame graph, or NULL.
 */
struct report_options {
	struct samples_options input;
	const char *event;
	enum report_key keys[KEY_COUNT];
	size_t key_count;
	enum report_graph graph;
	bool children;
	bool counts;
	double limit;
	enum report_format format;
	const char *svg;
	const char *title;
};

/**
 * struct tree_node - a function in a tree of calls
 * @child: the first below; those of a tree that was sorted are.
 * @sibling: the next of the same parent.
 * @parent: NULL for a root.
 * @label: its name.
 * @level: as struct place has it; 'c' for the name of a command.
 * @period: of all samples that went through it.
 * @samples: how many these were.
 */
struct tree_node {
	struct tree_node *child;
	struct tree_node *sibling;
	struct tree_node *parent;
	const char *label;
	char level;
	uint64_t period;
	uint64_t samples;
};

struct tree;

/* report_tree.c */
struct tree *tree_new(void);
void tree_free(struct tree *tree);
struct tree_node *tree_root(struct tree *tree);
struct tree_node *tree_child(struct tree *tree, struct tree_node *parent,
			     const char *label, char level);
void tree_sort(struct tree_node *root, bool by_label);
uint64_t tree_own(const struct tree_node *node);

/**
 * struct report_row - a row of a report
 * @next: in its bucket.
 * @key: what makes it this row, in the order of the options.
 * @text: how that is printed.
 * @level: of its place.
 * @period: of samples that are in it.
 * @samples: how many.
 * @total: of samples that are in it or in what it called; with @children only.
 * @last: number of the last sample that was added to @total.
 * @callers: NULL, or the root of the tree of its callers.
 */
struct report_row {
	struct report_row *next;
	uint64_t key[KEY_COUNT];
	const char *text[KEY_COUNT];
	char level;
	uint64_t period;
	uint64_t samples;
	uint64_t total;
	uint64_t last;
	struct tree_node *callers;
};

/**
 * struct report_event - the report of an event
 * @event: the event.
 * @name: of it.
 * @samples: how many.
 * @period: of all of them.
 * @has_chains: they have call chains.
 * @rows: all rows; sorted by hist_sort().
 * @row_count: how many.
 * @room: for so many.
 * @buckets: rows by their keys.
 * @bucket_count: how many.
 * @trees: of the rows' callers, NULL if there are none.
 * @calls: the tree of all calls, NULL if it is not needed.
 * @root: its root; the nodes below are the commands, then come the outermost callers.
 */
struct report_event {
	const struct perffile_event *event;
	const char *name;
	uint64_t samples;
	uint64_t period;
	bool has_chains;
	struct report_row **rows;
	size_t row_count;
	size_t room;
	struct report_row **buckets;
	size_t bucket_count;
	struct tree *trees;
	struct tree *calls;
	struct tree_node *root;
};

/**
 * struct report - a report
 * @options: what was asked for.
 * @samples: the recording.
 * @events: one for each of its events.
 * @event_count: how many.
 */
struct report {
	const struct report_options *options;
	struct samples *samples;
	struct report_event *events;
	size_t event_count;
};

/* report_hist.c */
extern const char *const report_key_names[KEY_COUNT];
int hist_add(struct report *report, struct report_event *event,
	     const struct perffile_record *record, const struct thread *thread);
void hist_sort(struct report_event *event, bool children);
void hist_free(struct report_event *event);

/* report_text.c */
void report_print(const struct report *report);

/* report_json.c */
int report_print_json(const struct report *report);

/* flame.c */
int flame_add(struct report *report, struct report_event *event,
	      const struct thread *thread, uint64_t period);
void flame_print_folded(const struct report_event *event);

/* flame_svg.c */
int flame_write_svg(const struct report *report, const struct report_event *event,
		    const char *path);

#endif /* PMUCTL_TOOL_REPORT_H */
