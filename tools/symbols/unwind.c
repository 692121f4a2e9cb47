// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who called, by a copy of the stack: samples with the registers of user space and the upper
 * end of its stack are unwound by elfutils, with the tables for exceptions that each program
 * has (.eh_frame), or by frame pointers where there are none. What the files say of their
 * frames is kept for each map of a process; a map that loses a file is another one.
 *
 * Registers and stack are a stranger's: nothing but the copy is read, and each frame must be
 * higher up in the stack than the one that it called.
 */
#include <asm/perf_regs.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <elfutils/libdwfl.h>
#include <elfutils/version.h>

#include "unwind.h"

/* Maps whose frames are kept */
#define SPACES	64

/* elfutils wants numbers of tasks, which mean nothing here. */
#define TASK	1

/**
 * struct machine - registers of an ABI
 * @abi: PERF_SAMPLE_REGS_ABI_*
 * @count: how many have a number in DWARF.
 * @regs: their numbers in samples.
 * @ip: which one says where it is, as DWARF counts.
 * @sp: which one is the stack pointer.
 * @word: bytes of a word of the stack.
 */
struct machine {
	uint64_t abi;
	unsigned int count;
	uint8_t regs[17];
	unsigned int ip;
	unsigned int sp;
	size_t word;
};

/* System V ABI for x86-64, figure 3.36; for i386, table 2.14 */
static const struct machine machines[] = {
	{
		PERF_SAMPLE_REGS_ABI_64, 17,
		{
			PERF_REG_X86_AX, PERF_REG_X86_DX, PERF_REG_X86_CX, PERF_REG_X86_BX,
			PERF_REG_X86_SI, PERF_REG_X86_DI, PERF_REG_X86_BP, PERF_REG_X86_SP,
			PERF_REG_X86_R8, PERF_REG_X86_R9, PERF_REG_X86_R10, PERF_REG_X86_R11,
			PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15,
			PERF_REG_X86_IP,
		}, 16, 7, 8,
	},
	{
		PERF_SAMPLE_REGS_ABI_32, 9,
		{
			PERF_REG_X86_AX, PERF_REG_X86_CX, PERF_REG_X86_DX, PERF_REG_X86_BX,
			PERF_REG_X86_SP, PERF_REG_X86_BP, PERF_REG_X86_SI, PERF_REG_X86_DI,
			PERF_REG_X86_IP,
		}, 8, 4, 4,
	},
};

/**
 * struct unwind_space - what a map's files say of their frames
 * @map: number of the map, 0 if this is unused.
 * @used: when it was used last.
 * @dwfl: the files that stacks have led to.
 * @machine: whose frames they are.
 */
struct unwind_space {
	uint64_t map;
	uint64_t used;
	Dwfl *dwfl;
	const struct machine *machine;
};

/**
 * struct unwinder - unwinds a sample at a time
 * @tasks: have the maps.
 * @spaces: of the last maps.
 * @uses: how often one was used.
 * @self: this program: it tells elfutils which processor it is.
 * @self_fd: its file.
 * @space: of this sample.
 * @thread: of this sample.
 * @sample: this sample.
 * @regs: its registers, as DWARF counts.
 * @sp: the stack pointer of the last frame.
 * @ips: where the frames are.
 * @count: how many there are.
 * @max: how many there may be.
 */
struct unwinder {
	struct tasks *tasks;
	struct unwind_space spaces[SPACES];
	uint64_t uses;
	Elf *self;
	int self_fd;
	struct unwind_space *space;
	const struct thread *thread;
	const struct perffile_sample *sample;
	Dwarf_Word regs[17];
	Dwarf_Word sp;
	uint64_t *ips;
	size_t count;
	size_t max;
};

/* ---------------------------------------------------------------- callbacks */

static int find_elf(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
		    char **path, Elf **elf)
{
	(void)module;
	(void)name;
	(void)base;
	(void)path;
	/* The same one, a second time */
	*elf = elf_begin(-1, ELF_C_READ, binary_elf(*data));
	return -1;
}

