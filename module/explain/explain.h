/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Explanations of refusals: the one way to refuse something.
 *
 *	return pmuctl_refuse(why, PERM_CPU, "pid", level);
 *
 * looks up the errno and the sentence of the code in sentences.h, fills @why
 * with both and the field at fault, and returns -errno. The arguments after
 * the field are those of the sentence's format; the compiler checks them.
 *
 * Pure logic, any context. All layers may use it; it knows none of them.
 */
#ifndef PMUCTL_EXPLAIN_H
#define PMUCTL_EXPLAIN_H

#include "compat/pure.h"
#include <linux/pmuctl.h>
#include "explain/sentences.h"

/* The macro's detour lets PMUCTL_SAY_* expand to two arguments. */
#define pmuctl_refuse(why, code, field, ...)				\
	pmuctl_refuse_(why, PMUCTL_WHY_##code, field,			\
		       PMUCTL_SAY_##code, ##__VA_ARGS__)

/**
 * pmuctl_refuse_() - fill in an explanation; called through pmuctl_refuse()
 * @why: is filled; what was there before is lost. May be NULL.
 * @code: PMUCTL_WHY_*.
 * @field: the field at fault, as in C, or "".
 * @error: errno, positive.
 * @fmt: the sentence.
 *
 * Context: Any, not NMI.
 * Return: -@error.
 */
__printf(5, 6)
int pmuctl_refuse_(struct pmuctl_explanation *why, enum pmuctl_why code,
		   const char *field, int error, const char *fmt, ...);

/**
 * pmuctl_refuse_entry() - say which entry of a list it was that has been refused
 * @why: as pmuctl_refuse() has filled it; its field gets the number of the entry before it.
 * @entry: which, from 0 on.
 *
 * Context: Any, not NMI.
 */
void pmuctl_refuse_entry(struct pmuctl_explanation *why, u32 entry);

#endif /* PMUCTL_EXPLAIN_H */
