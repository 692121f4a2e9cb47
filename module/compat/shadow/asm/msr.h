/* SPDX-License-Identifier: GPL-2.0-only */
/* <asm/msr.h> with names that newer kernels have in it. */
#ifndef PMUCTL_SHADOW_ASM_MSR_H
#define PMUCTL_SHADOW_ASM_MSR_H

#include_next <asm/msr.h>

#include "compat/probed.h"

#ifndef COMPAT_HAS_RDMSRQ
/* The names since 6.16. May go with 6.12. */
#define rdmsrq		rdmsrl
#define rdmsrq_safe	rdmsrl_safe
#define wrmsrq		wrmsrl
#define wrmsrq_safe	wrmsrl_safe
#endif

#endif /* PMUCTL_SHADOW_ASM_MSR_H */
