/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of AUX area tracing: a program that is traced, its two buffers, the records
 * that tell of the trace, and libipt, which decodes it.
 */
#ifndef VM_AUX_H
#define VM_AUX_H

#include "raw_check.h"

#include <elf.h>
#include <intel-pt.h>
#include <sched.h>
#include <sys/stat.h>

#define TRACE_PAGE	4096UL
#define TRACED		"/pmuctl/tests/prog/traced"
#define RING_PAGES	8

/* Of the ring beside a trace */
static size_t trace_ring_pages = RING_PAGES;

/* attr.type of intel_pt; fails if this CPU has none. */
static inline uint32_t trace_type(void)
{
	struct pmuctl_driver driver = { .size = sizeof(driver) };

	cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_DRIVER, &driver), 0);
	cr_assert_str_eq(driver.name, "intel_pt");
	cr_assert_str_eq(driver.reason, "", "%s", driver.reason);
	return driver.type;
}

/* A trace of user mode, that begins at the next exec */
static inline union raw_attr trace_attr(void)
{
	union raw_attr a = raw_attr(trace_type(), 1 << 10 | 1 << 13 | 1); /* tsc, branch, pt */

	a.attr.enable_on_exec = 1;
	a.attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a.attr.sample_id_all = 1;
	return a;
}

static inline union raw_attr trace_with_action(union raw_attr a, uint32_t action)
{
	memcpy(a.bytes + PMUCTL_ATTR_AUX_ACTION, &action, sizeof(action));
	return a;
}

static inline struct pmuctl_aux_status trace_status(int fd)
{
	struct pmuctl_aux_status s = { .size = sizeof(s) };

	cr_assert_eq(ioctl(fd, PMUCTL_IOC_AUX_STATUS, &s), 0);
	return s;
}

/* A trace, mapped */
struct trace {
	int fd;
	struct perf_event_mmap_page *page;
	const uint8_t *aux;
	size_t size;
	uint64_t at;		/* of the ring, up to which it has been looked at */
	/* what the records said */
	unsigned int starts, records, truncated, overwritten, switches, foreign;
	uint32_t pid, tid;
	uint64_t bytes, end;
};

static inline int trace_try_map(struct trace *t, size_t pages, int prot)
{
	size_t ring = (1 + trace_ring_pages) * TRACE_PAGE;
	void *map;

	t->page = mmap(NULL, ring, PROT_READ | PROT_WRITE, MAP_SHARED, t->fd, 0);
	cr_assert_neq(t->page, MAP_FAILED);
	t->size = pages * TRACE_PAGE;
	t->page->aux_offset = ring;
	t->page->aux_size = t->size;
	map = mmap(NULL, t->size, prot, MAP_SHARED, t->fd, ring);
	t->aux = map;
	return map == MAP_FAILED ? -errno : 0;
}

static inline void trace_open(struct trace *t, union raw_attr *attr, pid_t pid, int cpu,
			      size_t pages, int prot)
{
	memset(t, 0, sizeof(*t));
	t->fd = raw_check_opened(attr, pid, cpu, 0);
	cr_assert_eq(trace_try_map(t, pages, prot), 0);
}

static inline void trace_close(struct trace *t)
{
	munmap((void *)t->aux, t->size);
	munmap(t->page, (1 + trace_ring_pages) * TRACE_PAGE);
	close(t->fd);
}

/* Is it a process of whose code the test knows nothing? Switches to such are counted. */
static bool (*trace_is_foreign)(pid_t pid);

/* Look at the records that have come. AUX records must follow on each other. */
static inline void trace_records(struct trace *t)
{
	uint64_t head = __atomic_load_n(&t->page->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)t->page + TRACE_PAGE;
	size_t mask = trace_ring_pages * TRACE_PAGE - 1;
	uint64_t words[16];

	while (t->at < head) {
		struct perf_event_header *header = (void *)words;

		for (size_t i = 0; i < sizeof(words) / 8; i++)
			memcpy(&words[i], data + ((t->at + 8 * i) & mask), 8);
		t->at += header->size;
		switch (header->type) {
		case PERF_RECORD_ITRACE_START:
			cr_assert_eq(header->size, 32);
			t->starts++;
			t->pid = words[1];
			t->tid = words[1] >> 32;
			break;
		case PERF_RECORD_AUX:
			cr_assert_eq(header->size, 48);
			t->records++;
			t->truncated += !!(words[3] & PERF_AUX_FLAG_TRUNCATED);
			t->overwritten += !!(words[3] & PERF_AUX_FLAG_OVERWRITE);
			if (!(words[3] & PERF_AUX_FLAG_OVERWRITE))
				cr_assert_eq(words[1], t->end, "a gap between AUX records");
			t->end = words[1] + words[2];
			t->bytes += words[2];
			break;
		case PERF_RECORD_SWITCH:
			t->switches++;
			break;
		case PERF_RECORD_SWITCH_CPU_WIDE:
			t->switches++;
			t->foreign += trace_is_foreign && trace_is_foreign(words[1]);
			break;
		default:
			cr_assert_fail("a record of type %u", header->type);
		}
	}
	__atomic_store_n(&t->page->data_tail, t->at, __ATOMIC_RELEASE);
}

/* ---- The program ---- */

/* A child that waits to be told, and then becomes the program. */
struct traced {
	pid_t pid;
	int go;
};

static inline struct traced traced_start(const char *const *arguments)
{
	struct traced t;
	int pipe_fds[2];
	char byte;

	cr_assert_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
	t.pid = fork();
	cr_assert_geq(t.pid, 0);
	if (!t.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pipe_fds[1]);
		if (read(pipe_fds[0], &byte, 1) == 1)
			execv(TRACED, (char **)arguments);
		_exit(127);
	}
	close(pipe_fds[0]);
	t.go = pipe_fds[1];
	return t;
}

