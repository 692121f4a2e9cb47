// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whether there is a Branch Trace Store to be used, and checking of attr.config for it. Pure
 * logic: compiles in user space too.
 */
#include "pmu/bts_config.h"

const char *bts_caps_decode(const struct bts_cpuid *id)
{
	if (!id->ds || !id->dtes64)
		return PMUCTL_NO_BTS_ABSENT;
	if (!id->ds_cpl)
		return PMUCTL_NO_BTS_LEVELS;
	if (id->unavailable)
		return PMUCTL_NO_BTS_OFF;
	if (id->isolated)
		return PMUCTL_NO_BTS_ISOLATED;
	return NULL;
}

int bts_config_encode(const struct perf_event_attr *attr, u64 *ctl,
		      struct pmuctl_explanation *why)
{
	if (attr->config)
		return pmuctl_refuse(why, BTS_CONFIG, "attr.config", attr->config);
	*ctl = BTS_CTL_TRACE | BTS_CTL_STORE;
	if (attr->exclude_kernel)
		*ctl |= BTS_CTL_NOT_OS;
	if (attr->exclude_user)
		*ctl |= BTS_CTL_NOT_USER;
	return 0;
}
