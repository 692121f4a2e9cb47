# SPDX-License-Identifier: GPL-2.0-only
#
# More fuzzers, with what each is made of, its libraries, and the length of its inputs: see
# tests/build.mk, before which the top Makefile includes this.

FUZZERS		?= assign ring filter perffile perffile_report trace tracepoint decode evlist

decode_sources		:= tools/trace/decode.c
decode_libs		:= -lipt
decode_defines		:= -DHAVE_LIBIPT
decode_length		:= 300
evlist_sources		:= $(addprefix tools/evlist/,cgroups.c cpu_names.c filters.c lists.c times.c) \
	$(addprefix tools/metric/,choose.c expression.c tables.c) tools/trace/names.c tools/trace/filter.c \
	tools/tracepoint/globs.c \
	$(addprefix lib/src/,names.c fields.c parse.c terms.c events.c explain.c tracepoint.c)
evlist_libs		:= -lpfm -lm
evlist_length		:= 255

# What its inputs begin with, a line each
.PHONY: fuzz-evlist-seeds
fuzz-evlist: fuzz-evlist-seeds
fuzz-evlist-seeds:
	@mkdir -p $(FUZZ_DIR)/evlist.corpus
	@awk -v to=$(FUZZ_DIR)/evlist.corpus/seed- '{ printf "%s", $$0 >(to NR) }' tests/fuzz/evlist.txt

# More that is made of recordings
ANNOTATE_SOURCES	:= tools/annotate/sites.c tools/annotate/print.c
$(O)/tests/fuzz/perffile_report: $(ANNOTATE_SOURCES)
