/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing a file of samples in the format of perf.data: a header, the attrs of the
 * events with the ids of their descriptors, the records, and then sections about the
 * machine and the run, called features. All numbers are in the machine's own byte order.
 *
 * Here are bytes only: where they come from, record*.c know. Source of the format:
 * tools/perf/Documentation/perf.data-file-format.txt of Linux.
 */
#ifndef PMUCTL_TOOL_PERFDATA_H
#define PMUCTL_TOOL_PERFDATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include <linux/perf_event.h>

#include "perffile_format.h"

/*
 * Of struct perf_event_attr this much is written: what is behind does not matter to
 * samples, and readers refuse an attr that is longer than theirs.
 */
#define PERFDATA_ATTR_SIZE PERF_ATTR_SIZE_VER5

/* No feature that is written has a higher number. */
#define PERFDATA_FEATURES 32

/**
 * struct perfdata_buffer - bytes that grow
 * @bytes: the bytes.
 * @size: how many.
 * @capacity: room there.
 * @failed: memory lacked: some are missing.
 */
struct perfdata_buffer {
	unsigned char *bytes;
	size_t size;
	size_t capacity;
	bool failed;
};

void perfdata_put(struct perfdata_buffer *buffer, const void *bytes, size_t size);
void perfdata_put_u32(struct perfdata_buffer *buffer, uint32_t value);
void perfdata_put_u64(struct perfdata_buffer *buffer, uint64_t value);
void perfdata_put_string(struct perfdata_buffer *buffer, const char *text);
void perfdata_put_build_id(struct perfdata_buffer *buffer, bool is_kernel,
			   const void *id, size_t id_size, const char *path);
void perfdata_put_attr(struct perfdata_buffer *buffer, const struct perf_event_attr *attr);
void perfdata_buffer_free(struct perfdata_buffer *buffer);

/**
 * struct perfdata_event - an event of the file
 * @name: for people.
 * @attr: how it was opened.
 * @leader: number of the event that leads its group; its own if it is in none.
 * @ids: of its descriptors, one for each target.
 * @nr_ids: how many.
 */
struct perfdata_event {
	const char *name;
	struct perf_event_attr attr;
	size_t leader;
	const uint64_t *ids;
	size_t nr_ids;
};

/**
 * struct perfdata_trace - a piece of a trace
 * @position: where it is in the whole trace of that buffer, bytes.
 * @reference: the time stamp counter when it was read.
 * @buffer: number of the buffer.
 * @tid: of the task that it is of, -1 if it is a CPU's.
 * @cpu: that CPU, -1 if it is a task's.
 */
struct perfdata_trace {
	uint64_t position;
	uint64_t reference;
	uint32_t buffer;
	int32_t tid;
	int32_t cpu;
};

struct perfdata;

int perfdata_create(int fd, const struct perfdata_event *events, size_t nr_events,
		    struct perfdata **file);
int perfdata_create_stream(int fd, const struct perfdata_event *events, size_t nr_events,
			   struct perfdata **file);
int perfdata_write(struct perfdata *file, const struct iovec *pieces, int count);
uint64_t perfdata_whole(const struct iovec *pieces, int count, uint64_t room, uint64_t *samples);
uint64_t perfdata_end(const struct perfdata *file);
int perfdata_write_buffer(struct perfdata *file, struct perfdata_buffer *buffer);
int perfdata_write_trace(struct perfdata *file, const struct perfdata_trace *trace,
			 const struct iovec *pieces, int count);
int perfdata_begin_records(struct perfdata *file);
int perfdata_finish_round(struct perfdata *file);
struct perfdata_buffer *perfdata_feature(struct perfdata *file,
					 enum perffile_feature feature);
uint64_t perfdata_size(const struct perfdata *file);
int perfdata_finish(struct perfdata *file);
void perfdata_free(struct perfdata *file);

/* perfdata_stream.c: for perfdata.c only */
int perfdata_stream_write(int fd, const void *bytes, size_t size);
int perfdata_stream_begin(int fd, const struct perfdata_event *events, size_t nr_events,
			  uint64_t *sent);
int perfdata_stream_begin_records(int fd, const struct perfdata_buffer *features,
				  uint64_t *sent);
int perfdata_stream_end(int fd, const struct perfdata_buffer *features, uint64_t *sent);

#endif /* PMUCTL_TOOL_PERFDATA_H */
