/* SPDX-License-Identifier: GPL-2.0-only */
/* <asm/special_insns.h>, which had not what it needs in it. May go with 5.10. */
#ifndef PMUCTL_SHADOW_ASM_SPECIAL_INSNS_H
#define PMUCTL_SHADOW_ASM_SPECIAL_INSNS_H

#include <linux/errno.h>

#include_next <asm/special_insns.h>

#endif /* PMUCTL_SHADOW_ASM_SPECIAL_INSNS_H */
