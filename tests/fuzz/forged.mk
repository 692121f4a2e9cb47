# SPDX-License-Identifier: GPL-2.0-only
#
# Forged recordings: what is fuzzed, without a fuzzer. Each is made of the seeds by its number, and
# read by everything that reads recordings. Included by the top Makefile behind tests/build.mk.

# How many, for each of the readers
FORGED			?= 1000000
export FORGED

FORGED_READERS		:= perffile perffile_report trace
FORGED_PROGRAMS		:= $(FORGED_READERS:%=$(FUZZ_DIR)/forged/%)

$(FUZZ_DIR)/forged/perffile_report: $(ANNOTATE_SOURCES)

$(FORGED_PROGRAMS): $(FUZZ_DIR)/forged/%: tests/fuzz/forged.c tests/fuzz/%.c $$($$*_sources) \
		$$(filter %.a,$$($$*_libs))
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(TEST_CFLAGS)) -O1 $(SANITIZE) $(TEST_INCLUDES) $($*_defines) \
		-o $@ $(filter %.c,$^) $($*_libs)
