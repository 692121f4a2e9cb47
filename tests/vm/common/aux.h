/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of AUX area tracing: a program that is traced, its two buffers, and the
 * records that tell of the trace.
 */
#ifndef VM_AUX_H
#define VM_AUX_H

#include "refusal.h"

#include <sched.h>

#define TRACE_PAGE	4096UL
#define TRACED		"/pmuctl/tests/prog/traced"
#define RING_PAGES	8

/* Of the ring beside a trace */
extern size_t trace_ring_pages;

/* attr.type of driver number @index, whose name is @name; fails if this CPU has none. */
uint32_t trace_type_of(uint32_t index, const char *name);

uint32_t trace_type(void);

/* A trace of user mode, that begins at the next exec */
union raw_attr trace_attr(void);

union raw_attr trace_with_action(union raw_attr a, uint32_t action);
struct pmuctl_aux_status trace_status(int fd);

/* A trace, mapped */
struct trace {
	int fd;
	struct perf_event_mmap_page *page;
	const uint8_t *aux;
	size_t size;
	size_t gap;		/* at the end of the buffer this many bytes may be left out */
	uint64_t at;		/* of the ring, up to which it has been looked at */
	/* what the records said */
	unsigned int starts, records, truncated, overwritten, switches, foreign;
	uint32_t pid, tid;
	uint64_t bytes, end;
	uint32_t watched;	/* a process; with sample_id_all */
	uint64_t watched_bytes;	/* that were traced of it, in */
	unsigned int watched_records;
};

int trace_try_map(struct trace *t, size_t pages, int prot);
void trace_open(struct trace *t, union raw_attr *attr, pid_t pid, int cpu,
		size_t pages, int prot);
void trace_close(struct trace *t);

/* Is it refused here to filter by file? That is so where no probe can tell of mappings, on Linux
 * 5.10, and then the refusal is looked at.
 */
bool trace_files_refused(void);

/* Is it a process of whose code the test knows nothing? Switches to such are counted. */
extern bool (*trace_is_foreign)(pid_t pid);

/* Look at the records that have come. */
void trace_records(struct trace *t);

/* ---- The program ---- */

/* A child that waits to be told, and then becomes the program. */
struct traced {
	pid_t pid;
	int go;
};

struct traced traced_start(const char *const *arguments);
void traced_go(struct traced *t);
void traced_wait(struct traced *t);
void trace_pin(pid_t pid, int cpu);

/* Count what a program executes in user space from its exec on. */
int trace_count(pid_t pid, uint64_t config);

#endif /* VM_AUX_H */
