// SPDX-License-Identifier: GPL-2.0-only
/*
 * The code of functions, by libcapstone, if that was there when this was built. The code of
 * programs comes from their files, that of the kernel from the copy that "record --kcore" made,
 * the file that -k names, or the memory of the running kernel, if it is the one that was
 * recorded.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"

#if __has_include("capstone/capstone.h")

#include <capstone/capstone.h>

#include "trace/trace.h"

#define NO_KERNEL_CODE \
	"the kernel's code is not there: record with --kcore, give its vmlinux with -k, or be root where it runs"
#define NO_CODE \
	"its file is not there, or is another one than was recorded"
#define OTHER_MACHINE \
	"it is code of another kind of machine: only that of x86-64 is known"

/**
 * struct annotate_code - what takes code apart
 * @annotate: the command.
 * @kernel: the kernel's memory.
 * @handles: of libcapstone, for 32 and 64 bits.
 * @bytes: the function.
 */
struct annotate_code {
	struct annotate *annotate;
	struct trace_code *kernel;
	csh handles[2];
	uint8_t bytes[ANNOTATE_CODE_MAX];
};

/**
 * code_new() - get ready
 * @annotate: the command.
 *
 * Return: to be freed with code_free(); NULL, which was told, if it does not go.
 */
struct annotate_code *code_new(struct annotate *annotate)
{
	struct annotate_code *code = calloc(1, sizeof(*code));
	cs_err err = code ? CS_ERR_OK : CS_ERR_MEM;

	for (int i = 0; !err && i < 2; i++) {
		cs_mode mode = i ? CS_MODE_64 : CS_MODE_32;

		err = cs_open(CS_ARCH_X86, mode, &code->handles[i]);
		if (err)
			break;
		cs_option(code->handles[i], CS_OPT_DETAIL, CS_OPT_ON);
		cs_option(code->handles[i], CS_OPT_SKIPDATA, CS_OPT_ON);
		cs_option(code->handles[i], CS_OPT_SYNTAX,
			  annotate->intel ? CS_OPT_SYNTAX_INTEL : CS_OPT_SYNTAX_ATT);
	}
	if (!err) {
		code->kernel = trace_code_new(annotate->samples);
		err = code->kernel ? CS_ERR_OK : CS_ERR_MEM;
	}
	if (!err) {
		code->annotate = annotate;
		return code;
	}
	code_free(code);
	say_error("code cannot be taken apart: %s", cs_strerror(err));
	return NULL;
}

/**
 * code_free() - and no more
 * @code: it, or NULL.
 */
void code_free(struct annotate_code *code)
{
	if (!code)
		return;
	for (int i = 0; i < 2; i++)
		if (code->handles[i])
			cs_close(&code->handles[i]);
	trace_code_free(code->kernel);
	free(code);
}

static bool is_x86(const struct annotate *annotate)
{
	const char *arch = annotate->samples->file->info.arch;

	return !arch || !strcmp(arch, "x86_64") || arch[0] == 'i';
}

/* The bytes of a function; @start is set to the address of the first one, for people. */
static size_t read_code(struct annotate_code *code, const struct annotate_function *function,
			uint64_t *start, const char **problem)
{
	const struct place *place = &function->place;
	uint64_t size = place->symbol->end - place->symbol->start, got = 0;
	bool is_kernel = place->level == 'k';

	if (size > ANNOTATE_CODE_MAX)
		size = ANNOTATE_CODE_MAX;
	*problem = is_kernel ? NO_KERNEL_CODE : NO_CODE;
	*start = place->symbol->start;
	if (!is_x86(code->annotate)) {
		*problem = OTHER_MACHINE;
		return 0;
	}
	got = binary_code(place->binary, *start, code->bytes, size);
	if (!is_kernel)
		return got;
	/* Where it was then: its own branches tell addresses of then. */
	*start += place->ip - place->address;
	if (!got)
		got = (uint64_t)trace_code_read(code->kernel, NULL, *start, code->bytes, size);
	return got;
}

