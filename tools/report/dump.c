// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of a recording one by one, as bytes and in words: "report -D" and "script -D",
 * in the form of perf's.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report.h"

#define BYTES_OF_LINE	16

/* Bits of the header's misc: of MMAP, and of MMAP2 */
#define MISC_MMAP_DATA		(1 << 13)
#define MISC_MMAP_BUILD_ID	(1 << 14)

/* Where in an MMAP2 the device, the inode and the flags are */
#define MMAP2_DEVICE	40
#define MMAP2_INODE	48
#define MMAP2_GENERATION 56
#define MMAP2_FLAGS	68

/* The bits of a branch's flags that have no meaning yet begin here. */
#define RESERVED_SHIFT	33

static const char *clean(struct samples *samples, const char *text)
{
	return names_intern(samples->symbols->names, text);
}

/* Half a word of a record, which is as long as that. */
static uint32_t half_of(const struct samples *samples, const struct perffile_record *record, size_t at)
{
	uint32_t half;

	memcpy(&half, samples->file->data + record->offset + at, sizeof(half));
	return half;
}

static uint64_t word_of(const struct samples *samples, const struct perffile_record *record, size_t at)
{
	return perffile_word(samples->file->data + record->offset + at);
}

static void print_bytes(const uint8_t *bytes, size_t size)
{
	printf(".\n. ... raw event: size %zu bytes\n", size);
	for (size_t at = 0; at < size; at += BYTES_OF_LINE) {
		printf(".  %04zx: ", at);
		for (size_t i = at; i < at + BYTES_OF_LINE; i++)
			if (i < size)
				printf(" %02x", bytes[i]);
			else
				printf("   ");
		printf("  ");
		for (size_t i = at; i < at + BYTES_OF_LINE; i++)
			putchar(i >= size ? ' ' : bytes[i] < 128 && isprint(bytes[i]) ? bytes[i] : '.');
		putchar('\n');
	}
	putchar('\n');
}

/* Its bytes, and what the line begins with that says what it is; @record: NULL for perf's own types. */
static void print_head(const struct samples *samples, uint64_t at, const struct perffile_record *record)
{
	const struct perf_event_attr *attr = &samples->file->events[0].attr;
	struct perf_event_header header = perffile_header(samples->file, at);
	uint64_t fields = record && record->attr ? record->attr->sample_type : attr->sample_type;

	printf("\n%#" PRIx64 "@%s [%#x]: event: %u\n", at, names_intern(samples->symbols->names, samples->path),
	       header.size, header.type);
	print_bytes(samples->file->data + at, header.size);
	if (header.type != PERF_RECORD_SAMPLE && !attr->sample_id_all) {
		printf("-1 -1 ");
	} else {
		if (fields & PERF_SAMPLE_CPU)
			printf("%u ", record ? record->cpu : 0);
		if (fields & PERF_SAMPLE_TIME)
			printf("%" PRIu64 " ", record ? record->time : 0);
	}
	printf("%#" PRIx64 " [%#x]: PERF_RECORD_%s", at, header.size, about_type_name(header.type));
}

static void print_mmap(struct samples *samples, const struct perffile_record *record)
{
	const struct perffile_mmap *map = &record->mmap;

	printf(" %d/%d: [%#" PRIx64 "(%#" PRIx64 ") @ %#" PRIx64, (int32_t)map->pid, (int32_t)map->tid,
	       map->start, map->length, map->offset);
	if (record->type == PERF_RECORD_MMAP) {
		printf("]: %c %s\n", record->misc & MISC_MMAP_DATA ? 'r' : 'x', clean(samples, map->name));
		return;
	}
	if (record->misc & MISC_MMAP_BUILD_ID) {
		printf(" <");
		for (size_t i = 0; i < map->build_id_size; i++)
			printf("%02x", map->build_id[i]);
		printf(">");
	} else {
		printf(" %02x:%02x %" PRIu64 " %" PRIu64, half_of(samples, record, MMAP2_DEVICE),
		       half_of(samples, record, MMAP2_DEVICE + 4), word_of(samples, record, MMAP2_INODE),
		       word_of(samples, record, MMAP2_GENERATION));
	}
	printf("]: %c%c%c%c %s\n", map->prot & 1 ? 'r' : '-', map->prot & 2 ? 'w' : '-',
	       map->prot & 4 ? 'x' : '-', half_of(samples, record, MMAP2_FLAGS) & 1 ? 's' : 'p',
	       clean(samples, map->name));
}

