// SPDX-License-Identifier: GPL-2.0-only
/*
 * Symbols of files, debug files and kernels. The file is this program itself, or parts of
 * it that objcopy makes.
 */
/* sources: tools/symbols/symbols.c tools/symbols/names.c tools/symbols/clean.c tools/symbols/cpp.c */
/* sources: tools/symbols/inline.c tools/symbols/jit.c tools/symbols/elf.c tools/symbols/plt.c tools/symbols/kernel.c */
/* libs: -ldw -lelf -lstdc++ -liberty */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <elf.h>
#include <link.h>

#include "../../tools/symbols/symbols.h"

static const struct perffile_info no_info;

int perffile_symbols_witness(int n);

/* What is looked for */
__attribute__((noinline)) int perffile_symbols_witness(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n + 1;
}

static void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void run(const char *format, ...)
{
	char command[4096];
	va_list args;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	cr_assert_eq(system(command), 0, "%s", command);
}

static char root[] = "/tmp/perffile-XXXXXX";

static void make_root(void)
{
	cr_assert_not_null(mkdtemp(root));
	run("mkdir -p %s/bin %s/usr/lib/debug/.build-id", root, root);
}

static void remove_root(void)
{
	run("rm -rf -- %s", root);
}

/* Of the main program: where it is, and its build id. */
static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct binary *self = arg;

	(void)size;
	self->bias = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const uint8_t *note = (const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const uint8_t *end = note + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type != PT_NOTE)
			continue;
		while (end - note > (ptrdiff_t)sizeof(Elf64_Nhdr)) {
			const Elf64_Nhdr *header = (const Elf64_Nhdr *)note;

			if (header->n_type == NT_GNU_BUILD_ID && header->n_descsz == 20) {
				memcpy(self->build_id, note + sizeof(*header) + 4, 20);
				self->build_id_size = 20;
			}
			note += sizeof(*header) + ((header->n_namesz + 3) & ~3U) +
				((header->n_descsz + 3) & ~3U);
		}
	}
	return 1;
}

/* The address of the witness in the file's own terms, and this program's build id */
static uint64_t witness_address(uint8_t *id)
{
	struct binary self = { 0 };

	dl_iterate_phdr(look, &self);
	cr_assert_eq(self.build_id_size, 20, "this program has no build id");
	memcpy(id, self.build_id, 20);
	return (uint64_t)(uintptr_t)perffile_symbols_witness - self.bias;
}

static void finds_witness(struct symbols *symbols, struct binary *binary, uint64_t address)
{
	struct symbol *symbol = symbols_find(symbols, binary, address);

	cr_assert_not_null(symbol, "%s", binary->problem ? binary->problem : "no problem");
	cr_assert_str_eq(symbol_name(symbols, symbol), "perffile_symbols_witness");
	cr_assert_eq(symbol->start, address);
}

Test(perffile_symbols, of_a_file, .init = make_root, .fini = remove_root)
{
	struct symbols *symbols = symbols_new(&no_info, root, NULL);
	struct binary *binary;
	struct place place;
	const char *line;
	uint8_t id[20];
	uint64_t address = witness_address(id);

	run("cp /proc/%d/exe %s/bin/self", getpid(), root);
	binary = symbols_binary(symbols, BINARY_FILE, "/bin/self", id, 20);
	finds_witness(symbols, binary, address);
	cr_assert_null(binary->problem);
	/* Code is loaded from its place in the file. */
	for (size_t i = 0; i < binary->segment_count; i++) {
		struct binary_segment *segment = &binary->segments[i];

		if (segment->address <= address && address - segment->address < segment->size)
			cr_assert_eq(binary_address(binary, address - segment->address +
						    segment->offset), address);
	}
	place = (struct place){ .binary = binary, .address = address + 4 };
	line = symbols_source_line(symbols, &place);
	cr_assert_not_null(line);
	cr_assert_not_null(strstr(line, "perffile_symbols.c:"), "%s", line);
	symbols_free(symbols);
}

