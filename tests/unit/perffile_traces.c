// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pieces of traces in a file: written, and found again byte by byte, between records; with
 * an index as other readers want it.
 */
/* sources: tools/perffile/perfdata_buffer.c */
/* sources: tools/perffile/perfdata.c tools/perffile/perfdata_stream.c tools/perffile/perffile.c tools/perffile/features.c */
/* sources: tools/perffile/records.c tools/perffile/order.c tools/perffile/sample.c tools/perffile/groups.c tools/perffile/trace.c */
/* sources: tools/perffile/stream.c tools/perffile/expand.c tools/perffile/spool.c */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "../../tools/perffile/perfdata.h"
#include "../../tools/perffile/perffile.h"

static const uint64_t ids[] = { 7 };
static const struct perfdata_event events[] = {
	{ "intel_pt//u", { .type = 1000, .size = 112, .sample_type = PERF_SAMPLE_IDENTIFIER |
			   PERF_SAMPLE_TID, .sample_id_all = 1 }, 0, ids, 1 },
};

static const char text[] = "abcdefghijklmnopqrstuvwxyz";

static void put_info(struct perfdata *file)
{
	struct {
		struct perf_event_header header;
		uint32_t whose, reserved;
		uint64_t words[PERFFILE_PT_WORDS];
	} info = {
		.header = { .type = PERFFILE_AUXTRACE_INFO, .size = sizeof(info) },
		.whose = PERFFILE_TRACE_INTEL_PT,
		.words = { [PERFFILE_PT_TYPE] = 1000, [PERFFILE_PT_PER_CPU] = 1 },
	};
	struct iovec piece = { &info, sizeof(info) };

	cr_assert_eq(perfdata_write(file, &piece, 1), 0);
}

static void put_aux(struct perfdata *file, uint64_t position, uint64_t size)
{
	const uint64_t words[] = { PERF_RECORD_AUX | 48ULL << 48, position, size, 1, 5, 7 };
	struct iovec piece = { (void *)words, sizeof(words) };

	cr_assert_eq(perfdata_write(file, &piece, 1), 0);
}

static struct perffile *written(int *fd)
{
	struct perfdata_trace trace = { .position = 4096, .reference = 99, .buffer = 3,
					.tid = -1, .cpu = 2 };
	struct iovec pieces[2] = { { (void *)text, 16 }, { (void *)(text + 16), 5 } };
	struct perffile_error error;
	struct perffile *file;
	struct perfdata *out;
	void *data;
	off_t size;

	*fd = memfd_create("perf.data", MFD_CLOEXEC);
	cr_assert_eq(perfdata_create(*fd, events, 1, &out), 0);
	put_info(out);
	put_aux(out, 4096, 21);
	cr_assert_eq(perfdata_write_trace(out, &trace, pieces, 2), 0);
	put_aux(out, 4117, 1);
	trace.position = 4117;
	cr_assert_eq(perfdata_write_trace(out, &trace, pieces, 1), 0);
	cr_assert_eq(perfdata_finish(out), 0);
	perfdata_free(out);
	size = lseek(*fd, 0, SEEK_END);
	data = malloc((size_t)size);
	cr_assert_eq(pread(*fd, data, (size_t)size, 0), size);
	cr_assert_eq(perffile_open_memory(&file, data, (size_t)size, &error), 0, "%s", error.text);
	return file;
}

Test(perffile_traces, pieces_are_found_with_all_their_bytes)
{
	struct perffile_traces traces;
	struct perffile *file;
	int fd;

	file = written(&fd);
	cr_assert_eq(perffile_traces_read(file, &traces), 0);
	cr_assert_eq(traces.whose, PERFFILE_TRACE_INTEL_PT);
	cr_assert_eq(traces.words[PERFFILE_PT_TYPE], 1000);
	cr_assert_eq(traces.words[PERFFILE_PT_PER_CPU], 1);
	cr_assert_eq(traces.count, 2);
	/* In the file it is 24, but the next one begins behind 21. */
	cr_assert_eq(traces.pieces[0].size, 21);
	cr_assert_eq(memcmp(traces.pieces[0].bytes, "abcdefghijklmnopqrstu\0\0", 24), 0);
	cr_assert_eq(traces.pieces[0].position, 4096);
	cr_assert_eq(traces.pieces[0].reference, 99);
	cr_assert_eq(traces.pieces[0].buffer, 3);
	cr_assert_eq(traces.pieces[0].tid, -1);
	cr_assert_eq(traces.pieces[0].cpu, 2);
	cr_assert_eq(traces.pieces[1].size, 16);
	cr_assert_eq(traces.pieces[1].position, 4117);
	perffile_traces_free(&traces);
	free((void *)file->data);
	perffile_close(file);
	close(fd);
}

Test(perffile_traces, records_are_told_around_them)
{
	struct perffile_record record;
	struct perffile_error error;
	struct perffile *file;
	unsigned int n = 0;
	int fd;

	file = written(&fd);
	while (perffile_next(file, &record, &error) > 0) {
		cr_assert_eq(record.type, PERF_RECORD_AUX);
		cr_assert_eq(record.aux.position, n ? 4117 : 4096);
		cr_assert_eq(record.aux.size, n ? 1 : 21);
		cr_assert_eq(record.aux.flags, 1);
		cr_assert_eq(record.pid, 5);
		n++;
	}
	cr_assert_eq(n, 2);
	free((void *)file->data);
	perffile_close(file);
	close(fd);
}

