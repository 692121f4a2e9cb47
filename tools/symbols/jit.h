/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names for code that a process has generated itself: jit.c, from the files that it wrote.
 */
#ifndef PMUCTL_TOOL_JIT_H
#define PMUCTL_TOOL_JIT_H

#include "symbols.h"

/**
 * struct jit_files - files that tell of the generated code of a process
 * @map: its perf-PID.map; NULL if nobody has asked for it.
 * @dump: its jit-PID.dump, or NULL.
 */
struct jit_files {
	struct binary *map;
	struct binary *dump;
};

void jit_mapped(struct symbols *symbols, struct jit_files *files, int32_t pid,
		const char *path);
bool jit_place(struct symbols *symbols, struct jit_files *files, int32_t pid, uint64_t time,
	       uint64_t address, struct place *place);
void jit_load_map(struct symbols *symbols, struct binary *binary);
void jit_free(struct jit *jit);

#endif /* PMUCTL_TOOL_JIT_H */
