// SPDX-License-Identifier: GPL-2.0-only
/*
 * Samples: PERF_RECORD_SAMPLE with the fields that attr.sample_type asks for, in the order
 * and layout of <linux/perf_event.h>. Runs in NMIs: the sample is put together in per-CPU
 * memory, of which there is a piece for each context that may interrupt the others, and
 * copied to the ring in one go; only a piece of a stack goes there by itself.
 */
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include <asm/cpufeature.h>
#include <asm/ptrace.h>

#include "core/cgroup.h"
#include "core/event.h"
#include "core/may_tell.h"
#include "core/times.h"
#include "sample/branches.h"
#include "sample/callchain.h"
#include "sample/output.h"
#include "sample/sample.h"
#include "sample/sampling.h"

/* The header, IDENTIFIER, IP, TID, TIME, ADDR, ID, STREAM_ID, CPU, PERIOD */
#define FIXED_WORDS	10
/* A size of 4 bytes, and the first 4 of what is told */
#define RAW_WORDS	1
/* Every group member has up to 3 words, and there are up to 3 before them. */
#define READ_WORDS	(3 + 3 * PMUCTL_GROUP_SAMPLED_MAX)
/* Their number, two markers, the addresses */
#define CHAIN_WORDS	(3 + PMUCTL_STACK_MAX)
/* The ABI and the registers, twice */
#define REGS_WORDS	(2 * (1 + 64))
/* The number of a cgroup */
#define LAST_WORDS	1
/* Of a stack, at a time */
#define STACK_BYTES	512

/* Task, softirq, hard IRQ, NMI */
#define LEVELS		4

/**
 * struct scratch - where a sample is put together
 * @words: all of it, but for the stack.
 * @stack: pieces of that.
 * @entry: registers of a program that has just entered the kernel.
 * @busy: it is in use: what writes a sample may be what another one is to tell of.
 */
struct scratch {
	u64 words[FIXED_WORDS + RAW_WORDS + READ_WORDS + CHAIN_WORDS + PMUCTL_BRANCHES_WORDS +
		  REGS_WORDS + LAST_WORDS];
	u8 stack[STACK_BYTES];
	struct pt_regs entry;
	bool busy;
};

struct scratches {
	struct scratch level[LEVELS];
};

DEFINE_PER_CPU(u32, pmuctl_stacks_left) = PMUCTL_STACKS_MAX;
DEFINE_PER_CPU(s32, pmuctl_members_left) = PMUCTL_MEMBERS_MAX;

/* Allocated when the first event is sampled */
static struct scratches __percpu *scratches;

int pmuctl_sample_get(void)
{
	struct scratches __percpu *new;

	if (READ_ONCE(scratches))
		return 0;
	new = alloc_percpu(struct scratches);
	if (!new)
		return -ENOMEM;
	if (cmpxchg(&scratches, NULL, new))
		free_percpu(new);
	return 0;
}

void pmuctl_sample_exit(void)
{
	free_percpu(scratches);
}

/* Those of put_ids() */
#define SMALL_FIELDS							\
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |	\
	 PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_ID |		\
	 PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

static struct scratch *this_scratch(void)
{
	unsigned int level = in_nmi() ? 3 : in_hardirq() ? 2 :
			     in_serving_softirq() ? 1 : 0;

	return &this_cpu_ptr(scratches)->level[level];
}

/*
 * Of a task that has told its end nothing more is told as its own: the memory of user tasks
 * goes before that. An event of a task counts no more then.
 */
static bool has_ended(const struct task_struct *task)
{
	return (task->flags & (PF_EXITING | PF_KTHREAD)) == PF_EXITING &&
		!task->mm;
}

/*
 * Events of a task are on the PMU before the switch to it is over: the current task, and all that
 * is known of user space and of the stack, is another's then, of whom nothing may be told.
 */
static bool is_still_coming(const struct pmuctl_event *event)
{
	const struct task_struct *task = event->context->task;

	return task && task != current;
}

static u64 ids_of_task(const struct pmuctl_event *event)
{
	const struct pmuctl_output *output = event->output;
	struct task_struct *task = pmuctl_event_task(event);

	if (unlikely(has_ended(task)) && !event->context->task)
		return -1ULL;
	if (likely(output->namespace == &init_pid_ns))
		return task->tgid | (u64)task->pid << 32;
	return pmuctl_output_pid(output, task) |
	       (u64)pmuctl_output_tid(output, task) << 32;
}

/*
 * The overflow may be told a few instructions late, in the kernel. Of an event that is not
 * to count there nothing of the kernel may be told: what the program did last was to enter
 * it, so that is where the sample belongs. Before SYSCALL's first instructions in the kernel
 * have changed the stack, where the program goes on is in RCX (SDM Vol. 2B, "SYSCALL"). With
 * page table isolation the stack pointer may be an address of page tables there.
 */
