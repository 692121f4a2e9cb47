// SPDX-License-Identifier: GPL-2.0-only
/*
 * What differs between the kernels that the module is built for. Each probe is a function
 * that compiles where the kernel has the newer of two interfaces; compat/probe makes
 * COMPAT_HAS_... of it, by which the headers of compat/shadow add what is missing. Versions
 * would lie: fixes are brought back into older ones.
 *
 * Which results are expected for which kernel is in tests/style/probes.list.
 */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>

#define PROBE(name) static void probe_##name(void)

PROBE(FILE_USER_PATH)
{
	file_user_path(NULL);
}

PROBE(PF_USER_WORKER)
{
	(void)PF_USER_WORKER;
}

PROBE(VM_FLAGS_SET)
{
	vm_flags_set(NULL, 0);
}

