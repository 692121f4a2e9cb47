// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose way is worth tracing: the laboratory's, which is known to be traced
 * right there.
 */
/* libs: -nostdlib -no-pie -fno-stack-protector -fcf-protection=none */
#include "../../lab/witness-trace.c"
