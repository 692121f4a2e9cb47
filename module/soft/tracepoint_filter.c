// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters of events: what there is to look at in a tracepoint, and setting one. Where the event is
 * told the kernel's record of each hit, that is each field of the format that tracefs has of it.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/trace_events.h>

#include "core/quota.h"
#include "explain/explain.h"
#include "soft/tracepoint_private.h"
#include "soft/tracepoint_record.h"

static DEFINE_MUTEX(filters_mutex); /* pmuctl_tp.filter and .work; outside of the quota's */

/* ---- Fields of a record ---- */

#ifdef CONFIG_EVENT_TRACING

/*
 * The beginning of struct ftrace_event_field, which is in kernel/trace/trace.h: from 5.10 to 7.3
 * the same, but that @is_signed has become one bit, the lowest.
 */
struct kernel_field {
	struct list_head link;
	const char *name;
	const char *type;
	int filter_type;
	int offset;
	int size;
	unsigned int is_signed;
};

/* What all have that comes before; common_pid is known without a record as well. */
static const struct filter_field common[] = {
	{ "common_type", 0, FILTER_RECORD, offsetof(struct trace_entry, type),
	  sizeof_field(struct trace_entry, type) },
	{ "common_flags", 0, FILTER_RECORD, offsetof(struct trace_entry, flags),
	  sizeof_field(struct trace_entry, flags) },
	{ "common_preempt_count", 0, FILTER_RECORD, offsetof(struct trace_entry, preempt_count),
	  sizeof_field(struct trace_entry, preempt_count) },
};

static u8 type_of_number(const struct kernel_field *f)
{
	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return FILTER_RECORD_OTHER;
	return f->is_signed & 1 ? FILTER_RECORD_SIGNED : FILTER_RECORD;
}

/* As the kernel's filters take it: by the words of its type in C. A pointer to text leads away. */
static u8 type_of(const struct kernel_field *f)
{
	const bool chars = strstr(f->type, "char");

	if (strstr(f->type, "__data_loc"))
		return chars ? FILTER_RECORD_LOC : FILTER_RECORD_OTHER;
	if (strstr(f->type, "__rel_loc"))
		return chars ? FILTER_RECORD_REL : FILTER_RECORD_OTHER;
	if (strchr(f->type, '['))
		return chars ? FILTER_RECORD_TEXT : FILTER_RECORD_OTHER;
	if (!strcmp(f->type, "char *") || !strcmp(f->type, "const char *"))
		return FILTER_RECORD_OTHER;
	return type_of_number(f);
}

static struct list_head *list_of(struct trace_event_call *call)
{
	return call->class->get_fields ? call->class->get_fields(call) : &call->class->fields;
}

/* Those of an event that is pinned, as are their names; for kvfree(). NULL: no memory. */
static struct filter_field *make_fields(struct trace_event_call *call)
{
	struct list_head *list = list_of(call);
	unsigned int n = ARRAY_SIZE(common);
	const struct kernel_field *f;
	struct filter_field *fields;

	list_for_each_entry(f, list, link)
		n++;
	fields = kvcalloc(n + 1, sizeof(*fields), GFP_KERNEL);
	if (!fields)
		return NULL;
	memcpy(fields, common, sizeof(common));
	n = ARRAY_SIZE(common);
	list_for_each_entry(f, list, link)
		fields[n++] = (struct filter_field){
			.name = f->name, .type = type_of(f), .offset = f->offset, .size = f->size,
		};
	return fields;
}

/**
 * get_fields() - what there is in the records of a tracepoint
 * @t: which.
 * @file: is filled: what pins it, for trace_put_event_file(); NULL: nothing does.
 *
 * Return: the fields, for kvfree(); NULL: it has no records, or its event has gone; or
 * ERR_PTR(-ENOMEM).
 */
static struct filter_field *get_fields(const struct pmuctl_tracepoint *t,
				       struct trace_event_file **file)
{
	struct filter_field *fields;

	*file = t->source.record ? tracepoint_get_file(t->name) : NULL;
	if (!*file || !pmuctl_record_is_of(t->source.record, (*file)->event_call))
		return NULL;
	fields = make_fields((*file)->event_call);
	return fields ? fields : ERR_PTR(-ENOMEM);
}

static void put_fields(struct filter_field *fields, struct trace_event_file *file)
{
	kvfree(fields);
	if (file)
		trace_put_event_file(file);
}

#else
static struct filter_field *get_fields(const struct pmuctl_tracepoint *t,
				       struct trace_event_file **file)
{
	return NULL;
}

static void put_fields(struct filter_field *fields, struct trace_event_file *file) { }
#endif

/* ---- Setting one ---- */

/* @filter is freed if it is refused. */
static int replace(struct pmuctl_tp *tp, struct pmuctl_quota *quota, struct filter *filter,
		   struct pmuctl_explanation *why)
{
	const u32 work = filter ? filter->work : 0;
	struct filter *old = filter;
	int err;

	mutex_lock(&filters_mutex);
	err = pmuctl_quota_change_work(quota, tp->work, work, why);
	if (!err) {
		tp->work = work;
		old = rcu_replace_pointer(tp->filter, filter, lockdep_is_held(&filters_mutex));
	}
	mutex_unlock(&filters_mutex);
	if (!old)
		return err;
	if (!err)
		synchronize_rcu();
	kvfree(old);
	return err;
}

static int parse(const struct pmuctl_tracepoint *t, const char *text, struct filter *filter,
		 struct pmuctl_explanation *why)
{
	struct filter_names names = {
		.args = t->prototype->fields, .nr_args = t->prototype->nr_args,
	};
	struct trace_event_file *file;
	struct filter_field *fields;
	int err;

	fields = get_fields(t, &file);
	if (IS_ERR(fields))
		return pmuctl_refuse(why, NO_MEMORY, "");
	names.record = fields;
	err = filter_parse(text, &names, filter, why);
	put_fields(fields, file);
	return err;
}

int pmuctl_tp_set_filter(struct pmuctl_tp *tp, struct pmuctl_quota *quota, const char *text,
			 bool raw, struct pmuctl_explanation *why)
{
	struct filter *filter;
	int err;

	if (!*text)
		return replace(tp, quota, NULL, why);
	filter = kvzalloc(filter_size(text), GFP_KERNEL_ACCOUNT);
	if (!filter)
		return pmuctl_refuse(why, NO_MEMORY, "");
	err = parse(tp->tracepoint, text, filter, why);
	if (!err && filter->raw && !raw)
		err = pmuctl_refuse(why, PERM_RAW, "filter");
	if (!err)
		return replace(tp, quota, filter, why);
	kvfree(filter);
	return err;
}
