/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the addresses of a recording to names. tasks.c knows what every task had mapped where at a
 * time, symbols.c the binaries and their tables of symbols, elf.c reads those of files (elfutils),
 * plt.c names stubs, kernel.c those of the kernel, names.c keeps each text once and makes it fit
 * for a terminal.
 */
#ifndef PMUCTL_TOOL_SYMBOLS_H
#define PMUCTL_TOOL_SYMBOLS_H

#include <stdio.h>
#include <sys/stat.h>

#include "perffile/perffile.h"
#include "symbols/names.h"

/* Addresses in these parts of a call chain are markers, not code. */
#define SYMBOLS_IS_MARKER(ip) ((ip) >= (uint64_t)PERF_CONTEXT_MAX)

/* Lists of binaries, by name */
#define SYMBOLS_BUCKETS 65536

struct names;
struct inlined;
struct jit;

/**
 * struct symbol - a function
 * @start: its first address, in its binary's own terms.
 * @end: the address behind it.
 * @limit: of one without a length, where it must end; 0: nobody knows.
 * @raw: its name there.
 * @name: its name for people; NULL until symbol_name() was called.
 * @owner: of a kernel symbol, its module; NULL otherwise.
 * @rank: which of several names of one address is the best; more is better.
 * @order: of equally good ones the first that was added, the first of its file, has the address.
 * @is_inlined: it is in the code of others only, and has no address of its own.
 */
struct symbol {
	uint64_t start;
	uint64_t end;
	uint64_t limit;
	const char *raw;
	const char *name;
	const char *owner;
	int rank;
	unsigned int order;
	bool is_inlined;
};

struct symbol_table {
	struct symbol *list;
	size_t count;
	size_t room;
};

enum binary_kind {
	BINARY_FILE,
	BINARY_VDSO,
	BINARY_KERNEL,
	BINARY_MODULE,
	BINARY_JIT,	/* a file that tells of generated code */
	BINARY_GENERATED, /* a function that the kernel has generated */
	BINARY_NONE,	/* memory without a file, or unknown */
};

/* A part of a file that is loaded: @size bytes from @offset on are at @address. */
struct binary_segment {
	uint64_t offset;
	uint64_t size;
	uint64_t address;
};

/**
 * struct binary - something that code comes from
 * @next: in the list of all.
 * @kind: of which kind.
 * @raw: its path, as recorded.
 * @path: likewise, for people.
 * @name: without the directories.
 * @build_id_size: bytes of @build_id, 0 if it was not recorded.
 * @build_id: its build id.
 * @is_told: the record of its mapping told it: its path alone may mean another file.
 * @hit: something was looked up in it.
 * @loaded: its symbols were looked for.
 * @table: what was found.
 * @text: of BINARY_JIT, a map: raw names are in it.
 * @jit: of BINARY_JIT, a dump: what it tells.
 * @segments: of a file.
 * @segment_count: how many.
 * @dwfl: keeps the file open: raw names are in it.
 * @bias: how much elfutils has moved the file; of a module, how much higher it is in the
 *	table of the kernel's symbols than it was when it was recorded.
 * @start: of a module, or what the kernel has generated, where it was then.
 * @inlined: what its functions have from others, as far as somebody asked.
 * @problem: why there are no symbols, or NULL.
 */
struct binary {
	struct binary *next;
	enum binary_kind kind;
	const char *raw;
	const char *path;
	const char *name;
	uint8_t build_id_size;
	uint8_t build_id[PERFFILE_BUILD_ID_MAX];
	bool is_told;
	bool hit;
	bool loaded;
	struct symbol_table table;
	char *text;
	struct jit *jit;
	struct binary_segment *segments;
	size_t segment_count;
	void *dwfl;
	uint64_t bias;
	uint64_t start;
	struct inlined *inlined;
	const char *problem;
};

/**
 * struct symbols - all binaries of a recording
 * @names: its texts.
 * @root: where the files are: "" is this machine.
 * @kallsyms: file with the kernel's symbols, or NULL for the running kernel's.
 * @vmlinux: the kernel as an ELF file, which has them then, or NULL.
 * @info: what the recording tells.
 * @binaries: all of them.
 * @buckets: by name.
 * @unknown: stands for what nobody knows.
 * @kernel: the kernel.
 * @kernel_text: the text of the table of the kernel's symbols.
 * @kernel_shift: how much higher the kernel was than it is in that table.
 * @reference: name of the symbol that tells; as recorded.
 * @reference_address: and its address then.
 */
