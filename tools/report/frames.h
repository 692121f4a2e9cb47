/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The frames of a flame view.
 */
#ifndef PMUCTL_TOOL_FRAMES_H
#define PMUCTL_TOOL_FRAMES_H

#include "report.h"

/**
 * struct frame - a function in a flame view
 * @node: it.
 * @depth: its row; 0 is that of the root.
 * @from: the first of its columns.
 * @to: the one behind.
 */
struct frame {
	const struct tree_node *node;
	size_t depth;
	size_t from;
	size_t to;
};

/**
 * struct frames - all that there is room for
 * @list: owned.
 * @count: how many.
 * @room: for so many.
 * @depth: rows that they take.
 */
struct frames {
	struct frame *list;
	size_t count;
	size_t room;
	size_t depth;
};

enum frames_way {
	FRAMES_UP,
	FRAMES_DOWN,
	FRAMES_LEFT,
	FRAMES_RIGHT,
};

struct tree_node *frames_tree(struct tree *tree, const struct tree_node *chains);
int frames_find(struct frames *frames, const struct tree_node *root, size_t columns);
void frames_free(struct frames *frames);
const struct tree_node *frames_step(const struct frames *frames, const struct tree_node *from,
				    enum frames_way way);
size_t frames_depth(const struct frames *frames, const struct tree_node *node);

#endif /* PMUCTL_TOOL_FRAMES_H */
