/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libpmuctl: count performance events through the pmuctl driver.
 *
 * What lives here is the device, events on it, why something was refused, and the names of
 * events. Samples are in pmuctl_ring.h, many events at once in pmuctl_list.h, parts of a program
 * in pmuctl_region.h.
 *
 * Conventions
 *
 *  - Functions that can fail return 0 (or a count) or a negative errno.
 *  - Constructors hand the new object over through their last parameters; it belongs to the caller
 *    until the matching close or free, which accept NULL.
 *  - Nothing here prints, exits, or touches signal handlers. No file descriptor survives exec().
 *
 * Threads
 *
 *  - Different handles may be used by different threads at the same time.
 *  - One device handle may be shared: opening events on it is safe from many threads, but they also
 *    share its one explanation, the last one wins. A thread that wants to know why its own call was
 *    refused has a device of its own.
 *  - One event handle may be enabled, disabled, reset and read by several
 *    threads at once, and so may a group. Nobody may use a handle while, or after, it is closed.
 *
 * After fork() both processes may use the handles and each closes its own.
 * An event goes on counting what it counted: opened with pid 0, that is the
 * thread that opened it, also when the child reads it.
 */
#ifndef PMUCTL_H
#define PMUCTL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>
#include <linux/pmuctl.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pmuctl_device;
struct pmuctl_event;
struct pmuctl_events;

/*
 * Codes of the explanations that the library makes itself. They share pmuctl_explanation.code with
 * enum pmuctl_why.
 */
enum pmuctl_why_library {
	PMUCTL_WHY_NOT_LOADED		= 0x1000, /* ENOENT, ENXIO, ENODEV */
	PMUCTL_WHY_DEVICE_PERMISSION	= 0x1001, /* EACCES, EPERM */
	PMUCTL_WHY_NOT_PMUCTL		= 0x1002, /* ENOTTY: another device */
	PMUCTL_WHY_UNEXPLAINED		= 0x1003, /* an errno, no more is known */
	PMUCTL_WHY_EVENTS		= 0x1004, /* EINVAL: a list of events is wrong */
};

/**
 * pmuctl_version() - version of the library
 *
 * Return: a string that is valid forever, such as "0.1.0".
 */
const char *pmuctl_version(void);

/* ------------------------------------------------------------------ device */

/**
 * pmuctl_device_open() - open the driver
 * @path: the device, NULL for PMUCTL_DEVICE.
 * @why: if not NULL, says why not when the call fails. Untouched otherwise.
 * @dev: the new handle.
 *
 * Return: 0; -ENOENT if there is no such device, which most often means that
 * the module is not loaded; -EACCES or -EPERM if the caller may not open it;
 * -ENOTTY if it is some other device; -ENOMEM; -EMFILE; -EINVAL without @dev.
 */
int pmuctl_device_open(const char *path, struct pmuctl_explanation *why,
		       struct pmuctl_device **dev);

/**
 * pmuctl_device_close() - close the device
 * @dev: the handle or NULL. Events opened on it stay open and usable.
 */
void pmuctl_device_close(struct pmuctl_device *dev);

/**
 * pmuctl_device_fd() - the file descriptor, for poll() and the like
 * @dev: the handle, which goes on owning it.
 *
 * Return: the descriptor.
 */
int pmuctl_device_fd(const struct pmuctl_device *dev);

/**
 * pmuctl_device_info() - what the driver and the PMU are, now
 * @dev: the device.
 * @info: filled; what this driver does not know of yet is zero.
 * @size: sizeof(*info) of the caller.
 *
 * Return: 0; -EINVAL if @size is shorter than any version of the structure.
 */
int pmuctl_device_info(struct pmuctl_device *dev, struct pmuctl_info *info,
		       size_t size);

/**
 * pmuctl_device_explain() - why the last event, or list, was refused
 * @dev: the device.
 * @why: filled with a copy; all zero, with empty strings, if nothing was refused
 *	through this handle yet.
 */
void pmuctl_device_explain(struct pmuctl_device *dev,
			   struct pmuctl_explanation *why);

/**
 * pmuctl_device_task_enable() - enable all that the calling thread opened
 * @dev: any handle of the device: the events need not come from it.
 *
 * Return: 0 or a negative errno.
 */
int pmuctl_device_task_enable(struct pmuctl_device *dev);

