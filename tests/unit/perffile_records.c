// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of perf.data files: their order, whose they are, and every combination of
 * fields.
 */
/* sources: tools/perffile/perffile.c tools/perffile/features.c tools/perffile/records.c tools/perffile/order.c */
/* sources: tools/perffile/sample.c tools/perffile/groups.c */
/* sources: tools/perffile/stream.c tools/perffile/expand.c tools/perffile/spool.c */
#include <errno.h>

#include <criterion/criterion.h>

#include "../../tools/perffile/perffile.h"
#include "fuzz/perffile_build.h"

#define ROUNDS 20000

static const struct build_trailer none = { 0 };

static struct perf_event_attr attr_of(uint64_t type)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_type = type, .sample_period = 4000,
		.sample_id_all = 1,
	};

	return attr;
}

static struct perffile *finish(struct build *build)
{
	struct perffile_error error = { "" };
	struct perffile *file = NULL;

	build_features(build, NULL, 0);
	/* Without room behind it, sanitizers see every byte too many. */
	build->data = realloc(build->data, build->size);
	build->room = build->size;
	cr_assert_eq(perffile_open_memory(&file, build->data, build->size, &error), 0, "%s",
		     error.text);
	return file;
}

static void next(struct perffile *file, struct perffile_record *record)
{
	struct perffile_error error = { "" };

	cr_assert_eq(perffile_next(file, record, &error), 1, "%s", error.text);
}

static void end(struct perffile *file)
{
	struct perffile_record record;
	struct perffile_error error;

	cr_assert_eq(perffile_next(file, &record, &error), 0);
	perffile_close(file);
}

static void same_start(const struct perffile_record *record, const struct build_sample *want,
		       uint64_t type)
{
	const struct perffile_sample *got = &record->sample;

	cr_assert_eq(record->fields, type);
	cr_assert_eq(got->ip, type & PERF_SAMPLE_IP ? want->ip : 0);
	cr_assert_eq(record->pid, type & PERF_SAMPLE_TID ? (int)want->pid : -1);
	cr_assert_eq(record->tid, type & PERF_SAMPLE_TID ? (int)want->tid : -1);
	cr_assert_eq(record->time, type & PERF_SAMPLE_TIME ? want->time : 0);
	cr_assert_eq(got->addr, type & PERF_SAMPLE_ADDR ? want->addr : 0);
	cr_assert_eq(record->stream_id, type & PERF_SAMPLE_STREAM_ID ? want->stream_id : 0);
	cr_assert_eq(record->cpu, type & PERF_SAMPLE_CPU ? want->cpu : 0);
	cr_assert_eq(got->chain.count, type & PERF_SAMPLE_CALLCHAIN ? want->chain : 0);
	for (size_t i = 0; i < got->chain.count; i++)
		cr_assert_eq(perffile_words_get(&got->chain, i), want->chain_at[i]);
}

/* As the sample says, or by what it tells of the event's numbers, of which it is a sample each */
static void same_event(struct perffile *file, struct perffile_record *record,
		       const struct build_sample *want, const struct perf_event_attr *attr)
{
	const uint64_t type = attr->sample_type, format = attr->read_format;
	size_t words = 1 + !!(format & PERF_FORMAT_ID) + !!(format & 1 << 4);
	size_t at = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
		    !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);

	if (!(type & PERF_SAMPLE_READ) || !(format & PERF_FORMAT_ID)) {
		cr_assert_eq(record->id,
			     type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER) ? want->id : 0);
		cr_assert_eq(record->sample.period,
			     type & PERF_SAMPLE_PERIOD ? want->period : 4000);
		return;
	}
	at = format & PERF_FORMAT_GROUP ? at + 1 : 0;
	cr_assert_eq(record->id, build_id(0, 0));
	cr_assert_eq(record->sample.period, perffile_words_get(&record->sample.read, at));
	cr_assert(!record->again);
	if (!(format & PERF_FORMAT_GROUP))
		return;
	next(file, record);
	cr_assert(record->again);
	cr_assert_eq(record->id, build_id(0, 1));
	cr_assert_eq(record->sample.period, perffile_words_get(&record->sample.read, at + words));
}

