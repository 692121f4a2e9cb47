// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times that are asked for like events: nothing counts them, "pmuctl stat" knows them.
 */
#include <string.h>

#include "command.h"

/**
 * event_time_find() - is it a time, which perf has among the events?
 * @name: of an event, with its modifiers.
 *
 * Return: which one it is; EVENT_TIME_NONE: it is none.
 */
enum event_time event_time_find(const char *name)
{
	static const char *const names[] = {
		[EVENT_TIME_DURATION] = "duration_time",
		[EVENT_TIME_USER] = "user_time",
		[EVENT_TIME_SYSTEM] = "system_time",
	};
	size_t length = strcspn(name, ":");

	for (size_t i = EVENT_TIME_NONE + 1; i < ARRAY_LEN(names); i++)
		if (strlen(names[i]) == length && !strncmp(names[i], name, length))
			return i;
	return EVENT_TIME_NONE;
}