/**
 * pmuctl_device_task_disable() - disable all that the calling thread opened
 * @dev: any handle of the device: the events need not come from it.
 *
 * Return: 0 or a negative errno.
 */
int pmuctl_device_task_disable(struct pmuctl_device *dev);

/* ------------------------------------------------------------------ events */

/**
 * struct pmuctl_reading - what an event has counted
 * @value: the raw count.
 * @time_enabled: nanoseconds that the event was enabled.
 * @time_running: nanoseconds of them in which it had a counter.
 * @id: the event's number, unique on this machine.
 * @lost: samples that were lost, and what was missed: PERF_FORMAT_LOST.
 * @reserved: zero.
 *
 * Only @value is always there. The others are zero unless attr.read_format
 * asked for them. The times of a member of a group are those of the group.
 */
struct pmuctl_reading {
	uint64_t value;
	uint64_t time_enabled;
	uint64_t time_running;
	uint64_t id;
	uint64_t lost;
	uint64_t reserved[3];
};

/**
 * pmuctl_event_open() - start to count something
 * @dev: the device.
 * @attr: what to count. Set attr.size to sizeof(struct perf_event_attr); 0 is
 *	PERF_ATTR_SIZE_VER0, as for perf_event_open(2): no field behind is looked at then.
 * @pid: 0 the calling thread, > 0 another one, -1 everybody on @cpu.
 * @cpu: -1 on any CPU, >= 0 only there; both -1: everybody on all CPUs.
 * @flags: PERF_FLAG_*; PERF_FLAG_FD_CLOEXEC is always added. PERF_FLAG_PID_CGROUP: @pid is of a
 *	cgroup's directory. PMUCTL_OPEN_PROCESS: count all of its process, with attr.inherit set.
 * @event: the new handle.
 *
 * Counting starts at once unless attr.disabled is set.
 *
 * Return: 0, or the driver's refusal as a negative errno, which
 * pmuctl_device_explain() explains; -ENOMEM; -EINVAL without @attr or @event.
 */
int pmuctl_event_open(struct pmuctl_device *dev,
		      const struct perf_event_attr *attr, pid_t pid, int cpu,
		      unsigned long flags, struct pmuctl_event **event);

/**
 * pmuctl_event_open_group() - open an event into a group
 * @dev: the device.
 * @attr: what to count, as for pmuctl_event_open().
 * @pid: whom, the same as the leader.
 * @cpu: where, the same as the leader.
 * @flags: PERF_FLAG_*, and PMUCTL_OPEN_PROCESS if the leader has it.
 * @leader: the first event of the group; NULL starts a new group, as
 *	pmuctl_event_open() does. It may be closed before the others, which
 *	then are single events.
 * @event: the new handle.
 *
 * The members of a group are counted all at once or not at all, so that their
 * counts can be compared. They count while the leader is enabled and they
 * themselves are.
 *
 * Return: as pmuctl_event_open().
 */
int pmuctl_event_open_group(struct pmuctl_device *dev,
			    const struct perf_event_attr *attr, pid_t pid,
			    int cpu, unsigned long flags,
			    struct pmuctl_event *leader,
			    struct pmuctl_event **event);

/**
 * pmuctl_event_open_all_cpus() - count everybody on all CPUs
 * @dev: the device.
 * @attr: what to count, as for pmuctl_event_open().
 * @flags: PERF_FLAG_*.
 * @leader: as for pmuctl_event_open_group().
 * @event: the new handle.
 *
 * CPUs that come online later are counted too. pmuctl_event_read() gives the sums
 * over the CPUs, times included; pmuctl_event_read_cpus() each CPU's own.
 *
 * Return: as pmuctl_event_open().
 */
int pmuctl_event_open_all_cpus(struct pmuctl_device *dev,
			       const struct perf_event_attr *attr,
			       unsigned long flags, struct pmuctl_event *leader,
			       struct pmuctl_event **event);

/**
 * pmuctl_event_close() - stop counting, forget the count
 * @event: the handle or NULL.
 */
void pmuctl_event_close(struct pmuctl_event *event);

/**
 * pmuctl_event_fd() - the event's file descriptor
 * @event: the handle, which goes on owning it.
 *
 * It understands all that a perf event's descriptor does as far as the driver
 * goes; poll() tells POLLHUP when the counted thread is gone.
 *
 * Return: the descriptor.
 */
int pmuctl_event_fd(const struct pmuctl_event *event);

