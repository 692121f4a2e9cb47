// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of all calls of an event, from the command over the outermost caller to the
 * function that a sample hit; and its folded form, a line for each stack:
 * "command;main;work;hot 12345", as programs that draw flame graphs read it.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "report.h"

static struct tree_node *step(struct tree *tree, struct tree_node *node,
			      const char *label, char level, uint64_t period)
{
	node = tree_child(tree, node, label, level, NULL);
	if (!node)
		return NULL;
	node->period += period;
	node->samples++;
	return node;
}

/**
 * flame_add() - add a sample
 * @report: of which the frames were resolved.
 * @event: that it is of.
 * @thread: its thread.
 * @period: its period.
 *
 * Return: 0, -ENOMEM.
 */
int flame_add(struct report *report, struct report_event *event,
	      const struct thread *thread, uint64_t period)
{
	struct samples *samples = report->samples;
	struct tree_node *node;

	if (!event->calls)
		event->calls = tree_new();
	if (!event->root && event->calls)
		event->root = tree_root(event->calls);
	node = event->root;
	if (!node)
		return -ENOMEM;
	node->period += period;
	node->samples++;
	node = step(event->calls, node, thread->comm, 'c', period);
	for (size_t i = samples->frame_count; node && i > 0; i--) {
		const struct place *place = &samples->frames[i - 1];

		node = step(event->calls, node, samples_frame_name(samples, place),
			    place->level, period);
	}
	return node ? 0 : -ENOMEM;
}

/* A semicolon in a name would be read as the end of it. */
static void print_label(const char *label)
{
	for (; *label; label++)
		putchar(*label == ';' ? ':' : *label);
}

static void print_stack(const struct tree_node *const *stack, size_t depth, uint64_t own)
{
	for (size_t i = 0; i < depth; i++) {
		if (i)
			putchar(';');
		print_label(stack[i]->label);
	}
	printf(" %" PRIu64 "\n", own);
}

/**
 * flame_print_folded() - print a line for each stack that samples hit
 * @event: with all samples.
 */
void flame_print_folded(const struct report_event *event)
{
	const struct tree_node *stack[SAMPLES_FRAMES_MAX + 2], *node;
	size_t depth = 0;

	if (!event->root)
		return;
	tree_sort(event->root, true);
	node = event->root->child;
	while (node) {
		uint64_t own = tree_own_part(node).period;

		stack[depth++] = node;
		if (own)
			print_stack(stack, depth, own);
		if (node->child) {
			node = node->child;
			continue;
		}
		while (depth && !stack[depth - 1]->sibling)
			depth--;
		node = depth ? stack[--depth]->sibling : NULL;
	}
}
