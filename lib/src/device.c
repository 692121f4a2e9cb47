// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The device handle: open, information, and the explanation of the last refused
 * open of an event. Events themselves are in event.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device.h"
#include "internal.h"

/* Up to and including what the first version of the driver fills. */
#define INFO_SIZE_MIN sizeof(struct pmuctl_info)

static int info_read(int fd, struct pmuctl_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return ioctl(fd, PMUCTL_IOC_INFO, info) < 0 ? -errno : 0;
}

PMUCTL_API int pmuctl_device_open(const char *path, struct pmuctl_explanation *why,
				  struct pmuctl_device **dev)
{
	struct pmuctl_device *new;
	struct pmuctl_info info;
	int ret;

	if (!dev)
		return -EINVAL;
	*dev = NULL;
	if (!path)
		path = PMUCTL_DEVICE;
	new = calloc(1, sizeof(*new));
	if (!new) {
		pmuctl_why_device(why, path, ENOMEM);
		return -ENOMEM;
	}
	new->fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (new->fd < 0) {
		ret = -errno;
		goto err_free;
	}
	ret = info_read(new->fd, &info);
	if (ret == -EINVAL)	/* what other drivers say to a foreign number */
		ret = -ENOTTY;
	if (ret < 0)
		goto err_close;
	pthread_mutex_init(&new->lock, NULL);
	*dev = new;
	return 0;

err_close:
	close(new->fd);
err_free:
	free(new);
	pmuctl_why_device(why, path, -ret);
	return ret;
}

PMUCTL_API void pmuctl_device_close(struct pmuctl_device *dev)
{
	if (!dev)
		return;
	close(dev->fd);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}

PMUCTL_API int pmuctl_device_fd(const struct pmuctl_device *dev)
{
	return dev->fd;
}

PMUCTL_API int pmuctl_device_info(struct pmuctl_device *dev,
				  struct pmuctl_info *info, size_t size)
{
	struct pmuctl_info known;
	int ret;

	if (!dev || !info || size < INFO_SIZE_MIN)
		return -EINVAL;
	ret = info_read(dev->fd, &known);
	if (ret < 0)
		return ret;
	memset(info, 0, size);
	memcpy(info, &known, sizeof(known));
	return 0;
}

PMUCTL_API void pmuctl_device_explain(struct pmuctl_device *dev,
				      struct pmuctl_explanation *why)
{
	pthread_mutex_lock(&dev->lock);
	*why = dev->why;
	pthread_mutex_unlock(&dev->lock);
}

/**
 * pmuctl_device_refused() - remember why an open was refused
 * @dev: the device.
 * @why: the explanation.
 */
void pmuctl_device_refused(struct pmuctl_device *dev,
			   const struct pmuctl_explanation *why)
{
	pthread_mutex_lock(&dev->lock);
	dev->why = *why;
	pthread_mutex_unlock(&dev->lock);
}
