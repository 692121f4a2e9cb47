/* SPDX-License-Identifier: GPL-2.0-only */
/* <trace/events/exceptions.h>, which was one of x86 before 6.16. May go with 6.12. */
#ifndef PMUCTL_SHADOW_TRACE_EVENTS_EXCEPTIONS_H
#define PMUCTL_SHADOW_TRACE_EVENTS_EXCEPTIONS_H

#include "compat/probed.h"

#ifdef COMPAT_HAS_TRACE_EVENTS_EXCEPTIONS
#include_next <trace/events/exceptions.h>
#else
#include <asm/trace/exceptions.h>
#endif

#endif /* PMUCTL_SHADOW_TRACE_EVENTS_EXCEPTIONS_H */
