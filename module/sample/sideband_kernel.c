// SPDX-License-Identifier: GPL-2.0-only
/*
 * Side-band records of the kernel's own code: what comes and goes at which address (KSYMBOL),
 * programs of BPF (BPF_EVENT), and what is changed in place (TEXT_POKE). Told are, as with all
 * side-band, the events of the task that does it and those of the CPU on which it does.
 *
 * There are no tracepoints of that, so there are probes on the functions that tell the kernel's
 * own events. These are called with mutexes held that are about the kernel's text, at times
 * from a softirq.
 */
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/kallsyms.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "core/event.h"
#include "sample/output.h"
#include "sample/sideband.h"
#include "sample/sideband_put.h"

/* ---- Symbols ---- */

struct ksymbol_side {
	struct side_record side;
	u64 address;
	u32 length;
	u16 type, flags;
	const char *name;
};

static void put_ksymbol(struct pmuctl_event *event, const struct side_record *side)
{
	const struct ksymbol_side *t = container_of(side, struct ksymbol_side, side);
	struct {
		struct perf_event_header header;
		u64 address;
		u32 length;
		u16 type, flags;
	} record = {
		.header.type = PERF_RECORD_KSYMBOL,
		.address = t->address,
		.length = t->length,
		.type = t->type,
		.flags = t->flags,
	};

	pmuctl_side_put_named(event, side, &record.header, sizeof(record), t->name,
			      strnlen(t->name, KSYM_NAME_LEN - 1));
}

static void emit_ksymbol(u16 type, u64 address, u32 length, bool gone, const char *name)
{
	struct ksymbol_side t = {
		.side = { PMUCTL_SIDE_KSYMBOL, current, put_ksymbol },
		.address = address,
		.length = length,
		.type = type,
		.flags = gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0,
		.name = name,
	};

	pmuctl_side_emit(current, &t.side);
}

static int ksymbol_probe(struct kprobe *probe, struct pt_regs *regs)
{
	u16 type = regs_get_kernel_argument(regs, 0);
	const char *name = (void *)regs_get_kernel_argument(regs, 4);

	/* Of BPF's programs this is called only if an event of perf asks: see below. */
	if (type != PERF_RECORD_KSYMBOL_TYPE_BPF || !str_has_prefix(name, "bpf_prog_"))
		emit_ksymbol(type, regs_get_kernel_argument(regs, 1),
			     regs_get_kernel_argument(regs, 2),
			     (u8)regs_get_kernel_argument(regs, 3), name);
	return 0;
}

struct side_probe pmuctl_ksymbols =
	SIDE_PROBE("kernel symbols", "perf_event_ksymbol", ksymbol_probe, "attr.ksymbol");

/* ---- BPF programs ---- */

struct bpf_side {
	struct side_record side;
	const struct bpf_prog *prog;
	u16 type, flags;
};

static void put_bpf(struct pmuctl_event *event, const struct side_record *side)
{
	const struct bpf_side *t = container_of(side, struct bpf_side, side);
	struct {
		struct perf_event_header header;
		u16 type, flags;
		u32 id;
		u8 tag[BPF_TAG_SIZE];
	} record = {
		.header.type = PERF_RECORD_BPF_EVENT,
		.type = t->type,
		.flags = t->flags,
		.id = t->prog->aux->id,
	};

	memcpy(record.tag, t->prog->tag, sizeof(record.tag));
	pmuctl_record_put(event, &record.header, sizeof(record), side->whose);
}

/*
 * The program itself is the first of its functions, if it has more. Older kernels tell its length
 * as that function only.
 */
static void emit_functions(const struct bpf_prog *prog, bool gone)
{
	const unsigned int count = prog->aux->func_cnt;
	const struct bpf_prog *function;
	unsigned int i;

	for (i = 0; i < max(count, 1u); i++) {
		function = i || (count && !prog->jited_len) ? prog->aux->func[i] : prog;
		emit_ksymbol(PERF_RECORD_KSYMBOL_TYPE_BPF, (unsigned long)function->bpf_func,
			     function->jited_len, gone, function->aux->ksym.name);
	}
}

static int bpf_probe(struct kprobe *probe, struct pt_regs *regs)
{
	struct bpf_side t = {
		.side = { PMUCTL_SIDE_BPF, current, put_bpf },
		.prog = (void *)regs_get_kernel_argument(regs, 0),
		.type = regs_get_kernel_argument(regs, 1),
		.flags = regs_get_kernel_argument(regs, 2),
	};

	if (t.type != PERF_BPF_EVENT_PROG_LOAD && t.type != PERF_BPF_EVENT_PROG_UNLOAD)
		return 0;
	if (pmuctl_side_is_wanted(PMUCTL_SIDE_KSYMBOL))
		emit_functions(t.prog, t.type == PERF_BPF_EVENT_PROG_UNLOAD);
	if (pmuctl_side_is_wanted(PMUCTL_SIDE_BPF))
		pmuctl_side_emit(current, &t.side);
	return 0;
}

struct side_probe pmuctl_bpf_programs =
	SIDE_PROBE("BPF programs", "perf_event_bpf_event", bpf_probe, "attr.bpf_event");

/* ---- Changes of the text ---- */

struct text_poke_side {
	struct side_record side;
	u64 address;
	const void *old, *new;
	struct {
		u16 old, new;
	} length;
};

static void put_text_poke(struct pmuctl_event *event, const struct side_record *side)
{
	const struct text_poke_side *t = container_of(side, struct text_poke_side, side);
	static const char zeros[8];
	const u32 length = sizeof(t->length) + t->length.old + t->length.new;
	struct {
		struct perf_event_header header;
		u64 address;
	} record = {
		.header.type = PERF_RECORD_TEXT_POKE,
		.header.misc = PERF_RECORD_MISC_KERNEL,
		.address = t->address,
	};
	struct pmuctl_record rec;

	if (!pmuctl_record_begin(&rec, event, &record.header, sizeof(record), ALIGN(length, 8)))
		return;
	pmuctl_record_write(&rec, &t->length, sizeof(t->length));
	pmuctl_record_write(&rec, t->old, t->length.old);
	pmuctl_record_write(&rec, t->new, t->length.new);
	pmuctl_record_write(&rec, zeros, ALIGN(length, 8) - length);
	pmuctl_record_end(&rec, event, side->whose);
}

static int text_poke_probe(struct kprobe *probe, struct pt_regs *regs)
{
	const unsigned long old = regs_get_kernel_argument(regs, 2);
	const unsigned long new = regs_get_kernel_argument(regs, 4);
	struct text_poke_side t = {
		.side = { PMUCTL_SIDE_TEXT_POKE, current, put_text_poke },
		.address = regs_get_kernel_argument(regs, 0),
		.old = (void *)regs_get_kernel_argument(regs, 1),
		.new = (void *)regs_get_kernel_argument(regs, 3),
		.length = { old, new },
	};

	/* Nothing that is changed at once is longer, and no record could be. */
	if (old <= PAGE_SIZE && new <= PAGE_SIZE)
		pmuctl_side_emit(current, &t.side);
	return 0;
}

struct side_probe pmuctl_text_pokes =
	SIDE_PROBE("text pokes", "perf_event_text_poke", text_poke_probe, "attr.text_poke");