/**
 * pmuctl_event_enable() - go on counting
 * @event: the event.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_event_enable(struct pmuctl_event *event);

/**
 * pmuctl_event_disable() - stop counting, keep the count
 * @event: the event.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_event_disable(struct pmuctl_event *event);

/**
 * pmuctl_event_reset() - set the count to 0, leave the times alone
 * @event: the event.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_event_reset(struct pmuctl_event *event);

/**
 * pmuctl_event_set_filter() - count a tracepoint only if what it tells passes
 * @event: of a tracepoint.
 * @filter: such as "id == 39 || id == 186"; "" lets all pass.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain(): -EINVAL if it cannot be
 * understood, or @event is none of a tracepoint; -EPERM if it looks at what the caller may
 * not see; -ENOSPC if all of the user's are too much work for a hit.
 */
int pmuctl_event_set_filter(struct pmuctl_event *event, const char *filter);

/**
 * pmuctl_event_id() - the event's number
 * @event: the event.
 * @id: the number, as PERF_FORMAT_ID shows it.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_event_id(struct pmuctl_event *event, uint64_t *id);

/**
 * pmuctl_event_read() - read the count
 * @event: the event.
 * @reading: filled; on failure all zero.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain(); -ENODATA if the event
 * is in error state, where it has no count.
 *
 * With PERF_FORMAT_GROUP it is the reading of the group's leader:
 * pmuctl_group_read() tells all.
 */
int pmuctl_event_read(struct pmuctl_event *event, struct pmuctl_reading *reading);

/**
 * pmuctl_reading_estimate() - the count as if it had run all the time
 * @reading: a reading of an event with PERF_FORMAT_TOTAL_TIME_ENABLED and
 *	PERF_FORMAT_TOTAL_TIME_RUNNING.
 *
 * Return: value * time_enabled / time_running, rounded to the nearest; the value
 * itself if it ran all the time, or if the times are not known; UINT64_MAX where
 * the estimate does not fit.
 */
uint64_t pmuctl_reading_estimate(const struct pmuctl_reading *reading);

/**
 * pmuctl_event_read_cpus() - read the count CPU by CPU
 * @event: an event of all CPUs, or of one.
 * @counts: filled, in the order of the CPUs' numbers.
 * @max: room there, in entries. With 0, @counts may be NULL: then only the number
 *	of CPUs is told.
 *
 * Return: how many CPUs there are: all that can ever be online for an event of all
 * CPUs; -ENOSPC if there are more than @max; another negative errno, see
 * pmuctl_event_explain(), -EINVAL for events of tasks among them.
 */
int pmuctl_event_read_cpus(struct pmuctl_event *event,
			   struct pmuctl_cpu_count *counts, size_t max);

/* -------------------------------------------------- without a system call */

/**
 * pmuctl_event_map() - map the page that tells where an event's counter is
 * @event: the event.
 * @page: the page, to be given to pmuctl_event_unmap(). It stays valid, and the event
 *	open in the kernel, when the event is closed.
 *
 * A thread that maps an event of its own (opened with pid 0 by itself) may from then on
 * read the counter with pmuctl_page_value(), as long as the page is mapped; the pages of
 * all other events say that there is nothing to read. After fork() the child has no
 * such page and may not read.
 *
 * Return: 0; -ENODEV from a driver that is too old for it; -ENOMEM; another negative
 * errno, which pmuctl_event_explain() explains.
 */
int pmuctl_event_map(struct pmuctl_event *event,
		     const struct perf_event_mmap_page **page);

/**
 * pmuctl_event_unmap() - unmap it
 * @page: the page or NULL.
 */
void pmuctl_event_unmap(const struct perf_event_mmap_page *page);

/**
 * pmuctl_page_value() - read a counter without a system call
 * @page: the page of an event that counts the calling thread, mapped by that.
 * @value: what it has counted since the last reset, as a read() would tell.
 *
 * The protocol is that of struct perf_event_mmap_page. It is written here, not in the
 * library, so that a read costs a few dozen instructions.
 *
 * Return: 1; 0 if the event has no counter at the moment, or cannot be read in this way:
 * pmuctl_event_value() knows what to do.
 */
