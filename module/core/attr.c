// SPDX-License-Identifier: GPL-2.0-only
/*
 * Validation of struct perf_event_attr: reserved and unknown bits first, then features that this
 * module lacks, with the errno of kernels that do not know them, for which programs have
 * something to fall back on; then contradictions. Each
 * feature is one line of a table here; when the module learns it, the line goes.
 *
 * Pure logic: compiles in user space too. Source of the fields' meaning:
 * perf_event_open(2) and <linux/perf_event.h>.
 */
#include "core/attr.h"
#include "explain/explain.h"

/* Bits 0 (disabled) to 37 (sigtrap) of that word are defined. */
#define ATTR_FLAGS_KNOWN	GENMASK_ULL(37, 0)
/* Bytes at fixed places, whatever the age of the kernel's header (VER6 on) */
#define ATTR_RESERVED_2_OFFSET	110	/* u16 after sample_max_stack */
#define AUX_ACTIONS \
	(PMUCTL_AUX_START_PAUSED | PMUCTL_AUX_PAUSE | PMUCTL_AUX_RESUME)
#define ATTR_SIG_DATA_OFFSET	120	/* VER7 */
#define ATTR_CONFIG3_OFFSET	128	/* VER8 */

/* A record's size has 16 bits, and there is more than the stack in it. */
#define STACK_USER_MAX		65528

/* Up to PERF_FORMAT_LOST and PERF_SAMPLE_WEIGHT_STRUCT, whatever else the kernel's header has */
#define READ_FORMAT_KNOWN	GENMASK_ULL(4, 0)
#define SAMPLE_TYPE_KNOWN	GENMASK_ULL(24, 0)

static u64 attr_u64_at(const union pmuctl_attr *a, unsigned int offset)
{
	u64 value;

	memcpy(&value, a->bytes + offset, sizeof(value));
	return value;
}

static u32 attr_u32_at(const union pmuctl_attr *a, unsigned int offset)
{
	u32 value;

	memcpy(&value, a->bytes + offset, sizeof(value));
	return value;
}

static u16 attr_u16_at(const union pmuctl_attr *a, unsigned int offset)
{
	u16 value;

	memcpy(&value, a->bytes + offset, sizeof(value));
	return value;
}

static int check_reserved(const union pmuctl_attr *a,
			  struct pmuctl_explanation *why)
{
	u64 flags = pmuctl_attr_flags(&a->attr);
	u64 bits;

	if (flags & ~ATTR_FLAGS_KNOWN)
		return pmuctl_refuse(why, ATTR_BITS_UNKNOWN, "attr.flags", flags,
				     ATTR_FLAGS_KNOWN);
	bits = attr_u16_at(a, ATTR_RESERVED_2_OFFSET);
	if (bits)
		return pmuctl_refuse(why, RESERVED_SET, "attr.__reserved_2",
				     bits);
	bits = attr_u32_at(a, PMUCTL_ATTR_AUX_ACTION);
	if (bits & ~AUX_ACTIONS)
		return pmuctl_refuse(why, RESERVED_SET, "attr.__reserved_3",
				     bits & ~AUX_ACTIONS);
	if (a->attr.read_format & ~READ_FORMAT_KNOWN)
		return pmuctl_refuse(why, ATTR_BITS_UNKNOWN, "attr.read_format",
				     a->attr.read_format, READ_FORMAT_KNOWN);
	if (a->attr.sample_type & ~SAMPLE_TYPE_KNOWN)
		return pmuctl_refuse(why, ATTR_BITS_UNKNOWN, "attr.sample_type",
				     a->attr.sample_type, SAMPLE_TYPE_KNOWN);
	return 0;
}

/* Features of the flags word that this module lacks, by bit number */
static const struct {
	u8 bit;
	const char *field;
} unsupported_flags[] = {
	{ 31, "attr.aux_output" },
	{ 37, "attr.sigtrap" },
};

/* All of them: every known flag but disabled, inherit, pinned, exclusive, exclude_user,
 * _kernel, _hv, _idle, mmap, comm, freq, inherit_stat, enable_on_exec, task, watermark,
 * mmap_data, sample_id_all, exclude_host, exclude_guest, exclude_callchain_kernel and _user,
 * mmap2, comm_exec, use_clockid, context_switch, write_backward, namespaces, ksymbol,
 * bpf_event, cgroup, text_poke, build_id, inherit_thread, remove_on_exec, and precise_ip,
 * which has a sentence of its own.
 */
#define SUPPORTED_FLAGS \
	(GENMASK_ULL(14, 0) | GENMASK_ULL(30, 17) | GENMASK_ULL(36, 32))
#define UNSUPPORTED_FLAGS \
	(ATTR_FLAGS_KNOWN & ~SUPPORTED_FLAGS & ~GENMASK_ULL(16, 15))

static int check_unsupported_flags(const union pmuctl_attr *a,
				   struct pmuctl_explanation *why)
{
	u64 flags = pmuctl_attr_flags(&a->attr);
	unsigned int i;

