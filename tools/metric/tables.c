// SPDX-License-Identifier: GPL-2.0-only
/*
 * The metrics there are. Those of every CPU have perf's own names. What a pipeline's slots
 * went to is Intel's top-down method: SDM Vol. 3B, "Top-down Microarchitecture Analysis", with
 * the events of the vendor's published tables; each formula uses events of ordinary counters
 * only. AMD's: Processor Programming Reference of family 19h model 11h, "Performance
 * Measurement", "Pipeline Utilization".
 */
#include "metric/metric.h"

/* ------------------------------------------------------------- every CPU */

static const struct metric_event generic_events[] = {
	{ "cycles", NULL },
	{ "instructions", NULL },
	{ "branches", NULL },
	{ "branch-misses", NULL },
	{ "cache-references", NULL },
	{ "cache-misses", NULL },
	{ "stalled-cycles-frontend", NULL },
	{ "stalled-cycles-backend", NULL },
	{ "L1-dcache-loads", NULL },
	{ "L1-dcache-load-misses", NULL },
	{ "LLC-loads", NULL },
	{ "LLC-load-misses", NULL },
	{ "dTLB-loads", NULL },
	{ "dTLB-load-misses", NULL },
	{ "iTLB-loads", NULL },
	{ "iTLB-load-misses", NULL },
	{ NULL, NULL },
};

static const struct metric generic_metrics[] = {
	{ "insn_per_cycle", "Summary", "insn per cycle", "instructions / cycles",
	  "instructions of each cycle" },
	{ "cycles_per_insn", "Summary", "cycles per insn", "cycles / instructions",
	  "cycles of each instruction" },
	{ "branch_miss_rate", "Branches", "%", "100 * branch-misses / branches",
	  "branches that were predicted wrongly" },
	{ "branch_misses_per_1000", "Branches", "per 1000 insn",
	  "1000 * branch-misses / instructions",
	  "wrongly predicted branches in 1,000 instructions" },
	{ "cache_miss_rate", "Caches", "%", "100 * cache-misses / cache-references",
	  "requests that the last cache did not have" },
	{ "cache_misses_per_1000", "Caches", "per 1000 insn",
	  "1000 * cache-misses / instructions",
	  "misses of the last cache in 1,000 instructions" },
	{ "l1d_miss_rate", "L1D", "%", "100 * L1-dcache-load-misses / L1-dcache-loads",
	  "loads that the first cache did not have" },
	{ "llc_miss_rate", "LLC", "%", "100 * LLC-load-misses / LLC-loads",
	  "loads that the last cache did not have" },
	{ "dtlb_miss_rate", "TLB", "%", "100 * dTLB-load-misses / dTLB-loads",
	  "loads whose address no TLB had" },
	{ "itlb_miss_rate", "TLB", "%", "100 * iTLB-load-misses / iTLB-loads",
	  "fetches whose address no TLB had" },
	{ "frontend_cycles_idle", "Stalls", "%", "100 * stalled-cycles-frontend / cycles",
	  "cycles in which the front end delivered nothing" },
	{ "backend_cycles_idle", "Stalls", "%", "100 * stalled-cycles-backend / cycles",
	  "cycles in which the back end took nothing" },
	{ NULL, NULL, NULL, NULL, NULL },
};

/* ------------------------------------------------- what the metrics tell */

#define TEXT_FRONTEND	"slots that the front end left empty"
#define TEXT_BAD	"slots wasted on what was not to be executed"
#define TEXT_RETIRING	"slots of operations that were completed"
#define TEXT_BACKEND	"slots that the back end could not take"

#define TOPDOWN(name, formula, text) { "tma_" name, "TopdownL1", "%", "100 * " formula, text }
#define END { NULL, NULL, NULL, NULL, NULL }

/* ---------------------------------------- Intel, Sandy Bridge to Skylake */

/*
 * Four slots a cycle; of a core that runs two threads, a thread's cycles are those that it had
 * alone, and half of those that it shared.
 */
