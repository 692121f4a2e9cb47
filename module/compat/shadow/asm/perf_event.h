/* SPDX-License-Identifier: GPL-2.0-only */
/* <asm/perf_event.h>, which has what it needs in it since 6.1 only. May go with 5.10. */
#ifndef PMUCTL_SHADOW_ASM_PERF_EVENT_H
#define PMUCTL_SHADOW_ASM_PERF_EVENT_H

#include <asm/ptrace.h>

struct perf_event;

#include_next <asm/perf_event.h>

#endif /* PMUCTL_SHADOW_ASM_PERF_EVENT_H */
