// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names for code that a process has generated itself. Virtual machines tell them in files:
 * /tmp/perf-PID.map has a line "START SIZE NAME" for each function; jit-PID.dump, of which the
 * process has a page mapped as a sign, has records with times, so that an address can mean one
 * function after another. (Formats: tools/perf/Documentation/jit-interface.txt and
 * jitdump-specification.txt of the kernel's sources.)
 *
 * Anybody may put files there: they must be root's or ours, and nothing in them is believed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit.h"

#define PAGE		4096
#define BUCKETS		4096
/* Pages of functions of a dump, together; larger ones are forged. */
#define REFS_MAX	(4UL << 20)
#define FILE_MAX	(256L << 20)
/* Of one bucket: with each address all of them are looked at. */
#define BUCKET_MAX	32768u
/* What the moves of a dump may look at, together */
#define STEPS_MAX	(1UL << 28)

#define FOREIGN "the file belongs to another user, who could have written anything there"

#define DUMP_MAGIC	0x4a695444u
#define DUMP_TSC	1u	/* flag: times are of the time stamp counter */
enum { DUMP_LOAD, DUMP_MOVE };

struct dump_header {
	uint32_t magic, version, size, machine, pad, pid;
	uint64_t time, flags;
};

struct dump_record {
	uint32_t id, size;
	uint64_t time;
};

struct dump_load {
	uint32_t pid, tid;
	uint64_t vma, address, size, index;
	/* its name, its code */
};

struct dump_move {
	uint32_t pid, tid;
	uint64_t vma, from, to, size, index;
};

/* A function that is somewhere from a time on */
struct jit_code {
	struct jit_code *next;
	uint64_t time;
	struct symbol symbol;
};

/* One of the pages that it is in */
struct jit_ref {
	struct jit_ref *next;
	uint64_t page;
	struct jit_code *code;
};

/**
 * struct jit - what a dump tells
 * @has_times: the times of the dump are CLOCK_MONOTONIC's.
 * @text: the bytes of the dump.
 * @codes: what it tells.
 * @refs: by page.
 * @ref_count: how many.
 * @bucket_counts: how many are in each.
 * @steps: how many were looked at.
 */
struct jit {
	bool has_times;
	char *text;
	struct jit_code *codes;
	struct jit_ref *refs[BUCKETS];
	size_t ref_count;
	uint32_t bucket_counts[BUCKETS];
	uint64_t steps;
};

/* -------------------------------------------------------------------- files */

/* The whole file with a zero behind it; NULL if there is none, or it is somebody else's. */
static char *read_file(const char *path, size_t *size, bool *is_foreign)
{
	struct stat about;
	int fd = symbols_open(path, O_NOFOLLOW, &about);
	char *text = NULL;
	ssize_t got = 0;

	if (fd < 0)
		return NULL;
	if (about.st_size <= FILE_MAX) {
		if (about.st_uid && about.st_uid != geteuid())
			*is_foreign = true;
		else
			text = malloc((size_t)about.st_size + 1);
	}
	*size = 0;
	while (text && *size < (size_t)about.st_size) {
		got = read(fd, text + *size, (size_t)about.st_size - *size);
		if (got <= 0)
			break;
		*size += (size_t)got;
	}
	close(fd);
	if (text)
		text[*size] = '\0';
	return text;
}

/* The number of a process that lives, as it knows it itself; else @pid */
static int own_number(int32_t pid)
{
	char path[64], line[256], *at;
	int number = pid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "NSpid:", 6))
			continue;
		at = strrchr(line, '\t');
		number = at ? atoi(at) : pid;
	}
	if (file)
		fclose(file);
	return number;
}

/* A file of a process: on the recorded machine, or where the process itself sees it */
static char *read_file_of(const struct symbols *symbols, int32_t pid, const char *path,
			  size_t *size, bool *is_foreign)
{
	char whole[PATH_MAX], *text;

	if ((size_t)snprintf(whole, sizeof(whole), "%s%s", symbols->root, path) >= sizeof(whole))
		return NULL;
	text = read_file(whole, size, is_foreign);
	if (text || *symbols->root ||
	    (size_t)snprintf(whole, sizeof(whole), "/proc/%d/root%s", pid, path) >= sizeof(whole))
		return text;
	return read_file(whole, size, is_foreign);
}

/* --------------------------------------------------------------------- maps */

