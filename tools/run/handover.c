// SPDX-License-Identifier: GPL-2.0-only
/*
 * A descriptor that goes from one process to another.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "handover.h"

/**
 * handover_send() - send something
 * @socket: a local socket.
 * @data: what.
 * @size: its size, at least 1.
 * @fd: a descriptor that goes with it, or -1.
 *
 * Return: 0 or a negative errno.
 */
int handover_send(int socket, const void *data, size_t size, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec words = { (void *)data, size };
	struct msghdr message = { .msg_iov = &words, .msg_iovlen = 1 };

	if (fd >= 0) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)size ? 0 : -errno;
}

/**
 * handover_receive() - receive it
 * @socket: a local socket.
 * @data: filled.
 * @size: how much is expected.
 * @fd: the descriptor that came with it; -1 if there was none.
 *
 * Return: how many bytes came, 0 if the other end is closed, or a negative errno.
 */
ssize_t handover_receive(int socket, void *data, size_t size, int *fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec words = { data, size };
	struct msghdr message = {
		.msg_iov = &words, .msg_iovlen = 1,
		.msg_control = &control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header;
	ssize_t got;

	*fd = -1;
	got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	if (got < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return got;
}
