// SPDX-License-Identifier: GPL-2.0-only
#include "tellers.h"

void tellers_open(struct teller both[2], const struct perf_event_attr *attr,
		  pid_t pid, int cpu)
{
	struct perf_event_attr dummy = *attr;

	dummy.type = PERF_TYPE_SOFTWARE;
	dummy.config = PERF_COUNT_SW_DUMMY;
	both[0] = (struct teller) { .name = "perf", .attr = dummy };
	both[1] = (struct teller) { .name = "pmuctl", .attr = *attr };
	both[0].fd = perf_try(&dummy, pid, cpu);
	cr_assert_geq(both[0].fd, 0, "%s", strerror(-both[0].fd));
	both[1].fd = event_open(attr, pid, cpu);
	for (int i = 0; i < 2; i++)
		ring_map(&both[i].ring, both[i].fd, 256);
}

void tellers_close(struct teller both[2])
{
	for (int i = 0; i < 2; i++) {
		ring_unmap(&both[i].ring);
		close(both[i].fd);
	}
}

/* Until 5.15 perf tells MAP_DENYWRITE and MAP_EXECUTABLE, which the kernel itself then dropped. */
static void forget_flags(struct perf_event_header *h)
{
	if (h->type == PERF_RECORD_MMAP2)
		((struct mmap2_record *)h)->flags &= ~(MAP_DENYWRITE | MAP_EXECUTABLE);
}

/* A record in words, without what may differ; returns false if there is none. */
static bool describe(struct teller *t, char *text, size_t size)
{
	struct sample end;
	struct perf_event_header *h = side_next(&t->attr, &t->ring, &end);
	const char *name;
	size_t n;

	if (!h) {
		snprintf(text, size, "nothing");
		return false;
	}
	if (!strcmp(t->name, "perf"))
		forget_flags(h);
	if (h->type == PERF_RECORD_FORK || h->type == PERF_RECORD_EXIT)
		((struct task_record *)h)->time = 0;
	n = snprintf(text, size, "type %u misc %#x tid %u/%u cpu %u:", h->type, h->misc,
		     end.pid, end.tid, end.cpu);
	for (size_t i = sizeof(*h); i < side_fixed(h) && n < size; i += 4)
		n += snprintf(text + n, size - n, " %x", *(uint32_t *)((char *)h + i));
	name = side_name(h);
	/* Since 6.6 perf calls the heap so only when it grows. */
	if (name && !strcmp(name, "[heap]"))
		name = "//anon";
	if (name && n < size)
		snprintf(text + n, size - n, " %s", name);
	return true;
}

/*
 * A task that ends is followed a little longer by us than by newer perf, while its memory
 * goes: it may be switched out and in again.
 */
static bool is_switch(const char *text)
{
	return !strncmp(text, "type 14 ", 8);
}

/* Returns how many records there were. */
static unsigned int compare(struct teller both[2])
{
	static char texts[2][5000];
	bool perf, ours;
	unsigned int n;

	for (n = 0;; n++) {
		perf = describe(&both[0], texts[0], sizeof(texts[0]));
		ours = describe(&both[1], texts[1], sizeof(texts[1]));
		if (!perf && !ours)
			return n;
		if (!perf && is_switch(texts[1]))
			continue;
		cr_assert_str_eq(texts[1], texts[0], "record %u: \"%s\", but perf: \"%s\"",
				 n, texts[1], texts[0]);
	}
}

/* What happened on a CPU, in words, and to whom */
struct story {
	unsigned int n;
	struct {
		uint32_t tid;
		char *text;
	} each[2000];
};

static void collect(struct teller *t, struct story *story)
{
	char text[5000];

	for (story->n = 0; describe(t, text, sizeof(text)); story->n++) {
		cr_assert_lt(story->n, RAW_ARRAY_SIZE(story->each));
		story->each[story->n].text = strdup(text);
		sscanf(strstr(text, "tid "), "tid %*u/%u", &story->each[story->n].tid);
	}
}

