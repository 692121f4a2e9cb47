// SPDX-License-Identifier: GPL-2.0-only
/*
 * Opening what "pmuctl record" records from: its events, and one ring for each target,
 * which all events of that, and of what it starts, write to. What to do when something is refused
 * is decided here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* So many events may be in a group whose samples tell all counts. */
#define GROUP_MAX 64

/* ----------------------------------------------------------------- events */

/* Is it the one behind the others, which has no samples? */
static bool only_tells(const struct recording *r, size_t event)
{
	return r->options->measure.teller && event == r->teller;
}

static bool acts_on_trace(const struct perf_event_attr *attr)
{
	uint32_t action;

	memcpy(&action, (const char *)attr + PMUCTL_ATTR_AUX_ACTION, sizeof(action));
	return action & (PMUCTL_AUX_PAUSE | PMUCTL_AUX_RESUME);
}

/*
 * What traces has no samples; what pauses and resumes a trace does so each time. A tracepoint
 * is of interest each time that it is passed: how many there are is no reason to leave some out.
 */
static void period_prepare(struct recording *r, size_t event)
{
	const struct record_options *options = r->options;
	struct perf_event_attr *attr = &r->set.events[event].attr;

	if (r->set.events[event].traces || attr->sample_period)
		return;
	if (only_tells(r, event))
		return; /* it counts nothing */
	if (acts_on_trace(attr)) {
		attr->sample_period = options->period ? options->period : 1;
	} else if (options->usual_rate && attr->type == PERF_TYPE_TRACEPOINT) {
		attr->sample_period = 1;
	} else if (options->frequency) {
		attr->freq = 1;
		attr->sample_freq = options->frequency;
	} else {
		attr->sample_period = options->period;
	}
}

/*
 * Who samples for all of a group whose leader has the modifier S: the leader, or if that
 * traces, the one behind it. An event by itself samples for itself.
 */
static size_t sampler_of(const struct event_set *set, size_t event)
{
	size_t leader = set->events[event].leader;

	if (!set->events[leader].sample_read)
		return event;
	return leader + (set->events[leader].traces && leader + 1 < set->nr_events &&
			 set->events[leader + 1].leader == leader);
}

/*
 * What the modifier S asks for: samples with counts. Those of the sampler have those of its whole
 * group, and the others count only; readers make samples of them. All look alike, as with perf.
 */
static void read_prepare(struct recording *r, size_t event)
{
	const struct event_set *set = &r->set;
	size_t leader = set->events[event].leader, sampler = sampler_of(set, event);
	struct perf_event_attr *attr = &r->set.events[event].attr;

	if (!set->events[event].sample_read && !set->events[leader].sample_read)
		return;
	attr->sample_type |= PERF_SAMPLE_READ;
	if (set->events[leader].sample_read && event_set_is_grouped(set, event))
		attr->read_format |= PERF_FORMAT_GROUP;
	if (event == sampler)
		return;
	attr->freq = 0;
	attr->sample_period = 0;
	/* The leader that traces comes before, and has no samples. */
	if (event > sampler)
		attr->sample_type &= set->events[sampler].attr.sample_type;
}

static bool is_tracepoint(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT && !acts_on_trace(attr);
}

/* What reads the data of tracepoints wants to know on which CPU they were passed. */
static bool has_tracepoints(const struct event_set *set)
{
	for (size_t i = 0; i < set->nr_events; i++)
		if (is_tracepoint(&set->events[i].attr))
			return true;
	return false;
}

/* Of the kernel it tells if the others, which are open, may have samples there. */
static void prepare_teller(struct recording *r)
{
	struct set_event *teller = &r->set.events[r->teller];

	teller->attr.exclude_kernel = !recording_samples_kernel(r);
	teller->stays_on = true;
}

