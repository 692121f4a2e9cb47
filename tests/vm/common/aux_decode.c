// SPDX-License-Identifier: GPL-2.0-only
#include "aux_decode.h"

struct pt_image *decode_image;
void (*decode_visit)(uint64_t ip);
uint64_t decode_from, decode_to;
bool decode_filtered, decode_stops;

void add_program(struct pt_image *image, const char *path)
{
	Elf64_Phdr headers[16];
	Elf64_Ehdr elf;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	cr_assert_eq(pread(fd, &elf, sizeof(elf), 0), (ssize_t)sizeof(elf));
	cr_assert_leq(elf.e_phnum, 16);
	cr_assert_geq(pread(fd, headers, sizeof(headers[0]) * elf.e_phnum, elf.e_phoff), 0);
	close(fd);
	for (int i = 0; i < elf.e_phnum; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_X)
			cr_assert_eq(pt_image_add_file(image, path, headers[i].p_offset,
						       headers[i].p_filesz, NULL,
						       headers[i].p_vaddr), 0);
}

static int decode_events(struct pt_insn_decoder *decoder, int status)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending)
		status = pt_insn_event(decoder, &event, sizeof(event));
	return status;
}

static void decode_piece(struct pt_insn_decoder *decoder, struct decoded *d)
{
	int status = decode_events(decoder, 0);
	struct pt_insn insn;
	uint64_t at = 0;

	for (;;) {
		status = decode_events(decoder, status);
		if (status < 0)
			break;
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (status < 0)
			break;
		d->instructions++;
		d->inside += insn.ip >= decode_from && insn.ip <= decode_to;
		if (decode_visit)
			decode_visit(insn.ip);
		d->branches += insn.iclass != ptic_other;
		d->calls += insn.iclass == ptic_call;
		d->returns += insn.iclass == ptic_return;
	}
	if (status == -pte_eos)
		return;
	if (!d->errors++) {
		pt_insn_get_offset(decoder, &at);
		snprintf(d->error, sizeof(d->error), "%s at %#lx, after %lu instructions",
			 pt_errstr(pt_errcode(status)), at, d->instructions);
	}
}

/* What the decoder has to know of the clocks */
static void decode_clocks(struct pt_config *config, uint64_t bits)
{
	struct raw_cpuid ratio = raw_cpuid(0x15);

	config->mtc_freq = bits >> 14 & 15;
	config->nom_freq = 10; /* of the emulated CPU, and of a bus of 100 MHz */
	config->cpuid_0x15_eax = ratio.eax;
	config->cpuid_0x15_ebx = ratio.ebx;
}

struct decoded trace_decode_of(const uint8_t *from, size_t size, uint64_t bits)
{
	struct pt_image *image = decode_image ? : pt_image_alloc(NULL);
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	struct decoded d = { 0 };
	int status;

	pt_config_init(&config);
	config.begin = (uint8_t *)from;
	config.end = (uint8_t *)from + size;
	decode_clocks(&config, bits);
	if (decode_filtered || decode_stops) {
		/* What is traced, or where it stops */
		config.addr_filter.config.ctl.addr0_cfg = decode_stops ? 2 : 1;
		config.addr_filter.addr0_a = decode_from;
		config.addr_filter.addr0_b = decode_to;
	}
	if (!decode_image)
		add_program(image, TRACED);
	decoder = pt_insn_alloc_decoder(&config);
	cr_assert_not_null(decoder);
	pt_insn_set_image(decoder, image);
	for (;;) {
		status = pt_insn_sync_forward(decoder);
		if (status < 0)
			break;
		decode_events(decoder, status);
		decode_piece(decoder, &d);
	}
	cr_assert_eq(status, -pte_eos, "%s", pt_errstr(pt_errcode(status)));
	pt_insn_free_decoder(decoder);
	if (!decode_image)
		pt_image_free(image);
	return d;
}

struct decoded trace_decode(const uint8_t *from, size_t size)
{
	return trace_decode_of(from, size, 0);
}

struct decoded trace_decode_wrapped(const uint8_t *first, size_t n,
				    const uint8_t *second, size_t m)
{
	uint8_t *all = malloc(n + m);
	struct decoded d;

	memcpy(all, first, n);
	memcpy(all + n, second, m);
	d = trace_decode(all, n + m);
	free(all);
	return d;
}
