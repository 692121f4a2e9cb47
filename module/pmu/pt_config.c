// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding of CPUID leaf 0x14, SDM Vol. 2A, "CPUID - CPU Identification", and checking of
 * attr.config for Processor Trace. Pure logic: compiles in user space too.
 */
#include "pmu/pt_config.h"

/* CPUID.14H.0:EBX and ECX, "Detection of Intel Processor Trace and Capability Enumeration" */
#define EBX_PSB_CYC	BIT_ULL(1)
#define EBX_MTC		BIT_ULL(3)
#define EBX_PTWRITE	BIT_ULL(4)
#define EBX_POWER	BIT_ULL(5)
#define ECX_TOPA	BIT_ULL(0)
#define ECX_TOPA_MANY	BIT_ULL(1)
#define ECX_LIP		BIT_ULL(31)

/* Broadwells: setting TraceEn with BranchEn clear is a #GP, erratum BDM106. */
static bool has_only_branches(const struct pt_cpuid *id)
{
	return id->family == 6 && (id->model == 0x3d || id->model == 0x47 ||
				   id->model == 0x4f || id->model == 0x56);
}

const char *pt_caps_decode(const struct pt_cpuid *id, struct pt_caps *caps)
{
	memset(caps, 0, sizeof(*caps));
	if (!id->pt || id->max_leaf < 0x14)
		return PMUCTL_NO_PT_ABSENT;
	if (!(id->ecx & ECX_TOPA) || !(id->ecx & ECX_TOPA_MANY))
		return PMUCTL_NO_PT_TOPA;

	caps->allowed = PT_CONFIG_PT | PT_CTL_TSC | PT_CTL_NO_RETC | PT_CTL_BRANCH;
	if (id->ebx & EBX_PSB_CYC) {
		caps->allowed |= PT_CTL_CYC | PT_CTL_CYC_THRESH | PT_CTL_PSB_PERIOD;
		caps->cyc_threshs = id->ebx1 & 0xffff;
		caps->psb_periods = id->ebx1 >> 16;
	}
	if (id->ebx & EBX_MTC) {
		caps->allowed |= PT_CTL_MTC | PT_CTL_MTC_PERIOD;
		caps->mtc_periods = id->eax1 >> 16;
	}
	if (id->ebx & EBX_PTWRITE)
		caps->allowed |= PT_CTL_PTW | PT_CTL_FUP_ON_PTW;
	if (id->ebx & EBX_POWER)
		caps->allowed |= PT_CTL_POWER;
	caps->nr_ranges = id->eax1 & 7;
	caps->only_branches = has_only_branches(id);
	return NULL;
}

static int check_choice(u64 config, u64 field, unsigned int choices, const char *name,
			struct pmuctl_explanation *why)
{
	unsigned int value = (config & field) >> __ffs64(field);

	if (value && !(choices >> value & 1))
		return pmuctl_refuse(why, PT_CHOICE, "attr.config", name, value, choices);
	return 0;
}

int pt_config_encode(const struct pt_caps *caps, const struct perf_event_attr *attr,
		     u64 *ctl, struct pmuctl_explanation *why)
{
	u64 config = attr->config;
	int err;

	if (config & ~caps->allowed)
		return pmuctl_refuse(why, PT_BITS, "attr.config", config, caps->allowed,
				     config & ~caps->allowed);
	if (caps->only_branches && (config & PT_CONFIG_PT) && !(config & PT_CTL_BRANCH))
		return pmuctl_refuse(why, PT_BRANCHES, "attr.config", config);
	err = check_choice(config, PT_CTL_MTC_PERIOD, caps->mtc_periods, "mtc_period", why);
	if (!err)
		err = check_choice(config, PT_CTL_CYC_THRESH, caps->cyc_threshs,
				   "cyc_thresh", why);
	if (!err)
		err = check_choice(config, PT_CTL_PSB_PERIOD, caps->psb_periods,
				   "psb_period", why);
	if (err)
		return err;

	*ctl = (config & ~PT_CONFIG_PT) | PT_CTL_TOPA;
	if (!(config & PT_CONFIG_PT))
		*ctl |= PT_CTL_BRANCH;
	if (!attr->exclude_kernel)
		*ctl |= PT_CTL_OS;
	if (!attr->exclude_user)
		*ctl |= PT_CTL_USER;
	return 0;
}