/* A later line is about code that came later. */
static void take_line(struct symbol_table *table, char *line, int number)
{
	struct symbol symbol = { .rank = number };
	uint64_t size;
	char *end;

	symbol.start = strtoull(line, &end, 16);
	if (end == line || *end != ' ')
		return;
	line = end + 1;
	size = strtoull(line, &end, 16);
	if (end == line || *end != ' ' || !end[1] || symbol.start + size < symbol.start)
		return;
	symbol.end = symbol.start + size;
	symbol.raw = end + 1;
	symbol_table_add(table, &symbol);
}

/**
 * jit_load_map() - read what a process has told in its perf-PID.map
 * @symbols: all binaries.
 * @binary: stands for that file; gets the symbols.
 */
void jit_load_map(struct symbols *symbols, struct binary *binary)
{
	const char *slash = strrchr(binary->raw, '/');
	int32_t pid = slash && !strncmp(slash, "/perf-", 6) ? atoi(slash + 6) : 0;
	bool is_foreign = false;
	char path[64], *line, *end;
	int number = 0;
	size_t size;

	if (pid <= 0)
		return;
	binary->text = read_file_of(symbols, pid, binary->raw, &size, &is_foreign);
	if (!binary->text && own_number(pid) != pid) {
		snprintf(path, sizeof(path), "/tmp/perf-%d.map", own_number(pid));
		binary->text = read_file_of(symbols, pid, path, &size, &is_foreign);
	}
	if (!binary->text && is_foreign)
		binary->problem = FOREIGN;
	for (line = binary->text; line && *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		take_line(&binary->table, line, ++number);
	}
	symbol_table_finish(&binary->table);
}

/* -------------------------------------------------------------------- dumps */

static struct jit_ref **bucket_of(struct jit *jit, uint64_t page)
{
	return &jit->refs[page % BUCKETS];
}

static void add_code(struct jit *jit, uint64_t start, uint64_t size, uint64_t time,
		     const char *name)
{
	uint64_t first = start / PAGE, last = (start + size - 1) / PAGE;
	struct jit_code *code;

	if (!size || start + size < start || last - first >= REFS_MAX - jit->ref_count)
		return;
	code = calloc(1, sizeof(*code));
	if (!code)
		return;
	code->time = time;
	code->symbol.start = start;
	code->symbol.end = start + size;
	code->symbol.raw = name;
	code->next = jit->codes;
	jit->codes = code;
	for (uint64_t page = first; page <= last; page++) {
		struct jit_ref **bucket = bucket_of(jit, page), *ref = malloc(sizeof(*ref));

		if (!ref || jit->bucket_counts[page % BUCKETS] == BUCKET_MAX) {
			free(ref);
			return;
		}
		jit->bucket_counts[page % BUCKETS]++;
		*ref = (struct jit_ref){ *bucket, page, code };
		*bucket = ref;
		jit->ref_count++;
	}
}

/* What was last put there up to @time */
static struct jit_code *find_code(struct jit *jit, uint64_t address, uint64_t time)
{
	struct jit_code *best = NULL;

	for (struct jit_ref *ref = *bucket_of(jit, address / PAGE); ref; ref = ref->next) {
		struct jit_code *code = ref->code;

		jit->steps++;
		if (ref->page == address / PAGE && address >= code->symbol.start &&
		    address < code->symbol.end && code->time <= time &&
		    (!best || code->time > best->time))
			best = code;
	}
	return best;
}

static void take_load(struct jit *jit, const struct dump_record *record, const char *body,
		      size_t size)
{
	struct dump_load load;
	size_t name;

	if (size < sizeof(load))
		return;
	memcpy(&load, body, sizeof(load));
	body += sizeof(load);
	size -= sizeof(load);
	name = strnlen(body, size);
	/* The code itself is behind the name. */
	if (name == size || load.size > size - name - 1)
		return;
	add_code(jit, load.address, load.size, record->time, body);
}

static void take_move(struct jit *jit, const struct dump_record *record, const char *body,
		      size_t size)
{
	const struct jit_code *code;
	struct dump_move move;

	if (size < sizeof(move) || jit->steps > STEPS_MAX)
		return;
	memcpy(&move, body, sizeof(move));
	code = find_code(jit, move.from, record->time);
	if (code)
		add_code(jit, move.to, code->symbol.end - code->symbol.start, record->time,
			 code->symbol.raw);
}

