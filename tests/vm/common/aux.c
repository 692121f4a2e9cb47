// SPDX-License-Identifier: GPL-2.0-only
#include "aux.h"

size_t trace_ring_pages = RING_PAGES;
bool (*trace_is_foreign)(pid_t pid);

uint32_t trace_type_of(uint32_t index, const char *name)
{
	struct pmuctl_driver driver = { .size = sizeof(driver), .index = index };

	cr_assert_eq(ioctl(raw_device(), PMUCTL_IOC_DRIVER, &driver), 0);
	cr_assert_str_eq(driver.name, name);
	cr_assert_str_eq(driver.reason, "", "%s", driver.reason);
	return driver.type;
}

uint32_t trace_type(void)
{
	return trace_type_of(0, "intel_pt");
}

union raw_attr trace_attr(void)
{
	union raw_attr a = raw_attr(trace_type(), 1 << 10 | 1 << 13 | 1); /* tsc, branch, pt */

	a.attr.enable_on_exec = 1;
	a.attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	a.attr.sample_id_all = 1;
	return a;
}

union raw_attr trace_with_action(union raw_attr a, uint32_t action)
{
	memcpy(a.bytes + PMUCTL_ATTR_AUX_ACTION, &action, sizeof(action));
	return a;
}

struct pmuctl_aux_status trace_status(int fd)
{
	struct pmuctl_aux_status s = { .size = sizeof(s) };

	cr_assert_eq(ioctl(fd, PMUCTL_IOC_AUX_STATUS, &s), 0);
	return s;
}

int trace_try_map(struct trace *t, size_t pages, int prot)
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

void trace_open(struct trace *t, union raw_attr *attr, pid_t pid, int cpu,
		size_t pages, int prot)
{
	memset(t, 0, sizeof(*t));
	t->fd = event_open(attr, pid, cpu);
	cr_assert_eq(trace_try_map(t, pages, prot), 0);
}

void trace_close(struct trace *t)
{
	munmap((void *)t->aux, t->size);
	munmap(t->page, (1 + trace_ring_pages) * TRACE_PAGE);
	close(t->fd);
}

/* Do AUX records follow on each other? */
static void trace_check_gap(const struct trace *t, uint64_t offset)
{
	if (t->gap && offset % t->size == 0)
		cr_assert_leq(offset - t->end, t->gap, "%lu bytes left out", offset - t->end);
	else
		cr_assert_eq(offset, t->end, "a gap between AUX records");
}

void trace_records(struct trace *t)
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
				trace_check_gap(t, words[1]);
			t->end = words[1] + words[2];
			t->bytes += words[2];
			if (t->watched && (uint32_t)words[4] == t->watched) {
				t->watched_bytes += words[2];
				t->watched_records++;
			}
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

struct traced traced_start(const char *const *arguments)
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

void traced_go(struct traced *t)
{
	cr_assert_eq(write(t->go, "g", 1), 1);
	close(t->go);
}

void traced_wait(struct traced *t)
{
	int status;

	cr_assert_eq(waitpid(t->pid, &status, 0), t->pid);
	cr_assert(WIFEXITED(status) && !WEXITSTATUS(status), "status %x", status);
}

void trace_pin(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	cr_assert_eq(sched_setaffinity(pid, sizeof(set), &set), 0);
}

int trace_count(pid_t pid, uint64_t config)
{
	union raw_attr attr = raw_attr(PERF_TYPE_HARDWARE, config);

	attr.attr.enable_on_exec = 1;
	return event_open(attr, pid);
}

bool trace_files_refused(void)
{
	union raw_attr a = trace_attr();
	struct pmuctl_explanation why;
	int fd;

	if (!raw_kernel_before(5, 11))
		return false;
	fd = event_open(a);
	cr_assert_eq(ioctl(fd, PERF_EVENT_IOC_SET_FILTER, "filter 0/32@/bin/sh"), -1);
	cr_assert_eq(errno, EOPNOTSUPP, "%m");
	raw_explain(fd, &why);
	check_why(&why, EOPNOTSUPP, PMUCTL_WHY_NO_MMAP_HOOK, "filter",
		  "this kernel lets no probe be set on perf_event_mmap that can tell of mappings: clear attr.mmap, mmap2 and mmap_data, and give filters addresses without a file");
	close(fd);
	return true;
}
