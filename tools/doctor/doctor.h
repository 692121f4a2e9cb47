/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * "pmuctl doctor": what its checks share. The checks are in checks.c, the
 * counting test in count.c, order and printing in doctor.c.
 */
#ifndef PMUCTL_TOOL_DOCTOR_H
#define PMUCTL_TOOL_DOCTOR_H

#include "command.h"

enum check_state {
	CHECK_OK,
	CHECK_NOTE,		/* worth to know, no obstacle by itself */
	CHECK_PROBLEM,		/* stands in the way */
	CHECK_UNKNOWN,		/* could not be looked at */
};

/**
 * struct check - one check and what it found
 * @name: for programs.
 * @title: for people.
 * @state: how it went.
 * @finding: a sentence.
 * @remedy: what to do about it, or empty.
 */
struct check {
	const char *name;
	const char *title;
	enum check_state state;
	char finding[320];
	char remedy[320];
};

/**
 * struct patient - what the checks look at
 * @dev: the device, NULL if it could not be opened.
 * @why: why it could not.
 * @info: of the driver, if @dev.
 */
struct patient {
	struct pmuctl_device *dev;
	struct pmuctl_explanation why;
	struct pmuctl_info info;
};

void check_set(struct check *check, enum check_state state, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void check_remedy(struct check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

void check_driver(struct check *check, const struct patient *patient);
void check_version(struct check *check, const struct patient *patient);
void check_device(struct check *check, const struct patient *patient);
void check_secure_boot(struct check *check, const struct patient *patient);
void check_machine(struct check *check, const struct patient *patient);
void check_pmu(struct check *check, const struct patient *patient);
void check_owner(struct check *check, const struct patient *patient);
void check_claim(struct check *check, const struct patient *patient);
void check_guests(struct check *check, const struct patient *patient);
void check_reading(struct check *check, const struct patient *patient);
void check_permission(struct check *check, const struct patient *patient);
void check_proven(struct check *check, const struct patient *patient);
void check_counting(struct check *check, const struct patient *patient);

#endif /* PMUCTL_TOOL_DOCTOR_H */
