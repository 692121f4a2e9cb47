// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which registers the samples of "pmuctl record" have: -I and --user-regs.
 */
#include <asm/perf_regs.h>
#include <string.h>

#include "perffile/perffile.h"
#include "record.h"

/* All of them, but no segments of data, as perf; the kernel refuses those. */
#define ALL (((1ULL << PERF_REG_X86_64_MAX) - 1) &				\
	     ~(1ULL << PERF_REG_X86_DS | 1ULL << PERF_REG_X86_ES |		\
	       1ULL << PERF_REG_X86_FS | 1ULL << PERF_REG_X86_GS))

/**
 * registers_all() - all registers that samples can have
 */
uint64_t registers_all(void)
{
	return ALL;
}

static int list(void)
{
	printf("available registers:");
	for (unsigned int i = 0; i < PERFFILE_REGS_MAX; i++)
		if (ALL >> i & 1)
			printf(" %s", perffile_register_name(i));
	putchar('\n');
	return STATUS_HELP;
}

/**
 * registers_option() - understand the argument of -I or --user-regs
 * @options: whose it is.
 * @text: names, with commas between; NULL: all; "?": they are to be listed.
 * @registers: gets a bit for each.
 *
 * Return: 0 or an exit status.
 */
int registers_option(const struct record_options *options, const char *text, uint64_t *registers)
{
	*registers = text ? 0 : ALL;
	if (text && !strcmp(text, "?"))
		return list();
	while (text) {
		size_t length = strcspn(text, ",");
		int number = perffile_register_find(text, length);

		if (number < 0 || !(ALL >> number & 1))
			return say_usage(options->measure.command,
					 "'%.*s' is no register that a sample can have: -I? lists them",
					 (int)length, text);
		*registers |= 1ULL << number;
		text = text[length] ? text + length + 1 : NULL;
	}
	return 0;
}

/**
 * registers_prepare() - have an event record registers
 * @options: which.
 * @attr: its attr, after callgraph_prepare(), which takes those that it needs.
 */
void registers_prepare(const struct record_options *options, struct perf_event_attr *attr)
{
	if (options->registers) {
		attr->sample_type |= PERF_SAMPLE_REGS_INTR;
		attr->sample_regs_intr = options->registers;
	}
	if (options->user_registers) {
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user |= options->user_registers;
	}
}