	if (!(flags & UNSUPPORTED_FLAGS))
		return 0;
	for (i = 0; i < ARRAY_SIZE(unsupported_flags); i++)
		if (flags & BIT_ULL(unsupported_flags[i].bit))
			return pmuctl_refuse(why, ATTR_UNSUPPORTED,
					     unsupported_flags[i].field,
					     unsupported_flags[i].field);
	return 0;
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
		pmuctl_attr_is_raw(attr);
}

/* That of hardware events is for a register of the PMU, and pmu/ deals with it. */
static u64 config1_of_others(const struct perf_event_attr *attr)
{
	return is_hardware(attr) ? 0 : attr->config1;
}

static noinline int name_unsupported_field(const union pmuctl_attr *a,
					   struct pmuctl_explanation *why)
{
	const struct perf_event_attr *attr = &a->attr;
	const struct {
		const char *field;
		u64 value;
	} unsupported[] = {
		{ "attr.bp_type", attr->bp_type },
		{ "attr.config1", config1_of_others(attr) },
		{ "attr.config2", attr->config2 },
		{ "attr.aux_sample_size", attr->aux_sample_size },
		{ "attr.sig_data", attr_u64_at(a, ATTR_SIG_DATA_OFFSET) },
		{ "attr.config3", attr_u64_at(a, ATTR_CONFIG3_OFFSET) },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unsupported); i++)
		if (unsupported[i].value)
			return pmuctl_refuse(why, ATTR_UNSUPPORTED,
					     unsupported[i].field,
					     unsupported[i].field);
	return 0;
}

static int check_unsupported_fields(const union pmuctl_attr *a,
				    struct pmuctl_explanation *why)
{
	const struct perf_event_attr *attr = &a->attr;

	if (attr->bp_type | config1_of_others(attr) | attr->config2 | attr->aux_watermark |
	    attr->aux_sample_size | attr_u64_at(a, ATTR_SIG_DATA_OFFSET) |
	    attr_u64_at(a, ATTR_CONFIG3_OFFSET))
		return name_unsupported_field(a, why);
	return 0;
}

static int check_type(const struct perf_event_attr *attr,
		      struct pmuctl_explanation *why)
{
	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
	case PMUCTL_TYPE_CPU_CORE:
	case PMUCTL_TYPE_CPU_ATOM:
	case PERF_TYPE_SOFTWARE:
	case PERF_TYPE_TRACEPOINT:
		return 0;
	case PERF_TYPE_BREAKPOINT:
		return pmuctl_refuse(why, TYPE_UNSUPPORTED, "attr.type",
				     attr->type, "breakpoint");
	default:
		if (attr->type >= PMUCTL_TYPE_DRIVERS)
			return 0; /* which there are, this file does not know */
		return pmuctl_refuse(why, TYPE_UNKNOWN, "attr.type", attr->type);
	}
}

/* Of events that trace only, and what these cannot have */
static int check_aux(const union pmuctl_attr *a, struct pmuctl_explanation *why)
{
	const struct perf_event_attr *attr = &a->attr;
	bool traces = attr->type >= PMUCTL_TYPE_DRIVERS;
	u32 action = attr_u32_at(a, PMUCTL_ATTR_AUX_ACTION);

	if (attr->aux_watermark && !traces)
		return pmuctl_refuse(why, AUX_ONLY, "attr.aux_watermark",
				     "attr.aux_watermark");
	if (action & PMUCTL_AUX_PAUSE && action & PMUCTL_AUX_RESUME)
		return pmuctl_refuse(why, AUX_BOTH, "attr.aux_resume");
	if (action & PMUCTL_AUX_START_PAUSED && !traces)
		return pmuctl_refuse(why, AUX_ONLY, "attr.aux_start_paused",
				     "attr.aux_start_paused");
	if (action & (PMUCTL_AUX_PAUSE | PMUCTL_AUX_RESUME) && traces)
		return pmuctl_refuse(why, AUX_ITSELF, action & PMUCTL_AUX_PAUSE ?
				     "attr.aux_pause" : "attr.aux_resume");
	return 0;
}

/* ---- Sampling ---- */

/* Fields of samples that this module cannot tell */
static const struct {
	u64 bit;
	const char *name;
} unsupported_samples[] = {
	{ PERF_SAMPLE_WEIGHT, "PERF_SAMPLE_WEIGHT" },
	{ PERF_SAMPLE_DATA_SRC, "PERF_SAMPLE_DATA_SRC" },
	{ PERF_SAMPLE_TRANSACTION, "PERF_SAMPLE_TRANSACTION" },
	{ PERF_SAMPLE_PHYS_ADDR, "PERF_SAMPLE_PHYS_ADDR" },
	{ PERF_SAMPLE_AUX, "PERF_SAMPLE_AUX" },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, "PERF_SAMPLE_DATA_PAGE_SIZE" },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, "PERF_SAMPLE_CODE_PAGE_SIZE" },
	{ PERF_SAMPLE_WEIGHT_STRUCT, "PERF_SAMPLE_WEIGHT_STRUCT" },
};

