// SPDX-License-Identifier: GPL-2.0-only
#include "branches.h"

extern const char branch_first[], branch_over[], branch_jump[], branch_next[], branch_call[],
	branch_called[], branch_ret[], branch_back[], branch_indirect[], branch_target[],
	branch_call_to[], branch_called_to[], branch_ret_to[], branch_back_to[], branch_again[],
	branch_called_again[], branch_back_again[], branch_loop[], branch_end[];

/* Every branch of it is taken once in a round; a conditional one is not taken. */
asm(".pushsection .text\n"
    ".globl branch_block\n"
    "branch_called:		test	%esp, %esp\n"
    "			jz	branch_called\n"
    "branch_ret:		ret\n"
    "branch_called_to:	nop\n"
    "branch_ret_to:		ret\n"
    "branch_block:		mov	%rsi, %r8\n"
    "			mov	$16, %eax\n"		/* ioctl */
    "			mov	$0x2400, %esi\n"	/* PERF_EVENT_IOC_ENABLE */
    "			xor	%edx, %edx\n"
    "			syscall\n"
    "branch_loop_begin:	xor	%eax, %eax\n"
    "branch_first:		jz	branch_over\n"
    "			ud2\n"
    "branch_over:		nop\n"
    "branch_jump:		jmp	branch_next\n"
    "			ud2\n"
    "branch_next:		nop; nop\n"
    "branch_call:		call	branch_called\n"
    "branch_back:		lea	branch_target(%rip), %rax\n"
    "branch_indirect:	jmp	*%rax\n"
    "			ud2\n"
    "branch_target:		lea	branch_called_to(%rip), %rax\n"
    "branch_call_to:	call	*%rax\n"
    "branch_back_to:	nop; nop; nop\n"
    "branch_again:		call	branch_called_again\n"
    "branch_back_again:	dec	%r8\n"
    "branch_loop:		jnz	branch_loop_begin\n"
    "			mov	$0x2401, %esi\n"	/* PERF_EVENT_IOC_DISABLE */
    "			mov	$16, %eax\n"
    "			syscall\n"
    "branch_end:		ret\n"
    "branch_called_again:	ret\n"
    ".popsection");

extern const char branch_loop_begin[];

#define CALLS	(PERF_SAMPLE_BRANCH_CALL | PERF_SAMPLE_BRANCH_ANY_CALL)

const struct known_branch known_branches[KNOWN_BRANCHES] = {
	{ branch_first, branch_over, PERF_SAMPLE_BRANCH_COND, 1 },
	{ branch_jump, branch_next, 0, 2 },
	{ branch_call, branch_called, CALLS, 4 },
	{ branch_ret, branch_back, PERF_SAMPLE_BRANCH_ANY_RETURN, 6 },
	{ branch_indirect, branch_target, PERF_SAMPLE_BRANCH_IND_JUMP, 3 },
	{ branch_call_to, branch_called_to,
	  PERF_SAMPLE_BRANCH_IND_CALL | PERF_SAMPLE_BRANCH_ANY_CALL, 5 },
	{ branch_ret_to, branch_back_to, PERF_SAMPLE_BRANCH_ANY_RETURN, 6 },
	{ branch_again, branch_called_again, CALLS, 4 },
	{ branch_called_again, branch_back_again, PERF_SAMPLE_BRANCH_ANY_RETURN, 6 },
	{ branch_loop, branch_loop_begin, PERF_SAMPLE_BRANCH_COND, 1 },
};

/* ---- Elsewhere ---- */

static uint64_t moved;

