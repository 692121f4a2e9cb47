// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * Address filters of Processor Trace: just what is executed in the ranges is in the trace,
 * whoever is called from there. For --cpu intel-pt.
 */
#include "aux_code.h"
#include "aux_stub.h"
#include "hooks.h"

#include <pthread.h>
#include <time.h>

TestSuite(aux_filter, .timeout = 300);

static const char *const arguments[] = { TRACED, "1", "2", "3", "4", NULL };

struct symbol {
	uint64_t at, size;
	uint64_t offset;	/* in the file */
};

/* Where in the file is what the program has at an address? */
static uint64_t offset_of(int fd, const Elf64_Ehdr *elf, uint64_t at)
{
	Elf64_Phdr segment;

	for (unsigned int i = 0; i < elf->e_phnum; i++) {
		cr_assert_gt(pread(fd, &segment, sizeof(segment),
				   elf->e_phoff + i * sizeof(segment)), 0);
		if (segment.p_type == PT_LOAD && at - segment.p_vaddr < segment.p_filesz)
			return at - segment.p_vaddr + segment.p_offset;
	}
	cr_assert_fail("nothing at %#lx", at);
	return 0;
}

static Elf64_Shdr section_of(int fd, const Elf64_Ehdr *elf, unsigned int n)
{
	Elf64_Shdr section;

	cr_assert_eq(pread(fd, &section, sizeof(section), elf->e_shoff + n * sizeof(section)),
		     (ssize_t)sizeof(section));
	return section;
}

/* Where a function of the program is */
static struct symbol find_symbol(const char *name)
{
	int fd = open(TRACED, O_RDONLY | O_CLOEXEC);
	struct symbol found = { 0 };
	Elf64_Ehdr elf;

	cr_assert_eq(pread(fd, &elf, sizeof(elf), 0), (ssize_t)sizeof(elf));
	for (unsigned int i = 0; i < elf.e_shnum; i++) {
		Elf64_Shdr table = section_of(fd, &elf, i), names;

		if (table.sh_type != SHT_SYMTAB)
			continue;
		names = section_of(fd, &elf, table.sh_link);
		for (uint64_t at = 0; at < table.sh_size; at += sizeof(Elf64_Sym)) {
			Elf64_Sym symbol;
			char text[100] = "";

			cr_assert_gt(pread(fd, &symbol, sizeof(symbol), table.sh_offset + at), 0);
			cr_assert_geq(pread(fd, text, sizeof(text) - 1,
					    names.sh_offset + symbol.st_name), 0);
			if (!strcmp(text, name))
				found = (struct symbol){ symbol.st_value, symbol.st_size, 0 };
		}
	}
	cr_assert_gt(found.size, 0, "no symbol %s", name);
	found.offset = offset_of(fd, &elf, found.at);
	close(fd);
	return found;
}

/* Trace the program; @filter: or NULL; @inside: instructions of these are counted apart. */
static struct decoded run(const char *filter, const struct symbol *inside)
{
	union raw_attr attr = trace_attr();
	struct traced child = traced_start(arguments);
	struct decoded d;
	struct trace t;

	trace_open(&t, &attr, child.pid, -1, 1024, PROT_READ | PROT_WRITE);
	if (filter)
		cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_SET_FILTER, filter), 0);
	traced_go(&child);
	traced_wait(&child);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	decode_from = inside->at;
	decode_to = inside->at + inside->size - 1;
	decode_filtered = filter && strstr(filter, "filter");
	d = trace_decode(t.aux, t.bytes);
	cr_assert_eq(d.errors, 0, "%s", d.error);
	trace_close(&t);
	return d;
}

