// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which readings of "pmuctl stat" are added up: those of all targets, or those of each CPU, core,
 * die, socket, node or thread. Where a CPU is, sysfs tells; one that is offline is by itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "counters.h"
#include "symbols/names.h"

#define CPU_DIR	"/sys/devices/system/cpu/cpu%d"

/* A number of the topology of @cpu; false if there is none. */
static bool topology_read(int cpu, const char *name, int *number)
{
	char path[128];
	bool found;
	FILE *file;

	snprintf(path, sizeof(path), CPU_DIR "/topology/%s", cpu, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	found = fscanf(file, "%d", number) == 1 && *number >= 0;
	fclose(file);
	return found;
}

/* Nodes are numbered from 0 on; a kernel without them has all memory in one. */
static int node_of(int cpu)
{
	char path[128];

	for (int node = 0; node < 1024; node++) {
		snprintf(path, sizeof(path), CPU_DIR "/node%d", cpu, node);
		if (access(path, F_OK) == 0)
			return node;
	}
	return 0;
}

/* The name that perf gives it, to be freed; NULL without memory. */
static char *name_of_cpu(enum stat_aggregate aggregate, int cpu)
{
	int socket, die = 0, core = 0, length;
	char *name;

	if (!topology_read(cpu, "physical_package_id", &socket) ||
	    !topology_read(cpu, "core_id", &core)) {
		length = asprintf(&name, "CPU%d", cpu);
		return length < 0 ? NULL : name;
	}
	topology_read(cpu, "die_id", &die);
	switch (aggregate) {
	case AGGREGATE_NODE:
		length = asprintf(&name, "N%d", node_of(cpu));
		break;
	case AGGREGATE_SOCKET:
		length = asprintf(&name, "S%d", socket);
		break;
	case AGGREGATE_DIE:
		length = asprintf(&name, "S%d-D%d", socket, die);
		break;
	default:
		length = asprintf(&name, "S%d-D%d-C%d", socket, die, core);
	}
	return length < 0 ? NULL : name;
}

/* The name is the thread's own to choose, and goes to the terminal of somebody else. */
static char *name_of_thread(int tid)
{
	char path[64], comm[32] = "";
	char *name;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/comm", tid);
	file = fopen(path, "re");
	if (file && fgets(comm, sizeof(comm), file))
		comm[strcspn(comm, "\n")] = '\0';
	if (file)
		fclose(file);
	names_clean(comm, strlen(comm));
	return asprintf(&name, "%s-%d", comm, tid) < 0 ? NULL : name;
}

/* Puts a slot into the cell of that name, which it takes over. */
static void slot_name(struct counters *c, size_t slot, char *name)
{
	size_t cell = 0;

	while (cell < c->nr_cells && strcmp(c->cells[cell].name, name) != 0)
		cell++;
	c->cell_of[slot] = cell;
	if (cell < c->nr_cells) {
		free(name);
		return;
	}
	c->cells[cell] = (struct cell){ .name = name, .cpu = ROW_ALL_TARGETS };
	c->nr_cells++;
}

/**
 * cells_make() - find out which slots are added up
 * @c: the counters, with their places.
 *
 * Return: 0 or -ENOMEM.
 */
int cells_make(struct counters *c)
{
	enum stat_aggregate aggregate = c->options->aggregate;

	c->cells = calloc(c->nr_slots + 1, sizeof(*c->cells));
	c->cell_of = calloc(c->nr_slots + 1, sizeof(*c->cell_of));
	if (!c->cells || !c->cell_of)
		return -ENOMEM;
	if (aggregate == AGGREGATE_ALL) {
		c->cells[0].cpu = ROW_ALL_TARGETS;
		c->nr_cells = 1;
		return 0;
	}
	for (size_t slot = 0; slot < c->nr_slots; slot++) {
		char *name;

		if (aggregate == AGGREGATE_CPU) {
			c->cell_of[slot] = slot;
			c->cells[slot].cpu = c->places[slot].cpu;
			c->nr_cells = c->nr_slots;
			continue;
		}
		name = aggregate == AGGREGATE_THREAD ?
			       name_of_thread(c->set.targets.list[slot]) :
			       name_of_cpu(aggregate, c->places[slot].cpu);
		if (!name)
			return -ENOMEM;
		slot_name(c, slot, name);
	}
	return 0;
}

void cells_free(struct counters *c)
{
	for (size_t i = 0; c->cells && i < c->nr_cells; i++)
		free(c->cells[i].name);
	free(c->cells);
	free(c->cell_of);
}
