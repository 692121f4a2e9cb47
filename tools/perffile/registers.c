// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of samples, by the names that perf gives them: their numbers are those of the
 * kernel's <asm/perf_regs.h>, and so the bits of attr.sample_regs_user and sample_regs_intr.
 */
#include <asm/perf_regs.h>
#include <strings.h>

#include "perffile.h"

static const char *const names[PERFFILE_REGS_MAX] = {
	[PERF_REG_X86_AX] = "AX", [PERF_REG_X86_BX] = "BX",
	[PERF_REG_X86_CX] = "CX", [PERF_REG_X86_DX] = "DX",
	[PERF_REG_X86_SI] = "SI", [PERF_REG_X86_DI] = "DI",
	[PERF_REG_X86_BP] = "BP", [PERF_REG_X86_SP] = "SP",
	[PERF_REG_X86_IP] = "IP", [PERF_REG_X86_FLAGS] = "FLAGS",
	[PERF_REG_X86_CS] = "CS", [PERF_REG_X86_SS] = "SS",
	[PERF_REG_X86_DS] = "DS", [PERF_REG_X86_ES] = "ES",
	[PERF_REG_X86_FS] = "FS", [PERF_REG_X86_GS] = "GS",
	[PERF_REG_X86_R8] = "R8", [PERF_REG_X86_R9] = "R9",
	[PERF_REG_X86_R10] = "R10", [PERF_REG_X86_R11] = "R11",
	[PERF_REG_X86_R12] = "R12", [PERF_REG_X86_R13] = "R13",
	[PERF_REG_X86_R14] = "R14", [PERF_REG_X86_R15] = "R15",
};

/**
 * perffile_register_name() - what a register is called
 * @number: its bit.
 *
 * Return: its name, "unknown" of those that no processor has here.
 */
const char *perffile_register_name(unsigned int number)
{
	return number < PERFFILE_REGS_MAX && names[number] ? names[number] : "unknown";
}

/**
 * perffile_register_find() - which register is called that?
 * @name: in large or small letters.
 * @length: of it.
 *
 * Return: its bit, or -1.
 */
int perffile_register_find(const char *name, size_t length)
{
	for (int i = 0; i < PERFFILE_REGS_MAX; i++)
		if (names[i] && !strncasecmp(names[i], name, length) && !names[i][length])
			return i;
	return -1;
}