static inline int pmuctl_page_value(const struct perf_event_mmap_page *page,
				    uint64_t *value)
{
	const volatile struct perf_event_mmap_page *p = page;
	uint32_t lock, index, low, high, unused;
	uint64_t offset, raw;

	do {
		lock = p->lock;
		__asm__ volatile("" : : : "memory");	/* lock, then the fields */
		index = p->index;
		if (!index)	/* nor is there one without cap_user_rdpmc */
			return 0;
		offset = (uint64_t)p->offset;
		unused = 64u - p->pmc_width;
		__asm__ volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (index - 1));
		__asm__ volatile("" : : : "memory");	/* the fields, then lock */
	} while (p->lock != lock);	/* never odd: only this CPU writes it */
	raw = ((uint64_t)high << 32 | low) << unused;
	*value = offset + (uint64_t)((int64_t)raw >> unused);
	return 1;
}

/**
 * pmuctl_event_value() - read an event, without a system call if that is possible
 * @event: the event.
 * @page: its page; NULL if it is not mapped.
 * @value: what it has counted since the last reset.
 *
 * Return: 0; else as pmuctl_event_read().
 */
int pmuctl_event_value(struct pmuctl_event *event,
		       const struct perf_event_mmap_page *page, uint64_t *value);

/* ------------------------------------------------------------------ groups */

/**
 * pmuctl_group_enable() - enable all members of a group
 * @member: the leader, or any other.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_group_enable(struct pmuctl_event *member);

/**
 * pmuctl_group_disable() - disable all members of a group
 * @member: the leader, or any other.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_group_disable(struct pmuctl_event *member);

/**
 * pmuctl_group_reset() - set the counts of all members to 0
 * @member: the leader, or any other.
 *
 * Return: 0 or a negative errno, see pmuctl_event_explain().
 */
int pmuctl_group_reset(struct pmuctl_event *member);

/**
 * pmuctl_group_read() - read all members of a group
 * @member: the leader, or any other; opened with PERF_FORMAT_GROUP.
 * @readings: filled, the leader first, then the others as they were opened.
 * @max: room there, in entries.
 *
 * All values belong to one instant.
 *
 * Return: how many members there are; -EINVAL if @member was opened without
 * PERF_FORMAT_GROUP, or without room; -ENOSPC if there are more than @max; -ENODATA
 * if the group is in error state; -ENOMEM; another negative errno, see
 * pmuctl_event_explain().
 */
int pmuctl_group_read(struct pmuctl_event *member,
		      struct pmuctl_reading *readings, size_t max);

/* ------------------------------------------------------------ explanations */

/**
 * pmuctl_event_explain() - why the last call on this event was refused
 * @event: the event.
 * @why: filled; all zero if nothing was refused yet.
 *
 * Return: 0 or a negative errno.
 */
int pmuctl_event_explain(struct pmuctl_event *event,
			 struct pmuctl_explanation *why);

/**
 * pmuctl_explanation_format() - one line for people
 * @why: the explanation.
 * @buffer: where to write, may be NULL if @size is 0.
 * @size: bytes there; the text is cut to fit and always ends with a NUL.
 *
 * The line is the sentence, followed by the field at fault in parentheses if one
 * is known. Without a sentence it is what pmuctl_strerror() says.
 *
 * Return: the length of the whole text, without its NUL.
 */
int pmuctl_explanation_format(const struct pmuctl_explanation *why, char *buffer,
			      size_t size);

/**
 * pmuctl_strerror() - what an errno means when it comes from pmuctl
 * @error: an errno, negative or positive.
 *
 * Return: a string that is valid forever, safe in any thread.
 */
const char *pmuctl_strerror(int error);

/* ------------------------------------------------------------- event names */

/**
 * struct pmuctl_parse_error - where a list of events is wrong
 * @position: offset in bytes from the start of the text, counted from 0.
 * @sentence: what is wrong there, for people. Empty if it is memory that lacks.
 */
struct pmuctl_parse_error {
	size_t	position;
	char	sentence[248];
};

/**
 * typedef pmuctl_name_fn - looks up a name that the library does not know
 * @arg: what was given to pmuctl_events_parse().
 * @name: the name, without modifiers.
 * @attr: all zero but for its size; to be filled with type and config.
 * @sentence: where to say why not, up to @size bytes with the NUL.
 * @size: bytes at @sentence.
 *
 * Return: 0; -ENOENT if the name is unknown to it too; another negative errno
 * if the name is known but wrong as it is. An empty @sentence is fine.
 */
