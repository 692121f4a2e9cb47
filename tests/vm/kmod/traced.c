// SPDX-License-Identifier: GPL-2.0-only
/*
 * For tests only: a module with a tracepoint of its own, pmuctl_traced(number, twice).
 *
 *	parameters/hit		written a number: the tracepoint is hit so often, with 1, 2, 3...
 */
#include <linux/module.h>
#include <linux/tracepoint.h>

/* Since 6.16 DECLARE_TRACE() gives names an ending. */
#ifndef DECLARE_TRACE_EVENT
#define DECLARE_TRACE_EVENT	DECLARE_TRACE
#endif

DECLARE_TRACE_EVENT(pmuctl_traced,
		    TP_PROTO(u64 number, u64 twice),
		    TP_ARGS(number, twice));
DEFINE_TRACE(pmuctl_traced, TP_PROTO(u64 number, u64 twice), TP_ARGS(number, twice));

static int set_hit(const char *text, const struct kernel_param *kp)
{
	unsigned int n, i;
	int err = kstrtouint(text, 0, &n);

	for (i = 1; !err && i <= n; i++)
		trace_pmuctl_traced(i, 2 * i);
	return err;
}

static const struct kernel_param_ops hit_ops = { .set = set_hit };
module_param_cb(hit, &hit_ops, NULL, 0200);

static int __init traced_init(void)
{
	return 0;
}

static void __exit traced_exit(void)
{
}

module_init(traced_init);
module_exit(traced_exit);

MODULE_DESCRIPTION("A tracepoint for tests");
MODULE_AUTHOR("The pmuctl authors");
MODULE_LICENSE("GPL");