static void same_end(const struct perffile_sample *got, const struct build_sample *want,
		     uint64_t type)
{
	bool weight = type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT);

	cr_assert_eq(got->read.count, want->read);
	cr_assert_eq(got->raw_size, want->raw);
	cr_assert_eq(got->branches.count, want->branches);
	cr_assert_eq(got->user_regs.count, want->user_regs);
	cr_assert_eq(got->stack_size, want->filled);
	cr_assert_eq(got->weight, weight ? want->weight : 0);
	cr_assert_eq(got->data_src, type & PERF_SAMPLE_DATA_SRC ? want->data_src : 0);
	cr_assert_eq(got->transaction, type & PERF_SAMPLE_TRANSACTION ? want->transaction : 0);
	cr_assert_eq(got->intr_regs.count, want->intr_regs);
	cr_assert_eq(got->phys_addr, type & PERF_SAMPLE_PHYS_ADDR ? want->phys_addr : 0);
	cr_assert_eq(got->cgroup, type & PERF_SAMPLE_CGROUP ? want->cgroup : 0);
	cr_assert_eq(got->data_page_size,
		     type & PERF_SAMPLE_DATA_PAGE_SIZE ? want->data_page_size : 0);
	cr_assert_eq(got->code_page_size,
		     type & PERF_SAMPLE_CODE_PAGE_SIZE ? want->code_page_size : 0);
	cr_assert_eq(got->aux_size, want->aux);
}

/* Single fields, pairs, all, all but one, then random ones. */
static uint64_t combination(unsigned int round, uint64_t *seed)
{
	unsigned int bits = __builtin_popcountll(BUILD_FIELDS);

	if (round < bits * bits)
		return 1ULL << round / bits | 1ULL << round % bits;
	round -= bits * bits;
	if (round < bits)
		return BUILD_FIELDS & ~(1ULL << round);
	return round == bits ? BUILD_FIELDS : build_random(seed) & BUILD_FIELDS;
}

static void try_fields(uint64_t type, uint64_t *seed)
{
	struct perf_event_attr attr = attr_of(type);
	struct perffile_record record;
	struct build_sample want;
	struct perffile *file;
	struct build build;
	struct perffile_error error;
	uint16_t size;

	attr.read_format = build_random(seed) & 0x1f;
	attr.branch_sample_type = build_random(seed) & PERF_SAMPLE_BRANCH_HW_INDEX;
	attr.sample_regs_user = build_random(seed) & 0xff0fff;
	attr.sample_regs_intr = build_random(seed) & 0xff0fff;
	build_begin(&build, &attr, 1);
	build_sample_random(&want, 0, seed);
	build_sample(&build, 0, PERF_RECORD_MISC_KERNEL, &want, seed);
	memcpy(&size, build.data + build.records + 6, sizeof(size));
	file = finish(&build);
	next(file, &record);
	cr_assert_eq(record.type, PERF_RECORD_SAMPLE);
	cr_assert_eq(record.misc, PERF_RECORD_MISC_KERNEL);
	same_start(&record, &want, type);
	same_event(file, &record, &want, &attr);
	same_end(&record.sample, &want, type);
	end(file);
	/* A byte less, and something is missing. */
	if (size > 8) {
		size--;
		memcpy(build.data + build.records + 6, &size, sizeof(size));
		build_set(&build, 48, size);
		cr_assert_eq(perffile_open_memory(&file, build.data, build.size, &error), 0);
		cr_assert_eq(perffile_next(file, &record, &error), -EBADMSG, "%#lx", type);
		cr_assert_not_null(strstr(error.text, "damaged"));
		perffile_close(file);
	}
	build_free(&build);
}

Test(perffile_records, every_combination_of_fields)
{
	uint64_t seed = 88172645463325252ULL;

	for (unsigned int round = 0; round < ROUNDS; round++)
		try_fields(combination(round, &seed), &seed);
}

Test(perffile_records, every_trailer)
{
	static const uint64_t fields[] = {
		PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
		PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER,
	};
	struct build_trailer want = { 11, 12, 13, build_id(0, 1), 15, 3 };

	for (unsigned int set = 0; set < 64; set++) {
		struct perffile_record record;
		struct perf_event_attr attr;
		struct perffile *file;
		struct build build;
		uint64_t type = 0;

		for (int i = 0; i < 6; i++)
			type |= set >> i & 1 ? fields[i] : 0;
		attr = attr_of(type | PERF_SAMPLE_IP);
		build_begin(&build, &attr, 1);
		build_comm(&build, 5, 6, "name", PERF_RECORD_MISC_COMM_EXEC, &want);
		file = finish(&build);
		next(file, &record);
		cr_assert_eq(record.fields, type);
		cr_assert_eq(record.pid, type & PERF_SAMPLE_TID ? 11 : -1);
		cr_assert_eq(record.tid, type & PERF_SAMPLE_TID ? 12 : -1);
		cr_assert_eq(record.time, type & PERF_SAMPLE_TIME ? 13 : 0);
		cr_assert_eq(record.stream_id, type & PERF_SAMPLE_STREAM_ID ? 15 : 0);
		cr_assert_eq(record.cpu, type & PERF_SAMPLE_CPU ? 3 : 0);
		cr_assert_eq(record.comm.pid, 5);
		cr_assert_eq(record.comm.tid, 6);
		cr_assert_str_eq(record.comm.name, "name");
		end(file);
		build_free(&build);
	}
}

