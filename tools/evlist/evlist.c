// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl evlist": which events a recording has, as perf-evlist(1) tells it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "symbols/samples.h"

#define BIT_NAME(bit) { #bit, (uint64_t)PERF_SAMPLE_##bit }
#define FORMAT_NAME(bit) { #bit, (uint64_t)PERF_FORMAT_##bit }

/**
 * struct evlist - what is told
 * @path: the recording.
 * @frequencies: the period or the frequency of each.
 * @attributes: all of its struct perf_event_attr that is not 0.
 * @groups: the events of a group together.
 */
struct evlist {
	const char *path;
	bool frequencies;
	bool attributes;
	bool groups;
};

struct bit_name {
	const char *name;
	uint64_t bit;
};

static const struct bit_name sample_bits[] = {
	BIT_NAME(IP), BIT_NAME(TID), BIT_NAME(TIME), BIT_NAME(ADDR), BIT_NAME(READ),
	BIT_NAME(CALLCHAIN), BIT_NAME(ID), BIT_NAME(CPU), BIT_NAME(PERIOD),
	BIT_NAME(STREAM_ID), BIT_NAME(RAW), BIT_NAME(BRANCH_STACK), BIT_NAME(REGS_USER),
	BIT_NAME(STACK_USER), BIT_NAME(WEIGHT), BIT_NAME(DATA_SRC), BIT_NAME(IDENTIFIER),
	BIT_NAME(TRANSACTION), BIT_NAME(REGS_INTR), BIT_NAME(PHYS_ADDR), BIT_NAME(AUX),
	BIT_NAME(CGROUP), BIT_NAME(DATA_PAGE_SIZE), BIT_NAME(CODE_PAGE_SIZE),
	BIT_NAME(WEIGHT_STRUCT),
	{ 0 },
};

static const struct bit_name format_bits[] = {
	FORMAT_NAME(TOTAL_TIME_ENABLED), FORMAT_NAME(TOTAL_TIME_RUNNING), FORMAT_NAME(ID),
	FORMAT_NAME(GROUP), FORMAT_NAME(LOST),
	{ 0 },
};

static const struct cli_option evlist_options[] = {
	{ 'i', "input", .argument = "FILE", .help = "the recording (perf.data)" },
	{ 'F', "freq", .help = "how often each was sampled" },
	{ 'g', "group", .help = "the events of a group in braces" },
	{ 'v', "verbose", .help = "all that was asked of the kernel" },
	{ 'f', "force", .help = "whoever owns the recording, as always" },
	{ 0 },
};

static int apply(void *arg, int option)
{
	struct evlist *evlist = arg;

	switch (option) {
	case 'i':
		evlist->path = optarg;
		break;
	case 'F':
		evlist->frequencies = true;
		break;
	case 'g':
		evlist->groups = true;
		break;
	case 'v':
		evlist->attributes = true;
		break;
	}
	return STATUS_OK;
}

static void print_number(const char *name, uint64_t value)
{
	if (value)
		printf(", %s: %" PRIu64, name, value);
}

static void print_hex(const char *name, uint64_t value)
{
	if (value)
		printf(", %s: %#" PRIx64, name, value);
}

static void print_bits(const char *name, uint64_t value, const struct bit_name *names)
{
	const char *before = "";

	if (!value)
		return;
	printf(", %s: ", name);
	for (; names->name; names++) {
		if (!(value & names->bit))
			continue;
		printf("%s%s", before, names->name);
		before = "|";
		value &= ~names->bit;
	}
	if (value)
		printf("%s%#" PRIx64, before, value);
}

/* The single bits, in the order in which the struct has them */
static void print_flags(const struct perf_event_attr *attr)
{
#define FLAG(name) print_number(#name, attr->name)
	FLAG(disabled);
	FLAG(inherit);
	FLAG(pinned);
	FLAG(exclusive);
	FLAG(exclude_user);
	FLAG(exclude_kernel);
	FLAG(exclude_hv);
	FLAG(exclude_idle);
	FLAG(mmap);
	FLAG(comm);
	FLAG(freq);
	FLAG(inherit_stat);
	FLAG(enable_on_exec);
	FLAG(task);
	FLAG(watermark);
	FLAG(precise_ip);
	FLAG(mmap_data);
	FLAG(sample_id_all);
	FLAG(exclude_host);
	FLAG(exclude_guest);
	FLAG(exclude_callchain_kernel);
	FLAG(exclude_callchain_user);
	FLAG(mmap2);
	FLAG(comm_exec);
	FLAG(use_clockid);
	FLAG(context_switch);
	FLAG(write_backward);
	FLAG(namespaces);
	FLAG(ksymbol);
	FLAG(bpf_event);
	FLAG(aux_output);
	FLAG(cgroup);
	FLAG(text_poke);
#ifdef PERF_ATTR_SIZE_VER7
	FLAG(build_id);
	FLAG(inherit_thread);
	FLAG(remove_on_exec);
	FLAG(sigtrap);
#else /* the headers of Linux 5.10, where they have no names */
	print_number("build_id", attr->__reserved_1 & 1);
	print_number("inherit_thread", attr->__reserved_1 >> 1 & 1);
	print_number("remove_on_exec", attr->__reserved_1 >> 2 & 1);
	print_number("sigtrap", attr->__reserved_1 >> 3 & 1);
#endif
#undef FLAG
}

