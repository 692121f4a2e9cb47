/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waking who waits for what is in a buffer.
 */
#ifndef PMUCTL_WAKE_H
#define PMUCTL_WAKE_H

#include <linux/uidgid.h>

struct pmuctl_buffer;
struct pmuctl_output;
struct pmuctl_waker;

/**
 * pmuctl_waker_get() - the worker that wakes for a user
 * @uid: who answers for what is mapped.
 *
 * Context: Process, may sleep.
 * Return: to be given to pmuctl_waker_put(); NULL if there is no memory.
 */
struct pmuctl_waker *pmuctl_waker_get(kuid_t uid);
void pmuctl_waker_put(struct pmuctl_waker *waker);

/* Nobody is to be woken for this buffer any more that is not being woken now. Process. */
void pmuctl_waker_forget(struct pmuctl_buffer *buffer);

/* The same of signals of this output, which is freed by RCU then */
void pmuctl_waker_forget_output(struct pmuctl_output *output);

/* It may have owners that get signals from now on. Process. Return: 0 or -ENOMEM. */
int pmuctl_output_may_signal(struct pmuctl_output *output);

int pmuctl_waker_init(void);

/* When no buffer is left */
void pmuctl_waker_exit(void);

#endif /* PMUCTL_WAKE_H */
