// SPDX-License-Identifier: GPL-2.0-only
/*
 * New programs: made up, or changed from others. Most choices are such as a program that
 * is meant well would make: an open event, the target of the group's leader.
 */
#include <linux/perf_event.h>
#include <linux/pmuctl.h>
#include <string.h>

#include "run.h"

static uint64_t state = 88172645463325252ULL;

void mutate_seed(uint64_t seed)
{
	state = (seed + 1) * 0x9e3779b97f4a7c15ULL | 1;
}

uint64_t mutate_random(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

static bool percent(unsigned int n)
{
	return mutate_random(100) < n;
}

/* ---- Values ---- */

static int64_t number(void)
{
	static const int64_t interesting[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 65, 100, 127, 128, 129,
		255, 256, 257, 1000, 1023, 1024, 4095, 4096, 4097, 10000, 65535, 65536, 100000,
		1000000, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 1LL << 47,
		0xffffffffffff, 1LL << 62, INT64_MAX, INT64_MIN, -1, -2, -4096,
	};

	if (percent(15))
		return mutate_random(UINT64_MAX) >> mutate_random(64);
	return interesting[mutate_random(sizeof(interesting) / sizeof(*interesting))];
}

static const struct name *choose(const struct name *names)
{
	const struct name *name;
	unsigned int sum = 0, at;

	for (name = names; name->name; name++)
		sum += name->often;
	at = mutate_random(sum);
	for (name = names; at >= name->often; name++)
		at -= name->often;
	return name;
}

static int64_t value(const struct arg *arg)
{
	int64_t bits = 0;

	switch (arg->kind) {
	case KIND_CHOICE:
		return percent(1) ? number() : choose(arg->names)->value;
	case KIND_FLAGS:
		do {
			bits ^= choose(arg->names)->value;
		} while (percent(65));
		return percent(1) ? bits ^ 1LL << mutate_random(64) : bits;
	case KIND_TEXT:
		return mutate_random(text_count());
	case KIND_NUMBER:
		break;
	}
	return number();
}

/* ---- Calls ---- */

#define EXCLUDE_KERNEL	(1LL << 5)
#define INHERIT		(1LL << 1)

static void make_sampling(int64_t *arg)
{
	static const int64_t periods[] = { 1, 10, 1000, 10000, 100000, 1000000 };

	if (arg[OPEN_PERIOD])
		arg[OPEN_PERIOD] = percent(80) ? periods[mutate_random(6)] : number();
	if (arg[OPEN_TYPE] == PERF_TYPE_SOFTWARE && percent(30))
		arg[OPEN_PERIOD] = 1;
}

static void make_config(int64_t *arg)
{
	static const int64_t raw[] = { 0xc0, 0x3c, 0xc4, 0x2003c0, 0x10000c0, 0x8000c0, 0x13c };

	switch (arg[OPEN_TYPE]) {
	case PERF_TYPE_HARDWARE:
		arg[OPEN_CONFIG] = percent(70) ? 1 : mutate_random(11);
		break;
	case PERF_TYPE_SOFTWARE:
		arg[OPEN_CONFIG] = mutate_random(12);
		break;
	case PERF_TYPE_TRACEPOINT:
		arg[OPEN_TRACE] = mutate_random(percent(80) ? 6 : text_count());
		break;
	case PERF_TYPE_RAW:
		arg[OPEN_CONFIG] = raw[mutate_random(7)];
		break;
	case PERF_TYPE_HW_CACHE:
		arg[OPEN_CONFIG] = mutate_random(8) | mutate_random(4) << 8 | mutate_random(3) << 16;
		break;
	default:
		arg[OPEN_CONFIG] = percent(50) ? 0 : 1LL << mutate_random(30);
	}
}

/* As the leader that it is to join, mostly */
static void make_target(const struct program *program, unsigned int at, int64_t *arg)
{
	const struct call *call;

	if (arg[OPEN_GROUP] < 0 || arg[OPEN_GROUP] >= EVENTS || percent(10))
		return;
	while (at--) {
		call = &program->call[at];
		if (call->op != OP_OPEN || call->arg[OPEN_EV] != arg[OPEN_GROUP])
			continue;
		arg[OPEN_PID] = call->arg[OPEN_PID];
		arg[OPEN_CPU] = call->arg[OPEN_CPU];
		if ((call->arg[OPEN_BITS] ^ arg[OPEN_BITS]) & INHERIT)
			arg[OPEN_BITS] ^= INHERIT;
		arg[OPEN_FLAGS] |= call->arg[OPEN_FLAGS] & PMUCTL_OPEN_PROCESS;
		if (arg[OPEN_EV] == arg[OPEN_GROUP])
			arg[OPEN_EV] = (arg[OPEN_EV] + 1) % EVENTS;
		return;
	}
}

static void make_open(const struct program *program, unsigned int at, int64_t *arg)
{
	if (percent(90))
		make_config(arg);
	if (percent(90))
		make_sampling(arg);
	if (!program->root && percent(92))
		arg[OPEN_BITS] |= EXCLUDE_KERNEL;
	if (!program->root && percent(90) && arg[OPEN_PID] == -1)
		arg[OPEN_PID] = 0;
	make_target(program, at, arg);
}

static void make_call(const struct program *program, unsigned int at, struct call *call)
{
	static const int64_t pages[] = { 1, 2, 3, 5, 9, 17, 33, 65, 129 };
	const struct op *op;
	unsigned int sum = 0, n, i;

	for (i = 0; i < OPS; i++)
		sum += ops[i].often;
	n = mutate_random(sum);
	for (i = 0; n >= ops[i].often; i++)
		n -= ops[i].often;
	*call = (struct call){ .op = i, .loop = 1 };
	op = &ops[i];
	for (i = 0; op->args[i].name; i++)
		call->arg[i] = percent(op->args[i].percent) ? value(&op->args[i]) :
							      op->args[i].standard;
	if (call->op == OP_OPEN)
		make_open(program, at, call->arg);
	if (call->op == OP_MMAP && percent(85))
		call->arg[MMAP_PAGES] = call->arg[MMAP_AREA] == AREA_AUX ?
			1 << mutate_random(6) : pages[mutate_random(9)];
	if (call->op == OP_WORK && percent(60))
		call->who = C0;
	else if (percent(12))
		call->who = mutate_random(WHOS);
	call->async = call->who && percent(35);
	if (percent(6))
		call->loop = 1 + mutate_random(50);
	if (percent(2))
		call->fail = 1 + mutate_random(40);
}

/* ---- Programs ---- */

static void insert(struct program *program, unsigned int at)
{
	if (program->n == CALLS_MAX)
		return;
	memmove(&program->call[at + 1], &program->call[at],
		(program->n - at) * sizeof(*program->call));
	program->n++;
	make_call(program, at, &program->call[at]);
}

static void take_out(struct program *program, unsigned int at)
{
	program->n--;
	memmove(&program->call[at], &program->call[at + 1],
		(program->n - at) * sizeof(*program->call));
}

void mutate_new(struct program *program)
{
	unsigned int n = 4 + mutate_random(20);

	program->n = 0;
	if (percent(60)) {
		program->call[0] = (struct call){ .op = OP_FORK, .loop = 1 };
		program->n = 1;
	}
	while (program->n < n)
		insert(program, program->n);
}

/* Another that joins the one that a call opens, of the same target */
static void make_join(struct call *call, const struct call *opened)
{
	*call = *opened;
	call->loop = 1;
	call->fail = 0;
	call->arg[OPEN_GROUP] = opened->arg[OPEN_EV];
	call->arg[OPEN_EV] = (opened->arg[OPEN_EV] + 1 + mutate_random(3)) % EVENTS;
	if (percent(50))
		make_config(call->arg);
	if (percent(50))
		make_sampling(call->arg);
}

/* Something happens to an event, or to its task, at any time after it has been opened. */
static void live_on(struct program *program)
{
	static const uint8_t ends[] = { WORK_EXEC, WORK_EXEC, WORK_EXEC_SUID, WORK_EXIT };
	unsigned int from = mutate_random(program->n), at;
	struct call call = { .loop = 1 }, *opened;

	while (from < program->n && program->call[from].op != OP_OPEN)
		from++;
	if (from >= program->n || program->n >= CALLS_MAX)
		return;
	at = from + 1 + mutate_random(program->n - from);
	opened = &program->call[from];
	switch (mutate_random(6)) {
	case 0:
	case 1:
		make_join(&call, opened);
		break;
	case 2:
		call.op = OP_CLOSE;
		call.arg[0] = opened->arg[OPEN_EV];
		break;
	case 3:
		call.op = OP_IOCTL;
		call.arg[IOCTL_EV] = opened->arg[OPEN_EV];
		call.arg[IOCTL_CMD] = percent(50) ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
		call.arg[IOCTL_ARG] = mutate_random(2);
		break;
	case 4:
		call.op = OP_READ;
		call.arg[READ_EV] = opened->arg[OPEN_EV];
		call.arg[READ_SIZE] = 4096;
		break;
	case 5:
		if (opened->arg[OPEN_PID] < PID_WHO(C0) || opened->arg[OPEN_PID] > PID_WHO(C2))
			return;
		call.op = OP_WORK;
		call.who = opened->arg[OPEN_PID] - PID_WHO(T0);
		call.arg[WORK_WHAT] = ends[mutate_random(4)];
		call.arg[WORK_N] = 1;
		break;
	}
	insert(program, at);
	program->call[at] = call;
}

static void change_arg(struct program *program)
{
	unsigned int at = mutate_random(program->n), n = 0, i;
	struct call *call = &program->call[at];
	const struct op *op = &ops[call->op];

	while (op->args[n].name)
		n++;
	i = mutate_random(n);
	if (op->args[i].kind == KIND_FLAGS && percent(70))
		call->arg[i] ^= choose(op->args[i].names)->value;
	else if (op->args[i].kind == KIND_NUMBER && percent(25))
		call->arg[i] += percent(50) ? 1 : -1;
	else
		call->arg[i] = value(&op->args[i]);
	if (call->op == OP_OPEN && percent(30))
		make_open(program, at, call->arg);
}

static void change_manner(struct program *program)
{
	struct call *call = &program->call[mutate_random(program->n)];

	switch (mutate_random(4)) {
	case 0:
		call->who = mutate_random(WHOS);
		break;
	case 1:
		call->async ^= 1;
		break;
	case 2:
		call->loop = percent(50) ? 1 : 1 + mutate_random(50);
		break;
	case 3:
		call->fail = percent(50) ? 0 : 1 + mutate_random(60);
		break;
	}
}

/* The beginning of one, and the end of the other */
static void splice(struct program *program, const struct program *other)
{
	unsigned int at = mutate_random(program->n + 1), from = mutate_random(other->n + 1);

	while (from < other->n && at < CALLS_MAX)
		program->call[at++] = other->call[from++];
	program->n = at;
}

static void swap(struct program *program)
{
	unsigned int a = mutate_random(program->n), b = mutate_random(program->n);
	struct call call = program->call[a];

	program->call[a] = program->call[b];
	program->call[b] = call;
}

void mutate_change(struct program *program, const struct program *other)
{
	do {
		unsigned int what = mutate_random(100);

		if (!program->n || what < 25)
			insert(program, mutate_random(program->n + 1));
		else if (what < 45)
			live_on(program);
		else if (what < 65)
			change_arg(program);
		else if (what < 75)
			change_manner(program);
		else if (what < 82)
			swap(program);
		else if (what < 90)
			take_out(program, mutate_random(program->n));
		else
			splice(program, other);
	} while (percent(60));
}
