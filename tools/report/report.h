/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl report": what its parts share. options.c understands the command line, columns.c what a
 * row is and which columns it has, callgraph.c the kind of call graph; report.c reads the
 * samples, filter.c chooses among them, hist.c sorts them into rows, branches.c their branches,
 * group.c joins those of the events of a group, chains.c has their call chains, tree.c trees of
 * calls; text.c, graph.c, hierarchy.c and json.c print these, browse.c shows them on a terminal,
 * about.c prints what the recording says of itself, dump.c its records, processes.c its tasks;
 * flame.c and flame_svg.c print the tree of all calls for flame graphs; export/ writes files for
 * viewers of others.
 */
#ifndef PMUCTL_TOOL_REPORT_H
#define PMUCTL_TOOL_REPORT_H

#include "command.h"
#include "export/export.h"
#include "filter.h"
#include "symbols/samples.h"

/* The columns of a report: what a row can be sorted by, and numbers of a row */
enum report_key {
	KEY_COMM,
	KEY_PID,
	KEY_TID,
	KEY_CPU,
	KEY_TIME,
	KEY_CGROUP,
	KEY_DSO,
	KEY_SYMBOL,
	KEY_LINE,
	KEY_PARENT,
	KEY_DSO_FROM,	/* this one and those that follow are of branches */
	KEY_SYMBOL_FROM,
	KEY_DSO_TO,
	KEY_SYMBOL_TO,
	KEY_MISPREDICT,
	KEY_CYCLES,
	KEY_COUNT,
	NUMBER_CHILDREN = KEY_COUNT,
	NUMBER_OVERHEAD,
	NUMBER_KERNEL,
	NUMBER_USER,
	NUMBER_SAMPLES,
	NUMBER_PERIOD,
	COLUMN_COUNT,
};

/**
 * struct report_columns - which columns, in which order
 * @list: them.
 * @count: how many.
 */
struct report_columns {
	enum report_key list[COLUMN_COUNT];
	size_t count;
};

enum report_graph {
	GRAPH_AUTO,	/* callers if the recording has chains */
	GRAPH_NONE,
	GRAPH_CALLEE,	/* below each row who called it */
	GRAPH_CALLER,	/* from the outermost caller on */
};

enum report_style {
	STYLE_GRAPH,	/* a tree; shares of all */
	STYLE_FRACTAL,	/* a tree; shares of the caller's, or callee's */
	STYLE_FLAT,	/* chain by chain, a line for each function */
	STYLE_FOLDED,	/* a line for each chain */
};

enum report_value {
	VALUE_PERCENT,
	VALUE_PERIOD,
	VALUE_COUNT,
};

/**
 * struct report_callgraph - what "-g" says
 * @order: of the functions.
 * @style: how chains are printed.
 * @value: what is before each.
 * @limit: percentage that a branch must have.
 * @most: chains or branches of one parent; 0: all.
 * @whole: at the end one tree of all calls.
 */
struct report_callgraph {
	enum report_graph order;
	enum report_style style;
	enum report_value value;
	double limit;
	size_t most;
	bool whole;
};

enum report_format {
	FORMAT_TEXT,
	FORMAT_JSON,
	FORMAT_FOLDED,
	FORMAT_SVG,
	FORMAT_EXPORT,	/* for viewers of others */
	FORMAT_STATS,	/* how many records of which type there are */
	FORMAT_DUMP,	/* all records, and that */
	FORMAT_TASKS,	/* who has made whom */
};

enum report_about {
	ABOUT_SHORT,
	ABOUT_HEADER,
	ABOUT_ONLY,	/* nothing else */
	ABOUT_NOTHING,
};

