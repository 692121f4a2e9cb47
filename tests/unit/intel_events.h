/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Intel's events as the vendor's published tables have them: data/intel-events.txt, which
 * tests/models-events writes. For the tests on this machine and those in a guest.
 */
#ifndef UNIT_INTEL_EVENTS_H
#define UNIT_INTEL_EVENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#define INTEL_CPUS	64
#define INTEL_EVENTS	800

#define INTEL_EDGE	(1ull << 18)	/* SDM Vol. 3B, IA32_PERFEVTSELx */
#define INTEL_INV	(1ull << 23)

struct intel_event {
	unsigned long long config;
	unsigned long long counters;	/* with hyperthreading off; 0: another register is needed */
	unsigned int msr;
};

/* A cpu of the tables */
static struct intel_cpu {
	char name[32];
	struct { unsigned int family, model; char type; } id[8];
	unsigned int nr_ids, nr_events;
	struct intel_event event[INTEL_EVENTS];
	unsigned long long counters;
} intel_cpus[INTEL_CPUS];
static unsigned int nr_intel_cpus;

static inline void intel_read_cpu(char *line)
{
	struct intel_cpu *cpu = &intel_cpus[nr_intel_cpus++];
	char *word = strtok(line, " \n");

	cr_assert_leq(nr_intel_cpus, INTEL_CPUS);
	snprintf(cpu->name, sizeof(cpu->name), "%s", strtok(NULL, " \n"));
	while ((word = strtok(NULL, " \n"))) {
		unsigned int i = cpu->nr_ids++;

		cr_assert_lt(i, sizeof(cpu->id) / sizeof(cpu->id[0]));
		cr_assert_eq(sscanf(word, "%x,%x,%c", &cpu->id[i].family, &cpu->id[i].model,
				    &cpu->id[i].type), 3, "%s", word);
	}
}

static inline void intel_read_event(struct intel_cpu *cpu, unsigned int code, char *word)
{
	struct intel_event *event = &cpu->event[cpu->nr_events++];

	cr_assert_leq(cpu->nr_events, INTEL_EVENTS);
	event->config = code | strtoul(word, &word, 16) << 8;
	if (*word == 'm')
		event->config |= strtoul(word + 1, &word, 16) << 24;
	if (*word == 'i') {
		event->config |= INTEL_INV;
		word++;
	}
	if (*word == 'g') {
		event->config |= INTEL_EDGE;
		word++;
	}
	cr_assert_eq(*word, '=');
	if (word[1] == 'x')
		event->msr = strtoul(word + 2, &word, 16);
	else
		event->counters = strtoul(word + 1, &word, 16);
	cr_assert_eq(*word, '\0');
	cpu->counters |= event->counters;
}

static inline void intel_events_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL, *word;
	unsigned int code;
	size_t size = 0;

	cr_assert_not_null(file, "%s: %m", path);
	while (getline(&line, &size, file) > 0) {
		if (*line == '#')
			continue;
		if (*line == 'C') {
			intel_read_cpu(line);
			continue;
		}
		code = strtoul(strtok(line, ":"), NULL, 16);
		while ((word = strtok(NULL, " \n")))
			intel_read_event(&intel_cpus[nr_intel_cpus - 1], code, word);
	}
	free(line);
	fclose(file);
}

#endif /* UNIT_INTEL_EVENTS_H */
