// SPDX-License-Identifier: GPL-2.0-only
/*
 * A flame graph as one SVG file that needs nothing else: the outermost callers at the
 * bottom, above each function what it called, as wide as its share of all events.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "flame_script.h"
#include "report.h"

#define WIDTH		1200
#define ROW_HEIGHT	17
#define TOP		56
#define BOTTOM		36
#define LETTER		7.25

/* Narrower frames would be invisible, and too many. */
#define WIDTH_MIN	0.1

/**
 * struct picture - a flame graph that is being written
 * @out: the file.
 * @total: events in all, which is its width.
 * @depth: levels that it has.
 */
struct picture {
	FILE *out;
	uint64_t total;
	size_t depth;
};

static double x_of(const struct picture *picture, uint64_t events)
{
	return WIDTH * ((double)events / (double)picture->total);
}

static void write_escaped(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		switch (text[i]) {
		case '&':
			fputs("&amp;", out);
			break;
		case '<':
			fputs("&lt;", out);
			break;
		case '>':
			fputs("&gt;", out);
			break;
		case '"':
			fputs("&quot;", out);
			break;
		default:
			fputc(text[i], out);
		}
	}
}

/* As much of the name as there is room for. */
static void write_label(FILE *out, const char *name, double pixels)
{
	size_t room = pixels > 4 ? (size_t)((pixels - 4) / LETTER) : 0;
	size_t length = strlen(name);

	if (room < 3)
		return;
	if (length <= room) {
		write_escaped(out, name, length);
		return;
	}
	length = room - 2;
	/* Not within a character */
	while (length && ((unsigned char)name[length] & 0xc0) == 0x80)
		length--;
	write_escaped(out, name, length);
	fputs("..", out);
}

/* Equal names have equal colours; kernel, user and commands differ. */
static void write_colour(FILE *out, const struct tree_node *node)
{
	unsigned int hash = 0, hue, light;

	for (const char *at = node->label; at && *at; at++)
		hash = hash * 31 + (unsigned char)*at;
	light = 58 + hash % 13;
	switch (node->level) {
	case 'k':
		hue = 185 + hash / 13 % 35;
		break;
	case 'c':
		hue = 80 + hash / 13 % 30;
		break;
	default:
		hue = 15 + hash / 13 % 35;
	}
	fprintf(out, "hsl(%u,75%%,%u%%)", hue, light);
}

static void write_frame(const struct picture *picture, const struct tree_node *node,
			uint64_t start, size_t depth)
{
	const char *name = node->label ? node->label : "all";
	double width = x_of(picture, node->period), x = x_of(picture, start);
	size_t y = TOP + (picture->depth - 1 - depth) * ROW_HEIGHT;
	FILE *out = picture->out;

	fprintf(out, "<g class=\"f\" data-s=\"%" PRIu64 "\" data-p=\"%" PRIu64
		"\" data-d=\"%zu\" data-n=\"", start, node->period, depth);
	write_escaped(out, name, strlen(name));
	fputs("\"><title>", out);
	write_escaped(out, name, strlen(name));
	fprintf(out, " (%" PRIu64 " events, %.2f %%, %" PRIu64 " samples)</title>",
		node->period, 100.0 * (double)node->period / (double)picture->total,
		node->samples);
	fprintf(out, "<rect x=\"%.2f\" y=\"%zu\" width=\"%.2f\" height=\"%d\" rx=\"1\" fill=\"",
		x, y, width, ROW_HEIGHT - 1);
	write_colour(out, node);
	fprintf(out, "\"/><text x=\"%.2f\" y=\"%zu\">", x + 3, y + ROW_HEIGHT - 5);
	write_label(out, name, width);
	fputs("</text></g>\n", out);
}

static bool is_visible(const struct picture *picture, const struct tree_node *node)
{
	return x_of(picture, node->period) >= WIDTH_MIN;
}

static void write_frames(const struct picture *picture, const struct tree_node *node,
			 uint64_t start, size_t depth)
{
	write_frame(picture, node, start, depth);
	for (const struct tree_node *child = node->child; child; child = child->sibling) {
		if (is_visible(picture, child))
			write_frames(picture, child, start, depth + 1);
		start += child->period;
	}
}

static size_t depth_of(const struct picture *picture, const struct tree_node *node)
{
	size_t depth = 0;

	for (const struct tree_node *child = node->child; child; child = child->sibling) {
		size_t below = is_visible(picture, child) ? depth_of(picture, child) : 0;

		depth = below > depth ? below : depth;
	}
	return depth + 1;
}

static void write_picture(const struct picture *picture, const struct tree_node *root,
			  const char *title)
{
	size_t height = TOP + picture->depth * ROW_HEIGHT + BOTTOM;
	FILE *out = picture->out;

	fprintf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" version=\"1.1\" width=\"%d\" height=\"%zu\" viewBox=\"0 0 %d %zu\" data-width=\"%d\" data-letter=\"%.2f\">\n",
		WIDTH, height, WIDTH, height, WIDTH, LETTER);
	fputs("<style>text { font: 12px monospace; fill: #111; } .f { cursor: pointer; }\n"
	      ".f text { pointer-events: none; } .f:hover rect { stroke: #111; }\n"
	      ".match rect { fill: #d040d0; } .button { cursor: pointer; fill: #555; }\n"
	      "#title { font-size: 17px; } </style>\n", out);
	fprintf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#f6f4ee\"/>\n"
		"<text id=\"title\" x=\"%d\" y=\"24\" text-anchor=\"middle\">", WIDTH / 2);
	write_escaped(out, title, strlen(title));
	fprintf(out, "</text>\n<text id=\"reset\" class=\"button\" x=\"10\" y=\"24\">All</text>\n"
		"<text id=\"search\" class=\"button\" x=\"%d\" y=\"24\" text-anchor=\"end\">Search</text>\n"
		"<text id=\"status\" x=\"10\" y=\"%zu\"> </text>\n"
		"<text id=\"found\" x=\"%d\" y=\"%zu\" text-anchor=\"end\"> </text>\n",
		WIDTH - 10, height - 14, WIDTH - 10, height - 14);
	write_frames(picture, root, 0, 0);
	/* XML's own characters would end the script. */
	fprintf(out, "<script type=\"text/ecmascript\"><![CDATA[\n%s]]></script>\n</svg>\n",
		flame_script);
}

/**
 * flame_write_svg() - write a flame graph
 * @report: says its title.
 * @event: with all samples, at least one.
 * @path: of the file, "-" for standard output.
 *
 * Return: 0, or a negative error number, which it has told.
 */
int flame_write_svg(const struct report *report, const struct report_event *event,
		    const char *path)
{
	struct picture picture = { .total = event->period };
	bool to_stdout = !strcmp(path, "-");
	const char *title = report->options->title;
	bool failed;

	if (!event->root || !event->period) {
		say_error("there is nothing to draw: the samples have no period");
		return -ENODATA;
	}
	picture.out = to_stdout ? stdout : fopen(path, "we");
	if (!picture.out) {
		say_error("cannot write '%s': %s", path, strerror(errno));
		return -EIO;
	}
	tree_sort(event->root, true);
	picture.depth = depth_of(&picture, event->root);
	title = names_intern(report->samples->symbols->names, title ? title : event->name);
	write_picture(&picture, event->root, title);
	failed = fflush(picture.out) || ferror(picture.out);
	if (!to_stdout && fclose(picture.out))
		failed = true;
	if (!failed)
		return 0;
	say_error("cannot write '%s': %s", path, strerror(errno));
	return -EIO;
}
