# SPDX-License-Identifier: GPL-2.0-only
#
# How the tests are built.
#
#   tests/unit/NAME.c      run on this machine, with sanitizers; Criterion
#   tests/vm/NAME.c        run in a guest, linked with libpmuctl.a; Criterion
#   tests/vm/NAME.sh       run in a guest by busybox' sh
#   tests/vm/prog/NAME.c   programs for them to count; static, no Criterion, and
#                          without a C library if its libs are -nostdlib
#   tests/bench/*.c        one static program for a guest, the benchmark
#
# A test names in a comment in its first 20 lines what else it is made of:
#
#   /* sources: module/explain.c lib/src/name.c */
#   /* libs: -lpfm */

UNIT_TESTS	:= $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/unit/*.c))
VM_PROGRAMS	:= $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/vm/prog/*.c))
VM_BINARIES	:= $(patsubst tests/%.c,$(O)/tests/%,$(wildcard tests/vm/*.c))
VM_SCRIPTS	:= $(patsubst tests/%,$(O)/tests/%,$(wildcard tests/vm/*.sh))
VM_TESTS	:= $(VM_BINARIES) $(VM_SCRIPTS) $(VM_PROGRAMS)

TEST_INCLUDES	:= -Iinclude/uapi -Ilib/include -Imodule -Imodule/pmu -Itests
TEST_CFLAGS	:= -std=gnu11 -g -Wall -Wextra -MMD -MP
SANITIZE	:= -fsanitize=address,undefined -fno-sanitize-recover=undefined \
		   -fno-omit-frame-pointer

# "sources:" and "libs:" of the tests, as make variables NAME_sources, NAME_libs.
$(O)/tests/parts.mk: $(wildcard tests/unit/*.c tests/vm/*.c tests/vm/prog/*.c) tests/parts.awk
	@mkdir -p $(@D)
	@awk -f tests/parts.awk $(filter %.c,$^) </dev/null >$@

ifeq ($(filter clean distclean help setup,$(MAKECMDGOALS)),)
include $(O)/tests/parts.mk
endif

# Objects for unit tests: all of them instrumented.
$(O)/sanitized/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(TEST_CFLAGS) -O1 $(SANITIZE) $(TEST_INCLUDES) -c -o $@ $<

# Objects for guest tests.
$(O)/guest/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(TEST_CFLAGS) -O2 $(TEST_INCLUDES) -c -o $@ $<

# $(call parts,KIND,TEST): the objects of what a test names as its sources.
parts		= $(patsubst %.c,$(O)/$(1)/%.o,$(tests/$(2)_sources))

.SECONDEXPANSION:

$(UNIT_TESTS): $(O)/tests/%: $(O)/sanitized/tests/%.o \
		$$(call parts,sanitized,$$*)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(SANITIZE) -o $@ $(filter %.o,$^) -lcriterion $(tests/$*_libs)

$(VM_BINARIES): $(O)/tests/%: $(O)/guest/tests/%.o $(O)/lib/libpmuctl.a \
		$$(call parts,guest,$$*)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) -o $@ $(filter %.o,$^) $(O)/lib/libpmuctl.a -lcriterion -lpthread $(tests/$*_libs)

$(VM_PROGRAMS): $(O)/tests/%: tests/%.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(TEST_CFLAGS) -O2 -static $(TEST_INCLUDES) -o $@ $< \
		$(or $(tests/$*_libs),-lpthread)

BENCH		:= $(O)/tests/bench/bench
BENCH_SOURCES	:= $(wildcard tests/bench/*.c)

$(BENCH): $(BENCH_SOURCES) $(wildcard tests/bench/*.h include/uapi/linux/*.h)
	@mkdir -p $(@D)
	$(call say,LINK,$@)
	$(Q)$(CC) $(filter-out -MMD -MP,$(TEST_CFLAGS)) -O2 -static $(TEST_INCLUDES) -o $@ $(BENCH_SOURCES)

$(VM_SCRIPTS): $(O)/tests/%: tests/%
	@mkdir -p $(@D)
	@install -m 755 -- $< $@

.PRECIOUS: $(O)/sanitized/%.o $(O)/guest/%.o
-include $(shell find $(O)/sanitized $(O)/guest $(O)/tests -name '*.d' 2>/dev/null)

# Fuzzers (tests/fuzz/*.c), which need clang and its run-time libraries.
FUZZ_CC		?= clang
FUZZ_SECONDS	?= 60

$(O)/tests/fuzz/place: tests/fuzz/place.c module/pmu/place.c
	@mkdir -p $(@D)
	@command -v $(FUZZ_CC) >/dev/null || { \
		echo "fuzz: $(FUZZ_CC) is missing: apt-get install clang libclang-rt-14-dev" >&2; exit 1; }
	$(call say,LINK,$@)
	$(Q)$(FUZZ_CC) -std=gnu11 -g -O1 -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all $(TEST_INCLUDES) -o $@ $^

.PHONY: fuzz
fuzz: $(O)/tests/fuzz/place
	$(O)/tests/fuzz/place -max_len=42 -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1
