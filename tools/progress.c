// SPDX-License-Identifier: GPL-2.0-only
/*
 * A line on the terminal that tells what goes on where it takes long. Where stderr is
 * no terminal nothing is written: files and pipes get results only.
 */
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "progress.h"

/* To the start of the line, and wipe it */
#define WIPE "\r\033[K"

/**
 * progress_init() - get ready
 * @progress: filled.
 * @out: where to tell, if that is a terminal.
 * @shared: others write to that terminal meanwhile: their lines and these must not
 *	mix, so that these are not wiped.
 */
void progress_init(struct progress *progress, FILE *out, bool shared)
{
	progress->out = isatty(fileno(out)) ? out : NULL;
	progress->whole_lines = shared;
	progress->shown = false;
}

/**
 * progress_show() - tell, in place of what was told before
 * @progress: the line.
 * @format: its text, without the newline.
 */
void progress_show(struct progress *progress, const char *format, ...)
{
	va_list args;

	if (!progress->out)
		return;
	progress_clear(progress);
	fputs("pmuctl: ", progress->out);
	va_start(args, format);
	vfprintf(progress->out, format, args);
	va_end(args);
	if (progress->whole_lines)
		fputc('\n', progress->out);
	progress->shown = !progress->whole_lines;
	fflush(progress->out);
}

/**
 * progress_clear() - wipe the line
 * @progress: the line.
 */
void progress_clear(struct progress *progress)
{
	if (!progress->shown)
		return;
	fputs(WIPE, progress->out);
	fflush(progress->out);
	progress->shown = false;
}