Test(perffile_symbols, of_a_debug_file_with_the_same_build_id, .init = make_root,
     .fini = remove_root)
{
	struct symbols *symbols = symbols_new(&no_info, root, NULL);
	struct binary *binary;
	uint8_t id[20];
	uint64_t address = witness_address(id);

	run("strip -o %s/bin/self /proc/%d/exe", root, getpid());
	binary = symbols_binary(symbols, BINARY_FILE, "/bin/self", id, 20);
	cr_assert_null(symbols_find(symbols, binary, address));
	cr_assert_not_null(strstr(binary->problem, "no symbols"), "%s", binary->problem);
	symbols_free(symbols);

	run("d=%s/usr/lib/debug/.build-id/%02x; mkdir $d && objcopy --only-keep-debug /proc/%d/exe $d/%s.debug",
	    root, id[0], getpid(), "rest");
	run("cd %s/usr/lib/debug/.build-id/%02x && mv rest.debug $(printf '%%s' %02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x%02x).debug",
	    root, id[0], id[1], id[2], id[3], id[4], id[5], id[6], id[7], id[8], id[9], id[10],
	    id[11], id[12], id[13], id[14], id[15], id[16], id[17], id[18], id[19]);
	symbols = symbols_new(&no_info, root, NULL);
	binary = symbols_binary(symbols, BINARY_FILE, "/bin/self", id, 20);
	finds_witness(symbols, binary, address);
	symbols_free(symbols);
}

/* Each stub as the disassembler knows it, over its whole length; returns how many. */
static unsigned int stubs_are_named(struct symbols *symbols, struct binary *binary)
{
	char line[512], name[256];
	unsigned long address;
	unsigned int count = 0;
	FILE *list;

	snprintf(line, sizeof(line),
		 "objdump -d -j .plt -j .plt.sec -j .plt.got %s%s 2>/dev/null", root, binary->raw);
	list = popen(line, "r");
	cr_assert_not_null(list);
	while (fgets(line, sizeof(line), list)) {
		struct symbol *symbol;

		if (sscanf(line, "%lx <%255[^>]>:", &address, name) != 2 || name[0] == '*' ||
		    !strstr(name, "@plt") || strstr(name, "@plt-"))
			continue;
		symbol = symbols_find(symbols, binary, address + 7);
		cr_assert_not_null(symbol, "%s at %lx", name, address);
		cr_assert_str_eq(symbol->raw, name);
		cr_assert_eq(symbol->start, address);
		count++;
	}
	cr_assert_eq(pclose(list), 0);
	return count;
}

Test(perffile_symbols, of_stubs_that_call_libraries, .init = make_root, .fini = remove_root)
{
	static const char *const flags[] = {
		"-fcf-protection=none -Wl,-z,lazy", "-fcf-protection=none -Wl,-z,now",
		"-fcf-protection=full -Wl,-z,lazy", "-fcf-protection=full -Wl,-z,now",
		"-fcf-protection=full -Wl,-z,lazy -no-pie -s",
	};
	struct symbols *symbols = symbols_new(&no_info, root, NULL);

	run("printf '#include <stdio.h>\nint main(void) { puts(\"\"); return getchar(); }' >%s/stubs.c",
	    root);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct binary *binary;
		struct symbol *symbol;
		char path[32];

		snprintf(path, sizeof(path), "/bin/stubs%zu", i);
		run("cc -O1 -fplt %s -o %s%s %s/stubs.c", flags[i], root, path, root);
		binary = symbols_binary(symbols, BINARY_FILE, path, NULL, 0);
		cr_expect_geq(stubs_are_named(symbols, binary), 2, "%s", flags[i]);
		/* It has no length, and is alone in its section. */
		for (size_t n = 0; n < binary->table.count; n++) {
			symbol = &binary->table.list[n];
			if (!strcmp(symbol->raw, "_init"))
				cr_expect_leq(symbol->end - symbol->start, 32, "%s: %#lx bytes",
					      flags[i], symbol->end - symbol->start);
		}
	}
	symbols_free(symbols);
}

