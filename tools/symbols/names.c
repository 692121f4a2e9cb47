// SPDX-License-Identifier: GPL-2.0-only
/*
 * Texts out of a recording, each kept once: two of them are equal if their pointers
 * are. A recording may come from anybody, and its texts go to terminals and into files
 * of other formats: what is not printable UTF-8 becomes '?'.
 */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "symbols.h"

#define BUCKETS_MIN 1024

struct name {
	struct name *next;
	uint64_t hash;
	char text[];
};

struct names {
	struct name **buckets;
	size_t bucket_count;
	size_t count;
};

static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t hash = 14695981039346656037ULL;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 1099511628211ULL;
	return hash ^ hash >> 32;
}

static void grow(struct names *names)
{
	size_t count = names->bucket_count * 4;
	struct name **buckets = calloc(count, sizeof(*buckets));

	if (!buckets)
		return;
	for (size_t i = 0; i < names->bucket_count; i++) {
		for (struct name *name = names->buckets[i], *next; name; name = next) {
			next = name->next;
			name->next = buckets[name->hash % count];
			buckets[name->hash % count] = name;
		}
	}
	free(names->buckets);
	names->buckets = buckets;
	names->bucket_count = count;
}

/**
 * names_new() - a store of texts
 *
 * Return: to be freed with names_free(); NULL if there is no memory.
 */
struct names *names_new(void)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->bucket_count = BUCKETS_MIN;
	names->buckets = calloc(names->bucket_count, sizeof(*names->buckets));
	if (names->buckets)
		return names;
	free(names);
	return NULL;
}

/**
 * names_free() - forget all texts
 * @names: the store, or NULL.
 */
void names_free(struct names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < names->bucket_count; i++) {
		for (struct name *name = names->buckets[i], *next; name; name = next) {
			next = name->next;
			free(name);
		}
	}
	free(names->buckets);
	free(names);
}

/**
 * names_intern() - the one copy of a text, fit for a terminal
 * @names: the store.
 * @text: as recorded.
 *
 * Return: valid as long as the store; without memory for it, "?".
 */
const char *names_intern(struct names *names, const char *text)
{
	size_t length = strlen(text);
	struct name *name = malloc(sizeof(*name) + length + 1), *old;
	struct name **bucket;

	if (!name)
		return "?";
	memcpy(name->text, text, length + 1);
	names_clean(name->text, length);
	name->hash = hash_of(name->text, length);
	bucket = &names->buckets[name->hash % names->bucket_count];
	for (old = *bucket; old; old = old->next) {
		if (old->hash == name->hash && !strcmp(old->text, name->text)) {
			free(name);
			return old->text;
		}
	}
	name->next = *bucket;
	*bucket = name;
	if (++names->count > names->bucket_count * 2)
		grow(names);
	return name->text;
}
