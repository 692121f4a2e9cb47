// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Explanations on the library's side: those that it makes because there is no
 * driver to make them, and how they all become a line of text. The driver's own
 * sentences are not here, they come with the refusal.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

struct error_text {
	int error;
	const char *text;
};

/* What an errno of the driver can mean; the explanation knows which it was. */
static const struct error_text error_texts[] = {
	{ 0,		"no error" },
	{ E2BIG,	"the request is larger than what this driver knows, and sets something in the unknown part" },
	{ EACCES,	"permission denied: the permission level or the target's owner does not allow it" },
	{ EBADF,	"not an open file descriptor" },
	{ EBUSY,	"the PMU, or the counters needed, are in use" },
	{ EFAULT,	"a pointer leads nowhere" },
	{ EINTR,	"a signal came first" },
	{ EINVAL,	"the request is invalid" },
	{ EMFILE,	"the process has too many open files (ulimit -n), or its user too many events" },
	{ ENFILE,	"the system has too many open files" },
	{ ENODATA,	"the event is in error state and has no count" },
	{ ENODEV,	"the CPU is offline, or the device is gone" },
	{ ENOENT,	"this CPU cannot count the event, or the pmuctl module is not loaded" },
	{ ENOMEM,	"out of memory" },
	{ ENOSPC,	"the buffer is too small for all that is to be read, or the task has too many events" },
	{ ENOTTY,	"the driver does not know this request" },
	{ ENXIO,	"the driver is gone" },
	{ EOPNOTSUPP,	"this version of pmuctl cannot do that" },
	{ EPERM,	"operation not permitted" },
	{ ESRCH,	"there is no such task, or it is exiting" },
};

PMUCTL_API const char *pmuctl_strerror(int error)
{
	if (error < 0)
		error = -error;
	for (size_t i = 0; i < ARRAY_LEN(error_texts); i++)
		if (error_texts[i].error == error)
			return error_texts[i].text;
	return "an error that pmuctl does not know";
}

/**
 * pmuctl_why_make() - write an explanation of the library's own
 * @why: filled; NULL if nobody wants it.
 * @code: PMUCTL_WHY_*.
 * @error: the errno, positive.
 * @field: the field at fault or "".
 * @format: the sentence, cut if it does not fit.
 */
void pmuctl_why_make(struct pmuctl_explanation *why, unsigned int code, int error,
		     const char *field, const char *format, ...)
{
	va_list args;

	if (!why)
		return;
	memset(why, 0, sizeof(*why));
	why->size = sizeof(*why);
	why->error = error;
	why->code = code;
	snprintf(why->field, sizeof(why->field), "%s", field);
	va_start(args, format);
	vsnprintf(why->sentence, sizeof(why->sentence), format, args);
	va_end(args);
}

/**
 * pmuctl_why_device() - explain why the device cannot be opened
 * @why: filled; NULL if nobody wants it.
 * @path: the device.
 * @error: the errno, positive.
 */
void pmuctl_why_device(struct pmuctl_explanation *why, const char *path, int error)
{
	switch (error) {
	case ENOENT:
	case ENXIO:
	case ENODEV:
		pmuctl_why_make(why, PMUCTL_WHY_NOT_LOADED, error, "",
				"%s is not there: the pmuctl module is not loaded; load it with 'modprobe pmuctl' as root",
				path);
		return;
	case EACCES:
	case EPERM:
		pmuctl_why_make(why, PMUCTL_WHY_DEVICE_PERMISSION, error, "",
				"%s may not be opened by this user: ask the administrator for read and write access to it, or run as root",
				path);
		return;
	case ENOTTY:
		pmuctl_why_make(why, PMUCTL_WHY_NOT_PMUCTL, error, "",
				"%s is not the device of the pmuctl module", path);
		return;
	default:
		pmuctl_why_make(why, PMUCTL_WHY_UNEXPLAINED, error, "",
				"%s cannot be opened: %s", path,
				pmuctl_strerror(error));
	}
}

/**
 * pmuctl_why_complete() - see that a refusal has an explanation
 * @why: what the driver left there, perhaps nothing.
 * @error: the errno of the refusal, positive.
 *
 * A driver cannot explain what it could not understand, for example where the
 * explanation itself was to go.
 */
void pmuctl_why_complete(struct pmuctl_explanation *why, int error)
{
	why->field[sizeof(why->field) - 1] = '\0';
	why->sentence[sizeof(why->sentence) - 1] = '\0';
	if (why->error == (unsigned int)error && why->sentence[0])
		return;
	pmuctl_why_make(why, PMUCTL_WHY_UNEXPLAINED, error, "", "%s",
			pmuctl_strerror(error));
}

PMUCTL_API int pmuctl_explanation_format(const struct pmuctl_explanation *why,
					 char *buffer, size_t size)
{
	int field_max = (int)sizeof(why->field);
	int sentence_max = (int)sizeof(why->sentence);

	if (!why->sentence[0])
		return snprintf(buffer, size, "%s",
				pmuctl_strerror((int)why->error));
	if (!why->field[0])
		return snprintf(buffer, size, "%.*s", sentence_max,
				why->sentence);
	return snprintf(buffer, size, "%.*s (%.*s)", sentence_max,
			why->sentence, field_max, why->field);
}
