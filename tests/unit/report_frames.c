// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the frames of a flame view are, and how one goes from one to another.
 */
/* sources: tools/report/frames.c tools/report/tree.c */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "../../tools/report/frames.h"

static char row_a, row_b;

#define ROW_A ((struct report_row *)&row_a)
#define ROW_B ((struct report_row *)&row_b)

static struct tree *chains, *calls;
static struct tree_node *chains_root;

static void enter(void)
{
	chains = tree_new();
	calls = tree_new();
	chains_root = tree_root(chains);
	cr_assert(chains && calls && chains_root);
}

static void leave(void)
{
	tree_free(chains);
	tree_free(calls);
}

TestSuite(report_frames, .init = enter, .fini = leave);

/* A function that has @period with all that it called */
static struct tree_node *add(struct tree_node *parent, const char *name, uint64_t period, struct report_row *row)
{
	struct tree_node *node = tree_child(chains, parent, name, 0, row);

	cr_assert_not_null(node);
	node->period += period;
	node->samples++;
	return node;
}

/* "0 all 0-10; 1 main 0-7": row, name, columns; those of a node below the root if @from is one */
static void assert_frames(const struct tree_node *root, size_t columns, const char *want)
{
	struct frames frames = { 0 };
	char got[2000] = "";
	size_t used = 0;

	cr_assert_eq(frames_find(&frames, root, columns), 0);
	for (size_t i = 0; i < frames.count; i++) {
		const struct frame *frame = &frames.list[i];

		used += (size_t)snprintf(got + used, sizeof(got) - used, "%s%zu %s %zu-%zu", i ? "; " : "", frame->depth,
					 frame->node->parent ? frame->node->label : "all", frame->from, frame->to);
		cr_assert_lt(frame->depth, frames.depth);
	}
	cr_assert_str_eq(got, want);
	frames_free(&frames);
}

/* main() has 70 of 100, of which it called work() for 30 and leaf() for 35; idle() has 30. */
static struct tree_node *usual(void)
{
	struct tree_node *main = add(chains_root, "main", 70, NULL);

	add(main, "work", 30, NULL);
	add(main, "leaf", 35, NULL);
	add(chains_root, "idle", 30, NULL);
	return frames_tree(calls, chains_root);
}

Test(report_frames, are_as_wide_as_their_shares)
{
	assert_frames(usual(), 100, "0 all 0-100; 1 main 0-70; 2 leaf 0-35; 2 work 35-65; 1 idle 70-100");
}

Test(report_frames, begin_where_their_shares_do)
{
	assert_frames(usual(), 10, "0 all 0-10; 1 main 0-7; 2 leaf 0-3; 2 work 3-6; 1 idle 7-10");
	leave();
	enter();
	assert_frames(usual(), 1, "0 all 0-1; 1 idle 0-1");
}

Test(report_frames, of_what_is_zoomed_are_as_wide_as_all)
{
	assert_frames(usual()->child, 70, "0 main 0-70; 1 leaf 0-35; 1 work 35-65");
}

Test(report_frames, that_have_no_column_are_left_out_with_what_they_called)
{
	struct tree_node *small = add(chains_root, "small", 1, NULL);

	add(small, "below", 1, NULL);
	add(chains_root, "large", 99, NULL);
	assert_frames(frames_tree(calls, chains_root), 50, "0 all 0-50; 1 large 0-49; 1 small 49-50; 2 below 49-50");
	leave();
	enter();
	add(add(chains_root, "small", 1, NULL), "below", 1, NULL);
	add(chains_root, "large", 98, NULL);
	add(chains_root, "zero", 1, NULL);
	assert_frames(frames_tree(calls, chains_root), 20, "0 all 0-20; 1 large 0-19; 1 zero 19-20");
}

