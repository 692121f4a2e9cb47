/* SPDX-License-Identifier: GPL-2.0-only */
/* <asm/cpuid/api.h>, which was part of another header before 6.16. May go with 6.12. */
#ifndef PMUCTL_SHADOW_ASM_CPUID_API_H
#define PMUCTL_SHADOW_ASM_CPUID_API_H

#include "compat/probed.h"

#ifdef COMPAT_HAS_ASM_CPUID_API
#include_next <asm/cpuid/api.h>
#else
#include <asm/processor.h>
#endif

#endif /* PMUCTL_SHADOW_ASM_CPUID_API_H */