/**
 * dump_branch_type() - perf's name for the kind of a branch
 * @flags: the third word of a branch.
 *
 * Return: "" if it is not known.
 */
const char *dump_branch_type(uint64_t flags)
{
	static const char *const types[16] = {
		[1] = "COND", [2] = "UNCOND", [3] = "IND", [4] = "CALL", [5] = "IND_CALL",
		[6] = "RET", [7] = "SYSCALL", [8] = "SYSRET", [9] = "COND_CALL",
		[10] = "COND_RET", [11] = "ERET", [12] = "IRQ",
	};
	const char *type = types[flags >> 20 & 0xf];

	return type ? type : "";
}

static void print_branches(const struct perffile_sample *sample)
{
	size_t count = sample->branches.count / 3;

	printf("... branch stack: nr:%zu\n", count);
	for (size_t i = 0; i < count; i++) {
		uint64_t flags = perffile_words_get(&sample->branches, 3 * i + 2);

		printf("..... %2zu: %016" PRIx64 " -> %016" PRIx64 " %u cycles %s%s%s%s %x %s\n", i,
		       perffile_words_get(&sample->branches, 3 * i),
		       perffile_words_get(&sample->branches, 3 * i + 1), (unsigned int)(flags >> 4 & 0xffff),
		       flags & 1 ? "M" : " ", flags & 2 ? "P" : " ", flags & 8 ? "A" : " ",
		       flags & 4 ? "T" : " ", (unsigned int)(flags >> RESERVED_SHIFT), dump_branch_type(flags));
	}
}

static void print_registers(const char *whose, uint64_t abi, uint64_t mask, const struct perffile_words *values)
{
	size_t at = 0;

	if (!values->count)
		return;
	printf("... %s regs: mask 0x%" PRIx64 " ABI %s\n", whose, mask,
	       abi == PERF_SAMPLE_REGS_ABI_64 ? "64-bit" : "32-bit");
	for (unsigned int i = 0; i < PERFFILE_REGS_MAX && at < values->count; i++)
		if (mask >> i & 1)
			printf(".... %-5s 0x%016" PRIx64 "\n", perffile_register_name(i),
			       perffile_words_get(values, at++));
}