struct symbols {
	struct names *names;
	const char *root;
	const char *kallsyms;
	const char *vmlinux;
	const struct perffile_info *info;
	struct binary *binaries;
	struct binary **buckets;
	struct binary *unknown;
	struct binary *kernel;
	char *kernel_text;
	uint64_t kernel_shift;
	const char *reference;
	uint64_t reference_address;
};

/**
 * struct place - what an address means
 * @binary: never NULL.
 * @symbol: NULL if there is none.
 * @ip: the address as recorded.
 * @address: in the binary's own terms.
 * @level: 'k' kernel, '.' user, 'H' hypervisor, 'g' and 'u' a guest's.
 * @line: of the source, "FILE:LINE", if that is not the address's own.
 */
struct place {
	struct binary *binary;
	struct symbol *symbol;
	uint64_t ip;
	uint64_t address;
	char level;
	const char *line;
};

/* names.c */
struct names *names_new(void);
void names_free(struct names *names);
const char *names_intern(struct names *names, const char *text);

/* symbols.c */
struct symbols *symbols_new(const struct perffile_info *info, const char *root,
			    const char *kallsyms);
void symbols_free(struct symbols *symbols);
struct binary *symbols_binary(struct symbols *symbols, enum binary_kind kind,
			      const char *path, const uint8_t *build_id, size_t size);
struct binary *symbols_kernel_mapped(struct symbols *symbols, const struct perffile_mmap *map);
struct binary *symbols_generated(struct symbols *symbols, const struct perffile_ksymbol *code);
struct binary *symbols_user_mapped(struct symbols *symbols, const struct perffile_mmap *map);
struct symbol *symbols_find(struct symbols *symbols, struct binary *binary,
			    uint64_t address);
const char *symbol_name(struct symbols *symbols, struct symbol *symbol);
int symbol_table_add(struct symbol_table *table, const struct symbol *symbol);
void symbol_table_finish(struct symbol_table *table);
struct symbol *symbol_table_find(const struct symbol_table *table, uint64_t address);

/* elf.c */
int symbols_open(const char *path, int flags, struct stat *about);
void symbols_load_file(struct symbols *symbols, struct binary *binary);
void symbols_load_vmlinux(struct symbols *symbols);
size_t binary_code(const struct binary *binary, uint64_t address, uint8_t *to, size_t size);
uint64_t binary_address(const struct binary *binary, uint64_t offset);
const char *symbols_source_line(struct symbols *symbols, const struct place *place);
void binary_close(struct binary *binary);

/* inline.c */
const char *symbols_line(const struct binary *binary, uint64_t address, int *number);

/* plt.c: stubs through which functions of libraries are called have this behind their name. */
#define SYMBOLS_PLT "@plt"

struct Elf;
struct Elf *binary_elf(const struct binary *binary);

struct Dwfl_Module;
void symbols_add_plt(struct symbols *symbols, struct binary *binary,
		     struct Dwfl_Module *module);

/* cpp.c */
char *symbol_demangle(const char *raw);

/* kernel.c */
void symbols_load_kernel(struct symbols *symbols);
const char *kernel_hidden(int kptr_restrict, int paranoid);
const char *kernel_hidden_now(void);

/**
 * struct thread - a task of the recording
 * @next: in its bucket.
 * @pid: its process.
 * @tid: its own number.
 * @ppid: the process that has made it; -1: unknown,
 * @ptid: and the thread.
 * @comm: its name now.
 * @process: that it is of.
 * @live: it has not ended.
 * @is_old: it had ended when tasks_forget() was called.
 */
struct thread {
	struct thread *next;
	int32_t pid;
	int32_t tid;
	int32_t ppid;
	int32_t ptid;
	const char *comm;
	struct process *process;
	bool live;
	bool is_old;
};

struct tasks;

/* tasks.c */
struct tasks *tasks_new(struct symbols *symbols);
void tasks_free(struct tasks *tasks);
void tasks_forget(struct tasks *tasks);
int tasks_record(struct tasks *tasks, const struct perffile_record *record,
		 struct perffile_error *error);
struct thread *tasks_thread(struct tasks *tasks, int32_t pid, int32_t tid);
void tasks_place(struct tasks *tasks, const struct thread *thread, uint16_t mode,
		 uint64_t ip, bool is_return, struct place *place);
uint64_t tasks_address_of(const struct thread *thread, const char *path, uint64_t offset);
const struct binary *tasks_data(const struct thread *thread, uint64_t address, uint64_t *offset);
struct binary *tasks_file_at(struct tasks *tasks, const struct thread *thread,
			     uint64_t address, uint64_t *bias);
uint64_t tasks_map_number(const struct thread *thread);

#endif /* PMUCTL_TOOL_SYMBOLS_H */