static int check_clock(const struct perf_event_attr *attr,
		       struct pmuctl_explanation *why)
{
	if (!attr->use_clockid) {
		if (attr->clockid)
			return pmuctl_refuse(why, CLOCK_UNUSED, "attr.clockid",
					     attr->clockid);
		return 0;
	}
	switch (attr->clockid) {
	case CLOCK_REALTIME:
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_BOOTTIME:
	case CLOCK_TAI:
		return 0;
	default:
		return pmuctl_refuse(why, CLOCK, "attr.clockid", attr->clockid);
	}
}

static int check_regs(u64 mask, const char *field,
		      struct pmuctl_explanation *why)
{
	if (!mask || (mask & ~PMUCTL_REGS_SUPPORTED))
		return pmuctl_refuse(why, REGS, field, mask,
				     PMUCTL_REGS_SUPPORTED);
	return 0;
}

/* perf's tools set it only beside the field of the sample; there it is ignored without. */
static int check_branches(const struct perf_event_attr *attr, struct pmuctl_explanation *why)
{
	const u64 branches = attr->branch_sample_type;

	if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK)) {
		if (branches)
			return pmuctl_refuse(why, BRANCH_UNUSED, "attr.branch_sample_type",
					     branches);
		return 0;
	}
	if (branches & ~PMUCTL_BRANCHES_KNOWN)
		return pmuctl_refuse(why, ATTR_BITS_UNKNOWN, "attr.branch_sample_type",
				     branches, PMUCTL_BRANCHES_KNOWN);
	if (!(branches & ~(u64)PERF_SAMPLE_BRANCH_PLM_ALL))
		return pmuctl_refuse(why, BRANCH_NO_KIND, "attr.branch_sample_type",
				     branches);
	return 0;
}

/* What the fields of a sample need */
static int check_sample_type(const struct perf_event_attr *attr,
			     struct pmuctl_explanation *why)
{
	const u64 type = attr->sample_type;
	unsigned int i;
	int err = 0;

	if (!type)
		return 0;
	for (i = 0; i < ARRAY_SIZE(unsupported_samples); i++)
		if (type & unsupported_samples[i].bit)
			return pmuctl_refuse(why, SAMPLE_UNSUPPORTED,
					     "attr.sample_type",
					     unsupported_samples[i].name);
	if (type & PERF_SAMPLE_REGS_USER)
		err = check_regs(attr->sample_regs_user,
				 "attr.sample_regs_user", why);
	if (!err && (type & PERF_SAMPLE_REGS_INTR))
		err = check_regs(attr->sample_regs_intr,
				 "attr.sample_regs_intr", why);
	if (!err && (type & PERF_SAMPLE_STACK_USER) &&
	    (attr->sample_stack_user % 8 || attr->sample_stack_user > STACK_USER_MAX))
		err = pmuctl_refuse(why, STACK_USER, "attr.sample_stack_user",
				    attr->sample_stack_user);
	return err;
}

static int check_sampling(const struct perf_event_attr *attr,
			  struct pmuctl_explanation *why)
{
	int err;

	if (!attr->freq && attr->sample_period >> 63)
		return pmuctl_refuse(why, PERIOD_RANGE, "attr.sample_period",
				     attr->sample_period);
	if ((attr->sample_type & PERF_SAMPLE_CALLCHAIN) &&
	    attr->sample_max_stack > PMUCTL_STACK_MAX)
		return pmuctl_refuse(why, STACK_DEPTH, "attr.sample_max_stack",
				     (unsigned int)attr->sample_max_stack,
				     PMUCTL_STACK_MAX);
	err = check_sample_type(attr, why);
	if (!err)
		err = check_branches(attr, why);
	return err ? err : check_clock(attr, why);
}

int pmuctl_attr_check(const union pmuctl_attr *a, struct pmuctl_explanation *why)
{
	const struct perf_event_attr *attr = &a->attr;
	u64 flags = pmuctl_attr_flags(&a->attr);
	int err;

	err = check_reserved(a, why);
	if (err)
		return err;
	err = check_type(attr, why);
	if (err)
		return err;
	err = check_unsupported_flags(a, why);
	if (err)
		return err;
	err = check_unsupported_fields(a, why);
	if (err)
		return err;
	err = check_aux(a, why);
	if (err)
		return err;
	err = check_sampling(attr, why);
	if (err)
		return err;
	if ((flags & PMUCTL_ATTR_INHERIT_THREAD) && !attr->inherit)
		return pmuctl_refuse(why, INHERIT_THREAD, "attr.inherit_thread");
	if (attr->enable_on_exec && (flags & PMUCTL_ATTR_REMOVE_ON_EXEC))
		return pmuctl_refuse(why, EXEC_BOTH, "attr.remove_on_exec");
	/* Software events tell where they are. perf asks the PMU, when all else is right. */
	if (attr->precise_ip && is_hardware(attr))
		return pmuctl_refuse(why, PRECISE, "attr.precise_ip",
				     (unsigned int)attr->precise_ip);
	return 0;
}