static void attr_prepare(struct recording *r, size_t event)
{
	const struct record_options *options = r->options;
	struct perf_event_attr *attr = &r->set.events[event].attr;

	event_set_prepare(&r->set, event,
			  options->measure.kind == TARGET_COMMAND && !options->delay);
	period_prepare(r, event);
	attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
			    PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			    PERF_SAMPLE_PERIOD;
	if (options->cpu_of_each || measure_is_of_cpus(&options->measure) ||
	    options->measure.on_each_cpu || has_tracepoints(&r->set))
		attr->sample_type |= PERF_SAMPLE_CPU;
	if (options->addresses)
		attr->sample_type |= PERF_SAMPLE_ADDR;
	if (is_tracepoint(attr))
		attr->sample_type |= PERF_SAMPLE_RAW;
	if (options->cgroups)
		attr->sample_type |= PERF_SAMPLE_CGROUP;
	attr->read_format = PERF_FORMAT_ID | PERF_FORMAT_LOST;
	attr->sample_id_all = 1;
	if (!only_tells(r, event)) {
		if (event >= options->chains_from)
			callgraph_prepare(options, attr);
		branches_prepare(options, attr);
		registers_prepare(options, attr);
	}
	read_prepare(r, event);
	attr->inherit_stat = options->thread_counts && !only_tells(r, event);
	attr->use_clockid = options->use_clock;
	attr->clockid = options->clock;
	attr->write_backward = options->overwrite && event != r->teller;
	if (event != r->teller)
		return;
	/* Of a CPU's trace they tell whose it is. */
	attr->context_switch = options->switches ||
			       (r->traces && event_set_cpu(&r->set, 0) >= 0);
	attr->mmap = 1;
	attr->mmap2 = 1;
	/* perf looks for a program's tables of frames where they are mapped. */
	attr->mmap_data = options->callgraph == CALLGRAPH_DWARF || options->addresses;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->namespaces = options->namespaces;
	attr->cgroup = options->cgroups;
	if (only_tells(r, event))
		prepare_teller(r);
	/* BPF programs are code of the kernel's. */
	attr->ksymbol = !attr->exclude_kernel && !options->no_bpf;
	attr->bpf_event = attr->ksymbol;
}

/* Samples are worth something without what goes with them, where a kernel lacks it. */
static bool do_without(struct event_set *set, size_t event,
		       const struct pmuctl_explanation *why)
{
	struct perf_event_attr *attr = &set->events[event].attr;
	static bool told_raw;
	const char *what;

	if (!strncmp(why->field, "attr.mmap", 9) && attr->mmap) {
		attr->mmap = 0;
		attr->mmap2 = 0;
		attr->mmap_data = 0;
		what = "what is loaded later will have no symbols";
	} else if (!strncmp(why->field, "attr.comm", 9) && attr->comm) {
		attr->comm = 0;
		attr->comm_exec = 0;
		what = "names of tasks may be missing";
	} else if ((!strcmp(why->field, "attr.ksymbol") || !strcmp(why->field, "attr.bpf_event")) &&
		   attr->ksymbol) {
		attr->ksymbol = 0;
		attr->bpf_event = 0;
		what = "BPF programs that are loaded later will have no names";
	} else if (!strcmp(why->field, "attr.task") && attr->task) {
		attr->task = 0;
		what = "new tasks will have no symbols";
	} else if (why->code == PMUCTL_WHY_PERM_RAW && attr->sample_type & PERF_SAMPLE_RAW) {
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_RAW;
		/* Of many events once */
		if (told_raw)
			return true;
		told_raw = true;
		what = "samples will not have what tracepoints tell";
	} else {
		return false;
	}
	say_error("%s: %s", what, why->sentence);
	return true;
}

/* Opens an event, and lets the file know what it is. */
static int open_event(struct recording *r, size_t index)
{
	struct perfdata_event *event = &r->events[index];
	uint64_t *ids = &r->ids[index * r->set.targets.count];
	struct pmuctl_explanation why;
	int ret;

	attr_prepare(r, index);
	ret = event_set_open(&r->set, index, do_without, &why);
	if (ret < 0) {
		say_refusal(r->set.events[index].name, &why);
		return ret;
	}
	event->name = r->set.events[index].name;
	event->attr = r->set.events[index].attr;
	event->leader = r->set.events[index].leader;
	event->ids = ids;
	for (size_t target = 0; target < r->set.targets.count; target++) {
		struct pmuctl_event *handle = *event_set_handle(&r->set, index, target);

		ret = handle ? pmuctl_event_id(handle, &ids[event->nr_ids]) : 0;
		if (ret < 0)
			return event_set_say(&r->set, index, handle,
					     "get the id of", ret);
		event->nr_ids += handle != NULL;
	}
	return 0;
}

