// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fuzzing the placement of events on counters (libFuzzer): whatever events come, with
 * whatever wishes, the placement must be valid, and there must be one exactly if Hall's
 * theorem says so: every set of events must have as many counters as it has members.
 * "make fuzz" builds and runs it.
 */
#include <stdlib.h>

#include "pmu/assign.h"

#define EVENTS_MAX	14	/* 2^14 sets are looked at */

static bool hall(const u64 *allowed, unsigned int n)
{
	unsigned int set, e;
	u64 counters;

	for (set = 1; set < 1u << n; set++) {
		counters = 0;
		for (e = 0; e < n; e++)
			if (set & 1u << e)
				counters |= allowed[e];
		if (hweight64(counters) < hweight64(set))
			return false;
	}
	return true;
}

static bool is_valid(const u64 *allowed, unsigned int n, const s8 *index)
{
	u64 used = 0;
	unsigned int e;

	for (e = 0; e < n; e++) {
		if (index[e] < 0 || index[e] >= HWPMU_MAX_COUNTERS ||
		    !(allowed[e] & ~used & BIT_ULL(index[e])))
			return false;
		used |= BIT_ULL(index[e]);
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Three bytes an event: general counters, fixed counters, the wish */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	u64 allowed[EVENTS_MAX];
	s8 index[EVENTS_MAX];
	unsigned int n = size / 3, e;

	if (n > EVENTS_MAX)
		n = EVENTS_MAX;
	for (e = 0; e < n; e++, data += 3) {
		allowed[e] = data[0] | (u64)data[1] << HWPMU_FIXED_BASE;
		index[e] = (s8)(data[2] % 66) - 1;
		if (index[e] >= HWPMU_MAX_COUNTERS)
			index[e] = -1;
	}
	if (hwpmu_assign(allowed, n, index)) {
		if (!is_valid(allowed, n, index))
			abort();
	} else if (hall(allowed, n)) {
		abort();
	}
	return 0;
}