Test(perffile_records, come_in_the_order_of_time)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
	struct perffile_record record;
	struct build_sample sample = { 0 };
	uint64_t seed = 99, last_time = 0, last_addr = 0;
	struct perffile *file;
	struct build build;

	build_begin(&build, &attr, 1);
	for (uint64_t i = 0; i < 1000; i++) {
		sample.time = build_random(&seed) % 100;
		sample.addr = i;
		build_sample(&build, 0, 0, &sample, &seed);
	}
	file = finish(&build);
	for (int i = 0; i < 1000; i++) {
		next(file, &record);
		cr_assert(record.time > last_time ||
			  (record.time == last_time && (!i || record.sample.addr > last_addr)));
		last_time = record.time;
		last_addr = record.sample.addr;
	}
	end(file);
	build_free(&build);
}

Test(perffile_records, without_a_time_keep_their_place)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
	struct build_sample sample = { .time = 50, .addr = 1 };
	struct perffile_record record;
	struct perffile *file;
	struct build build;
	uint64_t seed = 1;

	attr.sample_id_all = 0;
	build_begin(&build, &attr, 1);
	build_sample(&build, 0, 0, &sample, &seed);
	build.attrs[0].sample_type = 0;
	build_comm(&build, 1, 1, "behind 50", 0, &none);
	build.attrs[0].sample_type = attr.sample_type;
	sample.time = 40;
	build_sample(&build, 0, 0, &sample, &seed);
	file = finish(&build);
	next(file, &record);
	cr_assert_eq(record.time, 40);
	next(file, &record);
	cr_assert_eq(record.time, 50);
	next(file, &record);
	cr_assert_eq(record.type, PERF_RECORD_COMM);
	end(file);
	build_free(&build);
}

Test(perffile_records, belong_to_the_event_with_their_number)
{
	struct perf_event_attr attrs[3];
	struct perffile_record record;
	struct build_sample sample;
	struct perffile *file;
	struct build build;
	uint64_t seed = 5;

	for (int i = 0; i < 3; i++)
		attrs[i] = attr_of(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
				   (i == 1 ? PERF_SAMPLE_ADDR : PERF_SAMPLE_IP));
	build_begin(&build, attrs, 3);
	for (int i = 0; i < 30; i++) {
		build_sample_random(&sample, i % 3, &seed);
		build_sample(&build, i % 3, 0, &sample, &seed);
	}
	sample.id = 999999;
	build_sample(&build, 0, 0, &sample, &seed);
	build_comm(&build, 1, 1, "x", 0, &(struct build_trailer){ .id = build_id(2, 1) });
	build_comm(&build, 1, 1, "made up", 0, &none);
	file = finish(&build);
	for (int i = 0; i < 30; i++) {
		next(file, &record);
		cr_assert_eq(record.event, &file->events[i % 3]);
	}
	next(file, &record);
	cr_assert_null(record.event);
	next(file, &record);
	cr_assert_eq(record.event, &file->events[2]);
	next(file, &record);
	cr_assert_eq(record.event, &file->events[0]);
	end(file);
	build_free(&build);
}

/* Where number and time are depends on all fields before them, and behind them. */
Test(perffile_records, number_and_time_are_found_among_all_fields)
{
	static const uint64_t others[] = {
		PERF_SAMPLE_IP, PERF_SAMPLE_TID, PERF_SAMPLE_ADDR, PERF_SAMPLE_STREAM_ID,
		PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER,
	};

	for (unsigned int set = 0; set < 64; set++) {
		struct perf_event_attr attrs[2];
		struct build_trailer early = { .time = 1, .id = build_id(1, 1) };
		struct perffile_record record;
		struct build_sample sample;
		struct perffile *file;
		struct build build;
		uint64_t seed = 3, type = PERF_SAMPLE_ID | PERF_SAMPLE_TIME;

		for (int i = 0; i < 6; i++)
			type |= set >> i & 1 ? others[i] : 0;
		attrs[0] = attr_of(type);
		attrs[1] = attr_of(type);
		build_begin(&build, attrs, 2);
		build_sample_random(&sample, 1, &seed);
		sample.time = 2;
		build_sample(&build, 1, 0, &sample, &seed);
		build_comm(&build, 1, 1, "x", 0, &early);
		file = finish(&build);
		next(file, &record);
		cr_assert_eq(record.type, PERF_RECORD_COMM, "%#lx", type);
		cr_assert_eq(record.event, &file->events[1], "%#lx", type);
		next(file, &record);
		cr_assert_eq(record.event, &file->events[1], "%#lx", type);
		end(file);
		build_free(&build);
	}
}