static int print_sample(struct samples *samples, const struct perffile_record *record)
{
	const struct perffile_sample *sample = &record->sample;
	const struct thread *thread;

	if (!record->event) {
		printf(" of an event that the file does not describe\n");
		return 0;
	}
	thread = samples_resolve(samples, record, false);
	if (!thread)
		return -ENOMEM;
	printf("(IP, 0x%x): %d/%d: %#" PRIx64 " period: %" PRIu64 " addr: %#" PRIx64 "\n", record->misc,
	       record->pid, record->tid, sample->ip, sample->period, sample->addr);
	if (record->fields & PERF_SAMPLE_CALLCHAIN)
		printf("... FP chain: nr:%zu\n", sample->chain.count);
	for (size_t i = 0; i < sample->chain.count; i++)
		printf("..... %2zu: %016" PRIx64 "\n", i, perffile_words_get(&sample->chain, i));
	if (record->fields & PERF_SAMPLE_BRANCH_STACK)
		print_branches(sample);
	print_registers("user", sample->user_abi, record->attr->sample_regs_user, &sample->user_regs);
	print_registers("intr", sample->intr_abi, record->attr->sample_regs_intr, &sample->intr_regs);
	if (record->fields & PERF_SAMPLE_STACK_USER)
		printf("... ustack: size %zu, offset 0x%" PRIx64 "\n", sample->stack_size,
		       sample->stack ? (uint64_t)(sample->stack - samples->file->data) - record->offset : 0);
	if (record->fields & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
		printf("... weight: %" PRIu64 "\n", sample->weight);
	if (record->fields & PERF_SAMPLE_DATA_SRC)
		printf(" . data_src: 0x%" PRIx64 "\n", sample->data_src);
	if (record->fields & PERF_SAMPLE_PHYS_ADDR)
		printf(" .. phys_addr: 0x%" PRIx64 "\n", sample->phys_addr);
	printf(" ... thread: %s:%d\n ...... dso: %s\n", thread->comm, record->tid,
	       samples->frames[0].binary->path);
	return 0;
}

static void print_switch(const struct perffile_record *record)
{
	bool is_out = record->misc & PERF_RECORD_MISC_SWITCH_OUT;

	printf(" %-11s", !is_out ? "IN" : record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? "OUT preempt" :
	       "OUT");
	if (record->type == PERF_RECORD_SWITCH_CPU_WIDE)
		printf("  %s pid/tid: %5d/%-5d", is_out ? "next" : "prev", (int32_t)record->other.pid,
		       (int32_t)record->other.tid);
	putchar('\n');
}

/* What it tells, on the same line; returns 0, -ENOMEM. */
static int print_told(struct samples *samples, const struct perffile_record *record)
{
	const struct perffile_ksymbol *code = &record->ksymbol;
	const struct perffile_task *task = &record->task;

	switch (record->type) {
	case PERF_RECORD_SAMPLE:
		return print_sample(samples, record);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		print_mmap(samples, record);
		break;
	case PERF_RECORD_COMM:
		printf("%s: %s:%d/%d\n", record->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec" : "",
		       clean(samples, record->comm.name), (int32_t)record->comm.pid, (int32_t)record->comm.tid);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		printf("(%d:%d):(%d:%d)\n", (int32_t)task->pid, (int32_t)task->tid, (int32_t)task->ppid,
		       (int32_t)task->ptid);
		break;
	case PERF_RECORD_LOST:
		printf(": id:%" PRIu64 ": lost:%" PRIu64 "\n",
		       word_of(samples, record, sizeof(struct perf_event_header)),
		       record->lost);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		printf(": id:%" PRIu64 ": lost samples :%" PRIu64 "\n", record->id, record->lost);
		break;
	case PERF_RECORD_AUX:
		printf(" offset: %#" PRIx64 " size: %#" PRIx64 " flags: %#" PRIx64 "\n", record->aux.position,
		       record->aux.size, record->aux.flags);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		print_switch(record);
		break;
	case PERF_RECORD_CGROUP:
		printf(" cgroup: %" PRIu64 " %s\n", record->cgroup.id, clean(samples, record->cgroup.path));
		break;
	case PERF_RECORD_KSYMBOL:
		printf(" addr %" PRIx64 " len %u type %u flags 0x%x name %s\n", code->start, code->length,
		       code->type, code->flags, clean(samples, code->name));
		break;
	default:
		putchar('\n');
	}
	return 0;
}

/* Those of perf's own types, which have no time, from @at up to @end; returns where that is. */
static uint64_t print_others(const struct samples *samples, uint64_t at, uint64_t end)
{
	while (at < end) {
		if (perffile_header(samples->file, at).type >= PERFFILE_USER_TYPE) {
			print_head(samples, at, NULL);
			putchar('\n');
		}
		at = perffile_record_after(samples->file, at);
	}
	return at;
}

static void count(struct report *report, const struct perffile_record *record)
{
	report->types[record->type]++;
	if (record->type == PERF_RECORD_SAMPLE && record->event)
		report->events[record->event - report->samples->file->events].samples++;
}

/**
 * dump_records() - print all records: those of the kernel in the order of time, perf's own where they
 *	are in the file; says what is wrong
 * @samples: the recording, of which nothing was read.
 * @report: counts them by their types, or NULL.
 *
 * Return: 0 or a negative error number. Those before a damage are printed.
 */
int dump_records(struct samples *samples, struct report *report)
{
	struct perffile *file = samples->file;
	struct perffile_record record;
	struct perffile_error error;
	uint64_t at, others = file->records;
	int ret;

	samples_tell_no_more(samples);
	while ((ret = perffile_order_next(file, &at, &error)) > 0) {
		ret = perffile_record_read(file, at, &record, &error);
		if (ret < 0)
			break;
		ret = samples_follow(samples, &record);
		if (ret < 0)
			return ret;
		others = print_others(samples, others, at);
		print_head(samples, at, &record);
		ret = print_told(samples, &record);
		if (ret < 0) {
			say_error("%s", pmuctl_strerror(ret));
			return ret;
		}
		if (report)
			count(report, &record);
	}
	if (ret < 0)
		say_error("cannot read '%s': %s", samples->path, error.text);
	else
		print_others(samples, others, file->records_end);
	return ret;
}
