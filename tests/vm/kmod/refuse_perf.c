// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests only: while this is loaded, perf refuses the kernel's own events of one type.
 *
 *	parameters/type		of which type
 *	parameters/error	and with which errno
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>

static unsigned int type;
module_param(type, uint, 0400);
static int error = EIO;
module_param(error, int, 0400);

static struct perf_event *refuse(void)
{
	return ERR_PTR(-error);
}

/* At the function's first instruction: another function takes its place, and returns from it. */
static int replace(struct kprobe *p, struct pt_regs *regs)
{
	const struct perf_event_attr *attr = (void *)regs_get_kernel_argument(regs, 0);

	if (attr->type != type)
		return 0;
	instruction_pointer_set(regs, (unsigned long)refuse);
	return 1;
}

static struct kprobe opening = {
	.symbol_name = "perf_event_create_kernel_counter",
	.pre_handler = replace,
};

static int __init refuse_perf_init(void)
{
	return register_kprobe(&opening);
}

static void __exit refuse_perf_exit(void)
{
	unregister_kprobe(&opening);
}

module_init(refuse_perf_init);
module_exit(refuse_perf_exit);

MODULE_DESCRIPTION("Refusals of perf, for tests of pmuctl");
MODULE_LICENSE("GPL");
