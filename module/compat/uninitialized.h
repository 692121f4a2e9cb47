/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A variable that is not to be cleared before it is used: kernels are built to clear every
 * local one, which for an array on a hot path costs more than its use.
 */
#ifndef PMUCTL_COMPAT_UNINITIALIZED_H
#define PMUCTL_COMPAT_UNINITIALIZED_H

#if __has_attribute(__uninitialized__)
#define pmuctl_uninitialized __attribute__((__uninitialized__))
#else
#define pmuctl_uninitialized
#endif

#endif /* PMUCTL_COMPAT_UNINITIALIZED_H */
