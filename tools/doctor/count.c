// SPDX-License-Identifier: GPL-2.0-only
/*
 * The doctor's last check, and the only one that decides: count the instructions of
 * a loop whose length is known.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "doctor.h"

#define LOOP_ROUNDS		500000
#define LOOP_INSTRUCTIONS	(2 * (uint64_t)LOOP_ROUNDS)

/*
 * Around the loop there are the ends of the ioctls, and some CPUs count an
 * instruction more at each interrupt: 0.1 % is generous.
 */
#define TOLERANCE		(LOOP_INSTRUCTIONS / 1000)

/* Two instructions a round */
static void loop(void)
{
	uint64_t rounds = LOOP_ROUNDS;

	__asm__ volatile("1:\tdecq %0\n\t"
			 "jnz 1b"
			 : "+r" (rounds) : : "cc");
}

static int count_loop(struct pmuctl_event *event, struct pmuctl_reading *reading)
{
	int ret = pmuctl_event_enable(event);

	if (ret < 0)
		return ret;
	loop();
	ret = pmuctl_event_disable(event);
	return ret < 0 ? ret : pmuctl_event_read(event, reading);
}

static void judge(struct check *check, const struct pmuctl_reading *reading)
{
	uint64_t off = reading->value > LOOP_INSTRUCTIONS ?
			reading->value - LOOP_INSTRUCTIONS :
			LOOP_INSTRUCTIONS - reading->value;

	if (!reading->time_running) {
		check_set(check, CHECK_PROBLEM,
			  "the event was opened but never had a counter");
		check_remedy(check, "look into the kernel log, and report it with the output of 'pmuctl doctor'");
	} else if (off > TOLERANCE) {
		check_set(check, CHECK_PROBLEM,
			  "a loop of %" PRIu64 " instructions was counted as %" PRIu64,
			  LOOP_INSTRUCTIONS, reading->value);
		check_remedy(check, "if this is a virtual machine, its PMU does not count truly; else report it with the output of 'pmuctl doctor'");
	} else {
		check_set(check, CHECK_OK,
			  "a loop of %" PRIu64 " instructions was counted as %" PRIu64,
			  LOOP_INSTRUCTIONS, reading->value);
	}
}

/**
 * check_counting() - count a loop of one million instructions
 * @check: filled.
 * @patient: with the device.
 */
void check_counting(struct check *check, const struct patient *patient)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_HARDWARE,
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	struct pmuctl_explanation why;
	struct pmuctl_reading reading;
	struct pmuctl_event *event;
	char text[sizeof(why.field) + sizeof(why.sentence) + 4];
	int ret;

	if (!patient->dev) {
		check_set(check, CHECK_UNKNOWN, "not done, the driver cannot be reached");
		return;
	}
	if (pmuctl_event_open(patient->dev, &attr, 0, -1, 0, &event) < 0) {
		pmuctl_device_explain(patient->dev, &why);
		pmuctl_explanation_format(&why, text, sizeof(text));
		check_set(check, CHECK_PROBLEM, "instructions:u was refused: %s",
			  text);
		return;
	}
	ret = count_loop(event, &reading);
	if (ret < 0)
		check_set(check, CHECK_PROBLEM, "instructions:u was opened, but: %s",
			  pmuctl_strerror(ret));
	else
		judge(check, &reading);
	pmuctl_event_close(event);
}
