// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the tasks of a recording were called and had mapped at a time: it follows the
 * COMM, MMAP, FORK and EXIT records, which come in the order of time. A child shares
 * the map of its parent until one of them changes it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tasks.h"

/* Of all maps together. A large machine has some hundred thousand; more than these
 * are a damaged file's, whose maps multiply with each fork.
 */
#define MAPPINGS_MAX (4UL << 20)

/* Bits of the header's misc: of COMM and of FORK, the same one */
#define MISC_EXEC (1 << 13)

static struct space *space_new(struct tasks *tasks)
{
	struct space *space = calloc(1, sizeof(*space));

	if (space) {
		space->users = 1;
		space->number = ++tasks->numbers;
	}
	return space;
}

static void space_put(struct tasks *tasks, struct space *space)
{
	if (!space || --space->users)
		return;
	tasks->mappings -= space->count;
	free(space->list);
	free(space);
}

/* Index of the first mapping that ends behind @address. */
static size_t space_search(const struct space *space, uint64_t address)
{
	size_t low = 0, high = space->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (space->list[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct mapping *space_find(const struct space *space, uint64_t address)
{
	size_t at = space ? space_search(space, address) : 0;

	if (!space || at == space->count || space->list[at].start > address)
		return NULL;
	return &space->list[at];
}

/* Put @count mappings in place of the @gone ones from @at on. */
static int space_replace(struct tasks *tasks, struct space *space, size_t at, size_t gone,
			 const struct mapping *new, size_t count)
{
	size_t total = space->count - gone + count;

	if (total > space->room) {
		/* A copy is seldom added to; one that grows will do so again. */
		size_t room = total + (space->count ? total : 16);
		struct mapping *list = reallocarray(space->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		space->list = list;
		space->room = room;
	}
	if (tasks->mappings - gone + count > MAPPINGS_MAX)
		return -ENOMEM;
	for (size_t i = at; i < at + gone; i++)
		if (space->list[i].binary->kind != BINARY_NONE)
			space->number = ++tasks->numbers;
	memmove(space->list + at + count, space->list + at + gone,
		(space->count - at - gone) * sizeof(*space->list));
	memcpy(space->list + at, new, count * sizeof(*new));
	space->count = total;
	tasks->mappings = tasks->mappings - gone + count;
	return 0;
}

/* A new mapping, which cuts off what it covers. */
static int space_add(struct tasks *tasks, struct space *space, const struct mapping *map)
{
	struct mapping new[3];
	size_t first = space_search(space, map->start), last = first, count = 0;

	while (last < space->count && space->list[last].start < map->end)
		last++;
	if (first < last && space->list[first].start < map->start) {
		new[count] = space->list[first];
		new[count++].end = map->start;
	}
	new[count++] = *map;
	if (first < last && space->list[last - 1].end > map->end) {
		new[count] = space->list[last - 1];
		new[count].offset += map->end - new[count].start;
		new[count++].start = map->end;
	}
	return space_replace(tasks, space, first, last - first, new, count);
}

static int too_many(struct perffile_error *error)
{
	perffile_fail(error, "its tasks have more than %lu mappings together, so it is damaged; or memory is short",
		      MAPPINGS_MAX);
	return -ENOMEM;
}

/* The map of a process for changing: from now on its own, and empty if that is asked. */
static struct space *space_own(struct tasks *tasks, struct process *process, bool empty)
{
	struct space *old = process->space, *new;

	if (old && old->users == 1 && !empty)
		return old;
	new = space_new(tasks);
	if (new && !empty && old && old->count &&
	    space_replace(tasks, new, 0, 0, old->list, old->count) < 0) {
		free(new->list);
		free(new);
		return NULL;
	}
	if (new) {
		process->space = new;
		space_put(tasks, old);
	}
	return new;
}

static struct process *process_get(struct tasks *tasks, int32_t pid)
{
	struct process **bucket = &tasks->processes[(uint32_t)pid % TASKS_BUCKETS];
	struct process *process;

	for (process = *bucket; process; process = process->next)
		if (process->pid == pid)
			return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->next = *bucket;
	*bucket = process;
	return process;
}

/* A thread nobody has heard of is called by its number, as perf does. */
static const char *default_comm(struct tasks *tasks, int32_t tid)
{
	char text[16];

	if (!tid)
		return names_intern(tasks->symbols->names, "swapper");
	snprintf(text, sizeof(text), ":%d", tid);
	return names_intern(tasks->symbols->names, text);
}

/**
 * tasks_thread() - the thread with these numbers, as it is now
 * @tasks: all of them.
 * @pid: of its process.
 * @tid: of itself.
 *
 * Return: valid as long as @tasks, or until tasks_forget() if it has ended; NULL if there is
 * no memory.
 */
struct thread *tasks_thread(struct tasks *tasks, int32_t pid, int32_t tid)
{
	struct thread **bucket = &tasks->threads[(uint32_t)tid % TASKS_BUCKETS];
	struct thread *thread;

	for (thread = *bucket; thread; thread = thread->next)
		if (thread->tid == tid && thread->pid == pid)
			return thread;
	thread = calloc(1, sizeof(*thread));
	if (!thread)
		return NULL;
	thread->process = process_get(tasks, pid);
	if (!thread->process) {
		free(thread);
		return NULL;
	}
	thread->pid = pid;
	thread->tid = tid;
	thread->ppid = -1;
	thread->ptid = -1;
	thread->comm = default_comm(tasks, tid);
	thread->live = true;
	thread->process->live++;
	thread->process->threads++;
	thread->next = *bucket;
	*bucket = thread;
	return thread;
}

static void thread_begin(struct thread *thread)
{
	if (!thread->live)
		thread->process->live++;
	thread->live = true;
	thread->is_old = false;
}

/* Its name stays, since the kernel works for a task some time after its end. */
static void thread_end(struct tasks *tasks, struct thread *thread)
{
	struct process *process = thread->process;

	if (!thread->live)
		return;
	thread->live = false;
	if (--process->live || tasks->keeps_maps)
		return;
	space_put(tasks, process->space);
	process->space = NULL;
}

static int take_comm(struct tasks *tasks, const struct perffile_record *record)
{
	const struct perffile_comm *comm = &record->comm;
	struct thread *thread = tasks_thread(tasks, (int32_t)comm->pid, (int32_t)comm->tid);

	if (!thread)
		return -ENOMEM;
	thread_begin(thread);
	thread->comm = names_intern(tasks->symbols->names, comm->name);
	if (record->misc & MISC_EXEC && !space_own(tasks, thread->process, true))
		return -ENOMEM;
	return 0;
}

static int take_fork(struct tasks *tasks, const struct perffile_record *record)
{
	const struct perffile_task *task = &record->task;
	struct thread *child = tasks_thread(tasks, (int32_t)task->pid, (int32_t)task->tid);
	struct thread *parent = tasks_thread(tasks, (int32_t)task->ppid, (int32_t)task->ptid);
	struct space *space;

	if (!child || !parent)
		return -ENOMEM;
	thread_begin(child);
	if (child == parent)
		return 0;
	child->ppid = parent->pid;
	child->ptid = parent->tid;
	child->comm = parent->comm;
	if (child->process == parent->process)
		return 0;
	/* The recorder's own story of a task that was there: its maps follow. */
	space = record->misc & MISC_EXEC ? NULL : parent->process->space;
	if (space)
		space->users++;
	space_put(tasks, child->process->space);
	child->process->space = space;
	return 0;
}

static int take_exit(struct tasks *tasks, const struct perffile_record *record)
{
	struct thread *thread = tasks_thread(tasks, (int32_t)record->task.pid,
					     (int32_t)record->task.tid);

	if (!thread)
		return -ENOMEM;
	thread_end(tasks, thread);
	return 0;
}

static int take_mmap(struct tasks *tasks, const struct perffile_record *record)
{
	const struct perffile_mmap *map = &record->mmap;
	unsigned int mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct mapping new = { map->start, map->start + map->length, map->offset, NULL, record->offset };
	struct thread *thread;
	struct space *space;

	if (!map->length || new.end < new.start || mode == PERF_RECORD_MISC_GUEST_KERNEL ||
	    mode == PERF_RECORD_MISC_GUEST_USER)
		return 0;
	if (mode == PERF_RECORD_MISC_KERNEL || (int32_t)map->pid < 0) {
		new.binary = symbols_kernel_mapped(tasks->symbols, map);
		return space_add(tasks, tasks->kernel, &new);
	}
	thread = tasks_thread(tasks, (int32_t)map->pid, (int32_t)map->tid);
	space = thread ? space_own(tasks, thread->process, false) : NULL;
	if (!space)
		return -ENOMEM;
	new.binary = symbols_user_mapped(tasks->symbols, map);
	jit_mapped(tasks->symbols, &thread->process->jit, (int32_t)map->pid, map->name);
	return space_add(tasks, space, &new);
}

/* Of what the kernel gives back there is nothing any more. */
static int take_ksymbol(struct tasks *tasks, const struct perffile_ksymbol *code)
{
	struct mapping new = { code->start, code->start + code->length, 0, NULL, 0 };

	if (!code->length || new.end < new.start)
		return 0;
	new.binary = code->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER ?
		     tasks->symbols->kernel : symbols_generated(tasks->symbols, code);
	return space_add(tasks, tasks->kernel, &new);
}

/**
 * tasks_record() - follow a record
 * @tasks: all of them.
 * @record: of any type, in the order of time.
 * @error: why not.
 *
 * Return: 0, -ENOMEM.
 */
int tasks_record(struct tasks *tasks, const struct perffile_record *record,
		 struct perffile_error *error)
{
	const struct perf_event_attr *attr = record->attr;
	int ret = 0;

	tasks->now = attr && attr->use_clockid && attr->clockid == CLOCK_MONOTONIC ?
		     record->time : UINT64_MAX;
	switch (record->type) {
	case PERF_RECORD_COMM:
		ret = take_comm(tasks, record);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		ret = take_mmap(tasks, record);
		break;
	case PERF_RECORD_FORK:
		ret = take_fork(tasks, record);
		break;
	case PERF_RECORD_EXIT:
		ret = take_exit(tasks, record);
		break;
	case PERF_RECORD_KSYMBOL:
		ret = take_ksymbol(tasks, &record->ksymbol);
		break;
	}
	return ret < 0 ? too_many(error) : 0;
}

static char level_of(unsigned int mode, uint64_t ip)
{
	switch (mode) {
	case PERF_RECORD_MISC_KERNEL:
		return 'k';
	case PERF_RECORD_MISC_USER:
		return '.';
	case PERF_RECORD_MISC_HYPERVISOR:
		return 'H';
	case PERF_RECORD_MISC_GUEST_KERNEL:
		return 'g';
	case PERF_RECORD_MISC_GUEST_USER:
		return 'u';
	}
	return ip >> 63 ? 'k' : '.';
}

/**
 * tasks_place() - what an address of a task means now
 * @tasks: all of them.
 * @thread: whose address it is, or NULL.
 * @mode: PERF_RECORD_MISC_* of the CPU, 0 if unknown.
 * @ip: the address.
 * @is_return: it is where a call returns to: the call is before it.
 * @place: filled.
 */
void tasks_place(struct tasks *tasks, const struct thread *thread, uint16_t mode,
		 uint64_t ip, bool is_return, struct place *place)
{
	struct symbols *symbols = tasks->symbols;
	const struct mapping *map = NULL;
	uint64_t look = ip - (is_return && ip);

	*place = (struct place){ .ip = ip, .address = ip };
	place->level = level_of(mode & PERF_RECORD_MISC_CPUMODE_MASK, ip);
	place->binary = symbols->unknown;
	if (place->level == 'k') {
		map = space_find(tasks->kernel, look);
		place->binary = map ? map->binary : symbols->kernel;
		place->symbol = symbols_find(symbols, place->binary, look);
		place->address = place->binary->kind == BINARY_KERNEL ?
				 ip - symbols->kernel_shift : ip + place->binary->bias;
		return;
	}
	if (place->level == '.' && thread)
		map = space_find(thread->process->space, look);
	if (place->level == '.' && thread && (!map || map->binary->kind == BINARY_NONE) &&
	    jit_place(symbols, &thread->process->jit, thread->pid, tasks->now, look, place))
		return;
	if (!map)
		return;
	place->binary = map->binary;
	/* Its segments are known once its symbols were read. */
	if (!map->binary->loaded)
		symbols_find(symbols, map->binary, 0);
	look = binary_address(map->binary, look - map->start + map->offset);
	place->address = look + (ip && is_return);
	place->symbol = symbols_find(symbols, map->binary, look);
	/* A handler of signals returns to where a function begins; there may be a gap before it. */
	if (!place->symbol && is_return)
		place->symbol = symbols_find(symbols, map->binary, look + 1);
}

/**
 * tasks_data() - what does a process have mapped at an address now?
 * @thread: of the process, or NULL.
 * @address: the address.
 * @offset: set: where in that it is, as it was mapped.
 *
 * Return: the binary; NULL if nothing is known. No file is looked at.
 */
const struct binary *tasks_data(const struct thread *thread, uint64_t address, uint64_t *offset)
{
	const struct mapping *map = thread ? space_find(thread->process->space, address) : NULL;

	if (!map)
		return NULL;
	*offset = address - map->start + map->offset;
	return map->binary;
}

/**
 * tasks_file_at() - which file does a process have at an address now?
 * @tasks: all of them.
 * @thread: of the process.
 * @address: the address.
 * @bias: set: how much higher the file is there than in its own terms.
 *
 * Return: the file, whose symbols have been read; NULL if there is none.
 */
struct binary *tasks_file_at(struct tasks *tasks, const struct thread *thread,
			     uint64_t address, uint64_t *bias)
{
	const struct mapping *map = space_find(thread->process->space, address);

	if (!map || map->binary->kind == BINARY_NONE)
		return NULL;
	if (!map->binary->loaded)
		symbols_find(tasks->symbols, map->binary, 0);
	*bias = address - binary_address(map->binary, address - map->start + map->offset);
	return map->binary;
}

/**
 * tasks_address_of() - where does a process have a part of a file now?
 * @thread: of the process.
 * @path: of the file, as it was mapped.
 * @offset: in the file.
 *
 * Return: the address, 0 if it is not mapped.
 */
uint64_t tasks_address_of(const struct thread *thread, const char *path, uint64_t offset)
{
	const struct space *space = thread->process->space;

	for (size_t i = 0; space && i < space->count; i++) {
		const struct mapping *map = &space->list[i];

		if (map->binary->raw && !strcmp(map->binary->raw, path) && offset >= map->offset &&
		    offset - map->offset < map->end - map->start)
			return map->start + (offset - map->offset);
	}
	return 0;
}

/**
 * tasks_map_number() - which map does a process have now?
 * @thread: of the process.
 *
 * Return: a number that tells it from other maps, and from itself before it lost a part of
 * a file; 0 if nothing is known.
 */
uint64_t tasks_map_number(const struct thread *thread)
{
	return thread->process->space ? thread->process->space->number : 0;
}

/**
 * tasks_new() - no task yet
 * @symbols: the binaries; must stay.
 *
 * Return: to be freed with tasks_free(); NULL if there is no memory.
 */
struct tasks *tasks_new(struct symbols *symbols)
{
	struct tasks *tasks = calloc(1, sizeof(*tasks));

	if (!tasks)
		return NULL;
	tasks->symbols = symbols;
	tasks->kernel = space_new(tasks);
	if (tasks->kernel)
		return tasks;
	free(tasks);
	return NULL;
}

static void process_forget(struct tasks *tasks, struct process *process)
{
	struct process **at = &tasks->processes[(uint32_t)process->pid % TASKS_BUCKETS];

	while (*at != process)
		at = &(*at)->next;
	*at = process->next;
	space_put(tasks, process->space);
	free(process);
}

/**
 * tasks_forget() - forget threads that ended long ago, and processes that have none left
 * @tasks: all of them. What ended before this was called the last time is long ago: no more
 *	records of it come.
 */
void tasks_forget(struct tasks *tasks)
{
	for (size_t i = 0; i < TASKS_BUCKETS; i++) {
		struct thread **at = &tasks->threads[i], *thread;

		while ((thread = *at)) {
			if (!thread->is_old) {
				thread->is_old = !thread->live;
				at = &thread->next;
				continue;
			}
			*at = thread->next;
			if (!--thread->process->threads)
				process_forget(tasks, thread->process);
			free(thread);
		}
	}
}

/**
 * tasks_free() - forget all tasks
 * @tasks: all of them, or NULL.
 */
void tasks_free(struct tasks *tasks)
{
	if (!tasks)
		return;
	for (size_t i = 0; i < TASKS_BUCKETS; i++) {
		for (struct thread *thread = tasks->threads[i], *next; thread; thread = next) {
			next = thread->next;
			free(thread);
		}
		for (struct process *process = tasks->processes[i], *next; process;
		     process = next) {
			next = process->next;
			space_put(tasks, process->space);
			free(process);
		}
	}
	space_put(tasks, tasks->kernel);
	free(tasks);
}
