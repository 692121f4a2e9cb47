// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placement of events on counters: a maximum matching, built up by one augmenting
 * path for each event that has no counter yet. The path is searched breadth
 * first, so it moves as few placed events as possible. Pure logic: compiles in
 * user space too.
 */
#include "pmu/assign.h"

#define NOBODY	(-1)

struct matching {
	const u64 *allowed;
	s8 *index;			/* event -> counter */
	s8 holder[HWPMU_MAX_COUNTERS];	/* counter -> event */
};

/* Give counter @c to event @e, whose old one goes along the path, to the root. */
static void shift_path(struct matching *m, const s8 *reached_by, int c)
{
	while (c != NOBODY) {
		int e = reached_by[c];
		int old = m->index[e];

		m->index[e] = c;
		m->holder[c] = e;
		c = old;
	}
}

static bool augment(struct matching *m, unsigned int root)
{
	s8 reached_by[HWPMU_MAX_COUNTERS];	/* counter -> event on the path */
	s8 queue[HWPMU_MAX_COUNTERS];
	unsigned int head = 0, tail = 0;
	u64 seen = 0;

	queue[tail++] = root;
	while (head < tail) {
		int e = queue[head++];
		u64 next = m->allowed[e] & ~seen;

		for (; next; next &= next - 1) {
			int c = __ffs64(next);

			seen |= BIT_ULL(c);
			reached_by[c] = e;
			if (m->holder[c] == NOBODY) {
				shift_path(m, reached_by, c);
				return true;
			}
			queue[tail++] = m->holder[c];
		}
	}
	return false;
}

bool hwpmu_assign(const u64 *allowed, unsigned int n, s8 *index)
{
	struct matching m = { .allowed = allowed, .index = index };
	unsigned int e;

	memset(m.holder, NOBODY, sizeof(m.holder));
	for (e = 0; e < n; e++) {
		int c = index[e];

		if (c >= 0 && (allowed[e] & BIT_ULL(c)) &&
		    m.holder[c] == NOBODY)
			m.holder[c] = e;
		else
			index[e] = NOBODY;
	}
	for (e = 0; e < n; e++)
		if (index[e] == NOBODY && !augment(&m, e))
			return false;
	return true;
}