Test(perffile_symbols, not_of_another_file, .init = make_root, .fini = remove_root)
{
	struct symbols *symbols = symbols_new(&no_info, root, NULL);
	struct binary *binary;
	uint8_t id[20];
	uint64_t address = witness_address(id);

	run("cp /proc/%d/exe %s/bin/self", getpid(), root);
	id[3] ^= 1;
	binary = symbols_binary(symbols, BINARY_FILE, "/bin/self", id, 20);
	cr_assert_null(symbols_find(symbols, binary, address));
	cr_assert_not_null(strstr(binary->problem, "build ids differ"), "%s", binary->problem);
	/* Where none was recorded, the file is believed. */
	binary = symbols_binary(symbols, BINARY_FILE, "/bin/../bin/self", NULL, 0);
	finds_witness(symbols, binary, address);
	symbols_free(symbols);
}

Test(perffile_symbols, not_of_what_is_no_file, .init = make_root, .fini = remove_root)
{
	static const char *const paths[] = { "/bin", "/bin/pipe", "/bin/text", "/bin/none" };
	struct symbols *symbols = symbols_new(&no_info, root, NULL);
	int opened = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event event;
	char path[256];

	run("mkfifo %s/bin/pipe; echo text >%s/bin/text", root, root);
	snprintf(path, sizeof(path), "%s/bin/pipe", root);
	cr_assert(inotify_add_watch(opened, path, IN_OPEN) >= 0);
	for (size_t i = 0; i < 4; i++) {
		struct binary *binary = symbols_binary(symbols, BINARY_FILE, paths[i], NULL, 0);

		cr_assert_null(symbols_find(symbols, binary, 0x1000));
		cr_assert_not_null(binary->problem);
	}
	/* That alone does something to a device. */
	cr_assert(read(opened, &event, sizeof(event)) < 0, "the pipe was opened");
	close(opened);
	symbols_free(symbols);
}

Test(perffile_symbols, of_the_vdso)
{
	struct symbols *symbols = symbols_new(&no_info, "", NULL);
	struct binary *binary = symbols_binary(symbols, BINARY_VDSO, "[vdso]", NULL, 0);
	bool found = false;

	symbols_find(symbols, binary, 0);
	cr_assert_null(binary->problem, "%s", binary->problem);
	for (size_t i = 0; i < binary->table.count; i++)
		found = found || strstr(binary->table.list[i].raw, "clock_gettime");
	cr_assert(found);
	symbols_free(symbols);
}

static struct symbols *with_kallsyms(const char *text)
{
	static char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/kallsyms", root);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs(text, file);
	fclose(file);
	return symbols_new(&no_info, "", path);
}

static const char *kernel_name(struct symbols *symbols, struct binary *binary, uint64_t address)
{
	struct symbol *symbol = symbols_find(symbols, binary, address);

	return symbol ? symbol_name(symbols, symbol) : NULL;
}

Test(perffile_symbols, of_the_kernel_and_modules, .init = make_root, .fini = remove_root)
{
	struct symbols *symbols = with_kallsyms(
		"ffffffff81000000 T _text\nffffffff81000000 T startup\n"
		"ffffffff81000100 t local\nffffffff81000200 D data\n"
		"not a line\n\nffffffff81000300 T last\n"
		"ffffffffc0000000 t open\t[one]\nffffffffc0001000 t open\t[two]");
	struct binary *one = symbols_binary(symbols, BINARY_MODULE, "[one]", NULL, 0);
	struct binary *kernel = symbols->kernel;

	one->start = 0xffffffffc0000000;
	symbols->reference = "_text";
	symbols->reference_address = 0xffffffff91000000;
	cr_assert_str_eq(kernel_name(symbols, kernel, 0xffffffff91000000), "startup");
	cr_assert_str_eq(kernel_name(symbols, kernel, 0xffffffff910001ff), "local");
	cr_assert_str_eq(kernel_name(symbols, kernel, 0xffffffff91000205), "local");
	cr_assert_str_eq(kernel_name(symbols, kernel, 0xffffffff91000301), "last");
	cr_assert_null(kernel_name(symbols, kernel, 0xffffffff90ffffff));
	cr_assert_str_eq(kernel_name(symbols, one, 0xffffffffc0000fff), "open");
	cr_assert_null(kernel_name(symbols, one, 0xffffffffc0001001), "it is the other module's");
	symbols_free(symbols);
}