#define SLOTS_OF_4 \
	"(4 * (cycles / 2 * (1 + CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE / CPU_CLK_UNHALTED.REF_XCLK)" \
	" if #SMT_on else cycles))"
#define RECOVERY \
	"4 * (INT_MISC.RECOVERY_CYCLES_ANY / 2 if #SMT_on else INT_MISC.RECOVERY_CYCLES)"

static const struct metric four_slots[] = {
	TOPDOWN("frontend_bound", "IDQ_UOPS_NOT_DELIVERED.CORE / " SLOTS_OF_4, TEXT_FRONTEND),
	TOPDOWN("bad_speculation",
		"(UOPS_ISSUED.ANY - UOPS_RETIRED.RETIRE_SLOTS + " RECOVERY ") / " SLOTS_OF_4,
		TEXT_BAD),
	TOPDOWN("retiring", "UOPS_RETIRED.RETIRE_SLOTS / " SLOTS_OF_4, TEXT_RETIRING),
	TOPDOWN("backend_bound",
		"(1 - (UOPS_ISSUED.ANY + IDQ_UOPS_NOT_DELIVERED.CORE + " RECOVERY ") / "
		SLOTS_OF_4 ")", TEXT_BACKEND),
	END,
};

static const struct metric_event sandybridge_events[] = {
	{ "cycles", NULL },
	{ "IDQ_UOPS_NOT_DELIVERED.CORE", "event=0x9c,umask=0x1" },
	{ "UOPS_ISSUED.ANY", "event=0xe,umask=0x1" },
	{ "UOPS_RETIRED.RETIRE_SLOTS", "event=0xc2,umask=0x2" },
	{ "CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE", "event=0x3c,umask=0x2" },
	{ "CPU_CLK_UNHALTED.REF_XCLK", "event=0x3c,umask=0x1" },
	{ "INT_MISC.RECOVERY_CYCLES", "event=0xd,umask=0x3,cmask=0x1" },
	{ "INT_MISC.RECOVERY_CYCLES_ANY", "event=0xd,umask=0x3,cmask=0x1,any=1" },
	{ NULL, NULL },
};

static const struct metric_event skylake_events[] = {
	{ "cycles", NULL },
	{ "IDQ_UOPS_NOT_DELIVERED.CORE", "event=0x9c,umask=0x1" },
	{ "UOPS_ISSUED.ANY", "event=0xe,umask=0x1" },
	{ "UOPS_RETIRED.RETIRE_SLOTS", "event=0xc2,umask=0x2" },
	{ "CPU_CLK_UNHALTED.ONE_THREAD_ACTIVE", "event=0x3c,umask=0x2" },
	{ "CPU_CLK_UNHALTED.REF_XCLK", "event=0x3c,umask=0x1" },
	{ "INT_MISC.RECOVERY_CYCLES", "event=0xd,umask=0x1" },
	{ "INT_MISC.RECOVERY_CYCLES_ANY", "event=0xd,umask=0x1,any=1" },
	{ NULL, NULL },
};

static const struct metric_model sandybridge_models[] = {
	{ 6, 0x2a, 0x2a }, { 6, 0x2d, 0x2d },			/* Sandy Bridge */
	{ 6, 0x3a, 0x3a }, { 6, 0x3e, 0x3e },			/* Ivy Bridge */
	{ 6, 0x3c, 0x3c }, { 6, 0x3f, 0x3f }, { 6, 0x45, 0x46 },	/* Haswell */
	{ 6, 0x3d, 0x3d }, { 6, 0x47, 0x47 }, { 6, 0x4f, 0x4f },
	{ 6, 0x56, 0x56 },						/* Broadwell */
	{ 0, 0, 0 },
};

static const struct metric_model skylake_models[] = {
	{ 6, 0x4e, 0x4e }, { 6, 0x5e, 0x5e }, { 6, 0x8e, 0x8e },
	{ 6, 0x9e, 0x9e }, { 6, 0xa5, 0xa6 }, { 6, 0x55, 0x55 },
	{ 0, 0, 0 },
};