/* The next text about @tid, or @any task, from *@i on; NULL: there is none. */
static const char *next_of(const struct story *story, uint32_t tid, bool any,
			   unsigned int *i)
{
	for (; *i < story->n; ++*i)
		if (any || story->each[*i].tid == tid)
			return story->each[(*i)++].text;
	return NULL;
}

/* The id of a task that is just being waited for has gone a moment later. */
static bool is_same(const char *text, const char *other)
{
	static const char *const gone[] = { "4294967295", "ffffffff ffffffff" };

	for (unsigned int i = 0; i < RAW_ARRAY_SIZE(gone); i++)
		if (strstr(text, gone[i]) || strstr(other, gone[i]))
			return true;
	return !strcmp(text, other);
}

/**
 * goes_on() - whether perf's story goes on as ours after its first record
 * @k: where perf's goes on.
 * @text, @other: the two that differ, if it does not.
 *
 * The last of ours may have come too late for perf's.
 */
static bool goes_on(const struct story *perf, const struct story *ours, uint32_t tid,
		    bool any, unsigned int k, const char **text, const char **other)
{
	unsigned int i = 0;

	next_of(ours, tid, any, &i);
	while ((*text = next_of(ours, tid, any, &i))) {
		*other = next_of(perf, tid, any, &k);
		if (!*other)
			return !next_of(ours, tid, any, &i);
		if (!is_same(*text, *other))
			return false;
	}
	return true;
}

/* perf's began earlier, and what ours begins with may have happened there before. */
static void compare_task(const struct story *perf, const struct story *ours,
			 uint32_t tid, bool any)
{
	unsigned int i = 0, k = 0;
	const char *first = next_of(ours, tid, any, &i), *text = first, *other = NULL, *at;

	cr_assert_not_null(first);
	while ((at = next_of(perf, tid, any, &k)))
		if (!strcmp(at, first) &&
		    goes_on(perf, ours, tid, any, k, &text, &other))
			return;
	cr_assert_fail("\"%s\", but perf: \"%s\"", text, other ? other : "nothing");
}

/* The child of which a FORK of @pid tells, 0 if it is another record */
static uint32_t forked_by(const char *text, pid_t pid)
{
	unsigned int parent, child;

	if (sscanf(text, "type 7 misc 0 tid %u/%*u cpu %*u: %x", &parent, &child) != 2)
		return 0;
	return parent == (unsigned int)pid ? child : 0;
}

/*
 * Of a CPU, where something happens all the time. perf's event was open before and after.
 * A task that is about to end is told of by perf at another time: between there may be
 * another task, so the order is each task's own, but that of switches. Of tasks that do
 * not move to other CPUs: the child, and its children.
 */
static unsigned int compare_cpu(struct teller both[2], pid_t pid)
{
	static struct story perf, ours;
	uint32_t child;

	event_ioctl(both[1].fd, PERF_EVENT_IOC_DISABLE);
	event_ioctl(both[0].fd, PERF_EVENT_IOC_DISABLE);
	collect(&both[0], &perf);
	collect(&both[1], &ours);
	if (both[1].attr.context_switch) {
		compare_task(&perf, &ours, 0, true);
		return ours.n;
	}
	compare_task(&perf, &ours, pid, false);
	for (unsigned int i = 0; i < ours.n; i++) {
		child = forked_by(ours.each[i].text, pid);
		if (child)
			compare_task(&perf, &ours, child, false);
	}
	return ours.n;
}

unsigned int tellers_run(const struct perf_event_attr *attr, pid_t of, int cpu,
			 int (*work)(void *), void *arg)
{
	struct side_child c;
	struct teller both[2];
	unsigned int n;

	side_start(&c, work, arg);
	pin_task(c.pid, 0);
	tellers_open(both, attr, of ? of : c.pid, cpu);
	side_go(&c);
	side_end(&c);
	n = cpu < 0 ? compare(both) : compare_cpu(both, c.pid);
	tellers_close(both);
	return n;
}
