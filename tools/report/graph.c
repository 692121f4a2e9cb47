// SPDX-License-Identifier: GPL-2.0-only
/*
 * Call graphs as text: a tree, or chain by chain.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

/* A tree is not printed deeper than this: nobody reads it. */
#define TREE_DEPTH_MAX 128

#define INDENT 2

/* All samples of @parent are also @node's: then it needs no number of its own. */
static bool is_plain(const struct tree_node *parent, const struct tree_node *node)
{
	return parent->child == node && !node->sibling && node->period == parent->period;
}

static void print_value(FILE *out, const struct report_callgraph *graph, struct report_part part,
			uint64_t total)
{
	switch (graph->value) {
	case VALUE_PERCENT:
		fprintf(out, "%7.2f%%", report_percent(part.period, total));
		break;
	case VALUE_PERIOD:
		fprintf(out, "%8" PRIu64, part.period);
		break;
	case VALUE_COUNT:
		fprintf(out, "%8" PRIu64, part.samples);
		break;
	}
}

static void print_others(FILE *out, const struct report_callgraph *graph, struct report_part hidden,
			 uint64_t total, size_t indent)
{
	if (!hidden.samples || report_percent(hidden.period, total) < graph->limit)
		return;
	fprintf(out, "%*s", (int)indent, "");
	print_value(out, graph, hidden, total);
	if (graph->most)
		fputs("  [others]\n", out);
	else
		fprintf(out, "  [others, each less than %.1f%%]\n", graph->limit);
}

/*
 * Children below their parent, further to the right. An only child that has all of its
 * parent's samples is right under it, so that a plain stack stays a plain column.
 */
static void print_tree(FILE *out, const struct report_callgraph *graph, const struct tree_node *parent,
		       uint64_t total, size_t indent, unsigned int depth)
{
	struct report_part hidden = { 0 };
	size_t shown = 0;

	if (graph->style == STYLE_FRACTAL)
		total = parent->period;
	for (const struct tree_node *node = parent->child; node; node = node->sibling) {
		struct report_part part = { node->period, node->samples };
		bool plain = depth && is_plain(parent, node);
		bool column = node->child && is_plain(node, node->child);

		if (report_percent(node->period, total) < graph->limit ||
		    (graph->most && shown == graph->most)) {
			hidden.period += node->period;
			hidden.samples += node->samples;
			continue;
		}
		shown++;
		fprintf(out, "%*s", (int)indent, "");
		if (plain)
			fprintf(out, "        ");
		else
			print_value(out, graph, part, total);
		fprintf(out, "  %s\n", node->label);
		if (depth + 1 < TREE_DEPTH_MAX)
			print_tree(out, graph, node, total, indent + (column ? 0 : INDENT), depth + 1);
	}
	print_others(out, graph, hidden, total, indent);
}

/* ---------------------------------------------------------------- chains */

/**
 * struct chain - one of the chains of a tree
 * @end: its last function, where samples are.
 * @own: what they are.
 */
struct chain {
	const struct tree_node *end;
	struct report_part own;
};

struct chain_list {
	struct chain *list;
	size_t count;
	size_t room;
};

static void collect(struct chain_list *chains, const struct tree_node *parent)
{
	for (const struct tree_node *node = parent->child; node; node = node->sibling) {
		struct report_part own = tree_own_part(node);

		if (own.samples && chains->count == chains->room) {
			size_t room = chains->room ? chains->room * 2 : 64;
			struct chain *list = reallocarray(chains->list, room, sizeof(*list));

			if (!list)
				return;
			chains->list = list;
			chains->room = room;
		}
		if (own.samples)
			chains->list[chains->count++] = (struct chain){ node, own };
		collect(chains, node);
	}
}

/* Equal ones stay as the tree has them, which is sorted. */
static int by_period(const void *left, const void *right)
{
	const struct chain *a = left, *b = right;

	if (a->own.period != b->own.period)
		return a->own.period > b->own.period ? -1 : 1;
	return strcmp(a->end->label, b->end->label);
}

/* Flame graphs are made of folded lines: a semicolon in a name would end it. */
static void print_folded(FILE *out, const struct tree_node *node)
{
	if (node->parent->parent) {
		print_folded(out, node->parent);
		fputc(';', out);
	}
	for (const char *at = node->label; *at; at++)
		fputc(*at == ';' ? ':' : *at, out);
}

static void print_flat(FILE *out, const struct tree_node *node, size_t indent)
{
	if (node->parent->parent)
		print_flat(out, node->parent, indent);
	fprintf(out, "%*s%s\n", (int)indent, "", node->label);
}

/* A folded line begins with its number: "12.34% main;work;hot". */
static void print_folded_value(FILE *out, const struct report_callgraph *graph, struct report_part own,
			       uint64_t total)
{
	if (graph->value == VALUE_PERCENT)
		fprintf(out, "%.2f%% ", report_percent(own.period, total));
	else
		fprintf(out, "%" PRIu64 " ", graph->value == VALUE_PERIOD ? own.period : own.samples);
}

static void print_chains(FILE *out, const struct report_callgraph *graph, const struct tree_node *root,
			 uint64_t total, size_t indent)
{
	struct chain_list chains = { 0 };

	collect(&chains, root);
	if (chains.count)
		qsort(chains.list, chains.count, sizeof(*chains.list), by_period);
	for (size_t i = 0; i < chains.count && (!graph->most || i < graph->most); i++) {
		const struct chain *chain = &chains.list[i];

		if (report_percent(chain->own.period, total) < graph->limit)
			break;
		if (graph->style == STYLE_FOLDED) {
			print_folded_value(out, graph, chain->own, total);
			print_folded(out, chain->end);
			fputc('\n', out);
			continue;
		}
		fprintf(out, "%*s", (int)indent, "");
		print_value(out, graph, chain->own, total);
		fputc('\n', out);
		print_flat(out, chain->end, indent + 10);
		fputc('\n', out);
	}
	free(chains.list);
}

/**
 * graph_print() - print the call graph of a row
 * @out: where to.
 * @graph: how.
 * @root: of its tree, sorted.
 * @total: period of which shares are.
 * @indent: columns before it.
 */
void graph_print(FILE *out, const struct report_callgraph *graph, const struct tree_node *root,
		 uint64_t total, size_t indent)
{
	if (graph->style == STYLE_FLAT || graph->style == STYLE_FOLDED)
		print_chains(out, graph, root, total, indent);
	else
		print_tree(out, graph, root, total, indent, 0);
}