static struct pt_regs *allowed_regs(const struct pmuctl_event *event, struct pt_regs *regs)
{
	struct pt_regs *entry;

	if (!event->output->user_only || user_mode(regs))
		return regs;
	if (unlikely(is_still_coming(event)))
		return NULL;
	if (pmuctl_regs_have_stack(regs))
		return pmuctl_regs_user(regs);
	entry = &this_scratch()->entry;
	*entry = *regs;
	entry->ip = regs->cx;
	entry->flags = regs->r11;
	if (boot_cpu_has(X86_FEATURE_PTI))
		entry->sp = 0;
	entry->cs = __USER_CS;
	entry->ss = __USER_DS;
	return entry;
}

static u16 misc_of(const struct pt_regs *regs)
{
	if (!regs)
		return PERF_RECORD_MISC_CPUMODE_UNKNOWN;
	return user_mode((struct pt_regs *)regs) ? PERF_RECORD_MISC_USER :
						   PERF_RECORD_MISC_KERNEL;
}

/* What was accessed, if that is known */
static u64 address_of(const struct pmuctl_event *event)
{
	const struct pmuctl_sample_data *data = event->sampling->data;

	return data ? data->address : 0;
}

/* ---- Fields; each returns where the next one goes ---- */

static u64 *put_ids(u64 *out, const struct pmuctl_event *event,
		    const struct pt_regs *regs, u64 period)
{
	const struct pmuctl_output *output = event->output;
	const u64 type = output->sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		*out++ = output->id;
	if (type & PERF_SAMPLE_IP)
		*out++ = regs ? regs->ip : 0;
	if (type & PERF_SAMPLE_TID)
		*out++ = ids_of_task(event);
	if (type & PERF_SAMPLE_TIME)
		*out++ = output->clock();
	if (type & PERF_SAMPLE_ADDR)
		*out++ = address_of(event);
	if (type & PERF_SAMPLE_ID)
		*out++ = output->id;
	if (type & PERF_SAMPLE_STREAM_ID)
		*out++ = event->stream_id;
	if (type & PERF_SAMPLE_CPU)
		*out++ = smp_processor_id();
	if (type & PERF_SAMPLE_PERIOD)
		*out++ = period;
	return out;
}

static u64 value_of(const struct pmuctl_event *event)
{
	const u64 count = pmuctl_event_is_hw(event) ?
				  hwpmu_read_in_nmi(&event->state->counter) :
				  pmuctl_count_soft(event);

	return count - event->state->base;
}

/* The value, and what follows it, of one event */
static u64 *put_value(u64 *out, u64 format, const struct pmuctl_event *event)
{
	*out++ = value_of(event);
	if (format & PERF_FORMAT_ID)
		*out++ = event->id;
	if (format & PERF_FORMAT_LOST)
		*out++ = pmuctl_event_lost(event);
	return out;
}

/* What read() would give at this instant; the context is loaded here. */
static u64 *put_read(u64 *out, struct pmuctl_event *event)
{
	const u64 format = event->output->read_format;
	const struct pmuctl_times times = pmuctl_times_tell(event->state);
	struct pmuctl_event *each;
	u64 *nr = out;

	if (format & PERF_FORMAT_GROUP)
		*out++ = 0;
	else
		*out++ = value_of(event);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		*out++ = times.enabled;
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		*out++ = times.running;
	if (format & PERF_FORMAT_GROUP) {
		/* More may be there that an exec has taken from the root's. */
		for_each_group_member(each, event->leader) {
			if (*nr == PMUCTL_GROUP_SAMPLED_MAX)
				break;
			out = put_value(out, format, each);
			++*nr;
		}
		if (!pmuctl_event_is_hw(event))
			this_cpu_sub(pmuctl_members_left, *nr);
	} else {
		if (format & PERF_FORMAT_ID)
			*out++ = event->id;
		if (format & PERF_FORMAT_LOST)
			*out++ = pmuctl_event_lost(event);
	}
	return out;
}

/* Bytes of stacks that it may still tell of: of counters few overflow at a time. */
static u32 stacks_left(const struct pmuctl_event *event)
{
	return pmuctl_event_is_hw(event) ? U32_MAX : this_cpu_read(pmuctl_stacks_left);
}

static void take_stacks(const struct pmuctl_event *event, u32 bytes)
{
	u32 left = stacks_left(event);

	if (!pmuctl_event_is_hw(event))
		this_cpu_write(pmuctl_stacks_left, left - min(left, bytes));
}