/**
 * struct report_options - the command line
 * @input: the file and its surroundings.
 * @event: only this event; NULL: all, or the first where only one is possible.
 * @sort_text: what was given by --sort, or NULL.
 * @fields_text: what was given by --fields, or NULL.
 * @is_key: what makes a row.
 * @columns: of a row, from left to right.
 * @order: what rows are put in order by.
 * @graph: the call graph.
 * @children: callers have rows too; below 0: if there are call chains, and as text.
 * @branches: rows are of the branches of samples.
 * @counts: print the numbers of samples.
 * @periods: print the counts of the event that they stand for.
 * @hierarchy: rows within rows, a level for each key.
 * @group: one table for the events of a group; below 0: where the recording has groups; above:
 *	all of its events are one if it has none.
 * @limit: percentage that a row must have.
 * @more_than: what a row must have counted more than, events.
 * @widths: of columns, in characters, from left to right; 0: what is in them decides.
 * @sets_widths: they were given.
 * @line_width: columns of a terminal that lines are to fit into; 0: of any length.
 * @separator: between columns, which are not aligned then; NULL: they are.
 * @filter: which samples.
 * @format: of the output.
 * @about: what is told of the recording before.
 * @svg: file for FORMAT_SVG.
 * @title: of the flame graph, or NULL.
 * @export: for FORMAT_EXPORT: which,
 * @output: and the file.
 * @stdio: text, on a terminal too.
 * @time_quantum: nanoseconds that have one row, of the key "time".
 * @nanoseconds: times are told to the nanosecond.
 * @threads: what each thread has counted, too.
 * @maps: what processes had mapped, for FORMAT_TASKS.
 */
struct report_options {
	struct samples_options input;
	const char *event;
	const char *sort_text;
	const char *fields_text;
	bool is_key[KEY_COUNT];
	struct report_columns columns;
	struct report_columns order;
	struct report_callgraph graph;
	int children;
	bool branches;
	bool counts;
	bool periods;
	bool hierarchy;
	int group;
	double limit;
	uint64_t more_than;
	size_t widths[COLUMN_COUNT];
	bool sets_widths;
	size_t line_width;
	const char *separator;
	struct filter filter;
	enum report_format format;
	enum report_about about;
	const char *svg;
	const char *title;
	const struct export_format *export;
	const char *output;
	bool stdio;
	uint64_t time_quantum;
	bool nanoseconds;
	bool threads;
	bool maps;
};

struct report;

/* options.c */
int report_options_parse(struct report_options *options, int argc, char **argv);

/* columns.c */
extern const char *const report_column_names[COLUMN_COUNT];
int columns_check(const struct command *command, const struct report_options *options);
bool columns_of_branches(const struct report_options *options);
void columns_set(struct report_options *options);
int columns_widths(struct report_options *options, const char *text);
int columns_time_quantum(struct report_options *options, const char *text);
int columns_start(const struct report *report);

/* callgraph.c */
int callgraph_parse(struct report_callgraph *graph, const char *text);

struct report_row;

/**
 * struct tree_node - a function in a tree of calls
 * @child: the first below; those of a tree that was sorted are.
 * @sibling: the next of the same parent.
 * @parent: NULL for a root.
 * @label: its name.
 * @level: as struct place has it; 'c' for the name of a command.
 * @period: of all samples that went through it.
 * @samples: how many these were.
 * @row: that it is of, in the tree of chains; NULL otherwise.
 * @next_of_row: of the same row.
 */
struct tree_node {
	struct tree_node *child;
	struct tree_node *sibling;
	struct tree_node *parent;
	const char *label;
	char level;
	uint64_t period;
	uint64_t samples;
	struct report_row *row;
	struct tree_node *next_of_row;
};

struct tree;

/**
 * struct report_part - a part of what an event counted
 * @period: so many events.
 * @samples: in so many samples.
 */
struct report_part {
	uint64_t period;
	uint64_t samples;
};

/* tree.c */
struct tree *tree_new(void);
void tree_free(struct tree *tree);
struct tree_node *tree_root(struct tree *tree);
struct tree_node *tree_child(struct tree *tree, struct tree_node *parent,
			     const char *label, char level, struct report_row *row);
