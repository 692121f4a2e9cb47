// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trees of calls. One table finds the nodes of all trees that are of one kind, so that
 * a node with many children costs no more than one with few.
 */
#include <stdlib.h>
#include <string.h>

#include "report.h"

#define SLOTS_MIN	1024
#define BLOCK_NODES	1024

struct block {
	struct block *next;
	size_t used;
	struct tree_node nodes[BLOCK_NODES];
};

/**
 * struct tree - trees that share a table
 * @blocks: all nodes.
 * @slots: those with a parent, by parent and label; a power of two of them.
 * @slot_count: how many.
 * @count: of them used.
 */
struct tree {
	struct block *blocks;
	struct tree_node **slots;
	size_t slot_count;
	size_t count;
};

/**
 * tree_new() - no trees yet
 *
 * Return: to be freed with tree_free(); NULL if there is no memory.
 */
struct tree *tree_new(void)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	if (!tree)
		return NULL;
	tree->slot_count = SLOTS_MIN;
	tree->slots = calloc(tree->slot_count, sizeof(*tree->slots));
	if (tree->slots)
		return tree;
	free(tree);
	return NULL;
}

/**
 * tree_free() - forget all nodes
 * @tree: the trees, or NULL.
 */
void tree_free(struct tree *tree)
{
	if (!tree)
		return;
	for (struct block *block = tree->blocks, *next; block; block = next) {
		next = block->next;
		free(block);
	}
	free(tree->slots);
	free(tree);
}

/**
 * tree_root() - begin a new tree
 * @tree: the trees.
 *
 * Return: its root, valid as long as @tree; NULL if there is no memory.
 */
struct tree_node *tree_root(struct tree *tree)
{
	if (!tree->blocks || tree->blocks->used == BLOCK_NODES) {
		struct block *block = calloc(1, sizeof(*block));

		if (!block)
			return NULL;
		block->next = tree->blocks;
		tree->blocks = block;
	}
	return &tree->blocks->nodes[tree->blocks->used++];
}

static size_t slot_of(const struct tree *tree, const struct tree_node *parent,
		      const char *label, char level, const struct report_row *row)
{
	uint64_t hash = (uint64_t)(uintptr_t)parent * 0x9e3779b97f4a7c15ULL;

	hash = (hash ^ (uint64_t)(uintptr_t)label ^ (uint64_t)level) * 0xc2b2ae3d27d4eb4fULL;
	hash = (hash ^ hash >> 31 ^ (uint64_t)(uintptr_t)row) * 0x9e3779b97f4a7c15ULL;
	return (hash ^ hash >> 29) & (tree->slot_count - 1);
}

static int grow(struct tree *tree)
{
	size_t old_count = tree->slot_count;
	struct tree_node **old = tree->slots;
	struct tree_node **new = calloc(old_count * 2, sizeof(*new));

	if (!new)
		return -1;
	tree->slots = new;
	tree->slot_count = old_count * 2;
	for (size_t i = 0; i < old_count; i++) {
		size_t slot;

		if (!old[i])
			continue;
		slot = slot_of(tree, old[i]->parent, old[i]->label, old[i]->level, old[i]->row);
		while (new[slot])
			slot = (slot + 1) & (tree->slot_count - 1);
		new[slot] = old[i];
	}
	free(old);
	return 0;
}

/**
 * tree_child() - the child of this name
 * @tree: the trees.
 * @parent: a node of one of them.
 * @label: the name; equal ones must have equal pointers.
 * @level: and the level.
 * @row: and the row, or NULL.
 *
 * Return: the node, which is new if there was none; NULL if there is no memory.
 */
struct tree_node *tree_child(struct tree *tree, struct tree_node *parent,
			     const char *label, char level, struct report_row *row)
{
	struct tree_node *node;
	size_t slot;

	if (tree->count * 2 > tree->slot_count && grow(tree) < 0)
		return NULL;
	slot = slot_of(tree, parent, label, level, row);
	for (; tree->slots[slot]; slot = (slot + 1) & (tree->slot_count - 1)) {
		node = tree->slots[slot];
		if (node->parent == parent && node->label == label && node->level == level &&
		    node->row == row)
			return node;
	}
	node = tree_root(tree);
	if (!node)
		return NULL;
	node->parent = parent;
	node->label = label;
	node->level = level;
	node->row = row;
	node->sibling = parent->child;
	parent->child = node;
	tree->slots[slot] = node;
	tree->count++;
	return node;
}

static int by_period(const void *left, const void *right)
{
	const struct tree_node *a = *(struct tree_node *const *)left;
	const struct tree_node *b = *(struct tree_node *const *)right;
	int order;

	if (a->period != b->period)
		return a->period > b->period ? -1 : 1;
	order = strcmp(a->label, b->label);
	return order ? order : a->level - b->level;
}

static int by_label(const void *left, const void *right)
{
	const struct tree_node *a = *(struct tree_node *const *)left;
	const struct tree_node *b = *(struct tree_node *const *)right;
	int order = strcmp(a->label, b->label);

	return order ? order : a->level - b->level;
}

static void sort_children(struct tree_node *parent, bool labels)
{
	struct tree_node **list, *node;
	size_t count = 0, at = 0;

	for (node = parent->child; node; node = node->sibling)
		count++;
	if (count < 2)
		return;
	list = calloc(count, sizeof(struct tree_node *));
	if (!list)
		return;
	for (node = parent->child; node; node = node->sibling)
		list[at++] = node;
	qsort(list, count, sizeof(*list), labels ? by_label : by_period);
	parent->child = list[0];
	for (at = 0; at < count; at++)
		list[at]->sibling = at + 1 < count ? list[at + 1] : NULL;
	free(list);
}

/**
 * tree_sort() - put all children in order
 * @root: of the tree; its depth is limited by SAMPLES_FRAMES_MAX.
 * @labels: by name, else by period.
 */
void tree_sort(struct tree_node *root, bool labels)
{
	sort_children(root, labels);
	for (struct tree_node *node = root->child; node; node = node->sibling)
		tree_sort(node, labels);
}

/**
 * tree_own_part() - the samples that ended in a node
 * @node: the node.
 *
 * Return: what it has without its children.
 */
struct report_part tree_own_part(const struct tree_node *node)
{
	struct report_part part = { node->period, node->samples };

	for (const struct tree_node *child = node->child; child; child = child->sibling) {
		part.period -= child->period;
		part.samples -= child->samples;
	}
	return part;
}