static int say_no_ring(const struct recording *r, struct pmuctl_event *handle,
		       int error)
{
	if (error != -EPERM)
		return event_set_say(&r->set, r->ring_event, handle, "map the ring of", error);
	say_error("cannot lock %u pages of memory for each of %zu rings: ask for less with -m, or raise 'ulimit -l'",
		  r->pages, r->set.targets.count * (r->overwritten ? 2 : 1));
	return error;
}

/* Does it write to the ring that is overwritten? */
static bool is_overwritten(const struct recording *r, size_t event)
{
	return r->overwritten && event != r->teller;
}

static struct pmuctl_event *ring_owner(const struct recording *r, size_t target, bool overwritten)
{
	struct pmuctl_event *owner = overwritten ? NULL :
				     *event_set_handle(&r->set, r->ring_event, target);

	/* One that is for some CPUs alone has no ring on the others. */
	for (size_t event = 0; event < r->set.nr_events && !owner; event++)
		if (is_overwritten(r, event) == overwritten)
			owner = *event_set_handle(&r->set, event, target);
	return owner;
}

/**
 * recording_ring_event() - whose ring that of a target is
 * @r: the recording, with its events open.
 * @target: number of the target.
 *
 * Return: the event, or NULL: none is open there.
 */
struct pmuctl_event *recording_ring_event(const struct recording *r, size_t target)
{
	return ring_owner(r, target, false);
}

/* One event of a target has the ring, the others, but for those that have another, write to it. */
static int open_ring(struct recording *r, size_t target, bool overwritten, struct pmuctl_ring **ring)
{
	struct pmuctl_event *owner = ring_owner(r, target, overwritten);
	int ret;

	if (!owner)
		return 0;
	ret = pages_open_ring(r, owner, overwritten, ring);
	if (ret < 0)
		return say_no_ring(r, owner, ret);
	for (size_t event = 0; event < r->set.nr_events; event++) {
		struct pmuctl_event *handle = *event_set_handle(&r->set, event, target);

		if (!handle || handle == owner || is_overwritten(r, event) != overwritten)
			continue;
		ret = pmuctl_event_set_output(handle, owner);
		if (ret < 0)
			return event_set_say(&r->set, event, handle,
					     "choose the ring of", ret);
	}
	return 0;
}

static int open_rings(struct recording *r, size_t target)
{
	int ret = open_ring(r, target, false, &r->rings[target]);

	return ret < 0 || !r->overwritten ? ret :
	       open_ring(r, target, true, &r->overwritten[target]);
}

static int open_all(struct recording *r)
{
	size_t nr_targets = r->set.targets.count;
	int ret = 0;

	descriptors_allow();
	pages_choose(r);
	r->events = calloc(r->set.nr_events, sizeof(*r->events));
	r->ids = calloc(r->set.nr_events * nr_targets, sizeof(*r->ids));
	r->rings = calloc(nr_targets, sizeof(struct pmuctl_ring *));
	if (!r->events || !r->ids || !r->rings)
		return -ENOMEM;
	if (r->options->measure.teller)
		r->teller = r->set.nr_events - 1;
	ret = traces_find(r);
	if (ret == 0 && r->options->overwrite)
		ret = overwrite_init(r);
	for (size_t event = 0; event < r->set.nr_events && ret == 0; event++)
		ret = open_event(r, event);
	if (ret == 0 && r->overwritten)
		ret = overwrite_check_teller(r);
	for (size_t target = 0; target < nr_targets && ret == 0; target++)
		ret = open_rings(r, target);
	return ret < 0 ? ret : traces_open(r);
}

