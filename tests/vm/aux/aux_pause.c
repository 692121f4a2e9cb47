// SPDX-License-Identifier: GPL-2.0-only
/* libs: -lipt */
/*
 * One system call of a thousand, picked by two tracepoints that resume and pause the trace of
 * the kernel: nothing but that call's way is in the trace, and the trace is smaller by as
 * much as it should be. For --cpu intel-pt.
 */
#include "aux_busy.h"
#include "aux_code.h"

TestSuite(aux_pause, .timeout = 600);

#define CALLS	1000
#define NTH	600	/* that is traced */
#define NEVER	1000000
#define FILTER	"id == 110"	/* getppid */

/* What the analysis of a trace has found */
static struct {
	uint64_t entry, call;		/* addresses: the kernel's entry, the call's function */
	unsigned int entries, calls;	/* how often it came there */
	const char *stranger;		/* a function that should not be there */
} seen;

/* ---- Functions of the kernel ---- */

struct function {
	uint64_t at;
	bool ours;		/* of the module */
	bool executed;		/* in all calls */
	char name[56];
};

static struct function *functions;
static size_t nr_functions;

static int by_address(const void *left, const void *right)
{
	const struct function *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

static void read_functions(void)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[400], module[100];
	size_t room = 0;

	while (fgets(line, sizeof(line), file)) {
		struct function f = { 0 };
		char type;

		module[0] = '\0';
		if (sscanf(line, "%lx %c %55s %99s", &f.at, &type, f.name, module) < 3 ||
		    (type != 't' && type != 'T' && type != 'w' && type != 'W'))
			continue;
		f.ours = !strcmp(module, "[pmuctl]");
		if (nr_functions == room) {
			room = room ? 2 * room : 65536;
			functions = realloc(functions, room * sizeof(f));
		}
		functions[nr_functions++] = f;
	}
	fclose(file);
	qsort(functions, nr_functions, sizeof(*functions), by_address);
}

static struct function *function_at(uint64_t ip)
{
	size_t low = 0, high = nr_functions;

	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (functions[mid].at <= ip)
			low = mid;
		else
			high = mid;
	}
	/* Of several names of one place, the first */
	while (low && functions[low - 1].at == functions[low].at)
		low--;
	return &functions[low];
}

/* ---- Decoding ---- */

static void look(uint64_t ip)
{
	seen.entries += ip == seen.entry;
	seen.calls += ip == seen.call;
}

static void look_at_all(uint64_t ip)
{
	look(ip);
	function_at(ip)->executed = true;
}

/* The picked call leads nowhere where the others did not; the tracepoints act in it alone. */
static void look_at_one(uint64_t ip)
{
	const struct function *f = function_at(ip);

	look(ip);
	if (!f->executed && !f->ours)
		seen.stranger = f->name;
}

/* Bytes that tell of branches: all but what each beginning of a trace has of its own */
static size_t branch_bytes(const struct trace *t)
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;
	bool in_psb = false;
	size_t bytes = 0;

	pt_config_init(&config);
	config.begin = (uint8_t *)t->aux;
	config.end = (uint8_t *)t->aux + t->bytes;
	decoder = pt_pkt_alloc_decoder(&config);
	cr_assert_eq(pt_pkt_sync_forward(decoder), 0);
	while (pt_pkt_next(decoder, &packet, sizeof(packet)) > 0) {
		in_psb = packet.type == ppt_psb || (in_psb && packet.type != ppt_psbend);
		if (!in_psb && (packet.type == ppt_tnt_8 || packet.type == ppt_tnt_64 ||
				packet.type == ppt_tip || packet.type == ppt_fup))
			bytes += packet.size;
	}
	pt_pkt_free_decoder(decoder);
	return bytes;
}

/* ---- Recording ---- */

struct result {
	struct decoded decoded;
	size_t bytes;		/* of it, that tell of branches */
	uint64_t all_bytes;
	unsigned int entries, calls;
	const char *stranger;	/* a function that is none of a call's */
};

