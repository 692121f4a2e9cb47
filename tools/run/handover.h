/* SPDX-License-Identifier: GPL-2.0-only */
/* Words through a socket, and a descriptor with them. */
#ifndef PMUCTL_TOOL_RUN_HANDOVER_H
#define PMUCTL_TOOL_RUN_HANDOVER_H

#include <sys/types.h>

int handover_send(int socket, const void *data, size_t size, int fd);
ssize_t handover_receive(int socket, void *data, size_t size, int *fd);

#endif /* PMUCTL_TOOL_RUN_HANDOVER_H */