/* A call without arguments is one function for all callers, and has their names. */
Test(perffile_symbols, of_system_calls, .init = make_root, .fini = remove_root)
{
	struct symbols *symbols = with_kallsyms(
		"ffffffff81000000 t __do_sys_getpid\nffffffff81000000 T __ia32_sys_getpid\n"
		"ffffffff81000000 T __x64_sys_getpid\nffffffff81000100 T __ia32_sys_only\n"
		"ffffffff81000200 T __x64_sys_b\nffffffff81000200 T __ia32_sys_b\n"
		"ffffffff81000300 T sys_c\nffffffff81000300 T __x64_sys_c\n"
		"ffffffff81000400 t do_compat_wait.part.0\nffffffff81000400 t do_wait.part.0\n"
		"ffffffff81000500 t __do_d\nffffffff81000500 T __ia32_compat_sys_d\n");

	cr_expect_str_eq(kernel_name(symbols, symbols->kernel, 0xffffffff81000000), "__x64_sys_getpid");
	cr_expect_str_eq(kernel_name(symbols, symbols->kernel, 0xffffffff81000100), "__ia32_sys_only");
	cr_expect_str_eq(kernel_name(symbols, symbols->kernel, 0xffffffff81000200), "__x64_sys_b");
	cr_expect_str_eq(kernel_name(symbols, symbols->kernel, 0xffffffff81000300), "sys_c");
	cr_expect_str_eq(kernel_name(symbols, symbols->kernel, 0xffffffff81000400), "do_wait.part.0");
	cr_expect_str_eq(kernel_name(symbols, symbols->kernel, 0xffffffff81000500), "__ia32_compat_sys_d");
	symbols_free(symbols);
}

Test(perffile_symbols, of_a_module_that_was_loaded_again, .init = make_root, .fini = remove_root)
{
	struct symbols *symbols = with_kallsyms(
		"ffffffffc0000010 t first\t[one]\nffffffffc0000200 t second\t[one]\n"
		"ffffffffc0005010 t first\t[two]\nffffffffc0005080 t second\t[two]\n");
	struct binary *two = symbols_binary(symbols, BINARY_MODULE, "[two]", NULL, 0);

	/* It was where the other one is now. */
	two->start = 0xffffffffc0000000;
	cr_assert_str_eq(kernel_name(symbols, two, 0xffffffffc000007f), "first");
	cr_assert_str_eq(kernel_name(symbols, two, 0xffffffffc0000080), "second");
	symbols_free(symbols);
}

Test(perffile_symbols, of_a_kernel_that_hides_them, .init = make_root, .fini = remove_root)
{
	struct symbols *symbols = with_kallsyms("0000000000000000 T _text\n0000000000000000 T x\n");

	cr_assert_null(kernel_name(symbols, symbols->kernel, 0xffffffff81000000));
	cr_assert_not_null(strstr(symbols->kernel->problem, "copy it as root"));
	symbols_free(symbols);
}

static bool advises(int kptr_restrict, int paranoid, const char *advice)
{
	return strstr(kernel_hidden(kptr_restrict, paranoid), advice);
}