/* ------------------------------------------------- Intel, from Ice Lake on */

#define IN_SLOTS(event) event " / TOPDOWN.SLOTS_P"
#define LEFT_OF_SLOTS \
	"max(0, 1 - (IDQ_UOPS_NOT_DELIVERED.CORE + UOPS_RETIRED.SLOTS +" \
	" TOPDOWN.BACKEND_BOUND_SLOTS) / TOPDOWN.SLOTS_P)"

static const struct metric_event icelake_events[] = {
	{ "TOPDOWN.SLOTS_P", "event=0xa4,umask=0x1" },
	{ "TOPDOWN.BACKEND_BOUND_SLOTS", "event=0xa4,umask=0x2" },
	{ "UOPS_RETIRED.SLOTS", "event=0xc2,umask=0x2" },
	{ "IDQ_UOPS_NOT_DELIVERED.CORE", "event=0x9c,umask=0x1" },
	{ NULL, NULL },
};

static const struct metric icelake_metrics[] = {
	TOPDOWN("frontend_bound", IN_SLOTS("IDQ_UOPS_NOT_DELIVERED.CORE"), TEXT_FRONTEND),
	TOPDOWN("bad_speculation", LEFT_OF_SLOTS, TEXT_BAD),
	TOPDOWN("retiring", IN_SLOTS("UOPS_RETIRED.SLOTS"), TEXT_RETIRING),
	TOPDOWN("backend_bound", IN_SLOTS("TOPDOWN.BACKEND_BOUND_SLOTS"), TEXT_BACKEND),
	END,
};

static const struct metric_model icelake_models[] = {
	{ 6, 0x6a, 0x6a }, { 6, 0x6c, 0x6c }, { 6, 0x7d, 0x7e },
	{ 6, 0x8c, 0x8d }, { 6, 0xa7, 0xa7 },
	{ 0, 0, 0 },
};

static const struct metric_event goldencove_events[] = {
	{ "TOPDOWN.SLOTS_P", "event=0xa4,umask=0x1" },
	{ "TOPDOWN.BACKEND_BOUND_SLOTS", "event=0xa4,umask=0x2" },
	{ "UOPS_RETIRED.SLOTS", "event=0xc2,umask=0x2" },
	{ "IDQ_UOPS_NOT_DELIVERED.CORE", "event=0x9c,umask=0x1" },
	{ "TOPDOWN.BR_MISPREDICT_SLOTS", "event=0xa4,umask=0x8" },
	{ "TOPDOWN.MEMORY_BOUND_SLOTS", "event=0xa4,umask=0x10" },
	{ NULL, NULL },
};

#define TOPDOWN2(name, formula, text) { "tma_" name, "TopdownL2", "%", "100 * " formula, text }

static const struct metric goldencove_metrics[] = {
	TOPDOWN("frontend_bound", IN_SLOTS("IDQ_UOPS_NOT_DELIVERED.CORE"), TEXT_FRONTEND),
	TOPDOWN("bad_speculation", LEFT_OF_SLOTS, TEXT_BAD),
	TOPDOWN("retiring", IN_SLOTS("UOPS_RETIRED.SLOTS"), TEXT_RETIRING),
	TOPDOWN("backend_bound", IN_SLOTS("TOPDOWN.BACKEND_BOUND_SLOTS"), TEXT_BACKEND),
	TOPDOWN2("branch_mispredicts", IN_SLOTS("TOPDOWN.BR_MISPREDICT_SLOTS"),
		 "slots wasted on branches that were predicted wrongly"),
	TOPDOWN2("memory_bound", IN_SLOTS("TOPDOWN.MEMORY_BOUND_SLOTS"),
		 "slots that waited for memory"),
	TOPDOWN2("core_bound",
		 "max(0, (TOPDOWN.BACKEND_BOUND_SLOTS - TOPDOWN.MEMORY_BOUND_SLOTS) /"
		 " TOPDOWN.SLOTS_P)", "slots that the execution units could not take"),
	END,
};

