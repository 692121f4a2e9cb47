// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the samples of an event for viewers of others: what they have in common. Memory
 * grows with the number of samples and of different stacks. export.h tells the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "export.h"

static const struct export_format formats[] = {
	{ "pprof", export_pprof },
	{ "speedscope", export_speedscope },
	{ "firefox", export_firefox },
};

/**
 * export_format() - find a format
 * @name: of it.
 *
 * Return: the format, or NULL.
 */
const struct export_format *export_format(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	return NULL;
}

static uint64_t word_of(const void *pointer)
{
	return (uint64_t)(uintptr_t)pointer;
}

/* Equal names have equal pointers. */
static int add_stack(struct export *data, uint32_t *stack)
{
	struct samples *samples = data->samples;

	*stack = EXPORT_NONE;
	for (size_t i = samples->frame_count; i > 0; i--) {
		const struct place *place = &samples->frames[i - 1];
		uint32_t frame;

		if (export_table_add(&data->frames, (struct export_key){ {
				     word_of(samples_frame_name(samples, place)),
				     word_of(place->binary), (uint64_t)place->level } }, &frame) < 0 ||
		    export_table_add(&data->stacks, (struct export_key){ { *stack, frame } },
				     stack) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int add_thread(struct export *data, const struct thread *thread, uint32_t *number)
{
	struct export_key key = { { (uint32_t)thread->pid, (uint32_t)thread->tid } };
	int ret = export_table_add(&data->threads, key, number);

	if (ret > 0) {
		const char **comms = reallocarray(data->comms, data->threads.room, sizeof(*comms));

		if (!comms)
			return -ENOMEM;
		data->comms = comms;
	}
	if (ret >= 0)
		data->comms[*number] = thread->comm;
	return ret;
}

/**
 * export_add() - add a sample
 * @data: of which the recording's frames were resolved.
 * @record: the sample.
 * @thread: its thread.
 *
 * Return: 0, -ENOMEM.
 */
int export_add(struct export *data, const struct perffile_record *record,
	       const struct thread *thread)
{
	struct export_sample sample = {
		.time = record->time, .period = record->sample.period,
	};

	if (add_thread(data, thread, &sample.thread) < 0 || add_stack(data, &sample.stack) < 0)
		return -ENOMEM;
	if (data->count == data->room) {
		size_t room = data->room ? data->room * 2 : 1024;
		struct export_sample *list = reallocarray(data->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		data->list = list;
		data->room = room;
	}
	data->list[data->count++] = sample;
	data->period += sample.period;
	return 0;
}

struct export_frame export_frame(const struct export *data, uint32_t number)
{
	const uint64_t *part = data->frames.keys[number].part;

	return (struct export_frame){
		(const char *)(uintptr_t)part[0], (const struct binary *)(uintptr_t)part[1],
		(char)part[2],
	};
}

struct export_stack export_stack(const struct export *data, uint32_t number)
{
	const uint64_t *part = data->stacks.keys[number].part;

	return (struct export_stack){ (uint32_t)part[1], (uint32_t)part[0] };
}

struct export_thread export_thread(const struct export *data, uint32_t number)
{
	const uint64_t *part = data->threads.keys[number].part;

	return (struct export_thread){
		(int32_t)(uint32_t)part[0], (int32_t)(uint32_t)part[1], data->comms[number],
	};
}

/* Are periods nanoseconds? */
bool export_is_time(const struct export *data)
{
	const struct perf_event_attr *attr = &data->event->attr;

	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

void export_free(struct export *data)
{
	export_table_free(&data->frames);
	export_table_free(&data->stacks);
	export_table_free(&data->threads);
	free(data->comms);
	free(data->list);
	free(data->first);
}

/* Put the samples of each thread together, without a change of their order. */
static int group(struct export *data)
{
	uint32_t threads = data->threads.count;
	struct export_sample *list = calloc(data->count + 1, sizeof(*list));
	size_t *next = calloc(threads + 1, sizeof(*next));

	data->first = calloc(threads + 1, sizeof(*data->first));
	if (!list || !next || !data->first) {
		free(list);
		free(next);
		return -ENOMEM;
	}
	for (size_t i = 0; i < data->count; i++)
		data->first[data->list[i].thread + 1]++;
	for (uint32_t i = 0; i < threads; i++)
		data->first[i + 1] += data->first[i];
	memcpy(next, data->first, (threads + 1) * sizeof(*next));
	for (size_t i = 0; i < data->count; i++)
		list[next[data->list[i].thread]++] = data->list[i];
	free(next);
	free(data->list);
	data->list = list;
	return 0;
}

/**
 * export_write() - write the samples
 * @data: all of them; nothing can be added any more.
 * @format: how.
 * @path: of the file, "-" for standard output.
 *
 * Return: 0, or a negative error number, which it has told.
 */
int export_write(struct export *data, const struct export_format *format,
		 const char *path)
{
	bool to_stdout = !strcmp(path, "-"), failed;
	FILE *out = to_stdout ? stdout : fopen(path, "we");
	int ret;

	if (!out) {
		say_error("cannot write '%s': %s", path, strerror(errno));
		return -EIO;
	}
	ret = group(data);
	if (ret == 0)
		ret = format->write(data, out);
	if (ret == -ENOMEM)
		say_error("%s", pmuctl_strerror(ret));
	failed = ret == -EIO || fflush(out) || ferror(out);
	if (!to_stdout && fclose(out))
		failed = true;
	if (!failed)
		return ret;
	say_error("cannot write '%s': %s", path, strerror(errno));
	return -EIO;
}
