// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing the reader of perf.data files (libFuzzer): whatever a file has in it, it is
 * read to its end or refused with a sentence, within the bytes that it has. Every field
 * that is handed out is looked at.
 */
#include <stdlib.h>
#include <string.h>

#include "../../tools/perffile/perffile.h"

/* So that nothing is optimized away */
static volatile uint64_t sink;

static void look_at_bytes(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		sink += bytes[i];
}

static void look_at_words(const struct perffile_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		sink += perffile_words_get(words, i);
}

static void look_at_text(const char *text)
{
	if (text)
		sink += strlen(text);
}

static void look_at_sample(const struct perffile_sample *sample)
{
	look_at_words(&sample->read);
	look_at_words(&sample->chain);
	look_at_words(&sample->branches);
	look_at_words(&sample->user_regs);
	look_at_words(&sample->intr_regs);
	look_at_bytes(sample->raw, sample->raw_size);
	look_at_bytes(sample->stack, sample->stack_size);
	look_at_bytes(sample->aux, sample->aux_size);
}

static void look_at_file(const struct perffile *file)
{
	const struct perffile_info *info = &file->info;

	look_at_text(info->hostname);
	look_at_text(info->osrelease);
	look_at_text(info->version);
	look_at_text(info->arch);
	look_at_text(info->cpudesc);
	look_at_text(info->cmdline);
	for (size_t i = 0; i < info->build_id_count; i++) {
		look_at_text(info->build_ids[i].name);
		look_at_bytes(info->build_ids[i].id, info->build_ids[i].size);
	}
	for (size_t i = 0; i < file->event_count; i++) {
		look_at_text(file->events[i].name);
		look_at_bytes(file->events[i].ids, file->events[i].id_count * 8);
	}
}

static void look_at_record(const struct perffile_record *record)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		look_at_sample(&record->sample);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		look_at_text(record->mmap.name);
		look_at_bytes(record->mmap.build_id, record->mmap.build_id_size);
		break;
	case PERF_RECORD_COMM:
		look_at_text(record->comm.name);
		break;
	}
}

/* The pieces have their own way through the records; none has bytes of another. */
static void look_at_traces(const struct perffile *file)
{
	struct perffile_traces traces;
	const uint8_t *end = file->data + file->records;

	if (perffile_traces_read(file, &traces) < 0)
		return;
	for (size_t i = 0; i < traces.count; i++) {
		const struct perffile_trace *piece = &traces.pieces[i];

		if (piece->bytes < end ||
		    piece->size > (uint64_t)(file->data + file->records_end - piece->bytes))
			abort();
		look_at_bytes(piece->bytes, piece->size);
		end = piece->bytes + piece->size;
	}
	sink += traces.whose + traces.words[PERFFILE_PT_WORDS - 1] + traces.snapshot;
	perffile_traces_free(&traces);
}

/* All records; returns how many there are. They come in the order of time, as far as they tell it. */
static size_t look_at_records(struct perffile *file)
{
	struct perffile_error error = { "" };
	struct perffile_record record;
	size_t count = 0;
	uint64_t time = 0;
	int ret;

	while ((ret = perffile_next(file, &record, &error)) > 0) {
		look_at_record(&record);
		count += !record.again;
		if (!(record.fields & PERF_SAMPLE_TIME))
			continue;
		if (record.time < time)
			abort();
		time = record.time;
	}
	/* Of groups, samples without anything new are left out. */
	if (ret < 0 ? !error.text[0] : count > file->record_count)
		abort();
	return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perffile_error error = { "" };
	struct perffile *file;
	size_t count;
	int ret = perffile_open_memory(&file, data, size, &error);

	if (ret < 0) {
		if (!error.text[0])
			abort();
		return 0;
	}
	look_at_file(file);
	look_at_traces(file);
	count = look_at_records(file);
	perffile_rewind(file);
	if (look_at_records(file) != count)
		abort();
	perffile_close(file);
	return 0;
}
