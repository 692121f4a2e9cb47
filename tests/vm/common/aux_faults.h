/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Uses of an event that traces of which one allocation, or one copy, fails: for tests in a
 * kernel with fault injection (the laboratory's debug kernel).
 */
#ifndef TESTS_VM_AUX_FAULTS_H
#define TESTS_VM_AUX_FAULTS_H

#include "aux.h"
#include "faults.h"

#define NO_MEMORY	"the kernel has no memory left for the event: close other events or free memory"
#define RING_SIZE	((1 + RING_PAGES) * TRACE_PAGE)
#define AUX_SIZE	(16 * TRACE_PAGE)

/* What came of a call that failed: ENOMEM or EFAULT, and of what is ours why */
void aux_check_refusal(int ret, enum fault fault, unsigned int nth,
		       const struct pmuctl_explanation *why);

/* Map the AUX buffer of a descriptor at a place, or NULL, and unmap it. */
int aux_map_at(int fd, void *place);

int aux_call_map(void *fd);

/*
 * Fail all in turn of a call on an event's descriptor that has its ring; it works in the end.
 * At least @least were refused for memory, with an explanation. Between any two it waits.
 */
void aux_fail_uses(union raw_attr attr, int (*call)(void *fd), useconds_t pause_us,
		   unsigned int least);

#endif /* TESTS_VM_AUX_FAULTS_H */
