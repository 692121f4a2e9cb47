// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of the kernel's own code: symbols that come and go, programs of BPF, and what is
 * changed in place. Beside perf's, which must be the same; and who is not told.
 */
#include "hooks.h"
#include "module.h"
#include "refusal.h"
#include "tellers.h"

#include <linux/bpf.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

TestSuite(side_kernel, .fini = module_ensure);

#define SCHEDSTATS	"/proc/sys/kernel/sched_schedstats"
#define TRACING		"/tmp/tracing"

/* ---- What happens to the kernel's code ---- */

#define LOADS		2	/* of each program */
/* KSYMBOL and BPF_EVENT of a program, and KSYMBOL of the other one's second function */
#define LOAD_SYMBOLS	(LOADS * (1 + 2))
#define LOAD_EVENTS	(LOADS * 2)

#define RETURN_ZERO	{ .code = BPF_ALU64 | BPF_MOV | BPF_K }
#define EXIT		{ .code = BPF_JMP | BPF_EXIT }
#define CALL(distance)	{ .code = BPF_JMP | BPF_CALL, .src_reg = BPF_PSEUDO_CALL, .imm = (distance) }

static int load_program(const struct bpf_insn *instructions, unsigned int number)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_SOCKET_FILTER,
		.insns = (uintptr_t)instructions,
		.insn_cnt = number,
		.license = (uintptr_t)"GPL",
		.prog_name = "side_kernel",
	};
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

	/* Until Linux 5.11 a program counts as locked memory. */
	setrlimit(RLIMIT_MEMLOCK, &unlimited);
	return syscall(__NR_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* A program of one function, and one of two: they come, and go when they are closed. */
static int run_programs(void *arg)
{
	static const struct bpf_insn one[] = { RETURN_ZERO, EXIT };
	static const struct bpf_insn two[] = { CALL(1), EXIT, RETURN_ZERO, EXIT };

	for (int i = 0; i < LOADS; i++) {
		int first = load_program(one, RAW_ARRAY_SIZE(one));
		int second = load_program(two, RAW_ARRAY_SIZE(two));

		if (first < 0 || second < 0)
			return 1;
		close(first);
		close(second);
	}
	return arg != NULL;
}

/* A static key of the scheduler, which is off else */
static int run_key(void *arg)
{
	return arg || raw_write_file(SCHEDSTATS, "1") || raw_write_file(SCHEDSTATS, "0");
}

/* ftrace makes code of its own for whom it calls. */
static int run_tracer(void *arg)
{
	return arg || raw_write_file(TRACING "/set_ftrace_filter", "schedule") ||
	       raw_write_file(TRACING "/current_tracer", "function") ||
	       raw_write_file(TRACING "/current_tracer", "nop");
}

static void mount_tracing(void)
{
	mkdir(TRACING, 0700);
	cr_assert_eq(mount("none", TRACING, "tracefs", 0, NULL), 0, "%m");
}

/* ---- Beside perf ---- */

Test(side_kernel, programs_of_bpf)
{
	struct perf_event_attr attr = side_attr();

	attr.ksymbol = 1;
	cr_assert_eq(tellers_run(&attr, 0, -1, run_programs, NULL), 2 * LOAD_SYMBOLS);
	attr.bpf_event = 1;
	cr_assert_eq(tellers_run(&attr, 0, -1, run_programs, NULL),
		     2 * (LOAD_SYMBOLS + LOAD_EVENTS));
	attr.ksymbol = 0;
	cr_assert_eq(tellers_run(&attr, 0, -1, run_programs, NULL), 2 * LOAD_EVENTS);
}

Test(side_kernel, programs_of_bpf_for_a_cpu)
{
	struct perf_event_attr attr = side_attr();

	attr.ksymbol = 1;
	attr.bpf_event = 1;
	pin_here(1);
	cr_assert_geq(tellers_run(&attr, -1, 0, run_programs, NULL),
		      2 * (LOAD_SYMBOLS + LOAD_EVENTS));
}

Test(side_kernel, changes_of_the_text)
{
	struct perf_event_attr attr = side_attr();

	attr.text_poke = 1;
	/* There and back */
	cr_assert_geq(tellers_run(&attr, 0, -1, run_key, NULL), 2);
	attr.sample_id_all = 0;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_key, NULL), 2);
}