branch_block_func branches_move(void)
{
	uintptr_t page = (uintptr_t)branch_called & ~(PAGE - 1);
	void *copy = mmap((void *)BRANCHES_COPY, BRANCHES_COPY_LENGTH,
			  PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	cr_assert_eq(copy, (void *)BRANCHES_COPY, "%m");
	memcpy(copy, (const void *)page, BRANCHES_COPY_LENGTH);
	moved = BRANCHES_COPY - page;
	return (branch_block_func)((uintptr_t)branch_block + moved);
}

/* ---- Calls in calls ---- */

extern const char branch_nest_call[], branch_nest_1[], branch_nest_call_2[], branch_nest_2[],
	branch_nest_call_3[], branch_nest_3[], branch_nest_loop[], branch_nest_end[];

asm(".pushsection .text\n"
    ".globl branch_nest\n"
    "branch_nest_leaf:	ret\n"
    "branch_nest:		mov	%rsi, %r8\n"
    "			mov	$16, %eax\n"
    "			mov	$0x2400, %esi\n"
    "			xor	%edx, %edx\n"
    "			syscall\n"
    "branch_nest_call:	call	branch_nest_1\n"
    "			mov	$0x2401, %esi\n"
    "			mov	$16, %eax\n"
    "			syscall\n"
    "			ret\n"
    "branch_nest_1:		call	branch_nest_leaf\n"
    "branch_nest_call_2:	call	branch_nest_2\n"
    "			ret\n"
    "branch_nest_2:		call	branch_nest_leaf\n"
    "			lea	branch_nest_3(%rip), %rax\n"
    "branch_nest_call_3:	call	*%rax\n"
    "			ret\n"
    "branch_nest_3:		nop\n"
    "branch_nest_loop:	nop; nop; nop; nop; nop; nop\n"
    "			dec	%r8\n"
    "			jnz	branch_nest_loop\n"
    "branch_nest_end:	ret\n"
    ".popsection");

const struct known_branch nested_calls[NESTED_CALLS] = {
	{ branch_nest_call_3, branch_nest_3, 0, 5 },
	{ branch_nest_call_2, branch_nest_2, 0, 4 },
	{ branch_nest_call, branch_nest_1, 0, 4 },
};

bool is_nested(uint64_t ip)
{
	return ip >= (uintptr_t)branch_nest_3 && ip <= (uintptr_t)branch_nest_end;
}

/* ---- What an event tells of the block ---- */

struct perf_event_attr branches_attr(uint64_t period, uint64_t branches)
{
	struct perf_event_attr attr = sampling_attr(period);

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = branches;
	return attr;
}

static bool is_asked(size_t i, uint64_t branches)
{
	return branches & (known_branches[i].kinds | PERF_SAMPLE_BRANCH_ANY);
}

/* The one before, or behind, that is asked for */
static size_t before(size_t i, uint64_t branches)
{
	do {
		i = (i + KNOWN_BRANCHES - 1) % KNOWN_BRANCHES;
	} while (!is_asked(i, branches));
	return i;
}

static size_t find(uint64_t from)
{
	size_t i = 0;

	while (i < KNOWN_BRANCHES && (uintptr_t)known_branches[i].from != from)
		i++;
	cr_assert_lt(i, (size_t)KNOWN_BRANCHES, "an unknown branch at %#lx", from);
	return i;
}

/* Is @ip on the way from where branch @i went to, before the next one that is asked for is taken? */
static bool is_behind(uint64_t ip, size_t i, uint64_t branches)
{
	do {
		const char *to = known_branches[i].to, *end;

		i = (i + 1) % KNOWN_BRANCHES;
		/* The last round goes on to the end. */
		end = known_branches[i].from == branch_loop ? branch_end : known_branches[i].from;
		if (ip >= (uintptr_t)to && ip <= (uintptr_t)end)
			return true;
	} while (!is_asked(i, branches));
	return false;
}

/* Bytes of code from the branch before, as far as the processor counts these for cycles */
static uint64_t bytes_before(size_t i)
{
	return known_branches[i].from - known_branches[(i + KNOWN_BRANCHES - 1) % KNOWN_BRANCHES].to;
}

/* Only a jump forward that depends on something is predicted wrong. */
static void check_flags(size_t i, uint64_t branches, uint64_t flags)
{
	const uint64_t none = PERF_SAMPLE_BRANCH_NO_FLAGS | PERF_SAMPLE_BRANCH_NO_CYCLES;
	uint64_t predicted = known_branches[i].from == branch_first ? BRANCH_MISPRED :
								      BRANCH_PREDICTED;

	if ((branches & none) == none)
		predicted = 0;
	cr_assert_eq(flags & 0xf, predicted, "branch %zu: flags %#lx", i, flags);
	cr_assert_eq(BRANCH_TYPE(flags), branches & PERF_SAMPLE_BRANCH_TYPE_SAVE ?
					 known_branches[i].type : 0);
	if (!predicted)
		cr_assert_eq(BRANCH_CYCLES(flags), 0);
	cr_assert_eq(flags >> 24, 0, "flags %#lx", flags);
}

uint64_t check_known(const struct perf_event_attr *attr, const struct sample *s)
{
	const uint64_t branches = attr->branch_sample_type;
	uint64_t told = 0, early = 0;
	size_t expected = 0;

	for (uint64_t n = 0; n < s->nr_branches; n++) {
		const struct perf_branch_entry *b = &s->branches[n];
		size_t i;

		/* perf tells where an interrupt came back from */
		if (is_witness() && KERNEL(b->from))
			continue;
		i = find(b->from - moved);
		cr_assert_eq(b->to - moved, (uintptr_t)known_branches[i].to, "branch %zu to %#llx", i, b->to);
		cr_assert(is_asked(i, branches), "branch %zu", i);
		if (told)
			cr_assert_eq(i, expected, "at %#lx: branch %zu follows %zu", s->ip, i,
				     expected);
		else
			cr_assert(is_behind(s->ip - moved, i, branches), "%#lx after branch %zu", s->ip, i);
		check_flags(i, branches, s->flags[3 * n]);
		/* Where an interrupt came, its return has a record, and the cycles up to there. */
		early += BRANCH_CYCLES(s->flags[3 * n]) != bytes_before(i);
		expected = before(i, branches);
		told++;
	}
	if (branches & PERF_SAMPLE_BRANCH_ANY && !(branches & PERF_SAMPLE_BRANCH_NO_CYCLES))
		cr_assert_leq(early, BRANCHES_MAX - told + 1);
	return told;
}