static u64 *put_callchain(u64 *out, const struct pmuctl_event *event, struct pt_regs *regs)
{
	const struct pmuctl_output *output = event->output;
	u32 most = min_t(u32, output->max_stack, stacks_left(event) / PMUCTL_FRAME_BYTES);
	bool coming = is_still_coming(event);

	*out = 0;
	if (unlikely(coming))
		most = min(most, 1u); /* the place, but not who called */
	if (regs && most)
		*out = pmuctl_callchain(out + 1, CHAIN_WORDS - 1, most, regs,
					output->chain_kernel, output->chain_user && !coming);
	take_stacks(event, *out * PMUCTL_FRAME_BYTES);
	return out + 1 + *out;
}

/* Its size, and the first 4 bytes of what a tracepoint tells, or zeros. */
static u64 *put_raw(u64 *out, const struct pmuctl_sample_data *data)
{
	u32 *words = (u32 *)out;

	words[0] = sizeof(u32);
	words[1] = 0;
	if (data && data->raw) {
		words[0] = data->raw_size;
		memcpy(&words[1], data->raw, sizeof(u32));
	}
	return out + 1;
}

/* The others, which are not put together before. */
static u32 rest_of_raw(const struct pmuctl_sample_data *data)
{
	return data && data->raw ? data->raw_size - sizeof(u32) : 0;
}

/* The ABI, and the registers if there are any */
static u64 *put_regs(u64 *out, u64 mask, const struct pt_regs *regs)
{
	*out++ = regs ? pmuctl_regs_abi() : PERF_SAMPLE_REGS_ABI_NONE;
	return regs ? out + pmuctl_regs_fill(out, mask, regs) : out;
}

/* ---- The user's stack ---- */

/* What there is room for in a record that already has some bytes */
static u32 stack_size(const struct pmuctl_event *event, const struct pt_regs *user, u32 others)
{
	u32 room = (U16_MAX & ~7U) - others - 2 * sizeof(u64);

	return pmuctl_stack_user_size(user, min3(event->output->stack_user, room,
						 stacks_left(event)));
}

/* Its size, as many bytes, and how many of them are true; the others are 0. */
static void write_stack(struct ring_handle *h, struct scratch *scratch,
			const struct pt_regs *user, u32 size)
{
	u32 done = 0, offset, piece, got;
	bool more = true;

	ring_write_u64(h, size);
	for (offset = 0; offset < size; offset += piece) {
		piece = min_t(u32, size - offset, STACK_BYTES);
		got = 0;
		if (more)
			got = pmuctl_stack_user_copy(scratch->stack, user,
						     offset, piece);
		more = got == piece;
		memset(scratch->stack + got, 0, piece - got);
		ring_write(h, scratch->stack, piece);
		done += got;
	}
	if (size)
		ring_write_u64(h, done);
}

/* ---- The whole ---- */

static bool is_time_to_wake(struct pmuctl_output *output)
{
	if (!output->wakeup_events)
		return false;
	if (atomic_inc_return(&output->samples) < output->wakeup_events)
		return false;
	atomic_set(&output->samples, 0);
	return true;
}

/* The fields up to the first word of PERF_SAMPLE_RAW */
static u64 *put_first_fields(u64 *out, struct pmuctl_event *event, struct pt_regs *regs, u64 period)
{
	const u64 type = event->output->sample_type;

	out = put_ids(out, event, regs, period);
	if (type & PERF_SAMPLE_READ)
		out = put_read(out, event);
	if (type & PERF_SAMPLE_CALLCHAIN)
		out = put_callchain(out, event, regs);
	if (type & PERF_SAMPLE_RAW)
		out = put_raw(out, event->sampling->data);
	return out;
}

/* Those from there to the stack; @user is set to the registers of user space. */
static u64 *put_next_fields(u64 *out, const struct pmuctl_event *event, struct pt_regs *regs,
			    struct pt_regs **user)
{
	const struct pmuctl_output *output = event->output;
	const u64 type = output->sample_type;

	if (type & PERF_SAMPLE_BRANCH_STACK)
		out = pmuctl_branches_put(out, event);
	if ((type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)) && regs &&
	    !is_still_coming(event))
		*user = pmuctl_regs_user(regs);
	if (type & PERF_SAMPLE_REGS_USER)
		out = put_regs(out, output->regs_user, *user);
	return out;
}

static void fill_header(struct perf_event_header *header, u32 size,
			const struct pt_regs *regs)
{
	header->type = PERF_RECORD_SAMPLE;
	header->misc = misc_of(regs);
	header->size = size;
}

static void finish(struct pmuctl_output *output, struct ring_handle *h)
{
	bool due = is_time_to_wake(output);

	this_cpu_inc(pmuctl_output_stats.samples);
	/* If another record is still open, this is hidden, and the other one wakes once more. */
	if (due)
		ring_ask(h);
	/* Who wants a signal of this event gets it in any case. */
	if (ring_commit(h) | due)
		pmuctl_output_wake(output);
}

