// SPDX-License-Identifier: GPL-2.0-only
/*
 * What comes of mapping the buffer of a Branch Trace Store when one allocation after the other
 * fails: ENOMEM, and the same call works afterwards. Needs a kernel with fault injection (the
 * laboratory's debug kernel). For --cpu intel-bts.
 */
#include "aux_faults.h"
#include "bts.h"

TestSuite(debug_bts, .init = faults_set_up);

/* Its pages, the list of them, and where they are mapped for the CPU to write */
Test(debug_bts, of_mapping_the_buffer)
{
	aux_fail_uses(bts_attr(), aux_call_map, 0, 5);
}