/* As kallsyms_show_value() of the kernel decides it: what is advised must help. */
Test(perffile_symbols, what_hides_the_kernel_is_told)
{
	for (int paranoid = -1; paranoid <= 4; paranoid++) {
		cr_expect(advises(2, paranoid, "kptr_restrict to 1, then root"));
		cr_expect(advises(1, paranoid, "be root, or set kernel.kptr_restrict to 0"));
		cr_expect_eq(advises(1, paranoid, "paranoid to 1"), paranoid > 1);
		cr_expect_not(advises(0, paranoid, "kptr"), "it hides nothing");
		cr_expect_eq(advises(0, paranoid, "paranoid to 1"), paranoid > 1);
	}
}

Test(perffile_symbols, not_of_another_kernel)
{
	struct perffile_info info = { .osrelease = "2.6.32-some" };
	struct symbols *symbols = symbols_new(&info, "", NULL);

	cr_assert_null(kernel_name(symbols, symbols->kernel, 0xffffffff81000000));
	cr_assert_not_null(strstr(symbols->kernel->problem, "--kallsyms"));
	symbols_free(symbols);
}

static const char *best(struct symbol_table *table, uint64_t address)
{
	struct symbol *symbol = symbol_table_find(table, address);

	return symbol ? symbol->raw : "";
}

Test(perffile_symbols, the_best_of_several_names)
{
	static const struct symbol list[] = {
		{ .start = 0x10, .end = 0x20, .raw = "local", .rank = 0 },
		{ .start = 0x10, .end = 0x20, .raw = "global", .rank = 2 },
		{ .start = 0x10, .end = 0x10, .raw = "label_without_size", .rank = 2 },
		{ .start = 0x20, .end = 0x30, .raw = "__hidden_one", .rank = 2 },
		{ .start = 0x20, .end = 0x30, .raw = "plain", .rank = 2 },
		{ .start = 0x40, .end = 0x80, .raw = "outer", .rank = 0 },
		{ .start = 0x50, .end = 0x60, .raw = "inner", .rank = 0 },
		{ .start = 0x90, .end = 0x90, .raw = "endless", .rank = 0 },
		{ .start = 0xa0, .end = 0xa1, .raw = "last", .rank = 0 },
	};
	struct symbol_table table = { 0 };

	for (size_t i = 9; i > 0; i--)
		cr_assert_eq(symbol_table_add(&table, &list[i - 1]), 0);
	symbol_table_finish(&table);
	cr_assert_str_eq(best(&table, 0x0f), "");
	cr_assert_str_eq(best(&table, 0x1f), "global");
	cr_assert_str_eq(best(&table, 0x20), "plain");
	cr_assert_str_eq(best(&table, 0x30), "");
	cr_assert_str_eq(best(&table, 0x4f), "outer");
	cr_assert_str_eq(best(&table, 0x55), "inner");
	cr_assert_str_eq(best(&table, 0x60), "outer");
	cr_assert_str_eq(best(&table, 0x80), "");
	cr_assert_str_eq(best(&table, 0x9f), "endless");
	cr_assert_str_eq(best(&table, 0xa1), "");
	free(table.list);
}

/* Instances of a generic function with the same code: perf has the first of its file. */
Test(perffile_symbols, the_first_of_equally_good_names)
{
	struct symbol symbol = { .end = 8 };
	struct symbol_table table = { 0 };
	char names[400][8];

	for (unsigned int i = 0; i < 400; i++) {
		snprintf(names[i], sizeof(names[i]), "fmt%03u", 399 - i);
		symbol.raw = names[i];
		cr_assert_eq(symbol_table_add(&table, &symbol), 0);
	}
	symbol_table_finish(&table);
	cr_expect_str_eq(best(&table, 0), "fmt399");
	free(table.list);
}

Test(perffile_symbols, names_of_cpp)
{
	struct symbol symbol = { .raw = "_ZN5outer5innerEi" }, odd = { .raw = "_Zodd" };
	struct symbol stub = { .raw = "_ZN5outer5innerEi@plt" };
	struct symbols *symbols = symbols_new(&no_info, "", NULL);

	cr_assert_str_eq(symbol_name(symbols, &symbol), "outer::inner");
	cr_assert_str_eq(symbol_name(symbols, &stub), "outer::inner@plt");
	cr_assert_str_eq(symbol_name(symbols, &odd), "_Zodd");
	symbols_free(symbols);
}

