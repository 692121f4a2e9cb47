/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * CPUs that come and go, and the machine's end.
 */
#ifndef PMUCTL_HOTPLUG_H
#define PMUCTL_HOTPLUG_H

int pmuctl_hotplug_init(void);
void pmuctl_hotplug_exit(void);

#endif /* PMUCTL_HOTPLUG_H */
