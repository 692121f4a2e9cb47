// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a folder of /proc has by number: processes, or the threads of one.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>

#include "evlist/measure.h"

/**
 * numbers_visit() - visit all entries of a folder whose names are numbers
 * @folder: its path.
 * @visit: gets each number.
 * @arg: for it.
 *
 * Return: whether the folder could be read.
 */
bool numbers_visit(const char *folder, void (*visit)(void *arg, int number), void *arg)
{
	struct dirent *entry;
	DIR *dir = opendir(folder);

	if (!dir)
		return false;
	while ((entry = readdir(dir)) != NULL)
		if (isdigit((unsigned char)entry->d_name[0]))
			visit(arg, atoi(entry->d_name));
	closedir(dir);
	return true;
}