/**
 * struct parts - of a sample, as bytes
 * @first: up to the first word of PERF_SAMPLE_RAW.
 * @raw: the rest of that.
 * @before: from there to the stack.
 * @stack: of that, which has a size before it, and one behind it if it is not empty.
 * @after: behind it.
 */
struct parts {
	u32 first, raw, before, stack, after;
};

/* Room for all of it, and what comes before the stack */
static bool begin(struct pmuctl_event *event, struct ring_handle *h, u64 *words,
		  const struct parts *parts, const struct pt_regs *regs)
{
	u32 size = parts->first + parts->raw + parts->before + parts->after;

	if (event->output->sample_type & PERF_SAMPLE_STACK_USER)
		size += sizeof(u64) + (parts->stack ? parts->stack + sizeof(u64) : 0);
	fill_header((void *)words, size, regs);
	if (!pmuctl_output_reserve(event, h, size))
		return false;
	ring_write(h, words, parts->first);
	if (parts->raw)
		ring_write(h, event->sampling->data->raw + sizeof(u32), parts->raw);
	if (parts->before)
		ring_write(h, (void *)words + parts->first, parts->before);
	return true;
}

/* Is there nothing left of what all of a hit may tell of groups, if it is to? */
static bool is_one_group_too_many(const struct pmuctl_event *event)
{
	const struct pmuctl_output *output = event->output;

	return output->sample_type & PERF_SAMPLE_READ && output->read_format & PERF_FORMAT_GROUP &&
		!pmuctl_event_is_hw(event) && this_cpu_read(pmuctl_members_left) <= 0;
}

static bool is_raw_missing(const struct pmuctl_event *event)
{
	const struct pmuctl_sample_data *data = event->sampling->data;

	return event->output->sample_type & PERF_SAMPLE_RAW && data && data->raw_missing;
}

static void write_sample(struct pmuctl_event *event, struct pt_regs *regs, u64 period)
{
	struct pmuctl_output *output = event->output;
	struct scratch *scratch = this_scratch();
	const u64 type = output->sample_type;
	u64 *const words = scratch->words;
	struct parts parts = { };
	struct pt_regs *user = NULL;
	struct ring_handle h;
	u64 *raw, *stack, *end;

	if (unlikely(is_one_group_too_many(event) || is_raw_missing(event))) {
		pmuctl_output_lose(output);
		return;
	}
	raw = put_first_fields(words + 1, event, regs, period);
	stack = put_next_fields(raw, event, regs, &user);
	end = stack;
	if (type & PERF_SAMPLE_REGS_INTR)
		end = put_regs(stack, output->regs_intr, is_still_coming(event) ? NULL : regs);
	if (type & PERF_SAMPLE_CGROUP)
		*end++ = pmuctl_cgroup_id_of(pmuctl_event_task(event));
	parts.first = (raw - words) * sizeof(*words);
	parts.before = (stack - raw) * sizeof(*words);
	parts.after = (end - stack) * sizeof(*words);
	if (type & PERF_SAMPLE_RAW)
		parts.raw = rest_of_raw(event->sampling->data);
	if (type & PERF_SAMPLE_STACK_USER) {
		parts.stack = stack_size(event, user, parts.first + parts.raw + parts.before +
					 parts.after);
		take_stacks(event, parts.stack);
	}
	if (!begin(event, &h, words, &parts, regs))
		return;
	if (type & PERF_SAMPLE_STACK_USER)
		write_stack(&h, scratch, user, parts.stack);
	if (parts.after)
		ring_write(&h, stack, parts.after);
	finish(output, &h);
}

/* Of fields whose size is known the sample is put together right in the ring. */
static void write_fixed_sample(struct pmuctl_event *event, const struct pt_regs *regs,
			       u64 period)
{
	struct pmuctl_output *output = event->output;
	struct ring_handle h;

	if (!pmuctl_output_reserve(event, &h, output->sample_size))
		return;
	fill_header(h.to, output->sample_size, regs);
	put_ids((u64 *)h.to + 1, event, regs, period);
	finish(output, &h);
}

u32 pmuctl_sample_size(u64 type)
{
	if (type & ~SMALL_FIELDS)
		return 0;
	return sizeof(struct perf_event_header) + sizeof(u64) * hweight64(type);
}

void pmuctl_sample_put(struct pmuctl_event *event, struct pt_regs *regs,
		       u64 period)
{
	if (unlikely(!pmuctl_may_tell(event)))
		return;
	regs = allowed_regs(event, regs);
	if (event->output->sample_size) {
		write_fixed_sample(event, regs, period);
	} else if (likely(!this_scratch()->busy)) {
		WRITE_ONCE(this_scratch()->busy, true);
		write_sample(event, regs, period);
		WRITE_ONCE(this_scratch()->busy, false);
	} else {
		pmuctl_output_lose(event->output);
	}
}