Test(perffile_records, mappings_with_and_without_a_build_id)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IP | PERF_SAMPLE_TIME);
	uint8_t id[20] = { 0xaa, [19] = 0xbb };
	struct perffile_record record;
	struct perffile *file;
	struct build build;

	build_begin(&build, &attr, 1);
	build_mmap(&build, 9, 0x1000, 0x2000, 0x3000, "/lib/x", id, &none);
	build_mmap(&build, -1, 0xffffffff81000000, 0x100, 5, "[kernel.kallsyms]_text", NULL,
		   &none);
	file = finish(&build);
	next(file, &record);
	cr_assert_eq(record.mmap.pid, 9);
	cr_assert_eq(record.mmap.start, 0x1000);
	cr_assert_eq(record.mmap.length, 0x2000);
	cr_assert_eq(record.mmap.offset, 0x3000);
	cr_assert_eq(record.mmap.prot, 5);
	cr_assert_str_eq(record.mmap.name, "/lib/x");
	cr_assert_eq(record.mmap.build_id_size, 20);
	cr_assert_arr_eq(record.mmap.build_id, id, 20);
	next(file, &record);
	cr_assert_eq((int32_t)record.mmap.pid, -1);
	cr_assert_eq(record.mmap.build_id_size, 0);
	cr_assert_str_eq(record.mmap.name, "[kernel.kallsyms]_text");
	end(file);
	build_free(&build);
}

Test(perffile_records, forks_ends_and_losses)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IP);
	struct perffile_record record;
	struct perffile *file;
	struct build build;
	size_t at;

	build_begin(&build, &attr, 1);
	build_task(&build, PERF_RECORD_FORK, 1, 2, 3, 4, &none);
	build_task(&build, PERF_RECORD_EXIT, 5, 6, 7, 8, &none);
	at = build_record(&build, PERF_RECORD_LOST, 0);
	build_word(&build, build_id(0, 0));
	build_word(&build, 17);
	build_record_end(&build, at);
	at = build_record(&build, 68, 0);	/* FINISHED_ROUND */
	build_record_end(&build, at);
	at = build_record(&build, 71, 0);	/* AUXTRACE: 24 bytes behind it */
	build_word(&build, 24);
	build_pad(&build, 32);
	build_record_end(&build, at);
	build_pad(&build, 24);
	at = build_record(&build, PERF_RECORD_LOST_SAMPLES, 0);
	build_word(&build, 3);
	build_record_end(&build, at);
	file = finish(&build);
	next(file, &record);
	cr_assert_eq(record.task.pid, 1);
	cr_assert_eq(record.task.ppid, 2);
	cr_assert_eq(record.task.tid, 3);
	cr_assert_eq(record.task.ptid, 4);
	next(file, &record);
	cr_assert_eq(record.type, PERF_RECORD_EXIT);
	cr_assert_eq(record.task.tid, 7);
	next(file, &record);
	cr_assert_eq(record.lost, 17);
	next(file, &record);
	cr_assert_eq(record.lost, 3);
	end(file);
	build_free(&build);
}

/* A record as it is here, alone in a file: refused when it is opened, or when read. */
static void damaged(uint32_t type, uint16_t size, const char *body, size_t length,
		    const char *words)
{
	struct perf_event_header header = { type, 0, size };
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IP);
	struct perffile_error error = { "" };
	struct perffile_record record;
	struct perffile *file = NULL;
	struct build build;
	int ret;

	build_begin(&build, &attr, 1);
	build_bytes(&build, &header, sizeof(header));
	build_bytes(&build, body, length);
	build_features(&build, NULL, 0);
	ret = perffile_open_memory(&file, build.data, build.size, &error);
	if (ret == 0) {
		ret = perffile_next(file, &record, &error);
		perffile_close(file);
	}
	cr_assert_eq(ret, -EBADMSG, "type %u, size %u: %d", type, size, ret);
	cr_assert_not_null(strstr(error.text, words), "'%s' lacks '%s'", error.text, words);
	build_free(&build);
}

