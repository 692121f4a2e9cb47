// SPDX-License-Identifier: GPL-2.0-only
/* sources: module/pmu/assign.c */
/*
 * Placement against brute force: over all small cases, and over many random larger
 * ones, hwpmu_assign() finds a placement exactly when one exists, the placement is
 * valid, and events that can stay where they are stay there.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "pmu/assign.h"

/* Try everything: is there a placement of event @e and those after it? */
static bool exists(const u64 *allowed, unsigned int n, unsigned int e, u64 used)
{
	u64 left;

	if (e == n)
		return true;
	for (left = allowed[e] & ~used; left; left &= left - 1)
		if (exists(allowed, n, e + 1, used | (left & -left)))
			return true;
	return false;
}

static void assert_valid(const u64 *allowed, unsigned int n, const s8 *index)
{
	u64 used = 0;
	unsigned int e;

	for (e = 0; e < n; e++) {
		cr_assert(index[e] >= 0 && index[e] < HWPMU_MAX_COUNTERS);
		cr_assert(allowed[e] & BIT_ULL(index[e]),
			  "event %u is on counter %d, which it cannot use", e,
			  index[e]);
		cr_assert(!(used & BIT_ULL(index[e])),
			  "two events are on counter %d", index[e]);
		used |= BIT_ULL(index[e]);
	}
}

static void check(const u64 *allowed, unsigned int n, s8 *index)
{
	bool placed = hwpmu_assign(allowed, n, index);

	cr_assert_eq(placed, exists(allowed, n, 0, 0),
		     "n %u, allowed[0] %llx: placed %d", n, allowed[0], placed);
	if (placed)
		assert_valid(allowed, n, index);
}

/* All sets of up to 4 events on 4 counters: 15^4 cases, from every kind of wish */
Test(assign, agrees_with_brute_force_on_all_small_cases)
{
	u64 allowed[4];
	s8 index[4];
	unsigned int n, code, wish, e, rest, total;

	for (n = 1; n <= 4; n++) {
		for (total = 1, e = 0; e < n; e++)
			total *= 16;
		for (code = 0; code < total; code++) {
			for (rest = code, e = 0; e < n; e++, rest /= 16)
				allowed[e] = rest % 16;
			for (wish = 0; wish < 3; wish++) {
				for (e = 0; e < n; e++)
					index[e] = wish == 0 ? -1 :
						   wish == 1 ? 0 : (int)e;
				check(allowed, n, index);
			}
		}
	}
}

Test(assign, agrees_with_brute_force_on_random_cases)
{
	u64 allowed[9];
	s8 index[9];
	unsigned int round, n, e;

	srand(1);
	for (round = 0; round < 200000; round++) {
		n = 1 + rand() % 9;
		for (e = 0; e < n; e++) {
			/* Seldom many counters, so that about half do not fit. */
			allowed[e] = rand() & rand() & 0xf;
			if (rand() % 3 == 0)
				allowed[e] |= BIT_ULL(32 + rand() % 4);
			if (rand() % 7 == 0)
				allowed[e] |= BIT_ULL(63);
			index[e] = rand() % 2 ? -1 : rand() % 64;
		}
		check(allowed, n, index);
	}
}

Test(assign, keeps_what_is_placed)
{
	const u64 allowed[] = { 0xf, 0xf, 0xf, 0xf };
	s8 index[] = { 3, 1, -1, -1 };

	cr_assert(hwpmu_assign(allowed, 4, index));
	cr_assert_eq(index[0], 3);
	cr_assert_eq(index[1], 1);
}

Test(assign, moves_what_must_move)
{
	/* The first sits on the only counter of the second. */
	const u64 allowed[] = { 0x3, 0x1 };
	s8 index[] = { 0, -1 };

	cr_assert(hwpmu_assign(allowed, 2, index));
	cr_assert_eq(index[0], 1);
	cr_assert_eq(index[1], 0);
}

Test(assign, moves_along_the_longest_path)
{
	/* Event e can use counters e and e + 1; the last comes for counter 0 alone. */
	u64 allowed[HWPMU_MAX_COUNTERS];
	s8 index[HWPMU_MAX_COUNTERS];
	int e, last = HWPMU_MAX_COUNTERS - 1;

	for (e = 0; e < last; e++) {
		allowed[e] = BIT_ULL(e) | BIT_ULL(e + 1);
		index[e] = e;
	}
	allowed[last] = 1;
	index[last] = -1;
	cr_assert(hwpmu_assign(allowed, HWPMU_MAX_COUNTERS, index));
	assert_valid(allowed, HWPMU_MAX_COUNTERS, index);
	cr_assert_eq(index[last], 0);
	cr_assert_eq(index[0], 1);
}

Test(assign, refuses_one_too_many)
{
	u64 allowed[HWPMU_MAX_COUNTERS];
	s8 index[HWPMU_MAX_COUNTERS];
	unsigned int e;

	for (e = 0; e < 8; e++) {
		allowed[e] = 0x700000000 | (e < 4 ? 0xf : 0);
		index[e] = -1;
	}
	cr_assert(hwpmu_assign(allowed, 7, index));
	cr_assert_not(hwpmu_assign(allowed, 8, index));
}

Test(assign, places_nothing_at_once)
{
	cr_assert(hwpmu_assign(NULL, 0, NULL));
}
