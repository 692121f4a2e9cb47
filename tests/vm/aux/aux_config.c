// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * What can be asked of Processor Trace by attr.config: each kind of packet is there if it was
 * asked for, and not else, and the trace decodes to what was executed all the same. For
 * --cpu intel-pt.
 */
#include "aux_decode.h"

TestSuite(aux_config, .timeout = 300);

#define PLAIN		0x2401ULL	/* pt, tsc, branch */
#define CYC		(1ULL << 1)
#define MTC		(1ULL << 9)
#define NORETCOMP	(1ULL << 11)
#define MTC_PERIOD(n)	((uint64_t)(n) << 14)
#define CYC_THRESH(n)	((uint64_t)(n) << 19)
#define PSB_PERIOD(n)	((uint64_t)(n) << 24)

struct packets {
	unsigned int tip, psb, cbr, tsc, tma, mtc, cyc;
	size_t size;
};

static void count_packet(struct packets *n, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tip: n->tip++; break;
	case ppt_psb: n->psb++; break;
	case ppt_cbr: n->cbr++; break;
	case ppt_tsc: n->tsc++; break;
	case ppt_tma: n->tma++; break;
	case ppt_mtc: n->mtc++; break;
	case ppt_cyc: n->cyc++; break;
	default: break;
	}
}

static struct packets count_packets(const uint8_t *from, size_t size)
{
	struct packets n = { .size = size };
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;
	int status;

	pt_config_init(&config);
	config.begin = (uint8_t *)from;
	config.end = (uint8_t *)from + size;
	decoder = pt_pkt_alloc_decoder(&config);
	cr_assert_not_null(decoder);
	cr_assert_eq(pt_pkt_sync_forward(decoder), 0);
	while ((status = pt_pkt_next(decoder, &packet, sizeof(packet))) > 0)
		count_packet(&n, &packet);
	cr_assert_eq(status, -pte_eos, "%s", pt_errstr(pt_errcode(status)));
	pt_pkt_free_decoder(decoder);
	return n;
}

/* Trace the program, decode it to what was counted, and tell what the trace consists of. */
static struct packets run_long(uint64_t config, const char *const *arguments)
{
	union raw_attr attr = trace_attr(), instructions = raw_instructions();
	struct traced child = traced_start(arguments);
	struct packets n;
	struct decoded d;
	struct trace t;
	int count;

	attr.attr.config = config;
	trace_open(&t, &attr, child.pid, -1, 1024, PROT_READ | PROT_WRITE);
	instructions.attr.enable_on_exec = 1;
	count = event_open(instructions, child.pid);
	traced_go(&child);
	traced_wait(&child);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	d = trace_decode_of(t.aux, t.bytes, config);
	cr_assert_eq(d.errors, 0, "config %#lx: %s", config, d.error);
	cr_assert_eq(d.instructions, raw_read(count), "config %#lx: %lu instructions", config,
		     d.instructions);
	n = count_packets(t.aux, t.bytes);
	trace_close(&t);
	close(count);
	return n;
}

static struct packets run(uint64_t config)
{
	static const char *const arguments[] = { TRACED, "1", "2", "3", "4", NULL };

	return run_long(config, arguments);
}

Test(aux_config, returns_are_compressed_unless_not_wanted)
{
	struct packets with = run(PLAIN), without = run(PLAIN | NORETCOMP);

	/* Most calls of the program return to where they came from. */
	cr_assert_lt(with.tip, without.tip / 2, "%u and %u TIP packets", with.tip, without.tip);
	cr_assert_gt(with.cbr, 0);
	cr_assert_gt(with.tsc, 0);
	cr_assert_eq(with.mtc + with.tma + with.cyc, 0);
}

Test(aux_config, packets_of_clocks)
{
	struct packets n = run(PLAIN | MTC | CYC);

	cr_assert_gt(n.mtc, 0);
	cr_assert_eq(n.tma, n.tsc, "%u TMA, %u TSC packets", n.tma, n.tsc);
	cr_assert_gt(n.cyc, n.tip);
	n = run(PLAIN | MTC);
	cr_assert_gt(n.mtc, 0);
	cr_assert_eq(n.cyc, 0);
	n = run(PLAIN | CYC);
	cr_assert_eq(n.mtc + n.tma, 0);
	cr_assert_gt(n.cyc, 0);
	n = run(0x2001 | CYC | MTC); /* no TSC */
	cr_assert_eq(n.tsc + n.tma, 0);
	cr_assert_gt(n.mtc, 0);
}

Test(aux_config, periods)
{
	/* So long that what switches of the task bring in addition is little */
	static const char *const arguments[] = { TRACED, "1", "2", "3", "4", "5", "6", "7", "8",
		"9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21",
		"22", "23", "24", "25", "26", "27", "28", "29", "30", NULL };
	const uint64_t plain = PLAIN | NORETCOMP | CYC;
	struct packets often = run_long(plain | PSB_PERIOD(0), arguments);
	struct packets seldom = run_long(plain | CYC_THRESH(13) | PSB_PERIOD(5), arguments);

	cr_assert_geq(often.psb, often.size / 8192, "%u PSB packets in %zu bytes", often.psb,
		      often.size);
	cr_assert_gt(often.psb, 10, "%u PSB packets", often.psb);
	cr_assert_lt(seldom.psb, often.psb);
	cr_assert_lt(seldom.cyc, often.cyc, "%u and %u CYC packets", seldom.cyc, often.cyc);
	for (unsigned int period = 0; period < 16; period += 3)
		if (0x249 >> period & 1)
			run(PLAIN | MTC | MTC_PERIOD(period));
}
