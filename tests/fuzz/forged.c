// SPDX-License-Identifier: GPL-2.0-only
/*
 * Forged recordings for a fuzzer's function, which this is linked with: each has a number, by which
 * it is made of the seeds, the same each time and on every machine. So there may be a million, and
 * any part of them, and the one that fails can be had again.
 *
 * usage: NAME SEEDS FIRST END [STATE]    the numbers from FIRST up to END; STATE is a file that
 *                                        tells the next one, where a later run goes on
 *        NAME --write SEEDS NUMBER       that recording, to standard output
 */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sanitizer/common_interface_defs.h>

#define SEEDS_MAX	64
#define SIZE_FORGED	16384
#define CHANGES_MAX	8
/* Numbers between two looks at STATE */
#define STEP		500
/* Longer than any recording of SIZE_FORGED bytes takes, in seconds */
#define TIME_MAX	120

int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seed {
	char name[1024];
	uint8_t *bytes;
	size_t size;
};

static struct seed seeds[SEEDS_MAX];
static size_t seed_count;
/* Of the recording that is read now */
static uint64_t number;
static uint64_t state;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct seed *)left)->name, ((const struct seed *)right)->name);
}

static void read_seed(struct seed *seed)
{
	FILE *file = fopen(seed->name, "re");

	seed->bytes = malloc(SIZE_FORGED);
	if (!file || !seed->bytes)
		fail(seed->name);
	seed->size = fread(seed->bytes, 1, SIZE_FORGED, file);
	fclose(file);
}

static void read_seeds(const char *directory)
{
	DIR *dir = opendir(directory);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (seed_count == SEEDS_MAX)
			break;
		snprintf(seeds[seed_count++].name, sizeof(seeds->name), "%s/%s", directory, entry->d_name);
	}
	if (!dir || !seed_count)
		fail(directory);
	closedir(dir);
	qsort(seeds, seed_count, sizeof(*seeds), by_name);
	for (size_t i = 0; i < seed_count; i++)
		read_seed(&seeds[i]);
}

/* -------------------------------------------------------------------- forging */

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	/* The low bits of such a generator are the worse ones. */
	return (state >> 11) % below;
}

/* A place in the bytes; more often than not where a word of the file begins */
static size_t draw_place(size_t size)
{
	size_t place = draw(size);

	return draw(4) ? place & ~7UL : place;
}

static uint64_t draw_value(uint64_t old)
{
	static const uint64_t values[] = {
		0, 1, 2, 7, 8, 9, 16, 63, 64, 65, 127, 128, 255, 256, 4095, 4096, 32767, 32768, 65528, 65535, 65536,
		INT32_MAX, 1ULL << 31, UINT32_MAX, 1ULL << 32, INT64_MAX, 1ULL << 63, UINT64_MAX - 511,
		UINT64_MAX - 127, UINT64_MAX - 7, UINT64_MAX,
	};

	switch (draw(4)) {
	case 0:
		return old + 1 + draw(16);
	case 1:
		return old - 1 - draw(16);
	case 2:
		return old ^ 1ULL << draw(64);
	}
	return values[draw(sizeof(values) / sizeof(*values))];
}

/* A number of 1, 2, 4 or 8 bytes becomes another one. */
static void change_number(uint8_t *bytes, size_t size)
{
	size_t width = 1UL << draw(4), at = draw_place(size);
	uint64_t value = 0;

	if (width > size - at)
		width = 1;
	memcpy(&value, bytes + at, width);
	value = draw_value(value);
	memcpy(bytes + at, &value, width);
}

/* Bytes of a seed take the place of others. */
static void overwrite(uint8_t *bytes, size_t size)
{
	const struct seed *from = &seeds[draw(seed_count)];
	size_t at = draw_place(size), start = draw_place(from->size), length = 1 + draw(128);

	if (length > size - at)
		length = size - at;
	if (length > from->size - start)
		length = from->size - start;
	memcpy(bytes + at, from->bytes + start, length);
}

