// SPDX-License-Identifier: GPL-2.0-only
/*
 * The call chains of the rows. All chains of an event are one tree, from the outermost
 * caller on, in which every node knows its row; what belongs to one row is taken out of it
 * when the row is printed. So memory grows with the number of different chains, and not
 * with the rows that each of them is in.
 */
#include <errno.h>
#include <string.h>

#include "report.h"

/**
 * chains_add() - add the chain of a sample
 * @report: of which the frames were resolved.
 * @event: that it is of.
 * @rows: for each frame its row; NULL for callers that have none.
 * @period: of the sample.
 *
 * Return: 0, -ENOMEM.
 */
int chains_add(struct report *report, struct report_event *event,
	       struct report_row *const *rows, uint64_t period)
{
	struct samples *samples = report->samples;
	struct tree_node *node;

	if (!event->chains)
		event->chains = tree_new();
	if (!event->chain_root && event->chains)
		event->chain_root = tree_root(event->chains);
	node = event->chain_root;
	for (size_t i = samples->frame_count; node && i > 0; i--) {
		const struct place *place = &samples->frames[i - 1];
		struct report_row *row = rows[i - 1];

		node = tree_child(event->chains, node, samples_frame_name(samples, place),
				  place->level, row);
		if (!node)
			break;
		if (row && !node->samples) {
			node->next_of_row = row->nodes;
			row->nodes = node;
		}
		node->period += period;
		node->samples++;
	}
	return node ? 0 : -ENOMEM;
}

/**
 * eighths_of() - a part of a number
 * @number: of it.
 * @eighths: so many eighths.
 *
 * Return: that; a product of all events of a day could overflow.
 */
uint64_t eighths_of(uint64_t number, unsigned int eighths)
{
	return number / 8 * eighths + number % 8 * eighths / 8;
}

/*
 * What is left of all below @from goes below @to. A sample is one as long as anything is left of
 * its period.
 */
static bool decay_below(struct tree *tree, struct tree_node *to, const struct tree_node *from,
			unsigned int eighths)
{
	for (const struct tree_node *child = from->child; child; child = child->sibling) {
		struct report_part own = tree_own_part(child);
		struct tree_node *node;

		if (!child->samples)
			continue;
		node = tree_child(tree, to, child->label, child->level, child->row);
		if (!node || !decay_below(tree, node, child, eighths))
			return false;
		own.period = eighths_of(own.period, eighths);
		node->period += own.period;
		node->samples += own.period ? own.samples - eighths_of(own.samples, 8 - eighths) : 0;
		to->period += node->period;
		to->samples += node->samples;
		if (node->row && node->samples) {
			node->next_of_row = node->row->nodes;
			node->row->nodes = node;
		}
	}
	return true;
}

/**
 * chains_decay() - let the chains that were counted until now weigh less
 * @event: that they are of; its rows know none of them any more.
 * @eighths: how much of each is left, of 8.
 *
 * Those of which nothing is left are forgotten, and without memory all are.
 */
void chains_decay(struct report_event *event, unsigned int eighths)
{
	struct tree *old = event->chains;
	const struct tree_node *from = event->chain_root;

	event->chains = NULL;
	event->chain_root = NULL;
	if (old && eighths)
		event->chains = tree_new();
	if (event->chains)
		event->chain_root = tree_root(event->chains);
	if (event->chain_root && !decay_below(event->chains, event->chain_root, from, eighths)) {
		for (size_t i = 0; i < event->row_count; i++)
			event->rows[i]->nodes = NULL;
		tree_free(event->chains);
		event->chains = NULL;
		event->chain_root = NULL;
	}
	tree_free(old);
}

static struct tree_node *step(struct tree *tree, struct tree_node *to,
			      const struct tree_node *like, struct report_part part)
{
	to = to ? tree_child(tree, to, like->label, like->level, NULL) : NULL;
	if (!to)
		return NULL;
	to->period += part.period;
	to->samples += part.samples;
	return to;
}

/* From the outermost caller to @node. */
static struct tree_node *add_path_down(struct tree *tree, struct tree_node *to,
				       const struct tree_node *node, struct report_part part)
{
	if (node->parent->parent)
		to = add_path_down(tree, to, node->parent, part);
	return step(tree, to, node, part);
}