static void decode(struct result *r, const struct trace *t, void (*visit)(uint64_t ip))
{
	decode_kernel();
	decode_visit = visit;
	seen.entries = 0;
	seen.calls = 0;
	seen.stranger = NULL;
	r->decoded = trace_decode(t->aux, t->bytes);
	decode_visit = NULL;
	decode_kernel_end();
	cr_assert_eq(r->decoded.errors, 0, "%s", r->decoded.error);
	r->entries = seen.entries;
	r->calls = seen.calls;
	r->stranger = seen.stranger;
	r->bytes = branch_bytes(t);
	r->all_bytes = t->bytes;
}

/* Trace the kernel during the calls: all of them, or the one. The tracepoints are the same. */
static struct result record(bool one)
{
	union raw_attr attr = trace_attr();
	uint64_t period = one ? NTH : NEVER;
	struct result r;
	int resume, pause;
	struct trace t;

	attr.attr.enable_on_exec = 0;
	attr.attr.exclude_kernel = 0;
	attr.attr.exclude_user = 1;
	/* A return can be compressed only if its call was traced, as not all of the one's were. */
	attr.attr.config |= 1 << 11;
	if (one)
		attr = trace_with_action(attr, PMUCTL_AUX_START_PAUSED);
	trace_open(&t, &attr, 0, -1, 1024, PROT_READ | PROT_WRITE);
	resume = trace_open_trigger("raw_syscalls:sys_enter", PMUCTL_AUX_RESUME, period, t.fd,
				    FILTER);
	pause = trace_open_trigger("raw_syscalls:sys_exit", PMUCTL_AUX_PAUSE, period, t.fd, FILTER);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	for (int i = 0; i < CALLS; i++)
		syscall(SYS_getppid);
	cr_assert_eq(ioctl(t.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	trace_records(&t);
	cr_assert_eq(t.truncated, 0);
	decode(&r, &t, one ? look_at_one : look_at_all);
	if (one) {
		struct pmuctl_aux_status s = trace_status(t.fd);

		cr_assert_eq(s.resumes, 1);
		cr_assert_eq(s.pauses, 1);
		cr_assert_eq(s.idle + s.missed, 0);
	}
	close(pause);
	close(resume);
	trace_close(&t);
	return r;
}

/*
 * What interrupts a call adds to it: so the shortest of several recordings. The one call is
 * interrupted more often than others: when the tracepoints are set, its code changes, and
 * the laboratory translates it while it is traced for the first time.
 */
static struct result record_shortest(bool one)
{
	struct result least = record(one);

	for (int i = 1; i < (one ? 12 : 3); i++) {
		struct result r = record(one);

		if (r.bytes < least.bytes)
			least = r;
	}
	return least;
}

/* At most: a TIP.PGE and a TIP.PGD, each with an address of eight bytes: SDM volume 3, 33.4.2 */
#define ENABLE_AND_DISABLE	18

Test(aux_pause, one_call_of_a_thousand)
{
	struct result all, one;
	double factor, share;

	read_functions();
	seen.entry = kernel_symbol("entry_SYSCALL_64");
	seen.call = kernel_symbol("__x64_sys_getppid");
	all = record_shortest(false);
	one = record_shortest(true);
	cr_assert_null(one.stranger, "%s is none of a call's functions", one.stranger);
	/* The ioctl that ends it, too */
	cr_assert_eq(all.entries, CALLS + 1, "%u", all.entries);
	cr_assert_eq(all.calls, CALLS, "%u", all.calls);
	cr_assert_eq(one.entries, 0, "%u", one.entries);
	cr_assert_eq(one.calls, 1, "%u", one.calls);
	/*
	 * The trace of the one is less than a thousandth, but for its own beginning and end: what
	 * comes before the one tracepoint and after the other is not in it. How much that is, its
	 * instructions tell; twice that is allowed, as branches are not spread evenly.
	 */
	factor = (double)all.bytes / one.bytes;
	share = (double)one.decoded.instructions * CALLS / all.decoded.instructions;
	fprintf(stderr,
		"all: %lu bytes, %zu of branches, %lu instructions; one: %lu, %zu, %lu: factor %.0f\n",
		all.all_bytes, all.bytes, all.decoded.instructions, one.all_bytes, one.bytes,
		one.decoded.instructions, factor);
	cr_assert_lt(share, 1, "%f", share);
	cr_assert_leq(one.bytes, all.bytes / CALLS + ENABLE_AND_DISABLE, "%f", factor);
	cr_assert_leq(factor, 2 * CALLS / share, "%f, a share of %f", factor, share);
	free(functions);
}
