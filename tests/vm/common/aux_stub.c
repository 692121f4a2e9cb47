// SPDX-License-Identifier: GPL-2.0-only
#include "aux_decode.h"
#include "aux_stub.h"

#include <fcntl.h>
#include <sys/mman.h>

void stub_make(void)
{
	static const uint8_t code[STUB_SIZE] = { 0xeb, 0x02, 0x90, 0x90, 0xc3 };
	AUTO_CLOSE int fd = open(STUB, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

	cr_assert_eq(write(fd, code, sizeof(code)), (ssize_t)sizeof(code));
	cr_assert_eq(ftruncate(fd, TRACE_PAGE), 0);
}

void (*volatile stub)(void);

/* Also in children of the test, where nothing may be asserted */
void stub_map(void)
{
	int fd = open(STUB, O_RDONLY | O_CLOEXEC);
	void *map = mmap(NULL, TRACE_PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_POPULATE, fd, 0);

	if (map == MAP_FAILED)
		_exit(99);
	close(fd);
	if (stub)
		munmap((void *)stub, TRACE_PAGE);
	stub = (void (*)(void))map;
}

void stub_call(unsigned int times)
{
	while (times--)
		stub();
}

/* By its place in the page, which is somewhere else in each process */
static bool is_first(uint64_t ip, uint64_t at)
{
	return (ip - at) % TRACE_PAGE == 0;
}

/* What an interrupt ends before its first instruction begins once more afterwards. */
unsigned int stub_begins(const struct trace *t, uint64_t at)
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
		if (status >= 0 && event.type == ptev_async_disabled)
			begins -= is_first(event.variant.async_disabled.at, at);
		if (status < 0 || event.type != ptev_enabled)
			continue;
		ip = event.variant.enabled.ip;
		cr_assert_lt((ip - at) % TRACE_PAGE, STUB_SIZE, "it begins at %#lx", ip);
		begins += is_first(ip, at);
	}
	cr_assert_eq(status, -pte_eos, "%s", pt_errstr(pt_errcode(status)));
	pt_qry_free_decoder(decoder);
	return begins;
}