/* Symbols are not asked for here, and frames are told by the program itself. */
static int find_no_debuginfo(Dwfl_Module *module, void **data, const char *name,
			     Dwarf_Addr base, const char *path, const char *link,
			     GElf_Word crc, char **found)
{
	(void)module;
	(void)data;
	(void)name;
	(void)base;
	(void)path;
	(void)link;
	(void)crc;
	(void)found;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = find_elf,
	.find_debuginfo = find_no_debuginfo,
};

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	(void)dwfl;
	*thread = *thread ? NULL : arg;
	return *thread ? TASK : 0;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl;
	(void)tid;
	*thread = arg;
	return true;
}

static bool memory_read(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *result, void *arg)
{
	const struct unwinder *unwinder = arg;
	const struct perffile_sample *sample = unwinder->sample;
	const struct machine *machine = unwinder->space->machine;
	uint64_t into = address - unwinder->regs[machine->sp];

	(void)dwfl;
	if (address < unwinder->regs[machine->sp] || sample->stack_size < machine->word ||
	    into > sample->stack_size - machine->word)
		return false;
	*result = 0;
	memcpy(result, sample->stack + into, machine->word);
	return true;
}

static bool set_initial_registers(Dwfl_Thread *thread, void *arg)
{
	const struct unwinder *unwinder = arg;

	return dwfl_thread_state_registers(thread, 0, unwinder->space->machine->count,
					   unwinder->regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = memory_read,
	.set_initial_registers = set_initial_registers,
};

/* ------------------------------------------------------------------- frames */

/* Let elfutils know the file that has this address, if it does not. */
static void report_file(struct unwinder *unwinder, uint64_t ip)
{
	Dwfl *dwfl = unwinder->space->dwfl;
	uint64_t bias, start = 0, end = 0;
	struct binary *binary;
	Dwfl_Module *module;
	GElf_Phdr header;
	size_t count = 0;
	void **data;
	Elf *elf;

	if (dwfl_addrmodule(dwfl, ip))
		return;
	binary = tasks_file_at(unwinder->tasks, unwinder->thread, ip, &bias);
	elf = binary ? binary_elf(binary) : NULL;
	if (!elf || elf_getphdrnum(elf, &count) < 0)
		return;
	for (size_t i = 0; i < count && i < INT32_MAX; i++) {
		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		if (!end)
			start = header.p_vaddr & -header.p_align;
		if (header.p_vaddr + header.p_memsz > end)
			end = header.p_vaddr + header.p_memsz;
	}
	if (start >= end || start + bias >= end + bias)
		return;
	module = dwfl_report_module(dwfl, binary->name, start + bias, end + bias);
	if (!module)
		return;
	dwfl_module_info(module, &data, NULL, NULL, NULL, NULL, NULL, NULL);
	*data = binary;
}

/* A return address is behind the call, which may be the last instruction of its function. */
static int take_frame(Dwfl_Frame *frame, void *arg)
{
	struct unwinder *unwinder = arg;
	bool is_first = !unwinder->count, is_interrupted;
	Dwarf_Word sp = 0;
	Dwarf_Addr ip;

	if (!dwfl_frame_pc(frame, &ip, NULL) || !ip)
		return DWARF_CB_ABORT;
	report_file(unwinder, ip);
	if (!dwfl_frame_pc(frame, &ip, &is_interrupted))
		return DWARF_CB_ABORT;
	unwinder->ips[unwinder->count++] = ip - !is_interrupted;
#if _ELFUTILS_PREREQ(0, 188)
	if (dwfl_frame_reg(frame, unwinder->space->machine->sp, &sp) != 0)
		return DWARF_CB_ABORT;
#else /* Debian 11's does not tell it: a chain that turns in circles ends where it is full. */
	sp = unwinder->sp + 1;
#endif
	if ((!is_first && sp <= unwinder->sp) || unwinder->count == unwinder->max)
		return DWARF_CB_ABORT;
	unwinder->sp = sp;
	return DWARF_CB_OK;
}

/* Those that were not recorded are 0: few frames need them. */
static bool take_registers(struct unwinder *unwinder, const struct machine *machine,
			   const struct perffile_record *record)
{
	uint64_t mask = record->attr->sample_regs_user;

	for (unsigned int i = 0; i < machine->count; i++) {
		uint64_t bit = 1ULL << machine->regs[i];
		size_t at = (size_t)__builtin_popcountll(mask & (bit - 1));

		unwinder->regs[i] = 0;
		if (mask & bit && at < record->sample.user_regs.count)
			unwinder->regs[i] = perffile_words_get(&record->sample.user_regs, at);
		else if (i == machine->ip || i == machine->sp)
			return false;
	}
	return true;
}

/* ------------------------------------------------------------------- spaces */

static void space_end(struct unwind_space *space)
{
	if (space->dwfl)
		dwfl_end(space->dwfl);
	memset(space, 0, sizeof(*space));
}

/* The one of this map, in place of the one that was not used for the longest time */
static struct unwind_space *space_find(struct unwinder *unwinder,
				       const struct machine *machine, uint64_t map)
{
	struct unwind_space *oldest = &unwinder->spaces[0];

	for (size_t i = 0; i < SPACES; i++) {
		struct unwind_space *space = &unwinder->spaces[i];

		if (space->dwfl && space->map == map && space->machine == machine)
			return space;
		if (space->used < oldest->used)
			oldest = space;
	}
	space_end(oldest);
	oldest->map = map;
	oldest->machine = machine;
	oldest->dwfl = dwfl_begin(&callbacks);
	return oldest->dwfl ? oldest : NULL;
}

/* elfutils must know which processor it is: a program of the other ABI tells that itself. */
static bool space_attach(struct unwinder *unwinder, struct unwind_space *space)
{
	Elf *elf = space->machine->abi == PERF_SAMPLE_REGS_ABI_64 ? unwinder->self : NULL;

	return dwfl_pid(space->dwfl) > 0 ||
	       dwfl_attach_state(space->dwfl, elf, TASK, &thread_callbacks, unwinder);
}

static const struct machine *machine_of(uint64_t abi)
{
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].abi == abi)
			return &machines[i];
	return NULL;
}

