// SPDX-License-Identifier: GPL-2.0-only
/*
 * The helper through which every refusal goes. The sentences are in
 * sentences.h; carrying explanations to user space is the front's work.
 *
 * Pure logic: compiles in user space too.
 */
#include "explain/explain.h"

int pmuctl_refuse_(struct pmuctl_explanation *why, enum pmuctl_why code,
		   const char *field, int error, const char *fmt, ...)
{
	va_list args;

	if (!why)
		return -error;

	memset(why, 0, sizeof(*why));
	why->size = sizeof(*why);
	why->error = error;
	why->code = code;
	strscpy(why->field, field, sizeof(why->field));
	va_start(args, fmt);
	vsnprintf(why->sentence, sizeof(why->sentence), fmt, args);
	va_end(args);

	return -error;
}

void pmuctl_refuse_entry(struct pmuctl_explanation *why, u32 entry)
{
	char field[sizeof(why->field)];
	size_t at;

	memcpy(field, why->field, sizeof(field));
	why->entry = entry;
	at = snprintf(why->field, sizeof(why->field), "[%u]%s", entry, *field ? "." : "");
	memcpy(why->field + at, field, sizeof(field) - at);
	why->field[sizeof(field) - 1] = '\0';
}