/* The same function is one frame, whichever row of the report it is in. */
Test(report_frames, of_several_rows_are_one)
{
	add(add(chains_root, "main", 6, ROW_A), "leaf", 6, ROW_A);
	add(add(chains_root, "main", 4, ROW_B), "leaf", 3, ROW_B);
	assert_frames(frames_tree(calls, chains_root), 10, "0 all 0-10; 1 main 0-10; 2 leaf 0-9");
}

/* Products of all that an event can have counted in a year */
Test(report_frames, large_numbers)
{
	add(add(chains_root, "main", UINT64_MAX / 2, NULL), "leaf", UINT64_MAX / 4, NULL);
	add(chains_root, "idle", UINT64_MAX / 2, NULL);
	assert_frames(frames_tree(calls, chains_root), 1000,
		      "0 all 0-1000; 1 idle 0-500; 1 main 500-1000; 2 leaf 500-749");
}

Test(report_frames, of_nothing_are_none)
{
	assert_frames(frames_tree(calls, chains_root), 80, "");
}

/* Frames lie within that of who called them, and beside each other. */
Test(report_frames, never_overlap)
{
	static const char *const names[] = { "a", "b", "c", "d", "e" };
	const struct tree_node *root;
	struct frames frames = { 0 };
	size_t ends[8];

	for (size_t i = 0; i < 5; i++)
		for (size_t j = 0; j < 5; j++)
			add(add(chains_root, names[i], (i + 1) * (j + 2), NULL), names[j], (i + 1) * (j + 1), NULL);
	root = frames_tree(calls, chains_root);
	for (size_t columns = 1; columns < 300; columns++) {
		memset(ends, 0, sizeof(ends));
		cr_assert_eq(frames_find(&frames, root, columns), 0);
		for (size_t i = 0; i < frames.count; i++) {
			const struct frame *frame = &frames.list[i];

			cr_assert_lt(frame->from, frame->to);
			cr_assert_geq(frame->from, ends[frame->depth]);
			cr_assert(!frame->depth || frame->to <= ends[frame->depth - 1]);
			ends[frame->depth] = frame->to;
		}
		frames_free(&frames);
	}
}

static const char *step(const struct tree_node *root, const struct tree_node **from, enum frames_way way)
{
	struct frames frames = { 0 };

	cr_assert_eq(frames_find(&frames, root, 100), 0);
	*from = frames_step(&frames, *from, way);
	frames_free(&frames);
	return (*from)->parent ? (*from)->label : "all";
}

Test(report_frames, arrows_go_to_what_is_beside)
{
	const struct tree_node *root = usual(), *at = root;

	cr_assert_str_eq(step(root, &at, FRAMES_UP), "all");
	cr_assert_str_eq(step(root, &at, FRAMES_LEFT), "all");
	cr_assert_str_eq(step(root, &at, FRAMES_DOWN), "main");
	cr_assert_str_eq(step(root, &at, FRAMES_RIGHT), "idle");
	cr_assert_str_eq(step(root, &at, FRAMES_DOWN), "idle");
	cr_assert_str_eq(step(root, &at, FRAMES_RIGHT), "idle");
	cr_assert_str_eq(step(root, &at, FRAMES_LEFT), "main");
	cr_assert_str_eq(step(root, &at, FRAMES_DOWN), "leaf");
	cr_assert_str_eq(step(root, &at, FRAMES_RIGHT), "work");
	cr_assert_str_eq(step(root, &at, FRAMES_UP), "main");
	/* What is zoomed is the uppermost. */
	root = at;
	cr_assert_str_eq(step(root, &at, FRAMES_UP), "main");
	cr_assert_str_eq(step(root, &at, FRAMES_DOWN), "leaf");
}

/* On a terminal that has become narrow the frame may have gone. */
Test(report_frames, what_has_no_frame_counts_as_the_first)
{
	const struct tree_node *root = usual(), *at = root->child->child;

	root = root->child->sibling;
	cr_assert_str_eq(step(root, &at, FRAMES_DOWN), "idle");
}