/**
 * unwinder_walk() - follow the callers of user code
 * @unwinder: made by unwinder_new().
 * @thread: whose code it is; its process has the map of the time of the sample.
 * @record: a sample with an event.
 * @ips: filled with addresses within the functions, the innermost first.
 * @max: so many at most.
 *
 * A stack that is longer than its copy is followed as far as that goes.
 *
 * Return: how many; 0 if the sample has no copy of a stack.
 */
size_t unwinder_walk(struct unwinder *unwinder, const struct thread *thread,
		     const struct perffile_record *record, uint64_t *ips, size_t max)
{
	const struct machine *machine = machine_of(record->sample.user_abi);

	if (!thread || !machine || !record->sample.stack_size || !max ||
	    !take_registers(unwinder, machine, record))
		return 0;
	unwinder->thread = thread;
	unwinder->sample = &record->sample;
	unwinder->ips = ips;
	unwinder->count = 0;
	unwinder->max = max;
	unwinder->space = space_find(unwinder, machine, tasks_map_number(thread));
	if (!unwinder->space)
		return 0;
	unwinder->space->used = ++unwinder->uses;
	report_file(unwinder, unwinder->regs[machine->ip]);
	if (space_attach(unwinder, unwinder->space))
		dwfl_getthread_frames(unwinder->space->dwfl, TASK, take_frame, unwinder);
	if (!unwinder->count)
		ips[unwinder->count++] = unwinder->regs[machine->ip];
	return unwinder->count;
}

/**
 * unwinder_new() - ready for samples
 * @tasks: whose; must stay.
 *
 * Return: to be freed with unwinder_free(), before the symbols are; NULL if there is no memory.
 */
struct unwinder *unwinder_new(struct tasks *tasks)
{
	struct unwinder *unwinder = calloc(1, sizeof(*unwinder));

	if (!unwinder)
		return NULL;
	unwinder->tasks = tasks;
	elf_version(EV_CURRENT);
	unwinder->self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (unwinder->self_fd >= 0)
		unwinder->self = elf_begin(unwinder->self_fd, ELF_C_READ_MMAP, NULL);
	return unwinder;
}

/**
 * unwinder_free() - forget what files say of their frames
 * @unwinder: it, or NULL.
 */
void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	for (size_t i = 0; i < SPACES; i++)
		space_end(&unwinder->spaces[i]);
	elf_end(unwinder->self);
	if (unwinder->self_fd >= 0)
		close(unwinder->self_fd);
	free(unwinder);
}
