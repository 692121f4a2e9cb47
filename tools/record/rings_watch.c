// SPDX-License-Identifier: GPL-2.0-only
/*
 * For who looks at records while they are made: when there are some.
 */
#include <errno.h>
#include <sys/epoll.h>

#include "record.h"

/**
 * rings_watch_open() - watch the rings of all targets that are there
 * @watch: filled; its descriptor is to be closed, whatever becomes of it, unless it is -1.
 * @r: the recording, with its events open.
 *
 * Return: 0 or a negative errno.
 */
int rings_watch_open(struct rings_watch *watch, const struct recording *r)
{
	watch->alive = 0;
	watch->fd = epoll_create1(EPOLL_CLOEXEC);
	if (watch->fd < 0)
		return -errno;
	for (size_t i = 0; i < r->set.targets.count; i++) {
		struct pmuctl_event *event = recording_ring_event(r, i);
		struct epoll_event what = { .events = EPOLLIN };

		if (!event)
			continue;
		what.data.fd = pmuctl_event_fd(event);
		if (epoll_ctl(watch->fd, EPOLL_CTL_ADD, what.data.fd, &what) < 0)
			return -errno;
		watch->alive++;
	}
	return 0;
}

/**
 * rings_watch_forget() - let targets that are gone not wake us again
 * @watch: from rings_watch_open().
 */
void rings_watch_forget(struct rings_watch *watch)
{
	struct epoll_event what[64];
	int count = epoll_wait(watch->fd, what, ARRAY_LEN(what), 0);

	for (int i = 0; i < count; i++) {
		if (!(what[i].events & ~(uint32_t)EPOLLIN))
			continue;
		epoll_ctl(watch->fd, EPOLL_CTL_DEL, what[i].data.fd, NULL);
		watch->alive--;
	}
}
