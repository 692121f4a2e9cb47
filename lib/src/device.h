/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The inside of a device handle, for device.c and event.c.
 */
#ifndef PMUCTL_LIB_DEVICE_H
#define PMUCTL_LIB_DEVICE_H

#include <pthread.h>

#include <pmuctl.h>

struct pmuctl_device {
	/* constant after open */
	int fd;

	/* @lock */
	pthread_mutex_t lock;
	struct pmuctl_explanation why;
};

void pmuctl_device_refused(struct pmuctl_device *dev,
			   const struct pmuctl_explanation *why);

#endif /* PMUCTL_LIB_DEVICE_H */
