/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <asm/cpufeature.h> with names of newer kernels, of bits of CPUID leaf 7, EDX, all of which
 * older kernels keep as well. May go with 5.10.
 */
#ifndef PMUCTL_SHADOW_ASM_CPUFEATURE_H
#define PMUCTL_SHADOW_ASM_CPUFEATURE_H

#include_next <asm/cpufeature.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_X86_FEATURE_RTM_ALWAYS_ABORT
#define X86_FEATURE_RTM_ALWAYS_ABORT	(18 * 32 + 11)
#endif

#ifndef COMPAT_HAS_X86_FEATURE_HYBRID_CPU
#define X86_FEATURE_HYBRID_CPU		(18 * 32 + 15)
#endif

#endif /* PMUCTL_SHADOW_ASM_CPUFEATURE_H */