static void print_attributes(const struct perf_event_attr *attr)
{
	printf(": type: %u, size: %u", attr->type, attr->size);
	printf(", config: %#" PRIx64, (uint64_t)attr->config);
	if (attr->sample_period)
		printf(", { sample_period, sample_freq }: %" PRIu64,
		       (uint64_t)attr->sample_period);
	print_bits("sample_type", attr->sample_type, sample_bits);
	print_bits("read_format", attr->read_format, format_bits);
	print_flags(attr);
	print_number("{ wakeup_events, wakeup_watermark }", attr->wakeup_events);
	print_hex("bp_type", attr->bp_type);
	print_hex("{ bp_addr, config1 }", attr->config1);
	print_hex("{ bp_len, config2 }", attr->config2);
	print_hex("branch_sample_type", attr->branch_sample_type);
	print_hex("sample_regs_user", attr->sample_regs_user);
	print_number("sample_stack_user", attr->sample_stack_user);
	if (attr->use_clockid)
		printf(", clockid: %d", attr->clockid);
	print_hex("sample_regs_intr", attr->sample_regs_intr);
	print_number("aux_watermark", attr->aux_watermark);
	print_number("sample_max_stack", attr->sample_max_stack);
	print_number("aux_sample_size", attr->aux_sample_size);
}

static void print_event(const struct evlist *evlist, const struct perf_event_attr *attr)
{
	if (evlist->attributes)
		print_attributes(attr);
	else if (evlist->frequencies)
		printf(": sample_%s=%" PRIu64, attr->freq ? "freq" : "period",
		       (uint64_t)attr->sample_period);
	putchar('\n');
}

/* Those of a group follow each other. */
static size_t print_group(struct samples *samples, size_t at, size_t members)
{
	const struct perffile *file = samples->file;

	putchar('{');
	for (size_t i = 0; i < members; i++)
		printf("%s%s", i ? "," : "", samples_event_name(samples, &file->events[at + i]));
	putchar('}');
	return members;
}

static void print(const struct evlist *evlist, struct samples *samples)
{
	const struct perffile *file = samples->file;
	size_t i = 0;

	while (i < file->event_count) {
		const struct perffile_event *event = &file->events[i];

		if (evlist->groups && event->members > 1) {
			i += print_group(samples, i, event->members);
		} else {
			fputs(samples_event_name(samples, event), stdout);
			i++;
		}
		print_event(evlist, &event->attr);
	}
}

static int evlist_run(int argc, char **argv)
{
	struct samples_options input = { .root = "" };
	struct evlist evlist = { .path = recording_default(STDIN_FILENO) };
	struct samples *samples;
	int status = options_parse(&command_evlist, argc, argv, apply, &evlist);

	if (status != STATUS_OK)
		return status;
	if (optind < argc)
		return say_usage(&command_evlist, "'%s' is too much: a recording is named by -i",
				 argv[optind]);
	if (evlist.attributes && evlist.groups)
		return say_usage(&command_evlist, "--group tells the names only, and excludes --verbose");
	input.path = evlist.path;
	if (samples_open(&samples, &input) < 0)
		return STATUS_FAILED;
	print(&evlist, samples);
	samples_close(samples);
	if (fflush(stdout) || ferror(stdout)) {
		say_error("cannot write the result: %s", strerror(errno));
		return STATUS_FAILED;
	}
	return STATUS_OK;
}

const struct command command_evlist = {
	.name = "evlist",
	.run = evlist_run,
	.summary = "list the events that a recording has",
	.operands = "",
	.about = "Prints the events of a recording, a line for each.",
	.options = { evlist_options },
	.notes = "A name is what was given to 'pmuctl record -e'.",
};