/* Some are left out, or are there twice. */
static size_t move(uint8_t *bytes, size_t size, bool twice)
{
	size_t at = draw_place(size), length = 8 * (1 + draw(16));

	if (length > size - at)
		length = size - at;
	if (twice && length > SIZE_FORGED - size)
		length = SIZE_FORGED - size;
	if (twice)
		memmove(bytes + at + length, bytes + at, size - at);
	else
		memmove(bytes + at, bytes + at + length, size - at - length);
	return twice ? size + length : size - length;
}

static size_t forge(uint64_t which, uint8_t *bytes)
{
	const struct seed *seed;
	uint64_t changes;
	size_t size;

	state = (which + 1) * 0x9e3779b97f4a7c15ULL;
	for (int i = 0; i < 4; i++)
		draw(2);
	seed = &seeds[draw(seed_count)];
	size = seed->size;
	memcpy(bytes, seed->bytes, size);
	changes = 1 + draw(1 + draw(CHANGES_MAX));
	for (uint64_t i = 0; i < changes && size; i++) {
		/* What is behind a length that is wrong is seldom read: most changes leave it as it is. */
		switch (draw(64)) {
		case 0:
			size = move(bytes, size, false);
			break;
		case 1:
			size = move(bytes, size, true);
			break;
		case 2:
			size = draw(size);
			break;
		case 3 ... 8:
			overwrite(bytes, size);
			break;
		default:
			change_number(bytes, size);
			break;
		}
	}
	return size;
}

/* --------------------------------------------------------------------- reading */

static void tell(void)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "forged recording %llu\n", (unsigned long long)number);

	if (write(STDERR_FILENO, text, (size_t)length) < 0)
		_exit(1);
}

/* What is undefined is told, and then a SIGABRT. */
const char *__ubsan_default_options(void);
const char *__ubsan_default_options(void)
{
	return "abort_on_error=1:print_stacktrace=1";
}

static void killed(int signal_number)
{
	tell();
	signal(signal_number, SIG_DFL);
	raise(signal_number);
}

static uint64_t read_state(const char *path, uint64_t first)
{
	unsigned long long next = first;
	FILE *file = path ? fopen(path, "re") : NULL;

	if (file && fscanf(file, "%llu", &next) != 1)
		next = first;
	if (file)
		fclose(file);
	return next;
}

static void write_state(const char *path)
{
	char new[4096];
	FILE *file;

	if (!path)
		return;
	snprintf(new, sizeof(new), "%s.new", path);
	file = fopen(new, "we");
	if (!file || fprintf(file, "%llu\n", (unsigned long long)number) < 0 || fclose(file) || rename(new, path))
		fail(path);
}

/* Of its own size, so that what is read behind it is noticed */
static void read_one(const uint8_t *bytes, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		fail("malloc");
	memcpy(copy, bytes, size);
	alarm(TIME_MAX);
	LLVMFuzzerTestOneInput(copy, size);
	alarm(0);
	free(copy);
}

int main(int argc, char **argv)
{
	static uint8_t bytes[SIZE_FORGED];
	const char *path = argc == 5 ? argv[4] : NULL;
	uint64_t end;

	if (argc == 4 && !strcmp(argv[1], "--write")) {
		read_seeds(argv[2]);
		fwrite(bytes, 1, forge(strtoull(argv[3], NULL, 10), bytes), stdout);
		return fflush(stdout) ? 1 : 0;
	}
	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: %s SEEDS FIRST END [STATE] | --write SEEDS NUMBER\n", argv[0]);
		return 2;
	}
	read_seeds(argv[1]);
	if (LLVMFuzzerInitialize)
		LLVMFuzzerInitialize(&argc, &argv);
	__sanitizer_set_death_callback(tell);
	signal(SIGABRT, killed);
	signal(SIGALRM, killed);
	signal(SIGSEGV, killed);
	end = strtoull(argv[3], NULL, 10);
	for (number = read_state(path, strtoull(argv[2], NULL, 10)); number < end; number++) {
		if (number % STEP == 0)
			write_state(path);
		read_one(bytes, forge(number, bytes));
	}
	write_state(path);
	return 0;
}