/* From @node, or who called it, to the outermost caller. */
static bool add_path_up(struct tree *tree, struct tree_node *to,
			const struct tree_node *node, struct report_part part, bool itself)
{
	to->period += part.period;
	to->samples += part.samples;
	if (!part.samples)
		return true;
	if (itself)
		to = step(tree, to, node, part);
	for (node = node->parent; to && node->parent; node = node->parent)
		to = step(tree, to, node, part);
	return to;
}

/* What went through @node, but through no other node of the row behind it */
static struct report_part last_part(const struct tree_node *node, const struct report_row *row)
{
	struct report_part part = tree_own_part(node);

	for (const struct tree_node *child = node->child; child; child = child->sibling) {
		struct report_part more;

		if (child->row == row)
			continue;
		more = last_part(child, row);
		part.period += more.period;
		part.samples += more.samples;
	}
	return part;
}

/* What @node called, without samples in the row itself. */
static struct report_part copy_down(struct tree *tree, struct tree_node *to,
				    const struct tree_node *node, const struct report_row *row)
{
	struct report_part part = { 0 };

	to = to ? tree_child(tree, to, node->label, node->level, NULL) : NULL;
	if (!to)
		return part;
	if (node->row != row)
		part = tree_own_part(node);
	for (const struct tree_node *child = node->child; child; child = child->sibling) {
		struct report_part more = copy_down(tree, to, child, row);

		part.period += more.period;
		part.samples += more.samples;
	}
	to->period += part.period;
	to->samples += part.samples;
	return part;
}

static bool is_outermost(const struct tree_node *node)
{
	for (const struct tree_node *up = node->parent; up; up = up->parent)
		if (up->row == node->row)
			return false;
	return true;
}

/* As perf: all callers of its own samples; of others, itself and what it called. */
static bool add_node_down(struct tree *tree, struct tree_node *root,
			  const struct tree_node *node, bool children)
{
	struct report_part own = tree_own_part(node);
	struct report_part below = { 0 };

	if (own.samples && !add_path_down(tree, root, node, own))
		return false;
	if (children && is_outermost(node))
		below = copy_down(tree, root, node, node->row);
	root->period += own.period + below.period;
	root->samples += own.samples + below.samples;
	return true;
}

/* Without what has no samples: it was only on the way to the row's own. */
static void prune(struct tree_node *parent)
{
	struct tree_node **at = &parent->child;

	while (*at) {
		if (!(*at)->samples) {
			*at = (*at)->sibling;
			continue;
		}
		prune(*at);
		at = &(*at)->sibling;
	}
}

/* Where the row's function has inlined others, that is not the row's name. */
static bool is_inlined(const char *label)
{
	static const char mark[] = " (inlined)";
	size_t length = strlen(label);

	return length >= sizeof(mark) && !strcmp(label + length + 1 - sizeof(mark), mark);
}

/* Rows by function say already which function it is that was called. */
static bool is_named(const struct report_options *options)
{
	bool is_tree = options->graph.style == STYLE_GRAPH ||
		       options->graph.style == STYLE_FRACTAL;

	return options->format == FORMAT_JSON || (is_tree && options->is_key[KEY_SYMBOL]);
}

/**
 * chains_of_row() - the tree of calls of a row
 * @report: the report, which says its order.
 * @row: the row.
 * @root: set to its root, the row itself: below are, in the order of callees, its callers
 *	(or itself, where the row does not name it), in the order of callers the outermost.
 *
 * Return: sorted, to be freed with tree_free(); NULL if the row has no chains, or if there
 * is no memory.
 */
struct tree *chains_of_row(const struct report *report, const struct report_row *row,
			   struct tree_node **root)
{
	const struct report_options *options = report->options;
	struct tree *tree = row->nodes ? tree_new() : NULL;

	*root = tree ? tree_root(tree) : NULL;
	for (const struct tree_node *node = row->nodes; *root && node; node = node->next_of_row) {
		bool done;

		if (options->graph.order == GRAPH_CALLER)
			done = add_node_down(tree, *root, node, options->children > 0);
		else
			done = add_path_up(tree, *root, node, options->children > 0 ?
					   last_part(node, row) : tree_own_part(node),
					   !is_named(options) || is_inlined(node->label));
		if (!done)
			*root = NULL;
	}
	if (*root) {
		prune(*root);
		tree_sort(*root, false);
		return tree;
	}
	tree_free(tree);
	return NULL;
}
