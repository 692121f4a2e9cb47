/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For the tests of the in-kernel API: the module that uses it, and counters made through it.
 */
#ifndef VM_KAPI_H
#define VM_KAPI_H

#include "loops.h"
#include "../kmod/kapi_user.h"

#include <sys/utsname.h>

int kmod_load(const char *name, const char *parameters);

/* Returns 0 or -errno, without waiting. */
int kmod_unload(const char *name);

/* It may be left of a test that failed. */
void kapi_load(void);

void kapi_unload(void);
int kapi_device(void);

/* An attr of an event in user mode, disabled, as the API wants it: without a read_format */
struct perf_event_attr kapi_attr(uint64_t config);

struct kapi_create kapi_request(const struct perf_event_attr *attr, int pid,
				int cpu, unsigned int handler);

/* A counter's descriptor; the request tells what was refused, with -errno returned. */
int kapi_try(struct kapi_create *c);

int kapi_create_with(const struct perf_event_attr *attr, int pid, int cpu,
		     unsigned int handler, unsigned int arg);
int kapi_create(const struct perf_event_attr *attr, int pid, int cpu,
		unsigned int handler);
void kapi_calls(int fd, struct kapi_calls *calls);

#endif /* VM_KAPI_H */