Test(perffile_symbols, names_of_cpp_without_types)
{
	static const char *const names[][2] = {
		{ "_Z3fooIiEvT_", "foo<int>" },
		{ "_ZNK3Foo3barEv", "Foo::bar" },
		{ "_ZNKR3Foo3barEv", "Foo::bar" },
		{ "_ZN3FoocvbEv", "Foo::operator bool" },
		{ "_ZN3FooclEi", "Foo::operator()" },
		{ "_ZlsIcERSoS0_RKT_", "operator<< <char>" },
		{ "_ZZ4mainENKUlvE_clEv", "main::{lambda()#1}::operator()" },
		{ "_ZN12_GLOBAL__N_13fooEPFvvE", "(anonymous namespace)::foo" },
		{ "_Z3foov.constprop.0", "foo" },
		{ "_Z3barPFviE.isra.0.cold", "bar" },
		{ "_Z3getIiEPFvvEv", "get<int>" },
		{ "_ZTV3Foo", "vtable for Foo" },
		{ "_ZGVZ4mainE1x", "guard variable for main::x" },
		{ "_ZnwmSt11align_val_t", "operator new" },
		{ "_ZZ3fooIiEvT_ENKUlvE_clEv@plt", "foo<int>(int)::{lambda()#1}::operator()@plt" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = symbol_demangle(names[i][0]);

		cr_expect_str_eq(text, names[i][1], "%s: %s", names[i][0], text);
		free(text);
	}
	cr_expect_null(symbol_demangle("_Z"));
	cr_expect_null(symbol_demangle("_Z@plt"));
}

/* Of both manglings, as rustc 1.95 makes them; hashes and suffixes are not shown. */
Test(perffile_symbols, names_of_rust)
{
	static const char *const names[][2] = {
		{ "_ZN1r5apply17hbe0c1418419db169E", "r::apply" },
		{ "_ZN56_$LT$r..deep..Wide$LT$T$GT$$u20$as$u20$r..deep..Work$GT$4work17h2ba893ed70f35585E",
		  "<r::deep::Wide<T> as r::deep::Work>::work" },
		{ "_ZN3std2rt10lang_start28_$u7b$$u7b$closure$u7d$$u7d$17h8e4f1b2c3d5a6079E",
		  "std::rt::lang_start::{{closure}}" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE.llvm.1234567890", "core::fmt::write" },
		{ "_ZN4core3fmt5write17h0123456789abcdefE@plt", "core::fmt::write@plt" },
		/* So few digits are no hash; nor is one that is not the end. */
		{ "_ZN3foo17h0000000000000000E", "foo::h0000000000000000" },
		{ "_ZN3foo17h0123456789abcdef3barEi", "foo::h0123456789abcdef::bar" },
		{ "_RNvNtNtCsfEOYDRpO4Ta_11miniz_oxide7inflate4core11apply_match",
		  "miniz_oxide::inflate::core::apply_match" },
		{ "_RINvCs6GmmlP4bgsG_1r4showKj3_lEB2_", "r::show::<3, i32>" },
		{ "_RINvCs6GmmlP4bgsG_1r5applyNCNvB2_4main0EB2_", "r::apply::<r::main::{closure#0}>" },
		{ "_RNvXs_NtCs6GmmlP4bgsG_1r4deepINtB4_4WideyENtB4_4Work4workB6_",
		  "<r::deep::Wide<u64> as r::deep::Work>::work" },
		{ "_RNvXs_NtCs6GmmlP4bgsG_1r4deepINtB4_4WideyENtB4_4Work4workB6_.llvm.9D1C9369",
		  "<r::deep::Wide<u64> as r::deep::Work>::work" },
		{ "_RNvC3foo3bar@plt", "foo::bar@plt" },
		{ "_RINvC3foo3barFUKCmlEuE", "foo::bar::<unsafe extern \"C\" fn(u32, i32)>" },
	};
	struct symbols *symbols = symbols_new(&no_info, "", NULL);
	struct symbol symbol = { .raw = "_RNvC3foo3bar" }, odd = { .raw = "_Rodd" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *text = symbol_demangle(names[i][0]);

		cr_expect_str_eq(text, names[i][1], "%s: %s", names[i][0], text);
		free(text);
	}
	cr_expect_null(symbol_demangle("_R"));
	cr_expect_null(symbol_demangle("_R@plt"));
	cr_expect_null(symbol_demangle("R"));
	cr_assert_str_eq(symbol_name(symbols, &symbol), "foo::bar");
	cr_assert_str_eq(symbol_name(symbols, &odd), "_Rodd");
	symbols_free(symbols);
}

/* A name with so many pairs, each of the pair before, twice; the first is of letters. */
static const char *pairs_of_pairs(unsigned int count)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static char name[1024];
	size_t before = strlen("INvC1a1b");

	strcpy(name, "_RINvC1a1bThhE");
	for (unsigned int i = 1; i < count; i++) {
		size_t here = strlen(name) - strlen("_R"), at = before - 1;
		char high[2] = { at < 62 ? '\0' : digits[at / 62], '\0' };
		char pair[32];

		snprintf(pair, sizeof(pair), "TB%s%c_B%s%c_E", high, digits[at % 62], high,
			 digits[at % 62]);
		strcat(name, pair);
		before = here;
	}
	return strcat(name, "E");
}

Test(perffile_symbols, a_name_of_rust_that_is_endless, .timeout = 10)
{
	char *text = symbol_demangle(pairs_of_pairs(3));

	cr_assert_str_eq(text, "a::b::<(u8, u8), ((u8, u8), (u8, u8)),"
			       " (((u8, u8), (u8, u8)), ((u8, u8), (u8, u8)))>");
	free(text);
	text = symbol_demangle(pairs_of_pairs(10));
	cr_assert_gt(strlen(text), 2 * strlen("u8, ") << 9);
	free(text);
	/* 2^60 letters */
	cr_assert_null(symbol_demangle(pairs_of_pairs(60)));
}

/*
 * All functions of the library of C++, as its own demangler gives them without parameters. It
 * writes std::string and the like out then, which we do not: these are left out.
 */
Test(perffile_symbols, names_of_cpp_are_short)
{
	static const char list[] =
		"readelf -W --dyn-syms \"$(cc -print-file-name=libstdc++.so.6)\" |"
		"awk '$4 == \"FUNC\" && $8 ~ /^_Z/ && $8 !~ /^_ZNK?S[siod]|Ss/ { sub(\"@.*\", \"\", $8); print $8 }' | sort -u >";
	char path[] = "/tmp/perffile-names-XXXXXX", line[4096], command[512], *whole, *raw;
	unsigned int all = 0, other = 0;
	FILE *names;

	close(mkstemp(path));
	run("%s %s", list, path);
	snprintf(command, sizeof(command), "c++filt -p <%s | paste -d '\t' %s -", path, path);
	names = popen(command, "r");
	cr_assert_not_null(names);
	while (fgets(line, sizeof(line), names)) {
		char *text;

		line[strcspn(line, "\n")] = '\0';
		whole = line;
		raw = strsep(&whole, "\t");
		text = symbol_demangle(raw);
		cr_assert_not_null(text, "%s", raw);
		all++;
		if (strcmp(text, whole)) {
			fprintf(stderr, "%s: %s, expected %s\n", raw, text, whole);
			other++;
		}
		free(text);
	}
	cr_assert_eq(pclose(names), 0);
	run("rm -- %s", path);
	cr_expect_eq(other, 0, "%u of %u", other, all);
	cr_assert_gt(all, 3000);
}
