# SPDX-License-Identifier: GPL-2.0-only
#
# More fuzzers, with what each is made of, its libraries, and the length of its inputs: see
# tests/build.mk, before which the top Makefile includes this.

FUZZERS		?= assign ring filter perffile perffile_report trace tracepoint decode

decode_sources		:= tools/trace/decode.c
decode_libs		:= -lipt
decode_defines		:= -DHAVE_LIBIPT
decode_length		:= 300
