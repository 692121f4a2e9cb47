/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Page faults among the calls of "pmuctl trace".
 */
#ifndef PMUCTL_TOOL_SYSCALLS_FAULTS_H
#define PMUCTL_TOOL_SYSCALLS_FAULTS_H

#include "symbols/samples.h"
#include "syscalls.h"

void fault_describe(struct samples *samples, const struct perffile_record *record,
		    const struct thread *thread, struct call_fault *fault);

#endif /* PMUCTL_TOOL_SYSCALLS_FAULTS_H */