static inline void traced_go(struct traced *t)
{
	cr_assert_eq(write(t->go, "g", 1), 1);
	close(t->go);
}

static inline void traced_wait(struct traced *t)
{
	int status;

	cr_assert_eq(waitpid(t->pid, &status, 0), t->pid);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
}

static inline void trace_pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(pid, sizeof(set), &set), 0);
}

/* Count what a program executes in user space from its exec on. */
static inline int trace_count(pid_t pid, uint64_t config)
{
	union raw_attr attr = raw_attr(PERF_TYPE_HARDWARE, config);

	attr.attr.enable_on_exec = 1;
	return raw_check_opened(&attr, pid, -1, 0);
}

/* ---- Decoding ---- */

struct decoded {
	uint64_t instructions, branches, inside, calls, returns, errors;
	char error[200];
};

/* The code, if it is not the program's */
static struct pt_image *decode_image;

/* Sees the address of each instruction, if it is set. */
static void (*decode_visit)(uint64_t ip);

/* A range whose instructions are counted apart; the trace may have been restricted to it. */
static uint64_t decode_from, decode_to;
static bool decode_filtered, decode_stops;

/* The program's code, from its ELF headers */
static inline void add_program(struct pt_image *image, const char *path)
{
	Elf64_Phdr headers[16];
	Elf64_Ehdr elf;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	cr_assert_eq(pread(fd, &elf, sizeof(elf), 0), (ssize_t)sizeof(elf));
	cr_assert_leq(elf.e_phnum, 16);
	cr_assert_geq(pread(fd, headers, sizeof(headers[0]) * elf.e_phnum, elf.e_phoff), 0);
	close(fd);
	for (int i = 0; i < elf.e_phnum; i++)
		if (headers[i].p_type == PT_LOAD && headers[i].p_flags & PF_X)
			cr_assert_eq(pt_image_add_file(image, path, headers[i].p_offset,
						       headers[i].p_filesz, NULL,
						       headers[i].p_vaddr), 0);
}

static inline int decode_events(struct pt_insn_decoder *decoder, int status)
{
	struct pt_event event;

	while (status >= 0 && status & pts_event_pending)
		status = pt_insn_event(decoder, &event, sizeof(event));
	return status;
}

static inline void decode_piece(struct pt_insn_decoder *decoder, struct decoded *d)
{
	int status = decode_events(decoder, 0);
	struct pt_insn insn;
	uint64_t at = 0;

	for (;;) {
		status = decode_events(decoder, status);
		if (status < 0)
			break;
		status = pt_insn_next(decoder, &insn, sizeof(insn));
		if (status < 0)
			break;
		d->instructions++;
		d->inside += insn.ip >= decode_from && insn.ip <= decode_to;
		if (decode_visit)
			decode_visit(insn.ip);
		d->branches += insn.iclass != ptic_other;
		d->calls += insn.iclass == ptic_call;
		d->returns += insn.iclass == ptic_return;
	}
	if (status == -pte_eos)
		return;
	if (!d->errors++) {
		pt_insn_get_offset(decoder, &at);
		snprintf(d->error, sizeof(d->error), "%s at %#lx, after %lu instructions",
			 pt_errstr(pt_errcode(status)), at, d->instructions);
	}
}

/* What the decoder has to know of the clocks */
static inline void decode_clocks(struct pt_config *config, uint64_t bits)
{
	struct raw_cpuid ratio = raw_cpuid(0x15);

	config->mtc_freq = bits >> 14 & 15;
	config->nom_freq = 10; /* of the emulated CPU, and of a bus of 100 MHz */
	config->cpuid_0x15_eax = ratio.eax;
	config->cpuid_0x15_ebx = ratio.ebx;
}

/* @bits: attr.config of the trace. */
static inline struct decoded trace_decode_of(const uint8_t *from, size_t size, uint64_t bits)
{
	struct pt_image *image = decode_image ? : pt_image_alloc(NULL);
	struct pt_insn_decoder *decoder;
	struct pt_config config;
	struct decoded d = { 0 };
	int status;

	pt_config_init(&config);
	config.begin = (uint8_t *)from;
	config.end = (uint8_t *)from + size;
	decode_clocks(&config, bits);
	if (decode_filtered || decode_stops) {
		/* What is traced, or where it stops */
		config.addr_filter.config.ctl.addr0_cfg = decode_stops ? 2 : 1;
		config.addr_filter.addr0_a = decode_from;
		config.addr_filter.addr0_b = decode_to;
	}
	if (!decode_image)
		add_program(image, TRACED);
	decoder = pt_insn_alloc_decoder(&config);
	cr_assert_not_null(decoder);
	pt_insn_set_image(decoder, image);
	for (;;) {
		status = pt_insn_sync_forward(decoder);
		if (status < 0)
			break;
		decode_events(decoder, status);
		decode_piece(decoder, &d);
	}
	cr_assert_eq(status, -pte_eos, "%s", pt_errstr(pt_errcode(status)));
	pt_insn_free_decoder(decoder);
	if (!decode_image)
		pt_image_free(image);
	return d;
}

static inline struct decoded trace_decode(const uint8_t *from, size_t size)
{
	return trace_decode_of(from, size, 0);
}

/* The same of two pieces that follow on each other, where a buffer wraps */
static inline struct decoded trace_decode_wrapped(const uint8_t *first, size_t n,
						  const uint8_t *second, size_t m)
{
	uint8_t *all = malloc(n + m);
	struct decoded d;

	memcpy(all, first, n);
	memcpy(all + n, second, m);
	d = trace_decode(all, n + m);
	free(all);
	return d;
}

#endif /* VM_AUX_H */