typedef int (*pmuctl_name_fn)(void *arg, const char *name,
			      struct perf_event_attr *attr, char *sentence,
			      size_t size);

/**
 * pmuctl_events_parse() - understand a list of events
 * @text: names, parted by commas.
 * @resolve: asked for names that the library does not know; NULL if nobody is.
 * @arg: handed to @resolve.
 * @error: if not NULL, tells what is wrong and where when the call fails.
 * @events: the list, to be freed with pmuctl_events_free().
 *
 * An event is one of:
 *
 *  - a generic name: cycles or cpu-cycles, instructions, branches or
 *    branch-instructions, and so on;
 *  - a cache event: L1-dcache-load-misses, LLC-stores, dTLB-loads, ...;
 *  - rHEX, the raw number that goes to the event select register: r01c4;
 *  - cpu/FIELDS/ or just FIELDS, with event=N, umask=N, edge, inv, any, pc,
 *    cmask=N, config=N, config1=N (or offcore_rsp=N, frontend=N, snoop_rsp=N, as
 *    perf has it), config2=N, name=TEXT, parted by commas. Without the slashes, a
 *    field that is given for the second time starts the next event;
 *  - any name that @resolve knows;
 *  - NAME/TERMS/, see pmuctl_trace.h.
 *
 * After it may come a colon (not needed behind a slash) and modifiers: u user
 * space, k the kernel, h a hypervisor, G guests, H the host, each alone or together, I for
 * attr.exclude_idle, up to three p for attr.precise_ip, P for as much as there is, D for
 * attr.pinned, e for attr.exclusive. Behind a name that only @resolve knows, e is left to it.
 *
 * Events in braces, {a,b,c}, form a group; modifiers behind the brace, as in
 * {a,b}:u, are added to those of each member, D and e to the first one's.
 *
 * Return: 0; -EINVAL if the text is wrong; what @resolve returned, other than
 * -ENOENT; -ENOMEM.
 */
int pmuctl_events_parse(const char *text, pmuctl_name_fn resolve, void *arg,
			struct pmuctl_parse_error *error,
			struct pmuctl_events **events);

/**
 * pmuctl_events_free() - free a list
 * @events: the list or NULL.
 */
void pmuctl_events_free(struct pmuctl_events *events);

/**
 * pmuctl_events_count() - length of a list
 * @events: the list.
 *
 * Return: how many events there are, at least 1.
 */
size_t pmuctl_events_count(const struct pmuctl_events *events);

/**
 * pmuctl_events_name() - name of an event of a list
 * @events: the list.
 * @index: which one, from 0.
 *
 * Return: the name as it was written, with the modifiers that the group adds, or
 * that of its field name=; valid as long as the list. NULL: no such event.
 */
const char *pmuctl_events_name(const struct pmuctl_events *events, size_t index);

/**
 * pmuctl_events_attr() - what to count for an event of a list
 * @events: the list.
 * @index: which one, from 0.
 *
 * Return: an attr with size, type, config, exclude_*, precise_ip, pinned and exclusive
 * set, what terms say, and all else zero; valid as long as the list. NULL: no such event.
 */
const struct perf_event_attr *
pmuctl_events_attr(const struct pmuctl_events *events, size_t index);

/**
 * pmuctl_events_leader() - to which group an event of a list belongs
 * @events: the list.
 * @index: which one, from 0.
 *
 * Return: the index of the first event of its group, which is its own if it is that,
 * or in no group; SIZE_MAX if there is no such event.
 */
size_t pmuctl_events_leader(const struct pmuctl_events *events, size_t index);

/**
 * struct pmuctl_name - a name that the library knows by itself
 * @name: the name.
 * @alias: another one for the same, NULL if there is none.
 * @description: a few words on what it counts.
 * @type: PERF_TYPE_HARDWARE or PERF_TYPE_HW_CACHE.
 * @reserved: zero.
 * @config: attr.config.
 */
struct pmuctl_name {
	const char	*name;
	const char	*alias;
	const char	*description;
	uint32_t	type;
	uint32_t	reserved;
	uint64_t	config;
};

/**
 * pmuctl_name_get() - list the names that the library knows
 * @index: from 0 on.
 * @name: filled; its strings are valid forever.
 *
 * Return: 0, or -ENOENT behind the last one.
 */
int pmuctl_name_get(size_t index, struct pmuctl_name *name);

#ifdef __cplusplus
}
#endif

#endif /* PMUCTL_H */