static void set_text(const cs_insn *insn, struct annotate_instruction *instruction)
{
	if (insn->op_str[0])
		snprintf(instruction->text, sizeof(instruction->text), "%-6s %s", insn->mnemonic,
			 insn->op_str);
	else
		snprintf(instruction->text, sizeof(instruction->text), "%s", insn->mnemonic);
}

/* Who is called, or jumped to, by name */
static void set_target(struct annotate_code *code, const struct annotate_function *function,
		       const cs_insn *insn, struct annotate_instruction *instruction)
{
	struct symbols *symbols = code->annotate->samples->symbols;
	csh handle = code->handles[1];
	struct symbol *symbol;
	uint64_t target, start;

	instruction->target = NULL;
	if (!insn->id || !insn->detail || insn->detail->x86.op_count != 1 ||
	    insn->detail->x86.operands[0].type != X86_OP_IMM ||
	    !(cs_insn_group(handle, insn, CS_GRP_JUMP) || cs_insn_group(handle, insn, CS_GRP_CALL)))
		return;
	target = (uint64_t)insn->detail->x86.operands[0].imm;
	symbol = symbols_find(symbols, function->place.binary, target);
	if (!symbol)
		return;
	start = symbol->start;
	if (function->place.level == 'k')
		start += function->place.ip - function->place.address;
	instruction->target = symbol_name(symbols, symbol);
	instruction->target_offset = target - start;
}

/**
 * struct walk - how far a function's sites have been given to its instructions
 * @site: the next one.
 * @over: ranges that have begun before it and not ended.
 */
struct walk {
	size_t site;
	uint64_t over;
};

/* What is between the bytes of an instruction is its own, too. */
static void set_part(const struct annotate_function *function, struct walk *walk,
		     struct annotate_instruction *instruction)
{
	struct annotate_site *part = &instruction->part;

	*part = (struct annotate_site){ .offset = instruction->offset };
	for (; walk->site < function->site_count; walk->site++) {
		const struct annotate_site *from = &function->sites[walk->site];

		if (from->offset >= instruction->offset + instruction->size)
			break;
		sites_join(part, from);
		part->joined = from->joined;
	}
	part->coverage = walk->over + part->begins;
	walk->over = part->coverage - part->ends;
}

/**
 * code_visit() - the instructions of a function
 * @code: how.
 * @function: with its samples.
 * @visit: called for each instruction.
 * @arg: for it.
 * @problem: set to the reason if there is no code.
 *
 * Return: whether there is code.
 */
bool code_visit(struct annotate_code *code, const struct annotate_function *function,
		annotate_visit visit, void *arg, const char **problem)
{
	const struct place *place = &function->place;
	struct annotate_instruction instruction;
	uint64_t start, address;
	size_t left = read_code(code, function, &start, problem);
	struct walk walk = { 0 };
	csh handle = code->handles[source_is_64_bit(place->binary, place->symbol->start)];
	const uint8_t *bytes = code->bytes;
	cs_insn *insn = left ? cs_malloc(handle) : NULL;

	address = start;
	while (insn && cs_disasm_iter(handle, &bytes, &left, &address, insn)) {
		instruction.address = insn->address;
		instruction.offset = insn->address - start;
		instruction.size = insn->size;
		set_text(insn, &instruction);
		set_target(code, function, insn, &instruction);
		set_part(function, &walk, &instruction);
		instruction.line = 0;
		instruction.file = code->annotate->no_source && !code->annotate->lines ? NULL :
				   symbols_line(place->binary,
						place->symbol->start + instruction.offset,
						&instruction.line);
		visit(arg, &instruction);
	}
	if (insn)
		cs_free(insn, 1);
	return insn;
}

#else /* no libcapstone */

struct annotate_code *code_new(struct annotate *annotate)
{
	(void)annotate;
	say_error("this pmuctl was built without libcapstone, which takes code apart: build it with libcapstone-dev");
	return NULL;
}

void code_free(struct annotate_code *code)
{
	(void)code;
}

bool code_visit(struct annotate_code *code, const struct annotate_function *function,
		annotate_visit visit, void *arg, const char **problem)
{
	(void)code;
	(void)function;
	(void)visit;
	(void)arg;
	*problem = "";
	return false;
}

#endif
