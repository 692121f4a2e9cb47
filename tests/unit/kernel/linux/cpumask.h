/* SPDX-License-Identifier: GPL-2.0-only */
/* Nothing: the unit test that includes a file of the module defines what that needs. */
