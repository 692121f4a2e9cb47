// SPDX-License-Identifier: GPL-2.0-only
/*
 * Entries of three words that are there once and have numbers. export.h tells the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"

#define SLOTS_MIN 1024u
#define COUNT_MAX (UINT32_MAX / 4)

static uint32_t hash_of(const struct export_key *key)
{
	uint64_t hash = 0;

	for (int i = 0; i < 3; i++) {
		hash = (hash ^ key->part[i]) * 0x9e3779b97f4a7c15ULL;
		hash ^= hash >> 29;
	}
	return (uint32_t)hash;
}

static uint32_t *slot_of(const struct export_table *table, const struct export_key *key)
{
	uint32_t at = hash_of(key) & (table->slot_count - 1);

	while (table->slots[at] &&
	       memcmp(&table->keys[table->slots[at] - 1], key, sizeof(*key)))
		at = (at + 1) & (table->slot_count - 1);
	return &table->slots[at];
}

/* At most every second slot is used. */
static int make_room(struct export_table *table)
{
	uint32_t slots = table->slot_count ? table->slot_count * 2 : SLOTS_MIN;
	struct export_key *keys;
	uint32_t *new;

	if (table->count == COUNT_MAX)
		return -ENOMEM;
	keys = reallocarray(table->keys, slots / 2, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	table->keys = keys;
	new = calloc(slots, sizeof(*new));
	if (!new)
		return -ENOMEM;
	free(table->slots);
	table->slots = new;
	table->slot_count = slots;
	table->room = slots / 2;
	for (uint32_t i = 0; i < table->count; i++)
		*slot_of(table, &keys[i]) = i + 1;
	return 0;
}

/**
 * export_table_add() - the entry with a key, a new one if there is none
 * @table: the table.
 * @key: the key.
 * @number: set to its number.
 *
 * Return: 1 if it is new, 0, -ENOMEM.
 */
int export_table_add(struct export_table *table, struct export_key key, uint32_t *number)
{
	uint32_t *slot;

	if (table->count == table->room && make_room(table) < 0)
		return -ENOMEM;
	slot = slot_of(table, &key);
	if (*slot) {
		*number = *slot - 1;
		return 0;
	}
	*number = table->count;
	table->keys[table->count++] = key;
	*slot = table->count;
	return 1;
}

void export_table_free(struct export_table *table)
{
	free(table->keys);
	free(table->slots);
	memset(table, 0, sizeof(*table));
}
