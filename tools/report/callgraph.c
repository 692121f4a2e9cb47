// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kind of call graph, as perf's users write it: -g [STYLE,LIMIT,MOST,ORDER,KEY,VALUE],
 * of which each word may be left out, and perf's own default is graph,0.5,caller.
 */
#include <stdlib.h>
#include <string.h>

#include "report.h"

enum word_kind {
	WORD_STYLE,
	WORD_ORDER,
	WORD_VALUE,
	WORD_NONE,
	WORD_NOTHING,	/* what is so in any case */
	WORD_REFUSED,
};

struct word {
	const char *text;
	enum word_kind kind;
	unsigned int value;
};

/* Beginnings of words will do, as with perf, which takes the first that fits. */
static const struct word words[] = {
	{ "graph", WORD_STYLE, STYLE_GRAPH },
	{ "flat", WORD_STYLE, STYLE_FLAT },
	{ "fractal", WORD_STYLE, STYLE_FRACTAL },
	{ "folded", WORD_STYLE, STYLE_FOLDED },
	{ "none", WORD_NONE, 0 },
	{ "caller", WORD_ORDER, GRAPH_CALLER },
	{ "callee", WORD_ORDER, GRAPH_CALLEE },
	{ "function", WORD_NOTHING, 0 },
	{ "address", WORD_REFUSED, 0 },
	{ "srcline", WORD_REFUSED, 0 },
	{ "branch", WORD_REFUSED, 0 },
	{ "percent", WORD_VALUE, VALUE_PERCENT },
	{ "period", WORD_VALUE, VALUE_PERIOD },
	{ "count", WORD_VALUE, VALUE_COUNT },
};

static const struct word *find_word(const char *text, size_t length)
{
	for (size_t i = 0; length && i < ARRAY_LEN(words); i++)
		if (!strncmp(words[i].text, text, length))
			return &words[i];
	return NULL;
}

static void take_word(struct report_callgraph *graph, const struct word *word)
{
	switch (word->kind) {
	case WORD_STYLE:
		graph->style = (enum report_style)word->value;
		break;
	case WORD_ORDER:
		graph->order = (enum report_graph)word->value;
		break;
	case WORD_VALUE:
		graph->value = (enum report_value)word->value;
		break;
	case WORD_NONE:
		graph->order = GRAPH_NONE;
		break;
	case WORD_NOTHING:
	case WORD_REFUSED:
		break;
	}
}

/* The first number is the least share, the second how many. */
static bool take_number(struct report_callgraph *graph, const char *text, size_t length,
			unsigned int *numbers)
{
	char *end;

	if (!length)
		return false;
	if (*numbers == 0) {
		graph->limit = strtod(text, &end);
		if (!(graph->limit >= 0 && graph->limit <= 100))
			return false;
	} else if (*numbers == 1 && *text >= '0' && *text <= '9') {
		graph->most = strtoul(text, &end, 10);
	} else {
		return false;
	}
	++*numbers;
	return end == text + length;
}

/**
 * callgraph_parse() - understand the argument of -g
 * @graph: set.
 * @text: the argument; NULL: there is none.
 *
 * Return: 0, or an exit status.
 */
int callgraph_parse(struct report_callgraph *graph, const char *text)
{
	unsigned int numbers = 0;

	/* One word alone asks for the whole tree too. */
	graph->whole = text && !strcmp(text, "caller");
	if (!text)
		text = "graph,0.5,caller";
	if (graph->order == GRAPH_NONE)
		graph->order = GRAPH_AUTO;
	for (size_t length; ; text += length + 1) {
		const struct word *word;

		length = strcspn(text, ",");
		word = find_word(text, length);
		if (word && word->kind == WORD_REFUSED)
			return say_usage(&command_report, "call graphs are by function: there is no '%.*s'",
					 (int)length, text);
		if (word)
			take_word(graph, word);
		else if (!take_number(graph, text, length, &numbers))
			return say_usage(&command_report, "'%.*s' is no kind of call graph: there are graph, fractal, flat, folded and none; caller and callee; percent, period and count; and the least percentage of a branch",
					 (int)length, text);
		if (!text[length])
			return STATUS_OK;
	}
}
