// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cgroups that were there before the recording began, as records that tell the same as
 * those of the kernel do of cgroups that are made meanwhile.
 */
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "evlist/measure.h"
#include "record.h"

/* The number of a cgroup is that of its directory, on a machine whose inodes have 64 bits. */
static void put_cgroup(struct synth *synth, uint64_t number, const char *path)
{
	const struct perf_event_header header = { .type = PERF_RECORD_CGROUP };

	synth_record(synth, header, &number, sizeof(number), *path ? path : "/");
}

/**
 * synth_cgroups() - describe the cgroups of the hierarchy that perf's controller is in
 * @synth: gets a record of each, the root's first. One that goes meanwhile is left out.
 */
void synth_cgroups(struct synth *synth)
{
	char *root = cgroup_hierarchy();
	char *const roots[] = { root, NULL };
	FTS *tree = root ? fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL) : NULL;
	const FTSENT *entry;

	while (tree && (entry = fts_read(tree)))
		if (entry->fts_info == FTS_D)
			put_cgroup(synth, entry->fts_statp->st_ino, entry->fts_path + strlen(root));
	if (tree)
		fts_close(tree);
	free(root);
}
