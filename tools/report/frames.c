// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the frames of a flame view are: a function is as wide as its share, and what it called is
 * below it.
 */
#include <errno.h>
#include <stdlib.h>

#include "frames.h"

/* What is below @from goes below @to; false: there is no memory. */
static bool add_calls(struct tree *tree, struct tree_node *to, const struct tree_node *from)
{
	for (const struct tree_node *child = from->child; child; child = child->sibling) {
		struct tree_node *node = tree_child(tree, to, child->label, child->level, NULL);

		if (!node || !add_calls(tree, node, child))
			return false;
		node->period += child->period;
		node->samples += child->samples;
		if (!to->parent) {
			to->period += child->period;
			to->samples += child->samples;
		}
	}
	return true;
}

/**
 * frames_tree() - all calls, whatever rows they have
 * @tree: no trees yet; to be freed with tree_free().
 * @chains: the root of all call chains, which has no number of its own.
 *
 * Return: the root of it, which has all; what is called is in the order of its share. NULL if there is no
 * memory.
 */
struct tree_node *frames_tree(struct tree *tree, const struct tree_node *chains)
{
	struct tree_node *root = tree_root(tree);

	if (!root || !add_calls(tree, root, chains))
		return NULL;
	tree_sort(root, false);
	return root;
}

static int add_frame(struct frames *frames, const struct frame *frame)
{
	if (frames->count == frames->room) {
		size_t room = frames->room ? frames->room * 2 : 256;
		struct frame *list = reallocarray(frames->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		frames->list = list;
		frames->room = room;
	}
	frames->list[frames->count++] = *frame;
	if (frame->depth >= frames->depth)
		frames->depth = frame->depth + 1;
	return 0;
}

/**
 * struct scale - what columns stand for
 * @columns: so many, for
 * @period: so much, which is not 0.
 */
struct scale {
	size_t columns;
	uint64_t period;
};

/* The column that begins with what comes after @before */
static size_t column_of(const struct scale *scale, uint64_t before)
{
	unsigned __int128 product = before;

	product *= scale->columns;
	return (size_t)(product / scale->period);
}

/* The children of a frame, whose own part is behind them, and what is below each */
static int add_children(struct frames *frames, const struct scale *scale, const struct tree_node *parent,
			size_t depth, uint64_t before)
{
	for (const struct tree_node *node = parent->child; node; node = node->sibling) {
		const struct frame frame = {
			.node = node, .depth = depth, .from = column_of(scale, before),
			.to = column_of(scale, before + node->period),
		};
		int ret;

		if (frame.to > frame.from) {
			ret = add_frame(frames, &frame);
			if (ret == 0)
				ret = add_children(frames, scale, node, depth + 1, before);
			if (ret < 0)
				return ret;
		}
		before += node->period;
	}
	return 0;
}

/**
 * frames_find() - find out where frames are
 * @frames: none; gets them, to be freed with frames_free(). The first is @root's, as wide as all; each is
 *	before what it called, and after what is left of it in its row.
 * @root: what is above all; its depth is limited by SAMPLES_FRAMES_MAX.
 * @columns: that there are, not 0. A frame begins in the column that its share begins in, and one that
 *	ends in that, too, is left out, with what it called.
 *
 * Return: 0, -ENOMEM; there are none if there is nothing below the root.
 */
int frames_find(struct frames *frames, const struct tree_node *root, size_t columns)
{
	const struct scale scale = { columns, root->period };
	const struct frame whole = { .node = root, .to = columns };
	int ret;

	if (!scale.period)
		return 0;
	ret = add_frame(frames, &whole);
	return ret < 0 ? ret : add_children(frames, &scale, root, 1, 0);
}

void frames_free(struct frames *frames)
{
	free(frames->list);
	*frames = (struct frames){ 0 };
}

/* The frame of a node, or the first one */
static size_t index_of(const struct frames *frames, const struct tree_node *node)
{
	for (size_t i = 0; i < frames->count; i++)
		if (frames->list[i].node == node)
			return i;
	return 0;
}

/**
 * frames_step() - the frame beside another one
 * @frames: of which there is one at least.
 * @from: a node; what has no frame counts as the first one.
 * @way: where to.
 *
 * Return: the node there; @from's if there is none. Down is the first that was called, which is the
 * widest; to the sides are those of other callers, too.
 */
const struct tree_node *frames_step(const struct frames *frames, const struct tree_node *from,
				    enum frames_way way)
{
	size_t at = index_of(frames, from);
	const struct frame *here = &frames->list[at];
	size_t i = at;

	switch (way) {
	case FRAMES_UP:
		return at ? here->node->parent : here->node;
	case FRAMES_DOWN:
		if (at + 1 < frames->count && frames->list[at + 1].depth > here->depth)
			return frames->list[at + 1].node;
		return here->node;
	case FRAMES_RIGHT:
		while (++i < frames->count)
			if (frames->list[i].depth == here->depth)
				return frames->list[i].node;
		return here->node;
	case FRAMES_LEFT:
		while (i-- > 0)
			if (frames->list[i].depth == here->depth)
				return frames->list[i].node;
		return here->node;
	}
	return here->node;
}

/* In which row a node is; 0 if it has no frame */
size_t frames_depth(const struct frames *frames, const struct tree_node *node)
{
	return frames->count ? frames->list[index_of(frames, node)].depth : 0;
}