void tree_sort(struct tree_node *root, bool by_label);
struct report_part tree_own_part(const struct tree_node *node);

/**
 * struct report_row - a row of a report
 * @next: in its bucket.
 * @key: what makes it this row, as far as the options want it.
 * @text: how that is printed.
 * @level: of its place.
 * @marks: of places of branches, by their key.
 * @period: of samples that are in it.
 * @kernel: of those that are in the kernel.
 * @user: of those that are in user space.
 * @samples: how many.
 * @total: of samples that are in it or in what it called; with @children only.
 * @last: number of the last sample that was added to @total.
 * @nodes: in the tree of chains, where it is.
 * @pair: the row with these keys of the next event of the group that has one; groups_join().
 * @member: number of the event in its group, of a row that is a @pair.
 */
struct report_row {
	struct report_row *next;
	uint64_t key[KEY_COUNT];
	const char *text[KEY_COUNT];
	char level;
	char marks[KEY_COUNT];
	uint64_t period;
	uint64_t kernel;
	uint64_t user;
	uint64_t samples;
	uint64_t total;
	uint64_t last;
	struct tree_node *nodes;
	struct report_row *pair;
	size_t member;
};

/**
 * struct report_event - the report of an event
 * @event: the event.
 * @name: of it.
 * @samples: how many.
 * @period: of all of them.
 * @members: of the group that its table is of, with those behind it; 0: its own.
 * @is_member: it is in the table of one before it.
 * @has_chains: they have call chains.
 * @rows: all rows; sorted by hist_finish().
 * @row_count: how many.
 * @room: for so many.
 * @buckets: rows by their keys.
 * @bucket_count: how many.
 * @chains: all call chains, from the outermost caller on, NULL if they are not needed.
 * @chain_root: its root.
 * @calls: the tree of all calls, NULL if it is not needed.
 * @root: its root; the nodes below are the commands, then come the outermost callers.
 * @export: its samples, for FORMAT_EXPORT.
 */
struct report_event {
	const struct perffile_event *event;
	const char *name;
	uint64_t samples;
	uint64_t period;
	size_t members;
	bool is_member;
	bool has_chains;
	struct report_row **rows;
	size_t row_count;
	size_t room;
	struct report_row **buckets;
	size_t bucket_count;
	struct tree *chains;
	struct tree_node *chain_root;
	struct tree *calls;
	struct tree_node *root;
	struct export export;
};

/* What a thread, or what it was counted with, has counted of an event when it ended */
struct report_thread {
	uint32_t pid;
	uint32_t tid;
	const struct perffile_event *event;
	uint64_t value;
};

/**
 * struct report_threads - what all threads have counted
 * @list: owned.
 * @count: how many.
 * @room: for so many.
 */
struct report_threads {
	struct report_thread *list;
	size_t count;
	size_t room;
};

/**
 * struct report_branch - a branch that a sample tells
 * @from: where it was,
 * @to: where it went.
 * @flags: as struct perf_branch_entry has them, from its first bit on.
 * @cycles: since the branch before; 0: not known.
 */
struct report_branch {
	struct place from, to;
	unsigned int flags, cycles;
};

struct report_cgroup {
	uint64_t id;
	const char *path;
};

/**
 * struct report_cgroups - the cgroups that records told of
 * @list: in the order of their numbers; owned.
 * @count: how many.
 * @room: for so many.
 */
struct report_cgroups {
	struct report_cgroup *list;
	size_t count;
	size_t room;
};

/**
 * struct report - a report
 * @options: what was asked for.
 * @samples: the recording.
 * @events: one for each of its events.
 * @event_count: how many.
 * @cgroups: of the key "cgroup".
 * @branch: that is added now, or NULL.
 * @threads: what each has counted, of options->threads.
 * @types: how many records of each type there are, for FORMAT_STATS.
 */
