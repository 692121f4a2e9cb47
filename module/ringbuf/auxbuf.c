// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which part of an AUX buffer may be written; auxbuf.h explains it. This file compiles in
 * user space too. NMI-safe.
 */
#include "ringbuf/auxbuf.h"

void auxbuf_init(struct auxbuf *buf, struct perf_event_mmap_page *user, u64 size,
		 unsigned int flags, u64 watermark)
{
	memset(buf, 0, sizeof(*buf));
	buf->user = user;
	buf->size = size;
	buf->flags = flags;
	buf->watermark = watermark && watermark < size ? watermark : size / 2;
}

bool auxbuf_begin(const struct auxbuf *buf, struct auxbuf_span *span)
{
	u64 used;

	span->from = buf->head;
	span->room = buf->size;
	if (buf->flags & AUXBUF_OVERWRITE) {
		span->wake = ~0ULL;
		return true;
	}
	used = buf->head - smp_load_acquire(&buf->user->aux_tail); /* reader's release */
	if (used >= buf->size)
		return false; /* full, or a tail that is none */
	span->room -= used;
	span->wake = buf->woken + buf->watermark;
	return true;
}

bool auxbuf_end(struct auxbuf *buf, u64 bytes)
{
	u64 ahead;

	buf->head += bytes;
	if (buf->flags & AUXBUF_OVERWRITE) {
		smp_store_release(&buf->user->aux_head, buf->head & (buf->size - 1)); /* auxbuf.h */
		return false;
	}
	smp_store_release(&buf->user->aux_head, buf->head); /* auxbuf.h */
	ahead = buf->head - buf->woken;
	if (ahead < buf->watermark)
		return false;
	buf->woken = buf->head - ahead % buf->watermark;
	return true;
}
