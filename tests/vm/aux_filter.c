// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * Address filters of Processor Trace: just what is executed in the ranges is in the trace,
 * whoever is called from there. For --cpu intel-pt.
 */
#include "aux_decode.h"

TestSuite(aux_filter, .timeout = 300);

static const char *const arguments[] = { TRACED, "1", "2", "3", "4", NULL };

struct symbol {
	uint64_t at, size;
};

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
				found = (struct symbol){ symbol.st_value, symbol.st_size };
		}
	}
	close(fd);
	cr_assert_gt(found.size, 0, "no symbol %s", name);
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

Test(aux_filter, nothing)
{
	static const struct symbol nowhere = { 0x1000, 16 };

	cr_assert_eq(run("filter 0x1000/16", &nowhere).instructions, 0);
}

/* An empty filter is none, as before. */
Test(aux_filter, taken_away)
{
	struct symbol symbol = find_symbol("fibonacci");
	union raw_attr attr = trace_attr();
	int fd;

	cr_assert_gt(run(" ", &symbol).instructions, 100);
	fd = raw_check_opened(&attr, 0, -1, 0);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "filter 1/1,filter 2/1"), 0);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, ""), 0);
	close(fd);
}

/* ---- The kernel ---- */

static uint64_t kernel_symbol(const char *name)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[300], text[200];
	unsigned long at, found = 0;

	while (!found && fgets(line, sizeof(line), file))
		if (sscanf(line, "%lx %*c %199s", &at, text) == 2 && !strcmp(text, name))
			found = at;
	fclose(file);
	cr_assert_neq(found, 0, "no %s", name);
	return found;
}

#define CALLS	100
#define SIZE	32

/* How often the trace begins at an address; it begins nowhere outside of the range. */
static unsigned int count_begins(const struct trace *t, uint64_t at)
{
	struct pt_query_decoder *decoder;
	struct pt_config config;
	struct pt_event event;
	unsigned int begins = 0;
	uint64_t ip;
	int status;

	pt_config_init(&config);
	config.begin = (uint8_t *)t->aux;
	config.end = (uint8_t *)t->aux + t->bytes;
	decoder = pt_qry_alloc_decoder(&config);
	for (status = pt_qry_sync_forward(decoder, &ip); status >= 0;) {
		int taken;

		if (!(status & pts_event_pending)) {
			/* What is in between does not matter. */
			status = pt_qry_indirect_branch(decoder, &ip);
			if (status == -pte_bad_query)
				status = pt_qry_cond_branch(decoder, &taken);
			continue;
		}
		status = pt_qry_event(decoder, &event, sizeof(event));
		if (status < 0 || event.type != ptev_enabled)
			continue;
		ip = event.variant.enabled.ip;
		cr_assert(ip >= at && ip < at + SIZE, "it begins at %#lx", ip);
		begins += ip == at;
	}
	cr_assert_eq(status, -pte_eos, "%s", pt_errstr(pt_errcode(status)));
	pt_qry_free_decoder(decoder);
	return begins;
}

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
	snprintf(filter, sizeof(filter), "filter %#lx/%d", at, SIZE);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_SET_FILTER, filter), 0);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	cr_assert_eq(count_begins(&t, at), CALLS);
	trace_close(&t);
}
