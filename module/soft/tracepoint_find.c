// SPDX-License-Identifier: GPL-2.0-only
/*
 * Looks for a tracepoint by its name: among the kernel's, then among those of modules. Before all
 * of them come the events of tracing's own: who names one "probe:sched_switch" means that.
 */
#include <linux/err.h>
#include <linux/module.h>
#include <linux/trace_events.h>
#include <linux/tracepoint.h>

#include "soft/tracepoint_private.h"

static void match(struct tracepoint *tp, void *arg)
{
	struct tracepoint_search *search = arg;

	if (!strcmp(tp->name, search->place))
		search->tp = tp;
}

#ifdef CONFIG_MODULES
/* The kernel tells a new notifier of every module that there is. */
static int look_into_module(struct notifier_block *nb, unsigned long state,
			    void *data)
{
	struct tracepoint_search *search =
		container_of(nb, struct tracepoint_search, notifier);
	const struct tp_module *module = data;
	struct tracepoint *tp;
	unsigned int i;

	if (state != MODULE_STATE_COMING || search->tp)
		return NOTIFY_OK;
	for (i = 0; i < module->mod->num_tracepoints; i++) {
		tp = tracepoint_ptr_deref(&module->mod->tracepoints_ptrs[i]);
		if (strcmp(tp->name, search->name) ||
		    !try_module_get(module->mod))
			continue;
		search->tp = tp;
		search->module = module->mod;
		break;
	}
	return NOTIFY_OK;
}

static void search_modules(struct tracepoint_search *search)
{
	search->notifier.notifier_call = look_into_module;
	register_tracepoint_module_notifier(&search->notifier);
	unregister_tracepoint_module_notifier(&search->notifier);
}
#else
static void search_modules(struct tracepoint_search *search) { }
#endif

#ifdef CONFIG_EVENT_TRACING
struct trace_event_file *tracepoint_get_file(const char *full_name)
{
	const char *colon = strchr(full_name, ':');
	char system[PMUCTL_TRACEPOINT_NAME_MAX];
	struct trace_event_file *file;

	if (!colon)
		return NULL;
	strscpy(system, full_name, sizeof(system));
	system[colon - full_name] = '\0';
	file = trace_get_event_file(NULL, system, colon + 1);
	return IS_ERR(file) ? NULL : file;
}

enum tracepoint_dynamic tracepoint_dynamic_of(const struct trace_event_call *call)
{
	if (call->flags & TRACE_EVENT_FL_KPROBE)
		return TRACEPOINT_KPROBE;
	return call->flags & TRACE_EVENT_FL_UPROBE ? TRACEPOINT_UPROBE : TRACEPOINT_STATIC;
}

/*
 * Is it an event of tracing's own? It is never a tracepoint that has its name in another system;
 * and to who may not have it, it is not there: tracefs does not tell everybody either.
 */
static bool find_dynamic(struct tracepoint_search *search)
{
	struct trace_event_file *file = tracepoint_get_file(search->full_name);
	bool own;

	if (!file)
		return false;
	own = !(file->event_call->flags & TRACE_EVENT_FL_TRACEPOINT);
	if (search->may_probe)
		search->dynamic = tracepoint_dynamic_of(file->event_call);
	trace_put_event_file(file);
	return own;
}
#else
static bool find_dynamic(struct tracepoint_search *search)
{
	return false;
}
#endif

static void find_syscall(struct tracepoint_search *search)
{
	search->meta = tracepoint_find_syscall(search->full_name, &search->place);
	if (search->meta)
		for_each_kernel_tracepoint(match, search);
}

void tracepoint_find(struct tracepoint_search *search)
{
	if (!strncmp(search->full_name, "syscalls:", 9)) {
		find_syscall(search);
		return;
	}
	if (find_dynamic(search))
		return;
	search->place = search->name;
	for_each_kernel_tracepoint(match, search);
	if (!search->tp)
		search_modules(search);
}