Test(perffile_records, damage_is_told)
{
	static const char bytes[64] = "not a string that ends within so many bytes of a record.......";

	damaged(PERF_RECORD_COMM, 0, bytes, 0, "says that it has 0 bytes");
	damaged(PERF_RECORD_COMM, 7, bytes, 0, "says that it has 7 bytes");
	damaged(PERF_RECORD_COMM, 16, bytes, 7, "says that it has 16 bytes, and 15 are left");
	damaged(PERF_RECORD_COMM, 8, bytes, 3, "is cut off");
	damaged(PERF_RECORD_COMM, 40, bytes, 32, "shorter than what should be in it");
	damaged(PERF_RECORD_COMM, 8, bytes, 0, "shorter than what should be in it");
	damaged(PERF_RECORD_MMAP, 64, bytes, 56, "shorter");
	damaged(PERF_RECORD_MMAP2, 64, bytes, 56, "shorter");
	damaged(PERF_RECORD_FORK, 16, bytes, 8, "shorter");
	damaged(PERF_RECORD_LOST, 16, bytes, 8, "shorter");
	damaged(PERFFILE_COMPRESSED, 16, bytes, 8, "compressed");
	damaged(PERFFILE_COMPRESSED2, 16, bytes, 8, "compressed");
	damaged(PERFFILE_AUXTRACE, 8, bytes, 0, "a trace has 8 bytes, and 48 are needed");
	damaged(PERFFILE_AUXTRACE, 47, bytes, 39, "a trace has 47 bytes, and 48 are needed");
	damaged(PERFFILE_AUXTRACE, 48, bytes, 40, "a trace of");
}

/* A file whose recorder was killed: it does not say how many records it has. */
static void build_unfinished(struct build *build, size_t *ends)
{
	struct perf_event_attr attr = attr_of(PERF_SAMPLE_IP);
	size_t at, n = 0;

	build_begin(build, &attr, 1);
	build_comm(build, 7, 7, "example", 0, &none);
	ends[n++] = build->size;
	build_task(build, PERF_RECORD_FORK, 1, 2, 3, 4, &none);
	ends[n++] = build->size;
	at = build_record(build, PERFFILE_AUXTRACE, 0);
	build_word(build, 24);
	build_pad(build, 32);
	build_record_end(build, at);
	build_pad(build, 24);
	ends[n++] = build->size;
	build_task(build, PERF_RECORD_EXIT, 1, 2, 3, 4, &none);
	ends[n++] = build->size;
}

Test(perffile_records, an_unfinished_file_is_read_as_far_as_it_goes)
{
	size_t ends[4], records, whole;
	struct perffile_error error;
	struct perffile_record record;
	struct perffile *file;
	struct build build;

	build_unfinished(&build, ends);
	/* perf sets the bits of the features that it is going to write. */
	build_set(&build, 72, UINT64_MAX);
	for (size_t size = build.records; size <= build.size; size++) {
		void *copy = malloc(size);

		for (whole = 0; whole < 4 && ends[whole] <= size;)
			whole++;
		memcpy(copy, build.data, size);
		if (!whole) {
			cr_assert_eq(perffile_open_memory(&file, copy, size, &error), -EBADMSG);
			cr_assert_not_null(strstr(error.text, "not finished"), "%s", error.text);
			free(copy);
			continue;
		}
		cr_assert_eq(perffile_open_memory(&file, copy, size, &error), 0, "%zu: %s", size,
			     error.text);
		cr_assert(file->is_unfinished);
		cr_assert_eq(file->left_out, size - ends[whole - 1], "%zu", size);
		for (records = 0; perffile_next(file, &record, &error) > 0;)
			records++;
		/* The trace is none of them. */
		cr_assert_eq(records, whole < 3 ? whole : whole - 1);
		perffile_close(file);
		free(copy);
	}
	build_free(&build);
}

/* What is cut off is at the end; before that, and in a finished file, nothing is left out. */
Test(perffile_records, a_finished_file_is_read_whole_or_not_at_all)
{
	struct perffile_error error;
	struct perffile *file;
	struct build build;
	size_t ends[4];

	build_unfinished(&build, ends);
	file = finish(&build);
	cr_assert_not(file->is_unfinished);
	cr_assert_eq(file->left_out, 0);
	perffile_close(file);
	build_set(&build, 48, build.size - build.records - 8);
	cr_assert_eq(perffile_open_memory(&file, build.data, build.size, &error), -EBADMSG);
	build_free(&build);
}
