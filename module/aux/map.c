// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX buffers of events that trace. They are mapped where user space said in the metadata
 * page that it wants them, beside the ring of the same event. Process context only.
 *
 * A buffer is given to the event, and taken away from it, on the CPU on which the event may be
 * running, so that no trace knows it afterwards.
 */
#include <linux/err.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/mutex.h>

#include "aux/aux.h"
#include "core/context.h"
#include "sample/buffer.h"
#include "sample/output.h"

/**
 * struct place - what the metadata page says
 * @offset: aux_offset.
 * @size: aux_size.
 */
struct place {
	u64 offset;
	u64 size;
};

static int check_place(const struct pmuctl_buffer *buffer, u64 offset, u64 size,
		       struct pmuctl_explanation *why)
{
	const struct perf_event_mmap_page *user = buffer->ring->user;
	const struct place said = {
		.offset = READ_ONCE(user->aux_offset),
		.size = READ_ONCE(user->aux_size),
	};

	if (said.offset != offset)
		return pmuctl_refuse(why, AUX_OFFSET, "aux_offset", said.offset, offset);
	if (said.size != size)
		return pmuctl_refuse(why, AUX_SIZE, "aux_size", said.size, size);
	if (offset < (buffer->nr_pages + 1) << PAGE_SHIFT)
		return pmuctl_refuse(why, AUX_OVERLAP, "aux_offset", offset,
				     (u64)(buffer->nr_pages + 1) << PAGE_SHIFT);
	if (!is_power_of_2(size))
		return pmuctl_refuse(why, AUX_POWER, "aux_size", size);
	return 0;
}

struct change {
	struct pmuctl_event *event;
	struct auxbuf *buf;
};

static void change_buf(struct pmuctl_context *ctx, void *arg)
{
	const struct change *change = arg;

	pmuctl_aux_set_buf(change->event, change->buf);
}

static void set_buf(struct pmuctl_event *event, struct auxbuf *buf)
{
	struct change change = { event, buf };

	pmuctl_aux_call(event, change_buf, &change);
}

static int make_buf(struct pmuctl_event *event, unsigned long nr_pages,
		    unsigned int flags, struct pmuctl_explanation *why)
{
	struct pmuctl_aux *aux = event->aux;
	struct auxbuf *buf;
	int err;

	err = pmuctl_charge(&aux->charge, nr_pages, why);
	if (err)
		return err;
	buf = auxbuf_alloc(aux->buffer->ring->user, nr_pages, flags, aux->watermark);
	if (buf && aux->driver->unit->alloc(&aux->trace, buf)) {
		cpumask_clear(&aux->ran);
		set_buf(event, buf);
		return 0;
	}
	auxbuf_free(buf);
	pmuctl_uncharge(&aux->charge);
	return pmuctl_refuse(why, NO_MEMORY, "");
}

static int map_first(struct pmuctl_event *event, u64 offset, unsigned long nr_pages,
		     unsigned int flags, struct pmuctl_explanation *why)
{
	struct pmuctl_aux *aux = event->aux;
	int err;

	aux->buffer = event->output ? pmuctl_buffer_map_own(event->output) : NULL;
	if (!aux->buffer)
		return pmuctl_refuse(why, AUX_NO_RING, "");
	err = check_place(aux->buffer, offset, (u64)nr_pages << PAGE_SHIFT, why);
	if (!err)
		err = make_buf(event, nr_pages, flags, why);
	if (err)
		pmuctl_buffer_unmap(event->output, aux->buffer);
	return err;
}

struct auxbuf *pmuctl_aux_map(struct pmuctl_event *event, u64 offset,
			      unsigned long nr_pages, unsigned int flags,
			      struct pmuctl_explanation *why)
{
	struct pmuctl_aux *aux = event->aux;
	u64 size = (u64)nr_pages << PAGE_SHIFT;
	int err = 0;

	mutex_lock(&aux->map_mutex);
	if (!aux->mappings)
		err = map_first(event, offset, nr_pages, flags, why);
	else if (aux->buf->size != size)
		err = pmuctl_refuse(why, AUX_SIZE, "", aux->buf->size, size);
	if (!err)
		aux->mappings++;
	mutex_unlock(&aux->map_mutex);
	return err ? ERR_PTR(err) : aux->buf;
}

struct page *pmuctl_aux_page(const struct pmuctl_event *event, unsigned long n)
{
	return auxbuf_page(event->aux->buf, n);
}

void pmuctl_aux_map_again(struct pmuctl_event *event)
{
	mutex_lock(&event->aux->map_mutex);
	event->aux->mappings++;
	mutex_unlock(&event->aux->map_mutex);
}

void pmuctl_aux_unmap(struct pmuctl_event *event)
{
	struct pmuctl_aux *aux = event->aux;
	struct auxbuf *buf = aux->buf;

	mutex_lock(&aux->map_mutex);
	if (!--aux->mappings) {
		set_buf(event, NULL);
		aux->driver->unit->free(&aux->trace, &aux->ran);
		auxbuf_free(buf);
		pmuctl_uncharge(&aux->charge);
		pmuctl_buffer_unmap(event->output, aux->buffer);
	}
	mutex_unlock(&aux->map_mutex);
}