Test(side_kernel, changes_of_the_text_for_a_cpu)
{
	struct perf_event_attr attr = side_attr();

	attr.text_poke = 1;
	pin_here(1);
	cr_assert_geq(tellers_run(&attr, -1, 0, run_key, NULL), 2);
}

/* Its code comes as a symbol, and as a change where nothing was before. */
Test(side_kernel, code_of_ftrace)
{
	struct perf_event_attr attr = side_attr();

	mount_tracing();
	attr.ksymbol = 1;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_tracer, NULL), 1);
	attr.text_poke = 1;
	cr_assert_geq(tellers_run(&attr, 0, -1, run_tracer, NULL), 3);
	umount(TRACING);
}

/* ---- Without perf ---- */

/* How many records of a type there are */
static unsigned int count_records(const struct perf_event_attr *attr, struct ring *ring,
				  uint32_t type)
{
	struct perf_event_header *header;
	struct sample end;
	unsigned int n = 0;

	while ((header = side_next(attr, ring, &end)))
		n += header->type == type;
	return n;
}

/* perf's own functions call the one that tells of symbols only if an event of perf asks. */
Test(side_kernel, programs_of_bpf_when_perf_does_not_ask)
{
	struct perf_event_attr attr = side_attr();
	struct ring ring;
	int fd;

	attr.ksymbol = 1;
	fd = event_open(attr);
	ring_map(&ring, fd, 16);
	cr_assert_eq(run_programs(NULL), 0);
	cr_assert_eq(count_records(&attr, &ring, PERF_RECORD_KSYMBOL), 2 * LOAD_SYMBOLS);
}

Test(side_kernel, what_a_symbol_and_a_program_are)
{
	static const struct bpf_insn one[] = { RETURN_ZERO, EXIT };
	struct perf_event_attr attr = side_attr();
	struct ksymbol_record *symbol;
	struct bpf_record *program;
	struct sample end;
	uint64_t address;
	struct ring ring;
	uint32_t id;
	int fd, loaded;

	attr.ksymbol = 1;
	attr.bpf_event = 1;
	fd = event_open(attr);
	ring_map(&ring, fd, 16);
	loaded = load_program(one, RAW_ARRAY_SIZE(one));
	cr_assert_geq(loaded, 0, "%m");
	symbol = side_expect(&attr, &ring, PERF_RECORD_KSYMBOL, &end);
	address = symbol->address;
	cr_assert_eq(symbol->type, PERF_RECORD_KSYMBOL_TYPE_BPF);
	cr_assert_eq(symbol->flags, 0);
	cr_assert(strstr(symbol->name, "bpf_prog_") == symbol->name &&
		  strstr(symbol->name, "_side_kernel"), "%s", symbol->name);
	program = side_expect(&attr, &ring, PERF_RECORD_BPF_EVENT, &end);
	id = program->id;
	cr_assert_eq(program->type, PERF_BPF_EVENT_PROG_LOAD);
	cr_assert_neq(id, 0);
	close(loaded);
	symbol = side_expect(&attr, &ring, PERF_RECORD_KSYMBOL, &end);
	cr_assert_eq(symbol->flags, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER);
	cr_assert_eq(symbol->address, address);
	program = side_expect(&attr, &ring, PERF_RECORD_BPF_EVENT, &end);
	cr_assert_eq(program->type, PERF_BPF_EVENT_PROG_UNLOAD);
	cr_assert_eq(program->id, id);
	side_expect_none(&attr, &ring);
}

/* The first record after the ring was full tells how many there were no room for. */
Test(side_kernel, changes_that_find_no_room_are_told)
{
	struct perf_event_attr attr = side_attr();
	struct ring large, small;
	unsigned int all, told;
	struct lost_record *lost;
	struct sample end;

	attr.text_poke = 1;
	ring_map(&large, event_open(attr), 256);
	ring_map(&small, event_open(attr), 1);
	for (int i = 0; i < 20; i++)
		cr_assert_eq(run_key(NULL), 0);
	all = count_records(&attr, &large, PERF_RECORD_TEXT_POKE);
	told = count_records(&attr, &small, PERF_RECORD_TEXT_POKE);
	cr_assert(told && told < all, "%u of %u", told, all);
	cr_assert_eq(run_key(NULL), 0);
	lost = (struct lost_record *)ring_next(&small);
	cr_assert_not_null(lost);
	cr_assert_eq(lost->header.type, PERF_RECORD_LOST);
	cr_assert_eq(told + lost->lost, all, "%u + %lu of %u", told, lost->lost, all);
	side_expect(&attr, &small, PERF_RECORD_TEXT_POKE, &end);
}