Test(aux_filter, a_function_and_nothing_else)
{
	struct symbol symbol = find_symbol("fibonacci");
	struct decoded all, some;
	char filter[100];

	snprintf(filter, sizeof(filter), "filter %#lx/%lu", symbol.at, symbol.size);
	all = run(NULL, &symbol);
	some = run(filter, &symbol);
	cr_assert_gt(all.inside, 100);
	cr_assert_gt(all.instructions, all.inside + 100);
	cr_assert_eq(some.inside, all.inside, "%lu of %lu", some.inside, all.inside);
	cr_assert_eq(some.instructions, some.inside, "%lu are not of it",
		     some.instructions - some.inside);
}

/* The same by its place in the file, which is mapped when the filter is there already. */
Test(aux_filter, a_function_of_a_file)
{
	struct symbol symbol = find_symbol("fibonacci");
	struct decoded all, some;
	char filter[100];

	if (trace_files_refused())
		return;
	snprintf(filter, sizeof(filter), "filter %#lx/%lu@%s", symbol.offset, symbol.size, TRACED);
	all = run(NULL, &symbol);
	some = run(filter, &symbol);
	cr_assert_gt(all.inside, 100);
	cr_assert_eq(some.inside, all.inside, "%lu of %lu", some.inside, all.inside);
	cr_assert_eq(some.instructions, some.inside);
	/* At the same place in another file */
	snprintf(filter, sizeof(filter), "filter %#lx/%lu@/proc/self/exe", symbol.offset,
		 symbol.size);
	cr_assert_eq(run(filter, &symbol).instructions, 0);
}

Test(aux_filter, nothing)
{
	static const struct symbol nowhere = { .at = 0x1000, .size = 16 };

	cr_assert_eq(run("filter 0x1000/16", &nowhere).instructions, 0);
}

/* An empty filter is none, as before. */
Test(aux_filter, taken_away)
{
	struct symbol symbol = find_symbol("fibonacci");
	union raw_attr attr = trace_attr();
	int fd;

	cr_assert_gt(run(" ", &symbol).instructions, 100);
	fd = event_open(attr);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "filter 1/1,filter 2/1"), 0);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, ""), 0);
}

/* ---- Where the trace begins ---- */

#define CALLS	100

Test(aux_filter, a_system_call)
{
	uint64_t at = kernel_symbol("__x64_sys_getppid");
	union raw_attr attr = trace_attr();
	char filter[100];
	struct trace t;

	attr.attr.exclude_kernel = 0;
	attr.attr.exclude_user = 1;
	attr.attr.enable_on_exec = 0;
	attr.attr.disabled = 1;
	trace_open(&t, &attr, 0, -1, 64, PROT_READ | PROT_WRITE);
	snprintf(filter, sizeof(filter), "filter %#lx/%d", at, STUB_SIZE);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_SET_FILTER, filter), 0);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	cr_assert_eq(stub_begins(&t, at), CALLS);
	trace_close(&t);
}

/* ---- Files ---- */

static void *map_elsewhere(void *arg)
{
	trace_pin(0, 1);
	nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	stub_map();
	return arg;
}

static void open_stub_trace(struct trace *t)
{
	union raw_attr attr = trace_attr();

	stub_make();
	attr.attr.enable_on_exec = 0;
	trace_open(t, &attr, 0, -1, 64, PROT_READ | PROT_WRITE);
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_SET_FILTER, "filter 0/32@" STUB), 0);
}

static void check_stub_calls(struct trace *t)
{
	stub_call(CALLS);
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	trace_records(t);
	cr_assert_eq(stub_begins(t, (uintptr_t)stub), CALLS);
	trace_close(t);
}

Test(aux_filter, a_file_that_is_mapped_while_it_is_traced)
{
	struct trace t;

	if (trace_files_refused())
		return;
	open_stub_trace(&t);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	stub_map();
	check_stub_calls(&t);
}

Test(aux_filter, a_file_that_was_mapped_before)
{
	struct trace t;

	if (trace_files_refused())
		return;
	stub_make();
	stub_map();
	open_stub_trace(&t);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	check_stub_calls(&t);
}