/**
 * recording_open() - open all events on all targets, disabled, and the rings
 * @dev: where.
 * @options: which events, which targets.
 * @child: the command that was started, if the target is that.
 * @recording: the result.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int recording_open(struct pmuctl_device *dev, const struct record_options *options,
		   pid_t child, struct recording **recording)
{
	struct recording *r = calloc(1, sizeof(*r));
	int ret;

	if (!r) {
		say_error("%s", pmuctl_strerror(ENOMEM));
		return -ENOMEM;
	}
	r->options = options;
	ret = event_set_init(&r->set, dev, &options->measure, child, true);
	if (ret == 0) {
		ret = open_all(r);
		if (ret == -ENOMEM)
			say_error("%s", pmuctl_strerror(ret));
	}
	if (ret < 0)
		recording_close(r);
	else
		*recording = r;
	return ret;
}

/**
 * recording_close() - close all
 * @r: the recording or NULL.
 */
void recording_close(struct recording *r)
{
	if (!r)
		return;
	traces_close(r);
	overwrite_close(r);
	for (size_t i = 0; r->rings && i < r->set.targets.count; i++)
		pmuctl_ring_close(r->rings[i]);
	event_set_close(&r->set);
	free(r->ids);
	free(r->rings);
	free(r->events);
	free(r);
}

/* ---------------------------------------------------------------- queries */

/* With what the others of its group have lost, if it tells of them all */
static uint64_t lost_of(struct pmuctl_event *handle, bool group)
{
	struct pmuctl_reading readings[GROUP_MAX];
	int count = group ? pmuctl_group_read(handle, readings, GROUP_MAX) :
			    pmuctl_event_read(handle, readings) == 0;
	uint64_t lost = 0;

	for (int i = 0; i < count; i++)
		lost += readings[i].lost;
	return lost;
}

/**
 * recording_lost() - how many samples were lost
 * @r: the recording, disabled.
 *
 * Return: that number as the events have it; what the rings say may be less, as what is
 * lost at the very end is not told any more.
 */
uint64_t recording_lost(const struct recording *r)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < r->set.nr_events * r->set.targets.count; i++) {
		const struct set_event *event = &r->set.events[i / r->set.targets.count];
		bool group = event->attr.read_format & PERF_FORMAT_GROUP;

		if (r->set.handles[i] &&
		    (!group || event->leader == i / r->set.targets.count))
			lost += lost_of(r->set.handles[i], group);
	}
	return lost;
}

/**
 * recording_tells_maps() - are there records of what programs map?
 * @r: the recording.
 *
 * Return: false if the kernel lacks what it takes.
 */
bool recording_tells_maps(const struct recording *r)
{
	return r->events[r->teller].attr.mmap;
}

/**
 * recording_samples_kernel() - may samples be in the kernel?
 * @r: the recording.
 *
 * Return: whether an event does not leave it out.
 */
bool recording_samples_kernel(const struct recording *r)
{
	for (size_t i = 0; i < r->set.nr_events; i++)
		if (!only_tells(r, i) && !r->events[i].attr.exclude_kernel)
			return true;
	return false;
}

/* Has what only tells of tasks do so, or no more; does nothing if there is no such event. */
static int switch_teller(const struct recording *r, const char *what,
			 int (*call)(struct pmuctl_event *event))
{
	for (size_t i = 0; r->options->measure.teller && i < r->set.targets.count; i++) {
		struct pmuctl_event *teller = *event_set_handle(&r->set, r->teller, i);
		int ret = teller ? call(teller) : 0;

		/* Of who has ended there is nothing to tell. */
		if (ret < 0 && ret != -ESRCH)
			return event_set_say(&r->set, r->teller, teller, what, ret);
	}
	return 0;
}

/**
 * recording_tell() - have tasks and what they map told of, while nothing is sampled yet
 * @r: the recording. Without an event for that nothing is told before its events are enabled.
 *
 * Return: 0 or a negative errno, of which the user has been told.
 */
int recording_tell(const struct recording *r)
{
	return switch_teller(r, "enable", pmuctl_event_enable);
}

/**
 * recording_disable() - the end
 * @r: the recording.
 */
void recording_disable(const struct recording *r)
{
	event_set_disable(&r->set);
	switch_teller(r, "disable", pmuctl_event_disable);
}

/**
 * recording_trailer() - what is at the end of each record that is no sample
 * @r: the recording.
 *
 * Return: its size in bytes.
 */
size_t recording_trailer(const struct recording *r)
{
	const uint64_t fields = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
				PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
				PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;

	return 8 * (size_t)__builtin_popcountll(r->events[r->teller].attr.sample_type &
						fields);
}