struct report {
	const struct report_options *options;
	struct samples *samples;
	struct report_event *events;
	size_t event_count;
	struct report_cgroups cgroups;
	const struct report_branch *branch;
	struct report_threads threads;
	uint64_t types[PERFFILE_USER_TYPE];
};

/* threads.c */
int threads_add(struct report_threads *threads, const struct perffile_record *record);
void threads_print(const struct report *report);

/* report.c */
int report_make(struct report_options *options);
int report_open(struct report *report, struct report_options *options);
int report_add(struct report *report, const struct perffile_record *record);
int report_read(struct report *report);
void report_close(struct report *report);

/* hist.c */
int hist_add(struct report *report, struct report_event *event,
	     const struct perffile_record *record, const struct thread *thread);
int hist_add_branch(struct report *report, struct report_event *event,
		    const struct perffile_record *record, const struct thread *thread);
void hist_finish(const struct report *report, struct report_event *event);
int hist_join(const struct report *report, struct report_event *event, size_t members);
void hist_decay(struct report_event *event, unsigned int eighths);
void hist_free(struct report_event *event);
int report_row_compare(const struct report_columns *order, const struct report_row *a,
		       const struct report_row *b);

/* cgroups.c */
int cgroups_add(struct report *report, const struct perffile_record *record);
const char *cgroups_path(const struct report *report, uint64_t id);

/* branches.c */
void branches_fill_key(struct report *report, struct report_row *row, enum report_key key);
size_t branches_count(const struct perffile_record *record);
int report_add_branches(struct report *report, struct report_event *event,
			const struct perffile_record *record, const struct thread *thread);

/* group.c */
int groups_join(struct report *report);
void group_print_head(const struct report_event *event);
uint64_t group_samples(const struct report_event *event);

/* chains.c */
int chains_add(struct report *report, struct report_event *event,
	       struct report_row *const *rows, uint64_t period);
void chains_decay(struct report_event *event, unsigned int eighths);
uint64_t eighths_of(uint64_t number, unsigned int eighths);
struct tree *chains_of_row(const struct report *report, const struct report_row *row,
			   struct tree_node **root);

/* text.c */
extern const char *const report_headings[COLUMN_COUNT];
void report_print(const struct report *report);
void report_print_rows(FILE *out, const struct report *report,
		       const struct report_event *event, size_t most, bool graphs);
void report_print_graph(FILE *out, const struct report *report,
			const struct report_event *event, const struct report_row *row);
bool report_row_is_shown(const struct report *report, const struct report_event *event,
			 const struct report_row *row);

/* browse.c */
bool browse_is_wanted(const struct report_options *options);
int browse(struct report *report, struct report_options *options);

/* graph.c */
void graph_print(FILE *out, const struct report_callgraph *graph,
		 const struct tree_node *root, uint64_t total, size_t indent);

/* hierarchy.c */
void hierarchy_print(const struct report *report, const struct report_event *event);

/* about.c */
void about_header(struct samples *samples);
void about_print(const struct report *report);
const char *about_type_name(unsigned int type);
void about_print_stats(const struct report *report);

/* processes.c */
int processes_print(const struct report *report);

/* dump.c */
int dump_records(struct samples *samples, struct report *report);
const char *dump_branch_type(uint64_t flags);

/* json.c */
int report_print_json(const struct report *report);

/* flame.c */
int flame_add(struct report *report, struct report_event *event,
	      const struct thread *thread, uint64_t period);
void flame_print_folded(const struct report_event *event);

/* flame_svg.c */
int flame_write_svg(const struct report *report, const struct report_event *event,
		    const char *path);

static inline double report_percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

/* What decides whether a row is shown, and comes first */
static inline uint64_t report_weight(const struct report *report,
				     const struct report_row *row)
{
	return report->options->children > 0 ? row->total : row->period;
}

#endif /* PMUCTL_TOOL_REPORT_H */
