// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt -ldl */
/*
 * How the decoder of Processor Trace is set up: for the model that wrote the trace, as some have errata.
 */
#define _GNU_SOURCE
#define HAVE_LIBIPT
#include <dlfcn.h>

#include <criterion/criterion.h>

#include "../../tools/trace/decode.c"

#define START	0x401000ULL

static const uint8_t code[] = { 0x90, 0xff, 0xe0 };	/* nop; jmp *%rax */

/*
 * PSB+ with MODE.Exec and FUP, as while something is traced, and then TIP.PGE, as if that began: so
 * the first ones of Broadwell and Skylake write it when it begins. The jump goes to its beginning.
 */
static const uint8_t trace[] = {
	0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
	0x99, 0x01,
	0x7d, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00,
	0x02, 0x23,
	0x71, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00,
	0x6d, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00,
};

static struct pt_config config;
static unsigned int instructions, errors, begins;

/* In place of the library's, which it calls */
struct pt_insn_decoder *pt_insn_alloc_decoder(const struct pt_config *wanted)
{
	struct pt_insn_decoder *(*alloc)(const struct pt_config *) =
		(typeof(alloc))dlsym(RTLD_NEXT, "pt_insn_alloc_decoder");

	config = *wanted;
	return alloc(wanted);
}

static int read_code(void *arg, uint64_t ip, uint8_t *to, size_t size)
{
	size_t there = ip < START || ip >= START + sizeof(code) ? 0 : START + sizeof(code) - ip;

	(void)arg;
	if (size > there)
		size = there;
	memcpy(to, code + sizeof(code) - there, size);
	return (int)size;
}

static void take(void *arg, const struct trace_step *step)
{
	(void)arg;
	instructions += step->kind == TRACE_INSTRUCTION;
	errors += step->kind == TRACE_ERROR;
	begins += step->kind == TRACE_BEGIN;
}

static void decode(const char *cpuid)
{
	static const uint64_t words[PERFFILE_PT_WORDS] = {
		[PERFFILE_PT_MTC_PERIOD] = 0xfULL << 14, [PERFFILE_PT_TSC_CTC_D] = 2,
		[PERFFILE_PT_TSC_CTC_N] = 84, [PERFFILE_PT_RATIO] = 21,
	};
	const struct trace_piece piece = {
		.bytes = trace, .size = sizeof(trace), .words = words, .config = 5ULL << 14,
		.cpuid = cpuid, .read = read_code, .visit = take,
	};
	struct trace_decoder *decoder = trace_decoder_new(&piece);

	instructions = errors = begins = 0;
	cr_assert_not_null(decoder);
	cr_assert_not(trace_decoder_run(decoder, TRACE_END_OF_TIME));
	trace_decoder_free(decoder);
}

static bool is_cpu(uint16_t family, uint8_t model, uint8_t stepping)
{
	return config.cpu.vendor == pcv_intel && config.cpu.family == family &&
	       config.cpu.model == model && config.cpu.stepping == stepping;
}

Test(trace_decode, what_the_file_tells_of_the_machine)
{
	decode("GenuineIntel,6,92,9");
	cr_assert(is_cpu(6, 92, 9));
	cr_assert(config.errata.apl12 && !config.errata.bdm70);
	cr_assert_eq(config.cpuid_0x15_eax, 2);
	cr_assert_eq(config.cpuid_0x15_ebx, 84);
	cr_assert_eq(config.mtc_freq, 5);
	cr_assert_eq(config.nom_freq, 21);
	decode("GenuineIntel,19,1,0");
	cr_assert(is_cpu(19, 1, 0));
}

Test(trace_decode, a_model_that_is_not_known_has_no_errata)
{
	static const char *const cpuids[] = {
		NULL, "", "GenuineIntel", "GenuineIntel,6,61", "AuthenticAMD,6,61,4",
		"GenuineIntel,6,317,4", "GenuineIntel,65542,61,4", "GenuineIntel,6,61,260",
	};

	for (size_t i = 0; i < sizeof(cpuids) / sizeof(cpuids[0]); i++) {
		decode(cpuids[i]);
		cr_expect_eq(config.cpu.vendor, pcv_unknown, "%s", cpuids[i]);
		cr_expect_not(config.errata.bdm70, "%s", cpuids[i]);
	}
}

/* Erratum BDM70, of Broadwell; its like of others have other names. */
Test(trace_decode, errata_are_gone_round)
{
	decode("GenuineIntel,6,61,4");
	cr_assert(config.errata.bdm70);
	cr_assert_eq(errors, 0);
	cr_assert_eq(begins, 1);
	cr_assert_eq(instructions, 2, "%u", instructions);
	decode(NULL);
	cr_assert_gt(errors, 0, "the trace is well without errata");
}
