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

static uint8_t code[16] = { 0x90, 0xff, 0xe0 };	/* nop; jmp *%rax */
static size_t code_size = 3;

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
	size_t there = ip < START || ip >= START + code_size ? 0 : START + code_size - ip;

	(void)arg;
	if (size > there)
		size = there;
	memcpy(to, code + code_size - there, size);
	return (int)size;
}

static void take(void *arg, const struct trace_step *step)
{
	(void)arg;
	instructions += step->kind == TRACE_INSTRUCTION;
	errors += step->kind == TRACE_ERROR;
	begins += step->kind == TRACE_BEGIN;
}

static void decode_bytes(const char *cpuid, const uint8_t *bytes, size_t size)
{
	static const uint64_t words[PERFFILE_PT_WORDS] = {
		[PERFFILE_PT_MTC_PERIOD] = 0xfULL << 14, [PERFFILE_PT_TSC_CTC_D] = 2,
		[PERFFILE_PT_TSC_CTC_N] = 84, [PERFFILE_PT_RATIO] = 21,
	};
	const struct trace_piece piece = {
		.bytes = bytes, .size = size, .words = words, .config = 5ULL << 14,
		.cpuid = cpuid, .read = read_code, .visit = take,
	};
	struct trace_decoder *decoder = trace_decoder_new(&piece);

	instructions = errors = begins = 0;
	cr_assert_not_null(decoder);
	cr_assert_not(trace_decoder_run(decoder, TRACE_END_OF_TIME));
	trace_decoder_free(decoder);
}

static void decode(const char *cpuid)
{
	decode_bytes(cpuid, trace, sizeof(trace));
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

/*
 * Code that goes round without a branch of two ways needs nothing from the trace, which cannot end
 * that: it is no trace of this code. What is behind, where the trace begins again, is decoded.
 */
Test(trace_decode, code_that_runs_in_circles, .timeout = 60)
{
	static const struct {
		uint8_t code[16];
		size_t size;
		unsigned int length;
	} circles[] = {
		{ { 0xeb, 0xfe }, 2, 1 },					/* jmp . */
		{ { 0x90, 0x90, 0xeb, 0xfc }, 4, 3 },				/* to the first nop */
		{ { 0xeb, 0x01, 0xcc, 0x90, 0xeb, 0xfd }, 6, 3 },		/* to the second one */
		{ { 0xe8, 0xfb, 0xff, 0xff, 0xff }, 5, 1 },			/* call . */
		{ { 0xe9, 0x03, 0, 0, 0, 0xeb, 0xf9, 0x90, 0xeb, 0xfb }, 10, 4 },
		{ { 0xf3, 0x48, 0x0f, 0xae, 0xe0, 0xeb, 0xf9 }, 7, 2 },		/* ptwrite %rax; jmp */
	};

	uint8_t twice[2 * sizeof(trace)];

	memcpy(twice, trace, sizeof(trace));
	memcpy(twice + sizeof(trace), trace, sizeof(trace));
	for (size_t i = 0; i < sizeof(circles) / sizeof(circles[0]); i++) {
		memcpy(code, circles[i].code, sizeof(code));
		code_size = circles[i].size;
		decode_bytes("GenuineIntel,6,61,4", twice, sizeof(twice));
		cr_expect_eq(errors, 2, "%zu: %u errors", i, errors);
		cr_expect_eq(begins, 2, "%zu: %u begins", i, begins);
		cr_expect_geq(instructions, 2 * circles[i].length, "%zu: %u", i, instructions);
		cr_expect_leq(instructions, 2 * 5 * circles[i].length, "%zu: %u", i, instructions);
	}
}

/* Round and round, but a branch each time goes there: that is what the trace says. */
Test(trace_decode, a_loop_is_no_circle)
{
	static const uint8_t loop[] = { 0xeb, 0x00, 0x75, 0xfc, 0xff, 0xe0 };	/* jmp; jne; jmp *%rax */
	/* PSB+, TNT: four times five are taken, then one is not; TIP */
	static const uint8_t rounds[] = {
		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82,
		0x99, 0x01,
		0x7d, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00,
		0x02, 0x23,
		0x7e, 0x7e, 0x7e, 0x7e, 0x04,
		0x6d, 0x00, 0x10, 0x40, 0x00, 0x00, 0x00,
	};

	memcpy(code, loop, sizeof(loop));
	code_size = sizeof(loop);
	decode_bytes(NULL, rounds, sizeof(rounds));
	cr_assert_eq(errors, 0, "%u", errors);
	cr_assert_geq(instructions, 21 * 2 + 1);
	cr_assert_leq(instructions, 21 * 2 + 3);
}
