// SPDX-License-Identifier: GPL-2.0-only
/*
 * What has become of the events of a program when a call meets them. The module's code hardly
 * differs between an event whose task lives and one whose task has gone, or whose leader has
 * been closed; what goes wrong there does. So each kind of call that succeeds on an event with
 * a new history, or beside a leader with one, counts as something that was reached.
 */
#include <linux/perf_event.h>
#include <linux/pmuctl.h>

#include "run.h"

#define BIT_INHERIT	(1ULL << 1)
#define BIT_REMOVE	(1ULL << 36)

enum {
	OF_CHILD = 1 << 0,	/* its target is another process, */
	OF_CPU = 1 << 1,	/* or a CPU */
	IS_SOFT = 1 << 2,
	SAMPLES = 1 << 3,
	INHERITS = 1 << 4,
	ENDS_AT_EXEC = 1 << 5,
	LEADS = 1 << 6,		/* another one has joined it */
	TARGET_EXEC = 1 << 7,	/* its target has executed something, */
	TARGET_GONE = 1 << 8,	/* or has ended */
	CLOSED = 1 << 9,
	LEADER_CLOSED = 1 << 10,
	MAPPED = 1 << 11,
};

struct life {
	uint32_t has;
	int leader;	/* which event; -1: none */
	int child;	/* which process; -1: none of ours */
};

static struct life lives[EVENTS];

void lives_begin(void)
{
	int i;

	for (i = 0; i < EVENTS; i++)
		lives[i] = (struct life){ .leader = -1, .child = -1 };
}

static struct life *life_of(int64_t ev)
{
	return ev >= 0 && ev < EVENTS ? &lives[ev] : NULL;
}

static void reached(struct runner *runner, uint64_t what, const struct life *life)
{
	const struct life *leader = life_of(life->leader);

	what = (what * 31 + life->has + 1) * 0x9e3779b97f4a7c15ULL;
	if (leader && leader != life)
		what = (what ^ (leader->has + 1)) * 0xbf58476d1ce4e5b9ULL;
	cover_reach(runner, what >> 40);
}

static void note_open(struct runner *runner, const int64_t *arg)
{
	struct life *life = life_of(arg[OPEN_EV]), *leader = life_of(arg[OPEN_GROUP]);

	if (!life)
		return;
	*life = (struct life){ .leader = leader ? (int)arg[OPEN_GROUP] : -1, .child = -1 };
	if (arg[OPEN_PID] >= PID_WHO(C0) && arg[OPEN_PID] < PID_WHO(WHOS)) {
		life->child = arg[OPEN_PID] - PID_WHO(C0);
		life->has |= OF_CHILD;
	}
	life->has |= arg[OPEN_PID] == -1 ? OF_CPU : 0;
	life->has |= arg[OPEN_TYPE] == PERF_TYPE_SOFTWARE ? IS_SOFT : 0;
	life->has |= arg[OPEN_PERIOD] ? SAMPLES : 0;
	life->has |= arg[OPEN_BITS] & BIT_INHERIT ? INHERITS : 0;
	life->has |= arg[OPEN_BITS] & BIT_REMOVE ? ENDS_AT_EXEC : 0;
	reached(runner, OP_OPEN, life);
	if (leader)
		leader->has |= LEADS;
}

static void note_close(int64_t ev)
{
	struct life *life = life_of(ev), *other;

	if (!life)
		return;
	life->has |= CLOSED;
	for (other = lives; other < lives + EVENTS; other++)
		if (other->leader == ev)
			other->has |= LEADER_CLOSED;
}

bool lives_have_orphan(void)
{
	const struct life *life;

	for (life = lives; life < lives + EVENTS; life++)
		if (life->has & LEADER_CLOSED && !(life->has & CLOSED))
			return true;
	return false;
}

static void note_target(int child, uint32_t what)
{
	struct life *life;

	for (life = lives; life < lives + EVENTS; life++)
		if (life->has & OF_CHILD && life->child == child)
			life->has |= what;
}

void lives_note(struct runner *runner, const struct call *call, int64_t ret)
{
	const int64_t *arg = call->arg;
	struct life *life;

	if (call->op == OP_KILL && ret >= 0) {
		note_target((uint64_t)arg[0] % CHILDREN, TARGET_GONE);
		return;
	}
	if (call->op == OP_WORK && call->who >= C0) {
		if (arg[WORK_WHAT] >= WORK_EXEC && arg[WORK_WHAT] <= WORK_EXEC_UNREADABLE)
			note_target(call->who - C0, TARGET_EXEC);
		else if (arg[WORK_WHAT] == WORK_EXIT)
			note_target(call->who - C0, TARGET_GONE);
		return;
	}
	/* Children have descriptors of their own. */
	if (ret < 0 || call->who >= C0)
		return;
	life = life_of(arg[call->op == OP_MMAP ? MMAP_EV : 0]);
	switch (call->op) {
	case OP_OPEN:
		note_open(runner, arg);
		break;
	case OP_CLOSE:
		if (life)
			reached(runner, OP_CLOSE, life);
		note_close(arg[0]);
		break;
	case OP_MMAP:
		if (life) {
			reached(runner, OP_MMAP, life);
			life->has |= MAPPED;
		}
		break;
	case OP_IOCTL:
		if (life)
			reached(runner, OPS + arg[IOCTL_CMD], life);
		break;
	case OP_READ:
	case OP_POLL:
		if (life)
			reached(runner, call->op, life);
		break;
	}
}