/* ---- Hooks ---- */

Test(side_kernel, hooks_are_set_for_who_asks)
{
	static const char *const names[] = { "kernel symbols", "BPF programs", "text pokes" };
	static const bool set[3][3] = { { true, true, false }, { false, true, false },
					{ false, false, true } };

	for (unsigned int i = 0; i < 3; i++) {
		struct perf_event_attr attr = side_attr();
		int fd;

		hooks_wait_for_none();
		attr.ksymbol = i == 0;
		attr.bpf_event = i == 1;
		attr.text_poke = i == 2;
		fd = event_open(attr);
		for (unsigned int k = 0; k < 3; k++)
			cr_expect(hooks_has(names[k], set[i][k] ? "events 1, missed" : "not set"),
				  "%s", names[k]);
		close(fd);
	}
	hooks_wait_for_none();
}

/* They outlive their last event for a while, but not the module. */
Test(side_kernel, module_goes_while_hooks_linger)
{
	struct perf_event_attr attr = side_attr();

	attr.ksymbol = 1;
	attr.text_poke = 1;
	close(event_open(attr));
	cr_expect(hooks_has("text pokes", "events 0, missed"));
	cr_assert_eq(module_unload(), 0, "%m");
	cr_assert_eq(run_key(NULL), 0);
	cr_assert_eq(run_programs(NULL), 0);
	cr_assert_eq(module_load(), 0, "%m");
	cr_assert_eq(tellers_run(&attr, 0, -1, run_programs, NULL), 2 * LOAD_SYMBOLS);
}

/* ---- Ordinary users ---- */

/* What everybody may open, whoever has the PMU */
static struct perf_event_attr users_attr(void)
{
	struct perf_event_attr attr = side_attr();

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.exclude_kernel = 1;
	return attr;
}

Test(side_kernel, ordinary_users_are_refused_as_by_perf)
{
	struct perf_event_attr attr = users_attr();
	int perfs;

	attr.text_poke = 1;
	cr_assert_eq(setresuid(-1, RAW_USER, -1), 0);
	check_refused(OPEN(attr), EACCES, PMUCTL_WHY_PERM_TEXT_POKE, "attr.text_poke",
		      "being told what is changed in the kernel's code needs CAP_PERFMON at paranoid level 2: clear attr.text_poke, gain CAP_PERFMON, or set the module's parameter paranoid to 1");
	/* Some stable kernels forget to ask. */
	perfs = perf_try(&attr, 0, -1);
	cr_assert(perfs >= 0 || perfs == -EACCES, "%d", perfs);
	attr.text_poke = 0;
	attr.ksymbol = 1;
	attr.bpf_event = 1;
	cr_assert_geq(event_try(attr), 0);
	cr_assert_geq(perf_try(&attr, 0, -1), 0);
	cr_assert_eq(setresuid(-1, 0, -1), 0);
}

/* Where the kernel's code is; which programs it loads itself it may know. */
Test(side_kernel, ordinary_users_are_not_told_addresses)
{
	struct perf_event_attr attr = users_attr();
	struct perf_event_header *header;
	struct ring roots, users;
	unsigned int n = 0;
	struct sample end;

	attr.ksymbol = 1;
	attr.bpf_event = 1;
	ring_map(&roots, event_open(attr), 16);
	cr_assert_eq(setresuid(-1, RAW_USER, -1), 0);
	ring_map(&users, event_open(attr), 16);
	cr_assert_eq(setresuid(-1, 0, -1), 0);
	cr_assert_eq(run_programs(NULL), 0);
	while ((header = side_next(&attr, &users, &end))) {
		cr_assert_eq(header->type, PERF_RECORD_BPF_EVENT);
		n++;
	}
	cr_assert_eq(n, 2 * LOAD_EVENTS);
	cr_assert_eq(count_records(&attr, &roots, PERF_RECORD_KSYMBOL), 2 * LOAD_SYMBOLS);
}
