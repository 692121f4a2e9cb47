// SPDX-License-Identifier: GPL-2.0-only
/*
 * What operations on events cost, in instructions: perf's or ours, with the same code.
 * Runs in a guest of the laboratory in --icount mode, started by tests/bench/guest.sh,
 * and prints a line "NAME INSTRUCTIONS" for each row when all is measured, because
 * devices that work would disturb.
 *
 * usage: bench none|perf|pmuctl [many|trace|switches|forks|caught|scale]
 *
 * With "many" nothing is measured: many processes begin and end with one inherited event.
 * With "trace" only pauses of a trace are, which needs ours and Processor Trace. With
 * "scale" there are other rows: scale.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define BATCHES		41
#define ROWS_MAX	64

enum bench_kind bench_kind;

static struct {
	const char *name;
	int64_t instructions;
} rows[ROWS_MAX];
static unsigned int nr_rows;

void bench_fail(const char *what, long error)
{
	fprintf(stderr, "bench: %s: %s\n", what, strerror(error < 0 ? -error : error));
	exit(1);
}

void bench_row(const char *name, int64_t instructions)
{
	if (nr_rows == ROWS_MAX) {
		fprintf(stderr, "bench: more than %d rows: raise ROWS_MAX\n", ROWS_MAX);
		exit(1);
	}
	rows[nr_rows].name = name;
	rows[nr_rows++].instructions = instructions;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

uint64_t bench_median(uint64_t *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), compare);
	return values[n / 2];
}

static uint64_t median_batch(void (*operation)(void), unsigned int batch)
{
	uint64_t taken[BATCHES];

	for (unsigned int b = 0; b < BATCHES; b++) {
		uint64_t start = bench_now();

		for (unsigned int i = 0; i < batch; i++)
			operation();
		taken[b] = bench_now() - start;
	}
	return bench_median(taken, BATCHES);
}

static void nothing(void)
{
}

int64_t bench_measure(void (*operation)(void), unsigned int batch)
{
	int64_t empty = median_batch(nothing, batch);
	int64_t taken = median_batch(operation, batch) - empty;

	return (taken + batch / 2) / batch;
}

static void print_rows(void)
{
	for (unsigned int i = 0; i < nr_rows; i++)
		printf("%s %lld\n", rows[i].name, (long long)rows[i].instructions);
}

static void measure_all(void)
{
	/* First, while no event has been opened yet */
	bench_switches();
	bench_forks();
	if (bench_kind == BENCH_NONE)
		return;
	bench_calls();
	bench_maps();
	bench_user_read();
	bench_rotation();
	bench_samples();
	bench_soft();
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = { "none", "perf", "pmuctl" };
	const char *what = argc == 3 ? argv[2] : "";

	for (unsigned int i = 0; argc >= 2 && i < 3; i++) {
		if (strcmp(argv[1], kinds[i]))
			continue;
		bench_kind = i;
		bench_events_init();
		if (!strcmp(what, "many"))
			bench_fork_many();
		else if (!strcmp(what, "trace"))
			bench_trace();
		else if (!strcmp(what, "scale"))
			bench_scale();
		else if (!strcmp(what, "switches"))
			bench_switches();
		else if (!strcmp(what, "forks"))
			bench_forks();
		else if (!strcmp(what, "caught"))
			bench_caught();
		else
			measure_all();
		print_rows();
		return 0;
	}
	fprintf(stderr, "usage: bench none|perf|pmuctl [many|trace|switches|forks|scale]\n");
	return 2;
}