/* Where the records of the pieces are, each with its own size, which is no piece's */
Test(perffile_traces, the_index_leads_to_each_piece)
{
	const uint8_t *index, *at;
	struct perffile *file;
	uint64_t table, bits;
	int fd;

	file = written(&fd);
	bits = perffile_word(file->data + 72);
	cr_assert(bits >> PERFFILE_AUXTRACE_INDEX & 1);
	table = file->records_end;
	for (unsigned int i = 0; i < PERFFILE_AUXTRACE_INDEX; i++)
		table += bits >> i & 1 ? 16 : 0;
	cr_assert_eq(perffile_word(file->data + table + 8), 8 + 2 * 16);
	index = file->data + perffile_word(file->data + table);
	cr_assert_eq(perffile_word(index), 2);
	for (int i = 0; i < 2; i++) {
		at = file->data + perffile_word(index + 8 + 16 * i);
		cr_assert_eq(perffile_word(index + 16 + 16 * i), 48);
		cr_assert_eq(perffile_word(at) & 0xffffffff, PERFFILE_AUXTRACE);
		cr_assert_eq(perffile_word(at + 16), i ? 4117 : 4096);
	}
	free((void *)file->data);
	perffile_close(file);
	close(fd);
}

/* The file of written() with one number changed: is it refused, or read to its end? */
static int open_forged(const struct perffile *good, uint64_t at, const void *bytes, size_t size,
		       struct perffile_error *error)
{
	struct perffile_traces traces;
	struct perffile *file;
	uint8_t *data = malloc(good->size);
	int ret;

	memcpy(data, good->data, good->size);
	memcpy(data + at, bytes, size);
	ret = perffile_open_memory(&file, data, good->size, error);
	if (ret == 0) {
		/* What both ways through the records have found is the same. */
		cr_assert_eq(perffile_traces_read(file, &traces), 0);
		for (size_t i = 0; i < traces.count; i++)
			cr_assert_leq(traces.pieces[i].size,
				      file->data + file->records_end - traces.pieces[i].bytes);
		perffile_traces_free(&traces);
		perffile_close(file);
	}
	free(data);
	return ret;
}

Test(perffile_traces, forged_lengths_are_refused, .timeout = 120)
{
	struct perffile_traces traces;
	struct perffile_error error;
	struct perffile *file;
	uint64_t piece, length;
	int fd;

	file = written(&fd);
	cr_assert_eq(perffile_traces_read(file, &traces), 0);
	/* The first piece's record ends where its bytes begin. */
	piece = (uint64_t)(traces.pieces[0].bytes - file->data) - 48;
	perffile_traces_free(&traces);
	for (uint16_t size = 0; size < 48; size++) {
		cr_assert_eq(open_forged(file, piece + 6, &size, sizeof(size), &error), -EBADMSG,
			     "a record of %u bytes", size);
		cr_assert(strstr(error.text, size < 8 ? "says that it has" : "record of a trace"),
			  "%s", error.text);
	}
	for (unsigned int bit = 5; bit < 64; bit++) {
		length = 1ULL << bit;
		if (length > file->records_end - piece - 48)
			cr_assert_eq(open_forged(file, piece + 8, &length, sizeof(length), &error),
				     -EBADMSG, "a trace of 2^%u bytes", bit);
		length = -length;
		cr_assert_eq(open_forged(file, piece + 8, &length, sizeof(length), &error),
			     -EBADMSG, "a trace of -2^%u bytes", bit);
	}
	free((void *)file->data);
	perffile_close(file);
	close(fd);
}

/* A record within a record, as only one who skips over both by the same rule passes by */
Test(perffile_traces, a_short_record_hides_no_other, .timeout = 120)
{
	/* A short record says that one of no bytes is its trace; behind both is a good one. */
	const uint64_t endless[] = { PERFFILE_AUXTRACE | 16ULL << 48, 16, 0, 0,
				     PERFFILE_FINISHED_ROUND | 16ULL << 48, 0 };
	struct perffile_error error;
	struct perffile *file;
	uint64_t at;
	int fd;

	file = written(&fd);
	/* Over the AUX record of 48 bytes that follows the AUXTRACE_INFO */
	at = file->records + 16 + 8 * PERFFILE_PT_WORDS;
	cr_assert_eq(perffile_word(file->data + at), PERF_RECORD_AUX | 48ULL << 48);
	cr_assert_eq(open_forged(file, at, endless, sizeof(endless), &error), -EBADMSG);
	free((void *)file->data);
	perffile_close(file);
	close(fd);
}

/* What describes the machine may be shorter than what is known, never longer than its record. */
Test(perffile_traces, an_info_record_is_read_within_its_length)
{
	struct perffile_error error;
	struct perffile *file;
	const uint64_t whole = 16 + 8 * PERFFILE_PT_WORDS;
	int fd;

	file = written(&fd);
	cr_assert_eq(perffile_word(file->data + file->records),
		     PERFFILE_AUXTRACE_INFO | whole << 48);
	for (uint16_t size = 0; size < 8; size++)
		cr_assert_eq(open_forged(file, file->records + 6, &size, sizeof(size), &error),
			     -EBADMSG, "a record of %u bytes", size);
	free((void *)file->data);
	perffile_close(file);
	close(fd);
}
