// SPDX-License-Identifier: GPL-2.0-only
/*
 * What "perf record" has and "pmuctl record" has not.
 */
#include "options.h"
#include "record.h"

#define PRECISE "samples have no weights and physical addresses, which are of precise events (:p)"
#define BPF "programs in BPF are perf's"
#define WRITING "the rings are read by one thread, which writes what is in them as it is"

const struct other_option record_others[] = {
	{ 'n', "no-samples", "'pmuctl stat' counts without samples" },
	{ 'W', "weight", PRECISE }, { 0, "phys-data", PRECISE },
	{ 0, "transaction", PRECISE }, { 0, "data-page-size", PRECISE }, { 0, "code-page-size", PRECISE },
	{ 'r', "realtime", "chrt(1) starts it with a priority" },
	{ 0, "affinity", "taskset(1) chooses its CPUs" },
	{ 0, "aio", WRITING }, { 0, "threads", WRITING }, { 0, "no-buffering", WRITING }, { 0, "mmap-flush", WRITING },
	{ 0, "num-thread-synthesize", "one thread reads /proc" },
	{ 0, "proc-map-timeout", "all of /proc is read, however long that takes" },
	{ 0, "synth", "all that is there is described" },
	{ 0, "aux-sample", "-S keeps the newest of a trace, until SIGUSR2" },
	{ 0, "buildid-mmap", "build ids are recorded anyway, -B leaves them out" },
	{ 0, "clang-opt", BPF }, { 0, "clang-path", BPF }, { 0, "off-cpu", BPF },
	{ 0, "debuginfod", "'pmuctl report --debuginfod' asks servers" },
	{ 0, "group", "braces around events are a group: -e '{cycles,instructions}'" },
	{ 0, "running-time", "'pmuctl stat' tells how long events were counted" },
	{ 0, "switch-output-event", "--switch-output is by size, time or signal" },
	{ 0, "vmlinux", "'pmuctl report -k' reads it" },
	{ 0 },
};