/* Another thread maps it, while the one that is traced is running on another CPU. */
Test(aux_filter, a_file_that_another_thread_maps)
{
	pthread_t thread;
	struct trace t;

	if (trace_files_refused())
		return;
	open_stub_trace(&t);
	trace_pin(0, 0);
	cr_assert_eq(pthread_create(&thread, NULL, map_elsewhere, NULL), 0);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	while (!stub)
		;
	check_stub_calls(&t);
	pthread_join(thread, NULL);
}

/* ---- Where the trace stops ---- */

/*
 * Ten calls of a function, one of that where it stops, and ten calls again; in one page, where
 * the emulator goes from one to the other without looking what has changed.
 */
asm(".pushsection .text\n"
    "	.balign	256\n"
    "stop_block:\n"
    "	mov	$10, %ecx\n"
    "1:	call	before_stop\n"
    "	dec	%ecx\n"
    "	jnz	1b\n"
    "	call	stop_here\n"
    "	mov	$10, %ecx\n"
    "2:	call	before_stop\n"
    "	dec	%ecx\n"
    "	jnz	2b\n"
    "	ret\n"
    "	.balign	16\n"
    "before_stop:\n"
    "	jmp	3f\n"
    "3:	ret\n"
    "	.balign	16\n"
    "stop_here:\n"
    "	jmp	4f\n"
    "4:	ret\n"
    "	.balign	16\n"
    ".popsection");

extern const uint8_t before_stop[], stop_here[];
extern void stop_block(void);

static unsigned int befores, stops;

static void count_functions(uint64_t ip)
{
	befores += ip == (uintptr_t)before_stop;
	stops += ip == (uintptr_t)stop_here;
}

/* From there on nothing is traced, which is not told of as a lack of room. */
static bool try_stop(const char *filter, struct trace *t)
{
	struct decoded d;
	bool once;

	trace_records(t);
	t->records = 0;
	t->at = t->page->data_head;
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_SET_FILTER, filter), 0);
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	stop_block();
	cr_assert_eq(ioctl(t->fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	trace_records(t);
	cr_assert_eq(t->truncated, 0);
	befores = 0;
	stops = 0;
	d = trace_decode(t->aux, t->bytes);
	cr_assert_eq(d.errors, 0, "%s", d.error);
	/* A switch would have let it go on. */
	once = t->records == 1;
	return once;
}

Test(aux_filter, stops_where_it_is_told_to)
{
	union raw_attr attr = trace_attr();
	char filter[100];
	struct trace t;
	bool once = false;

	snprintf(filter, sizeof(filter), "stop %#lx/16", (unsigned long)stop_here);
	attr.attr.enable_on_exec = 0;
	decode_self();
	decode_from = (uintptr_t)stop_here;
	decode_to = decode_from + 15;
	decode_stops = true;
	decode_visit = count_functions;
	for (int i = 0; i < 100 && !once; i++) {
		trace_open(&t, &attr, 0, -1, 64, PROT_READ | PROT_WRITE);
		once = try_stop(filter, &t);
		trace_close(&t);
	}
	cr_assert(once);
	cr_assert_eq(befores, 10, "%u", befores);
	cr_assert_eq(stops, 0, "%u", stops);
	/* Without it, all of them */
	trace_open(&t, &attr, 0, -1, 64, PROT_READ | PROT_WRITE);
	decode_stops = false;
	try_stop("", &t);
	cr_assert_eq(befores, 20);
	cr_assert_eq(stops, 1);
	trace_close(&t);
	pt_image_free(decode_image);
}

/* The records of mappings and a filter by file are told of by the same hook. */
Test(aux_filter, its_hook_goes_with_it)
{
	union raw_attr a = trace_attr();
	int fd;

	if (trace_files_refused())
		return;
	a.attr.mmap = 1;
	fd = event_open(a);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "filter 0x1000/16@" TRACED), 0);
	close(fd);
	hooks_wait_for_none();
}