static const struct metric_model goldencove_models[] = {
	{ 6, 0x8f, 0x8f }, { 6, 0xcf, 0xcf },	/* Sapphire, Emerald Rapids */
	{ 6, 0xad, 0xae },				/* Granite Rapids */
	{ 0, 0, 0 },
};

/* ------------------------------------------------------------ Intel, Atoms */

#define ATOM(name, event, slots, text) TOPDOWN(name, event " / (" slots " * cycles)", text)

static const struct metric_event tremont_events[] = {
	{ "cycles", NULL },
	{ "TOPDOWN_FE_BOUND.ALL", "event=0x71,umask=0x0" },
	{ "TOPDOWN_BAD_SPECULATION.ALL", "event=0x73,umask=0x6" },
	{ "TOPDOWN_BE_BOUND.ALL", "event=0x74,umask=0x0" },
	{ "TOPDOWN_RETIRING.ALL", "event=0xc2,umask=0x0" },
	{ NULL, NULL },
};

static const struct metric tremont_metrics[] = {
	ATOM("frontend_bound", "TOPDOWN_FE_BOUND.ALL", "4", TEXT_FRONTEND),
	ATOM("bad_speculation", "TOPDOWN_BAD_SPECULATION.ALL", "4", TEXT_BAD),
	ATOM("retiring", "TOPDOWN_RETIRING.ALL", "4", TEXT_RETIRING),
	ATOM("backend_bound", "TOPDOWN_BE_BOUND.ALL", "4", TEXT_BACKEND),
	END,
};

static const struct metric_model tremont_models[] = {
	{ 6, 0x86, 0x86 }, { 6, 0x96, 0x96 }, { 6, 0x9c, 0x9c }, { 0, 0, 0 },
};

static const struct metric_event gracemont_events[] = {
	{ "cycles", NULL },
	{ "TOPDOWN_FE_BOUND.ALL", "event=0x71,umask=0x0" },
	{ "TOPDOWN_BAD_SPECULATION.ALL", "event=0x73,umask=0x0" },
	{ "TOPDOWN_BE_BOUND.ALL", "event=0x74,umask=0x0" },
	{ "TOPDOWN_RETIRING.ALL", "event=0xc2,umask=0x0" },
	{ NULL, NULL },
};

static const struct metric gracemont_metrics[] = {
	ATOM("frontend_bound", "TOPDOWN_FE_BOUND.ALL", "5", TEXT_FRONTEND),
	ATOM("bad_speculation", "TOPDOWN_BAD_SPECULATION.ALL", "5", TEXT_BAD),
	ATOM("retiring", "TOPDOWN_RETIRING.ALL", "5", TEXT_RETIRING),
	ATOM("backend_bound", "TOPDOWN_BE_BOUND.ALL", "5", TEXT_BACKEND),
	END,
};

static const struct metric_model gracemont_models[] = { { 6, 0xbe, 0xbe }, { 0, 0, 0 } };

static const struct metric_event crestmont_events[] = {
	{ "cycles", NULL },
	{ "TOPDOWN_FE_BOUND.ALL", "event=0x71,umask=0x0" },
	{ "TOPDOWN_BAD_SPECULATION.ALL", "event=0x73,umask=0x0" },
	{ "TOPDOWN_BE_BOUND.ALL", "event=0x74,umask=0x0" },
	{ "TOPDOWN_RETIRING.ALL", "event=0x72,umask=0x0" },
	{ NULL, NULL },
};

static const struct metric crestmont_metrics[] = {
	ATOM("frontend_bound", "TOPDOWN_FE_BOUND.ALL", "6", TEXT_FRONTEND),
	ATOM("bad_speculation", "TOPDOWN_BAD_SPECULATION.ALL", "6", TEXT_BAD),
	ATOM("retiring", "TOPDOWN_RETIRING.ALL", "6", TEXT_RETIRING),
	ATOM("backend_bound", "TOPDOWN_BE_BOUND.ALL", "6", TEXT_BACKEND),
	END,
};

