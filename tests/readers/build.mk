# SPDX-License-Identifier: GPL-2.0-only
#
# The program that writes what tests/readers/check has others' readers read. Of the command
# it is linked with what it needs. Included by the top Makefile.

EXPORTS		:= $(O)/tests/readers/exports
EXPORTS_LIBRARY	:= $(O)/tests/readers/libtools.a

$(EXPORTS_LIBRARY): $(filter-out %/pmuctl.o,$(TOOL_OBJECTS))
	@mkdir -p $(@D)
	$(call say,AR,$@)
	$(Q)rm -f -- $@ && $(AR) rcs $@ $^

$(EXPORTS): tests/readers/exports.c tests/fuzz/perffile_build.h $(EXPORTS_LIBRARY) $(O)/lib/libpmuctl.a
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(TEST_CFLAGS)) -O1 $(TEST_INCLUDES) -o $@ $(filter %.c %.a,$^) $(TOOL_LIBS)