static void take_records(struct jit *jit, size_t at, size_t size)
{
	struct dump_record record;

	for (; size - at >= sizeof(record); at += record.size) {
		const char *body = jit->text + at + sizeof(record);

		memcpy(&record, jit->text + at, sizeof(record));
		if (record.size < sizeof(record) || record.size > size - at)
			return;
		if (record.id == DUMP_LOAD)
			take_load(jit, &record, body, record.size - sizeof(record));
		else if (record.id == DUMP_MOVE)
			take_move(jit, &record, body, record.size - sizeof(record));
	}
}

static void load_dump(struct symbols *symbols, struct binary *dump, int32_t pid)
{
	struct jit *jit = dump->jit;
	bool is_foreign = false;
	struct dump_header header;
	size_t size;

	jit->text = read_file_of(symbols, pid, dump->raw, &size, &is_foreign);
	if (is_foreign)
		dump->problem = FOREIGN;
	if (!jit->text)
		return;
	if (size >= sizeof(header))
		memcpy(&header, jit->text, sizeof(header));
	if (size < sizeof(header) || header.magic != DUMP_MAGIC || header.size > size ||
	    header.size < sizeof(header)) {
		dump->problem = "it is no dump of generated code";
		return;
	}
	jit->has_times = !(header.flags & DUMP_TSC);
	take_records(jit, header.size, size);
}

/* ---------------------------------------------------------------- processes */

/**
 * jit_mapped() - a process has mapped a file: is it the sign that it dumps its code?
 * @symbols: all binaries.
 * @files: those that tell of the code of the process.
 * @pid: its number.
 * @path: the file.
 */
void jit_mapped(struct symbols *symbols, struct jit_files *files, int32_t pid,
		const char *path)
{
	const char *slash = strrchr(path, '/');
	struct binary *dump;
	int end = 0;

	if (!slash || sscanf(slash, "/jit-%*[0-9].dump%n", &end) < 0 || !end || slash[end])
		return;
	dump = symbols_binary(symbols, BINARY_JIT, path, NULL, 0);
	if (!dump->loaded && dump->kind == BINARY_JIT) {
		dump->name = names_intern(symbols->names, slash + 1);
		dump->loaded = true;
		dump->jit = calloc(1, sizeof(*dump->jit));
		if (dump->jit)
			load_dump(symbols, dump, pid);
	}
	files->dump = dump->jit ? dump : NULL;
}

static struct binary *map_of(struct symbols *symbols, struct jit_files *files, int32_t pid)
{
	char text[64];

	if (files->map)
		return files->map;
	snprintf(text, sizeof(text), "/tmp/perf-%d.map", pid);
	files->map = symbols_binary(symbols, BINARY_JIT, text, NULL, 0);
	/* As perf calls it */
	snprintf(text, sizeof(text), "[JIT] tid %d", pid);
	if (files->map->kind == BINARY_JIT)
		files->map->name = names_intern(symbols->names, text);
	return files->map;
}

/**
 * jit_place() - what an address in memory without a file means
 * @symbols: all binaries.
 * @files: those that tell of the code of the process.
 * @pid: its number.
 * @time: now, as CLOCK_MONOTONIC; UINT64_MAX: at the end.
 * @address: the address.
 * @place: gets binary and symbol, if it is known.
 *
 * Return: whether it is known.
 */
bool jit_place(struct symbols *symbols, struct jit_files *files, int32_t pid, uint64_t time,
	       uint64_t address, struct place *place)
{
	struct binary *binary = files->dump;
	struct jit_code *code = NULL;
	struct symbol *symbol;

	if (binary)
		code = find_code(binary->jit, address,
				 binary->jit->has_times ? time : UINT64_MAX);
	if (code) {
		binary->hit = true;
		symbol = &code->symbol;
	} else {
		binary = map_of(symbols, files, pid);
		symbol = symbols_find(symbols, binary, address);
	}
	if (!symbol)
		return false;
	place->binary = binary;
	place->symbol = symbol;
	return true;
}

/**
 * jit_free() - forget what a dump tells
 * @jit: it, or NULL.
 */
void jit_free(struct jit *jit)
{
	if (!jit)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		for (struct jit_ref *ref = jit->refs[i], *next; ref; ref = next) {
			next = ref->next;
			free(ref);
		}
	}
	for (struct jit_code *code = jit->codes, *next; code; code = next) {
		next = code->next;
		free(code);
	}
	free(jit->text);
	free(jit);
}
