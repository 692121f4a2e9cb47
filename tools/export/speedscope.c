// SPDX-License-Identifier: GPL-2.0-only
/*
 * The file format of speedscope (www.speedscope.app): frames, and for each thread its samples
 * in the order of time. Source: file-format-schema.json there.
 */
#include <inttypes.h>

#include "export.h"

static void write_frames(const struct export *data, FILE *out)
{
	for (uint32_t i = 0; i < data->frames.count; i++) {
		struct export_frame frame = export_frame(data, i);

		fprintf(out, "%s\n{\"name\":", i ? "," : "");
		export_json_string(out, frame.name);
		fputs(",\"file\":", out);
		export_json_string(out, frame.binary->path);
		fputc('}', out);
	}
}

/* The outermost caller comes first. */
static void write_stack(const struct export *data, uint32_t number, FILE *out)
{
	uint32_t frames[SAMPLES_FRAMES_MAX];
	size_t depth = 0;

	for (; number != EXPORT_NONE; number = export_stack(data, number).parent)
		frames[depth++] = export_stack(data, number).frame;
	fputc('[', out);
	while (depth--)
		fprintf(out, depth ? "%" PRIu32 "," : "%" PRIu32, frames[depth]);
	fputc(']', out);
}

static void write_thread(const struct export *data, uint32_t number, FILE *out)
{
	struct export_thread thread = export_thread(data, number);
	size_t from = data->first[number], to = data->first[number + 1];
	uint64_t period = 0;

	for (size_t i = from; i < to; i++)
		period += data->list[i].period;
	fputs("{\"type\":\"sampled\",\"name\":\"", out);
	export_json_text(out, thread.comm);
	fprintf(out, " %d/%d\",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\n\"samples\":[",
		thread.pid, thread.tid, export_is_time(data) ? "nanoseconds" : "none", period);
	for (size_t i = from; i < to; i++) {
		fputs(i > from ? ",\n" : "\n", out);
		write_stack(data, data->list[i].stack, out);
	}
	fputs("],\n\"weights\":[", out);
	for (size_t i = from; i < to; i++)
		fprintf(out, "%s%" PRIu64, i > from ? "," : "", data->list[i].period);
	fputs("]}", out);
}

/**
 * export_speedscope() - write a file for speedscope
 * @data: the samples.
 * @out: where to.
 *
 * Return: 0.
 */
int export_speedscope(const struct export *data, FILE *out)
{
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":\"pmuctl\",\"name\":", out);
	export_json_string(out, data->name);
	fputs(",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[", out);
	write_frames(data, out);
	fputs("]},\n\"profiles\":[", out);
	for (uint32_t i = 0; i < data->threads.count; i++) {
		fputs(i ? ",\n" : "\n", out);
		write_thread(data, i, out);
	}
	fputs("]}\n", out);
	return 0;
}