static const struct metric_model crestmont_models[] = {
	{ 6, 0xaf, 0xaf }, { 6, 0xb6, 0xb6 }, { 0, 0, 0 },
};

/* -------------------------------------------------------- AMD, from Zen 4 on */

#define AMD(name, formula, slots, text) \
	{ name, "PipelineL1", "%", "100 * " formula " / (" slots " * ls_not_halted_cyc)", text }

static const struct metric_event zen4_events[] = {
	{ "ls_not_halted_cyc", "event=0x76,umask=0x0" },
	{ "de_no_dispatch_per_slot.no_ops_from_frontend", "event=0x1a0,umask=0x1" },
	{ "de_no_dispatch_per_slot.backend_stalls", "event=0x1a0,umask=0x1e" },
	{ "de_no_dispatch_per_slot.smt_contention", "event=0x1a0,umask=0x60" },
	{ "de_src_op_disp.all", "event=0xaa,umask=0x7" },
	{ "ex_ret_ops", "event=0xc1,umask=0x0" },
	{ NULL, NULL },
};

static const struct metric zen4_metrics[] = {
	AMD("frontend_bound", "de_no_dispatch_per_slot.no_ops_from_frontend", "6",
	    TEXT_FRONTEND),
	AMD("bad_speculation", "(de_src_op_disp.all - ex_ret_ops)", "6", TEXT_BAD),
	AMD("retiring", "ex_ret_ops", "6", TEXT_RETIRING),
	AMD("backend_bound", "de_no_dispatch_per_slot.backend_stalls", "6", TEXT_BACKEND),
	AMD("smt_contention", "de_no_dispatch_per_slot.smt_contention", "6",
	    "slots that went to the core's other thread"),
	END,
};

static const struct metric_model zen4_models[] = {
	{ 0x19, 0x10, 0x1f }, { 0x19, 0x60, 0x7f }, { 0x19, 0xa0, 0xaf }, { 0, 0, 0 },
};

static const struct metric zen5_metrics[] = {
	AMD("frontend_bound", "de_no_dispatch_per_slot.no_ops_from_frontend", "8",
	    TEXT_FRONTEND),
	AMD("bad_speculation", "(de_src_op_disp.all - ex_ret_ops)", "8", TEXT_BAD),
	AMD("retiring", "ex_ret_ops", "8", TEXT_RETIRING),
	AMD("backend_bound", "de_no_dispatch_per_slot.backend_stalls", "8", TEXT_BACKEND),
	AMD("smt_contention", "de_no_dispatch_per_slot.smt_contention", "8",
	    "slots that went to the core's other thread"),
	END,
};

static const struct metric_model zen5_models[] = { { 0x1a, 0x00, 0x7f }, { 0, 0, 0 } };

/* ------------------------------------------------------------------- all */

#define INTEL "GenuineIntel"

const struct metric_core metric_cores[] = {
	{ NULL, NULL, NULL, generic_events, generic_metrics },
	{ "Sandy Bridge to Broadwell", INTEL, sandybridge_models, sandybridge_events, four_slots },
	{ "Skylake", INTEL, skylake_models, skylake_events, four_slots },
	{ "Ice Lake", INTEL, icelake_models, icelake_events, icelake_metrics },
	{ "Golden Cove, Redwood Cove", INTEL, goldencove_models, goldencove_events,
	  goldencove_metrics },
	{ "Tremont", INTEL, tremont_models, tremont_events, tremont_metrics },
	{ "Gracemont", INTEL, gracemont_models, gracemont_events, gracemont_metrics },
	{ "Crestmont", INTEL, crestmont_models, crestmont_events, crestmont_metrics },
	{ "Zen 4", "AuthenticAMD", zen4_models, zen4_events, zen4_metrics },
	{ "Zen 5", "AuthenticAMD", zen5_models, zen4_events, zen5_metrics },
	{ NULL, NULL, NULL, NULL, NULL },
};
