// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoding of Branch Trace Store: there is a record for each branch, interrupt and exception,
 * and which of these it is, the code at its place tells. SDM Vol. 2, "Opcode Map".
 */
#include <string.h>

#include "trace.h"

/* The longest instruction */
#define CODE_MAX 15

static bool is_prefix(uint8_t byte)
{
	switch (byte) {
	case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
	case 0x66: case 0x67: case 0xf0: case 0xf2: case 0xf3:
		return true;
	default:
		return (byte & 0xf0) == 0x40; /* REX */
	}
}

static enum trace_step_kind kind_of_two_bytes(uint8_t byte)
{
	switch (byte) {
	case 0x05: /* SYSCALL */
	case 0x34: /* SYSENTER */
		return TRACE_SYSTEM_CALL;
	case 0x07: /* SYSRET */
	case 0x35: /* SYSEXIT */
		return TRACE_SYSTEM_RETURN;
	default:
		return (byte & 0xf0) == 0x80 ? TRACE_JUMP : TRACE_INTERRUPT; /* Jcc */
	}
}

/* CALL and JMP by a register or memory: the middle of the byte behind the opcode */
static enum trace_step_kind kind_of_group5(uint8_t modrm)
{
	switch (modrm >> 3 & 7) {
	case 2:
	case 3:
		return TRACE_CALL;
	case 4:
	case 5:
		return TRACE_JUMP;
	default:
		return TRACE_INTERRUPT;
	}
}

/* The code is what follows, 0 behind its end. What is no branch was interrupted. */
static enum trace_step_kind kind_of(const uint8_t code[CODE_MAX + 2])
{
	size_t at = 0;

	while (at < CODE_MAX && is_prefix(code[at]))
		at++;
	switch (code[at]) {
	case 0x0f:
		return kind_of_two_bytes(code[at + 1]);
	case 0xff:
		return kind_of_group5(code[at + 1]);
	case 0xe8: case 0x9a:
		return TRACE_CALL;
	case 0xc2: case 0xc3: case 0xca: case 0xcb:
		return TRACE_RETURN;
	case 0xcf:
		return TRACE_SYSTEM_RETURN;
	case 0xcc: case 0xcd: case 0xf1:
		return TRACE_SYSTEM_CALL;
	case 0xe0: case 0xe1: case 0xe2: case 0xe3: case 0xe9: case 0xea: case 0xeb:
		return TRACE_JUMP;
	default:
		return (code[at] & 0xf0) == 0x70 ? TRACE_JUMP : TRACE_INTERRUPT;
	}
}

static bool is_kernel(uint64_t ip)
{
	return ip >> 63;
}

static enum trace_step_kind step_kind(const struct trace_piece *piece,
				      const struct perffile_branch *branch)
{
	uint8_t code[CODE_MAX + 2] = { 0 };
	enum trace_step_kind kind;

	if (!branch->from)
		return TRACE_BEGIN;
	if (!branch->to)
		return TRACE_END;
	if (piece->read(piece->arg, branch->from, code, CODE_MAX) <= 0)
		return is_kernel(branch->from) && !is_kernel(branch->to) ? TRACE_SYSTEM_RETURN :
		       is_kernel(branch->from) ? TRACE_JUMP : TRACE_INTERRUPT;
	kind = kind_of(code);
	/* A branch into the kernel is the fault of the branch, not itself. */
	if (is_kernel(branch->to) && !is_kernel(branch->from) && kind != TRACE_SYSTEM_CALL)
		return TRACE_INTERRUPT;
	return kind;
}

/**
 * trace_branches() - decode a piece of Branch Trace Store
 * @piece: it; whole records. Those that are zero mean nothing.
 */
void trace_branches(const struct trace_piece *piece)
{
	struct perffile_branch branch;

	for (size_t at = 0; at + sizeof(branch) <= piece->size; at += sizeof(branch)) {
		struct trace_step step = { 0 };

		memcpy(&branch, piece->bytes + at, sizeof(branch));
		if (!branch.from && !branch.to)
			continue;
		step.kind = step_kind(piece, &branch);
		step.position = at;
		step.from = branch.from;
		step.to = branch.to;
		piece->visit(piece->arg, &step);
	}
}
