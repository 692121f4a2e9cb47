/* SPDX-License-Identifier: GPL-2.0-only */
/* What commands print as JSON. Suites that use it link jansson. */
#ifndef TESTS_VM_JSON_H
#define TESTS_VM_JSON_H

#include <jansson.h>

/* The standard output of a shell command, parsed, to be given to json_decref(). */
json_t *json_from(const char *command, int expected_status);

/* A member that is a number */
double json_number_of(json_t *object, const char *key);

#endif /* TESTS_VM_JSON_H */
