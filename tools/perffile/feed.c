// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records that come by and by, while they are looked at: as they were read from rings, in the
 * place of those of a file.
 */
#include <stdlib.h>
#include <string.h>

#include "perffile.h"

/*
 * What is for later, and then what is new: these are the records now. Records of perf's own are
 * not among them.
 */
static int join(struct perffile *file, const void *records, size_t size,
		struct perffile_error *error)
{
	uint64_t length, time = 0;
	size_t used = 0;
	uint8_t *joined = malloc(file->fed ? file->size + size + 1 : size + 1);

	if (!joined)
		return perffile_no_memory(error);
	for (uint64_t at = file->records; file->fed && at < file->records_end; at += length) {
		length = perffile_record_length(file, at);
		if (perffile_header(file, at).type >= PERFFILE_USER_TYPE)
			continue;
		perffile_record_time(file, at, &time);
		if (time <= file->order.until)
			continue;
		memcpy(joined + used, file->data + at, length);
		used += length;
	}
	if (size)
		memcpy(joined + used, records, size);
	if (!file->source) {
		file->source = file->data;
		file->source_size = file->size;
	}
	free(file->fed);
	file->fed = joined;
	file->data = joined;
	file->size = used + size;
	file->records = 0;
	file->records_end = file->size;
	return 0;
}

/* None, until more come */
static void empty(struct perffile *file)
{
	file->records_end = file->records;
	file->record_count = 0;
	perffile_order_begin(file);
}

/**
 * perffile_feed() - go on with these records, which follow those that were read
 * @file: of which all records were read. It tells of the events; its own records, if it has
 *	any, are gone.
 * @records: all that was in the rings when each of them was read once, in any order; they are
 *	copied.
 * @size: bytes of them.
 * @error: why not.
 *
 * While one ring was read, others were written to. What is older than the newest record of
 * the time before, was there when this time began, so all of it is known now, and
 * perffile_next() hands it out; what is newer waits for the next call. A call without records
 * hands out all that waits. What was handed out before is not valid any more.
 *
 * Return: 0; -EBADMSG or -ENOMEM: all that was not handed out is forgotten.
 */
int perffile_feed(struct perffile *file, const void *records, size_t size,
		  struct perffile_error *error)
{
	uint64_t until = file->fed_until;
	int ret = join(file, records, size, error);

	file->values_left = 0;
	if (ret == 0)
		ret = perffile_records_check(file, error);
	if (ret < 0) {
		empty(file);
		return ret;
	}
	if (file->order.newest > until)
		file->fed_until = file->order.newest;
	file->order.until = until;
	return 0;
}
